//! The units of document vectors, 64 at a time: which are like another, and with which tokens begin.
//!
//! A token is one unit below 0x8000 (*narrow*) or two (*wide*): a *head* with the top bit set, and a *second*, which may
//! have any value. So a second may look like a narrow token or like a head.
//!
//! # Where tokens begin
//!
//! A unit with a clear top bit is no head, so behind it a token begins. From there on units with the top bit set are by
//! turns head and second. Of a maximal run of such units the first, third, ... are therefore heads, and
//! what is behind a head is a second: whether a token begins at a unit is a matter of parity, which a few
//! additions find for 64 units at once ([`Seconds`]).

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::avx2::signs_of_16;
#[cfg(target_arch = "x86_64")]
use crate::load::{load_16_units, load_32_units, load_up_to_32_units};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Units that share a mask.
pub(crate) const BLOCK: usize = 64;

/// The top bit of a head.
pub(crate) const WIDE: u16 = 0x8000;

/// Which units are seconds, from one block to the next.
#[derive(Default)]
pub(crate) struct Seconds {
    /// 1 if the next block begins with one.
    carry: u64,
}

impl Seconds {
    /// The seconds of the next block, of which the units `wide` have the top bit.
    #[inline(always)]
    pub(crate) fn among(&mut self, wide: u64) -> u64 {
        const EVEN: u64 = u64::MAX / 3;
        // A unit that is known to be a second is no head; the run goes on behind it as if it began there.
        let wide = wide & !self.carry;
        let run_starts = wide & !(wide << 1);
        // Runs that begin at an even unit are carried away by an addition, and only they.
        let odd_runs = wide & wide.wrapping_add(run_starts & EVEN);
        let heads = (wide & !odd_runs & EVEN) | (odd_runs & !EVEN);
        let seconds = heads << 1 | self.carry;
        self.carry = heads >> (BLOCK - 1);
        seconds
    }
}

#[inline(always)]
fn mask_portable(units: &[AtomicU16], is_set: impl Fn(u16) -> bool) -> u64 {
    let bit = |(i, unit): (usize, &AtomicU16)| u64::from(is_set(unit.load(Relaxed))) << i;
    units.iter().take(BLOCK).enumerate().map(bit).sum()
}

pub(crate) fn wide_portable(units: &[AtomicU16]) -> u64 {
    mask_portable(units, |unit| unit & WIDE != 0)
}

pub(crate) fn equal_portable(units: &[AtomicU16], wanted: u16) -> u64 {
    mask_portable(units, |unit| unit == wanted)
}

/// Of the first 64 units of a slice the bits of those with the top bit, and of those that are like another.
pub(crate) fn both_portable(units: &[AtomicU16], wanted: u16) -> (u64, u64) {
    (wide_portable(units), equal_portable(units, wanted))
}

/// The bits of two vectors by `lanes`, given what each has loaded and which of its lanes are there.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn mask_avx512(units: &[AtomicU16], lanes: impl Fn(__mmask32, __m512i) -> __mmask32) -> u64 {
    let (low, high) = units.split_at(units.len().min(BLOCK / 2));
    let (in_low, low) = load_up_to_32_units(low);
    let mask = u64::from(lanes(in_low, low));
    if high.is_empty() {
        return mask;
    }
    let (in_high, high) = load_up_to_32_units(high);
    mask | u64::from(lanes(in_high, high)) << (BLOCK / 2)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn wide_avx512(units: &[AtomicU16]) -> u64 {
    mask_avx512(units, |_, units| _mm512_movepi16_mask(units))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn equal_avx512(units: &[AtomicU16], wanted: u16) -> u64 {
    let wanted = _mm512_set1_epi16(wanted as i16);
    mask_avx512(units, |inside, units| _mm512_mask_cmpeq_epi16_mask(inside, units, wanted))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn both_avx512(units: &[AtomicU16], wanted: u16) -> (u64, u64) {
    // Whole blocks need no masks of what is there, and are loaded once.
    let Some(block) = units.first_chunk::<BLOCK>() else {
        return (wide_avx512(units), equal_avx512(units, wanted));
    };
    let wanted = _mm512_set1_epi16(wanted as i16);
    let (mut wide, mut equal) = (0, 0);
    for (number, half) in block.as_chunks::<32>().0.iter().enumerate() {
        let own = load_32_units(half);
        wide |= u64::from(_mm512_movepi16_mask(own)) << (32 * number);
        equal |= u64::from(_mm512_cmpeq_epi16_mask(own, wanted)) << (32 * number);
    }
    (wide, equal)
}

/// The signs of whole vectors by `lanes`, and the bits of the units behind them by `rest`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn mask_avx2(
    units: &[AtomicU16],
    lanes: impl Fn(__m256i) -> __m256i,
    rest: impl Fn(&[AtomicU16]) -> u64,
) -> u64 {
    let (blocks, behind) = units[..units.len().min(BLOCK)].as_chunks::<16>();
    let mut mask = 0;
    for (i, block) in blocks.iter().enumerate() {
        mask |= u64::from(signs_of_16(lanes(load_16_units(block)))) << (16 * i);
    }
    if behind.is_empty() {
        return mask;
    }
    mask | rest(behind) << (16 * blocks.len())
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn wide_avx2(units: &[AtomicU16]) -> u64 {
    mask_avx2(units, |units| units, wide_portable)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn equal_avx2(units: &[AtomicU16], wanted: u16) -> u64 {
    let all = _mm256_set1_epi16(wanted as i16);
    let equal = |units| _mm256_cmpeq_epi16(units, all);
    mask_avx2(units, equal, |units| equal_portable(units, wanted))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn both_avx2(units: &[AtomicU16], wanted: u16) -> (u64, u64) {
    (wide_avx2(units), equal_avx2(units, wanted))
}
