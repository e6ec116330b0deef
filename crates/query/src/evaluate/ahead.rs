//! The next segments of an AND, found and prefetched a few ahead of the evaluation. With many
//! segments most of the time goes into waiting for the first cache lines of each list. A ring keeps
//! up to [`SEGMENTS_AHEAD_MAX`] segments on the way.

use spirit_index::terms::Entry;

use crate::plan::TERMS_INLINE;
use crate::tuning::{SEGMENTS_AHEAD_FIRST, SEGMENTS_AHEAD_MAX};

/// A segment in which all terms of an AND have entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Each term's entry, and its index among the term's entries.
    pub(super) entries: [(Entry, u32); TERMS_INLINE],
}

/// A ring of segments that were found and not visited yet.
#[derive(Debug)]
pub(super) struct Ahead {
    slots: [Meeting; SEGMENTS_AHEAD_MAX],
    first: usize,
    count: usize,
    depth: usize,
}

impl Default for Ahead {
    fn default() -> Ahead {
        let none = Meeting { entries: [(Entry::NONE, 0); TERMS_INLINE] };
        Ahead { slots: [none; SEGMENTS_AHEAD_MAX], first: 0, count: 0, depth: SEGMENTS_AHEAD_FIRST }
    }
}

impl Ahead {
    /// Begins a query.
    pub(super) fn begin(&mut self) {
        (self.first, self.count, self.depth) = (0, 0, SEGMENTS_AHEAD_FIRST);
    }

    /// True if another segment should be found before the next one is visited.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.depth
    }

    /// Appends a segment and returns it, for its entries to be written.
    pub(super) fn push(&mut self) -> &mut Meeting {
        self.count += 1;
        &mut self.slots[(self.first + self.count - 1) % SEGMENTS_AHEAD_MAX]
    }

    /// Returns the slot of the segment to visit now, valid until the next [`push`](Self::push).
    /// Each call doubles the ring's depth, up to [`SEGMENTS_AHEAD_MAX`].
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.count = self.count.checked_sub(1)?;
        let slot = self.first;
        self.first = (slot + 1) % SEGMENTS_AHEAD_MAX;
        self.depth = (self.depth * 2).min(SEGMENTS_AHEAD_MAX);
        Some(slot)
    }

    /// Returns a segment that was popped.
    pub(super) fn at(&self, slot: usize) -> &Meeting {
        &self.slots[slot]
    }
}
