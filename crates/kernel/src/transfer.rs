//! Copying runs of words between shared slices, straight or reversed.
//!
//! A fresh segment stores its postings newest last, in descending order of rank; readers want them
//! ascending. Both sides are shared with other threads, so loads and stores are relaxed per word.
//!
//! The slices may overlap (both are shared references); then the words copied are unspecified.
//! Not here: anything that looks at a word.

use crate::level::Level;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_8, load_16, store_8, store_16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// `dst[i] = src[n - 1 - i]` for the first `n` words of both, `n` being the shorter length.
pub fn reverse_into(level: Level, src: &[AtomicU32], dst: &[AtomicU32]) {
    let (src, dst) = same_length(src, dst);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { reverse_avx512(src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { reverse_avx2(src, dst) },
        _ => reverse_each(src, dst),
    }
}

/// `dst[i] = src[i]` for the first `n` words of both, `n` being the shorter length.
pub fn copy(level: Level, src: &[AtomicU32], dst: &[AtomicU32]) {
    let (src, dst) = same_length(src, dst);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { copy_avx512(src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { copy_avx2(src, dst) },
        _ => copy_each(src, dst),
    }
}

fn same_length<'a>(
    src: &'a [AtomicU32],
    dst: &'a [AtomicU32],
) -> (&'a [AtomicU32], &'a [AtomicU32]) {
    let len = src.len().min(dst.len());
    (&src[..len], &dst[..len])
}

#[inline]
fn reverse_each(src: &[AtomicU32], dst: &[AtomicU32]) {
    for (from, to) in src.iter().rev().zip(dst) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

#[inline]
fn copy_each(src: &[AtomicU32], dst: &[AtomicU32]) {
    for (from, to) in src.iter().zip(dst) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

/// Whole blocks from the source's end go to the destination's front.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn reverse_avx512(src: &[AtomicU32], dst: &[AtomicU32]) {
    let order = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let ((first, from), (to, last)) = (src.as_rchunks::<16>(), dst.as_chunks::<16>());
    for (from, to) in from.iter().rev().zip(to) {
        store_16(to, _mm512_permutexvar_epi32(order, load_16(from)));
    }
    reverse_each(first, last);
}

/// The same with half the width.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn reverse_avx2(src: &[AtomicU32], dst: &[AtomicU32]) {
    let order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    let ((first, from), (to, last)) = (src.as_rchunks::<8>(), dst.as_chunks::<8>());
    for (from, to) in from.iter().rev().zip(to) {
        store_8(to, _mm256_permutevar8x32_epi32(load_8(from), order));
    }
    reverse_each(first, last);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn copy_avx512(src: &[AtomicU32], dst: &[AtomicU32]) {
    let ((from, src_rest), (to, dst_rest)) = (src.as_chunks::<16>(), dst.as_chunks::<16>());
    for (from, to) in from.iter().zip(to) {
        store_16(to, load_16(from));
    }
    copy_each(src_rest, dst_rest);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn copy_avx2(src: &[AtomicU32], dst: &[AtomicU32]) {
    let ((from, src_rest), (to, dst_rest)) = (src.as_chunks::<8>(), dst.as_chunks::<8>());
    for (from, to) in from.iter().zip(to) {
        store_8(to, load_8(from));
    }
    copy_each(src_rest, dst_rest);
}
