//! The score of a posting, of one word and of a vector of words.
//!
//! A word of frequency `f` in a document of length `len` scores `weight * (f / (f + c0 + c1 * len))`, in this order of
//! operations and each of them rounded: multiplied and added, never fused. So every level computes the
//! same bits, and a ranking does not depend on the machine. Divided first: the share is never above 1, rounded or not, so
//! no score is above its weight, and where nothing is added below the line each score *is* the weight.
//!
//! A word says frequencies below 255. At 255 whoever knows the [exact one](Frequencies) is asked: a comparison for
//! each vector of words, and a call for the few documents that have a term so often.
//!
//! Not here: where the constants come from; runs, see `score.rs`.

use crate::run::{FREQUENCY_BITS, FREQUENCY_MASK, RANK_MAX};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::load::{gather_8_units, gather_16_units};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// What one term contributes to BM25: finite numbers, or scores are not the same at every level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bm25 {
    /// The term's weight: its inverse document frequency, times `k1 + 1`.
    pub weight: f32,
    /// What a document of no length adds below the line: `k1 * (1 - b)`.
    pub c0: f32,
    /// What each token of a document adds to it: `k1 * b / average length`.
    pub c1: f32,
    /// The number by which [`Frequencies`] know the term.
    pub term: u32,
}

/// What a score has to beat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bar {
    /// This number,
    pub threshold: f32,
    /// less what other terms may add to the score of the same document.
    pub rest: Option<Rest>,
}

/// What other terms of a query may add to a document's score: it depends on its length, as the score does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rest {
    /// The sum of their weights.
    pub weight: f32,
    /// The highest frequency of any of them: above 0.
    pub frequency: f32,
    /// They do not add more, whatever the length.
    pub most: f32,
}

impl Bar {
    /// A number.
    pub const fn at(threshold: f32) -> Bar {
        Bar { threshold, rest: None }
    }
}

/// How often terms are in documents, where words do not say it.
pub trait Frequencies {
    /// How often a term is in the document of a rank, whose word says 255.
    fn frequency(&self, term: u32, rank: u32) -> u32;
}

/// The lengths of documents, by rank; and who knows what words do not say.
#[derive(Clone, Copy)]
pub struct Lengths<'a> {
    /// At most as many as there are ranks.
    newest_first: &'a [AtomicU16],
    form: Form<'a>,
    /// The rank of the first; a rank, unless there is none.
    base: u32,
    frequencies: Option<&'a dyn Frequencies>,
}

