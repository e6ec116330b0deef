//! Where segments are put: which wait to be engraved, which are, and when either goes on (the paper's policies, §4.7).

use std::collections::VecDeque;

use spirit_index::descriptor::{Position, SegmentId};
use spirit_index::memory::Memory;
use spirit_index::nvm::engrave::{Engrave, commit};

use crate::durability::{EngravePolicy, PointerUpdate};
use crate::options::Options;

/// The flushed segments that are on their way into the second tier, or have just arrived.
pub(crate) struct Placement {
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    /// Flushed, oldest first; the first may be under way.
    flushed: VecDeque<Engrave>,
    /// Engraved, with readers still in DRAM; oldest first.
    engraved: VecDeque<SegmentId>,
    /// All that is flushed goes now, whatever the policy.
    at_once: bool,
}

impl Placement {
    pub(crate) fn new(options: &Options) -> Placement {
        Placement {
            engrave: options.engrave,
            pointer_update: options.pointer_update,
            flushed: VecDeque::new(),
            engraved: VecDeque::new(),
            at_once: false,
        }
    }

    /// A segment has been flushed.
    pub(crate) fn push(&mut self, engrave: Engrave) {
        self.flushed.push_back(engrave);
        self.at_once |= self.engrave == EngravePolicy::Eager;
    }

    /// Whether there is something to engrave now.
    pub(crate) fn has_work(&self) -> bool {
        self.at_once && !self.flushed.is_empty()
    }

    /// Engraves all that is flushed, whatever the policy.
    pub(crate) fn engrave_all(&mut self) {
        self.at_once = true;
    }

    /// Nothing comes in.
    pub(crate) fn idle(&mut self) {
        self.at_once |= self.engrave == EngravePolicy::Opportunistic;
    }

    /// Takes the next step; says whether it could be taken.
    pub(crate) fn advance(
        &mut self,
        memory: &Memory,
        locked: impl FnOnce(&mut dyn FnMut()),
    ) -> bool {
        let Some(oldest) = self.flushed.front_mut() else { return false };
        match oldest.advance(memory, locked) {
            Ok(false) => true,
            Ok(true) => {
                let id = oldest.id();
                self.flushed.pop_front();
                self.at_once &= !self.flushed.is_empty();
                match self.pointer_update {
                    PointerUpdate::Eager => commit(memory, id),
                    PointerUpdate::Lazy => self.engraved.push_back(id),
                }
                true
            }
            Err(_) => false,
        }
    }

    /// The oldest engraved segment whose readers are still in DRAM.
    pub(crate) fn pop_engraved(&mut self) -> Option<SegmentId> {
        self.engraved.pop_front()
    }

    /// Whether the segment at `position`, which is flushed, is engraved too.
    pub(crate) fn is_engraved(&self, position: Position) -> bool {
        self.flushed.front().is_none_or(|engrave| position < engrave.id().position())
    }

    /// The segment at `position` is dropped.
    pub(crate) fn forget(&mut self, position: Position) {
        self.engraved.retain(|id| id.position() != position);
    }

    /// Segments that take room in DRAM.
    pub(crate) fn in_dram(&self) -> u64 {
        (self.flushed.len() + self.engraved.len()) as u64
    }
}
