//! Background work of an executor, besides flushing: segments are engraved, merged, rewritten and
//! dropped, and memory is collected.
//!
//! It is done in small steps, so that the thread that does them can do something else in between: the
//! flush stage, or a thread for this alone.

mod room;

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spirit_index::engrave::SegmentEnd;
use spirit_index::flush::{Dropped, Flush};
use spirit_index::ground::Gauge;
use spirit_index::ground::Position;
use spirit_index::memory::FlushStop;
use spirit_index::rewrite::Rewrite;
use spirit_index::start::{Progress as Shedding, Shed};

use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::config::policies::DictionaryTier;
use crate::stages::late::Lateness;
use crate::stages::lease::Leases;
use crate::stages::placement::Placement;
use crate::storage::open_root::OpenRoot;
use crate::storage::shared::Shared;
use crate::write::ingest::Ingester;

use room::Room;

/// The time between two looks at garbage while there is nothing to do.
pub(crate) const IDLE: Duration = Duration::from_millis(5);
/// The reserve of the dictionary for rewrites, where nothing may be dropped: one in this number of
/// bytes. Smaller reserves were not tried.
const DICTIONARY_RESERVE: u64 = 8;

/// What is under way, and what waits. One thread at a time has it.
pub(crate) struct Background {
    shared: Arc<Shared>,
    rewrite: Option<Rewrite>,
    /// True if the rewrite's last step found no room, though no reader blocked it.
    rewrite_is_blocked: bool,
    /// The window's end before which no rewrite begins, where the oldest segment may be dropped.
    no_rewrite_before: Position,
    /// The room at the last rewrite that found too little.
    found_no_room: Option<Room>,
    /// True while a flush finds no place for a term. That may be so though the dictionary has room:
    /// the lines near the term's own are full.
    is_dictionary_full: bool,
    /// Segments that were dropped and are still to be swept, oldest first.
    dropped: VecDeque<Dropped>,
    leases: Leases,
    lateness: Lateness,
    /// The placement of segments in the second tier, if there is one.
    placement: Option<Placement>,
    /// The ingest role.
    role: Arc<Mutex<Ingester>>,
    /// The root of the index's file, if it has one.
    root: Option<Arc<OpenRoot>>,
    /// The removal of entries from the DRAM dictionary that the second tier has too, if under way.
    shed: Option<Shed>,
    /// True if all entries leave the DRAM dictionary once the second tier has them.
    sheds_merged: bool,
    /// True if the ingest role waits for room in the log. Engraving makes it.
    log_is_full: bool,
    /// True if segments are flushed in another thread meanwhile, which are then to be placed.
    has_thread: bool,
    /// Callers that wait until all earlier tasks are done.
    waiting: Vec<SyncSender<()>>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It was taken.
    Taken,
    /// There was nothing to do.
    Nothing,
    /// There is something to do, and no room: space has to come back first.
    Blocked,
}

impl Background {
    pub(crate) fn new(
        shared: Arc<Shared>,
        options: &Options,
        role: Arc<Mutex<Ingester>>,
        lateness: Lateness,
        root: Option<Arc<OpenRoot>>,
    ) -> Background {
        if shared.on_full != OnFull::DropOldest {
            // Where nothing may be dropped, only rewrites free space, and they need some
            // themselves.
            let geometry = shared.memory.geometry();
            let segments = if geometry.settings.store { 3 } else { 2 };
            shared.memory.set_reserve(segments * geometry.extent_bytes);
            if geometry.nvm.is_none() {
                shared.memory.dictionary().set_reserve(DICTIONARY_RESERVE);
            }
        }
        let leases = Leases::new(options.reader_lease, shared.memory.pins());
        let placement = shared.memory.nvm().map(|_| Placement::new(options, &shared.memory));
        Background {
            shared,
            rewrite: None,
            rewrite_is_blocked: false,
            no_rewrite_before: 0,
            found_no_room: None,
            is_dictionary_full: false,
            dropped: VecDeque::new(),
            leases,
            lateness,
            placement,
            role,
            root,
            shed: None,
            sheds_merged: options.dictionary == DictionaryTier::Nvm,
            log_is_full: false,
            has_thread: options.stage_threads > 1,
            waiting: Vec::new(),
        }
    }

