//! All settings: name, default, meaning.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use axum::http::StatusCode;
use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Durability, OnFull};
use spirit_forms::size::Size;

use super::logging::LEVELS;
use super::{LogFormat, Settings};

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
    place: Place,
}

/// Where the value is kept, which says how it is read and written.
#[derive(Debug)]
enum Place {
    Size(fn(&mut Settings) -> &mut u64),
    Number(fn(&mut Settings) -> &mut usize),
    Time(fn(&mut Settings) -> &mut Duration),
    Switch(fn(&mut Settings) -> &mut bool),
    File(fn(&mut Settings) -> &mut PathBuf),
    Own { set: fn(&mut Settings, &str) -> Result<(), String>, get: fn(&Settings) -> String },
}

impl Setting {
    /// Reads a value.
    pub(super) fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        match self.place {
            Place::Size(of) => *of(settings) = Size::from_str(text)?.0,
            Place::Number(of) => {
                *of(settings) = text.parse().map_err(|_| expected(text, "a number from 0 on"))?;
            }
            Place::Time(of) => {
                let time = humantime::parse_duration(text);
                *of(settings) = time.map_err(|_| expected(text, "a time, as in 500ms or 2s"))?;
            }
            Place::Switch(of) => {
                *of(settings) = match text {
                    "yes" | "on" | "true" => true,
                    "no" | "off" | "false" => false,
                    _ => return Err(expected(text, &self.value.replace('|', " or "))),
                };
            }
            Place::File(of) => *of(settings) = PathBuf::from(text),
            Place::Own { set, .. } => set(settings, text)?,
        }
        Ok(())
    }

    /// Writes the value that is in force.
    pub(super) fn get(&self, settings: &Settings) -> String {
        let mut own = settings.clone();
        match self.place {
            Place::Size(of) => Size(*of(&mut own)).to_string(),
            Place::Number(of) => of(&mut own).to_string(),
            Place::Time(of) => humantime::format_duration(*of(&mut own)).to_string(),
            Place::Switch(of) => {
                let (yes, no) = self.value.split_once('|').unwrap_or(("yes", "no"));
                if *of(&mut own) { yes } else { no }.to_owned()
            }
            Place::File(of) => of(&mut own).display().to_string(),
            Place::Own { get, .. } => get(settings),
        }
    }
}

const fn size(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    of: fn(&mut Settings) -> &mut u64,
) -> Setting {
    Setting { name, value: "SIZE", default, help, place: Place::Size(of) }
}

const fn number(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    of: fn(&mut Settings) -> &mut usize,
) -> Setting {
    Setting { name, value: "N", default, help, place: Place::Number(of) }
}

const fn path(
    name: &'static str,
    help: &'static str,
    of: fn(&mut Settings) -> &mut PathBuf,
) -> Setting {
    Setting { name, value: "FILE", default: "", help, place: Place::File(of) }
}

/// A setting that is off by default. Its values are those that mean yes and no.
const fn switch(
    name: &'static str,
    value: &'static str,
    help: &'static str,
    of: fn(&mut Settings) -> &mut bool,
) -> Setting {
    let default = if matches!(value.as_bytes(), b"on|off") { "off" } else { "no" };
    Setting { name, value, default, help, place: Place::Switch(of) }
}

const fn time(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    of: fn(&mut Settings) -> &mut Duration,
) -> Setting {
    Setting { name, value: "TIME", default, help, place: Place::Time(of) }
}

/// A setting that is read and written in a way of its own.
const fn own(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    help: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), String>,
    get: fn(&Settings) -> String,
) -> Setting {
    Setting { name, value, default, help, place: Place::Own { set, get } }
}

