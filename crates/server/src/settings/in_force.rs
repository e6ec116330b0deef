//! Which values are in force, and where each is from.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::StatusCode;
use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Durability, OnFull};
use spirit_forms::size::Size;

use super::{Logging, SETTINGS, Setting, Settings};

/// What the names of variables of the environment begin with.
const PREFIX: &str = "SPIRIT_";

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave one.
    Default,
    /// The file with this path.
    File(PathBuf),
    /// The environment: the name of the variable.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "${name}"),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// The settings in force, each with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct InForce {
    /// The settings.
    pub settings: Settings,
    origins: Vec<Origin>,
}

/// Settings that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SettingsError {}

impl InForce {
    /// Reads settings from a file, the environment and the flags that were given, by their names.
    pub fn read(
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<String>,
        flags: &[(&str, String)],
    ) -> Result<InForce, SettingsError> {
        let mut read = InForce { settings: empty(), origins: Vec::new() };
        for setting in &SETTINGS {
            read.origins.push(Origin::Default);
            read.set(setting, setting.default, Origin::Default)?;
        }
        if let Some(path) = file {
            read.take_file(path)?;
        }
        for setting in &SETTINGS {
            let name = variable(setting.name);
            if let Some(value) = environment(&name) {
                read.set(setting, &value, Origin::Environment(name))?;
            }
        }
        for (name, value) in flags {
            let setting =
                find(name).ok_or_else(|| SettingsError(format!("--{name}: no such setting")))?;
            read.set(setting, value, Origin::Flag)?;
        }
        read.check_sizes()?;
        Ok(read)
    }

    /// Checks that an index with the sizes of a new one can be made. Otherwise the first document
    /// of an index would be the first to say so.
    fn check_sizes(&self) -> Result<(), SettingsError> {
        let Settings { directory, index_dram, index_nvm, .. } = &self.settings;
        let builder = self.settings.index_builder().directory(directory);
        let checked = builder.dram_bytes(*index_dram).nvm_bytes(*index_nvm).check();
        checked.map_err(|why| {
            let [dram, nvm] = [*index_dram, *index_nvm].map(Size);
            SettingsError(format!(
                "no index can be made with --index-dram {dram} and --index-nvm {nvm}: {why}"
            ))
        })
    }

    fn take_file(&mut self, path: &Path) -> Result<(), SettingsError> {
        let failed = |why: &dyn fmt::Display| SettingsError(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        let table: toml::Table = text.parse().map_err(|error| failed(&error))?;
        for (name, value) in table {
            let setting = find(&name.replace('_', "-")).ok_or_else(|| {
                failed(&format_args!("`{name}` is no setting; `spirit config` lists them"))
            })?;
            let value = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(yes) => yes.to_string(),
                _ => return Err(failed(&format_args!("{name}: expected a text or a number"))),
            };
            self.set(setting, &value, Origin::File(path.to_owned()))?;
        }
        Ok(())
    }

    fn set(&mut self, setting: &Setting, value: &str, origin: Origin) -> Result<(), SettingsError> {
        setting.set(&mut self.settings, value).map_err(|why| {
            SettingsError(match &origin {
                Origin::Flag => format!("--{}: {why}", setting.name),
                Origin::Environment(name) => format!("{name}: {why}"),
                from => format!("{from}: {}: {why}", setting.name),
            })
        })?;
        let place = SETTINGS.iter().position(|known| known.name == setting.name);
        if let Some(place) = place {
            self.origins[place] = origin;
        }
        Ok(())
    }

    /// Returns the name of each setting, its value, and where that is from.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, String, &Origin)> {
        let settings = SETTINGS.iter().zip(&self.origins);
        settings.map(|(setting, origin)| (setting.name, setting.get(&self.settings), origin))
    }
}

fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Returns the name of a setting's variable of the environment.
fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('-', "_").to_uppercase())
}

