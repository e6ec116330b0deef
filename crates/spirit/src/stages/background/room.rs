//! How room is made, within the policy. It leaves out dead rows, moves readers to the
//! second tier, removes entries from the DRAM dictionary, and drops the oldest segment.

use spirit_index::engrave::commit;
use spirit_index::flush::drop_oldest;
use spirit_index::ground::Gauge;
use spirit_index::ground::{Partition, Position, SegmentId};
use spirit_index::keys;
use spirit_index::memory::Memory;
use spirit_index::rewrite::Progress;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;
use spirit_index::start::{Progress as Shedding, Shed};

use super::Background;
use crate::config::on_full::OnFull;
use crate::stages::placement::Placement;
use crate::storage::shared::Shared;

/// The free room, in bytes, and the number of dead rows, which a rewrite need not copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    long: u64,
    dictionary: u64,
    dead: u64,
}

impl Room {
    fn of(memory: &Memory) -> Room {
        let (used, bytes) = memory.partition_use().long;
        let window = memory.window();
        let segments = (window.oldest..window.end).filter_map(|at| memory.table().get(at));
        Room {
            long: bytes - used,
            dictionary: memory.dictionary().free(),
            dead: segments.map(|(descriptor, _)| descriptor.dead()).sum(),
        }
    }

    fn is_more_than(self, other: Room) -> bool {
        self.long > other.long || self.dictionary > other.dictionary || self.dead > other.dead
    }
}

/// The number of rows of a dropped segment whose keys are removed under one lock.
const KEY_SWEEP_ROWS: u32 = 256;
/// The share of new segments after which a rewrite that found no room is repeated: one in
/// `RETRY_SHARE`. Where nothing may be dropped, it is repeated as soon as there is more room.
const RETRY_SHARE: Position = 4;
/// The average number of entries of a term from which segments are rewritten together, even with
/// few dead rows.
const SCATTERED: u64 = 4;
/// The least number of segments after the oldest that are then rewritten together.
const GATHERED_MIN: Position = 3;
/// The number of descriptor table slots that are kept free.
const SLOTS_FREE_MIN: u32 = 8;

impl Background {
    /// Drops segments older than the retention time, and ends a segment that covers too much of it.
    pub(super) fn drop_old(&mut self) {
        let shared = self.shared.clone();
        let Some(retention) = &shared.retention else { return };
        if let Some(root) = &self.root {
            root.keep_time();
        }
        if let Ok(mut role) = self.role.try_lock() {
            role.hand_over_old();
        }
        // Not during a rewrite, which holds the oldest segments together.
        while self.rewrite.is_none()
            && retention.is_oldest_over(&shared.memory)
            && self.drop_oldest()
        {}
    }

    /// Frees memory that no reader holds any more.
    pub(crate) fn collect(&mut self) {
        let memory = &self.shared.memory;
        memory.dictionary().collect(memory.footing());
        if let Some(placement) = &mut self.placement {
            placement.collect(memory);
        }
    }

    /// Takes the next step of a rewrite. True if there was one.
    pub(super) fn advance_rewrite(&mut self) -> bool {
        let Some(rewrite) = &mut self.rewrite else { return false };
        let shared = &self.shared;
        let locked = |switch: &mut dyn FnMut()| {
            let _keys = shared.keys();
            switch();
        };
        let advanced = rewrite.advance(&shared.memory, locked);
        self.rewrite_is_blocked = advanced.is_err();
        match advanced {
            Ok(Progress::Waiting) => false,
            Ok(Progress::Sweeping) => {
                shared.note_progress();
                true
            }
            Ok(Progress::Done) => {
                shared.note_progress();
                shared.add(Gauge::RewrittenSegments, 1);
                // The next run is another one, which may need less room.
                self.found_no_room = None;
                self.rewrite = None;
                true
            }
            Err(_) if rewrite.is_committed() => false,
            Err(_) => {
                let window = shared.memory.window();
                self.no_rewrite_before =
                    window.end + (window.end - window.oldest) / RETRY_SHARE + 1;
                self.found_no_room = Some(Room::of(&shared.memory));
                self.rewrite = None;
                false
            }
        }
    }

    /// True if a rewrite might find room: the last one did, or there is more room now than it
    /// found. Where the oldest may be dropped, a rewrite does not pay before some segments are new.
    fn may_rewrite(&self) -> bool {
        let memory = &self.shared.memory;
        if self.shared.on_full == OnFull::DropOldest {
            return memory.window().end >= self.no_rewrite_before;
        }
        self.found_no_room.is_none_or(|found| Room::of(memory).is_more_than(found))
    }

