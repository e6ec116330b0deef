//! Scores of runs: into a slice, compacted by a threshold, or added to those of a window.
//!
//! Vectors compute the scores; the sums of a window are scattered one by one, because no two words of a run
//! share a sum and a scatter issues the same stores. Ends shorter than a vector are left to the
//! portable twin, which computes the same bits.
//!
//! Not here: the formula, see `bm25.rs`; what is done with a window's sums, see `above.rs`.

use crate::bm25::{Bar, Bm25};
use crate::lengths::Lengths;
use crate::level::Level;
use crate::run::{FREQUENCY_BITS, Progress, Run, rank, word};
use crate::window::in_window;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::avx2::pack_order;
#[cfg(target_arch = "x86_64")]
use crate::load::{load_8, load_16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Words whose scores are computed before the first of them is added.
const BLOCK: usize = 128;

/// `out[i]` becomes the score of `run[i]`, as far as both go. Returns how many.
pub fn score_run(level: Level, run: Run, lengths: Lengths, bm25: Bm25, out: &mut [f32]) -> usize {
    let count = run.len().min(out.len());
    let (run, out) = (&run[..count], &mut out[..count]);
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { score_avx512(run, lengths, bm25, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { score_avx2(run, lengths, bm25, out) },
        _ => score_each(run, lengths, bm25, out),
    }
    count
}

/// Writes the words whose score is above the bar, and their scores.
///
/// Stops when either output is full (`left` is then just behind the last word written) or the run is exhausted. What
/// the outputs hold behind `found` is unspecified; `right` is 0.
pub fn score_above(
    level: Level,
    run: Run,
    lengths: Lengths,
    bm25: Bm25,
    bar: Bar,
    words: &mut [u32],
    scores: &mut [f32],
) -> Progress {
    let room = words.len().min(scores.len());
    let mut above = Above { bar, words: &mut words[..room], scores: &mut scores[..room], found: 0 };
    let scored = match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { above.blocks_avx512(run, lengths, bm25) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { above.blocks_avx2(run, lengths, bm25) },
        _ => 0,
    };
    let left = scored + above.each(&run[scored..], lengths, bm25);
    Progress { left, right: 0, found: above.found }
}

/// Adds the score of each word to `scores[rank - base]`, up to the window's end.
///
/// Returns how many words of the ascending run were consumed: those below `base` and those in the window.
pub fn add_scores(
    level: Level,
    run: Run,
    lengths: Lengths,
    bm25: Bm25,
    base: u32,
    scores: &mut [f32],
) -> usize {
    each_in_window(level, run, lengths, bm25, base, scores, |sum, score| *sum += score)
}

/// The same, but raises `scores[rank - base]` to the word's score if it is lower.
pub fn max_scores(
    level: Level,
    run: Run,
    lengths: Lengths,
    bm25: Bm25,
    base: u32,
    scores: &mut [f32],
) -> usize {
    each_in_window(level, run, lengths, bm25, base, scores, |best, score| *best = best.max(score))
}

/// Combines the scores of the words in a window with `scores`.
#[inline(always)]
fn each_in_window(
    level: Level,
    run: Run,
    lengths: Lengths,
    bm25: Bm25,
    base: u32,
    scores: &mut [f32],
    combine: impl Fn(&mut f32, f32),
) -> usize {
    let window = in_window(level, run, base, scores.len());
    for block in run[window.clone()].chunks(BLOCK) {
        each_score(level, block, lengths, bm25, base, scores, &combine);
    }
    window.end
}

/// Like [`add_scores`], of the words whose bit `rank - base` is set; only their lengths are looked at.
pub fn add_scores_where(
    level: Level,
    run: Run,
    lengths: Lengths,
    bm25: Bm25,
    base: u32,
    bits: &[u64],
    scores: &mut [f32],
) -> usize {
    let window = in_window(level, run, base, scores.len());
    // Private, but kernels read runs as if they were shared.
    let kept = [const { AtomicU32::new(0) }; BLOCK];
    for block in run[window.clone()].chunks(BLOCK) {
        let mut count = 0;
        for own in block {
            let own = word(own);
            // Without a branch on whether the bit is set: nothing could predict it.
            kept[count].store(own, Relaxed);
            count += usize::from(is_set(bits, (own >> FREQUENCY_BITS).wrapping_sub(base)));
        }
        each_score(level, &kept[..count], lengths, bm25, base, scores, |sum, score| *sum += score);
    }
    window.end
}

/// Combines the scores of up to [`BLOCK`] words with `scores`.
fn each_score(
    level: Level,
    block: Run,
    lengths: Lengths,
    bm25: Bm25,
    base: u32,
    scores: &mut [f32],
    combine: impl Fn(&mut f32, f32),
) {
    let mut own_scores = [0.0; BLOCK];
    score_run(level, block, lengths, bm25, &mut own_scores);
    for (own, score) in block.iter().zip(own_scores) {
        if let Some(to) = scores.get_mut(rank(own).wrapping_sub(base) as usize) {
            combine(to, score);
        }
    }
}

#[inline(always)]
fn is_set(bits: &[u64], bit: u32) -> bool {
    bits.get(bit as usize / 64).is_some_and(|slot| slot >> (bit % 64) & 1 == 1)
}

fn score_each(run: Run, lengths: Lengths, bm25: Bm25, out: &mut [f32]) {
    for (own, score) in run.iter().zip(out) {
        *score = bm25.score(word(own), lengths);
    }
}

/// Both slices have the same length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn score_avx512(run: Run, lengths: Lengths, bm25: Bm25, out: &mut [f32]) {
    let ((blocks, rest), (to, to_rest)) = (run.as_chunks::<16>(), out.as_chunks_mut::<16>());
    let mut gathered = [[0; 16]; BLOCK / 16];
    for (blocks, to) in blocks.chunks(BLOCK / 16).zip(to.chunks_mut(BLOCK / 16)) {
        lengths.gather_avx512(blocks, &mut gathered);
        for ((block, own), to) in blocks.iter().zip(&gathered).zip(to) {
            let scores = bm25.score_16(load_16(block), own, lengths);
            // SAFETY: the array is 64 writable bytes.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), scores) };
        }
    }
    score_each(rest, lengths, bm25, to_rest);
}

/// Both slices have the same length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn score_avx2(run: Run, lengths: Lengths, bm25: Bm25, out: &mut [f32]) {
    let ((blocks, rest), (to, to_rest)) = (run.as_chunks::<8>(), out.as_chunks_mut::<8>());
    let mut gathered = [[0; 8]; BLOCK / 8];
    for (blocks, to) in blocks.chunks(BLOCK / 8).zip(to.chunks_mut(BLOCK / 8)) {
        lengths.gather_avx2(blocks, &mut gathered);
        for ((block, own), to) in blocks.iter().zip(&gathered).zip(to) {
            let scores = bm25.score_8(load_8(block), own, lengths);
            // SAFETY: the array is 32 writable bytes.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), scores) };
        }
    }
    score_each(rest, lengths, bm25, to_rest);
}

