//! Runs of posting words, and how far an operation has come in one.
//!
//! A list of postings reaches the kernels as a sequence of runs, so every operation reports a
//! [`Progress`] from which the caller goes on with the next run of whichever side is used up.
//!
//! Not here: what a rank means, or where runs are stored.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bits of a posting word below the rank: the frequency.
pub(crate) const FREQUENCY_BITS: u32 = 8;

/// The frequency's bits of a word.
pub(crate) const FREQUENCY_MASK: u32 = (1 << FREQUENCY_BITS) - 1;

/// The highest rank of a word.
pub(crate) const RANK_MAX: u32 = u32::MAX >> FREQUENCY_BITS;

/// Posting words strictly ascending by rank (the high 24 bits).
pub type Run<'a> = &'a [AtomicU32];

/// What an operation used up and found.
///
/// Everything before `left` and `right` is consumed and need not be looked at again. On sorted runs: if
/// the output became full, both stand just behind the last match; otherwise at least one stands at its run's
/// end, and the other not beyond the first word whose rank exceeds that run's last. How far before it depends on
/// the algorithm and the level: finding the place costs as much as a block, and few callers ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Words consumed of the left run.
    pub left: usize,
    /// Words consumed of the right run; 0 without a right run.
    pub right: usize,
    /// Matches written or counted.
    pub found: usize,
}

/// Words of one's own as a run.
pub fn run_of(words: &mut [u32]) -> Run<'_> {
    let words: *mut [u32] = words;
    // SAFETY: `AtomicU32` has the size, the alignment and the bits of `u32`, and nothing else refers to the words for as long
    // as the run does.
    unsafe { &*(words as *const [AtomicU32]) }
}

/// The word itself.
#[inline(always)]
pub(crate) fn word(at: &AtomicU32) -> u32 {
    at.load(Relaxed)
}

/// The word's rank.
#[inline(always)]
pub(crate) fn rank(at: &AtomicU32) -> u32 {
    word(at) >> FREQUENCY_BITS
}
