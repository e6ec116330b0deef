//! How long documents are, by rank.
//!
//! A shared array of lengths of two bytes or one, newest first, so that rank and index differ by a constant; or of some ranks only, which are
//! listed. Vectors gather them: the lanes of a run are neighbours by rank, not side by side.
//!
//! Not here: which documents of a window are short, see `short.rs`.

use crate::run::{FREQUENCY_BITS, FREQUENCY_MASK, RANK_MAX};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{gather_8_units, gather_16_units, load_8, load_16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// How often terms are in documents, where words do not say it.
pub trait Frequencies {
    /// How often a term is in the document of a rank, whose word says 255.
    fn frequency(&self, term: u32, rank: u32) -> u32;
}

/// The lengths of documents, by rank; and who knows what words do not say.
#[derive(Clone, Copy)]
pub struct Lengths<'a> {
    /// At most as many as there are ranks.
    pub(crate) newest_first: &'a [AtomicU16],
    pub(crate) form: Form<'a>,
    /// The rank of the first length.
    pub(crate) base: u32,
    frequencies: Option<&'a dyn Frequencies>,
}

/// What units are.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    /// A length of each rank.
    Units,
    /// Two lengths, the first one's the low byte.
    Pairs,
    /// The same of some ranks only: of those whose indices are listed, ascending.
    Listed { indices: &'a [AtomicU32], are_pairs: bool },
}

impl Form<'_> {
    /// How many lengths a unit holds, and the bits of one; none if not every rank has one.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn in_order(self) -> Option<(i32, i32)> {
        match self {
            Form::Units => Some((1, 0xFFFF)),
            Form::Pairs => Some((2, 0xFF)),
            Form::Listed { .. } => None,
        }
    }
}

impl<'a> Lengths<'a> {
    /// No document has any.
    pub const NONE: Lengths<'static> =
        Lengths { newest_first: &[], form: Form::Units, base: 0, frequencies: None };

    /// The length of rank `r` is `newest_first[r - base]`, or 0 beyond the array.
    pub fn new(newest_first: &'a [AtomicU16], base: u32) -> Lengths<'a> {
        let count = if base > RANK_MAX { 0 } else { newest_first.len().min(RANK_MAX as usize + 1) };
        Lengths { newest_first: &newest_first[..count], form: Form::Units, base, frequencies: None }
    }

    /// The same of lengths of one byte: that of rank `r` is byte `r - base` of `pairs`, the low byte of each coming first.
    pub fn of_bytes(pairs: &'a [AtomicU16], base: u32) -> Lengths<'a> {
        Lengths { form: Form::Pairs, ..Lengths::new(pairs, base) }
    }

    /// The same lengths of some ranks only: `indices` ascend, the first length is that of rank `base + indices[0]`, and so on.
    pub fn of_rows(self, indices: &'a [AtomicU32]) -> Lengths<'a> {
        let are_pairs = matches!(self.form, Form::Pairs);
        Lengths { form: Form::Listed { indices, are_pairs }, ..self }
    }

    /// The same, with frequencies above 254 as `frequencies` say. Without them, 255 is taken for what it is.
    pub fn with(self, frequencies: &'a dyn Frequencies) -> Lengths<'a> {
        Lengths { frequencies: Some(frequencies), ..self }
    }

    #[inline(always)]
    pub(crate) fn of(self, rank: u32) -> u16 {
        // Below 2^24 both, or there is no length at all: what wraps is out of range.
        self.at(rank.wrapping_sub(self.base))
    }

    #[inline(always)]
    fn at(self, index: u32) -> u16 {
        let unit = |at: usize| self.newest_first.get(at).map_or(0, |unit| unit.load(Relaxed));
        let byte = |at: usize| unit(at / 2) >> (at % 2 * 8) & 0xFF;
        match self.form {
            Form::Units => unit(index as usize),
            Form::Pairs => byte(index as usize),
            Form::Listed { indices, are_pairs } => {
                match indices.binary_search_by_key(&index, |index| index.load(Relaxed)) {
                    Err(_) => 0,
                    Ok(at) if are_pairs => byte(at),
                    Ok(at) => unit(at),
                }
            }
        }
    }

    /// Those of words' documents, as far as both go.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn gather_avx512(self, words: &[[AtomicU32; 16]], out: &mut [[u32; 16]]) {
        let Some((per_unit, mask)) = self.form.in_order() else {
            return self.look_up(words.as_flattened(), out.as_flattened_mut());
        };
        let (second, mask) = (_mm512_set1_epi32(per_unit - 1), _mm512_set1_epi32(mask));
        let base = _mm512_set1_epi32(self.base as i32);
        for (words, out) in words.iter().zip(out) {
            let at = _mm512_sub_epi32(_mm512_srli_epi32::<FREQUENCY_BITS>(load_16(words)), base);
            let units = gather_16_units(self.newest_first, _mm512_srlv_epi32(at, second));
            let bits = _mm512_slli_epi32::<3>(_mm512_and_si512(at, second));
            let lengths = _mm512_and_si512(_mm512_srlv_epi32(units, bits), mask);
            // SAFETY: the array is 64 writable bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast::<__m512i>(), lengths) };
        }
    }

    /// The same with half the width.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    pub(crate) fn gather_avx2(self, words: &[[AtomicU32; 8]], out: &mut [[u32; 8]]) {
        let Some((per_unit, mask)) = self.form.in_order() else {
            return self.look_up(words.as_flattened(), out.as_flattened_mut());
        };
        let (second, mask) = (_mm256_set1_epi32(per_unit - 1), _mm256_set1_epi32(mask));
        let base = _mm256_set1_epi32(self.base as i32);
        for (words, out) in words.iter().zip(out) {
            let ranks = _mm256_srli_epi32::<{ FREQUENCY_BITS as i32 }>(load_8(words));
            let at = _mm256_sub_epi32(ranks, base);
            let units = gather_8_units(self.newest_first, _mm256_srlv_epi32(at, second));
            let bits = _mm256_slli_epi32::<3>(_mm256_and_si256(at, second));
            let lengths = _mm256_and_si256(_mm256_srlv_epi32(units, bits), mask);
            // SAFETY: the array is 32 writable bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>(), lengths) };
        }
    }

    /// The same where each has to be looked for.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    fn look_up(self, words: &[AtomicU32], out: &mut [u32]) {
        for (word, out) in words.iter().zip(out) {
            *out = u32::from(self.of(word.load(Relaxed) >> FREQUENCY_BITS));
        }
    }

    /// The frequency of a word that does not say it.
    #[cold]
    pub(crate) fn frequency(self, term: u32, word: u32) -> u32 {
        let exact = |known: &dyn Frequencies| known.frequency(term, word >> FREQUENCY_BITS);
        self.frequencies.map_or(FREQUENCY_MASK, exact)
    }
}
