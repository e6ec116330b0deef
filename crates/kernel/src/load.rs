//! Vector loads and stores of atomics that count as one relaxed access per lane.
//!
//! Runs and bitmaps are read while a writer may store to them. An ordinary vector load
//! (`_mm512_loadu_si512`) is a *non-atomic* read in Rust's memory model: racing with a store it would
//! be undefined behaviour whatever the hardware does, and the compiler may act on that (read twice,
//! and assume that both reads agree). The model has no vector atomics, but it lets an `asm!` block
//! stand for any Rust code with the same effect: here for 16 (8, 4) relaxed atomic accesses, in
//! no particular order. The hardware keeps its half of the bargain: an aligned 4- or 8-byte
//! lane never crosses a 16-byte boundary, and no x86-64 processor with AVX tears it.
//!
//! `pure` and `readonly` let the compiler run a load fewer times than written, as it may merge two
//! relaxed loads; it may never run one more often.
//!
//! Each function takes an array (or a slice of which it knows the length), so all of them are safe to
//! call where the instruction set is enabled. Not here: memory order beyond relaxed; alignment beyond
//! the lane's own.

use std::arch::asm;
use std::arch::x86_64::{__m256i, __m512i, __mmask16};
use std::sync::atomic::{AtomicU32, AtomicU64};

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
