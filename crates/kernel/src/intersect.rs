//! Intersection of two runs and the search in one: the public entry points and the choice of kernel.
//!
//! All algorithms and levels find the same words; they differ in speed, and in how much of the longer run they
//! leave to be looked at again.
//! [`Algorithm::Simd`] is what an engine wants. The other three exist so that it can be compared with
//! the algorithms of the literature on the same data.
//!
//! Not here: more than two runs, bitmaps (`bitmap.rs`), or a list against a bitmap (`probe.rs`).

use std::fmt;

use crate::level::Level;
use crate::run::{Progress, Run, rank};
use crate::search::lopsided;
use crate::sink::{Sink, Tally, Words};
use crate::{merge, search};

#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

/// How to intersect two runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// A linear merge that visits every word and branches on each comparison.
    Naive,
    /// Each word of the shorter run is binary searched in all that remains of the longer one.
    Binary,
    /// Each word of the shorter run is galloped to from where the last one ended.
    Finger,
    /// Blocks compared with vectors: all pairs for similar lengths, a gallop over blocks otherwise.
    /// At the portable level a merge without branches, or a gallop.
    Simd,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Naive => "naive",
            Algorithm::Binary => "binary",
            Algorithm::Finger => "finger",
            Algorithm::Simd => "simd",
        })
    }
}

/// Length ratio from which the portable level gallops: its merge costs less per word than a search.
const PORTABLE_GALLOP_RATIO: usize = 8;

/// Intersects from the front: writes the left run's words whose rank also occurs in the right run.
///
/// `out` receives `found` words ascending by rank; what it holds behind them is unspecified. Stops
/// when `out` is full or a run is exhausted; to go on, call again with `&a[left..]`, `&b[right..]`.
/// The cost is bounded by how far it had to look, not by the runs' lengths. `level` matters for
/// [`Algorithm::Simd`] only.
pub fn intersect_into(
    level: Level,
    algorithm: Algorithm,
    a: Run,
    b: Run,
    out: &mut [u32],
) -> Progress {
    intersect(level, algorithm, a, b, &mut Words::new(out))
}

/// The same without output and without limit.
pub fn intersect_count(level: Level, algorithm: Algorithm, a: Run, b: Run) -> Progress {
    intersect(level, algorithm, a, b, &mut Tally::default())
}

/// Returns the smallest index `i >= from` whose rank is at least `rank`, or `run.len()`.
///
/// Gallops: the cost is logarithmic in the distance. `from` and `rank` may be out of range.
pub fn seek(level: Level, run: Run, from: usize, rank: u32) -> usize {
    let from = from.min(run.len());
    let run = &run[from..];
    match run.first() {
        Some(first) if self::rank(first) < rank => from + seek_ahead(level, run, rank),
        _ => from,
    }
}

fn intersect<S: Sink>(
    level: Level,
    algorithm: Algorithm,
    a: Run,
    b: Run,
    sink: &mut S,
) -> Progress {
    if a.is_empty() || b.is_empty() || sink.is_full() {
        return Progress::default();
    }
    let (left, right) = match algorithm {
        Algorithm::Naive => merge::naive(a, b, sink),
        Algorithm::Binary => search::binary(a, b, sink),
        Algorithm::Finger => search::finger(a, b, sink),
        Algorithm::Simd => simd(level, a, b, sink),
    };
    Progress { left, right, found: sink.found() }
}

fn simd<S: Sink>(level: Level, a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { avx512::intersect(a, b, sink) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { avx2::intersect(a, b, sink) },
        _ if lopsided(a, b, PORTABLE_GALLOP_RATIO) => search::finger(a, b, sink),
        _ => merge::branch_light(a, b, sink),
    }
}

fn seek_ahead(level: Level, run: Run, rank: u32) -> usize {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { avx512::seek(run, rank) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { avx2::seek(run, rank) },
        _ => search::gallop(run, 0, rank),
    }
}