/// What units are.
#[derive(Clone, Copy)]
enum Form<'a> {
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
    fn of(self, rank: u32) -> u16 {
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
    fn at_16(self, at: __m512i) -> __m512i {
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
    fn at_8(self, at: __m256i) -> __m256i {
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
    fn frequency(self, term: u32, word: u32) -> u32 {
        let exact = |known: &dyn Frequencies| known.frequency(term, word >> FREQUENCY_BITS);
        self.frequencies.map_or(FREQUENCY_MASK, exact)
    }
}

impl Bm25 {
    /// Nothing is worth anything.
    pub const NOTHING: Bm25 = Bm25 { weight: 0.0, c0: 0.0, c1: 0.0, term: 0 };

    /// The score of a posting word.
    #[inline(always)]
    pub fn score(self, word: u32, lengths: Lengths) -> f32 {
        let said = word & FREQUENCY_MASK;
        let is_said = said < FREQUENCY_MASK;
        let frequency = if is_said { said } else { lengths.frequency(self.term, word) } as f32;
        let length = f32::from(lengths.of(word >> FREQUENCY_BITS));
        self.weight * (frequency / (frequency + self.c0 + self.c1 * length))
    }

    /// Scores words anew that do not say their frequencies: those of the lanes whose bits are set.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    fn score_unsaid(self, lanes: u32, words: &[u32], lengths: Lengths, scores: &mut [f32]) {
        let unsaid =
            words.iter().zip(scores).enumerate().filter(|(lane, _)| lanes >> lane & 1 == 1);
        unsaid.for_each(|(_, (word, score))| *score = self.score(*word, lengths));
    }

    /// What a posting word's score has to beat.
    #[inline(always)]
    pub(crate) fn bar(self, word: u32, lengths: Lengths, bar: Bar) -> f32 {
        let Some(rest) = bar.rest else { return bar.threshold };
        let length = f32::from(lengths.of(word >> FREQUENCY_BITS));
        let share = rest.frequency / (rest.frequency + self.c0 + self.c1 * length);
        bar.threshold - (rest.weight * share).min(rest.most)
    }

    /// What the scores of 16 words have to beat.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn bar_16(self, words: __m512i, lengths: Lengths, bar: Bar) -> __m512 {
        let threshold = _mm512_set1_ps(bar.threshold);
        let Some(rest) = bar.rest else { return threshold };
        let above = _mm512_set1_ps(rest.frequency);
        let below = _mm512_set1_ps(rest.frequency + self.c0);
        let below = _mm512_add_ps(below, self.of_length_16(words, lengths));
        let added = _mm512_mul_ps(_mm512_set1_ps(rest.weight), _mm512_div_ps(above, below));
        _mm512_sub_ps(threshold, _mm512_min_ps(added, _mm512_set1_ps(rest.most)))
    }

    /// The same of 8 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn bar_8(self, words: __m256i, lengths: Lengths, bar: Bar) -> __m256 {
        let threshold = _mm256_set1_ps(bar.threshold);
        let Some(rest) = bar.rest else { return threshold };
        let above = _mm256_set1_ps(rest.frequency);
        let below = _mm256_set1_ps(rest.frequency + self.c0);
        let below = _mm256_add_ps(below, self.of_length_8(words, lengths));
        let added = _mm256_mul_ps(_mm256_set1_ps(rest.weight), _mm256_div_ps(above, below));
        _mm256_sub_ps(threshold, _mm256_min_ps(added, _mm256_set1_ps(rest.most)))
    }

    /// What the lengths of 16 words' documents add below the line.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn of_length_16(self, words: __m512i, lengths: Lengths) -> __m512 {
        let ranks = _mm512_srli_epi32::<FREQUENCY_BITS>(words);
        let at = _mm512_sub_epi32(ranks, _mm512_set1_epi32(lengths.base as i32));
        let length = _mm512_cvtepi32_ps(lengths.at_16(at));
        _mm512_mul_ps(_mm512_set1_ps(self.c1), length)
    }

    /// The same of 8 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn of_length_8(self, words: __m256i, lengths: Lengths) -> __m256 {
        let ranks = _mm256_srli_epi32::<{ FREQUENCY_BITS as i32 }>(words);
        let at = _mm256_sub_epi32(ranks, _mm256_set1_epi32(lengths.base as i32));
        let length = _mm256_cvtepi32_ps(lengths.at_8(at));
        _mm256_mul_ps(_mm256_set1_ps(self.c1), length)
    }

    /// The scores of 16 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn score_16(self, words: __m512i, lengths: Lengths) -> __m512 {
        let mask = _mm512_set1_epi32(FREQUENCY_MASK as i32);
        let said = _mm512_and_si512(words, mask);
        let frequency = _mm512_cvtepi32_ps(said);
        let of_length = self.of_length_16(words, lengths);
        let below = _mm512_add_ps(frequency, _mm512_set1_ps(self.c0));
        let share = _mm512_div_ps(frequency, _mm512_add_ps(below, of_length));
        let scores = _mm512_mul_ps(_mm512_set1_ps(self.weight), share);
        let unsaid = _mm512_cmpeq_epi32_mask(said, mask);
        if unsaid == 0 { scores } else { self.exact_16(unsaid, words, lengths, scores) }
    }

    /// The same where some words do not say their frequencies.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn exact_16(self, unsaid: u16, words: __m512i, lengths: Lengths, scores: __m512) -> __m512 {
        let (mut own, mut exact) = ([0; 16], [0.0; 16]);
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(own.as_mut_ptr().cast::<__m512i>(), words) };
        // SAFETY: the array is 64 writable bytes.
        unsafe { _mm512_storeu_ps(exact.as_mut_ptr(), scores) };
        self.score_unsaid(u32::from(unsaid), &own, lengths, &mut exact);
        // SAFETY: the array is 64 readable bytes.
        unsafe { _mm512_loadu_ps(exact.as_ptr()) }
    }

    /// The scores of 8 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn score_8(self, words: __m256i, lengths: Lengths) -> __m256 {
        let mask = _mm256_set1_epi32(FREQUENCY_MASK as i32);
        let said = _mm256_and_si256(words, mask);
        let frequency = _mm256_cvtepi32_ps(said);
        let of_length = self.of_length_8(words, lengths);
        let below = _mm256_add_ps(frequency, _mm256_set1_ps(self.c0));
        let share = _mm256_div_ps(frequency, _mm256_add_ps(below, of_length));
        let scores = _mm256_mul_ps(_mm256_set1_ps(self.weight), share);
        let unsaid = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(said, mask)));
        if unsaid == 0 { scores } else { self.exact_8(unsaid, words, lengths, scores) }
    }

    /// The same where some words do not say their frequencies.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn exact_8(self, unsaid: i32, words: __m256i, lengths: Lengths, scores: __m256) -> __m256 {
        let (mut own, mut exact) = ([0; 8], [0.0; 8]);
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(own.as_mut_ptr().cast::<__m256i>(), words) };
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_ps(exact.as_mut_ptr(), scores) };
        self.score_unsaid(unsaid as u32, &own, lengths, &mut exact);
        // SAFETY: the array is 32 readable bytes.
        unsafe { _mm256_loadu_ps(exact.as_ptr()) }
    }
}
