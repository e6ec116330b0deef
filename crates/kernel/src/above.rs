//! Which sums of a window exceed a threshold.
//!
//! When the scores of a window have been added up, few of them are good enough. They are compared 64 at a time, in
//! step with the words of the bitmap that says which documents match at all.
//!
//! Not here: how sums are computed, see `score.rs`.

use crate::level::Level;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Scores that share a word of the bitmap.
const BLOCK: usize = 64;

/// Writes the indices `i >= from` with bit `i` set and `scores[i] > threshold`, ascending. Returns how many, and the
/// first index not looked at.
///
/// That index is the number of scores that have a bit when there is nothing left, and otherwise, with `out` full, the one
/// behind the last index written.
pub fn above(
    level: Level,
    scores: &[f32],
    bits: &[u64],
    threshold: f32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    let scores = &scores[..scores.len().min(bits.len() * BLOCK)];
    if from >= scores.len() || out.is_empty() {
        return (0, from.min(scores.len()));
    }
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { scan_avx512(scores, bits, threshold, from, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { scan_avx2(scores, bits, threshold, from, out) },
        _ => scan(scores, bits, from, out, |block| {
            let bit = |(i, score): (usize, &f32)| u64::from(*score > threshold) << i;
            block.iter().enumerate().map(bit).sum()
        }),
    }
}

/// `exceeding` returns the bits of a block's scores above the threshold. There are as many words as scores need.
#[inline(always)]
fn scan(
    scores: &[f32],
    bits: &[u64],
    from: usize,
    out: &mut [u32],
    exceeding: impl Fn(&[f32; BLOCK]) -> u64,
) -> (usize, usize) {
    let (mut found, mut wanted) = (0, u64::MAX << (from % BLOCK));
    for (k, word) in bits.iter().enumerate().skip(from / BLOCK) {
        let Some(block) = scores.get(k * BLOCK..).filter(|block| !block.is_empty()) else { break };
        let mut hits = word & wanted;
        wanted = u64::MAX;
        if hits == 0 {
            continue;
        }
        hits &= match block.first_chunk() {
            Some(block) => exceeding(block),
            None => exceeding(&padded(block)),
        };
        while hits != 0 {
            let index = k * BLOCK + hits.trailing_zeros() as usize;
            out[found] = index as u32;
            found += 1;
            if found == out.len() {
                return (found, index + 1);
            }
            hits &= hits - 1;
        }
    }
    (found, scores.len())
}

/// The last scores, and behind them what exceeds nothing.
fn padded(rest: &[f32]) -> [f32; BLOCK] {
    let mut block = [f32::NAN; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx512(
    scores: &[f32],
    bits: &[u64],
    threshold: f32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    let threshold = _mm512_set1_ps(threshold);
    scan(scores, bits, from, out, |block| {
        let mut mask = 0;
        for (i, scores) in block.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: the array is 64 readable bytes.
            let scores = unsafe { _mm512_loadu_ps(scores.as_ptr()) };
            let lanes = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores, threshold);
            mask |= u64::from(lanes) << (16 * i);
        }
        mask
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx2(
    scores: &[f32],
    bits: &[u64],
    threshold: f32,
    from: usize,
    out: &mut [u32],
) -> (usize, usize) {
    let threshold = _mm256_set1_ps(threshold);
    scan(scores, bits, from, out, |block| {
        let mut mask = 0;
        for (i, scores) in block.as_chunks::<8>().0.iter().enumerate() {
            // SAFETY: the array is 32 readable bytes.
            let scores = unsafe { _mm256_loadu_ps(scores.as_ptr()) };
            let lanes = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(scores, threshold));
            mask |= u64::from(lanes as u8) << (8 * i);
        }
        mask
    })
}
