//! Intersection of runs of different length by searching the longer one, and the searches.
//!
//! [`binary`] and [`finger`] are the papers' algorithms: a binary search over all that remains, and a
//! gallop (doubling steps, then a binary search between the last two) from the last position.
//! `finger` also serves the portable level and the ragged ends of the block kernels.
//!
//! Not here: the gallop over blocks with a vector compare at its end, see `block.rs`.

use crate::run::{Run, rank, word};
use crate::sink::Sink;

/// Whether the longer run has more than about `ratio` times the words of the shorter one, so that
/// searching beats merging.
#[inline(always)]
pub(crate) fn lopsided(a: Run, b: Run, ratio: usize) -> bool {
    a.len().max(b.len()) / ratio > a.len().min(b.len())
}

/// The longer of two runs in terms of `left` and `right`: whose words are the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Longer {
    Left,
    Right,
}

/// Calls `f(short, long, which one is longer)` and puts what it consumed back in order.
#[inline(always)]
pub(crate) fn short_first(
    a: Run,
    b: Run,
    f: impl FnOnce(Run, Run, Longer) -> (usize, usize),
) -> (usize, usize) {
    let swap = b.len() < a.len();
    let (short, long, longer) = if swap { (b, a, Longer::Left) } else { (a, b, Longer::Right) };
    let (of_short, of_long) = f(short, long, longer);
    if swap { (of_long, of_short) } else { (of_short, of_long) }
}

/// Each word of the shorter run is looked up in all that remains of the longer one.
pub(crate) fn binary<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    short_first(a, b, |short, long, longer| {
        each_of_short(short, long, longer, sink, |long, from, rank| {
            partition(long, from, long.len(), rank)
        })
    })
}

/// Each word of the shorter run is galloped to in the longer one from where the last one ended.
#[inline]
pub(crate) fn finger<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    short_first(a, b, |short, long, longer| each_of_short(short, long, longer, sink, gallop))
}

/// Walks the short run; `find(long, from, rank)` is the smallest index from `from` on with at least
/// that rank. Returns what was consumed of the short and the long run.
#[inline(always)]
fn each_of_short<S: Sink>(
    short: Run,
    long: Run,
    longer: Longer,
    sink: &mut S,
    find: impl Fn(Run, usize, u32) -> usize,
) -> (usize, usize) {
    let mut at = 0;
    for (i, own) in short.iter().enumerate() {
        if sink.is_full() {
            return (i, at);
        }
        let sought = rank(own);
        at = find(long, at, sought);
        let Some(other) = long.get(at) else { return (i, at) };
        let hit = rank(other) == sought;
        sink.offer(word(if longer == Longer::Left { other } else { own }), hit);
        at += usize::from(hit);
    }
    (short.len(), at)
}

/// Smallest index from `from` on with at least `sought`, at most `run.len()`. `from` may be anything.
#[inline]
pub(crate) fn gallop(run: Run, from: usize, sought: u32) -> usize {
    let (low, high) = bracket(run.len(), from, |i| rank(&run[i]) < sought);
    partition(run, low, high, sought)
}

/// Doubling steps from `from`: everything below `low` is `before`, and `high` is not or is the end.
///
/// Terminates for every predicate: each step moves `low` up, and `before` is asked below `len` only.
#[inline(always)]
pub(crate) fn bracket(len: usize, from: usize, before: impl Fn(usize) -> bool) -> (usize, usize) {
    let (mut low, mut step) = (from.min(len), 1);
    while step <= len - low && before(low + step - 1) {
        low += step;
        step *= 2;
    }
    (low, (low + step - 1).min(len))
}

/// Smallest index in `low..=high` that is not `before`, if all that are come first.
#[inline(always)]
pub(crate) fn partition_by(
    mut low: usize,
    mut high: usize,
    before: impl Fn(usize) -> bool,
) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Smallest index in `low..=high` with at least `sought`; `high` is at most the run's length.
#[inline]
fn partition(run: Run, low: usize, high: usize, sought: u32) -> usize {
    partition_by(low, high, |i| rank(&run[i]) < sought)
}
