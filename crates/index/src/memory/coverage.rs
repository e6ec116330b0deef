//! The part of the second tier that is in DRAM too. The DRAM dictionary *covers* the segments from
//! a position on: it has all their entries. Those of older segments are read in the second tier
//! ([`older`](crate::form::older)). So the dictionary may be smaller than the index, and a start
//! may answer queries before the dictionary is filled.
//!
//! # The boundary and its orderings
//!
//! A reader pins, then loads the boundary (acquire) once. It ignores entries before the boundary,
//! present or not. So:
//!
//! * To lower it ([import](crate::start::import)): all entries are entered, then it is stored
//!   (release). A reader that loads the lower one finds them. A reader that loaded the higher one
//!   ignores them.
//! * To raise it ([shed](crate::start::shed)): it is stored (release), and the epoch is retired.
//!   The entries go when no reader is left that pinned before. A reader that pins afterwards loads
//!   the higher one.
//!
//! # Keys
//!
//! The [key table](crate::keys) has all keys of the segments from another position on. Older keys
//! are found by each segment's own sorted hashes. So the table may be smaller than the index.
//! Entries need no retired epoch, since a lookup loads the position twice:
//!
//! * To lower the position, all keys are entered, then it is stored. A lookup that misses loaded it
//!   before it searched. Either it finds the key in the table, or the higher position that it
//!   loaded sends it to the segment.
//! * To raise it, it is stored (release), then an entry is cleared (release). A lookup that misses
//!   because of that has loaded the cleared slot (acquire). So the position that it loads
//!   afterwards is the higher one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::ground::ids::Position;
use crate::ground::roots::Roots;

/// The structures in DRAM that cover segments of the second tier.
#[derive(Clone, Copy)]
pub struct Coverage<'a>(pub(crate) Roots<'a>);

impl Coverage<'_> {
    /// Begins with the segments before `end`, none of which is in DRAM. Runs before any reader.
    pub(crate) fn begin(&self, end: Position) {
        self.0.base_end().store(end.into(), Release);
        self.set_terms_from(end);
        self.0.keys_from().store(end.into(), Release);
    }

    /// Returns the first position that the dictionary covers.
    #[inline(always)]
    pub fn terms_from(&self) -> Position {
        self.0.terms_from().load(Acquire) as Position
    }

    /// Lets the dictionary cover the segments from `position` on. No others are being imported.
    pub(crate) fn set_terms_from(&self, position: Position) {
        self.0.terms_floor().store(position.into(), Relaxed);
        self.0.terms_from().store(position.into(), Release);
    }

    /// Returns the first position of which the dictionary has entries that count, or will count.
    pub(crate) fn terms_floor(&self) -> Position {
        self.0.terms_floor().load(Relaxed) as Position
    }

    /// Notes that entries of segments from `position` on are being imported. Flush stage only.
    pub(crate) fn set_terms_floor(&self, position: Position) {
        self.0.terms_floor().store(position.into(), Relaxed);
    }

    /// Returns one past the last position that was there at the start.
    #[inline(always)]
    pub fn base_end(&self) -> Position {
        self.0.base_end().load(Acquire) as Position
    }

    /// Returns the first position from which on the key table has all keys.
    #[inline(always)]
    pub fn keys_from(&self) -> Position {
        self.0.keys_from().load(Acquire) as Position
    }

    /// Notes that the key table has all keys of the segments from `position` on. The caller holds
    /// the key lock.
    pub fn set_keys_from(&self, position: Position) {
        self.0.keys_from().store(position.into(), Release);
    }
}