/// Takes words with a score above a threshold.
struct Above<'a> {
    bar: Bar,
    words: &'a mut [u32],
    /// As many as words.
    scores: &'a mut [f32],
    found: usize,
}

impl Above<'_> {
    /// Word by word. Returns how many were consumed.
    fn each(&mut self, run: Run, lengths: Lengths, bm25: Bm25) -> usize {
        for (i, own) in run.iter().enumerate() {
            let (word, score) = (word(own), bm25.score(word(own), lengths));
            let (Some(to), Some(to_score)) =
                (self.words.get_mut(self.found), self.scores.get_mut(self.found))
            else {
                return i;
            };
            (*to, *to_score) = (word, score);
            self.found += usize::from(score > bm25.bar(word, lengths, self.bar));
        }
        run.len()
    }

    /// Blocks, while all the words of one would fit. Returns how many words were consumed.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
    fn blocks_avx512(&mut self, run: Run, lengths: Lengths, bm25: Bm25) -> usize {
        let bar = (self.bar, bm25.times_for(self.bar));
        let (blocks, mut consumed) = (run.as_chunks::<16>().0, 0);
        let mut gathered = [[0; 16]; BLOCK / 16];
        for blocks in blocks.chunks(BLOCK / 16) {
            lengths.gather_avx512(blocks, &mut gathered);
            for (block, own) in blocks.iter().zip(&gathered) {
                let Some((to, to_scores)) = self.room::<16>() else { return consumed };
                consumed += 16;
                let words = load_16(block);
                let Some((hits, scores)) = bm25.above_16(words, own, lengths, bar) else {
                    continue;
                };
                let packed = _mm512_maskz_compress_epi32(hits, words);
                // SAFETY: the array is 64 writable bytes.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), packed) };
                let packed = _mm512_maskz_compress_ps(hits, scores);
                // SAFETY: the array is 64 writable bytes.
                unsafe { _mm512_storeu_ps(to_scores.as_mut_ptr(), packed) };
                self.found += hits.count_ones() as usize;
            }
        }
        consumed
    }

    /// The same with half the width.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn blocks_avx2(&mut self, run: Run, lengths: Lengths, bm25: Bm25) -> usize {
        let bar = (self.bar, bm25.times_for(self.bar));
        let (blocks, mut consumed) = (run.as_chunks::<8>().0, 0);
        let mut gathered = [[0; 8]; BLOCK / 8];
        for blocks in blocks.chunks(BLOCK / 8) {
            lengths.gather_avx2(blocks, &mut gathered);
            for (block, own) in blocks.iter().zip(&gathered) {
                let Some((to, to_scores)) = self.room::<8>() else { return consumed };
                consumed += 8;
                let words = load_8(block);
                let Some((hits, scores)) = bm25.above_8(words, own, lengths, bar) else { continue };
                let order = pack_order(hits);
                let packed = _mm256_permutevar8x32_epi32(words, order);
                // SAFETY: the array is 32 writable bytes.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), packed) };
                let packed = _mm256_permutevar8x32_ps(scores, order);
                // SAFETY: the array is 32 writable bytes.
                unsafe { _mm256_storeu_ps(to_scores.as_mut_ptr(), packed) };
                self.found += hits.count_ones() as usize;
            }
        }
        consumed
    }

    /// Room for the words of a block and their scores, if there is as much.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn room<const N: usize>(&mut self) -> Option<(&mut [u32; N], &mut [f32; N])> {
        let words = self.words[self.found..].first_chunk_mut()?;
        Some((words, self.scores[self.found..].first_chunk_mut()?))
    }
}
