//! Stamps: how readers copy what a writer may change meanwhile, without a lock (a *seqlock*).
//!
//! A stamp is a word beside the data. It is odd while the data changes, and differs after each
//! change. A reader loads the stamp, the data, and the stamp again. If both are equal and even, the
//! data is of one piece. Otherwise the reader has no answer: it takes that for a miss, and never
//! waits.
//!
//! # Orderings
//!
//! All loads of data are acquire, and all stores of data are release. If a reader loads a word that
//! a change stored, it sees the odd stamp that was stored before, or a later one. Its second load of
//! the stamp comes after, so it differs from the first: the change began after the reader's first
//! load, or that load found it under way. The first load is acquire, so it sees all data of the
//! change before. No fence is needed, and x86 has no instruction for either order. Loom checks it
//! (`tests/stamp_loom.rs`).

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::sync::Atom64;

/// The bit of a stamp that is set while the data changes.
const CHANGING: u64 = 1;

/// Reads data beside a stamp. `read` loads with acquire, and its result may be of no use. Returns
/// `None` if the data changed meanwhile.
#[inline(always)]
pub fn read<T>(stamp: &impl Atom64, read: impl FnOnce() -> Option<T>) -> Option<T> {
    let before = stamp.load(Acquire);
    if before & CHANGING != 0 {
        return None;
    }
    let found = read()?;
    (stamp.load(Relaxed) == before).then_some(found)
}

/// Begins a change, or goes on with one. The owner alone calls it, before it stores data with
/// release.
#[inline]
pub fn close(stamp: &impl Atom64) {
    stamp.store(stamp.load(Relaxed) | CHANGING, Relaxed);
}

/// Ends a change: readers may read the data.
#[inline]
pub fn open(stamp: &impl Atom64) {
    stamp.store((stamp.load(Relaxed) | CHANGING) + 1, Release);
}
