//! Raises the threshold by block maxima, before any posting is read.
//!
//! Unless pairs were joined, each (frequency, length) pair of a block's maxima belongs to a
//! different document. So if ten documents are wanted, ten documents score at least as much as the
//! tenth best pair. Blocks with a lower upper bound are skipped, even the first ones.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::lists::{BLOCK_POSTINGS, Maxima, Pair};
use spirit_kernel::Bm25;

use super::block_filter::BlockFilter;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::RANKED_INLINE;
use crate::rank::{MORE, score};
use crate::tuning::{RARER_WEIGHT, SEED_HITS_MAX, SEED_LANES};

/// The highest scores that documents with a term are certain to have, as many as are wanted.
struct ThresholdSeed {
    highest: [f32; SEED_HITS_MAX],
    wanted: usize,
    /// The index of the lowest of these scores.
    lowest: usize,
    /// A filter for blocks whose upper bound beats the lowest of these scores.
    filter: BlockFilter,
    bm25: Bm25,
}

impl Evaluation<'_, Ranked<'_>> {
    /// Raises the threshold by the block maxima of a term's lists in the segments of this part. No
    /// segment may have been visited.
    pub(super) fn seed_threshold(&mut self, term: usize) {
        let bm25 = self.bm25(term);
        // No posting scores more than the weight.
        let Some(mut seed) = self.seed(bm25).filter(|seed| seed.filter.threshold() < bm25.weight)
        else {
            return;
        };
        let region = self.snapshot.memory().region();
        let leaf = &self.scratch.leaves[term];
        let entries = leaf.entries(self.lists());
        // Invariant: `seed` has the best certain scores of the newer segments. Terminates with the
        // entries.
        for entry in (0..leaf.left).rev().map(|index| entries.get(index)) {
            if entry.segment.position() < self.part.oldest || !self.meter.step() {
                break;
            }
            if entry.postings <= BLOCK_POSTINGS || self.snapshot.skips(entry.segment) {
                continue;
            }
            let segment = self.snapshot.of(entry.segment);
            let Some(place) = self.place(segment, false) else { continue };
            let maxima = match segment.packed(entry) {
                Some(packed) => packed.maxima(region),
                None => segment.flushed().maxima(entry).map_or(&[][..], |span| region.view(span)),
            };
            seed.add(&place, maxima);
        }
        self.collector.top.raise(seed.level());
    }

    /// Like [`seed_threshold`](Self::seed_threshold), for an OR, the rarest terms first. A much
    /// more frequent term would seed less than documents with a rare one score.
    pub(super) fn seed_threshold_of_or(&mut self, terms: &[u32]) {
        let mut order = [0; RANKED_INLINE];
        let order = &mut order[..terms.len()];
        order.copy_from_slice(terms);
        let weight = |this: &Self, term: u32| this.bm25(term as usize).weight;
        order.sort_unstable_by(|a, b| weight(self, *b).total_cmp(&weight(self, *a)));
        let mut highest = 0.0_f32;
        for term in order {
            let weight = weight(self, *term);
            if weight * RARER_WEIGHT < highest {
                return;
            }
            self.seed_threshold(*term as usize);
            if self.has_enough(*term as usize) {
                highest = highest.max(weight);
            }
        }
    }

    /// True if a term has at least as many postings in the segments of this part as documents are
    /// wanted.
    fn has_enough(&self, term: usize) -> bool {
        let leaf = &self.scratch.leaves[term];
        let entries = leaf.entries(self.lists());
        let postings = (0..leaf.left).map(|index| u64::from(entries.get(index).postings));
        let wanted = self.collector.top.first_page();
        wanted.is_some_and(|wanted| postings.sum::<u64>() >= wanted as u64)
    }

    /// Raises the threshold by the scores of a segment's documents, if there are more of them than
    /// documents wanted.
    pub(super) fn raise_threshold_to(&mut self, place: &Place<'_>, scores: &[f32]) {
        if let Some(wanted) = self.wanted_surely()
            && wanted < scores.len()
            && is_sure(place)
        {
            self.collector.top.raise(reached_by(wanted, scores).next_down());
        }
    }

    /// Returns the number of wanted documents; `None` if a document with a high enough score might
    /// not be offered.
    fn wanted_surely(&self) -> Option<usize> {
        let Ranked { top, skips, fading, plan, .. } = &self.collector;
        let is_sure = *skips && fading.is_none() && plan.excluded().is_empty();
        top.first_page().filter(|k| is_sure && (1..=SEED_HITS_MAX).contains(k))
    }

    /// Returns a seed for a term; `None` if a document behind the block maxima might not be
    /// offered.
    fn seed(&self, bm25: Bm25) -> Option<ThresholdSeed> {
        let wanted = self.wanted_surely()?;
        let filter = BlockFilter::new(bm25, self.collector.top.threshold().max(0.0));
        Some(ThresholdSeed { highest: [0.0; SEED_HITS_MAX], wanted, lowest: 0, filter, bm25 })
    }
}