    /// Returns the last segment of the run, from the oldest on, that is worth rewriting; none if
    /// no run is.
    ///
    /// At least half of the run's rows are dead, or a quarter if nothing may be dropped and space
    /// is short. The run reaches the segment at the oldest end of the long-term ring. No space is
    /// freed before that segment goes.
    pub(super) fn candidate(&self) -> Option<Position> {
        let memory = &self.shared.memory;
        if memory.nvm().is_some() {
            // A segment that is engraved, or will be, is not rewritten.
            return None;
        }
        let (used, bytes) = memory.partition_use().long;
        let window = memory.window();
        // Positions may run out before the room for documents. So may the dictionary's room, unless
        // the oldest segment may be dropped.
        let may_drop = self.shared.on_full == OnFull::DropOldest;
        let others_short = !memory.has_slot(window.end + SLOTS_FREE_MIN)
            || (!may_drop && (memory.dictionary().is_crowded() || self.is_dictionary_full));
        let is_half_full = used >= bytes / 2 || memory.dictionary().is_half_full();
        if !(is_half_full || others_short) || !memory.has_dead() || !self.may_rewrite() {
            return None;
        }
        let holder = memory.oldest_owner(Partition::Long)?.position();
        let short = !may_drop && (self.is_crowded() || others_short);
        let parts = if short { 4 } else { 2 };
        let scattered = !may_drop && self.is_scattered();
        let (mut rows, mut dead, mut first) = (0, 0, 0);
        (window.oldest..window.end).find(|position| {
            let Some((descriptor, _)) = memory.table().get(*position) else { return false };
            rows += descriptor.rows();
            dead += descriptor.dead();
            if *position == window.oldest {
                first = rows - dead;
            }
            let dies = dead * parts >= rows;
            // The run must have as many more living rows as the oldest segment has. So a row is
            // copied a few times at most, with any number of segments in a run.
            let gathers =
                scattered && position - window.oldest >= GATHERED_MIN && rows - dead >= first * 2;
            *position >= holder && (dies || gathers)
        })
    }

    /// True if the dictionary is half full, and its terms have entries in many segments. If these
    /// segments are rewritten together, a term keeps one entry for them.
    fn is_scattered(&self) -> bool {
        let memory = &self.shared.memory;
        let dictionary = memory.dictionary();
        let window = memory.window();
        let terms = (window.oldest..window.end).filter_map(|at| memory.table().get(at));
        let entries: u64 = terms.map(|(descriptor, _)| descriptor.terms()).sum();
        dictionary.is_half_full() && entries >= dictionary.terms() * SCATTERED
    }

    /// True if there is room for less than one and a quarter segments, also once readers have left.
    fn is_crowded(&self) -> bool {
        let memory = &self.shared.memory;
        let awaited = memory.awaited();
        let (used, bytes) = memory.partition_use().long;
        // Some may have come back in between.
        let used = used.saturating_sub(awaited);
        let segments = self.in_dram() + 1;
        let usual = used / segments + memory.geometry().extent_bytes / 4;
        bytes - used < memory.reserve() + usual * 5 / 4
    }

    /// Makes room, within the policy. True if there may be some now, or soon.
    pub(super) fn make_room(&mut self) -> bool {
        self.tend();
        // While readers hold up the room of segments that were committed, more of them would only move
        // queries to the second tier: their room would not come sooner.
        let is_awaited = self.shared.memory.awaited() > 0;
        if !is_awaited && self.commit_oldest() {
            return true;
        }
        let may_drop = self.shared.on_full == OnFull::DropOldest;
        if may_drop && self.oldest_is_unmerged() {
            self.merge_all();
        }
        if let Some(placement) = &mut self.placement {
            // Under any policy, segments have to go to the second tier now.
            placement.engrave_all();
            if placement.has_to_place(&self.shared.memory) && self.place_a_piece() {
                return true;
            }
        }
        if is_awaited || !may_drop {
            return is_awaited;
        }
        // A rewrite that still waits for readers is given up, unless it is committed.
        self.rewrite.take_if(|rewrite| !rewrite.is_committed());
        // No further segment is dropped while readers hold up the last one's space: that will come.
        self.rewrite.is_none() && (!self.dropped.is_empty() || self.drop_oldest())
    }

    /// Moves readers of the oldest engraved segment to its copy. True if there was one.
    fn commit_oldest(&mut self) -> bool {
        let oldest = self.placement.as_mut().and_then(Placement::pop_engraved);
        if let Some(id) = oldest {
            commit(&self.shared.memory, id);
            self.shared.note_progress();
        }
        oldest.is_some()
    }

