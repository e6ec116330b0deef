//! The state that the ingest role, the flush stage and the readers of one executor share.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use spirit_index::ground::Corrupt as Damage;
use spirit_index::ground::Gauge;
use spirit_index::ground::damage;
use spirit_index::keys::WriterKeys;
use spirit_index::memory::Memory;
use spirit_query::Level;

use crate::config::corrupt::Corrupt;
use crate::config::error::WriteError;
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::storage::fields::Fields;
use crate::storage::progress::Progress;
use crate::storage::retention::Retention;
use crate::storage::watch::Watch;

/// What all executors of an index share: the numbers that they draw from, and who waits for rows.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The next sequence number. Each operation draws one.
    pub(crate) sequence: AtomicU64,
    /// The next document number. Each document draws one. It is the key of a document without a
    /// key.
    pub(crate) documents: AtomicU64,
    /// One past the largest number that was given as an explicit key. Automatic keys below it are
    /// looked up.
    pub(crate) explicit_end: AtomicU64,
    /// At a start, the number of the last group whose offset a log has.
    pub(crate) group: AtomicU64,
    /// The thread that looks at new rows, if there is one.
    pub(crate) watch: Watch,
}

impl Numbers {
    /// Gives back the numbers of refused documents. Later documents get them, unless another thread
    /// has drawn since.
    pub(crate) fn give_back(&self, unused: Range<u64>) {
        // If another thread has drawn since, these numbers are left out for ever.
        let Range { start, end } = unused;
        let _ = self.documents.compare_exchange(end, start, Relaxed, Relaxed);
    }
}

/// A counter and a timer of some work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) count: &'a AtomicU64,
    pub(crate) nanoseconds: &'a AtomicU64,
}

