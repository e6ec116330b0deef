//! What the ingest role, the flush stage and the readers of one executor share.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::damage;
use spirit_index::ground::roots::Gauge;
use spirit_index::keys::WriterKeys;
use spirit_index::memory::Memory;
use spirit_query::Level;

use crate::config::error::WriteError;
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::storage::fields::Fields;
use crate::storage::retention::Retention;

/// Numbers that all executors of an index draw from.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The next sequence number: one for each operation.
    pub(crate) sequence: AtomicU64,
    /// The next number: one for each document, which is its key if it has no other.
    pub(crate) documents: AtomicU64,
    /// One past the largest number that was given as an explicit key; automatic keys below it are looked up.
    pub(crate) explicit_end: AtomicU64,
    /// At a start: the number of the last group whose offset a log has.
    pub(crate) group: AtomicU64,
}

impl Numbers {
    /// The documents for which these numbers were drawn were refused. Unless somebody drew behind them, the next ones get them.
    pub(crate) fn give_back(&self, unused: Range<u64>) {
        // Another thread that drew keeps its numbers: then these are left out for ever.
        let Range { start, end } = unused;
        let _ = self.documents.compare_exchange(end, start, Relaxed, Relaxed);
    }
}

/// How often something was done, and how long it took in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) count: &'a AtomicU64,
    pub(crate) nanoseconds: &'a AtomicU64,
}

impl Work<'_> {
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
    pub(crate) fields: Arc<Fields>,
    pub(crate) on_full: OnFull,
    pub(crate) vectors: Level,
    /// How long documents are kept, if not for as long as there is room.
    pub(crate) retention: Option<Retention>,
    keys: Mutex<WriterKeys>,
    poisoned: AtomicBool,
    /// The file does not hold what was stored there: nothing is made of it.
    damage: OnceLock<Corrupt>,
    /// Keys have left the key table to make room: no older ones are brought there.
    keys_left: AtomicBool,
    /// Steps by which the flush stage may have made room, and segments that it was given to do so with.
    progress: AtomicU64,
    /// One more than there had been when the flush stage found last that it can make none.
    stuck: AtomicU64,
    /// One more than there had been when an operation waited last.
    waited: AtomicU64,
    /// Segments that the ingest role handed over, and that are not engraved yet.
    unplaced: AtomicU64,
    /// The log was replayed just now.
    replayed: AtomicBool,
    /// The index is being dropped: what was not flushed need not be.
    closing: AtomicBool,
    /// Operations that find no room do not wait for it, whatever the policy.
    stops_waiting: AtomicBool,
}

impl Shared {
    pub(crate) fn new(
        memory: Memory,
        numbers: Arc<Numbers>,
        fields: Arc<Fields>,
        options: &Options,
        retention: Option<Retention>,
    ) -> Shared {
        let keys = Mutex::new(WriterKeys::new(memory.geometry()));
        Shared {
            memory,
            numbers,
            fields,
            // A copy for reading holds what the index holds.
            on_full: if options.private { OnFull::Refuse } else { options.on_full },
            vectors: options.vectors,
            retention,
            keys,
            poisoned: AtomicBool::new(false),
            damage: OnceLock::new(),
            keys_left: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            stuck: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            unplaced: AtomicU64::new(0),
            replayed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            stops_waiting: AtomicBool::new(false),
        }
    }

    /// A number for statistics, in every process.
    pub(crate) fn gauge(&self, gauge: Gauge) -> &AtomicU64 {
        self.memory.gauge(gauge)
    }

