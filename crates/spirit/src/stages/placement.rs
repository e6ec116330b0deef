//! Placement: which segments wait to be engraved or merged, which are, and when the next step is
//! taken (the paper's policies, §4.7). After a start, also the parts that are still to be brought
//! to DRAM.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::engrave::Engrave;
use spirit_index::engrave::commit;
use spirit_index::ground::Gauge;
use spirit_index::ground::damage;
use spirit_index::ground::{Position, SegmentId};
use spirit_index::memory::FlushStop;
use spirit_index::memory::Memory;
use spirit_index::merge::MergedWriter;
use spirit_index::start::Importer;

use crate::config::options::Options;
use crate::config::policies::{DictionaryTier, EngravePolicy, PointerUpdate};
use crate::stages::key_import::{count_deaths_at, enter_keys};
use crate::stages::merging::Merging;
use crate::storage::shared::Shared;

/// Segments on their way into the second tier and through it.
pub(crate) struct Placement {
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    /// True if a segment is packed only if the index's setting says so.
    keeps_raw: bool,
    /// Flushed segments, oldest first. The first may be under way.
    flushed: VecDeque<Engrave>,
    /// Engraved segments with readers still in DRAM, oldest first.
    engraved: VecDeque<SegmentId>,
    merging: Merging,
    importer: Importer,
    /// True if keys that the start found are to be entered now.
    has_keys: bool,
    /// True if keys are never entered: nothing is added, and each segment's own list of keys is
    /// searched.
    leaves_keys: bool,
    /// The end of the positions whose dead rows are still estimates of the start.
    uncounted_end: Position,
    /// True once the log is replayed.
    is_replayed: bool,
    /// True if all flushed segments are engraved now, under any policy.
    at_once: bool,
    /// The set of segments for which the key filter was last complete.
    filtered: Option<(Position, u64)>,
}

/// The kind of the next step.
enum Work {
    Engrave,
    Merge,
    Terms,
    Deaths,
    Keys,
    Filter,
}

impl Placement {
    pub(crate) fn new(options: &Options, memory: &Memory) -> Placement {
        let mut importer = Importer::default();
        if options.dictionary == DictionaryTier::Nvm {
            importer.stop_terms(memory);
        }
        Placement {
            engrave: options.engrave,
            pointer_update: options.pointer_update,
            keeps_raw: options.keeps_raw,
            flushed: VecDeque::new(),
            engraved: VecDeque::new(),
            merging: Merging::new(options, memory),
            importer,
            has_keys: false,
            leaves_keys: options.private,
            uncounted_end: 0,
            is_replayed: false,
            at_once: false,
            filtered: None,
        }
    }

    /// Adds a segment that has been flushed.
    pub(crate) fn push(&mut self, engrave: Engrave) {
        self.flushed.push_back(engrave);
        self.at_once |= self.engrave == EngravePolicy::Eager;
    }

    /// True if there is something to engrave, to merge or to import now.
    pub(crate) fn has_work(&self, shared: &Shared) -> bool {
        let memory = &shared.memory;
        let has_terms = self.importer.has_terms(memory);
        let has_found = self.has_to_count(memory) || self.has_keys;
        self.has_to_place(memory) || has_terms || has_found || self.has_to_filter(shared)
    }

    fn has_to_count(&self, memory: &Memory) -> bool {
        self.uncounted_end > memory.window().oldest
    }

    /// True if the key filter may lack segments.
    fn has_to_filter(&self, shared: &Shared) -> bool {
        let is_needed = self.is_replayed && self.wants_keys(&shared.memory);
        is_needed && self.filtered != Some(filtered_now(shared))
    }

    fn advance_filter(&mut self, shared: &Shared) {
        let now = filtered_now(shared);
        let filter = &mut shared.keys().filter;
        if filter.has_work(&shared.memory) {
            filter.advance(&shared.memory);
        } else {
            self.filtered = Some(now);
        }
    }

    /// True if there is something to engrave or to merge now.
    pub(crate) fn has_to_place(&self, memory: &Memory) -> bool {
        (self.at_once && !self.flushed.is_empty()) || self.merging.has_work(memory)
    }

    /// Engraves all flushed segments, under any policy.
    pub(crate) fn engrave_all(&mut self) {
        self.at_once = true;
    }

    /// Merges all engraved segments, however few.
    pub(crate) fn merge_all(&mut self) {
        self.merging.merge_all();
    }

    /// Notes that no documents come in.
    pub(crate) fn idle(&mut self) {
        self.at_once |= self.engrave == EngravePolicy::Opportunistic;
    }

