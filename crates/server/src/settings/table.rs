//! All settings: name, default, meaning.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use spirit::{Durability, OnFull};
use spirit_forms::size::Size;

use super::Settings;

/// A setting: `--NAME`, `SPIRIT_NAME`, or `NAME = "…"` in the file.
#[derive(Debug)]
pub struct Setting {
    /// Its name, with dashes.
    pub name: &'static str,
    /// What its value is, for the help.
    pub value: &'static str,
    /// The default, as it is written.
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    pub(super) get: fn(&Settings) -> String,
}

/// All settings of the server.
pub static SETTINGS: [Setting; 18] = [
    Setting {
        name: "directory",
        value: "DIR",
        default: ".",
        help: "The directory with the indexes, one each in a directory within it",
        set: |settings, text| {
            settings.directory = PathBuf::from(text);
            Ok(())
        },
        get: |settings| settings.directory.display().to_string(),
    },
    Setting {
        name: "listen",
        value: "ADDRESS",
        default: "127.0.0.1:7580",
        help: "The address and port to listen on; port 0 takes a free one",
        set: |settings, text| {
            let what = "an address with a port, as in 127.0.0.1:7580 or [::1]:7580";
            settings.listen = text.parse().map_err(|_| expected(text, what))?;
            Ok(())
        },
        get: |settings| settings.listen.to_string(),
    },
    Setting {
        name: "insecure",
        value: "yes|no",
        default: "no",
        help: "Listen on other addresses than this machine's own, for anybody who reaches them",
        set: |settings, text| {
            settings.insecure = yes_or_no(text)?;
            Ok(())
        },
        get: |settings| if settings.insecure { "yes" } else { "no" }.to_owned(),
    },
    Setting {
        name: "dram",
        value: "SIZE",
        default: "1GiB",
        help: "Memory of all indexes together",
        set: |settings, text| size(text, &mut settings.dram),
        get: |settings| shown(settings.dram),
    },
    Setting {
        name: "nvm",
        value: "SIZE",
        default: "64GiB",
        help: "Second tiers of all indexes together, in their files",
        set: |settings, text| size(text, &mut settings.nvm),
        get: |settings| shown(settings.nvm),
    },
    Setting {
        name: "index-dram",
        value: "SIZE",
        default: "64MiB",
        help: "Memory of a new index, unless its maker says otherwise",
        set: |settings, text| size(text, &mut settings.index_dram),
        get: |settings| shown(settings.index_dram),
    },
    Setting {
        name: "index-nvm",
        value: "SIZE",
        default: "2GiB",
        help: "Second tier of a new index. Its file grows as it is needed",
        set: |settings, text| size(text, &mut settings.index_nvm),
        get: |settings| shown(settings.index_nvm),
    },
    Setting {
        name: "durability",
        value: "process|os",
        default: "process",
        help: "What an acknowledged document in a new index survives: a kill of the process, or power loss too",
        set: |settings, text| {
            settings.durability = match text {
                "process" => Durability::Process,
                "os" => Durability::Os,
                _ => return Err(expected(text, "process or os")),
            };
            Ok(())
        },
        get: |settings| match settings.durability {
            Durability::Os => "os".to_owned(),
            _ => "process".to_owned(),
        },
    },
    Setting {
        name: "on-full",
        value: "refuse|drop-oldest",
        default: "refuse",
        help: "What a new index does when it is full: refuse documents, or drop its oldest",
        set: |settings, text| {
            settings.on_full = match text {
                "refuse" => OnFull::Refuse,
                "drop-oldest" => OnFull::DropOldest,
                _ => return Err(expected(text, "refuse or drop-oldest")),
            };
            Ok(())
        },
        get: |settings| match settings.on_full {
            OnFull::DropOldest => "drop-oldest".to_owned(),
            _ => "refuse".to_owned(),
        },
    },
    Setting {
        name: "query-threads",
        value: "N",
        default: "0",
        help: "Threads that answer questions; 0: one for each core",
        set: |settings, text| number(text, &mut settings.query_threads),
        get: |settings| settings.query_threads.to_string(),
    },
    Setting {
        name: "ingest-threads",
        value: "N",
        default: "0",
        help: "Threads that write; 0: one for each core",
        set: |settings, text| number(text, &mut settings.ingest_threads),
        get: |settings| settings.ingest_threads.to_string(),
    },
    Setting {
        name: "query-timeout",
        value: "TIME",
        default: "2s",
        help: "The longest time of a question. One whose client hangs up ends at once",
        set: |settings, text| time(text, &mut settings.query_timeout),
        get: |settings| long(settings.query_timeout),
    },
    Setting {
        name: "hold",
        value: "TIME",
        default: "5s",
        help: "The time for which a write waits for its turn before it is refused with status 429",
        set: |settings, text| time(text, &mut settings.hold),
        get: |settings| long(settings.hold),
    },
    Setting {
        name: "body",
        value: "SIZE",
        default: "32MiB",
        help: "The longest body of a request, also once it is unpacked",
        set: |settings, text| size(text, &mut settings.body),
        get: |settings| shown(settings.body),
    },
    Setting {
        name: "connections",
        value: "N",
        default: "10240",
        help: "The most connections; further ones wait until one is closed",
        set: |settings, text| number(text, &mut settings.connections),
        get: |settings| settings.connections.to_string(),
    },
    Setting {
        name: "requests",
        value: "N",
        default: "1024",
        help: "The most questions that wait for an answer; further ones are refused with status 503",
        set: |settings, text| number(text, &mut settings.requests),
        get: |settings| settings.requests.to_string(),
    },
    Setting {
        name: "header-timeout",
        value: "TIME",
        default: "10s",
        help: "The time in which the headers of a request have to come",
        set: |settings, text| time(text, &mut settings.header_timeout),
        get: |settings| long(settings.header_timeout),
    },
    Setting {
        name: "shutdown-timeout",
        value: "TIME",
        default: "10s",
        help: "The time that requests under way have when the server ends",
        set: |settings, text| time(text, &mut settings.shutdown_timeout),
        get: |settings| long(settings.shutdown_timeout),
    },
];

fn expected(text: &str, what: &str) -> String {
    format!("expected {what}, found {text:?}")
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err(expected(text, "yes or no")),
    }
}

fn size(text: &str, to: &mut u64) -> Result<(), String> {
    *to = Size::from_str(text)?.0;
    Ok(())
}

fn shown(bytes: u64) -> String {
    Size(bytes).to_string()
}

fn number(text: &str, to: &mut usize) -> Result<(), String> {
    *to = text.parse().map_err(|_| expected(text, "a number from 0 on"))?;
    Ok(())
}

fn time(text: &str, to: &mut Duration) -> Result<(), String> {
    *to =
        humantime::parse_duration(text).map_err(|_| expected(text, "a time, as in 500ms or 2s"))?;
    Ok(())
}

fn long(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
