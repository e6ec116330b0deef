//! The flush stage: a thread that makes read-optimized segments of full ones, and drops the oldest.
//!
//! It alone writes the dictionary and moves the window. Its queue holds one segment: when it falls behind,
//! the ingest role waits at the hand-over, which is the back-pressure of the pipeline.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use spirit_index::descriptor::{Position, SegmentId};
use spirit_index::dictionary_writer::DictionaryWriter;
use spirit_index::flush::{Dropped, Flush, drop_oldest};
use spirit_index::keys;
use spirit_index::memory::Partition;
use spirit_index::rewrite::{Progress, Rewrite};
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;

use crate::lease::Leases;
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
/// Descriptor table slots that are kept free.
const SLOTS_FREE_MIN: u32 = 8;
/// How often garbage is looked at while nothing else happens.
const IDLE: Duration = Duration::from_millis(5);

pub(crate) struct FlushStage {
    shared: Arc<Shared>,
    dictionary: DictionaryWriter,
    rewrite: Option<Rewrite>,
    /// Segments that were dropped and are still to be swept, oldest first.
    dropped: VecDeque<Dropped>,
    leases: Leases,
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
    pub(crate) fn new(shared: Arc<Shared>, lease: Duration, tasks: Receiver<Task>) -> FlushStage {
        let dictionary = DictionaryWriter::new(shared.memory.region(), shared.memory.geometry());
        if shared.on_full != OnFull::DropOldest {
            // Where nothing may be dropped, space comes back by rewrites alone, and these need some themselves.
            shared.memory.set_reserve(2 * shared.memory.geometry().settings.segment_bytes);
        }
        let leases = Leases::new(lease, shared.memory.pins());
        FlushStage { shared, dictionary, rewrite: None, dropped: VecDeque::new(), leases, tasks }
    }

