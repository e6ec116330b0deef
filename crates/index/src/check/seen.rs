//! The state that the checks have found in an image: its marks, its segments, and its log's end.

use crate::check::Part;
use crate::form::node::NODE_BYTES;
use crate::ground::ids::{Position, SegmentId, State};
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::Entry;
use crate::terms::term_order::TermOrder;

/// The contents of the marks.
#[derive(Default)]
pub(super) struct Found {
    /// The live segments, oldest first, with their states.
    pub(super) live: Vec<(Position, State)>,
    /// The slot entry of the newest segment that ever was, dead or alive.
    pub(super) newest: Option<Entry>,
}

impl Found {
    /// Returns the oldest live segment, or the next one that will be.
    pub(super) fn oldest(&self) -> Position {
        let next = self.newest.map_or(0, |entry| (entry.id >> 1) as Position + 1);
        self.live.first().map_or(next, |(position, _)| *position)
    }

    /// Marks segments older than a merged one as merged too.
    pub(super) fn merge_older(&mut self) {
        let newest = self.live.iter().rposition(|(_, state)| *state == State::Merged);
        let merged = newest.map_or(0, |newest| newest + 1);
        self.live[..merged].iter_mut().for_each(|(_, state)| *state = State::Merged);
    }

    /// Returns one past the last merged segment.
    pub(super) fn merged_end(&self) -> Position {
        let merged = self.live.iter().take_while(|(_, state)| *state == State::Merged);
        merged.last().map_or(self.oldest(), |(position, _)| position + 1)
    }
}

/// A live segment whose shape is right.
pub(super) struct Segment {
    pub(super) id: SegmentId,
    pub(super) is_merged: bool,
    pub(super) entry: Entry,
    pub(super) sections: Sections,
    /// The number of dead rows in its slot.
    pub(super) dead: Option<u32>,
}

impl Segment {
    /// Returns the order of its terms, if it is raw. A writer may meanwhile reuse its place for
    /// another segment. So this takes the number of terms from the section table, which was
    /// checked.
    pub(super) fn term_order<'a>(&self, part: &Part<'a>) -> TermOrder<'a> {
        let terms = self.sections.get(Kind::Nodes).bytes / NODE_BYTES;
        TermOrder::of(part.region, self.sections.get(Kind::TermOrder).start, terms)
    }
}

/// The facts about the log that the check of rows needs.
#[derive(Clone, Copy, Default)]
pub(super) struct LogEnd {
    /// One past the highest row number in it.
    pub(super) row_end: u64,
    /// Upper bound of the rows that a replay of its records takes.
    pub(super) replayed: u64,
    /// True if some operations may have killed rows.
    pub(super) kills: bool,
}