    /// Keeps room for a segment free, so that the ingest role need not ask and wait.
    pub(super) fn keep_ahead(&mut self) {
        self.tend();
        let slots_short =
            !self.shared.memory.has_slot(self.shared.memory.window().end + SLOTS_FREE_MIN);
        while self.is_crowded() && self.commit_oldest() {}
        let crowded = self.placement.is_none() && self.is_crowded();
        let terms_short = self.terms_short() && !self.shed_or_merge();
        if crowded || slots_short || terms_short {
            self.make_room();
        }
    }

    /// Begins to shed entries of the DRAM dictionary that the second tier has too. True if that is
    /// under way.
    pub(super) fn shed(&mut self) -> bool {
        let Some(placement) = &mut self.placement else { return false };
        if self.shed.is_none() {
            let unfinished = placement.stop_importing_terms(&self.shared.memory);
            self.shed = Shed::begin(&self.shared.memory, unfinished, self.sheds_merged);
        }
        self.shed.is_some()
    }

    /// Sheds like [`shed`](Self::shed()), but merges first if no entry can leave yet.
    fn shed_or_merge(&mut self) -> bool {
        let begun = self.shed();
        if !begun {
            self.merge_all();
        }
        begun
    }

    /// Sheds like [`shed_or_merge`](Self::shed_or_merge), and continues until a reader has to
    /// leave.
    pub(super) fn shed_all(&mut self) -> bool {
        let begun = self.shed_or_merge();
        self.go_on_shedding();
        begun
    }

    /// Continues to shed until a reader has to leave. True if that was done just now.
    pub(super) fn go_on_shedding(&mut self) -> bool {
        loop {
            match self.advance_shed() {
                Some(Shedding::Cutting) => {}
                progress => return progress == Some(Shedding::Done),
            }
        }
    }

    /// Takes the next step of shedding, and returns its progress; none if it is not under way.
    pub(super) fn advance_shed(&mut self) -> Option<Shedding> {
        let progress = self.shed.as_mut()?.advance(&self.shared.memory);
        if progress == Shedding::Done {
            self.shed = None;
            self.shared.note_progress();
        }
        Some(progress)
    }

    /// True if the dictionary might not take the terms of another segment like the last.
    fn terms_short(&self) -> bool {
        let memory = &self.shared.memory;
        let last =
            memory.window().end.checked_sub(1).and_then(|position| memory.table().get(position));
        last.is_some_and(|(descriptor, _)| memory.dictionary().room() < descriptor.terms() / 2)
    }

    /// Drops the oldest segment. False without one, or if it must be merged first.
    fn drop_oldest(&mut self) -> bool {
        if self.oldest_is_unmerged() {
            self.merge_all();
            return false;
        }
        let oldest = self.shared.memory.window().oldest;
        let dropped = {
            let _keys = self.shared.keys();
            drop_oldest(&self.shared.memory)
        };
        let Some(dropped) = dropped else { return false };
        if let Some(placement) = &mut self.placement {
            placement.forget(&self.shared.memory, oldest);
        }
        self.shared.add(Gauge::DroppedSegments, 1);
        self.shared.note_progress();
        self.dropped.push_back(dropped);
        self.sweep_dropped();
        true
    }

    /// True if the oldest segment has to be merged before it can go.
    fn oldest_is_unmerged(&self) -> bool {
        let memory = &self.shared.memory;
        self.placement.is_some() && memory.window().oldest >= memory.merged()
    }

    /// Sweeps the dropped segments that no reader can see any more.
    pub(super) fn sweep_dropped(&mut self) {
        let shared = &self.shared;
        while let Some(oldest) = self.dropped.front() {
            // Not before readers have left: an interrupted run may begin again meanwhile.
            let placement = self.placement.as_mut();
            let merged = || placement.map(|placement| placement.make_way(shared));
            if !oldest.sweep(&shared.memory, merged, |id| sweep_keys(shared, id)) {
                return;
            }
            self.dropped.pop_front();
            shared.note_progress();
        }
    }
}

/// Removes the keys of a segment from the key table, a few rows at a time. So the ingest role waits
/// for microseconds at most.
fn sweep_keys(shared: &Shared, id: SegmentId) {
    let snapshot = Snapshot::of_role(&shared.memory, u64::MAX);
    let segment = snapshot.of(id);
    let rows = segment.rows();
    let table = segment.row_table();
    let mut key = Vec::with_capacity(spirit_index::fresh::KEY_BYTES_MAX);
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