    /// True if there is work for the next step, or somebody waits for the last one.
    pub(crate) fn has_work(&self) -> bool {
        self.is_placing() || self.shed.is_some() || !self.waiting.is_empty()
    }

    /// True if there are segments to place, or parts to bring to DRAM.
    fn is_placing(&self) -> bool {
        self.placement.as_ref().is_some_and(|placement| placement.has_work(&self.shared))
    }

    /// Takes the next step: engraving first, or else the rest. Answers those who wait, once there is
    /// nothing to do.
    pub(crate) fn advance(&mut self) -> Step {
        let before = self.shared.progress();
        if self.sheds_merged {
            self.shed();
        }
        let shedding = self.advance_shed();
        let mut is_blocked = false;
        if !self.is_placing() {
            self.tend();
            if let Some(placement) = &mut self.placement {
                placement.idle();
            }
            if self.is_placing() {
                // Dropping a segment may have asked for a merge.
                return Step::Taken;
            }
            is_blocked = shedding == Some(Shedding::Waiting);
        } else if self.place_a_piece() {
            return Step::Taken;
        } else if !self.shared.is_damaged() {
            // Damage is no lack of room: dropping a segment would not help.
            let made = self.make_room();
            if self.log_is_full && !made {
                self.say_if_stuck(before);
            }
            is_blocked = true;
        }
        if shedding == Some(Shedding::Cutting) || self.shared.progress() != before {
            return Step::Taken;
        }
        let is_flushing = self.has_thread && self.shared.is_anything_unflushed();
        if !is_flushing || self.shared.is_stuck() {
            self.answer_waiting();
        }
        if is_blocked { Step::Blocked } else { Step::Nothing }
    }

    /// Takes the next step of engraving, merging or importing. True if there was one.
    fn place_a_piece(&mut self) -> bool {
        let shared = &self.shared;
        let Some(placement) = &mut self.placement else { return false };
        let went_on = placement.advance(shared);
        if went_on {
            shared.note_progress();
            self.log_is_full &= placement.has_to_place(&shared.memory);
        }
        went_on
    }

    /// Revokes slots of readers that blocked memory for too long, and reports those that block it.
    fn enforce_leases(&mut self) {
        let pins = self.shared.memory.pins();
        self.leases.enforce(pins);
        self.lateness.tell(&self.leases, pins);
    }

    /// Engraves all flushed segments from now on, until none is left.
    pub(crate) fn engrave_all(&mut self) {
        self.log_is_full = true;
        let before = self.shared.progress();
        let Some(placement) = &mut self.placement else { return };
        placement.engrave_all();
        if placement.has_to_place(&self.shared.memory) {
            return;
        }
        // The log is short, and no segment waits to be engraved: the disk has no room for a longer
        // one. But an operation may wait for room in DRAM by now.
        match self.shared.on_full {
            OnFull::DropOldest => self.shared.note_stuck_if_flushed(before),
            OnFull::Refuse | OnFull::Wait => self.make_room_or_say_so(),
        }
    }

    /// Merges all engraved segments, however few.
    pub(crate) fn merge_all(&mut self) {
        if let Some(placement) = &mut self.placement {
            placement.merge_all();
        }
    }

    /// Allows the import of keys that the start found, once the log is replayed. True if that was
    /// just now.
    pub(crate) fn import_keys(&mut self) -> bool {
        let replayed = self.shared.take_replayed();
        if let Some(placement) = self.placement.as_mut().filter(|_| replayed) {
            placement.import_keys(&self.shared.memory);
        }
        replayed
    }

    /// Makes room for an operation that found none. If there was progress since it looked, it looks
    /// again, and asks again if it has to: under [`OnFull::DropOldest`] room costs documents. While
    /// readers hold up space that is free already, nothing is dropped: its space would not come sooner.
    pub(crate) fn make_room_unless_since(&mut self, progress: u64) {
        let may_drop = self.shared.on_full == OnFull::DropOldest;
        if may_drop && self.shared.memory.is_reclaiming() {
            self.tend();
        } else if self.shared.progress() == progress {
            self.make_room_or_say_so();
        }
    }

