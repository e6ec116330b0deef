//! How much of the second tier is in DRAM too. The DRAM dictionary *covers* the segments from a position on: it has all their
//! entries. Those of older segments are read where they lie ([`older`](super::older)), so the dictionary may be smaller
//! than what the index holds, and a start may answer before any of it is there.
//!
//! # The boundary and its orderings
//!
//! A reader pins, then loads the boundary (acquire) once; entries before it do not count for it, whether they are there or
//! not. So:
//!
//! * To lower it ([import](super::import)): all entries are entered, then it is stored (release). Who loads the lower one finds
//!   them; for who loaded the higher one they do not count.
//! * To raise it ([shed](super::shed)): it is stored (release), the epoch is retired, and the entries go when no reader is left
//!   that pinned before: who pins afterwards loads the higher one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::descriptor::Position;

/// What is in DRAM of the segments in the second tier. Alone on its cache lines, since every query loads it.
#[derive(Debug)]
#[repr(align(128))]
pub struct Coverage {
    /// The dictionary has the entries of segments from here on.
    terms_from: AtomicU32,
    /// It may have some of segments from here on that do not count yet. Flush stage only.
    terms_floor: AtomicU32,
    /// Segments before this position were there at the start; 0 if there were none.
    base_end: AtomicU32,
    /// Whether the keys of those are in the key table.
    keys_done: AtomicBool,
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage {
            terms_from: AtomicU32::new(0),
            terms_floor: AtomicU32::new(0),
            base_end: AtomicU32::new(0),
            keys_done: AtomicBool::new(true),
        }
    }
}

impl Coverage {
    /// The segments before `end` are there, and nothing of them is in DRAM. Before any reader.
    pub(crate) fn begin(&self, end: Position) {
        self.base_end.store(end, Release);
        self.set_terms_from(end);
        self.keys_done.store(end == 0, Release);
    }

    /// Nothing of any segment is in DRAM, nor will be. Before any reader.
    pub(crate) fn begin_following(&self) {
        self.begin(Position::MAX);
    }

    /// The first position that the dictionary covers.
    #[inline(always)]
    pub fn terms_from(&self) -> Position {
        self.terms_from.load(Acquire)
    }

    /// From now on the dictionary covers the segments from `position` on, and no others are being brought.
    pub(crate) fn set_terms_from(&self, position: Position) {
        self.terms_floor.store(position, Relaxed);
        self.terms_from.store(position, Release);
    }

    /// The first position of which the dictionary has entries that count, or will.
    pub(crate) fn terms_floor(&self) -> Position {
        self.terms_floor.load(Relaxed)
    }

    /// Entries of segments from `position` on are being brought.
    pub(crate) fn set_terms_floor(&self, position: Position) {
        self.terms_floor.store(position, Relaxed);
    }

    /// One past the last position that was there at the start.
    #[inline(always)]
    pub fn base_end(&self) -> Position {
        self.base_end.load(Acquire)
    }

    /// Whether the keys of all segments are in the key table.
    #[inline(always)]
    pub fn has_keys(&self) -> bool {
        self.keys_done.load(Acquire)
    }

    /// The keys of all segments are in the key table.
    pub fn set_keys_done(&self) {
        self.keys_done.store(true, Release);
    }
}