impl Work<'_> {
    /// Runs a part of the work, and adds its time.
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
    /// The retention time, if documents are not kept as long as there is room.
    pub(crate) retention: Option<Retention>,
    keys: Mutex<WriterKeys>,
    poisoned: AtomicBool,
    /// The first damage found in the file. Nothing is computed from damaged parts.
    damage: OnceLock<Damage>,
    /// True if keys were moved out of the key table to make room. Older keys are then not imported.
    keys_left: AtomicBool,
    progress: Progress,
    /// One more than the progress when an operation last waited for room.
    waited: AtomicU64,
    /// The number of segments that the ingest role handed over and that are not engraved.
    unplaced: AtomicU64,
    /// One past the sequence number of the last operation in an engraved segment.
    engraved_to: AtomicU64,
    /// True once the log is replayed, until the flush stage takes note.
    replayed: AtomicBool,
    /// True if the index is closing: unflushed segments need not be flushed.
    closing: AtomicBool,
    /// True if operations without room fail instead of waiting, under any policy.
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
            // A private copy must hold all that the index holds.
            on_full: if options.private { OnFull::Refuse } else { options.on_full },
            vectors: options.vectors,
            retention,
            keys,
            poisoned: AtomicBool::new(false),
            damage: OnceLock::new(),
            keys_left: AtomicBool::new(false),
            progress: Progress::default(),
            waited: AtomicU64::new(0),
            unplaced: AtomicU64::new(0),
            engraved_to: AtomicU64::new(0),
            replayed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            stops_waiting: AtomicBool::new(false),
        }
    }

    /// Returns a number for statistics, which every process can read.
    pub(crate) fn gauge(&self, gauge: Gauge) -> &AtomicU64 {
        self.memory.gauge(gauge)
    }

    /// Returns number and time of the segments engraved since the start.
    pub(crate) fn engraved(&self) -> Work<'_> {
        Work { count: self.gauge(Gauge::Engraved), nanoseconds: self.gauge(Gauge::EngravedTime) }
    }

    /// Returns number and time of the segments merged since the start.
    pub(crate) fn merged(&self) -> Work<'_> {
        Work { count: self.gauge(Gauge::Merged), nanoseconds: self.gauge(Gauge::MergedTime) }
    }

    /// Locks the key table. The ingest role holds it for a batch, the flush stage for a few rows of
    /// a dropped segment. Queries read the table without the lock.
    pub(crate) fn keys(&self) -> MutexGuard<'_, WriterKeys> {
        self.keys.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Notes that a key was moved out of the key table. The caller holds the key lock.
    pub(crate) fn note_key_left(&self) {
        self.keys_left.store(true, Relaxed);
    }

    /// True if a key was moved out of the key table. The caller holds the key lock.
    pub(crate) fn have_keys_left(&self) -> bool {
        self.keys_left.load(Relaxed)
    }

    /// Poisons the pipeline: it accepts nothing more.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Release);
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Acquire)
    }

    /// Notes that the log is replayed.
    pub(crate) fn note_replayed(&self) {
        self.replayed.store(true, Release);
    }

    /// True if the log was replayed since the last call. For the flush stage only.
    pub(crate) fn take_replayed(&self) -> bool {
        // Acquire: the keys of replayed documents are in the table before. No other thread stores
        // to it any more.
        let replayed = self.replayed.load(Acquire);
        if replayed {
            self.replayed.store(false, Release);
        }
        replayed
    }

    /// Hands a segment to the flush stage by `send`, which says whether it did.
    pub(crate) fn hand_over(&self, send: impl FnOnce() -> bool) {
        self.progress.hand_over(|| {
            let sent = send();
            self.unplaced.fetch_add(u64::from(sent), Release);
            sent
        });
        self.memory.notify_space();
    }

    /// Notes that a segment was flushed.
    pub(crate) fn note_flushed(&self) {
        self.progress.note_flushed();
        self.memory.notify_space();
    }

    /// True if the flush stage has segments that are not flushed.
    pub(crate) fn is_anything_unflushed(&self) -> bool {
        self.progress.is_anything_unflushed()
    }

    /// Notes that all operations below this sequence number are engraved.
    pub(crate) fn note_engraved_to(&self, sequence: u64) {
        // Release: the marks of the segments are durable before anybody relies on the number.
        self.engraved_to.store(sequence, Release);
    }

    /// Returns one past the sequence number of the last operation in an engraved segment.
    pub(crate) fn engraved_to(&self) -> u64 {
        self.engraved_to.load(Acquire)
    }

    /// Notes that a segment was engraved.
    pub(crate) fn note_placed(&self) {
        self.unplaced.fetch_sub(1, Release);
    }

    pub(crate) fn is_anything_unplaced(&self) -> bool {
        self.unplaced.load(Acquire) > 0
    }

    /// True if a write to the disk has failed: nothing is acknowledged any more.
    pub(crate) fn has_disk_failed(&self) -> bool {
        self.memory.nvm().is_some_and(|nvm| nvm.door().failure().is_some())
    }

    /// Poisons the pipeline if its disk or its file has failed, and returns true then. The contents of
    /// the second tier are uncertain from now on: only queries continue.
    pub(crate) fn ends_stages(&self) -> bool {
        let failed = self.has_disk_failed() || self.is_damaged();
        if failed {
            self.poison();
        }
        failed
    }

    /// True if the pipeline accepts no more operations, or the disk has failed so that it soon will
    /// not. Waits for room end then.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.is_poisoned() || self.has_disk_failed()
    }

    /// Returns the error of all operations on a poisoned pipeline.
    pub(crate) fn refusal(&self) -> WriteError {
        match self.damage.get() {
            Some(what) => WriteError::Damaged(Corrupt::new(None, what.clone())),
            None if self.has_disk_failed() => WriteError::SyncFailed,
            None => WriteError::Poisoned,
        }
    }

    /// Poisons the pipeline, and returns an error, if this thread has read damage since it cleared
    /// its notes.
    pub(crate) fn refuse_damage(&self) -> Result<(), WriteError> {
        let Some(what) = damage::found(self.memory.region()) else { return Ok(()) };
        let _ = self.damage.set(what);
        self.poison();
        Err(self.refusal())
    }

    /// True if the pipeline accepts nothing more because of damage.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damage.get().is_some()
    }

    pub(crate) fn close(&self) {
        self.closing.store(true, Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Acquire)
    }

    /// Makes the root say that the index is open, before anything else is stored. The next store
    /// reports a failure.
    pub(crate) fn begin_change(&self) {
        if let Some(nvm) = self.memory.nvm() {
            nvm.door().begin();
        }
    }

    /// Notes that there may be more room, and wakes all threads that wait for it.
    pub(crate) fn note_progress(&self) {
        self.progress.note_step();
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

    /// Returns the progress. A thread reads it before it looks for room.
    pub(crate) fn progress(&self) -> u64 {
        self.progress.with(self.memory.returned())
    }

    /// See [`Progress::note_stuck`].
    pub(crate) fn note_stuck(&self, progress: u64) {
        self.progress.note_stuck(progress);
    }

    /// See [`Progress::note_stuck_if_flushed`].
    pub(crate) fn note_stuck_if_flushed(&self, progress: u64) {
        self.progress.note_stuck_if_flushed(progress);
    }

    /// True if the flush stage can make no room, and has made none since `progress` was read. A
    /// thread that has looked for room since need not look again.
    pub(crate) fn is_stuck_since(&self, progress: u64) -> bool {
        self.progress.is_stuck_at(progress) && self.progress() == progress
    }

    /// True if the flush stage can make no room now.
    pub(crate) fn is_stuck(&self) -> bool {
        self.is_stuck_since(self.progress())
    }

    /// Notes that an operation waits for the flush stage to make room. It read `progress` before it
    /// looked for room.
    pub(crate) fn note_waiting(&self, progress: u64) {
        self.waited.store(progress + 1, Release);
    }

    /// True if an operation has waited since the last progress, and the flush stage can make no
    /// room.
    pub(crate) fn has_waited_in_vain(&self) -> bool {
        self.is_stuck() && self.waited.load(Acquire) == self.progress() + 1
    }

    /// Adds rows that had died before the start, beyond those that were counted; negative if fewer.
    pub(crate) fn correct_deleted(&self, more: i64) {
        self.gauge(Gauge::Deleted).fetch_add(more.cast_unsigned(), Relaxed);
    }

    /// Adds a time to a gauge of nanoseconds.
    pub(crate) fn add_time(&self, gauge: Gauge, time: Duration) {
        self.add(gauge, time.as_nanos() as u64);
    }

    /// Adds to a gauge.
    pub(crate) fn add(&self, gauge: Gauge, value: u64) {
        self.gauge(gauge).fetch_add(value, Relaxed);
    }
}