    pub(crate) fn run(mut self) {
        let _dart = Dart(self.shared.clone());
        loop {
            match self.tasks.recv_timeout(IDLE) {
                Ok(Task::Flush(flush)) => self.flush(flush),
                Ok(Task::MakeRoom) => drop(self.make_room()),
                Ok(Task::Report(done)) => drop(done.send(())),
                Ok(Task::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.tend(),
            }
            self.report();
        }
    }

    fn flush(&mut self, mut flush: Flush) {
        while flush.run(&self.shared.memory, &mut self.dictionary).is_err() {
            if self.shared.is_poisoned() || self.shared.is_closing() {
                return;
            }
            let room_made = self.make_room();
            self.shared.set_stuck(!room_made);
            let window = self.shared.memory.window();
            if window.oldest == window.end {
                flush.without_bitmaps();
            }
            self.shared.memory.wait_for_space();
            self.dictionary.collect(&self.shared.memory);
        }
        self.shared.set_stuck(false);
        self.keep_ahead();
    }

    /// What there is to do besides flushing: garbage, and segments that are mostly dead. Goes on until there is
    /// nothing, or readers have to leave first.
    fn tend(&mut self) {
        self.leases.enforce(self.shared.memory.pins());
        self.sweep_dropped();
        self.dictionary.collect(&self.shared.memory);
        loop {
            if self.rewrite.is_none() && self.dropped.is_empty() {
                self.rewrite =
                    self.candidate().and_then(|last| Rewrite::start(&self.shared.memory, last));
            }
            if !self.advance_rewrite() {
                return;
            }
        }
    }

    /// Takes the next step of a rewrite, if there is one; says whether there was.
    fn advance_rewrite(&mut self) -> bool {
        let Some(rewrite) = &mut self.rewrite else { return false };
        let shared = &self.shared;
        let locked = |switch: &mut dyn FnMut()| {
            let _keys = shared.keys();
            switch();
        };
        match rewrite.advance(&shared.memory, &mut self.dictionary, locked) {
            Ok(Progress::Waiting) => false,
            Ok(Progress::Sweeping) => true,
            Ok(Progress::Done) => {
                Shared::add_to(&shared.rewritten_segments, 1);
                self.rewrite = None;
                true
            }
            Err(_) if rewrite.is_committed() => false,
            Err(_) => {
                self.rewrite = None;
                false
            }
        }
    }

    /// The last segment of a run, from the oldest on, that is worth rewriting, if there is one: at least half of
    /// its rows are dead, or a quarter where nothing may be dropped and space is short. The run reaches the
    /// segment that holds the oldest end of the long-term ring, since no space comes back before that goes.
    fn candidate(&self) -> Option<Position> {
        let memory = &self.shared.memory;
        let (used, bytes) = memory.partition_use().long;
        let window = memory.window();
        let slots_short = !memory.has_slot(window.end + SLOTS_FREE_MIN);
        if (used < bytes / 2 && !slots_short) || !memory.has_dead() {
            return None;
        }
        let holder = memory.oldest_owner(Partition::Long)?.position();
        let short = self.shared.on_full != OnFull::DropOldest && (self.is_crowded() || slots_short);
        let parts = if short { 4 } else { 2 };
        let (mut rows, mut dead) = (0, 0);
        (window.oldest..window.end).find(|position| {
            let Some((descriptor, _)) = memory.table().get(*position) else { return false };
            rows += descriptor.rows();
            dead += descriptor.dead();
            *position >= holder && dead * parts >= rows
        })
    }

    /// Whether there is room for less than one and a quarter segments.
    fn is_crowded(&self) -> bool {
        let memory = &self.shared.memory;
        let window = memory.window();
        let (used, bytes) = memory.partition_use().long;
        let segments = (window.end - window.oldest) as u64 + 1;
        let usual = used / segments + memory.geometry().settings.segment_bytes / 4;
        bytes - used < memory.reserve() + usual * 5 / 4
    }

    /// Makes room in the long-term partition, as far as the policy lets it; says whether a segment was dropped.
    fn make_room(&mut self) -> bool {
        self.tend();
        if self.shared.on_full != OnFull::DropOldest {
            return false;
        }
        // A rewrite that still waits for readers is not worth waiting for, unless it has begun.
        self.rewrite.take_if(|rewrite| !rewrite.is_committed());
        // Nor is another segment dropped while readers hold up the last one's space.
        self.rewrite.is_none() && self.dropped.is_empty() && self.drop_oldest()
    }

    /// Keeps room for a segment free, so that the ingest role need not ask and wait.
    fn keep_ahead(&mut self) {
        self.tend();
        let slots_short =
            !self.shared.memory.has_slot(self.shared.memory.window().end + SLOTS_FREE_MIN);
        if self.is_crowded() || slots_short || self.terms_short() {
            self.make_room();
        }
    }

    /// Whether the dictionary might not take the terms of another segment like the last.
    fn terms_short(&self) -> bool {
        let memory = &self.shared.memory;
        let last =
            memory.window().end.checked_sub(1).and_then(|position| memory.table().get(position));
        last.is_some_and(|(descriptor, _)| self.dictionary.room() < descriptor.terms() / 2)
    }

    /// Drops the oldest segment, if there is one; says whether there was.
    fn drop_oldest(&mut self) -> bool {
        let Some(dropped) = drop_oldest(&self.shared.memory) else { return false };
        Shared::add_to(&self.shared.dropped_segments, 1);
        self.dropped.push_back(dropped);
        self.sweep_dropped();
        true
    }

    /// Sweeps the dropped segments that no reader can see any more.
    fn sweep_dropped(&mut self) {
        let shared = &self.shared;
        while let Some(oldest) = self.dropped.front() {
            if !oldest.sweep(&shared.memory, &mut self.dictionary, |id| sweep_keys(shared, id)) {
                return;
            }
            self.dropped.pop_front();
        }
    }

    fn report(&self) {
        self.shared.dictionary_terms.store(self.dictionary.terms(), Relaxed);
        self.shared.dictionary_pool_bytes.store(self.dictionary.bytes(), Relaxed);
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
            held.remove(&shared.memory, keys::hash(&key), segment.row_number(local));
        }
    }
}
