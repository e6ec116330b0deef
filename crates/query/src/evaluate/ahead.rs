//! Segments that an AND is about to visit: found and asked for a few ahead of the evaluation, since with many
//! segments the time goes into waiting for the first lines of each list. A ring, so that there is always the same
//! number on the way.

use spirit_index::terms::entries::Entry;

use crate::plan::TERMS_INLINE;

/// Segments ahead, at most.
const SLOTS: usize = 4;
/// Segments ahead at the beginning: a query that stops early asks for little.
const SLOTS_FIRST: usize = 2;

/// A segment in which all terms of an AND have entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Each term's entry, and its index among the term's entries.
    pub(super) entries: [(Entry, u32); TERMS_INLINE],
}

/// The ring.
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

    /// Whether another segment should be looked for before the next is visited.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.depth
    }

    /// Takes another segment along: here its entries go.
    pub(super) fn push(&mut self) -> &mut Meeting {
        self.count += 1;
        &mut self.slots[(self.first + self.count - 1) % SLOTS]
    }

    /// The slot of the segment to visit now, good until the next is pushed. From one to the next the ring goes further
    /// ahead.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.count = self.count.checked_sub(1)?;
        let slot = self.first;
        self.first = (slot + 1) % SLOTS;
        self.depth = (self.depth * 2).min(SLOTS);
        Some(slot)
    }

    /// A segment that was popped.
    pub(super) fn at(&self, slot: usize) -> &Meeting {
        &self.slots[slot]
    }
}
