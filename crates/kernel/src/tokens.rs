//! Where some tokens are in a document vector, all of them found in one reading.
//!
//! Units are given from a token's beginning on, as for `phrase.rs`.

use crate::level::Level;
use crate::units::{BLOCK, Seconds, WIDE, equal_portable, wide_portable};
#[cfg(target_arch = "x86_64")]
use crate::units::{equal_avx2, equal_avx512, wide_avx2, wide_avx512};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// A token: its units, and how many they are.
pub type Token = ([u16; 2], usize);

/// Calls `visit(token, which)` for each of the first `tokens` tokens that is one of `wanted`, for as long as that goes on: how many are
/// before it, and the first of `wanted` that it is.
///
/// Says whether there was no *overlong* one among those that were read: a token of two units whose value would have fit in one, or of which the second
/// is missing. At the first there is it stops.
pub fn each_of_tokens(
    level: Level,
    units: &[AtomicU16],
    tokens: usize,
    wanted: &[Token],
    visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> bool {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { read_avx512(units, tokens, wanted, visit) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { read_avx2(units, tokens, wanted, visit) },
        _ => read(units, tokens, wanted, wide_portable, equal_portable, visit),
    }
}

/// `wide` and `equal` return bits of the first 64 units of a slice; what is behind its end has none.
#[inline(always)]
fn read(
    units: &[AtomicU16],
    tokens: usize,
    wanted: &[Token],
    wide: impl Fn(&[AtomicU16]) -> u64,
    equal: impl Fn(&[AtomicU16], u16) -> u64,
    mut visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> bool {
    let (mut seconds, mut before) = (Seconds::default(), 0);
    for at in (0..units.len()).step_by(BLOCK) {
        let (block, wide) = (&units[at..], wide(&units[at..]));
        let begins = !seconds.among(wide);
        // Heads without bits of their own; a second with its top bit says that they have to be.
        let overlong = equal(block, WIDE) & !(wide >> 1);
        let all = wanted.iter().fold(overlong, |all, (own, _)| all | equal(block, own[0]));
        let mut hits = all & begins;
        while hits != 0 {
            let bit = hits.trailing_zeros();
            let token = before + (begins & !(u64::MAX << bit)).count_ones() as usize;
            if token >= tokens {
                return true;
            }
            let unit = |at: usize| block.get(at).map(|unit| unit.load(Relaxed));
            let (first, second) = (unit(bit as usize), unit(bit as usize + 1));
            if first == Some(WIDE) && second.is_none_or(|second| second < WIDE) {
                return false;
            }
            let is_it = |(own, count): &Token| {
                first == Some(own[0]) && (*count == 1 || second == Some(own[1]))
            };
            if let Some(which) = wanted.iter().position(is_it)
                && visit(token, which).is_break()
            {
                return true;
            }
            hits &= hits - 1;
        }
        before += begins.count_ones() as usize;
        if before >= tokens {
            return true;
        }
    }
    true
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn read_avx512(
    units: &[AtomicU16],
    tokens: usize,
    wanted: &[Token],
    visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> bool {
    read(units, tokens, wanted, |u| wide_avx512(u), |u, own| equal_avx512(u, own), visit)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn read_avx2(
    units: &[AtomicU16],
    tokens: usize,
    wanted: &[Token],
    visit: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> bool {
    read(units, tokens, wanted, |u| wide_avx2(u), |u, own| equal_avx2(u, own), visit)
}
