//! Vector loads and stores of atomics that count as one relaxed access per lane.
//!
//! Runs and bitmaps are read while a writer may store to them. An ordinary vector load
//! (`_mm512_loadu_si512`) is a *non-atomic* read in Rust's memory model: racing with a store it would
//! be undefined behaviour whatever the hardware does, and the compiler may act on that (read twice,
//! and assume that both reads agree). The model has no vector atomics, but it lets an `asm!` block
//! stand for any Rust code with the same effect: here for 16 (8, 4) relaxed atomic accesses, in
//! no particular order. The hardware keeps its half of the bargain: an aligned 2-, 4- or 8-byte
//! lane never crosses a 16-byte boundary, and no x86-64 processor with AVX tears it.
//!
//! A gather has no lanes of 2 bytes, so it loads pairs of units. A pair may cross a cache line and be torn there,
//! but between its units, which are two relaxed loads anyway.
//!
//! `pure` and `readonly` let the compiler run a load fewer times than written, as it may merge two
//! relaxed loads; it may never run one more often.
//!
//! Each function takes an array (or a slice of which it knows the length), so all of them are safe to
//! call where the instruction set is enabled. Not here: memory order beyond relaxed; alignment beyond
//! the lane's own.

use std::arch::asm;
use std::arch::x86_64::*;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The mask of the first `count` of 16 lanes; all 16 from there on.
#[inline]
pub(crate) fn first_lanes(count: usize) -> __mmask16 {
    ((1_u32 << count.min(16)) - 1) as __mmask16
}

/// 16 words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_16(words: &[AtomicU32; 16]) -> __m512i {
    let lanes: __m512i;
    // SAFETY: the reference makes all 64 bytes readable; the block stands for 16 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu32 {lanes}, [{words}]",
            lanes = out(zmm_reg) lanes,
            words = in(reg) words.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// The first 16 words of a run, or as many as it has; missing lanes are 0. Also their mask.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_up_to_16(words: &[AtomicU32]) -> (__mmask16, __m512i) {
    let lanes: __m512i;
    let mask = first_lanes(words.len());
    // SAFETY: a masked-out lane is not accessed (faults are suppressed), and the mask selects only
    // lanes inside the slice; the block stands for that many relaxed loads.
    unsafe {
        asm!(
            "vmovdqu32 {lanes}{{{mask}}}{{z}}, [{words}]",
            lanes = out(zmm_reg) lanes,
            mask = in(kreg) mask,
            words = in(reg) words.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    (mask, lanes)
}

/// 8 bitmap words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_8_wide(bits: &[AtomicU64; 8]) -> __m512i {
    let lanes: __m512i;
    // SAFETY: the reference makes all 64 bytes readable; the block stands for 8 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu64 {lanes}, [{bits}]",
            lanes = out(zmm_reg) lanes,
            bits = in(reg) bits.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// Stores 16 words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_16(words: &[AtomicU32; 16], lanes: __m512i) {
    // SAFETY: the reference makes all 64 bytes accessible and atomics may be written through it; the
    // block stands for 16 relaxed stores.
    unsafe {
        asm!(
            "vmovdqu32 [{words}], {lanes}",
            words = in(reg) words.as_ptr(),
            lanes = in(zmm_reg) lanes,
            options(nostack, preserves_flags),
        );
    }
}

/// 8 words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_8(words: &[AtomicU32; 8]) -> __m256i {
    let lanes: __m256i;
    // SAFETY: the reference makes all 32 bytes readable; the block stands for 8 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu {lanes}, [{words}]",
            lanes = out(ymm_reg) lanes,
            words = in(reg) words.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// 4 bitmap words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_4_wide(bits: &[AtomicU64; 4]) -> __m256i {
    let lanes: __m256i;
    // SAFETY: the reference makes all 32 bytes readable; the block stands for 4 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu {lanes}, [{bits}]",
            lanes = out(ymm_reg) lanes,
            bits = in(reg) bits.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// Stores 8 words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store_8(words: &[AtomicU32; 8], lanes: __m256i) {
    // SAFETY: the reference makes all 32 bytes accessible and atomics may be written through it; the
    // block stands for 8 relaxed stores.
    unsafe {
        asm!(
            "vmovdqu [{words}], {lanes}",
            words = in(reg) words.as_ptr(),
            lanes = in(ymm_reg) lanes,
            options(nostack, preserves_flags),
        );
    }
}

