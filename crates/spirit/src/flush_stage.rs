//! The flush stage: a thread that makes read-optimized segments of full ones, engraves them in the second tier if there is
//! one, and drops the oldest.
//!
//! It alone writes the dictionary and moves the window. Its queue holds one segment: when it falls behind,
//! the ingest role waits at the hand-over, which is the back-pressure of the pipeline.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spirit_index::descriptor::{Position, SegmentId};
use spirit_index::flush::{Dropped, Flush, FlushStop, drop_oldest};
use spirit_index::keys;
use spirit_index::memory::Partition;
use spirit_index::nvm::engrave::{Sealed, commit};
use spirit_index::nvm::shed::{Progress as Shedding, Shed};
use spirit_index::rewrite::{Progress, Rewrite};
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;

use crate::durability::DictionaryTier;
use crate::ingest::Ingester;
use crate::lease::Leases;
use crate::options::{OnFull, Options};
use crate::placement::Placement;
use crate::retention::Arrivals;
use crate::shared::Shared;
use crate::store::now_ms;

/// What the stage is asked to do.
pub(crate) enum Task {
    /// Flush this segment, and engrave it if there is a second tier.
    Flush(Flush, Sealed),
    /// Engrave all that is flushed, whatever the policy: the log is full, or the index closes.
    EngraveAll,
    /// The ingest role found the long-term partition full.
    MakeRoom,
    /// The log is replayed: what the start found may be entered in the key table.
    ImportKeys,
    /// Say so on the channel when everything before is done.
    Report(SyncSender<()>),
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
    rewrite: Option<Rewrite>,
    /// Segments that were dropped and are still to be swept, oldest first.
    dropped: VecDeque<Dropped>,
    leases: Leases,
    /// What goes to the second tier, if there is one.
    placement: Option<Placement>,
    /// When documents arrived, if they are kept for a time.
    arrivals: Option<Arrivals>,
    /// Whoever ingests.
    role: Arc<Mutex<Ingester>>,
    /// Entries that leave the DRAM dictionary, since the second tier has them too.
    shed: Option<Shed>,
    /// All of those leave it, as soon as the second tier has them.
    sheds_merged: bool,
    /// The ingest role waits for room in the log, which engraving makes.
    log_is_full: bool,
    /// Whoever waits until everything before is done.
    waiting: Vec<SyncSender<()>>,
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
    pub(crate) fn new(
        shared: Arc<Shared>,
        options: &Options,
        tasks: Receiver<Task>,
        role: Arc<Mutex<Ingester>>,
    ) -> FlushStage {
        if shared.on_full != OnFull::DropOldest {
            // Where nothing may be dropped, space comes back by rewrites alone, and these need some themselves.
            let settings = shared.memory.geometry().settings;
            let segments = if settings.store { 3 } else { 2 };
            shared.memory.set_reserve(segments * settings.segment_bytes);
        }
        let leases = Leases::new(options.reader_lease, shared.memory.pins());
        let placement = shared.memory.nvm().map(|_| Placement::new(options, &shared.memory));
        let arrivals = Arrivals::new(options, &shared.memory);
        FlushStage {
            shared,
            rewrite: None,
            dropped: VecDeque::new(),
            leases,
            placement,
            arrivals,
            role,
            shed: None,
            sheds_merged: options.dictionary == DictionaryTier::Nvm,
            log_is_full: false,
            waiting: Vec::new(),
            tasks,
        }
    }

