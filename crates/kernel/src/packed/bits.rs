//! 128 numbers of one width as four lanes of bits.
//!
//! Lanes lie word beside word, so four numbers are shifted at once, and any number of rows of four: a vector finds
//! its rows' words by a permutation, computed from the width, so one loop serves all widths. A number
//! that goes on in its lane's next word is made of both; the others take nothing of it.
//!
//! Not here: what the numbers are; sums of gaps, see `sums.rs`.

use super::BLOCK;
use crate::level::Level;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_8, load_up_to_16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Lanes of a block.
const LANES: usize = 4;

/// Bits of a number and of a lane's word.
pub(super) const WIDTH_MAX: u32 = u32::BITS;

/// Words of a block of the widest numbers.
pub(super) const PACKED_WORDS_MAX: usize = LANES * WIDTH_MAX as usize;

/// The bits that the largest of the numbers needs.
pub fn width_of(values: &[u32]) -> u32 {
    WIDTH_MAX - values.iter().fold(0, |all, value| all | value).leading_zeros()
}

/// How many words 128 numbers of that many bits take; 32 is the largest width.
pub fn packed_words(width: u32) -> usize {
    LANES * width.min(WIDTH_MAX) as usize
}

/// The lowest bits of a number.
#[inline(always)]
pub(super) fn low_bits(width: u32) -> u32 {
    u32::MAX.checked_shr(WIDTH_MAX - width).unwrap_or(0)
}

/// Packs the low `width` bits of each number. Returns the words written, [`packed_words`].
///
/// # Panics
///
/// If `out` has no room for them.
pub fn pack(values: &[u32; BLOCK], width: u32, out: &mut [u32]) -> usize {
    let (width, count) = (width.min(WIDTH_MAX), packed_words(width));
    let room = out.len();
    assert!(room >= count, "out holds {room} words, {width} bits a number take {count}");
    let out = &mut out[..count];
    out.fill(0);
    for (i, value) in values.iter().enumerate() {
        let bit = (i / LANES) as u32 * width;
        let at = (bit / WIDTH_MAX) as usize * LANES + i % LANES;
        let bits = u64::from(value & low_bits(width)) << (bit % WIDTH_MAX);
        // A number may have no bit in the next word, or not even in the first; then there may be none.
        if let Some(low) = out.get_mut(at) {
            *low |= bits as u32;
        }
        if let Some(high) = out.get_mut(at + LANES) {
            *high |= (bits >> WIDTH_MAX) as u32;
        }
    }
    count
}

/// The numbers in the first [`packed_words`] words; missing words are zeros.
pub fn unpack(level: Level, words: &[AtomicU32], width: u32, out: &mut [u32; BLOCK]) {
    let width = width.min(WIDTH_MAX);
    let words = &words[..words.len().min(packed_words(width))];
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { unpack_avx512(words, width, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { unpack_avx2(words, width, out) },
        _ => unpack_each(words, width, out),
    }
}

fn unpack_each(words: &[AtomicU32], width: u32, out: &mut [u32; BLOCK]) {
    let word = |at: usize| words.get(at).map_or(0, |word| u64::from(word.load(Relaxed)));
    for (i, value) in out.iter_mut().enumerate() {
        let bit = (i / LANES) as u32 * width;
        let at = (bit / WIDTH_MAX) as usize * LANES + i % LANES;
        let bits = word(at) | word(at + LANES) << WIDTH_MAX;
        *value = (bits >> (bit % WIDTH_MAX)) as u32 & low_bits(width);
    }
}

/// Four rows at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn unpack_avx512(words: &[AtomicU32], width: u32, out: &mut [u32; BLOCK]) {
    const ROWS: u32 = 4;
    let lane = _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    let row = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let row_bit = _mm512_mullo_epi32(row, _mm512_set1_epi32(width as i32));
    let value_bits = _mm512_set1_epi32(low_bits(width) as i32);
    let word_bits = _mm512_set1_epi32(WIDTH_MAX as i32);
    for (first_row, to) in (0..).step_by(ROWS as usize).zip(out.as_chunks_mut::<16>().0) {
        let first_bit = first_row * width;
        let at = (first_bit / WIDTH_MAX) as usize * LANES;
        let (_, low) = load_up_to_16(words.get(at..).unwrap_or(&[]));
        let (_, high) = load_up_to_16(words.get(at + LANES..).unwrap_or(&[]));
        // Of the four words that a lane has here, the one in which the row begins.
        let bit = _mm512_add_epi32(row_bit, _mm512_set1_epi32((first_bit % WIDTH_MAX) as i32));
        let word = _mm512_add_epi32(_mm512_slli_epi32::<2>(_mm512_srli_epi32::<5>(bit)), lane);
        let shift = _mm512_and_si512(bit, _mm512_set1_epi32(WIDTH_MAX as i32 - 1));
        let low = _mm512_srlv_epi32(_mm512_permutexvar_epi32(word, low), shift);
        // A shift by 32 leaves nothing.
        let up = _mm512_sub_epi32(word_bits, shift);
        let high = _mm512_sllv_epi32(_mm512_permutexvar_epi32(word, high), up);
        let values = _mm512_and_si512(_mm512_or_si512(low, high), value_bits);
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), values) };
    }
}

