//! The score of a posting, of one word and of a vector of words.
//!
//! A word of frequency `f` in a document of length `len` scores `weight * (f / (f + c0 + c1 * len))`, in this order of
//! operations and each of them rounded: multiplied and added, never fused. So every level computes the
//! same bits, and a ranking does not depend on the machine. Divided first: the share is never above 1, rounded or not, so
//! no score is above its weight, and where nothing is added below the line each score *is* the weight.
//!
//! A word says frequencies below 255. At 255 the [exact one](crate::Frequencies) is asked for: a comparison for
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
    /// The term's weight: its inverse document frequency, times the boost.
    pub weight: f32,
    /// What a document of no length adds below the line: `k1 * (1 - b)`.
    pub c0: f32,
    /// What each token of a document adds to it: `k1 * b / average length`.
    pub c1: f32,
    /// The number by which [`Frequencies`](crate::Frequencies) know the term.
    pub term: u32,
}

/// More than what is rounded may be wrong by.
const SLACK: f32 = 1e-5;

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

    /// Where a score is above a bar, what is below the line is less than this many times the frequency: an approximation without a division. No number if
    /// every score may be.
    pub(crate) fn times_for(self, bar: Bar) -> f32 {
        let needed = bar.threshold - bar.rest.map_or(0.0, |rest| rest.most);
        if needed > 0.0 { self.weight / needed * (1.0 + SLACK) } else { f32::NAN }
    }

    /// What the scores of 16 words have to beat, of whose lengths this comes below the line.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn bar_16(self, of_length: __m512, bar: Bar) -> __m512 {
        let threshold = _mm512_set1_ps(bar.threshold);
        let Some(rest) = bar.rest else { return threshold };
        let above = _mm512_set1_ps(rest.frequency);
        let below = _mm512_set1_ps(rest.frequency + self.c0);
        let below = _mm512_add_ps(below, of_length);
        let added = _mm512_mul_ps(_mm512_set1_ps(rest.weight), _mm512_div_ps(above, below));
        _mm512_sub_ps(threshold, _mm512_min_ps(added, _mm512_set1_ps(rest.most)))
    }

    /// The same of 8 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn bar_8(self, of_length: __m256, bar: Bar) -> __m256 {
        let threshold = _mm256_set1_ps(bar.threshold);
        let Some(rest) = bar.rest else { return threshold };
        let above = _mm256_set1_ps(rest.frequency);
        let below = _mm256_set1_ps(rest.frequency + self.c0);
        let below = _mm256_add_ps(below, of_length);
        let added = _mm256_mul_ps(_mm256_set1_ps(rest.weight), _mm256_div_ps(above, below));
        _mm256_sub_ps(threshold, _mm256_min_ps(added, _mm256_set1_ps(rest.most)))
    }

    /// What 16 lengths add below the line.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn of_length_16(self, lengths: &[u32; 16]) -> __m512 {
        // SAFETY: the array is 64 readable bytes.
        let lengths = unsafe { _mm512_loadu_si512(lengths.as_ptr().cast::<__m512i>()) };
        _mm512_mul_ps(_mm512_set1_ps(self.c1), _mm512_cvtepi32_ps(lengths))
    }

    /// What 8 lengths add below the line.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn of_length_8(self, lengths: &[u32; 8]) -> __m256 {
        // SAFETY: the array is 32 readable bytes.
        let lengths = unsafe { _mm256_loadu_si256(lengths.as_ptr().cast::<__m256i>()) };
        _mm256_mul_ps(_mm256_set1_ps(self.c1), _mm256_cvtepi32_ps(lengths))
    }

    /// The scores of 16 words, in documents whose own lengths these are.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn score_16(self, words: __m512i, own: &[u32; 16], lengths: Lengths) -> __m512 {
        let (frequency, unsaid) = said_16(words);
        let below = self.below_16(frequency, self.of_length_16(own));
        let scores = self.divide_16(frequency, below);
        if unsaid == 0 { scores } else { self.exact_16(unsaid, words, lengths, scores) }
    }

    /// Which of 16 words score above a bar, and what all of them score; no scores if none does. `times` are
    /// [those](Self::times_for) of the bar.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn above_16(
        self,
        words: __m512i,
        own: &[u32; 16],
        lengths: Lengths,
        (bar, times): (Bar, f32),
    ) -> Option<(u16, __m512)> {
        let (frequency, unsaid) = said_16(words);
        let of_length = self.of_length_16(own);
        let below = self.below_16(frequency, of_length);
        let most = _mm512_mul_ps(frequency, _mm512_set1_ps(times));
        // What is no number may be above.
        if unsaid | _mm512_cmp_ps_mask::<_CMP_NLE_UQ>(most, below) == 0 {
            return None;
        }
        let scores = self.divide_16(frequency, below);
        let scores =
            if unsaid == 0 { scores } else { self.exact_16(unsaid, words, lengths, scores) };
        let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores, self.bar_16(of_length, bar));
        Some((above, scores))
    }

    /// What is below the line of 16 scores.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn below_16(self, frequency: __m512, of_length: __m512) -> __m512 {
        _mm512_add_ps(_mm512_add_ps(frequency, _mm512_set1_ps(self.c0)), of_length)
    }

    /// 16 scores.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn divide_16(self, frequency: __m512, below: __m512) -> __m512 {
        _mm512_mul_ps(_mm512_set1_ps(self.weight), _mm512_div_ps(frequency, below))
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

    /// The same of 8 words.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn score_8(self, words: __m256i, own: &[u32; 8], lengths: Lengths) -> __m256 {
        let (frequency, unsaid) = said_8(words);
        let below = self.below_8(frequency, self.of_length_8(own));
        let scores = self.divide_8(frequency, below);
        if unsaid == 0 { scores } else { self.exact_8(unsaid, words, lengths, scores) }
    }

    /// Which of 8 words score above a bar, as of 16.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn above_8(
        self,
        words: __m256i,
        own: &[u32; 8],
        lengths: Lengths,
        (bar, times): (Bar, f32),
    ) -> Option<(u8, __m256)> {
        let (frequency, unsaid) = said_8(words);
        let of_length = self.of_length_8(own);
        let below = self.below_8(frequency, of_length);
        let most = _mm256_mul_ps(frequency, _mm256_set1_ps(times));
        let may_be = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLE_UQ>(most, below));
        if unsaid | may_be == 0 {
            return None;
        }
        let scores = self.divide_8(frequency, below);
        let scores =
            if unsaid == 0 { scores } else { self.exact_8(unsaid, words, lengths, scores) };
        let above = _mm256_cmp_ps::<_CMP_GT_OQ>(scores, self.bar_8(of_length, bar));
        Some((_mm256_movemask_ps(above) as u8, scores))
    }

    /// What is below the line of 8 scores.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn below_8(self, frequency: __m256, of_length: __m256) -> __m256 {
        _mm256_add_ps(_mm256_add_ps(frequency, _mm256_set1_ps(self.c0)), of_length)
    }

    /// 8 scores.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn divide_8(self, frequency: __m256, below: __m256) -> __m256 {
        _mm256_mul_ps(_mm256_set1_ps(self.weight), _mm256_div_ps(frequency, below))
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

/// The frequencies that 16 words say, and which do not say theirs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn said_16(words: __m512i) -> (__m512, u16) {
    let mask = _mm512_set1_epi32(FREQUENCY_MASK as i32);
    let said = _mm512_and_si512(words, mask);
    (_mm512_cvtepi32_ps(said), _mm512_cmpeq_epi32_mask(said, mask))
}

/// The same of 8 words.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn said_8(words: __m256i) -> (__m256, i32) {
    let mask = _mm256_set1_epi32(FREQUENCY_MASK as i32);
    let said = _mm256_and_si256(words, mask);
    let unsaid = _mm256_cmpeq_epi32(said, mask);
    (_mm256_cvtepi32_ps(said), _mm256_movemask_ps(_mm256_castsi256_ps(unsaid)))
}
