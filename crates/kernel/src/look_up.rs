//! Postings of a list that has a bitmap, looked up by their ranks, many at a time.
//!
//! A posting's index is how many bits are set before its own, so on the way from one rank to the next the words of the bitmap between
//! them are counted; where that are many, the run is searched instead.
//!
//! Not here: which of some ranks a bitmap has, see `probe.rs`.

use crate::intersect::seek;
use crate::level::Level;
use crate::run::{Run, rank, word};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of a bitmap that are counted sooner than a run is searched.
const NEAR_WORDS: usize = 48;

/// Writes to `out[i]` the word of `run` whose rank is `ranks[i]`. A rank that the run lacks gets 0, which is not a posting. Stops at
/// the end of the shorter of `out` and `ranks`, and returns how many were written.
///
/// Bit `rank - base` of `bits` is set for each word of the run. `ranks` ascend; `from` is not behind the index of the first word that
/// is at or behind the first of them.
pub fn look_up(
    level: Level,
    run: Run,
    bits: &[AtomicU64],
    base: u32,
    from: usize,
    ranks: &[u32],
    out: &mut [u32],
) -> usize {
    let count = ranks.len().min(out.len());
    let (ranks, out) = (&ranks[..count], &mut out[..count]);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns one of these only on a machine that has all its features, of which these are some.
        Level::Avx512 | Level::Avx2 => unsafe {
            look_up_popcnt(level, run, bits, base, from, ranks, out)
        },
        _ => look_up_each(level, run, bits, base, from, ranks, out),
    }
    count
}

/// The same, compiled to count bits by an instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn look_up_popcnt(
    level: Level,
    run: Run,
    bits: &[AtomicU64],
    base: u32,
    from: usize,
    ranks: &[u32],
    out: &mut [u32],
) {
    look_up_each(level, run, bits, base, from, ranks, out);
}

/// `ranks` and `out` have the same length.
#[inline(always)]
fn look_up_each(
    level: Level,
    run: Run,
    bits: &[AtomicU64],
    base: u32,
    from: usize,
    ranks: &[u32],
    out: &mut [u32],
) {
    // The word of the bitmap where it is, and the index of that word's first posting.
    let (mut number, mut first) = (usize::MAX, from);
    if let Some(bit) = run.get(from).map(|at| rank(at).wrapping_sub(base))
        && let Some(own) = bits.get(bit as usize / 64)
    {
        let before = own.load(Relaxed) & ((1 << (bit % 64)) - 1);
        (number, first) = (bit as usize / 64, from.wrapping_sub(before.count_ones() as usize));
    }
    for (sought, out) in ranks.iter().zip(out) {
        let bit = sought.wrapping_sub(base);
        let (target, below) = (bit as usize / 64, (1u64 << (bit % 64)) - 1);
        *out = 0;
        let Some(own) = bits.get(target).map(|own| own.load(Relaxed)) else { continue };
        let before = (own & below).count_ones() as usize;
        match bits.get(number..target) {
            Some(between) if between.len() <= NEAR_WORDS => {
                let ones = |bits: &AtomicU64| bits.load(Relaxed).count_ones() as usize;
                first = first.wrapping_add(between.iter().map(ones).sum());
            }
            _ => first = seek(level, run, first, *sought).wrapping_sub(before),
        }
        number = target;
        if own & (below + 1) != 0 {
            let found = run.get(first.wrapping_add(before)).filter(|own| rank(own) == *sought);
            *out = found.map_or(0, word);
        }
    }
}
