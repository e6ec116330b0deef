//! The indexes of the server's directory: each in a directory of its own, with the index's name.
//!
//! Indexes that are there are opened side by side, while the server answers for others. One that cannot
//! be opened is out of service, with the reason, and harms no other. The catalog's lock is held for
//! look-ups alone. Making and deleting take a lock of their own, so that a budget is not spent twice.

mod grow;
mod reopening;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use spirit::{Builder, Index, OpenError};
use spirit_forms::size::Size;

use crate::index_name::IndexName;
use crate::kept::Kept;
use crate::registry::Registry;
use crate::served::{HEAP, Served, Taken};
use crate::settings::Settings;
pub(crate) use grow::NotGrown;
pub(crate) use reopening::{Pass, Reopening};

/// All indexes.
pub(crate) struct Catalog {
    settings: Settings,
    registry: Registry,
    entries: RwLock<BTreeMap<IndexName, Entry>>,
    /// Held while an index is made, grown or deleted.
    changing: Mutex<()>,
    reopening: Reopening,
}

/// An index, or the reason why it cannot be asked.
#[derive(Clone, Debug)]
enum Entry {
    Starting(Arc<AtomicU8>),
    Serving(Arc<Served>),
    /// It could not be opened.
    OutOfService(String),
}

/// The reason why an index cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Unknown,
    Starting { percent: u8 },
    OutOfService { why: String },
}

/// The reason why an index was not made.
#[derive(Debug)]
pub(crate) enum NotMade {
    Exists,
    /// There is an alias of this name.
    IsAlias,
    BeyondBudget(String),
    Open(OpenError),
    /// Its settings could not be written.
    NotKept(io::Error),
}

/// How far the server's start has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Readiness {
    pub(crate) percent: u8,
    pub(crate) serving: usize,
    pub(crate) starting: usize,
    /// Indexes that are out of service, each with the reason.
    pub(crate) failed: Vec<(String, String)>,
}