impl ThresholdSeed {
    /// Adds a list's blocks, unless some of their documents might not be offered.
    fn add(&mut self, place: &Place<'_>, maxima: &[AtomicU64]) {
        if is_sure(place) {
            maxima.iter().for_each(|word| self.add_block(word.load(Relaxed)));
        }
    }

    fn add_block(&mut self, word: u64) {
        let maxima = Maxima::from_word(word);
        if maxima.are_postings() && self.filter.is_open(word) {
            maxima.pairs().into_iter().for_each(|pair| self.add_pair(pair));
        }
    }

    fn add_pair(&mut self, pair: Pair) {
        let sure = score(self.bm25, f32::from(pair.frequency), pair.longest());
        if pair.frequency > 0 && sure > self.highest[self.lowest] {
            self.highest[self.lowest] = sure;
            self.lowest = index_of_lowest(&self.highest[..self.wanted]);
            let lowest = self.highest[self.lowest].max(self.filter.threshold());
            self.filter = self.filter.for_threshold(lowest);
        }
    }

    /// Returns a score that at least as many documents beat as are wanted.
    fn level(&self) -> f32 {
        // Rounding may make a document's score slightly lower than the one computed from its pair.
        (self.highest[self.lowest] / MORE).next_down()
    }
}

/// True if all documents of a segment are visible and alive, so that all of them are offered.
fn is_sure(place: &Place<'_>) -> bool {
    place.whole && !place.has_dead
}

/// Returns a lower bound on the `wanted`-th best score: the `wanted`-th of the maxima of
/// [`SEED_LANES`] interleaved groups.
fn reached_by(wanted: usize, scores: &[f32]) -> f32 {
    let mut highest = [0.0_f32; SEED_LANES];
    for group in scores.chunks(SEED_LANES) {
        highest.iter_mut().zip(group).for_each(|(highest, score)| *highest = highest.max(*score));
    }
    highest.sort_unstable_by(|a, b| b.total_cmp(a));
    highest.get(wanted - 1).copied().unwrap_or(0.0)
}

fn index_of_lowest(scores: &[f32]) -> usize {
    let numbered = scores.iter().enumerate();
    numbered.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Blocks of postings: frequency and length.
    fn any_blocks() -> impl Strategy<Value = Vec<Vec<(u8, u16)>>> {
        let any = proptest::collection::vec((1u8..16, 1u16..300), 1..40);
        proptest::collection::vec(prop_oneof![any, more_than_pairs()], 1..12)
    }

    /// A block in which no posting exceeds another in frequency and density: some pairs are joined.
    fn more_than_pairs() -> impl Strategy<Value = Vec<(u8, u16)>> {
        let frequencies = proptest::sample::subsequence((1..16).collect::<Vec<u8>>(), 5..15);
        let length =
            |frequency: u8, more: u16| u16::from(frequency) * (u16::from(frequency) + more);
        (frequencies, 0u16..20).prop_map(move |(frequencies, more)| {
            frequencies.into_iter().map(|frequency| (frequency, length(frequency, more))).collect()
        })
    }

    proptest! {
        /// At least as many scores reach it as are wanted. If one is wanted, the highest is found.
        #[test]
        fn as_many_as_wanted_reach_it(
            scores in proptest::collection::vec((0u8..40).prop_map(f32::from), 1..100),
            wanted in 1usize..40,
        ) {
            let reached = reached_by(wanted, &scores);
            let count = scores.iter().filter(|score| **score >= reached).count();
            prop_assert!(count >= wanted.min(scores.len()));
            let highest = scores.iter().copied().fold(0.0, f32::max);
            prop_assert!(reached == highest || wanted > 1);
        }

        /// At least as many postings score above the level as are wanted.
        #[test]
        fn postings_keep_what_their_blocks_promise(
            blocks in any_blocks(),
            wanted in 1usize..20,
            weight in 0.1f32..12.0,
            (c0, c1) in (0.0f32..2.0, 0.0f32..0.3),
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let filter = BlockFilter::new(bm25, 0.0);
            let mut seed = ThresholdSeed { highest: [0.0; SEED_HITS_MAX], wanted, lowest: 0, filter, bm25 };
            for block in &blocks {
                seed.add_block(Maxima::of(block.iter().copied()).word());
            }
            let scores = blocks.iter().flatten().map(|(f, l)| score(bm25, f32::from(*f), u32::from(*l)));
            let above = scores.filter(|score| *score > seed.level()).count();
            prop_assert!(above >= wanted.min(blocks.iter().flatten().count()));
            prop_assert!(wanted > 1 || seed.level() > 0.0 || blocks.iter().flatten().count() > 4);
        }
    }
}
