//! How high the best of a list score at least, told by its blocks' maxima before any posting is looked at.
//!
//! Unless some were joined, each of a block's pairs is another document of it. So if the best ten are wanted, the tenth best of all pairs is a score
//! that ten documents have. Blocks that promise less need not be looked at, even the first ones.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::lists::maxima::{BLOCK_POSTINGS, Maxima, Pair};
use spirit_kernel::Bm25;

use super::gate::Gate;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::RANKED_INLINE;
use crate::rank::{MORE, score};

/// So many matches at most are worth it.
const WANTED_MAX: usize = 128;
/// A term with so many times the weight of another is much rarer.
const MUCH: f32 = 4.0;
/// Groups of scores of which the highest is taken.
const LANES: usize = 16;

/// The best that documents with a term are certain to score, as many as are wanted.
struct Floor {
    highest: [f32; WANTED_MAX],
    wanted: usize,
    /// The index of the lowest of them.
    lowest: usize,
    /// What it takes to be above that.
    gate: Gate,
    bm25: Bm25,
}

impl Evaluation<'_, Ranked<'_>> {
    /// Raises what a match has to score by what the blocks of a term's lists promise, all those in the segments at hand; none was visited.
    pub(super) fn raise_floor(&mut self, term: usize) {
        let bm25 = self.bm25(term);
        // No posting scores more than the weight.
        let Some(mut floor) = self.floor(bm25).filter(|floor| floor.gate.threshold() < bm25.weight)
        else {
            return;
        };
        let region = self.snapshot.memory().region();
        let leaf = &self.scratch.leaves[term];
        let entries = leaf.entries(self.lists());
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
            floor.add(&place, maxima);
        }
        self.collector.top.raise(floor.level());
    }

    /// The same of any of several terms, the rarest first. A term that is much more common promises less than documents with a rare one score.
    pub(super) fn raise_floor_of_any(&mut self, terms: &[u32]) {
        let mut order = [0; RANKED_INLINE];
        let order = &mut order[..terms.len()];
        order.copy_from_slice(terms);
        let weight = |this: &Self, term: u32| this.bm25(term as usize).weight;
        order.sort_unstable_by(|a, b| weight(self, *b).total_cmp(&weight(self, *a)));
        let mut highest = 0.0_f32;
        for term in order {
            let weight = weight(self, *term);
            if weight * MUCH < highest {
                return;
            }
            self.raise_floor(*term as usize);
            if self.has_enough(*term as usize) {
                highest = highest.max(weight);
            }
        }
    }

    /// Whether a term has as many postings in the segments at hand as documents are wanted.
    fn has_enough(&self, term: usize) -> bool {
        let leaf = &self.scratch.leaves[term];
        let entries = leaf.entries(self.lists());
        let postings = (0..leaf.left).map(|index| u64::from(entries.get(index).postings));
        let wanted = self.collector.top.first_page();
        wanted.is_some_and(|wanted| postings.sum::<u64>() >= wanted as u64)
    }

    /// The same by what several documents of a segment score, if they are more than are wanted.
    pub(super) fn raise_floor_to(&mut self, place: &Place<'_>, scores: &[f32]) {
        if let Some(wanted) = self.wanted_surely()
            && wanted < scores.len()
            && is_sure(place)
        {
            self.collector.top.raise(reached_by(wanted, scores).next_down());
        }
    }

    /// How many are wanted, where it is certain that what scores enough is found.
    fn wanted_surely(&self) -> Option<usize> {
        let Ranked { top, skips, fading, plan, .. } = &self.collector;
        let is_sure = *skips && fading.is_none() && plan.excluded().is_empty();
        top.first_page().filter(|k| is_sure && (1..=WANTED_MAX).contains(k))
    }

    /// A floor for a term; none where it is not certain that what blocks promise is found.
    fn floor(&self, bm25: Bm25) -> Option<Floor> {
        let wanted = self.wanted_surely()?;
        let gate = Gate::new(bm25, self.collector.top.threshold().max(0.0));
        Some(Floor { highest: [0.0; WANTED_MAX], wanted, lowest: 0, gate, bm25 })
    }
}

impl Floor {
    /// Takes note of a list's blocks, unless something can keep the documents that they speak of from being found.
    fn add(&mut self, place: &Place<'_>, maxima: &[AtomicU64]) {
        if is_sure(place) {
            maxima.iter().for_each(|word| self.add_block(word.load(Relaxed)));
        }
    }

    fn add_block(&mut self, word: u64) {
        let maxima = Maxima::from_word(word);
        if maxima.are_postings() && self.gate.is_open(word) {
            maxima.pairs().into_iter().for_each(|pair| self.add_pair(pair));
        }
    }

    fn add_pair(&mut self, pair: Pair) {
        let sure = score(self.bm25, f32::from(pair.frequency), pair.longest());
        if pair.frequency > 0 && sure > self.highest[self.lowest] {
            self.highest[self.lowest] = sure;
            self.lowest = index_of_lowest(&self.highest[..self.wanted]);
            let lowest = self.highest[self.lowest].max(self.gate.threshold());
            self.gate = self.gate.for_threshold(lowest);
        }
    }

    /// As many documents as are wanted score above it.
    fn level(&self) -> f32 {
        // Scores may come out a little lower than what is computed from other lengths.
        (self.highest[self.lowest] / MORE).next_down()
    }
}

/// Whether nothing can keep documents of a segment from being found.
fn is_sure(place: &Place<'_>) -> bool {
    place.whole && !place.has_dead
}

/// What so many of some scores reach at least, nearly: of `LANES` groups of them, each has one that is as high as its highest.
fn reached_by(wanted: usize, scores: &[f32]) -> f32 {
    let mut highest = [0.0_f32; LANES];
    for group in scores.chunks(LANES) {
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
        let block = proptest::collection::vec((1u8..16, 1u16..300), 1..40);
        proptest::collection::vec(block, 1..12)
    }

    proptest! {
        /// As many scores reach it as are wanted, and the highest does.
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

        /// As many postings score above the level as are wanted.
        #[test]
        fn postings_keep_what_their_blocks_promise(
            blocks in any_blocks(),
            wanted in 1usize..20,
            weight in 0.1f32..12.0,
            (c0, c1) in (0.0f32..2.0, 0.0f32..0.3),
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let gate = Gate::new(bm25, 0.0);
            let mut floor = Floor { highest: [0.0; WANTED_MAX], wanted, lowest: 0, gate, bm25 };
            for block in &blocks {
                floor.add_block(Maxima::of(block.iter().copied()).word());
            }
            let scores = blocks.iter().flatten().map(|(f, l)| score(bm25, f32::from(*f), u32::from(*l)));
            let above = scores.filter(|score| *score > floor.level()).count();
            prop_assert!(above >= wanted.min(blocks.iter().flatten().count()));
            prop_assert!(wanted > 1 || floor.level() > 0.0 || blocks.iter().flatten().count() > 4);
        }
    }
}
