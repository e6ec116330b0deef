//! The index: executors side by side, one order over all of them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::Pins;

use crate::error::{AddError, OpenError};
use crate::executor::Executor;
use crate::ingest::Ingester;
use crate::options::Options;
use crate::shared::Numbers;

/// A live index. Any number of threads may add, delete and search at once.
pub struct Index {
    pub(crate) executors: Box<[Executor]>,
    pub(crate) pins: Arc<Pins>,
    pub(crate) options: Options,
    numbers: Arc<Numbers>,
}

impl Index {
    /// Where settings begin.
    pub fn options() -> Options {
        Options::default()
    }

    pub(crate) fn open(options: Options) -> Result<Index, OpenError> {
        options.check()?;
        let pins = Arc::new(Pins::new(options.readers_max + options.executors));
        let numbers = Arc::new(Numbers::default());
        let executors = (0..options.executors)
            .map(|n| Executor::start(&options, n, numbers.clone(), pins.clone()))
            .collect::<Result<_, _>>()?;
        Ok(Index { executors, pins, options, numbers })
    }

    /// Adds a document under an automatic key: the number of documents that the index had accepted before.
    /// When this returns, every query that starts afterwards, on any thread, finds it.
    pub fn add(&self, text: &str) -> Result<(), AddError> {
        self.add_all([(None, text)]).map(drop).map_err(|e| e.error)
    }

    /// Adds a document under `key`, replacing the one that has this key, in one visible step.
    pub fn put(&self, key: &str, text: &str) -> Result<(), AddError> {
        self.add_all([(Some(key), text)]).map(drop).map_err(|e| e.error)
    }

    /// Adds documents in order; each is visible soon after it is taken from the iterator, all of them when
    /// this returns. Faster than one at a time: their cache misses overlap.
    pub fn add_all<'a>(
        &self,
        documents: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
    ) -> Result<u64, AddAllError> {
        let mut added = 0;
        if let [only] = &*self.executors {
            let mut role = only.role().map_err(|error| AddAllError { added, error })?;
            for (key, text) in documents {
                self.step(&mut role, key, text, &mut added)?;
            }
            return commit(&mut role, &mut added).map(|()| added);
        }
        for (key, text) in documents {
            let executor = &self.executors[self.route(key)];
            let mut role = executor.role().map_err(|error| AddAllError { added, error })?;
            role.collect(key.map(str::as_bytes), text)
                .map_err(|error| AddAllError { added, error })?;
            commit(&mut role, &mut added)?;
        }
        Ok(added)
    }

    fn step(
        &self,
        role: &mut Ingester,
        key: Option<&str>,
        text: &str,
        added: &mut u64,
    ) -> Result<(), AddAllError> {
        if let Err(error) = role.collect(key.map(str::as_bytes), text) {
            commit(role, added)?;
            return Err(AddAllError { added: *added, error });
        }
        if role.batch_is_full() { commit(role, added) } else { Ok(()) }
    }

    fn route(&self, key: Option<&str>) -> usize {
        let hash = match key {
            Some(key) => spirit_index::keys::hash(key.as_bytes()),
            None => {
                let mut key = Vec::with_capacity(20);
                spirit_index::keys::write_number(self.numbers.documents.load(Relaxed), &mut key);
                spirit_index::keys::hash(&key)
            }
        };
        (hash >> 32) as usize % self.executors.len()
    }

    /// Deletes the document that has `key`. Says whether there was one. When this returns, no query that starts
    /// afterwards finds it.
    pub fn delete(&self, key: &str) -> Result<bool, AddError> {
        let executor = &self.executors[self.route(Some(key))];
        executor.role()?.delete(key.as_bytes())
    }

    /// Waits until every full segment has been flushed. Never needed for visibility; benchmarks call it.
    pub fn settle(&self) {
        for executor in &self.executors {
            executor.settle();
        }
    }

    /// Documents ever accepted.
    pub fn accepted(&self) -> u64 {
        self.numbers.documents.load(Relaxed)
    }

    /// Documents that were replaced or deleted, over the index's life.
    pub fn deleted(&self) -> u64 {
        self.executors.iter().map(Executor::deleted).sum()
    }
}

fn commit(role: &mut Ingester, added: &mut u64) -> Result<(), AddAllError> {
    let (count, result) = role.commit();
    *added += count;
    result.map_err(|error| AddAllError { added: *added, error })
}

/// A document of many was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddAllError {
    /// How many were added before it.
    pub added: u64,
    /// Why it was not.
    pub error: AddError,
}

impl std::fmt::Display for AddAllError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {} documents: {}", self.added, self.error)
    }
}

impl std::error::Error for AddAllError {}
