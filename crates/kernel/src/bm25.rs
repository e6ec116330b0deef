//! The score of a posting, of one word and of a vector of words.
//!
//! A word of frequency `f` in a document of length `len` scores `weight * (f / (f + c0 + c1 * len))`, in this order of
//! operations and each of them rounded: multiplied and added, never fused. So every level computes the
//! same bits, and a ranking does not depend on the machine. Divided first: the share is never above 1, rounded or not, so
//! no score is above its weight, and where nothing is added below the line each score *is* the weight.
//!
//! A word says frequencies below 255. At 255 whoever knows the [exact one](crate::Frequencies) is asked: a comparison for
//! each vector of words, and a call for the few documents that have a term so often.
//!
//! Not here: where the constants come from; lengths, see `lengths.rs`; runs, see `score.rs`.

use crate::lengths::Lengths;
use crate::run::{FREQUENCY_BITS, FREQUENCY_MASK};

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
    /// The number by which [`Frequencies`](crate::Frequencies) know the term.
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
