//! Where segments are put: which wait to be engraved or merged, which are, and when either goes on (the paper's policies,
//! §4.7). After a start: what is still to be brought to DRAM.

use std::collections::VecDeque;

use spirit_door::Barrier;
use spirit_index::descriptor::{Position, SegmentId};
use spirit_index::flush::FlushStop;
use spirit_index::memory::Memory;
use spirit_index::nvm::engrave::{Engrave, commit};
use spirit_index::nvm::import::Importer;
use spirit_index::nvm::merge::Merge;
use spirit_index::nvm::merged_writer::MergedWriter;

use crate::durability::{DictionaryTier, EngravePolicy, PointerUpdate};
use crate::key_import::enter_keys;
use crate::options::Options;
use crate::shared::Shared;

/// Segments on their way into the second tier and through it.
pub(crate) struct Placement {
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    /// So many engraved segments come together before they are merged.
    merge_after: usize,
    /// Flushed, oldest first; the first may be under way.
    flushed: VecDeque<Engrave>,
    /// Engraved, with readers still in DRAM; oldest first.
    engraved: VecDeque<SegmentId>,
    /// Engraved and not merged, oldest first.
    unmerged: VecDeque<SegmentId>,
    merge: Option<Merge>,
    /// Made when it is needed for the first time.
    merged: Option<MergedWriter>,
    importer: Importer,
    /// Keys that the start found are to be entered now.
    has_keys: bool,
    /// The log is replayed.
    is_replayed: bool,
    /// All that is flushed goes now, whatever the policy.
    at_once: bool,
    /// All that is engraved is merged now, however little has come together.
    merges_at_once: bool,
}

/// Segments that come together where a merge is written to a disk page by page.
const MERGE_AFTER_SYNCED: usize = 8;

/// What is to be done next.
enum Work {
    Engrave,
    Merge,
    Terms,
    Keys,
}

impl Placement {
    pub(crate) fn new(options: &Options, memory: &Memory) -> Placement {
        let base = memory.merged()..memory.coverage().base_end();
        let mut importer = Importer::default();
        if options.dictionary == DictionaryTier::Nvm {
            importer.stop_terms(memory);
        }
        Placement {
            engrave: options.engrave,
            pointer_update: options.pointer_update,
            merge_after: options.merge_after.unwrap_or_else(|| merge_after(memory)),
            flushed: VecDeque::new(),
            engraved: VecDeque::new(),
            unmerged: base.map(SegmentId::first).collect(),
            merge: None,
            merged: None,
            importer,
            has_keys: false,
            is_replayed: false,
            at_once: false,
            merges_at_once: false,
        }
    }

    /// A segment has been flushed.
    pub(crate) fn push(&mut self, engrave: Engrave) {
        self.flushed.push_back(engrave);
        self.at_once |= self.engrave == EngravePolicy::Eager;
    }

    /// Whether there is something to engrave, to merge or to import now.
    pub(crate) fn has_work(&self, memory: &Memory) -> bool {
        self.has_to_place(memory) || self.importer.has_terms(memory) || self.has_keys
    }

    /// Whether there is something to engrave or to merge now.
    pub(crate) fn has_to_place(&self, memory: &Memory) -> bool {
        (self.at_once && !self.flushed.is_empty()) || self.has_to_merge(memory)
    }

    /// Whether there is something to merge now: enough has come together, the short-term partition fills, or a start found it.
    fn has_to_merge(&self, memory: &Memory) -> bool {
        let Some(oldest) = self.unmerged.front() else { return false };
        let fills = || {
            let (used, bytes) = memory.partition_use().nvm_short;
            used >= bytes / 2
        };
        self.merge.is_some()
            || self.merges_at_once
            || self.unmerged.len() >= self.merge_after
            || oldest.position() < memory.coverage().base_end()
            || fills()
    }

    /// Engraves all that is flushed, whatever the policy.
    pub(crate) fn engrave_all(&mut self) {
        self.at_once = true;
    }

    /// Merges all that is engraved, however little that is.
    pub(crate) fn merge_all(&mut self) {
        self.merges_at_once = !self.unmerged.is_empty();
    }

    /// Nothing comes in.
    pub(crate) fn idle(&mut self) {
        self.at_once |= self.engrave == EngravePolicy::Opportunistic;
    }

    /// Takes the next step; says whether it could be taken.
    pub(crate) fn advance(&mut self, shared: &Shared) -> bool {
        match self.next_work(shared) {
            // A merge makes room for terms, which engraving may wait for, and segments that may be dropped.
            Some(Work::Engrave) => {
                shared.engraved.time(|| self.advance_engraving(shared))
                    || (self.has_to_merge(&shared.memory)
                        && shared.merged.time(|| self.advance_merging(shared)))
            }
            Some(Work::Merge) => shared.merged.time(|| self.advance_merging(shared)),
            Some(Work::Terms) => {
                self.importer.terms(&shared.memory);
                true
            }
            Some(Work::Keys) => {
                self.has_keys = enter_keys(shared, &mut self.importer);
                true
            }
            None => true,
        }
    }

