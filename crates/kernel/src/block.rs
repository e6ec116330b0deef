//! The intersections and the search over blocks of words, without an instruction set.
//!
//! The functions here walk runs in blocks and leave the comparing of one block to a closure. A shell
//! (`avx512.rs`, `avx2.rs`) calls them from a function with its instruction set enabled; they are
//! `inline(always)`, so the closures end up inside the shell and no call is left.
//!
//! Three walks: [`merge_blocks`] for similar lengths (every pair of lanes of two blocks compared at
//! once, then the block that ends first is left behind), [`merge_rest`] for what is left when a
//! side has no whole block, and [`gallop_blocks`] for a long run against a short one.
//!
//! Each walk ends for every input, sorted or not: each step moves at least one position up.

use crate::run::{Run, rank, word};
use crate::search::{Longer, bracket, finger, gallop, partition_by};
use crate::sink::Sink;
use std::sync::atomic::AtomicU32;

/// Words of the long run compared at once at the end of a gallop.
pub(crate) const GALLOP_BLOCK: usize = 32;

/// A block of the long run.
pub(crate) type GallopBlock = [AtomicU32; GALLOP_BLOCK];

/// Merges whole blocks of `N` words until one side has none left or the sink is full.
///
/// `pairs` returns the lanes of its first block that occur in its second, and writes those words to
/// its slice as far as they fit. Returns what was consumed; unless the sink is full or a run exhausted,
/// both positions are multiples of `N`.
#[inline(always)]
pub(crate) fn merge_blocks<const N: usize, S: Sink>(
    a: Run,
    b: Run,
    sink: &mut S,
    pairs: impl Fn(&[AtomicU32; N], &[AtomicU32; N], &mut [u32]) -> u32,
) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a[i..].first_chunk::<N>(), b[j..].first_chunk::<N>()) {
        let hits = pairs(x, y, sink.tail());
        if hits != 0 {
            let taken = sink.take(hits.count_ones() as usize);
            if sink.is_full() {
                let (of_x, of_y) = through_last(x, y, hits, taken);
                return (i + of_x, j + of_y);
            }
        }
        let (last_x, last_y) = (rank(&x[N - 1]), rank(&y[N - 1]));
        i = if last_x <= last_y { i + N } else { i };
        j = if last_y <= last_x { j + N } else { j };
    }
    (i, j)
}

/// Merges blocks of up to 16 words, the last of each run being what is left of it, until one run is exhausted or
/// the sink is full. `pairs` as in [`merge_blocks`].
///
/// Which block is left behind is decided by two words in the general registers: waiting for a vector comparison to
/// say how many words to step over costs three times as much as the comparison itself.
#[inline(always)]
pub(crate) fn merge_rest<S: Sink>(
    a: Run,
    b: Run,
    sink: &mut S,
    pairs: impl Fn(Run, Run, &mut [u32]) -> u32,
) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (block_at(a, i), block_at(b, j));
        let hits = pairs(x, y, sink.tail());
        if hits != 0 {
            let taken = sink.take(hits.count_ones() as usize);
            if sink.is_full() {
                let (of_x, of_y) = through_last(x, y, hits, taken);
                return (i + of_x, j + of_y);
            }
        }
        let (last_x, last_y) = (rank(&x[x.len() - 1]), rank(&y[y.len() - 1]));
        i = if last_x <= last_y { i + x.len() } else { i };
        j = if last_y <= last_x { j + y.len() } else { j };
    }
    (i, j)
}

/// Up to 16 words from `from` on.
#[inline(always)]
fn block_at(run: Run<'_>, from: usize) -> Run<'_> {
    let rest = &run[from..];
    &rest[..rest.len().min(16)]
}

/// What is consumed of two blocks when only the first `taken` of `hits` fit: through that match.
#[cold]
fn through_last(x: Run, y: Run, hits: u32, taken: usize) -> (usize, usize) {
    let Some(lane) = (0..x.len()).filter(|lane| hits >> lane & 1 == 1).take(taken).last() else {
        return (0, 0);
    };
    let sought = rank(&x[lane]);
    let of_y = y.iter().position(|other| rank(other) == sought).map_or(0, |at| at + 1);
    (lane + 1, of_y)
}

/// Gallops over blocks of the long run for each word of the short one.
///
/// `equal` returns the lanes of a block that have a rank. Returns what was consumed of both.
#[inline(always)]
pub(crate) fn gallop_blocks<S: Sink>(
    short: Run,
    long: Run,
    longer: Longer,
    sink: &mut S,
    equal: impl Fn(&GallopBlock, u32) -> u32,
) -> (usize, usize) {
    let blocks = long.as_chunks::<GALLOP_BLOCK>().0;
    let (mut i, mut at) = (0, 0);
    while i < short.len() {
        let sought = rank(&short[i]);
        at = block_with(blocks, at, sought);
        let Some(block) = blocks.get(at) else { break };
        let hits = equal(block, sought);
        let lane = hits.trailing_zeros() as usize % GALLOP_BLOCK;
        sink.offer(word(if longer == Longer::Left { &block[lane] } else { &short[i] }), hits != 0);
        i += 1;
        if sink.is_full() {
            return (i, at * GALLOP_BLOCK + lane + 1);
        }
    }
    let (of_short, of_long) = after_blocks(short, i, &long[at * GALLOP_BLOCK..], longer, sink);
    (of_short, at * GALLOP_BLOCK + of_long)
}

/// Finishes a gallop from word `i` of the short run, in what follows the last block looked at.
fn after_blocks<S: Sink>(
    short: Run,
    i: usize,
    long: Run,
    longer: Longer,
    sink: &mut S,
) -> (usize, usize) {
    let rest = &short[i..];
    if rest.is_empty() {
        return (i, 0);
    }
    let (of_rest, of_long) = match longer {
        Longer::Right => finger(rest, long, sink),
        Longer::Left => {
            let (of_long, of_rest) = finger(long, rest, sink);
            (of_rest, of_long)
        }
    };
    (i + of_rest, of_long)
}

/// Index of the first block from `from` on whose last word has at least the rank.
#[inline(always)]
fn block_with(blocks: &[GallopBlock], from: usize, sought: u32) -> usize {
    let before = |at: usize| rank(&blocks[at][GALLOP_BLOCK - 1]) < sought;
    let (low, high) = bracket(blocks.len(), from, before);
    partition_by(low, high, before)
}

/// Smallest index with at least the rank; `at_least` returns the lanes of a block that have it.
#[inline(always)]
pub(crate) fn seek_blocks(
    run: Run,
    sought: u32,
    at_least: impl Fn(&GallopBlock, u32) -> u32,
) -> usize {
    let blocks = run.as_chunks::<GALLOP_BLOCK>().0;
    let at = block_with(blocks, 0, sought);
    match blocks.get(at) {
        Some(block) => at * GALLOP_BLOCK + at_least(block, sought).trailing_zeros() as usize,
        None => gallop(run, at * GALLOP_BLOCK, sought),
    }
}
