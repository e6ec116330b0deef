//! Ascending ids and their gaps: differences when they are written, sums when they are read.
//!
//! A gap is what an id exceeds the lowest one it may be, so consecutive ids have gaps of 0 and a block of them has no
//! bits at all. Everything is modulo 2^32: ids that do not ascend come back as they were, from wide gaps.
//!
//! Not here: how gaps are stored.

use super::BLOCK;
use crate::level::Level;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The gaps of ids of which the first is at least `start`.
pub fn gaps(ids: &[u32; BLOCK], start: u32) -> [u32; BLOCK] {
    let mut lowest = start;
    ids.map(|id| {
        let gap = id.wrapping_sub(lowest);
        lowest = id.wrapping_add(1);
        gap
    })
}

/// Makes gaps the ids that they are of.
pub fn sum_gaps(level: Level, start: u32, gaps: &mut [u32; BLOCK]) {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { sum_avx512(start, gaps) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { sum_avx2(start, gaps) },
        _ => sum_each(start, gaps),
    }
}

fn sum_each(start: u32, gaps: &mut [u32; BLOCK]) {
    let mut lowest = start;
    for slot in gaps {
        *slot = slot.wrapping_add(lowest);
        lowest = slot.wrapping_add(1);
    }
}

/// Sums of 16 by doubling distances. From vector to vector goes only the lowest id, by one addition: all else of a vector
/// is computed before that is known.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn sum_avx512(start: u32, gaps: &mut [u32; BLOCK]) {
    let zero = _mm512_setzero_si512();
    let ascending = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let (last, one) = (_mm512_set1_epi32(15), _mm512_set1_epi32(1));
    let mut lowest = _mm512_set1_epi32(start as i32);
    for block in gaps.as_chunks_mut::<16>().0 {
        // SAFETY: the array is 64 readable bytes.
        let sums = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
        let offsets = _mm512_add_epi32(sums, ascending);
        let ids = _mm512_add_epi32(offsets, lowest);
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), ids) };
        let covered = _mm512_add_epi32(_mm512_permutexvar_epi32(last, offsets), one);
        lowest = _mm512_add_epi32(lowest, covered);
    }
}

/// The same with half the width. Lanes move inside halves only, so the upper half gets the lower one's sum apart.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn sum_avx2(start: u32, gaps: &mut [u32; BLOCK]) {
    let ascending = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let (last, one) = (_mm256_set1_epi32(7), _mm256_set1_epi32(1));
    let mut lowest = _mm256_set1_epi32(start as i32);
    for block in gaps.as_chunks_mut::<8>().0 {
        // SAFETY: the array is 32 readable bytes.
        let sums = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
        let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<4>(sums));
        let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
        let of_lower = _mm256_shuffle_epi32::<0b11_11_11_11>(sums);
        let of_lower = _mm256_permute2x128_si256::<0x08>(of_lower, of_lower);
        let offsets = _mm256_add_epi32(_mm256_add_epi32(sums, of_lower), ascending);
        let ids = _mm256_add_epi32(offsets, lowest);
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), ids) };
        let covered = _mm256_add_epi32(_mm256_permutevar8x32_epi32(offsets, last), one);
        lowest = _mm256_add_epi32(lowest, covered);
    }
}
