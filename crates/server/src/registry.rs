//! What the server keeps of all indexes together: aliases, templates, data streams and standing queries.
//!
//! They are in `_registry.json` in the server's directory. A change is written before it is in force.
//! After a crash the file has all of a change, or nothing of it.
//!
//! | member | |
//! |---|---|
//! | `aliases` | for each alias its indexes, each with `is_write_index` if it was given |
//! | `index_templates`, `component_templates`, `templates` | bodies of templates, by name |
//! | `streams` | for each data stream the name of its template |
//! | `settings` | for each index the settings that it was given, which change nothing here |
//! | `queries` | for each index the texts of its standing queries, by name |

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file's name.
const NAME: &str = "_registry.json";
/// Its name until it is whole.
const NEW: &str = "_registry.json.new";

/// The indexes of an alias, each with `is_write_index` if it was given.
pub(crate) type Alias = BTreeMap<String, Option<bool>>;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registered {
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, Alias>,
    #[serde(default)]
    pub(crate) index_templates: BTreeMap<String, Value>,
    #[serde(default)]
    pub(crate) component_templates: BTreeMap<String, Value>,
    #[serde(default)]
    pub(crate) templates: BTreeMap<String, Value>,
    #[serde(default)]
    pub(crate) streams: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    pub(crate) queries: BTreeMap<String, BTreeMap<String, String>>,
}

impl Registered {
    /// Forgets an index: no alias has it any more.
    fn forget(&mut self, index: &str) {
        for alias in self.aliases.values_mut() {
            alias.remove(index);
        }
        self.aliases.retain(|_, alias| !alias.is_empty());
        self.settings.remove(index);
        self.queries.remove(index);
    }

    /// Returns the aliases of an index.
    pub(crate) fn of_index(&self, index: &str) -> Vec<(&str, Option<bool>)> {
        self.aliases
            .iter()
            .filter_map(|(name, alias)| alias.get(index).map(|is_write| (&**name, *is_write)))
            .collect()
    }
}

/// Returns the name of the index that a data stream has.
pub(crate) fn backing(stream: &str) -> String {
    format!(".ds-{stream}-000001")
}

/// What is kept, with the file that has it.
#[derive(Debug)]
pub(crate) struct Registry {
    directory: PathBuf,
    now: RwLock<Arc<Registered>>,
    changing: Mutex<()>,
}

impl Registry {
    /// Reads it. Aliases of indexes that are not there any more are left out.
    pub(crate) fn read(directory: &Path, is_there: impl Fn(&str) -> bool) -> io::Result<Registry> {
        let mut registered: Registered = match fs::read(directory.join(NAME)) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Registered::default(),
            Err(error) => return Err(error),
        };
        for alias in registered.aliases.values_mut() {
            alias.retain(|index, _| is_there(index));
        }
        registered.aliases.retain(|_, alias| !alias.is_empty());
        registered.streams.retain(|stream, _| is_there(&backing(stream)));
        registered.settings.retain(|index, _| is_there(index));
        registered.queries.retain(|index, _| is_there(index));
        let now = RwLock::new(Arc::new(registered));
        Ok(Registry { directory: directory.to_owned(), now, changing: Mutex::new(()) })
    }

    /// Returns what is kept now.
    pub(crate) fn now(&self) -> Arc<Registered> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what is kept: all of it, or nothing if `change` or the disk fails.
    pub(crate) fn change<E: From<io::Error>>(
        &self,
        change: impl FnOnce(&mut Registered) -> Result<(), E>,
    ) -> Result<(), E> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.now();
        let mut next = Registered::clone(&before);
        change(&mut next)?;
        if next != *before {
            self.write(&next)?;
            *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        }
        Ok(())
    }

    /// Forgets an index that is deleted.
    pub(crate) fn forget(&self, index: &str) -> io::Result<()> {
        self.change(|registered| {
            registered.forget(index);
            registered.streams.retain(|stream, _| backing(stream) != index);
            Ok(())
        })
    }

    fn write(&self, registered: &Registered) -> io::Result<()> {
        let mut file = File::create(self.directory.join(NEW))?;
        file.write_all(&serde_json::to_vec(registered)?)?;
        file.sync_all()?;
        fs::rename(self.directory.join(NEW), self.directory.join(NAME))?;
        File::open(&self.directory)?.sync_all()
    }
}
