//! The next segments of an AND, found and prefetched a few ahead of the evaluation. With many
//! segments most of the time goes into waiting for the first cache lines of each list. A ring keeps
//! up to [`SLOTS`] segments on the way.

use spirit_index::terms::entries::Entry;

use crate::plan::TERMS_INLINE;

/// Segments ahead, at most.
const SLOTS: usize = 4;
/// Segments ahead at the beginning: a query that stops early prefetches little.
const SLOTS_FIRST: usize = 2;

/// A segment in which all terms of an AND have entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Each term's entry, and its index among the term's entries.
    pub(super) entries: [(Entry, u32); TERMS_INLINE],
}

/// A ring of segments that were found and not visited yet.
#[derive(Debug)]
pub(super) struct Ahead {
    slots: [Meeting; SLOTS],
    first: usize,
    count: usize,
    depth: usize,
}

impl Default for Ahead {
    fn default() -> Ahead {
        let none = Meeting { entries: [(Entry::NONE, 0); TERMS_INLINE] };
        Ahead { slots: [none; SLOTS], first: 0, count: 0, depth: SLOTS_FIRST }
    }
}

impl Ahead {
    /// Begins a query.
    pub(super) fn begin(&mut self) {
        (self.first, self.count, self.depth) = (0, 0, SLOTS_FIRST);
    }

    /// True if another segment should be found before the next one is visited.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.depth
    }

    /// Appends a segment and returns it, for its entries to be written.
    pub(super) fn push(&mut self) -> &mut Meeting {
        self.count += 1;
        &mut self.slots[(self.first + self.count - 1) % SLOTS]
    }

    /// Returns the slot of the segment to visit now, valid until the next [`push`](Self::push).
    /// Each call doubles the ring's depth, up to [`SLOTS`].
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.count = self.count.checked_sub(1)?;
        let slot = self.first;
        self.first = (slot + 1) % SLOTS;
        self.depth = (self.depth * 2).min(SLOTS);
        Some(slot)
    }

    /// Returns a segment that was popped.
    pub(super) fn at(&self, slot: usize) -> &Meeting {
        &self.slots[slot]
    }
}
