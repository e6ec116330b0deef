//! How high the best of a list score at least, told by its blocks' maxima before any posting is looked at.
//!
//! A block's maxima are not only above all of its postings: the shortest document of those that have the term twice, say, is one of them.
//! So each block has a document that scores at least so much, and if the best ten are wanted, the tenth of the blocks by that
//! is a score that ten documents have. Blocks that promise less need not be looked at, even the first ones.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::maxima::{LEVELS, Maxima};
use spirit_kernel::Bm25;

use super::gate::Gate;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::rank::{MORE, score};

/// So many matches at most are worth it.
const WANTED_MAX: usize = 128;

impl Evaluation<'_, Ranked<'_>> {
    /// Raises what a match has to score by what a list's blocks promise, where nothing can keep the documents that they speak of from being
    /// found.
    pub(super) fn raise_floor(&mut self, place: &Place<'_>, maxima: &[AtomicU64], bm25: Bm25) {
        let Ranked { top, skips, fading, .. } = &mut self.collector;
        let is_sure = *skips && fading.is_none() && place.whole && !place.has_dead;
        let wanted = top.first_page().filter(|k| is_sure && (1..=WANTED_MAX).contains(k));
        let Some(wanted) = wanted.filter(|k| *k <= maxima.len()) else { return };
        let mut highest = [0.0; WANTED_MAX];
        let highest = &mut highest[..wanted];
        let (mut lowest, mut gate) = (0, Gate::new(bm25, top.threshold().max(0.0)));
        for maxima in maxima {
            let maxima = maxima.load(Relaxed);
            if !gate.is_open(maxima) {
                continue;
            }
            let sure = certain(bm25, maxima);
            if sure > highest[lowest] {
                highest[lowest] = sure;
                lowest = index_of_lowest(highest);
                gate = Gate::new(bm25, highest[lowest].max(gate.threshold()));
            }
        }
        // Scores may come out a little lower than what is computed from other frequencies.
        top.raise((highest[lowest] / MORE).next_down());
    }
}

/// What one posting of a block scores at least.
fn certain(bm25: Bm25, word: u64) -> f32 {
    let maxima = Maxima::from_word(word);
    let there = LEVELS.iter().zip(maxima.lengths).filter(|(level, _)| {
        // Where no posting is so frequent there is no shortest document.
        u32::from(maxima.frequency) >= **level
    });
    let scores = there.map(|(level, length)| score(bm25, *level as f32, u32::from(length)));
    scores.fold(0.0, f32::max)
}

fn index_of_lowest(scores: &[f32]) -> usize {
    let numbered = scores.iter().enumerate();
    numbered.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Postings of a block: frequency and length.
    fn postings() -> impl Strategy<Value = Vec<(u32, u16)>> {
        proptest::collection::vec((1u32..8, 1u16..300), 1..40)
    }

    proptest! {
        /// One of the block scores as much as is said, and none more than its bound.
        #[test]
        fn a_posting_keeps_what_its_block_promises(
            postings in postings(),
            weight in 0.0f32..12.0,
            (c0, c1) in (0.0f32..2.0, 0.0f32..0.3),
        ) {
            let frequency = postings.iter().map(|(frequency, _)| *frequency as u8).max().unwrap();
            let lengths = LEVELS.map(|level| {
                let of_level = postings.iter().filter(|(frequency, _)| *frequency >= level);
                of_level.map(|(_, length)| *length).min().unwrap_or(u16::MAX)
            });
            let word = Maxima { frequency, lengths }.word();
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let scores =
                postings.iter().map(|(f, length)| score(bm25, *f as f32, u32::from(*length)));
            let best = scores.fold(0.0, f32::max);
            prop_assert!(certain(bm25, word) / MORE <= best);
            prop_assert!(best <= crate::rank::bound(bm25, word) * MORE);
        }
    }
}
