//! How long documents are, by rank.
//!
//! A shared array of lengths of two bytes or one, newest first, so that rank and index differ by a constant; or of some ranks only, which are
//! listed. Vectors gather them: the lanes of a run are neighbours by rank, not side by side.
//!
//! Not here: which documents of a window are short, see `short.rs`.

use crate::run::{FREQUENCY_BITS, FREQUENCY_MASK, RANK_MAX};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{gather_8_units, gather_16_units};
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
    /// The rank of the first; a rank, unless there is none.
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

impl<'a> Lengths<'a> {
    /// No document has any.
    pub const NONE: Lengths<'static> =
        Lengths { newest_first: &[], form: Form::Units, base: 0, frequencies: None };

    /// The length of rank `r` is `newest_first[r - base]`, and 0 where there is none.
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

    /// Those at 16 indices.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn at_16(self, at: __m512i) -> __m512i {
        match self.form {
            Form::Units => return gather_16_units(self.newest_first, at),
            Form::Pairs => {}
            Form::Listed { .. } => return self.listed_16(at),
        }
        let pairs = gather_16_units(self.newest_first, _mm512_srli_epi32::<1>(at));
        let bits = _mm512_slli_epi32::<3>(_mm512_and_si512(at, _mm512_set1_epi32(1)));
        _mm512_and_si512(_mm512_srlv_epi32(pairs, bits), _mm512_set1_epi32(0xFF))
    }

    /// Those at 8 indices.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn at_8(self, at: __m256i) -> __m256i {
        match self.form {
            Form::Units => return gather_8_units(self.newest_first, at),
            Form::Pairs => {}
            Form::Listed { .. } => return self.listed_8(at),
        }
        let pairs = gather_8_units(self.newest_first, _mm256_srli_epi32::<1>(at));
        let bits = _mm256_slli_epi32::<3>(_mm256_and_si256(at, _mm256_set1_epi32(1)));
        _mm256_and_si256(_mm256_srlv_epi32(pairs, bits), _mm256_set1_epi32(0xFF))
    }

    /// The same where each has to be looked for.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[target_feature(enable = "avx512f")]
    fn listed_16(self, at: __m512i) -> __m512i {
        let mut lanes = [0_u32; 16];
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast::<__m512i>(), at) };
        let lengths = lanes.map(|index| u32::from(self.at(index)));
        // SAFETY: the array is 64 readable bytes.
        unsafe { _mm512_loadu_si512(lengths.as_ptr().cast::<__m512i>()) }
    }

    /// The same of 8.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[target_feature(enable = "avx2")]
    fn listed_8(self, at: __m256i) -> __m256i {
        let mut lanes = [0_u32; 8];
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast::<__m256i>(), at) };
        let lengths = lanes.map(|index| u32::from(self.at(index)));
        // SAFETY: the array is 32 readable bytes.
        unsafe { _mm256_loadu_si256(lengths.as_ptr().cast::<__m256i>()) }
    }

    /// The frequency of a word that does not say it.
    #[cold]
    pub(crate) fn frequency(self, term: u32, word: u32) -> u32 {
        let exact = |known: &dyn Frequencies| known.frequency(term, word >> FREQUENCY_BITS);
        self.frequencies.map_or(FREQUENCY_MASK, exact)
    }
}