/// Returns settings before the defaults are set.
fn empty() -> Settings {
    let (time, threads) = (Duration::ZERO, 0);
    Settings {
        directory: PathBuf::new(),
        listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
        insecure: false,
        tls_cert: PathBuf::new(),
        tls_key: PathBuf::new(),
        socket: PathBuf::new(),
        dram: 0,
        nvm: 0,
        index_dram: 0,
        index_nvm: 0,
        durability: Durability::Process,
        on_full: OnFull::Refuse,
        engrave: EngravePolicy::Eager,
        pointer_update: PointerUpdate::Lazy,
        stage_threads: 0,
        query_threads: threads,
        ingest_threads: threads,
        query_timeout: time,
        hold: time,
        overload_status: StatusCode::TOO_MANY_REQUESTS,
        body: 0,
        bodies: 0,
        body_timeout: time,
        connections: 0,
        requests: 0,
        scrolls: 0,
        scroll_documents: 0,
        scroll_bytes: 0,
        pits: 0,
        pit_bytes: 0,
        pit_dram: 0,
        header_timeout: time,
        backups: PathBuf::new(),
        logging: Logging::empty(),
        shutdown_timeout: time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        file: Option<&Path>,
        variables: &[(&str, &str)],
        flags: &[(&str, &str)],
    ) -> Result<InForce, String> {
        let variable = |name: &str| {
            let mut variables = variables.iter();
            variables.find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let flags: Vec<_> =
            flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        InForce::read(file, variable, &flags).map_err(|error| error.to_string())
    }

    fn file(text: &str) -> PathBuf {
        let name = format!("spirit-settings-{}-{}.toml", std::process::id(), text.len());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn sizes_that_no_index_can_have_are_refused() {
        for (name, size) in [("index-dram", "1MiB"), ("index-nvm", "2MiB")] {
            let error = read(None, &[], &[(name, size)]).unwrap_err();
            let asked = format!("--{name} {}", size.replace('M', " M"));
            assert!(error.contains(&asked) && error.contains("give at least"), "{error}");
        }
        read(None, &[], &[("index-dram", "16MiB"), ("index-nvm", "64MiB")]).unwrap();
    }

    #[test]
    fn the_strongest_wins_and_is_named() {
        let path = file(
            "listen = \"127.0.0.1:1\"\nrequests = 7\nindex_dram = \"32MiB\"\nengrave = \"lazy\"\n",
        );
        let variables = [("SPIRIT_LISTEN", "127.0.0.1:2"), ("SPIRIT_BODY", "1MiB")];
        let read = read(Some(&path), &variables, &[("listen", "127.0.0.1:3")]).unwrap();
        let line = |name: &str| {
            let (_, value, origin) = read.lines().find(|(known, ..)| *known == name).unwrap();
            (value, origin.clone())
        };
        assert_eq!(line("listen"), ("127.0.0.1:3".into(), Origin::Flag));
        assert_eq!(line("body"), ("1 MiB".into(), Origin::Environment("SPIRIT_BODY".into())));
        assert_eq!(line("engrave"), ("lazy".into(), Origin::File(path.clone())));
        assert_eq!(line("index-dram"), ("32 MiB".into(), Origin::File(path.clone())));
        assert_eq!((line("requests").0, line("hold").1), ("7".into(), Origin::Default));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let path = file("listn = \"127.0.0.1:1\"\n");
        let error = read(Some(&path), &[], &[]).unwrap_err();
        assert!(error.contains("`listn` is no setting") && error.contains("toml"), "{error}");
        std::fs::remove_file(path).unwrap();
        let wrong = [("SPIRIT_QUERY_TIMEOUT", "soon")];
        let error = read(None, &wrong, &[]).unwrap_err();
        assert_eq!(
            error,
            "SPIRIT_QUERY_TIMEOUT: expected a time, as in 500ms or 2s, found \"soon\""
        );
        let error = read(None, &[], &[("on-full", "wait")]).unwrap_err();
        assert_eq!(error, "--on-full: expected refuse or drop-oldest, found \"wait\"");
        let error = read(None, &[], &[("stage-threads", "3")]).unwrap_err();
        assert_eq!(error, "--stage-threads: expected 1 or 2, found \"3\"");
        assert!(
            read(Some(Path::new("/nowhere.toml")), &[], &[])
                .unwrap_err()
                .starts_with("/nowhere.toml: ")
        );
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        let read = read(None, &[], &[]).unwrap();
        let flags: Vec<_> = read.lines().map(|(name, value, _)| (name, value)).collect();
        let again = InForce::read(None, |_| None, &flags).unwrap();
        assert_eq!(read.settings, again.settings);
    }
}
