//! The flush stage: a thread that makes read-optimized segments of full ones, and drops the oldest.
//!
//! It alone writes the dictionary and moves the window. Its queue holds one segment: when it falls behind,
//! the ingest role waits at the hand-over, which is the back-pressure of the pipeline.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use spirit_index::descriptor::SegmentId;
use spirit_index::dictionary::DictionaryWriter;
use spirit_index::flush::{Flush, drop_oldest};
use spirit_index::keys;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;

use crate::options::OnFull;
use crate::shared::Shared;

/// What the stage is asked to do.
pub(crate) enum Task {
    /// Flush this segment.
    Flush(Flush),
    /// The ingest role found the long-term partition full.
    MakeRoom,
    /// Say so on the channel when everything before is done.
    Report(std::sync::mpsc::SyncSender<()>),
    /// End.
    Stop,
}

/// Rows of a dropped segment whose keys are taken out under one lock.
const KEY_SWEEP_ROWS: u32 = 256;
/// How often garbage is looked at while nothing else happens.
const IDLE: Duration = Duration::from_millis(5);

pub(crate) struct FlushStage {
    shared: Arc<Shared>,
    dictionary: DictionaryWriter,
    tasks: Receiver<Task>,
}

/// Poisons the index if the stage ends by a panic.
struct Dart(Arc<Shared>);

impl Drop for Dart {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poison();
        }
    }
}

impl FlushStage {
    pub(crate) fn new(shared: Arc<Shared>, tasks: Receiver<Task>) -> FlushStage {
        let dictionary = DictionaryWriter::new(shared.memory.geometry());
        FlushStage { shared, dictionary, tasks }
    }

    pub(crate) fn run(mut self) {
        let _dart = Dart(self.shared.clone());
        loop {
            match self.tasks.recv_timeout(IDLE) {
                Ok(Task::Flush(flush)) => self.flush(flush),
                Ok(Task::MakeRoom) => self.make_room(),
                Ok(Task::Report(done)) => drop(done.send(())),
                Ok(Task::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.dictionary.collect(&self.shared.memory),
            }
            self.report();
        }
    }

    fn flush(&mut self, mut flush: Flush) {
        while flush.run(&self.shared.memory, &mut self.dictionary).is_err() {
            if self.shared.is_poisoned() {
                return;
            }
            self.shared.set_stuck(true);
            self.make_room();
            self.shared.memory.wait_for_space();
            self.dictionary.collect(&self.shared.memory);
        }
        self.shared.set_stuck(false);
        self.keep_ahead();
    }

    /// Drops the oldest segment if that is the policy.
    fn make_room(&mut self) {
        if self.shared.on_full == OnFull::DropOldest {
            self.drop_oldest();
        }
    }

    /// Keeps room for a segment free, so that the ingest role need not ask and wait.
    fn keep_ahead(&mut self) {
        if self.shared.on_full != OnFull::DropOldest {
            return;
        }
        let memory = &self.shared.memory;
        let window = memory.window();
        let (used, bytes) = memory.partition_use().long;
        let segments = (window.end - window.oldest).max(1) as u64;
        let crowded = bytes - used < (used / segments + memory.geometry().settings.segment_bytes / 4) * 5 / 4;
        let slots_short = !memory.has_slot(window.end + 8);
        if crowded || slots_short {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let shared = self.shared.clone();
        let dropped = drop_oldest(&shared.memory, &mut self.dictionary, |id| sweep_keys(&shared, id));
        if dropped {
            Shared::add_to(&shared.dropped_segments, 1);
        }
    }

    fn report(&self) {
        self.shared.dictionary_terms.store(self.dictionary.terms(), Relaxed);
        self.shared.dictionary_array_bytes.store(self.dictionary.array_bytes(), Relaxed);
    }
}

/// Takes the keys of a segment that is going out of the key table, a few rows at a time, so that the ingest
/// role waits for microseconds at most.
fn sweep_keys(shared: &Shared, id: SegmentId) {
    let snapshot = Snapshot::of_role(&shared.memory, u64::MAX);
    let segment = snapshot.of(id);
    let rows = segment.rows();
    let table = segment.row_table();
    let mut key = Vec::with_capacity(spirit_index::batch::KEY_BYTES_MAX);
    for first in (0..rows).step_by(KEY_SWEEP_ROWS as usize) {
        let held = shared.keys();
        for local in first..rows.min(first + KEY_SWEEP_ROWS) {
            let row = table.row(local).key();
            if matches!(row.kind(), KeyKind::None | KeyKind::Automatic(_)) {
                continue;
            }
            key.clear();
            keys::write_key(&segment, row, &mut key);
            held.remove(&shared.memory, keys::hash(&key), segment.base_row() + local as u64);
        }
    }
}
