//! Population count of the intersection of two bitmaps: the shells behind `and_count`.
//!
//! The portable twin counts a word at a time. AVX2 has no population count, so its twin looks up
//! the two nibbles of every byte (`vpshufb`) and adds bytes with `vpsadbw`. AVX-512 has one in an
//! extension of its own (VPOPCNTDQ), which the public function asks for.
//!
//! Not here: lengths that differ, see `bitmap.rs`. All loops stop at the shorter slice.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_4_wide, load_8_wide};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Common bits, a word at a time.
#[inline]
pub(crate) fn portable(a: &[AtomicU64], b: &[AtomicU64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| u64::from((x.load(Relaxed) & y.load(Relaxed)).count_ones())).sum()
}

/// Common bits, 8 words a vector. Both slices have the same length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn avx512(a: &[AtomicU64], b: &[AtomicU64]) -> u64 {
    let ((left, left_rest), (right, right_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let ((left, left_odd), (right, right_odd)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    let ones = |x, y| _mm512_popcnt_epi64(_mm512_and_si512(load_8_wide(x), load_8_wide(y)));
    // Four sums, so that no addition waits for the one before it.
    let mut sums = [_mm512_setzero_si512(); 4];
    for (x, y) in left.iter().zip(right) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum = _mm512_add_epi64(*sum, ones(x, y));
        }
    }
    for (sum, (x, y)) in sums.iter_mut().zip(left_odd.iter().zip(right_odd)) {
        *sum = _mm512_add_epi64(*sum, ones(x, y));
    }
    let [p, q, r, s] = sums;
    let sum = _mm512_add_epi64(_mm512_add_epi64(p, q), _mm512_add_epi64(r, s));
    _mm512_reduce_add_epi64(sum) as u64 + portable(left_rest, right_rest)
}

/// Common bits, 4 words a vector. Both slices have the same length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn avx2(a: &[AtomicU64], b: &[AtomicU64]) -> u64 {
    let ((left, left_rest), (right, right_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sum = _mm256_setzero_si256();
    for (x, y) in left.iter().zip(right) {
        let both = _mm256_and_si256(load_4_wide(x), load_4_wide(y));
        sum = _mm256_add_epi64(sum, ones_avx2(both));
    }
    let mut lanes = [0_u64; 4];
    // SAFETY: the array is 32 writable bytes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
    lanes.iter().sum::<u64>() + portable(left_rest, right_rest)
}

/// Ones in each 64-bit lane.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ones_avx2(bits: __m256i) -> __m256i {
    let nibble = _mm256_set1_epi8(0x0F);
    let of_nibble =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let low = _mm256_and_si256(bits, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bits), nibble);
    let low = _mm256_shuffle_epi8(of_nibble, low);
    let high = _mm256_shuffle_epi8(of_nibble, high);
    _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256())
}