/// Two rows at a time, from a copy of the words that ends in zeros: there are no masked loads.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn unpack_avx2(words: &[AtomicU32], width: u32, out: &mut [u32; BLOCK]) {
    const ROWS: u32 = 2;
    let words = padded(words);
    let lane = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
    let row_bit = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    let row_bit = _mm256_mullo_epi32(row_bit, _mm256_set1_epi32(width as i32));
    let value_bits = _mm256_set1_epi32(low_bits(width) as i32);
    let word_bits = _mm256_set1_epi32(WIDTH_MAX as i32);
    for (first_row, to) in (0..).step_by(ROWS as usize).zip(out.as_chunks_mut::<8>().0) {
        let first_bit = first_row * width;
        let at = (first_bit / WIDTH_MAX) as usize * LANES;
        let (low, high) = (load_plain(&words, at), load_plain(&words, at + LANES));
        // Of the two words that a lane has here, the one in which the row begins.
        let bit = _mm256_add_epi32(row_bit, _mm256_set1_epi32((first_bit % WIDTH_MAX) as i32));
        let word = _mm256_add_epi32(_mm256_slli_epi32::<2>(_mm256_srli_epi32::<5>(bit)), lane);
        let shift = _mm256_and_si256(bit, _mm256_set1_epi32(WIDTH_MAX as i32 - 1));
        let low = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(low, word), shift);
        // A shift by 32 leaves nothing.
        let up = _mm256_sub_epi32(word_bits, shift);
        let high = _mm256_sllv_epi32(_mm256_permutevar8x32_epi32(high, word), up);
        let values = _mm256_and_si256(_mm256_or_si256(low, high), value_bits);
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), values) };
    }
}

/// A block's words and the zeros behind them that its last rows load.
#[cfg(target_arch = "x86_64")]
type Padded = [u32; PACKED_WORDS_MAX + 2 * LANES];

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn padded(words: &[AtomicU32]) -> Padded {
    let mut copy = [0; PACKED_WORDS_MAX + 2 * LANES];
    let (blocks, rest) = words.as_chunks::<8>();
    let (to, _) = copy.as_chunks_mut::<8>();
    for (from, to) in blocks.iter().zip(to) {
        let words = load_8(from);
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), words) };
    }
    for (from, to) in rest.iter().zip(&mut copy[8 * blocks.len()..]) {
        *to = from.load(Relaxed);
    }
    copy
}

/// Eight words from `at` on.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load_plain(words: &Padded, at: usize) -> __m256i {
    let Some(words) = words[at..].first_chunk::<8>() else {
        unreachable!("the last row begins in the block, with eight words behind it");
    };
    // SAFETY: the array is 32 readable bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
