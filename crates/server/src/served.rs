//! An index that is served.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::UNIX_EPOCH;

use spirit::Index;

use crate::deleted::Deleted;
use crate::index_name::IndexName;
use crate::percolating::Percolating;

/// The file that a directory with an index has.
pub(crate) const HEAP: &str = "heap";

/// An index that is served. The last one who has it closes it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) name: IndexName,
    pub(crate) index: Index,
    /// How often it was asked since the start.
    queries: AtomicU64,
    pub(crate) deleted: Deleted,
    /// Its named queries; none until a document asks for them.
    pub(crate) percolating: Mutex<Option<Percolating>>,
}

impl Served {
    pub(crate) fn new(name: IndexName, index: Index) -> Served {
        Served {
            name,
            index,
            queries: AtomicU64::new(0),
            deleted: Deleted::default(),
            percolating: Mutex::default(),
        }
    }

    /// Counts a question.
    pub(crate) fn count_query(&self) {
        self.queries.fetch_add(1, Relaxed);
    }

    /// Returns how often it was asked.
    pub(crate) fn queries(&self) -> u64 {
        self.queries.load(Relaxed)
    }

    /// Returns when its file was made, in milliseconds since 1970; none if the file system does not
    /// know.
    pub(crate) fn made_ms(&self) -> Option<u128> {
        let heap = self.index.directory()?.join(HEAP);
        let made = std::fs::metadata(heap).and_then(|file| file.created()).ok()?;
        Some(made.duration_since(UNIX_EPOCH).ok()?.as_millis())
    }

    /// The memory that it takes of the budget.
    pub(crate) fn taken(&self) -> Taken {
        let settings = self.index.settings();
        Taken { dram: settings.dram_bytes, nvm: settings.nvm_bytes }
    }
}

/// Bytes of the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) dram: u64,
    pub(crate) nvm: u64,
}

impl Taken {
    pub(crate) fn and(self, other: Taken) -> Taken {
        let dram = self.dram.saturating_add(other.dram);
        Taken { dram, nvm: self.nvm.saturating_add(other.nvm) }
    }
}
