//! Where segments are put: which wait to be engraved or merged, which are, and when either goes on (the paper's policies,
//! §4.7). After a start: what is still to be brought to DRAM.

use std::collections::VecDeque;

use spirit_index::descriptor::{Position, SegmentId};
use spirit_index::flush::FlushStop;
use spirit_index::memory::Memory;
use spirit_index::nvm::commit::commit;
use spirit_index::nvm::damage;
use spirit_index::nvm::engrave::Engrave;
use spirit_index::nvm::import::Importer;
use spirit_index::nvm::merged_writer::MergedWriter;
use spirit_index::roots::Gauge;

use crate::durability::{DictionaryTier, EngravePolicy, PointerUpdate};
use crate::key_import::enter_keys;
use crate::merging::Merging;
use crate::options::Options;
use crate::shared::Shared;

/// Segments on their way into the second tier and through it.
pub(crate) struct Placement {
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    /// Flushed, oldest first; the first may be under way.
    flushed: VecDeque<Engrave>,
    /// Engraved, with readers still in DRAM; oldest first.
    engraved: VecDeque<SegmentId>,
    merging: Merging,
    importer: Importer,
    /// Keys that the start found are to be entered now.
    has_keys: bool,
    /// They never are: nothing is added, and each segment's own list of keys is asked.
    leaves_keys: bool,
    /// The log is replayed.
    is_replayed: bool,
    /// All that is flushed goes now, whatever the policy.
    at_once: bool,
}

/// What is to be done next.
enum Work {
    Engrave,
    Merge,
    Terms,
    Keys,
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
            flushed: VecDeque::new(),
            engraved: VecDeque::new(),
            merging: Merging::new(options, memory),
            importer,
            has_keys: false,
            leaves_keys: options.private,
            is_replayed: false,
            at_once: false,
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
        (self.at_once && !self.flushed.is_empty()) || self.merging.has_work(memory)
    }

    /// Engraves all that is flushed, whatever the policy.
    pub(crate) fn engrave_all(&mut self) {
        self.at_once = true;
    }

    /// Merges all that is engraved, however little that is.
    pub(crate) fn merge_all(&mut self) {
        self.merging.merge_all();
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
                shared.engraved().time(|| self.advance_engraving(shared))
                    || (self.merging.has_work(&shared.memory)
                        && shared.merged().time(|| self.advance_merging(shared)))
            }
            Some(Work::Merge) => shared.merged().time(|| self.advance_merging(shared)),
            Some(Work::Terms) => {
                self.importer.terms(&shared.memory);
                true
            }
            Some(Work::Keys) => {
                damage::clear();
                self.has_keys = enter_keys(shared, &mut self.importer);
                shared.refuse_damage().is_ok()
            }
            None => true,
        }
    }

    /// What readers wait for comes first; what memory waits for after it.
    fn next_work(&self, shared: &Shared) -> Option<Work> {
        if self.at_once && !self.flushed.is_empty() {
            Some(Work::Engrave)
        } else if self.merging.has_work(&shared.memory) {
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
                self.merging.push(id);
                shared.add(Gauge::Engraved, 1);
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
            // Whoever adds is told.
            let _ = shared.refuse_damage();
        }
        shared.add(Gauge::Merged, merged.unwrap_or(0) as u64);
        merged.is_some()
    }

    /// Lets terms be taken out of the merged dictionary, whose writer this is.
    pub(crate) fn make_way(&mut self, shared: &Shared) -> &mut MergedWriter {
        let (merged, writer) = self.merging.make_way(&shared.memory);
        shared.add(Gauge::Merged, merged as u64);
        writer
    }

    /// Lines of the merged dictionary in use, once they have been counted.
    pub(crate) fn merged_lines(&self) -> Option<u64> {
        self.merging.lines()
    }

    /// Takes back what no reader holds any more.
    pub(crate) fn collect(&mut self, memory: &Memory) {
        self.merging.collect(memory);
    }

    /// The oldest engraved segment whose readers are still in DRAM.
    pub(crate) fn pop_engraved(&mut self) -> Option<SegmentId> {
        self.engraved.pop_front()
    }

    /// The segment at `position` is dropped.
    pub(crate) fn forget(&mut self, memory: &Memory, position: Position) {
        self.engraved.retain(|id| id.position() != position);
        // Its keys leave room for others.
        self.has_keys = self.is_replayed && self.wants_keys(memory);
    }

    fn wants_keys(&self, memory: &Memory) -> bool {
        !self.leaves_keys && memory.coverage().keys_from() > memory.window().oldest
    }

    /// The log is replayed: the keys of what the start found may be entered.
    pub(crate) fn import_keys(&mut self, memory: &Memory) {
        self.is_replayed = true;
        self.has_keys = self.wants_keys(memory);
    }

    /// Segments that take room in DRAM.
    pub(crate) fn in_dram(&self) -> u64 {
        (self.flushed.len() + self.engraved.len()) as u64
    }
}
