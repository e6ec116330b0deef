//! Which values of a column lie in a range, as the bits of a window.
//!
//! A column is a shared array of little-endian numbers of one [`Width`], newest first, so that rank and index differ by a
//! constant. It is read in words of 8 bytes, and values are compared 64 at a time; a window that begins
//! between two such groups takes parts of both masks, so no load is ever unaligned to the words.
//!
//! One unsigned comparison is a range check: `value - low`, modulo the width, is at most `high - low`.
//! Not here: columns of floating-point or signed numbers; anyone who stores them makes their order that of unsigned ones.

use crate::level::Level;
use crate::window::shifted;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::avx2::signs_of_16;
#[cfg(target_arch = "x86_64")]
use crate::load::{load_4_wide, load_8_wide};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Values that are compared together.
const GROUP: usize = 64;

/// How many bytes a value has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// One byte.
    One = 1,
    /// Two bytes.
    Two = 2,
    /// Four bytes.
    Four = 4,
    /// Eight bytes.
    Eight = 8,
}

/// Values of one width from `low` to `low + span`.
#[derive(Clone, Copy)]
struct Bounds {
    low: u64,
    span: u64,
}

/// Bit `i` becomes whether the value of index `from + i` is there and lies `within` the bounds.
pub fn range_bits(
    level: Level,
    values: &[AtomicU64],
    width: Width,
    from: usize,
    within: RangeInclusive<u64>,
    bits: &mut [u64],
) {
    let (low, high) = (*within.start(), *within.end());
    // A range that was iterated to its end is empty too.
    let span = high.min(highest(width as usize)).checked_sub(low).filter(|_| !within.is_empty());
    let Some(span) = span else { return bits.fill(0) };
    let bounds = Bounds { low, span };
    match width {
        Width::One => by_level::<1>(level, values, from, bounds, bits),
        Width::Two => by_level::<2>(level, values, from, bounds, bits),
        Width::Four => by_level::<4>(level, values, from, bounds, bits),
        Width::Eight => by_level::<8>(level, values, from, bounds, bits),
    }
}