    /// What readers wait for comes first; what memory waits for after it.
    fn next_work(&self, shared: &Shared) -> Option<Work> {
        if self.at_once && !self.flushed.is_empty() {
            Some(Work::Engrave)
        } else if self.has_to_merge(&shared.memory) {
            Some(Work::Merge)
        } else if self.importer.has_terms(&shared.memory) {
            Some(Work::Terms)
        } else if self.has_keys {
            Some(Work::Keys)
        } else {
            None
        }
    }

    /// Brings no more terms to DRAM; says whether some were entered that do not count.
    pub(crate) fn stop_importing_terms(&mut self, memory: &Memory) -> bool {
        self.importer.stop_terms(memory)
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
                let id = oldest.id();
                self.flushed.pop_front();
                self.at_once &= !self.flushed.is_empty();
                self.unmerged.push_back(id);
                Shared::add_to(&shared.engraved.count, 1);
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
        let memory = &shared.memory;
        if self.unmerged.is_empty() {
            return false;
        }
        let begin = || Merge::new(memory, self.unmerged.iter().copied());
        let mut merge = self.merge.take().unwrap_or_else(begin);
        let advanced = merge.advance(memory, self.merged_writer(memory));
        let went_on = advanced.is_ok()
            || self.settle_merged(memory)
            || merge.shorten(memory, self.merged_writer(memory));
        if merge.is_done() {
            Shared::add_to(&shared.merged.count, merge.segments() as u64);
            self.note_merged(&merge);
        } else {
            self.merge = Some(merge);
        }
        went_on
    }

    /// Makes durable what was taken out of the merged dictionary; says whether there was anything.
    fn settle_merged(&mut self, memory: &Memory) -> bool {
        let door = memory.nvm().map(|nvm| nvm.door());
        let writer = self.merged.as_mut().zip(door);
        writer.is_some_and(|(writer, door)| writer.settle(memory.pins(), memory.region(), door))
    }

    fn note_merged(&mut self, merge: &Merge) {
        self.unmerged.drain(..merge.segments());
        self.merges_at_once &= !self.unmerged.is_empty();
    }

    /// Lets terms be taken out of the merged dictionary, whose writer this is.
    pub(crate) fn make_way(&mut self, memory: &Memory) -> &mut MergedWriter {
        if let Some(mut merge) = self.merge.take() {
            merge.make_way(memory, self.merged_writer(memory));
            if merge.is_done() {
                self.note_merged(&merge);
            } else {
                self.merge = Some(merge);
            }
        }
        self.merged_writer(memory)
    }

    /// The writer of the merged dictionary.
    fn merged_writer(&mut self, memory: &Memory) -> &mut MergedWriter {
        self.merged.get_or_insert_with(|| {
            let nvm = memory.nvm().expect("where segments are placed there is a second tier");
            let (region, oldest) = (memory.region(), memory.window().oldest);
            match memory.coverage().base_end() {
                0 => MergedWriter::new(region, nvm.layout()),
                _ => MergedWriter::open(region, nvm.layout(), nvm.door(), oldest),
            }
        })
    }

    /// Lines of the merged dictionary in use, once they have been counted.
    pub(crate) fn merged_lines(&self) -> Option<u64> {
        self.merged.as_ref().map(MergedWriter::used)
    }

    /// Takes back what no reader holds any more.
    pub(crate) fn collect(&mut self, memory: &Memory) {
        if let Some(writer) = &mut self.merged {
            writer.collect(memory.pins());
        }
    }

    /// The oldest engraved segment whose readers are still in DRAM.
    pub(crate) fn pop_engraved(&mut self) -> Option<SegmentId> {
        self.engraved.pop_front()
    }

    /// The segment at `position` is dropped.
    pub(crate) fn forget(&mut self, memory: &Memory, position: Position) {
        self.engraved.retain(|id| id.position() != position);
        // Its keys leave room for others.
        self.has_keys = self.is_replayed && !memory.coverage().has_keys();
    }

    /// The log is replayed: the keys of what the start found may be entered.
    pub(crate) fn import_keys(&mut self, memory: &Memory) {
        self.is_replayed = true;
        self.has_keys = !memory.coverage().has_keys();
    }

    /// Segments that take room in DRAM.
    pub(crate) fn in_dram(&self) -> u64 {
        (self.flushed.len() + self.engraved.len()) as u64
    }
}

/// How many engraved segments come together before they are merged, unless set otherwise.
fn merge_after(memory: &Memory) -> usize {
    match memory.nvm().map(|nvm| nvm.door().barrier()) {
        Some(Barrier::Sync) => MERGE_AFTER_SYNCED,
        _ => 1,
    }
}
