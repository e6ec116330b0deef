//! AVX-512 shells of the posting kernels: 16 words a vector.
//!
//! Every function enables the features [`Level::Avx512`](crate::Level) stands for and is safe to call
//! from another of them; a caller without them must have asked `Level::usable`.
//!
//! Two choices are made for Zen 4. A compress *to memory* is slow microcode there, so matches are
//! compressed in a register and stored whole. And all pairs of 16 x 16 lanes are made of 6 shuffles
//! and 16 compares that narrow one mask each, instead of 15 rotations and 15 mask operations. Comparisons are what
//! the merge waits for, so where half a rank says as much as a whole one, 8 compares do the same.
//!
//! Runs shorter than a block take masked vectors: even ten words against ten are faster so than
//! merged one by one.

use crate::block::{self, GallopBlock};
use crate::load::{first_lanes, load_16, load_up_to_16};
use crate::run::{FREQUENCY_BITS, Run, rank};
use crate::search::{lopsided, short_first};
use crate::sink::Sink;
use std::arch::x86_64::*;

/// Length ratio from which galloping beats merging blocks.
const GALLOP_RATIO: usize = 16;
/// Longest runs whose ends are looked at to see whether low halves of ranks will do.
const NARROW_WORDS_MAX: usize = 512;

/// Intersects two runs. Returns what was consumed of each.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn intersect<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    if lopsided(a, b, GALLOP_RATIO) {
        return gallop(a, b, sink);
    }
    match filler_of_narrow(a, b) {
        Some(filler) => merge::<true, S>(a, b, _mm512_set1_epi32(filler as i32), sink),
        None => merge::<false, S>(a, b, _mm512_set1_epi32(-1), sink),
    }
}

/// If all ranks of two sorted runs lie within less than 65,535 of each other, their low halves tell them apart: then a
/// word with a low half that none of them has. Not asked of runs whose ends may be far away in memory.
#[inline(always)]
fn filler_of_narrow(a: Run, b: Run) -> Option<u32> {
    if a.len().max(b.len()) > NARROW_WORDS_MAX {
        return None;
    }
    let lowest = rank(a.first()?).min(rank(b.first()?));
    let highest = rank(a.last()?).max(rank(b.last()?));
    (highest.wrapping_sub(lowest) < 0xFFFF).then(|| lowest.wrapping_sub(1) << FREQUENCY_BITS)
}

/// Intersects by merging blocks. `filler` is a key that no word has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn merge<const NARROW: bool, S: Sink>(
    a: Run,
    b: Run,
    filler: __m512i,
    sink: &mut S,
) -> (usize, usize) {
    let (i, j) = block::merge_blocks::<16, S>(a, b, sink, |x, y, out| {
        let (x, y) = (load_16(x), load_16(y));
        let hits = equal_lanes::<NARROW>(keys::<NARROW>(x), keys::<NARROW>(y));
        // Most blocks share nothing: the branch is cheaper than a store that waits for the comparisons.
        if S::STORES && hits != 0 {
            store_matches(x, hits, out);
        }
        u32::from(hits)
    });
    if sink.is_full() {
        return (i, j);
    }
    let (rest_i, rest_j) = finish::<NARROW, S>(&a[i..], &b[j..], filler, sink);
    (i + rest_i, j + rest_j)
}

/// Intersects what is left when one run has less than a block.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn finish<const NARROW: bool, S: Sink>(
    a: Run,
    b: Run,
    filler: __m512i,
    sink: &mut S,
) -> (usize, usize) {
    if lopsided(a, b, GALLOP_RATIO) && a.len().max(b.len()) > 64 {
        return gallop(a, b, sink);
    }
    block::merge_rest(a, b, sink, |x, y, out| {
        let ((in_x, x), (in_y, y)) = (load_up_to_16(x), load_up_to_16(y));
        // No rank equals the filler's, so lanes that are not there match nothing.
        let filled = _mm512_mask_mov_epi32(filler, in_y, keys::<NARROW>(y));
        let hits = equal_lanes::<NARROW>(keys::<NARROW>(x), filled) & in_x;
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

/// What is compared of words: their ranks, or the words as they are if the low halves of their ranks tell them apart.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn keys<const NARROW: bool>(words: __m512i) -> __m512i {
    if NARROW { words } else { ranks(words) }
}

/// Lanes of `x` whose key is that of any lane of `y`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn equal_lanes<const NARROW: bool>(x: __m512i, y: __m512i) -> __mmask16 {
    if NARROW { all_pairs_narrow(x, y) } else { all_pairs(x, y) }
}

/// Where the low halves of the ranks of a quarter's four words lie, for a shuffle of bytes, rotated by 0 to 3 words.
const LOW_HALVES: [i64; 4] = {
    let in_order = u64::from_le_bytes([1, 2, 5, 6, 9, 10, 13, 14]);
    let mut rotated = [0; 4];
    let mut words = 0;
    while words < 4 {
        rotated[words] = in_order.rotate_right(16 * words as u32) as i64;
        words += 1;
    }
    rotated
};

/// Words of which only the low half of the rank is compared, so a vector holds each twice: half the comparisons.
///
/// `x` is doubled inside its quarters. `y`, doubled and rotated by 0 and 1 words, then by 2 and 3, brings all four words
/// of a quarter before each of `x`; the four rotations of whole quarters do the rest.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn all_pairs_narrow(x: __m512i, y: __m512i) -> __mmask16 {
    let twice = |[first, second]: [i64; 2]| _mm512_broadcast_i32x4(_mm_set_epi64x(second, first));
    let x = _mm512_shuffle_epi8(x, twice([LOW_HALVES[0]; 2]));
    let y = [
        _mm512_shuffle_epi8(y, twice([LOW_HALVES[0], LOW_HALVES[1]])),
        _mm512_shuffle_epi8(y, twice([LOW_HALVES[2], LOW_HALVES[3]])),
    ];
    let misses = |x| {
        let miss = _mm512_cmpneq_epu16_mask(x, y[0]);
        _mm512_mask_cmpneq_epu16_mask(miss, x, y[1])
    };
    let miss = misses(x)
        & misses(_mm512_shuffle_i32x4::<0b00_11_10_01>(x, x)).rotate_left(8)
        & misses(_mm512_shuffle_i32x4::<0b01_00_11_10>(x, x)).rotate_left(16)
        & misses(_mm512_shuffle_i32x4::<0b10_01_00_11>(x, x)).rotate_left(24);
    if miss == u32::MAX {
        return 0;
    }
    !_pext_u32(miss & miss >> 4, 0x0F0F_0F0F) as __mmask16
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