    /// Segments that were engraved since the start.
    pub(crate) fn engraved(&self) -> Work<'_> {
        Work { count: self.gauge(Gauge::Engraved), nanoseconds: self.gauge(Gauge::EngravedTime) }
    }

    /// Segments that were merged since the start.
    pub(crate) fn merged(&self) -> Work<'_> {
        Work { count: self.gauge(Gauge::Merged), nanoseconds: self.gauge(Gauge::MergedTime) }
    }

    /// The key table: the ingest role holds it for a batch, the flush stage for a few rows of a segment that
    /// is dropped. Queries do not come here; they read the table as it is.
    pub(crate) fn keys(&self) -> MutexGuard<'_, WriterKeys> {
        self.keys.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A key has left the key table. The caller holds the key lock.
    pub(crate) fn note_key_left(&self) {
        self.keys_left.store(true, Relaxed);
    }

    /// True if one has. The caller holds the key lock.
    pub(crate) fn have_keys_left(&self) -> bool {
        self.keys_left.load(Relaxed)
    }

    /// The pipeline takes nothing more.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Release);
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Acquire)
    }

    /// The log is replayed.
    pub(crate) fn note_replayed(&self) {
        self.replayed.store(true, Release);
    }

    /// Whether the log was replayed since this was asked last. Flush stage only.
    pub(crate) fn take_replayed(&self) -> bool {
        // Acquire: the keys of what was replayed are in their table before. Nobody else stores to it any more.
        let replayed = self.replayed.load(Acquire);
        if replayed {
            self.replayed.store(false, Release);
        }
        replayed
    }

    /// The ingest role hands a segment over.
    pub(crate) fn note_handed_over(&self) {
        self.note_progress();
        self.unplaced.fetch_add(1, Release);
    }

    /// One of them was engraved.
    pub(crate) fn note_placed(&self) {
        self.unplaced.fetch_sub(1, Release);
    }

    pub(crate) fn is_anything_unplaced(&self) -> bool {
        self.unplaced.load(Acquire) > 0
    }

    /// True if the disk has failed to keep something: nothing is acknowledged any more.
    pub(crate) fn has_disk_failed(&self) -> bool {
        self.memory.nvm().is_some_and(|nvm| nvm.door().failure().is_some())
    }

    /// True if the pipeline accepts no more operations, or the disk has failed and it soon will not. Waits for room end.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.is_poisoned() || self.has_disk_failed()
    }

    /// The error of all operations on a poisoned pipeline.
    pub(crate) fn refusal(&self) -> WriteError {
        match self.damage.get() {
            Some(what) => WriteError::Damaged { what: what.clone() },
            None if self.has_disk_failed() => WriteError::SyncFailed,
            None => WriteError::Poisoned,
        }
    }

    /// The pipeline takes nothing more if this thread has come upon damage since it cleared its notes.
    pub(crate) fn refuse_damage(&self) -> Result<(), WriteError> {
        let Some(what) = damage::found(self.memory.region()) else { return Ok(()) };
        let _ = self.damage.set(what);
        self.poison();
        Err(self.refusal())
    }

    /// True if the pipeline takes nothing more because of damage.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damage.get().is_some()
    }

    pub(crate) fn close(&self) {
        self.closing.store(true, Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Acquire)
    }

    /// The index is about to hold something else than its file, which says so first. What fails is seen when it is stored.
    pub(crate) fn begin_change(&self) {
        if let Some(nvm) = self.memory.nvm() {
            nvm.door().begin();
        }
    }

    /// There may be room now that was not there before: wakes all who wait for it.
    pub(crate) fn note_progress(&self) {
        self.progress.fetch_add(1, Release);
        self.memory.notify_space();
    }

    /// Makes operations that wait for room, now or later, fail once the flush stage can make none.
    pub(crate) fn stop_waiting(&self) {
        self.stops_waiting.store(true, Release);
        self.memory.notify_space();
    }

    /// True if operations fail rather than wait for room that the flush stage cannot make.
    pub(crate) fn stops_waiting(&self) -> bool {
        self.stops_waiting.load(Acquire)
    }

    /// How much of it there was. Anyone who looks for room looks here first.
    pub(crate) fn progress(&self) -> u64 {
        self.progress.load(Acquire)
    }

    /// The flush stage can make no room.
    pub(crate) fn note_stuck(&self) {
        self.stuck.store(self.progress() + 1, Release);
    }

    /// Whether the flush stage can make no room, and has made none since there was so much progress: who has looked for room
    /// since, and found none, need not look again.
    pub(crate) fn is_stuck_since(&self, progress: u64) -> bool {
        self.progress() == progress && self.stuck.load(Acquire) == progress + 1
    }

    /// Whether the flush stage can make no room now.
    pub(crate) fn is_stuck(&self) -> bool {
        self.is_stuck_since(self.progress())
    }

    /// An operation waits for the flush stage to make room.
    pub(crate) fn note_waiting(&self) {
        self.waited.store(self.progress() + 1, Release);
    }

    /// True if one has waited since the flush stage made room last, and it can make none.
    pub(crate) fn has_waited_in_vain(&self) -> bool {
        self.is_stuck() && self.waited.load(Acquire) == self.progress() + 1
    }

    /// This many more rows than were counted had died before the start.
    pub(crate) fn correct_deleted(&self, more: i64) {
        self.gauge(Gauge::Deleted).fetch_add(more.cast_unsigned(), Relaxed);
    }

    /// Adds to one of them.
    pub(crate) fn add(&self, gauge: Gauge, value: u64) {
        self.gauge(gauge).fetch_add(value, Relaxed);
    }
}