/// The highest value of this many bytes.
const fn highest(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

fn by_level<const BYTES: usize>(
    level: Level,
    values: &[AtomicU64],
    from: usize,
    bounds: Bounds,
    bits: &mut [u64],
) {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { scan_avx512::<BYTES>(values, from, bounds, bits) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { scan_avx2::<BYTES>(values, from, bounds, bits) },
        _ => scan::<BYTES>(values, from, bits, |group| inside_each::<BYTES>(group, bounds)),
    }
}

/// `inside` returns the bits of the values in a group's words, of which the last group may have fewer.
#[inline(always)]
fn scan<const BYTES: usize>(
    values: &[AtomicU64],
    from: usize,
    bits: &mut [u64],
    inside: impl Fn(&[AtomicU64]) -> u64,
) {
    let words = GROUP / 8 * BYTES;
    let values = values.get((from / GROUP).saturating_mul(words)..).unwrap_or(&[]);
    let mut groups = values.chunks(words).map(inside);
    let mut next = || groups.next().unwrap_or(0);
    let mut low = next();
    for slot in bits {
        let high = next();
        *slot = shifted(low, high, (from % GROUP) as u32);
        low = high;
    }
}

/// The bits of the values in up to as many words as a group has.
#[inline(always)]
fn inside_each<const BYTES: usize>(words: &[AtomicU64], bounds: Bounds) -> u64 {
    let per_word = 8 / BYTES;
    let mut mask = 0;
    for (i, word) in words.iter().enumerate() {
        let word = word.load(Relaxed);
        for lane in 0..per_word {
            // What is below the bounds wraps to above every span.
            let value = word >> (8 * BYTES * lane) & highest(BYTES);
            let inside = value.wrapping_sub(bounds.low) <= bounds.span;
            mask |= u64::from(inside) << (i * per_word + lane);
        }
    }
    mask
}

/// Blocks of `N` words by `inside`, which returns the bits of their values, and the words behind them one by one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn inside_blocks<const BYTES: usize, const N: usize>(
    words: &[AtomicU64],
    bounds: Bounds,
    inside: impl Fn(&[AtomicU64; N]) -> u64,
) -> u64 {
    let (blocks, rest) = words.as_chunks::<N>();
    let mut mask = 0;
    for (i, block) in blocks.iter().enumerate() {
        mask |= inside(block) << (i * N * 8 / BYTES);
    }
    if rest.is_empty() {
        return mask;
    }
    mask | inside_each::<BYTES>(rest, bounds) << (blocks.len() * N * 8 / BYTES)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx512<const BYTES: usize>(
    values: &[AtomicU64],
    from: usize,
    bounds: Bounds,
    bits: &mut [u64],
) {
    let all = |value: u64| match BYTES {
        1 => _mm512_set1_epi8(value as i8),
        2 => _mm512_set1_epi16(value as i16),
        4 => _mm512_set1_epi32(value as i32),
        _ => _mm512_set1_epi64(value as i64),
    };
    let (low, span) = (all(bounds.low), all(bounds.span));
    let inside = |block: &[AtomicU64; 8]| {
        let values = load_8_wide(block);
        match BYTES {
            1 => _mm512_cmple_epu8_mask(_mm512_sub_epi8(values, low), span),
            2 => u64::from(_mm512_cmple_epu16_mask(_mm512_sub_epi16(values, low), span)),
            4 => u64::from(_mm512_cmple_epu32_mask(_mm512_sub_epi32(values, low), span)),
            _ => u64::from(_mm512_cmple_epu64_mask(_mm512_sub_epi64(values, low), span)),
        }
    };
    scan::<BYTES>(values, from, bits, |group| inside_blocks::<BYTES, 8>(group, bounds, inside));
}

/// AVX2 compares signed numbers only: a number is at most another if it is the lesser of both, and where there is no
/// minimum, both are moved down by half the range.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx2<const BYTES: usize>(
    values: &[AtomicU64],
    from: usize,
    bounds: Bounds,
    bits: &mut [u64],
) {
    let all = |value: u64| match BYTES {
        1 => _mm256_set1_epi8(value as i8),
        2 => _mm256_set1_epi16(value as i16),
        4 => _mm256_set1_epi32(value as i32),
        _ => _mm256_set1_epi64x(value as i64),
    };
    let (low, span) = (all(bounds.low), all(bounds.span));
    let half = _mm256_set1_epi64x(i64::MIN);
    let inside = |block: &[AtomicU64; 4]| {
        let values = load_4_wide(block);
        match BYTES {
            1 => {
                let offset = _mm256_sub_epi8(values, low);
                let lesser = _mm256_cmpeq_epi8(_mm256_min_epu8(offset, span), offset);
                u64::from(_mm256_movemask_epi8(lesser) as u32)
            }
            2 => {
                let offset = _mm256_sub_epi16(values, low);
                let lesser = _mm256_cmpeq_epi16(_mm256_min_epu16(offset, span), offset);
                u64::from(signs_of_16(lesser))
            }
            4 => {
                let offset = _mm256_sub_epi32(values, low);
                let lesser = _mm256_cmpeq_epi32(_mm256_min_epu32(offset, span), offset);
                u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(lesser)) as u8)
            }
            _ => {
                let offset = _mm256_xor_si256(_mm256_sub_epi64(values, low), half);
                let greater = _mm256_cmpgt_epi64(offset, _mm256_xor_si256(span, half));
                !_mm256_movemask_pd(_mm256_castsi256_pd(greater)) as u64 & 0xF
            }
        }
    };
    scan::<BYTES>(values, from, bits, |group| inside_blocks::<BYTES, 4>(group, bounds, inside));
}