/// All settings of the server.
pub static SETTINGS: [Setting; 39] = [
    Setting {
        name: "directory",
        value: "DIR",
        default: ".",
        help: "The directory with the indexes, one each in a directory within it",
        place: Place::Own {
            set: |settings, text| {
                settings.directory = PathBuf::from(text);
                Ok(())
            },
            get: |settings| settings.directory.display().to_string(),
        },
    },
    Setting {
        name: "listen",
        value: "ADDRESS",
        default: "127.0.0.1:7580",
        help: "The address and port to listen on; port 0 takes a free one",
        place: Place::Own {
            set: |settings, text| {
                let what = "an address with a port, as in 127.0.0.1:7580 or [::1]:7580";
                settings.listen = text.parse().map_err(|_| expected(text, what))?;
                Ok(())
            },
            get: |settings| settings.listen.to_string(),
        },
    },
    switch(
        "insecure",
        "yes|no",
        "Listen on other addresses than this machine's own without keys or TLS",
        |settings| &mut settings.insecure,
    ),
    path(
        "tls-cert",
        "The file with the certificate in PEM form; it makes the server speak TLS",
        |s| &mut s.tls_cert,
    ),
    path("tls-key", "The file with the certificate's private key in PEM form", |s| &mut s.tls_key),
    path("socket", "A Unix socket to listen on too, for the owner and the group", |s| {
        &mut s.socket
    }),
    size("dram", "1GiB", "Memory of all indexes together", |settings| &mut settings.dram),
    size("nvm", "64GiB", "Second tiers of all indexes together, in their files", |settings| {
        &mut settings.nvm
    }),
    size(
        "index-dram",
        "64MiB",
        "Memory of a new index, unless its maker says otherwise",
        |settings| &mut settings.index_dram,
    ),
    size(
        "index-nvm",
        "2GiB",
        "Second tier of a new index. Its file grows as it is needed",
        |settings| &mut settings.index_nvm,
    ),
    Setting {
        name: "durability",
        value: "process|os",
        default: "process",
        help: "What an acknowledged document in a new index survives: a kill of the process, or power loss too",
        place: Place::Own {
            set: |settings, text| {
                settings.durability = durability(text)?;
                Ok(())
            },
            get: |settings| settings.durability.to_string(),
        },
    },
    Setting {
        name: "on-full",
        value: "refuse|drop-oldest",
        default: "refuse",
        help: "What a new index does when it is full: refuse documents, or drop its oldest",
        place: Place::Own {
            set: |settings, text| {
                settings.on_full = on_full(text)?;
                Ok(())
            },
            get: |settings| match settings.on_full {
                OnFull::DropOldest => "drop-oldest".to_owned(),
                _ => "refuse".to_owned(),
            },
        },
    },
    own(
        "engrave",
        "eager|lazy|opportunistic",
        "eager",
        "When a full segment of an index is copied to its file: at once, when memory or the log runs short, or when no documents come in",
        |settings, text| named(&ENGRAVE, text).map(|value| settings.engrave = value),
        |settings| name_of(&ENGRAVE, settings.engrave),
    ),
    own(
        "pointer-update",
        "eager|lazy",
        "lazy",
        "When questions move to that copy, and its memory is freed: once it is there, or when memory runs short",
        |settings, text| named(&POINTER_UPDATE, text).map(|value| settings.pointer_update = value),
        |settings| name_of(&POINTER_UPDATE, settings.pointer_update),
    ),
    own(
        "stage-threads",
        "1|2",
        "1",
        "Threads of an index behind the one that writes. With 2, a segment is flushed while others are copied and merged",
        |settings, text| named(&STAGE_THREADS, text).map(|value| settings.stage_threads = value),
        |settings| name_of(&STAGE_THREADS, settings.stage_threads),
    ),
    number(
        "query-threads",
        "0",
        "Threads that answer questions; 0: one for each core",
        |settings| &mut settings.query_threads,
    ),
    number("ingest-threads", "0", "Threads that write; 0: one for each core", |settings| {
        &mut settings.ingest_threads
    }),
    time(
        "query-timeout",
        "2s",
        "The longest time of a question. One whose client hangs up ends at once",
        |settings| &mut settings.query_timeout,
    ),
    time(
        "hold",
        "5s",
        "The time for which a write waits for its turn, and for room in a full index, before it is refused",
        |settings| &mut settings.hold,
    ),
    Setting {
        name: "overload-status",
        value: "429|503",
        default: "429",
        help: "The status of a write that is refused then. Some clients only come again after 503",
        place: Place::Own {
            set: |settings, text| {
                settings.overload_status = match text {
                    "429" => StatusCode::TOO_MANY_REQUESTS,
                    "503" => StatusCode::SERVICE_UNAVAILABLE,
                    _ => return Err(expected(text, "429 or 503")),
                };
                Ok(())
            },
            get: |settings| settings.overload_status.as_str().to_owned(),
        },
    },
    size("body", "32MiB", "The longest body of a request, also once it is unpacked", |settings| {
        &mut settings.body
    }),
    size(
        "bodies",
        "256MiB",
        "Memory of all bodies together; those beyond it wait, then they are refused as writes are",
        |settings| &mut settings.bodies,
    ),
    time("body-timeout", "60s", "The time in which a body has to come", |settings| {
        &mut settings.body_timeout
    }),
    number(
        "connections",
        "10240",
        "The most connections; further ones wait until one is closed",
        |settings| &mut settings.connections,
    ),
    number(
        "requests",
        "1024",
        "The most questions that wait for an answer; further ones are refused with status 503",
        |settings| &mut settings.requests,
    ),
    number("scrolls", "500", "The most open scrolls; further ones are refused", |settings| {
        &mut settings.scrolls
    }),
    number(
        "scroll-documents",
        "10000000",
        "The most documents of all open scrolls, which keep what they found",
        |settings| &mut settings.scroll_documents,
    ),
    size(
        "scroll-bytes",
        "4GiB",
        "The most bytes of all open scrolls, in files of the server's directory",
        |settings| &mut settings.scroll_bytes,
    ),
    number("pits", "16", "The most open points in time; further ones are refused", |settings| {
        &mut settings.pits
    }),
    size(
        "pit-bytes",
        "16GiB",
        "The most bytes of all open points in time, which are copies of indexes in files",
        |settings| &mut settings.pit_bytes,
    ),
    size(
        "pit-dram",
        "1GiB",
        "Memory of all open points in time together, beside that of the indexes",
        |settings| &mut settings.pit_dram,
    ),
    time(
        "header-timeout",
        "10s",
        "The time in which the headers of a request have to come",
        |settings| &mut settings.header_timeout,
    ),
    time(
        "shutdown-timeout",
        "10s",
        "The time that requests under way have when the server ends",
        |settings| &mut settings.shutdown_timeout,
    ),
    Setting {
        value: "DIR",
        ..path(
            "backups",
            "The directory for backups that are asked for over HTTP; none: refused",
            |s| &mut s.backups,
        )
    },
    Setting {
        name: "log-format",
        value: "text|json",
        default: "text",
        help: "The form of the log on standard error: name=value pairs, or JSON objects",
        place: Place::Own {
            set: |settings, text| {
                settings.logging.format = match text {
                    "text" => LogFormat::Text,
                    "json" => LogFormat::Json,
                    _ => return Err(expected(text, "text or json")),
                };
                Ok(())
            },
            get: |settings| match settings.logging.format {
                LogFormat::Text => "text".to_owned(),
                LogFormat::Json => "json".to_owned(),
            },
        },
    },
    Setting {
        name: "log-level",
        value: "error|warn|info|debug",
        default: "info",
        help: "The least important lines of the log that are written",
        place: Place::Own {
            set: |settings, text| {
                let known = LEVELS.iter().find(|(name, _)| *name == text);
                let known = known.ok_or_else(|| expected(text, "error, warn, info or debug"))?;
                settings.logging.level = known.1;
                Ok(())
            },
            get: |settings| {
                let known = LEVELS.iter().find(|(_, level)| *level == settings.logging.level);
                known.map_or_else(String::new, |(name, _)| (*name).to_owned())
            },
        },
    },
    switch("access-log", "on|off", "Log a line for each request", |s| &mut s.logging.access),
    time("slow-query", "0s", "Log questions that take this long or longer; 0s: none", |settings| {
        &mut settings.logging.slow_query
    }),
    switch(
        "slow-query-text",
        "yes|no",
        "Log the texts of slow questions too, which may be confidential",
        |settings| &mut settings.logging.slow_query_text,
    ),
];

