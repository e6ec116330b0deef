//! What the checks have seen of an image: its marks, its segments, and its log's end.

use crate::check::Part;
use crate::form::node::NODE_BYTES;
use crate::ground::ids::{Position, SegmentId, State};
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::Entry;
use crate::terms::term_order::TermOrder;

/// What the marks say.
#[derive(Default)]
pub(super) struct Found {
    /// The segments that live, oldest first, and whether each is merged.
    pub(super) live: Vec<(Position, State)>,
    /// What the slot of the newest that ever was says, whether or not that one lives.
    pub(super) newest: Option<Entry>,
}

impl Found {
    /// The oldest segment that lives, or the next one that will.
    pub(super) fn oldest(&self) -> Position {
        let next = self.newest.map_or(0, |entry| (entry.id >> 1) as Position + 1);
        self.live.first().map_or(next, |(position, _)| *position)
    }

    /// A segment that is marked as merged says so of all older ones.
    pub(super) fn merge_older(&mut self) {
        let newest = self.live.iter().rposition(|(_, state)| *state == State::Merged);
        let merged = newest.map_or(0, |newest| newest + 1);
        self.live[..merged].iter_mut().for_each(|(_, state)| *state = State::Merged);
    }

    /// One past the last merged segment.
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
    /// What its slot says of dead rows.
    pub(super) dead: Option<u32>,
}

impl Segment {
    /// The order of its terms, if it is raw. Anyone who may be changing the index may give its place to another segment meanwhile, so the number
    /// of terms is that of the section table, which was looked at.
    pub(super) fn term_order<'a>(&self, part: &Part<'a>) -> TermOrder<'a> {
        let terms = self.sections.get(Kind::Nodes).bytes / NODE_BYTES;
        TermOrder::of(part.region, self.sections.get(Kind::TermOrder).start, terms)
    }
}

/// What the check of rows needs of the log.
#[derive(Clone, Copy, Default)]
pub(super) struct LogEnd {
    /// One past the highest row number in it.
    pub(super) row_end: u64,
    /// Rows that its records take at most when they are replayed.
    pub(super) replayed: u64,
    /// Whether some may have killed rows.
    pub(super) kills: bool,
}
