//! Which beginnings of terms are spelt nearly as wanted.
//!
//! A beginning is a word: its highest byte is a tag, the others are text, the first of them the highest. A term that differs from another by a few edits has most of its characters within as many places
//! of where the other has them. So a few comparisons of whole vectors tell of most terms that they are too far off.
//!
//! Not here: what is wanted at which place; terms.

use crate::level::Level;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{load_4_wide, load_8_wide};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The highest bit of each byte, and the others.
const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = !HIGH;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The bytes of a word that are text.
const TEXT: u64 = u64::MAX >> 8;

/// How a word has to be spelt.
#[derive(Clone, Copy, Debug)]
pub struct Spelling<'a> {
    /// Bits that have to be as in `begin`, whatever else holds.
    pub mask: u64,
    /// What they are.
    pub begin: u64,
    /// Bytes of text of which any is wanted at its place, a word for each choice.
    pub choices: &'a [u64],
    /// Ones in bytes of text that may be any.
    pub free: u64,
    /// How many of the others may be none of those wanted.
    pub misses: u32,
    /// How many characters beyond ASCII may begin in the text.
    pub foreign: u32,
}

/// The bits of the words, at most 64, that are spelt so. From the first byte above 127 on nothing is missed: not all characters are of
/// one byte there, so they are not where they would be.
pub fn spelt(level: Level, words: &[AtomicU64], spelling: Spelling) -> u64 {
    let words = &words[..words.len().min(64)];
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { spelt_avx512(words, spelling) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { spelt_avx2(words, spelling) },
        _ => each(words, spelling),
    }
}

/// Word by word.
fn each(words: &[AtomicU64], spelling: Spelling) -> u64 {
    let is_spelt = |word: u64| {
        let counted = HIGH & TEXT & !spelling.free;
        let hits = spelling.choices.iter().fold(0, |hits, choice| hits | zero_bytes(word ^ choice));
        let high = word & HIGH & TEXT;
        let behind = u64::MAX.checked_shr(high.leading_zeros()).unwrap_or(0);
        let misses = (counted & !hits & !behind).count_ones();
        // The first byte of a character beyond ASCII begins with two ones, its others with 10.
        let foreign = (high & word << 1).count_ones();
        word & spelling.mask == spelling.begin
            && misses <= spelling.misses
            && foreign <= spelling.foreign
    };
    let bits =
        words.iter().enumerate().map(|(i, word)| u64::from(is_spelt(word.load(Relaxed))) << i);
    bits.fold(0, |bits, bit| bits | bit)
}

/// The highest bit of each byte that is zero.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn spelt_avx512(words: &[AtomicU64], spelling: Spelling) -> u64 {
    let (blocks, rest) = words.as_chunks::<8>();
    let (mask, begin) =
        (_mm512_set1_epi64(spelling.mask as i64), _mm512_set1_epi64(spelling.begin as i64));
    let text = _mm512_movepi8_mask(_mm512_set1_epi64(TEXT as i64));
    let free = _mm512_movepi8_mask(_mm512_set1_epi64((spelling.free | !TEXT) as i64));
    let mut found = 0;
    for (i, block) in blocks.iter().enumerate() {
        let own = load_8_wide(block);
        let begun = _mm512_cmpeq_epi64_mask(_mm512_and_si512(own, mask), begin);
        if begun == 0 {
            continue;
        }
        let hits = spelling.choices.iter().fold(free, |hits, choice| {
            hits | _mm512_cmpeq_epi8_mask(own, _mm512_set1_epi64(*choice as i64))
        });
        let high = _mm512_movepi8_mask(own) & text;
        let leads = high & _mm512_movepi8_mask(_mm512_slli_epi64::<1>(own));
        found |= u64::from(begun & are_spelt(!hits, (high, leads), spelling)) << (8 * i);
    }
    found | each(rest, spelling).unbounded_shl(8 * blocks.len() as u32)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn spelt_avx2(words: &[AtomicU64], spelling: Spelling) -> u64 {
    let (blocks, rest) = words.as_chunks::<8>();
    let (mask, begin) =
        (_mm256_set1_epi64x(spelling.mask as i64), _mm256_set1_epi64x(spelling.begin as i64));
    let (text, free) =
        (_mm256_set1_epi64x(TEXT as i64), _mm256_set1_epi64x((spelling.free | !TEXT) as i64));
    let mut found = 0;
    for (i, block) in blocks.iter().enumerate() {
        let (mut begun, mut hits, mut high, mut second) = (0, 0, 0, 0);
        for (half, words) in block.as_chunks::<4>().0.iter().enumerate() {
            let own = load_4_wide(words);
            let alike = _mm256_cmpeq_epi64(_mm256_and_si256(own, mask), begin);
            begun |= (_mm256_movemask_pd(_mm256_castsi256_pd(alike)) as u8) << (4 * half);
            let found = spelling.choices.iter().fold(free, |found, choice| {
                let choice = _mm256_set1_epi64x(*choice as i64);
                _mm256_or_si256(found, _mm256_cmpeq_epi8(own, choice))
            });
            hits |= signs_of_32(found) << (32 * half);
            high |= signs_of_32(_mm256_and_si256(text, own)) << (32 * half);
            second |= signs_of_32(_mm256_slli_epi64::<1>(own)) << (32 * half);
        }
        let foreign = (high, high & second);
        found |= u64::from(begun & are_spelt(!hits, foreign, spelling)) << (8 * i);
    }
    found | each(rest, spelling).unbounded_shl(8 * blocks.len() as u32)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn signs_of_32(bytes: __m256i) -> u64 {
    u64::from(_mm256_movemask_epi8(bytes) as u32)
}

/// A bit for each byte: for each of eight words. `misses`, `high` and `leads` have a bit for each byte of each word: whether none of
/// those wanted is there, whether it is above 127, and whether a character beyond ASCII begins with it.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi2")]
fn are_spelt(misses: u64, (high, leads): (u64, u64), spelling: Spelling) -> u8 {
    let mut few = at_most(misses, spelling.misses);
    if high != 0 {
        // The first byte of a word's text is a higher bit than the others.
        let mut behind = high | high >> 1 & (ONES * 0x7F);
        behind |= behind >> 2 & (ONES * 0x3F);
        behind |= behind >> 4 & (ONES * 0x0F);
        few = at_most(misses & !behind, spelling.misses) & at_most(leads, spelling.foreign);
    }
    _pext_u64(few, HIGH) as u8
}

/// The highest bit of each byte that has at most this many ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn at_most(bits: u64, most: u32) -> u64 {
    let pairs = bits - (bits >> 1 & (ONES * 0x55));
    let fours = (pairs & (ONES * 0x33)) + (pairs >> 2 & (ONES * 0x33));
    let counts = (fours + (fours >> 4)) & (ONES * 0x0F);
    // A count is at most 8, so its byte reaches the highest bit if it is above `most`.
    !(counts + ONES * u64::from(0x7F - most.min(8)))
}
