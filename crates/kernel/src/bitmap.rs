//! Intersection of two bitmaps: how many bits are common, and which.
//!
//! Dense lists are kept as bitmaps because two of them intersect at the speed of memory. Bit `i` of
//! word `i / 64` stands for rank `base + i`; a shorter bitmap ends where it ends, as if followed
//! by zeros.
//!
//! Not here: a run against a bitmap and building one, see `probe.rs`.

use crate::level::Level;
use crate::popcount;
use crate::run::FREQUENCY_BITS;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_4_wide, load_8_wide};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Words in a row without a common bit before vectors look for the next one: setting them up costs
/// more than a few words do.
const QUIET_WORDS: u32 = 4;

/// Number of common bits, over the length of the shorter bitmap.
pub fn and_count(level: Level, a: &[AtomicU64], b: &[AtomicU64]) -> u64 {
    let (a, b) = same_length(a, b);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if is_x86_feature_detected!("avx512vpopcntdq") => {
            // SAFETY: `usable` returns Avx512 only on a machine that has all its features, and the
            // guard asked for the one on top.
            unsafe { popcount::avx512(a, b) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => {
            // SAFETY: `usable` returns these two only on a machine that has the features of Avx2.
            unsafe { popcount::avx2(a, b) }
        }
        _ => popcount::portable(a, b),
    }
}

/// Writes the ranks (`base` + bit index) of common bits from bit `from` on, ascending, as posting
/// words with frequency 0. Returns how many, and the first bit not looked at.
///
/// That bit is the number of bits of the shorter bitmap when there is nothing left, and otherwise,
/// with `out` full, the one behind the last bit written. A rank is taken modulo 2^24, so a caller
/// keeps `base` + bits within that.
pub fn and_into(
    level: Level,
    a: &[AtomicU64],
    b: &[AtomicU64],
    base: u32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    let (a, b) = same_length(a, b);
    if from >= a.len() * 64 || out.is_empty() {
        return (0, from.min(a.len() * 64));
    }
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { scan_avx512(a, b, base, from, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { scan_avx2(a, b, base, from, out) },
        _ => scan(a, b, base, from, out, |_, _, at| at),
    }
}

fn same_length<'a>(a: &'a [AtomicU64], b: &'a [AtomicU64]) -> (&'a [AtomicU64], &'a [AtomicU64]) {
    let len = a.len().min(b.len());
    (&a[..len], &b[..len])
}

/// Writes common bits from bit `from`, which is below the end. `skip(a, b, at)` may return any index
/// from `at` on before which no word has a common bit.
#[inline(always)]
fn scan(
    a: &[AtomicU64],
    b: &[AtomicU64],
    base: u32,
    from: usize,
    out: &mut [u32],
    skip: impl Fn(&[AtomicU64], &[AtomicU64], usize) -> usize,
) -> (usize, usize) {
    let (mut found, mut quiet) = (0, 0);
    let mut at = from / 64;
    let mut wanted = u64::MAX << (from % 64);
    while at < a.len() && at < b.len() {
        let mut bits = a[at].load(Relaxed) & b[at].load(Relaxed) & wanted;
        wanted = u64::MAX;
        if bits == 0 {
            quiet += 1;
            at = if quiet < QUIET_WORDS { at + 1 } else { skip(a, b, at + 1) };
            continue;
        }
        quiet = 0;
        while bits != 0 {
            let bit = at * 64 + bits.trailing_zeros() as usize;
            out[found] = base.wrapping_add(bit as u32) << FREQUENCY_BITS;
            found += 1;
            if found == out.len() {
                return (found, bit + 1);
            }
            bits &= bits - 1;
        }
        at += 1;
    }
    (found, a.len() * 64)
}

/// Skips 8 words at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx512(
    a: &[AtomicU64],
    b: &[AtomicU64],
    base: u32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    scan(a, b, base, from, out, |a, b, at| {
        skip_blocks::<8>(a, b, at, |x, y| {
            u32::from(_mm512_test_epi64_mask(load_8_wide(x), load_8_wide(y)))
        })
    })
}

/// Skips 4 words at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx2(
    a: &[AtomicU64],
    b: &[AtomicU64],
    base: u32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    scan(a, b, base, from, out, |a, b, at| {
        skip_blocks::<4>(a, b, at, |x, y| {
            let both = _mm256_and_si256(load_4_wide(x), load_4_wide(y));
            let none = _mm256_cmpeq_epi64(both, _mm256_setzero_si256());
            !_mm256_movemask_pd(_mm256_castsi256_pd(none)) as u32 & 0xF
        })
    })
}

/// The first word from `at` on with a common bit, or where fewer than `N` words are left.
///
/// `common` returns the lanes of a block with a common bit.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn skip_blocks<const N: usize>(
    a: &[AtomicU64],
    b: &[AtomicU64],
    mut at: usize,
    common: impl Fn(&[AtomicU64; N], &[AtomicU64; N]) -> u32,
) -> usize {
    while let (Some(x), Some(y)) = (chunk::<N>(a, at), chunk::<N>(b, at)) {
        let lanes = common(x, y);
        if lanes != 0 {
            return at + lanes.trailing_zeros() as usize;
        }
        at += N;
    }
    at
}

/// `N` words from `at` on, if there are that many.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn chunk<const N: usize>(bits: &[AtomicU64], at: usize) -> Option<&[AtomicU64; N]> {
    bits.get(at..)?.first_chunk()
}