    /// Takes the next step. False if it could not be taken.
    pub(crate) fn advance(&mut self, shared: &Shared) -> bool {
        match self.next_work(shared) {
            // A merge makes room for terms, which engraving may wait for. It also lets segments be
            // dropped.
            Some(Work::Engrave) => {
                self.merge_first(shared)
                    || shared.engraved().time(|| self.advance_engraving(shared))
                    || (self.merging.has_work(&shared.memory)
                        && shared.merged().time(|| self.advance_merging(shared)))
            }
            Some(Work::Merge) => shared.merged().time(|| self.advance_merging(shared)),
            Some(Work::Terms) => {
                self.importer.terms(&shared.memory);
                true
            }
            Some(Work::Deaths) => {
                damage::clear();
                self.uncounted_end -= 1;
                count_deaths_at(shared, self.uncounted_end);
                shared.refuse_damage().is_ok()
            }
            Some(Work::Keys) => {
                damage::clear();
                self.has_keys = enter_keys(shared, &mut self.importer);
                shared.refuse_damage().is_ok()
            }
            Some(Work::Filter) => {
                self.advance_filter(shared);
                true
            }
            None => true,
        }
    }

    /// Returns the next step. Steps that memory or readers wait for come first.
    fn next_work(&self, shared: &Shared) -> Option<Work> {
        if self.at_once && !self.flushed.is_empty() {
            Some(Work::Engrave)
        } else if self.merging.has_work(&shared.memory) {
            Some(Work::Merge)
        } else if self.importer.has_terms(&shared.memory) {
            Some(Work::Terms)
        } else if self.has_to_count(&shared.memory) {
            Some(Work::Deaths)
        } else if self.has_keys {
            Some(Work::Keys)
        } else if self.has_to_filter(shared) {
            Some(Work::Filter)
        } else {
            None
        }
    }

    /// Brings no more terms to DRAM. True if an unfinished segment's terms were entered, which do
    /// not count.
    pub(crate) fn stop_importing_terms(&mut self, memory: &Memory) -> bool {
        self.importer.stop_terms(memory)
    }

    /// Decides the form of the next segment to engrave. If the merged dictionary might have no room for
    /// its terms, others that wait are merged first: then it is known how much is left. Without room the
    /// segment is packed, and brings its terms along. Otherwise no later segment could be merged, and
    /// the DRAM dictionary would keep the terms of all of them. True if it took a step of a merge.
    fn merge_first(&mut self, shared: &Shared) -> bool {
        let undecided = self.flushed.front().filter(|oldest| oldest.is_undecided());
        let lines = undecided.map_or(0, Engrave::merged_lines_max);
        if self.keeps_raw || lines == 0 || self.merging.has_lines_for(&shared.memory, lines) {
            return false;
        }
        if self.merging.is_any_waiting() && shared.merged().time(|| self.advance_merging(shared)) {
            return true;
        }
        self.flushed.iter_mut().take(1).for_each(Engrave::pack);
        false
    }

    fn advance_engraving(&mut self, shared: &Shared) -> bool {
        let locked = |switch: &mut dyn FnMut()| {
            let _keys = shared.keys();
            switch();
        };
        let Some(oldest) = self.flushed.front_mut() else { return false };
        match oldest.advance(&shared.memory, locked) {
            Ok(false) => true,
            Ok(true) => {
                let (id, sequence_end) = (oldest.id(), oldest.end().sequence_end);
                self.flushed.pop_front();
                self.at_once &= !self.flushed.is_empty();
                self.merging.push(id);
                shared.add(Gauge::Engraved, 1);
                shared.note_engraved_to(sequence_end);
                shared.note_placed();
                match self.pointer_update {
                    PointerUpdate::Eager => commit(&shared.memory, id),
                    PointerUpdate::Lazy => self.engraved.push_back(id),
                }
                true
            }
            Err(stop) => {
                if stop == FlushStop::TermsFull {
                    self.merge_all();
                }
                false
            }
        }
    }

    fn advance_merging(&mut self, shared: &Shared) -> bool {
        let merged = self.merging.advance(&shared.memory);
        if merged.is_none() {
            // The next add returns the error.
            let _ = shared.refuse_damage();
        }
        shared.add(Gauge::Merged, merged.unwrap_or(0) as u64);
        merged.is_some()
    }

    /// Lets terms be removed from the merged dictionary, whose writer it returns.
    pub(crate) fn make_way(&mut self, shared: &Shared) -> &mut MergedWriter {
        let (merged, writer) = self.merging.make_way(&shared.memory);
        shared.add(Gauge::Merged, merged as u64);
        writer
    }

    /// Returns the number of lines of the merged dictionary in use, once they have been counted.
    pub(crate) fn merged_lines(&self) -> Option<u64> {
        self.merging.lines()
    }