    fn make_room_or_say_so(&mut self) {
        let before = self.shared.progress();
        if !self.make_room() {
            self.say_if_stuck(before);
        }
    }

    /// Says that no room can be made, unless it is under way. `progress` was read before the caller
    /// tried.
    fn say_if_stuck(&self, progress: u64) {
        let rewrites = self.rewrite.is_some() && !self.rewrite_is_blocked;
        let is_under_way = rewrites || !self.dropped.is_empty();
        if !is_under_way && !self.is_reclaiming() {
            // The ingest role waits, and there is nothing to wait for.
            self.shared.note_stuck_if_flushed(progress);
        }
    }

    /// Answers `done` once there is nothing to do: earlier tasks are done, or cannot be done.
    pub(crate) fn report_to(&mut self, done: SyncSender<()>) {
        // What a start found is earlier than any task.
        self.import_keys();
        self.waiting.push(done);
    }

    fn answer_waiting(&mut self) {
        for done in self.waiting.drain(..) {
            // A caller that no longer waits has dropped its channel.
            let _ = done.send(());
        }
    }

    /// True if room comes back once readers leave, which they do within a lease.
    fn is_reclaiming(&self) -> bool {
        let memory = &self.shared.memory;
        memory.is_reclaiming() || memory.dictionary().is_reclaiming() || self.shed.is_some()
    }

    /// Makes room for a flush that stopped. `before` is the progress before it was run, and
    /// `went_on` says whether it came further than at its last stop. True if it should be run again
    /// at once.
    pub(crate) fn make_room_for(
        &mut self,
        flush: &mut Flush,
        stop: FlushStop,
        before: u64,
        went_on: bool,
    ) -> bool {
        // Readers may block room, however it is made.
        self.enforce_leases();
        if self.shared.progress() != before {
            // Another thread may have made room since the flush looked.
            return true;
        }
        self.is_dictionary_full = stop == FlushStop::DictionaryFull;
        // Shedding that began in an earlier round goes on, whatever lacks room now.
        let shed = match self.is_dictionary_full {
            true => self.shed_all(),
            false => self.go_on_shedding(),
        };
        let made = shed || self.make_room();
        let smaller = self.in_dram() == 0 && flush.without_bitmaps();
        if !made && !smaller && !went_on && !self.is_reclaiming() {
            self.shared.note_stuck(before);
        }
        smaller || went_on || self.shared.progress() != before
    }

    /// Takes over a segment whose read-optimized form is written.
    pub(crate) fn take_flushed(&mut self, flush: Flush, end: SegmentEnd) {
        flush.finish(&self.shared.memory);
        self.is_dictionary_full = false;
        self.shared.note_flushed();
        if let Some(placement) = &mut self.placement {
            placement.push(flush.engrave(end));
        }
        self.keep_ahead();
    }

    /// Returns the number of flushed segments that take room in DRAM.
    fn in_dram(&self) -> u64 {
        let window = self.shared.memory.window();
        let flushed = (window.end - window.oldest) as u64;
        self.placement.as_ref().map_or(flushed, Placement::in_dram)
    }

    /// Collects garbage, and rewrites segments that are mostly dead. Ends when there is nothing left,
    /// or readers have to leave first.
    fn tend(&mut self) {
        self.enforce_leases();
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

    /// Updates the gauges of the dictionaries.
    pub(crate) fn report(&self) {
        let dictionary = self.shared.memory.dictionary();
        self.shared.gauge(Gauge::DictionaryTerms).store(dictionary.terms(), Relaxed);
        self.shared.gauge(Gauge::DictionaryBytes).store(dictionary.bytes(), Relaxed);
        let beyond = dictionary.beyond_largest_free(self.shared.memory.footing());
        self.shared.gauge(Gauge::DictionaryBeyond).store(beyond, Relaxed);
        if let Some(lines) = self.placement.as_ref().and_then(Placement::merged_lines) {
            self.shared.gauge(Gauge::MergedLines).store(lines, Relaxed);
        }
    }
}
