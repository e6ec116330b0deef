//! A run against a bitmap: which of its words have their bit set, and setting the bits of a run.
//!
//! Scalar at every level, which is why `level` is ignored: the work is one load from the bitmap per
//! word, and a vector gather issues the same loads. What matters is that no branch depends on whether
//! a bit is set.
//!
//! Not here: two bitmaps, see `bitmap.rs`.

use crate::level::Level;
use crate::run::{FREQUENCY_BITS, Progress, Run, rank, word};
use crate::sink::{Sink, Tally, Words};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Writes the words of `run` whose bit `rank - base` is set; a rank outside of the bitmap has none.
///
/// Stops when `out` is full or the run is exhausted; `left` is the number of words consumed, and
/// `right` is 0.
pub fn probe_into(
    _level: Level,
    run: Run,
    bits: &[AtomicU64],
    base: u32,
    out: &mut [u32],
) -> Progress {
    let mut sink = Words::new(out);
    let left = probe(run, bits, base, &mut sink);
    Progress { left, right: 0, found: sink.found() }
}

/// The number of words of `run` whose bit `rank - base` is set.
pub fn probe_count(_level: Level, run: Run, bits: &[AtomicU64], base: u32) -> u64 {
    let mut sink = Tally::default();
    probe(run, bits, base, &mut sink);
    sink.found() as u64
}

/// Makes `bits` the bitmap of an ascending run: bit `rank - base` for each of its words. A rank outside is passed over.
///
/// Relaxed stores of whole words: there is a single writer; readers may look on.
pub fn write_bitmap(run: Run, bits: &[AtomicU64], base: u32) {
    bits.iter().for_each(|slot| slot.store(0, Relaxed));
    // Neighbours often share a word, so its bits are gathered, without a branch on whether they do: nothing could
    // predict it.
    let (mut at, mut gathered) = (usize::MAX, 0);
    for own in run {
        let Some((index, bit)) = place(rank(own), base) else { continue };
        let Some(slot) = bits.get(index) else { continue };
        let before = if index == at { gathered } else { 0 };
        (at, gathered) = (index, before | 1 << bit);
        slot.store(gathered, Relaxed);
    }
}

/// Word index and bit of a rank, if it is not below `base`.
#[inline(always)]
fn place(rank: u32, base: u32) -> Option<(usize, u32)> {
    let bit = rank.checked_sub(base)?;
    Some((bit as usize / 64, bit % 64))
}

/// Returns how many words of the run were consumed.
#[inline(always)]
fn probe<S: Sink>(run: Run, bits: &[AtomicU64], base: u32, sink: &mut S) -> usize {
    for (i, own) in run.iter().enumerate() {
        if sink.is_full() {
            return i;
        }
        let own = word(own);
        sink.offer(own, is_set(bits, own >> FREQUENCY_BITS, base));
    }
    run.len()
}

#[inline(always)]
fn is_set(bits: &[AtomicU64], rank: u32, base: u32) -> bool {
    let Some((index, bit)) = place(rank, base) else { return false };
    bits.get(index).is_some_and(|slot| slot.load(Relaxed) >> bit & 1 == 1)
}
