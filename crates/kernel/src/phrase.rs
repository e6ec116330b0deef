//! Phrases in document vectors: where the units of some tokens follow each other.
//!
//! The second unit of a token may look like a token on its own, so a match counts only if a token begins where it does.
//!
//! Units are given from a token's beginning on; what they mean is of no concern here. Not here: where several tokens are that need not
//! follow each other, see `tokens.rs`.

use crate::level::Level;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::AtomicU16;

use crate::units::{BLOCK, Seconds, WIDE, both_portable, equal_portable, wide_portable};
#[cfg(target_arch = "x86_64")]
use crate::units::{both_avx2, both_avx512, equal_avx2, equal_avx512, wide_avx2, wide_avx512};

/// How often the phrase occurs: at how many tokens the units of `pattern` begin. They are those of whole tokens.
///
/// Occurrences may overlap. An empty pattern occurs nowhere.
pub fn phrase_count(level: Level, units: &[AtomicU16], pattern: &[u16]) -> usize {
    let mut count = 0;
    occurrences(level, units, pattern, usize::MAX, |block| {
        count += block.hits.count_ones() as usize;
        Continue(())
    });
    count
}

/// Calls `visit(token, unit)` for each occurrence of the phrase, for as long as that goes on: how many tokens are before it, and where
/// its first unit is.
pub fn each_occurrence(
    level: Level,
    units: &[AtomicU16],
    pattern: &[u16],
    mut visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) {
    occurrences(level, units, pattern, usize::MAX, |block| block.each(&mut visit));
}

/// The same of the first `tokens` tokens alone, where there may be units behind them.
pub fn each_occurrence_among(
    level: Level,
    units: &[AtomicU16],
    tokens: usize,
    pattern: &[u16],
    mut visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) {
    let last = tokens.checked_sub(tokens_of(pattern));
    occurrences(level, units, pattern, tokens, |block| {
        block.each(|token, unit| match last {
            Some(last) if token <= last => visit(token, unit),
            _ => Break(()),
        })
    });
}

/// How many tokens some units are.
fn tokens_of(units: &[u16]) -> usize {
    let (mut tokens, mut left) = (0, units);
    while let [first, rest @ ..] = left {
        left = if first & WIDE == 0 { rest } else { rest.get(1..).unwrap_or(&[]) };
        tokens += 1;
    }
    tokens
}

/// How many units the first `tokens` tokens take: all there are if these have fewer tokens, or break off in the last.
pub fn token_units(level: Level, units: &[AtomicU16], tokens: usize) -> usize {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { token_units_avx512(units, tokens) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { token_units_avx2(units, tokens) },
        _ => units_of(units, tokens, wide_portable),
    }
}

/// 64 units with an occurrence.
struct Found {
    /// The first of them, and how many tokens begin before it.
    at: usize,
    tokens: usize,
    /// The units with which tokens begin, a bit each,
    begins: u64,
    /// and those with which an occurrence does.
    hits: u64,
}

impl Found {
    /// Calls `visit(token, unit)` for each occurrence.
    #[inline(always)]
    fn each(&self, mut visit: impl FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut hits = self.hits;
        while hits != 0 {
            let bit = hits.trailing_zeros();
            let before = self.begins & !(u64::MAX << bit);
            visit(self.tokens + before.count_ones() as usize, self.at + bit as usize)?;
            hits &= hits - 1;
        }
        Continue(())
    }
}

/// Calls `visit` for the blocks with an occurrence, up to the one in which token number `tokens` ends.
#[inline(always)]
fn occurrences(
    level: Level,
    units: &[AtomicU16],
    pattern: &[u16],
    tokens: usize,
    visit: impl FnMut(Found) -> ControlFlow<()>,
) {
    let Some((first, rest)) = pattern.split_first() else { return };
    let pattern = (*first, rest, tokens);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { scan_avx512(units, pattern, visit) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { scan_avx2(units, pattern, visit) },
        _ => scan(units, pattern, both_portable, equal_portable, visit),
    }
}

/// A pattern's first unit and the others, and how many tokens are looked at.
type Pattern<'p> = (u16, &'p [u16], usize);

/// Of the first 64 units of a slice `equal` returns the bits of those that are like another, and `both` of those with the top bit
/// and of these; what is behind its end has none.
#[inline(always)]
fn scan(
    units: &[AtomicU16],
    (first, rest, end): Pattern<'_>,
    both: impl Fn(&[AtomicU16], u16) -> (u64, u64),
    equal: impl Fn(&[AtomicU16], u16) -> u64,
    mut visit: impl FnMut(Found) -> ControlFlow<()>,
) {
    let (mut seconds, mut tokens) = (Seconds::default(), 0);
    for at in (0..units.len()).step_by(BLOCK) {
        let (wide, like_first) = both(&units[at..], first);
        let begins = !seconds.among(wide);
        let mut hits = begins & like_first;
        for (unit, from) in rest.iter().zip(at + 1..) {
            if hits == 0 {
                break;
            }
            hits &= equal(units.get(from..).unwrap_or(&[]), *unit);
        }
        if hits != 0 && visit(Found { at, tokens, begins, hits }).is_break() {
            return;
        }
        tokens += begins.count_ones() as usize;
        if tokens >= end {
            return;
        }
    }
}

#[inline(always)]
fn units_of(units: &[AtomicU16], tokens: usize, wide: impl Fn(&[AtomicU16]) -> u64) -> usize {
    let (mut seconds, mut left) = (Seconds::default(), tokens);
    for at in (0..units.len()).step_by(BLOCK) {
        let mut begins = !seconds.among(wide(&units[at..]));
        let here = begins.count_ones() as usize;
        if left < here {
            // The token behind the last one wanted begins in this block, if at all.
            (0..left).for_each(|_| begins &= begins - 1);
            return (at + begins.trailing_zeros() as usize).min(units.len());
        }
        left -= here;
    }
    units.len()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx512(
    units: &[AtomicU16],
    pattern: Pattern<'_>,
    visit: impl FnMut(Found) -> ControlFlow<()>,
) {
    scan(units, pattern, |u, own| both_avx512(u, own), |u, own| equal_avx512(u, own), visit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn token_units_avx512(units: &[AtomicU16], tokens: usize) -> usize {
    units_of(units, tokens, |units| wide_avx512(units))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx2(
    units: &[AtomicU16],
    pattern: Pattern<'_>,
    visit: impl FnMut(Found) -> ControlFlow<()>,
) {
    scan(units, pattern, |u, own| both_avx2(u, own), |u, own| equal_avx2(u, own), visit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn token_units_avx2(units: &[AtomicU16], tokens: usize) -> usize {
    units_of(units, tokens, |units| wide_avx2(units))
}