    /// Frees memory that no reader holds any more.
    pub(crate) fn collect(&mut self, memory: &Memory) {
        self.merging.collect(memory);
    }

    /// Removes and returns the oldest engraved segment whose readers are still in DRAM.
    pub(crate) fn pop_engraved(&mut self) -> Option<SegmentId> {
        self.engraved.pop_front()
    }

    /// Forgets the segment at `position`, which is dropped.
    pub(crate) fn forget(&mut self, memory: &Memory, position: Position) {
        self.engraved.retain(|id| id.position() != position);
        // Its keys leave room for others.
        self.has_keys = self.is_replayed && self.wants_keys(memory);
    }

    fn wants_keys(&self, memory: &Memory) -> bool {
        !self.leaves_keys && memory.coverage().keys_from() > memory.window().oldest
    }

    /// Lets dead rows be counted and keys be entered, once the log is replayed.
    pub(crate) fn import_keys(&mut self, memory: &Memory) {
        self.is_replayed = true;
        if !self.leaves_keys {
            self.uncounted_end = memory.coverage().keys_from();
        }
        self.has_keys = self.wants_keys(memory);
    }

    /// Returns the number of segments that take room in DRAM.
    pub(crate) fn in_dram(&self) -> u64 {
        (self.flushed.len() + self.engraved.len()) as u64
    }
}

/// Returns the identity of the set of engraved segments: the oldest position, and the number
/// engraved since the start.
fn filtered_now(shared: &Shared) -> (Position, u64) {
    (shared.memory.window().oldest, shared.engraved().count.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::{Duration, Instant};

    use spirit_index::ground::Position;
    use spirit_index::keys::{Keys, hash};
    use spirit_index::snapshot::Snapshot;

    use crate::index::Index;
    use crate::storage::shared::Shared;

    const KEYS: usize = 300_000;
    /// One key in `STEP` is looked up.
    const STEP: usize = 37;

    fn key(number: usize) -> String {
        format!("key-{number}")
    }

    fn wait_for_filter(shared: &Shared) {
        let since = Instant::now();
        while shared.keys().filter.has_work(&shared.memory) {
            assert!(since.elapsed() < Duration::from_secs(60), "the filter is never up to date");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns how many older segments are searched for a key of these numbers, on average. Checks that the key's own is among them.
    fn asked(shared: &Shared, numbers: Range<usize>, older: Range<Position>) -> f64 {
        let memory = &shared.memory;
        let snapshot = Snapshot::of_role(memory, u64::MAX);
        let mut asked = 0;
        for number in numbers.clone().step_by(STEP) {
            let (key, held) = (key(number), shared.keys());
            let hash = hash(key.as_bytes());
            let all: Vec<_> = held.filter.candidates(memory, hash, older.clone()).collect();
            assert!(all.is_sorted_by(|newer, older| newer > older), "{all:?}");
            assert!(all.iter().all(|position| older.contains(position)));
            asked += all.len();
            let row = Keys::new(memory.geometry()).find(&snapshot, memory, key.as_bytes(), hash);
            let position = row.and_then(|row| snapshot.locate(row)).map(|(s, _)| s.id().position());
            if let Some(position) = position.filter(|position| older.contains(position)) {
                assert!(all.contains(&position), "{number} is in {position}, not in {all:?}");
            }
            let found = held.find(&snapshot, memory, key.as_bytes(), hash);
            assert_eq!(found, row, "{number}");
        }
        asked as f64 / numbers.step_by(STEP).len() as f64
    }

    fn open(directory: &std::path::Path) -> Index {
        let options = Index::builder().directory(directory).nvm_bytes(128 << 20);
        options.dram_bytes(8 << 20).segment_bytes(64 << 10).open().unwrap()
    }

    #[test]
    fn a_key_is_looked_for_in_few_segments() {
        let directory = std::env::temp_dir().join(format!("spirit-filter-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        for start in 0..2 {
            let index = open(&directory);
            for number in 0..if start == 0 { KEYS } else { 0 } {
                index.put(&key(number), "all").unwrap();
            }
            let shared = &index.executors()[0].shared;
            index.settle();
            wait_for_filter(shared);
            let older = shared.memory.window().oldest..shared.memory.coverage().keys_from();
            assert!(older.len() > 64, "{older:?}");
            let few = older.len() as f64 / 4.0;
            let old = asked(shared, 0..KEYS, older.clone());
            let new = asked(shared, KEYS..2 * KEYS, older);
            // With seven bits a key.
            assert!(new < few && old < few + 3.0, "{new} and {old}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