const ENGRAVE: [(&str, EngravePolicy); 3] = [
    ("eager", EngravePolicy::Eager),
    ("lazy", EngravePolicy::Lazy),
    ("opportunistic", EngravePolicy::Opportunistic),
];
const POINTER_UPDATE: [(&str, PointerUpdate); 2] =
    [("eager", PointerUpdate::Eager), ("lazy", PointerUpdate::Lazy)];

const STAGE_THREADS: [(&str, usize); 2] = [("1", 1), ("2", 2)];

/// Reads the name of a value.
fn named<T: Copy>(values: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == text);
    let names = || values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
    found.map(|(_, value)| *value).ok_or_else(|| expected(text, &names()))
}

fn name_of<T: PartialEq>(values: &[(&str, T)], value: T) -> String {
    let found = values.iter().find(|(_, one)| *one == value);
    found.map_or_else(String::new, |(name, _)| (*name).to_owned())
}

fn expected(text: &str, what: &str) -> String {
    format!("expected {what}, found {text:?}")
}

/// Reads what an acknowledged document survives.
pub(crate) fn durability(text: &str) -> Result<Durability, String> {
    match text {
        "process" => Ok(Durability::Process),
        "os" => Ok(Durability::Os),
        _ => Err(expected(text, "process or os")),
    }
}

/// Reads what a full index does.
pub(crate) fn on_full(text: &str) -> Result<OnFull, String> {
    match text {
        "refuse" => Ok(OnFull::Refuse),
        "drop-oldest" => Ok(OnFull::DropOldest),
        _ => Err(expected(text, "refuse or drop-oldest")),
    }
}
