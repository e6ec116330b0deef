//! What the ingest role, the flush stage and the readers of one executor share.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use spirit_index::keys::Keys;
use spirit_index::memory::Memory;
use spirit_query::Level;

use crate::error::AddError;
use crate::options::{OnFull, Options};

/// Numbers that all executors of an index draw from.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The next sequence number: one for each operation.
    pub(crate) sequence: AtomicU64,
    /// Documents ever accepted: the next automatic key.
    pub(crate) documents: AtomicU64,
    /// Numbers that were drawn for documents that were then refused.
    pub(crate) refused: AtomicU64,
    /// Whether one executor draws all numbers; then a document that is refused leaves no gap.
    pub(crate) one_executor: bool,
    /// One past the largest number that was given as an explicit key; automatic keys below it are looked up.
    pub(crate) explicit_end: AtomicU64,
}

/// How often something was done, and how long it took in all.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) count: AtomicU64,
    pub(crate) nanoseconds: AtomicU64,
}

impl Work {
    /// Does a part of it.
    pub(crate) fn time<T>(&self, part: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = part();
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        result
    }
}

/// One executor's shared state.
pub(crate) struct Shared {
    pub(crate) memory: Memory,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) on_full: OnFull,
    pub(crate) vectors: Level,
    keys: Mutex<Keys>,
    poisoned: AtomicBool,
    /// The flush stage waits for room.
    stuck: AtomicBool,
    /// The index is being dropped: what was not flushed need not be.
    closing: AtomicBool,
    /// What the flush stage last reported of its dictionary.
    pub(crate) dictionary_terms: AtomicU64,
    pub(crate) dictionary_pool_bytes: AtomicU64,
    /// The same of the merged dictionary: lines in use.
    pub(crate) merged_lines: AtomicU64,
    /// Segments that were engraved and merged since the start, and the nanoseconds that took.
    pub(crate) engraved: Work,
    pub(crate) merged: Work,
    /// Segments dropped by retention or rewritten without their dead, and tokens too long to keep.
    pub(crate) dropped_segments: AtomicU64,
    pub(crate) rewritten_segments: AtomicU64,
    pub(crate) skipped_tokens: AtomicU64,
    /// Rows that died, over the executor's life.
    pub(crate) deleted: AtomicU64,
}

impl Shared {
    pub(crate) fn new(memory: Memory, numbers: Arc<Numbers>, options: &Options) -> Shared {
        let keys = Mutex::new(Keys::new(memory.geometry()));
        Shared {
            memory,
            numbers,
            on_full: options.on_full,
            vectors: options.vectors,
            keys,
            poisoned: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            dictionary_terms: AtomicU64::new(0),
            dictionary_pool_bytes: AtomicU64::new(0),
            merged_lines: AtomicU64::new(0),
            engraved: Work::default(),
            merged: Work::default(),
            dropped_segments: AtomicU64::new(0),
            rewritten_segments: AtomicU64::new(0),
            skipped_tokens: AtomicU64::new(0),
            deleted: AtomicU64::new(0),
        }
    }

    /// The key table: the ingest role holds it for a batch, the flush stage for a few rows of a segment that
    /// is dropped. Queries do not come here; they read the table as it is.
    pub(crate) fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The pipeline takes nothing more.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Release);
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Acquire)
    }

    /// What whoever comes to a poisoned pipeline is told.
    pub(crate) fn refusal(&self) -> AddError {
        match self.memory.nvm().and_then(|nvm| nvm.door().failure()) {
            Some(_) => AddError::SyncFailed,
            None => AddError::Poisoned,
        }
    }

    pub(crate) fn close(&self) {
        self.closing.store(true, Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Acquire)
    }

    pub(crate) fn set_stuck(&self, stuck: bool) {
        self.stuck.store(stuck, Release);
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.load(Acquire)
    }

    pub(crate) fn add_to(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Relaxed);
    }
}