impl Catalog {
    /// Lists the indexes of the directory, which is made if it is not there. None is open yet.
    pub(crate) fn list(settings: &Settings) -> io::Result<Catalog> {
        let directory = &settings.directory;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_str().and_then(|name| name.parse::<IndexName>().ok());
            if let Some(name) = name.filter(|_| entry.path().join(HEAP).is_file()) {
                entries.insert(name, Entry::Starting(Arc::default()));
            }
        }
        let is_there =
            |name: &str| name.parse().is_ok_and(|name: IndexName| entries.contains_key(&name));
        let registry = Registry::read(directory, is_there)?;
        Ok(Catalog {
            settings: settings.clone(),
            registry,
            entries: RwLock::new(entries),
            changing: Mutex::new(()),
            reopening: Reopening::default(),
        })
    }

    /// Opens the indexes that were listed, side by side.
    pub(crate) fn start(self: &Arc<Catalog>) {
        let starting: Vec<_> = self.entries().iter().filter_map(Self::starting).collect();
        let next = Arc::new(Mutex::new(starting.into_iter()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            let (catalog, next) = (self.clone(), next.clone());
            std::thread::spawn(move || {
                let next = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((name, percent)) = next() {
                    catalog.open(name, percent);
                }
            });
        }
    }

    fn starting((name, entry): (&IndexName, &Entry)) -> Option<(IndexName, Arc<AtomicU8>)> {
        match entry {
            Entry::Starting(percent) => Some((name.clone(), percent.clone())),
            _ => None,
        }
    }

    fn open(&self, name: IndexName, percent: Arc<AtomicU8>) {
        let builder = self.builder(&name).while_recovering(move |progress| {
            percent.store(progress.percent(), Relaxed);
        });
        let started = Instant::now();
        let entry = match self.opened(&name, builder) {
            Ok(index) => {
                let duration_ms = started.elapsed().as_millis() as u64;
                tracing::info!(index = name.as_str(), duration_ms, "opened an index");
                Entry::Serving(Arc::new(Served::new(name.clone(), index)))
            }
            Err(why) => {
                tracing::error!(index = name.as_str(), why, "an index is out of service");
                Entry::OutOfService(why)
            }
        };
        self.entries_mut().insert(name, entry);
    }

    /// Opens an index with the DRAM that it had.
    fn opened(&self, name: &IndexName, builder: Builder) -> Result<Index, String> {
        let directory = self.path(name);
        let kept = Kept::read(&directory);
        let kept = kept.map_err(|error| format!("{}: {error}", directory.display()))?;
        let builder = match kept {
            Some(Kept { dram }) => builder.dram_bytes(dram),
            None => builder,
        };
        builder.open().map_err(|error| error.to_string())
    }

    /// Returns a builder of an index.
    fn builder(&self, name: &IndexName) -> Builder {
        self.settings.index_builder().directory(self.path(name))
    }

    fn path(&self, name: &IndexName) -> PathBuf {
        self.settings.directory.join(name.as_str())
    }

    fn entries(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<IndexName, Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries_mut(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<IndexName, Entry>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the indexes that are closed for a moment.
    pub(crate) fn reopening(&self) -> &Reopening {
        &self.reopening
    }

    /// Returns the aliases, templates and data streams.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the index of a name.
    pub(crate) fn get(&self, name: &IndexName) -> Result<Arc<Served>, Absent> {
        match self.entries().get(name) {
            None => Err(Absent::Unknown),
            Some(Entry::Serving(served)) => Ok(served.clone()),
            Some(Entry::Starting(percent)) => {
                Err(Absent::Starting { percent: percent.load(Relaxed) })
            }
            Some(Entry::OutOfService(why)) => Err(Absent::OutOfService { why: why.clone() }),
        }
    }

    /// Returns all indexes that are served, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Served>> {
        let serving = |entry: &Entry| match entry {
            Entry::Serving(served) => Some(served.clone()),
            _ => None,
        };
        self.entries().values().filter_map(serving).collect()
    }

    /// Makes an index. `change` sets what its maker asked for. What that takes may not be beyond the
    /// budget.
    pub(crate) fn make(
        &self,
        name: &IndexName,
        asked: Taken,
        change: impl FnOnce(Builder) -> Builder,
    ) -> Result<Arc<Served>, NotMade> {
        let _one_at_a_time = self.changing();
        if self.entries().contains_key(name) {
            return Err(NotMade::Exists);
        }
        let registered = self.registry.now();
        if registered.aliases.contains_key(name.as_str()) {
            return Err(NotMade::IsAlias);
        }
        if registered.streams.contains_key(name.as_str()) {
            return Err(NotMade::Exists);
        }
        self.check_budget(asked)?;
        let builder = self.builder(name).dram_bytes(asked.dram).nvm_bytes(asked.nvm);
        let index = change(builder).open().map_err(NotMade::Open)?;
        Kept { dram: asked.dram }.write(&self.path(name)).map_err(NotMade::NotKept)?;
        let served = Arc::new(Served::new(name.clone(), index));
        self.entries_mut().insert(name.clone(), Entry::Serving(served.clone()));
        tracing::info!(index = name.as_str(), dram = asked.dram, nvm = asked.nvm, "made an index");
        Ok(served)
    }

    /// Returns what the memory of a new index is by default.
    pub(crate) fn default_sizes(&self) -> Taken {
        Taken { dram: self.settings.index_dram, nvm: self.settings.index_nvm }
    }

    fn check_budget(&self, asked: Taken) -> Result<(), NotMade> {
        let taken = self.all().iter().map(|served| served.taken()).fold(asked, Taken::and);
        let budgets = [
            ("dram", taken.dram, asked.dram, self.settings.dram),
            ("nvm", taken.nvm, asked.nvm, self.settings.nvm),
        ];
        for (name, taken, asked, budget) in budgets {
            if taken > budget {
                let [asked, free, budget] =
                    [asked, budget.saturating_sub(taken - asked), budget].map(Size);
                return Err(NotMade::BeyondBudget(format!(
                    "it would take {asked}, and {free} are left of {budget}: delete an index, make \
                     this one smaller, or start the server with a larger --{name}"
                )));
            }
        }
        Ok(())
    }

    /// Deletes an index with all of its documents. Questions under way end with an error.
    pub(crate) fn delete(&self, name: &IndexName) -> Result<io::Result<()>, Absent> {
        let _one_at_a_time = self.changing();
        let served = match self.get(name) {
            Err(absent @ (Absent::Unknown | Absent::Starting { .. })) => return Err(absent),
            other => other.ok(),
        };
        self.entries_mut().remove(name);
        // Its file goes first, so that a crash leaves no half of it. Readers that still have it have the file
        // open.
        let removed = remove(&self.path(name)).and(self.registry.forget(name.as_str()));
        drop(served);
        match &removed {
            Ok(()) => tracing::info!(index = name.as_str(), "deleted an index"),
            Err(error) => tracing::error!(index = name.as_str(), %error, "cannot delete an index"),
        }
        Ok(removed)
    }

    /// Says how far the start has come.
    pub(crate) fn readiness(&self) -> Readiness {
        let entries = self.entries();
        let mut readiness = Readiness::default();
        let mut percents = 0;
        for (name, entry) in entries.iter() {
            percents += match entry {
                Entry::Starting(percent) => {
                    readiness.starting += 1;
                    usize::from(percent.load(Relaxed).min(99))
                }
                Entry::Serving(_) => {
                    readiness.serving += 1;
                    100
                }
                Entry::OutOfService(why) => {
                    readiness.failed.push((name.to_string(), why.clone()));
                    100
                }
            };
        }
        readiness.percent = percents.checked_div(entries.len()).unwrap_or(100) as u8;
        readiness
    }

    /// Closes all indexes, one after the other. Returns what went wrong.
    pub(crate) fn close(&self) -> Vec<(IndexName, String)> {
        let entries = std::mem::take(&mut *self.entries_mut());
        let close = |(name, entry): (IndexName, Entry)| {
            let Entry::Serving(served) = entry else { return None };
            let closed = match Arc::try_unwrap(served) {
                Ok(served) => served.index.close(),
                // A question that did not end in time has it.
                Err(served) => served.index.prepare_close(),
            };
            let error = closed.err()?;
            tracing::error!(index = name.as_str(), %error, "cannot close an index");
            Some((name, error.to_string()))
        };
        entries.into_iter().filter_map(close).collect()
    }
}

fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path.join(HEAP))?;
    fs::remove_dir_all(path)
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::Unknown => f.write_str("there is no such index"),
            Absent::Starting { percent } => write!(f, "the index is starting: {percent} %"),
            Absent::OutOfService { why } => write!(f, "the index is out of service: {why}"),
        }
    }
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMade::Exists => f.write_str("there is an index of this name"),
            NotMade::IsAlias => f.write_str("there is an alias of this name"),
            NotMade::BeyondBudget(why) => f.write_str(why),
            NotMade::Open(error) => error.fmt(f),
            NotMade::NotKept(error) => error.fmt(f),
        }
    }
}
