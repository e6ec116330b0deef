//! AVX2 shells of the posting kernels: 8 words a vector.
//!
//! The twin of `avx512.rs` for machines without it. AVX2 has no compress, so a table of 256
//! permutations packs the matches; and no cheap way to load half a block, so ragged ends are left to
//! the portable twins.

use crate::block::{self, GallopBlock};
use crate::load::load_8;
use crate::run::Run;
use crate::search::{finger, lopsided, short_first};
use crate::sink::Sink;
use crate::{merge, run};
use std::arch::x86_64::*;

/// Length ratio from which galloping beats merging blocks.
const GALLOP_RATIO: usize = 4;

/// For each mask of 8 lanes the indices of its lanes, a byte each, lowest first.
static PACK: [u64; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut at) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask] |= lane << (8 * at);
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// Intersects two runs. Returns what was consumed of each.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn intersect<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    if lopsided(a, b, GALLOP_RATIO) {
        return gallop(a, b, sink);
    }
    let (i, j) = block::merge_blocks::<8, S>(a, b, sink, |x, y, out| {
        let (x, y) = (load_8(x), load_8(y));
        let hits = all_pairs(ranks(x), ranks(y));
        if S::STORES {
            store_matches(x, hits, out);
        }
        u32::from(hits)
    });
    if sink.is_full() {
        return (i, j);
    }
    let (a, b) = (&a[i..], &b[j..]);
    let rest = if lopsided(a, b, GALLOP_RATIO) { finger } else { merge::branch_light };
    let (rest_i, rest_j) = rest(a, b, sink);
    (i + rest_i, j + rest_j)
}

/// Intersects by galloping over blocks of the longer run.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn gallop<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    short_first(a, b, |short, long, longer| {
        block::gallop_blocks(short, long, longer, sink, |block, sought| {
            let sought = _mm256_set1_epi32(sought as i32);
            join(quarters(block).map(|ranks| lanes(_mm256_cmpeq_epi32(ranks, sought))))
        })
    })
}

/// Smallest index with at least the rank.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn seek(run: Run, sought: u32) -> usize {
    block::seek_blocks(run, sought, |block, sought| {
        // Ranks have 24 bits, so the signed compare is right; `sought` is one of them or one above.
        let sought = _mm256_set1_epi32(sought as i32);
        !join(quarters(block).map(|ranks| lanes(_mm256_cmpgt_epi32(sought, ranks))))
    })
}

/// The ranks of a gallop block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn quarters(block: &GallopBlock) -> [__m256i; 4] {
    let [a, b, c, d] = block.as_chunks::<8>().0 else {
        unreachable!("32 words are four blocks");
    };
    [ranks(load_8(a)), ranks(load_8(b)), ranks(load_8(c)), ranks(load_8(d))]
}

#[inline]
fn join(quarters: [u8; 4]) -> u32 {
    u32::from_le_bytes(quarters)
}

/// The sign bits of 8 lanes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn lanes(compared: __m256i) -> u8 {
    _mm256_movemask_ps(_mm256_castsi256_ps(compared)) as u8
}

/// The sign bits of 16 lanes of two bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn signs_of_16(lanes: __m256i) -> u16 {
    // Halves are packed apart: the signs lie in the first and the third quarter.
    let bytes = _mm256_packs_epi16(lanes, _mm256_setzero_si256());
    let signs = _mm256_movemask_epi8(bytes) as u32;
    (signs | signs >> 8) as u16
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ranks(words: __m256i) -> __m256i {
    _mm256_srli_epi32::<{ run::FREQUENCY_BITS as i32 }>(words)
}

/// Lanes of `x` that equal any lane of `y`: `y` rotated inside its halves against `x` and against `x`
/// with its halves swapped, whose mask is swapped back.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn all_pairs(x: __m256i, y: __m256i) -> u8 {
    let y = [
        y,
        _mm256_shuffle_epi32::<0b00_11_10_01>(y),
        _mm256_shuffle_epi32::<0b01_00_11_10>(y),
        _mm256_shuffle_epi32::<0b10_01_00_11>(y),
    ];
    let swapped = _mm256_permute2x128_si256::<1>(x, x);
    any_equal(x, y) | any_equal(swapped, y).rotate_left(4)
}

/// Lanes of `x` that equal the same lane of any `y`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn any_equal(x: __m256i, y: [__m256i; 4]) -> u8 {
    let first = _mm256_or_si256(_mm256_cmpeq_epi32(x, y[0]), _mm256_cmpeq_epi32(x, y[1]));
    let second = _mm256_or_si256(_mm256_cmpeq_epi32(x, y[2]), _mm256_cmpeq_epi32(x, y[3]));
    lanes(_mm256_or_si256(first, second))
}

/// Writes the hit lanes to the front of `out` as far as they fit; what follows them there is junk.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn store_matches(words: __m256i, hits: u8, out: &mut [u32]) {
    let packed = _mm256_permutevar8x32_epi32(words, pack_order(hits));
    if let Some(room) = out.first_chunk_mut::<8>() {
        store(room, packed);
    } else {
        let mut spill = [0; 8];
        store(&mut spill, packed);
        out.copy_from_slice(&spill[..out.len()]);
    }
}

/// The permutation that brings the hit lanes to the front.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn pack_order(hits: u8) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACK[usize::from(hits)] as i64))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn store(room: &mut [u32; 8], words: __m256i) {
    // SAFETY: the array is 32 writable bytes.
    unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), words) }
}
