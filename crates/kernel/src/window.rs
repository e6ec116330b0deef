//! Windows: plain bitmaps of one query, filled from the runs and bitmaps it shares with a writer.
//!
//! A query that is evaluated a range of ranks at a time keeps the bits of one such range in memory of its own: bit
//! `i` of a *window* stands for rank `base + i`, whatever `base` is. A run is added with [`set_bits`]; a shared
//! bitmap begins where its segment does, so its bits are shifted on the way.
//!
//! Not here: windows with windows, see `combine.rs`.

use crate::intersect::seek;
use crate::level::Level;
use crate::run::{Run, rank};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_4_wide, load_8_wide};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Sets bit `rank - base` for the words of an ascending run, up to the window's end.
///
/// Returns how many words were consumed: those below `base`, which have no bit, and those in the window.
pub fn set_bits(level: Level, run: Run, base: u32, bits: &mut [u64]) -> usize {
    let below = seek(level, run, 0, base);
    for (i, own) in run[below..].iter().enumerate() {
        let bit = rank(own).wrapping_sub(base);
        // The words of one slot wait for each other, but not for those of another.
        let Some(slot) = bits.get_mut(bit as usize / 64) else { return below + i };
        *slot |= 1 << (bit % 64);
    }
    run.len()
}

/// The words of an ascending run with a rank in the window of `len` ranks from `base` on.
pub(crate) fn in_window(level: Level, run: Run, base: u32, len: usize) -> Range<usize> {
    let end = base.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
    let first = seek(level, run, 0, base);
    first..seek(level, run, first, end)
}

/// Bit `i` becomes bit `from_bit + i` of the shared bitmap, which is followed by zeros.
pub fn copy_bits(level: Level, from: &[AtomicU64], from_bit: usize, bits: &mut [u64]) {
    combine(level, from, from_bit, bits, |_, new| new);
}

/// Sets bit `i` if bit `from_bit + i` of the shared bitmap is set.
pub fn or_bits(level: Level, from: &[AtomicU64], from_bit: usize, bits: &mut [u64]) {
    combine(level, from, from_bit, bits, |old, new| old | new);
}

/// Clears bit `i` unless bit `from_bit + i` of the shared bitmap is set; behind its end nothing is.
pub fn and_bits(level: Level, from: &[AtomicU64], from_bit: usize, bits: &mut [u64]) {
    combine(level, from, from_bit, bits, |old, new| old & new);
}

/// Clears bit `i` if bit `from_bit + i` of the shared bitmap is set.
pub fn and_not_bits(level: Level, from: &[AtomicU64], from_bit: usize, bits: &mut [u64]) {
    combine(level, from, from_bit, bits, |old, new| old & !new);
}

/// Puts `op(old, new)` into each word of the window.
#[inline(always)]
fn combine(
    level: Level,
    from: &[AtomicU64],
    from_bit: usize,
    bits: &mut [u64],
    op: impl Fn(u64, u64) -> u64,
) {
    let shift = (from_bit % 64) as u32;
    let from = from.get(from_bit / 64..).unwrap_or(&[]);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { combine_avx512(from, shift, bits, op) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { combine_avx2(from, shift, bits, op) },
        _ => combine_each(from, shift, bits, op),
    }
}

/// The word that begins `shift` bits behind the beginning of `low`; `shift` is below 64.
#[inline(always)]
pub(crate) fn shifted(low: u64, high: u64, shift: u32) -> u64 {
    low >> shift | high << 1 << (63 - shift)
}

/// A word at a time.
#[inline(always)]
fn combine_each(from: &[AtomicU64], shift: u32, bits: &mut [u64], op: impl Fn(u64, u64) -> u64) {
    let mut words = from.iter().map(|word| word.load(Relaxed));
    let mut next = || words.next().unwrap_or(0);
    let mut low = next();
    for slot in bits {
        let high = next();
        *slot = op(*slot, shifted(low, high, shift));
        low = high;
    }
}

/// `N` words at a time: `fetch` shifts those from a place on, given with those from the next on.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn combine_blocks<const N: usize>(
    from: &[AtomicU64],
    shift: u32,
    bits: &mut [u64],
    op: impl Fn(u64, u64) -> u64,
    fetch: impl Fn(&[AtomicU64; N], &[AtomicU64; N]) -> [u64; N],
) {
    let chunk = |at: usize| from.get(at..)?.first_chunk::<N>();
    let mut at = 0;
    for block in bits.as_chunks_mut::<N>().0 {
        let (Some(low), Some(high)) = (chunk(at), chunk(at + 1)) else { break };
        for (slot, new) in block.iter_mut().zip(fetch(low, high)) {
            *slot = op(*slot, new);
        }
        at += N;
    }
    combine_each(&from[at.min(from.len())..], shift, &mut bits[at..], op);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn combine_avx512(from: &[AtomicU64], shift: u32, bits: &mut [u64], op: impl Fn(u64, u64) -> u64) {
    // To the instruction a shift by 64 is one that leaves nothing.
    let down = _mm_cvtsi64_si128(i64::from(shift));
    let up = _mm_cvtsi64_si128(i64::from(64 - shift));
    combine_blocks::<8>(from, shift, bits, op, |low, high| {
        let low = _mm512_srl_epi64(load_8_wide(low), down);
        let high = _mm512_sll_epi64(load_8_wide(high), up);
        let both = _mm512_or_si512(low, high);
        let mut words = [0; 8];
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), both) };
        words
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn combine_avx2(from: &[AtomicU64], shift: u32, bits: &mut [u64], op: impl Fn(u64, u64) -> u64) {
    // To the instruction a shift by 64 is one that leaves nothing.
    let down = _mm_cvtsi64_si128(i64::from(shift));
    let up = _mm_cvtsi64_si128(i64::from(64 - shift));
    combine_blocks::<4>(from, shift, bits, op, |low, high| {
        let low = _mm256_srl_epi64(load_4_wide(low), down);
        let high = _mm256_sll_epi64(load_4_wide(high), up);
        let both = _mm256_or_si256(low, high);
        let mut words = [0; 4];
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), both) };
        words
    });
}
