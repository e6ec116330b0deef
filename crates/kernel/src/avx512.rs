//! AVX-512 shells of the posting kernels: 16 words a vector.
//!
//! Every function enables the features [`Level::Avx512`](crate::Level) stands for and is safe to call
//! from another of them; a caller without them must have asked `Level::usable`.
//!
//! Two choices are made for Zen 4. A compress *to memory* is slow microcode there, so matches are
//! compressed in a register and stored whole. And all pairs of 16 x 16 lanes are made of 6 shuffles
//! and 16 compares that narrow one mask each, instead of 15 rotations and 15 mask operations.
//!
//! Runs shorter than a block take masked vectors: even ten words against ten are faster so than
//! merged one by one.

use crate::block::{self, GallopBlock};
use crate::load::{first_lanes, load_16, load_up_to_16};
use crate::run::{FREQUENCY_BITS, Run};
use crate::search::{lopsided, short_first};
use crate::sink::Sink;
use std::arch::x86_64::*;

/// Length ratio from which galloping beats merging blocks.
const GALLOP_RATIO: usize = 16;

/// Intersects two runs. Returns what was consumed of each.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn intersect<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    if lopsided(a, b, GALLOP_RATIO) {
        return gallop(a, b, sink);
    }
    let (i, j) = block::merge_blocks::<16, S>(a, b, sink, |x, y, out| {
        let (x, y) = (load_16(x), load_16(y));
        let hits = all_pairs(ranks(x), ranks(y));
        // Most blocks share nothing: the branch is cheaper than a store that waits for the comparisons.
        if S::STORES && hits != 0 {
            store_matches(x, hits, out);
        }
        u32::from(hits)
    });
    if sink.is_full() {
        return (i, j);
    }
    let (rest_i, rest_j) = finish(&a[i..], &b[j..], sink);
    (i + rest_i, j + rest_j)
}

/// Intersects what is left when one run has less than a block.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn finish<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    if lopsided(a, b, GALLOP_RATIO) && a.len().max(b.len()) > 64 {
        return gallop(a, b, sink);
    }
    block::merge_rest(a, b, sink, |x, y, out| {
        let ((in_x, x), (in_y, y)) = (load_up_to_16(x), load_up_to_16(y));
        // No rank equals the filler, so lanes that are not there match nothing.
        let filled = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), in_y, ranks(y));
        let hits = all_pairs(ranks(x), filled) & in_x;
        if S::STORES && hits != 0 {
            store_matches(x, hits, out);
        }
        u32::from(hits)
    })
}

/// Intersects by galloping over blocks of the longer run.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn gallop<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    short_first(a, b, |short, long, longer| {
        block::gallop_blocks(short, long, longer, sink, |block, sought| {
            let sought = _mm512_set1_epi32(sought as i32);
            let [low, high] = halves(block);
            join(_mm512_cmpeq_epu32_mask(low, sought), _mm512_cmpeq_epu32_mask(high, sought))
        })
    })
}

/// Smallest index with at least the rank.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn seek(run: Run, sought: u32) -> usize {
    block::seek_blocks(run, sought, |block, sought| {
        let sought = _mm512_set1_epi32(sought as i32);
        let [low, high] = halves(block);
        join(_mm512_cmpge_epu32_mask(low, sought), _mm512_cmpge_epu32_mask(high, sought))
    })
}

/// The ranks of a gallop block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn halves(block: &GallopBlock) -> [__m512i; 2] {
    let [low, high] = block.as_chunks::<16>().0 else { unreachable!("32 words are two blocks") };
    [ranks(load_16(low)), ranks(load_16(high))]
}

#[inline]
fn join(low: __mmask16, high: __mmask16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn ranks(words: __m512i) -> __m512i {
    _mm512_srli_epi32::<FREQUENCY_BITS>(words)
}

/// Lanes of `x` that equal any lane of `y`.
///
/// `y` is rotated inside its 128-bit quarters and `x` by whole quarters: 4 x 4 combinations bring
/// every lane of one before every lane of the other. A mask of rotated `x` is rotated back.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn all_pairs(x: __m512i, y: __m512i) -> __mmask16 {
    let y = [
        y,
        _mm512_shuffle_epi32::<0b00_11_10_01>(y),
        _mm512_shuffle_epi32::<0b01_00_11_10>(y),
        _mm512_shuffle_epi32::<0b10_01_00_11>(y),
    ];
    let miss = misses(x, y)
        & misses(_mm512_shuffle_i32x4::<0b00_11_10_01>(x, x), y).rotate_left(4)
        & misses(_mm512_shuffle_i32x4::<0b01_00_11_10>(x, x), y).rotate_left(8)
        & misses(_mm512_shuffle_i32x4::<0b10_01_00_11>(x, x), y).rotate_left(12);
    !miss
}

/// Lanes of `x` that differ from the same lane of each `y`: each compare narrows the last one's mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn misses(x: __m512i, y: [__m512i; 4]) -> __mmask16 {
    let miss = _mm512_cmpneq_epu32_mask(x, y[0]);
    let miss = _mm512_mask_cmpneq_epu32_mask(miss, x, y[1]);
    let miss = _mm512_mask_cmpneq_epu32_mask(miss, x, y[2]);
    _mm512_mask_cmpneq_epu32_mask(miss, x, y[3])
}

/// Writes the hit lanes to the front of `out` as far as they fit; what follows them there is junk.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn store_matches(words: __m512i, hits: __mmask16, out: &mut [u32]) {
    let packed = _mm512_maskz_compress_epi32(hits, words);
    if let Some(room) = out.first_chunk_mut::<16>() {
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) }
    } else {
        let lanes = first_lanes(out.len());
        // SAFETY: only the selected lanes are written, and they lie inside the slice.
        unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr().cast(), lanes, packed) }
    }
}
