//! Which words of a run have a frequency that is high enough.
//!
//! Where a score has to be high no document is short enough for a term that it has once: comparing frequencies, which are in the words, spares a look at
//! the lengths of most documents.
//!
//! Not here: which frequency that is.

use crate::level::Level;
use crate::run::{FREQUENCY_MASK, Run, word};

#[cfg(target_arch = "x86_64")]
use crate::avx2::pack_order;
#[cfg(target_arch = "x86_64")]
use crate::load::{load_8, load_16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Writes the words whose frequency is at least `least`, of as many as there is room for; returns how many. What `out` holds behind them is unspecified.
pub fn frequent(level: Level, run: Run, least: u32, out: &mut [u32]) -> usize {
    let run = &run[..run.len().min(out.len())];
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { frequent_avx512(run, least, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { frequent_avx2(run, least, out) },
        _ => frequent_each(run, least, out, 0),
    }
}

/// Goes on behind the `found` words that are there.
fn frequent_each(run: Run, least: u32, out: &mut [u32], mut found: usize) -> usize {
    for own in run.iter().map(word) {
        let Some(to) = out.get_mut(found) else { break };
        *to = own;
        found += usize::from(own & FREQUENCY_MASK >= least);
    }
    found
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn frequent_avx512(run: Run, least: u32, out: &mut [u32]) -> usize {
    let (blocks, rest) = run.as_chunks::<16>();
    let (mask, least_16) =
        (_mm512_set1_epi32(FREQUENCY_MASK as i32), _mm512_set1_epi32(least as i32));
    let mut found = 0;
    for block in blocks {
        let words = load_16(block);
        let hits = _mm512_cmpge_epu32_mask(_mm512_and_si512(words, mask), least_16);
        // No more were found than looked at, and for these there is room.
        let Some(to) = out[found..].first_chunk_mut::<16>() else { break };
        let packed = _mm512_maskz_compress_epi32(hits, words);
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), packed) };
        found += hits.count_ones() as usize;
    }
    frequent_each(rest, least, out, found)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn frequent_avx2(run: Run, least: u32, out: &mut [u32]) -> usize {
    let (blocks, rest) = run.as_chunks::<8>();
    let mask = _mm256_set1_epi32(FREQUENCY_MASK as i32);
    // Frequencies are positive numbers, and so is what is above all of them.
    let below = _mm256_set1_epi32(least.min(FREQUENCY_MASK + 1) as i32 - 1);
    let mut found = 0;
    for block in blocks {
        let words = load_8(block);
        let hits = _mm256_cmpgt_epi32(_mm256_and_si256(words, mask), below);
        let hits = _mm256_movemask_ps(_mm256_castsi256_ps(hits)) as u8;
        let Some(to) = out[found..].first_chunk_mut::<8>() else { break };
        let packed = _mm256_permutevar8x32_epi32(words, pack_order(hits));
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), packed) };
        found += hits.count_ones() as usize;
    }
    frequent_each(rest, least, out, found)
}