/// The first 32 units of a slice, or as many as it has; missing lanes are 0. Also their mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn load_up_to_32_units(units: &[AtomicU16]) -> (__mmask32, __m512i) {
    let lanes: __m512i;
    let mask = ((1_u64 << units.len().min(32)) - 1) as __mmask32;
    // SAFETY: a masked-out lane is not accessed (faults are suppressed), and the mask selects only
    // lanes inside the slice; the block stands for that many relaxed loads.
    unsafe {
        asm!(
            "vmovdqu16 {lanes}{{{mask}}}{{z}}, [{units}]",
            lanes = out(zmm_reg) lanes,
            mask = in(kreg) mask,
            units = in(reg) units.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    (mask, lanes)
}

/// 32 units.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_32_units(units: &[AtomicU16; 32]) -> __m512i {
    let lanes: __m512i;
    // SAFETY: the reference makes all 64 bytes readable; the block stands for 32 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu64 {lanes}, [{units}]",
            lanes = out(zmm_reg) lanes,
            units = in(reg) units.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// 16 units.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_16_units(units: &[AtomicU16; 16]) -> __m256i {
    let lanes: __m256i;
    // SAFETY: the reference makes all 32 bytes readable; the block stands for 16 relaxed loads.
    unsafe {
        asm!(
            "vmovdqu {lanes}, [{units}]",
            lanes = out(ymm_reg) lanes,
            units = in(reg) units.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    lanes
}

/// Returns the units at 16 indices; 0 beyond the end.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn gather_16_units(units: &[AtomicU16], at: __m512i) -> __m512i {
    // An index is signed to the instruction.
    let count = units.len().min(1 << 31);
    let inside = _mm512_cmplt_epu32_mask(at, _mm512_set1_epi32(count as u32 as i32));
    if count < 2 {
        let only = units.first().map_or(0, |unit| unit.load(Relaxed));
        return _mm512_maskz_set1_epi32(inside, i32::from(only));
    }
    // A pair begins at its unit, but for the last unit, which is the second of the last pair.
    let pair = _mm512_min_epu32(at, _mm512_set1_epi32((count - 2) as i32));
    let mut pairs = _mm512_setzero_si512();
    // SAFETY: a lane is selected only if its index is below `count`, and its pair begins at `count - 2` at
    // the latest, so all four bytes lie inside the slice; the block stands for two relaxed loads a lane.
    unsafe {
        asm!(
            "vpgatherdd {pairs}{{{inside}}}, [{units} + {pair} * 2]",
            pairs = inout(zmm_reg) pairs,
            inside = inout(kreg) inside => _,
            pair = in(zmm_reg) pair,
            units = in(reg) units.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    let second = _mm512_slli_epi32::<4>(_mm512_sub_epi32(at, pair));
    _mm512_and_si512(_mm512_srlv_epi32(pairs, second), _mm512_set1_epi32(0xFFFF))
}

/// Returns the units at 8 indices; 0 beyond the end.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn gather_8_units(units: &[AtomicU16], at: __m256i) -> __m256i {
    // Indices are compared as signed numbers.
    let count = units.len().min(i32::MAX as usize);
    let not_negative = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(-1));
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), at);
    let inside = _mm256_and_si256(not_negative, below);
    if count < 2 {
        let only = units.first().map_or(0, |unit| unit.load(Relaxed));
        return _mm256_and_si256(inside, _mm256_set1_epi32(i32::from(only)));
    }
    // A pair begins at its unit, but for the last unit, which is the second of the last pair.
    let pair = _mm256_min_epi32(at, _mm256_set1_epi32((count - 2) as i32));
    let mut pairs = _mm256_setzero_si256();
    // SAFETY: a lane is selected only if its index is in `0..count`, and its pair begins at `count - 2` at
    // the latest, so all four bytes lie inside the slice; the block stands for two relaxed loads a lane.
    unsafe {
        asm!(
            "vpgatherdd {pairs}, [{units} + {pair} * 2], {inside}",
            pairs = inout(ymm_reg) pairs,
            inside = inout(ymm_reg) inside => _,
            pair = in(ymm_reg) pair,
            units = in(reg) units.as_ptr(),
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    let second = _mm256_slli_epi32::<4>(_mm256_sub_epi32(at, pair));
    _mm256_and_si256(_mm256_srlv_epi32(pairs, second), _mm256_set1_epi32(0xFFFF))
}
