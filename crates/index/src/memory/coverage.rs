//! How much of the second tier is in DRAM too. The DRAM dictionary *covers* the segments from a position on: it has all their
//! entries. Those of older segments are read where they lie ([`older`](crate::form::older)), so the dictionary may be smaller
//! than what the index holds, and a start may answer before any of it is there.
//!
//! # The boundary and its orderings
//!
//! A reader pins, then loads the boundary (acquire) once; entries before it do not count for it, whether they are there or
//! not. So:
//!
//! * To lower it ([import](crate::start::import)): all entries are entered, then it is stored (release). Who loads the lower one finds
//!   them; for who loaded the higher one they do not count.
//! * To raise it ([shed](crate::start::shed)): it is stored (release), the epoch is retired, and the entries go when no reader is left
//!   that pinned before: who pins afterwards loads the higher one.
//!
//! # Keys
//! The [key table](crate::keys) has all keys of the segments from another position on. Older keys are found by each segment's own
//! sorted hashes, so the table may be smaller than what the index holds. Entries need no retired epoch, since a lookup asks twice:
//!
//! * To lower the position, all keys are entered, then it is stored. A lookup that misses loaded it before it looked: either it
//!   finds the key in the table, or the higher position that it loaded sends it to the segment.
//! * To raise it, it is stored (release), then an entry is cleared (release). A lookup that misses because of that has loaded the
//!   cleared slot (acquire), so the position that it loads afterwards is the higher one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::ground::ids::Position;
use crate::ground::roots::Roots;

/// The structures in DRAM that cover segments of the second tier.
#[derive(Clone, Copy)]
pub struct Coverage<'a>(pub(crate) Roots<'a>);

impl Coverage<'_> {
    /// The segments before `end` are there, and nothing of them is in DRAM. Before any reader.
    pub(crate) fn begin(&self, end: Position) {
        self.0.base_end().store(end.into(), Release);
        self.set_terms_from(end);
        self.0.keys_from().store(end.into(), Release);
    }

    /// The first position that the dictionary covers.
    #[inline(always)]
    pub fn terms_from(&self) -> Position {
        self.0.terms_from().load(Acquire) as Position
    }

    /// From now on the dictionary covers the segments from `position` on, and no others are being brought.
    pub(crate) fn set_terms_from(&self, position: Position) {
        self.0.terms_floor().store(position.into(), Relaxed);
        self.0.terms_from().store(position.into(), Release);
    }

    /// The first position of which the dictionary has entries that count, or will.
    pub(crate) fn terms_floor(&self) -> Position {
        self.0.terms_floor().load(Relaxed) as Position
    }

    /// Entries of segments from `position` on are being brought. Flush stage only.
    pub(crate) fn set_terms_floor(&self, position: Position) {
        self.0.terms_floor().store(position.into(), Relaxed);
    }

    /// One past the last position that was there at the start.
    #[inline(always)]
    pub fn base_end(&self) -> Position {
        self.0.base_end().load(Acquire) as Position
    }

    /// The first position from which on the key table has all keys.
    #[inline(always)]
    pub fn keys_from(&self) -> Position {
        self.0.keys_from().load(Acquire) as Position
    }

    /// From now on the key table has all keys of the segments from `position` on. The caller holds the key lock.
    pub fn set_keys_from(&self, position: Position) {
        self.0.keys_from().store(position.into(), Release);
    }
}