    pub(crate) fn run(mut self) {
        let _dart = Dart(self.shared.clone());
        loop {
            match self.next_task() {
                Ok(Task::Flush(flush, sealed)) => self.flush(flush, sealed),
                Ok(Task::EngraveAll) => self.engrave_all(),
                Ok(Task::MakeRoom) => self.make_room_or_say_so(),
                Ok(Task::ImportKeys) => self.import_keys(),
                Ok(Task::Report(done)) => self.waiting.push(done),
                Ok(Task::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.idle(),
            }
            if self.shared.memory.nvm().is_some_and(|nvm| nvm.door().failure().is_some()) {
                // What the second tier holds is not known any more: queries go on, and nothing else.
                self.shared.poison();
                return;
            }
            self.answer_waiting();
            self.report();
        }
    }

    /// What is asked for next. While there is something to engrave nobody waits for more.
    fn next_task(&mut self) -> Result<Task, RecvTimeoutError> {
        if !self.is_placing() && self.shed.is_none() {
            return self.tasks.recv_timeout(IDLE);
        }
        self.tasks.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Whether there is something to be placed, or brought to DRAM.
    fn is_placing(&self) -> bool {
        let memory = &self.shared.memory;
        self.placement.as_ref().is_some_and(|placement| placement.has_work(memory))
    }

    /// Nothing is asked for: engraves a piece, or looks after the rest.
    fn idle(&mut self) {
        if self.sheds_merged {
            self.shed();
        }
        let shedding = self.advance_shed();
        if !self.is_placing() {
            self.tend();
            if let Some(placement) = &mut self.placement {
                placement.idle();
            }
            if shedding == Some(Shedding::Waiting) {
                self.shared.memory.wait_for_space();
            }
        } else if !self.place_a_piece() {
            let made = self.make_room();
            if self.log_is_full && !made {
                self.shared.note_stuck();
            }
            self.shared.memory.wait_for_space();
        }
    }

    /// Goes on engraving, merging or importing; says whether it could.
    fn place_a_piece(&mut self) -> bool {
        if self.awaits_readers() {
            self.shared.memory.wait_for_space();
            return true;
        }
        let shared = &self.shared;
        let Some(placement) = &mut self.placement else { return false };
        let went_on = placement.advance(shared);
        if went_on {
            shared.note_progress();
            self.log_is_full &= placement.has_to_place();
        }
        went_on
    }

    /// Whether readers in other processes are to leave before the second tier changes, since they were there before we were.
    fn awaits_readers(&mut self) -> bool {
        let pins = self.shared.memory.pins();
        let awaits = self.placement.is_some() && self.leases.awaits_readers(pins);
        if awaits {
            self.leases.enforce(pins);
        }
        awaits
    }

    /// From now on all that is flushed is engraved, until nothing is left.
    fn engrave_all(&mut self) {
        self.log_is_full = true;
        if let Some(placement) = &mut self.placement {
            placement.engrave_all();
        }
    }

    fn import_keys(&mut self) {
        if let Some(placement) = &mut self.placement {
            placement.import_keys(&self.shared.memory);
        }
    }

    fn make_room_or_say_so(&mut self) {
        let made = self.make_room();
        if self.placement.is_some() && !made {
            // The ingest role waits, and is told that there is nothing to wait for.
            self.shared.note_stuck();
        }
    }

    /// Answers those who wait for all that was asked for before, when it is done or cannot be.
    fn answer_waiting(&mut self) {
        let memory = &self.shared.memory;
        let goes_on = |placement: &Placement| placement.has_work(memory) && !placement.is_blocked();
        if !self.placement.as_ref().is_some_and(goes_on) {
            for done in self.waiting.drain(..) {
                // Who no longer waits need not be told.
                let _ = done.send(());
            }
        }
    }

    fn flush(&mut self, mut flush: Flush, sealed: Sealed) {
        let mut steps = None;
        while let Err(stop) = flush.run(&self.shared.memory) {
            if self.shared.is_poisoned() || self.shared.is_closing() {
                return;
            }
            // What is waited for may be a reader's, whichever way room is made.
            self.leases.enforce(self.shared.memory.pins());
            let shed = stop == FlushStop::DictionaryFull && self.shed_all();
            let made = shed || self.make_room();
            let smaller = self.in_dram() == 0 && flush.without_bitmaps();
            // A run that breaks off leaves garbage, which the next one may find gone.
            let went_on = steps.replace(flush.steps()) != Some(flush.steps());
            if !made && !smaller && !went_on {
                self.shared.note_stuck();
            }
            self.shared.memory.wait_for_space();
            self.collect();
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.push(flush.id().position(), sealed.arrived_ms);
        }
        self.shared.note_progress();
        if let Some(placement) = &mut self.placement {
            placement.push(flush.engrave(sealed));
        }
        self.keep_ahead();
    }

    /// Flushed segments that take room in DRAM.
    fn in_dram(&self) -> u64 {
        let window = self.shared.memory.window();
        let flushed = (window.end - window.oldest) as u64;
        self.placement.as_ref().map_or(flushed, Placement::in_dram)
    }

    /// What there is to do besides flushing: garbage, and segments that are mostly dead. Goes on until there is
    /// nothing, or readers have to leave first.
    fn tend(&mut self) {
        self.leases.enforce(self.shared.memory.pins());
        self.drop_old();
        self.sweep_dropped();
        self.collect();
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

    /// Drops what has been there for the time that documents are kept, and ends a segment that covers too much of it.
    fn drop_old(&mut self) {
        let Some(arrivals) = &mut self.arrivals else { return };
        let now = now_ms();
        let begun = now.saturating_sub(arrivals.segment_ms());
        if let Ok(mut role) = self.role.try_lock() {
            role.seal_begun_by(begun);
        }
        // A rewrite takes the oldest segments together.
        while self.rewrite.is_none()
            && let Some(arrivals) = &mut self.arrivals
            && arrivals.is_over(self.shared.memory.window().oldest, now)
            && self.drop_oldest()
        {}
    }

    /// Takes back what no reader holds any more.
    fn collect(&mut self) {
        let memory = &self.shared.memory;
        memory.dictionary().collect(memory);
        if let Some(placement) = &mut self.placement {
            placement.collect(memory);
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
        match rewrite.advance(&shared.memory, locked) {
            Ok(Progress::Waiting) => false,
            Ok(Progress::Sweeping) => {
                shared.note_progress();
                true
            }
            Ok(Progress::Done) => {
                shared.note_progress();
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
        if memory.nvm().is_some() {
            // A segment that is engraved, or going to be, is not rewritten.
            return None;
        }
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
        let (used, bytes) = memory.partition_use().long;
        let segments = self.in_dram() + 1;
        let usual = used / segments + memory.geometry().settings.segment_bytes / 4;
        bytes - used < memory.reserve() + usual * 5 / 4
    }

    /// Makes room, as far as the policy lets it; says whether there may be some now, or soon.
    fn make_room(&mut self) -> bool {
        self.tend();
        if self.commit_oldest() || self.awaits_readers() {
            return true;
        }
        if let Some(placement) = &mut self.placement {
            // Whatever the policy, this is when segments have to go.
            placement.engrave_all();
            if placement.has_to_place() && self.place_a_piece() {
                return true;
            }
        }
        if self.shared.on_full != OnFull::DropOldest {
            return false;
        }
        // A rewrite that still waits for readers is not worth waiting for, unless it has begun.
        self.rewrite.take_if(|rewrite| !rewrite.is_committed());
        // Nor is another segment dropped while readers hold up the last one's space: that will come.
        self.rewrite.is_none() && (!self.dropped.is_empty() || self.drop_oldest())
    }

    /// Sends readers of the oldest engraved segment to its copy; says whether there was one.
    fn commit_oldest(&mut self) -> bool {
        let oldest = self.placement.as_mut().and_then(Placement::pop_engraved);
        if let Some(id) = oldest {
            commit(&self.shared.memory, id);
            self.shared.note_progress();
        }
        oldest.is_some()
    }

    /// Keeps room for a segment free, so that the ingest role need not ask and wait.
    fn keep_ahead(&mut self) {
        self.tend();
        let slots_short =
            !self.shared.memory.has_slot(self.shared.memory.window().end + SLOTS_FREE_MIN);
        while self.is_crowded() && self.commit_oldest() {}
        let crowded = self.placement.is_none() && self.is_crowded();
        let terms_short = self.terms_short() && !self.shed();
        if crowded || slots_short || terms_short {
            self.make_room();
        }
    }

    /// Begins to make room in the DRAM dictionary, where the second tier has the same; says whether there will be some.
    fn shed(&mut self) -> bool {
        let Some(placement) = &mut self.placement else { return false };
        if self.shed.is_none() {
            let unfinished = placement.stop_importing_terms(&self.shared.memory);
            self.shed = Shed::begin(&self.shared.memory, unfinished, self.sheds_merged);
        }
        self.shed.is_some()
    }

    /// The same, and goes on as long as no reader has to leave.
    fn shed_all(&mut self) -> bool {
        let begun = self.shed();
        while self.advance_shed() == Some(Shedding::Cutting) {}
        begun
    }

    /// Takes the next step of that, if there is one; says how it went.
    fn advance_shed(&mut self) -> Option<Shedding> {
        let progress = self.shed.as_mut()?.advance(&self.shared.memory);
        self.shed.take_if(|_| progress == Shedding::Done);
        Some(progress)
    }

    /// Whether the dictionary might not take the terms of another segment like the last.
    fn terms_short(&self) -> bool {
        let memory = &self.shared.memory;
        let last =
            memory.window().end.checked_sub(1).and_then(|position| memory.table().get(position));
        last.is_some_and(|(descriptor, _)| memory.dictionary().room() < descriptor.terms() / 2)
    }

    /// Drops the oldest segment, if there is one; says whether there was.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.shared.memory.window().oldest;
        let unmerged = self.placement.is_some() && oldest >= self.shared.memory.merged();
        if unmerged || self.awaits_readers() {
            return false;
        }
        let dropped = {
            let _keys = self.shared.keys();
            drop_oldest(&self.shared.memory)
        };
        let Some(dropped) = dropped else { return false };
        if let Some(placement) = &mut self.placement {
            placement.forget(&self.shared.memory, oldest);
        }
        Shared::add_to(&self.shared.dropped_segments, 1);
        self.shared.note_progress();
        self.dropped.push_back(dropped);
        self.sweep_dropped();
        true
    }

    /// Sweeps the dropped segments that no reader can see any more.
    fn sweep_dropped(&mut self) {
        let shared = &self.shared;
        while let Some(oldest) = self.dropped.front() {
            let merged = self.placement.as_mut().map(|p| p.make_way(&shared.memory));
            if !oldest.sweep(&shared.memory, merged, |id| sweep_keys(shared, id)) {
                return;
            }
            self.dropped.pop_front();
            shared.note_progress();
        }
    }

    fn report(&self) {
        let dictionary = self.shared.memory.dictionary();
        self.shared.dictionary_terms.store(dictionary.terms(), Relaxed);
        self.shared.dictionary_pool_bytes.store(dictionary.bytes(), Relaxed);
        if let Some(lines) = self.placement.as_ref().and_then(Placement::merged_lines) {
            self.shared.merged_lines.store(lines, Relaxed);
        }
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
