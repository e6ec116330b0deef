//! Separates blocks that may contain a posting above a threshold from those that cannot, without a
//! division.
//!
//! BM25 gives `weight * f / (f + k)`, where `k` depends on the document's length. It can beat the
//! threshold only if `k` is at most `times * f`. So most blocks are skipped by one multiplication
//! and one comparison for each pair of their maxima. For the others the [upper
//! bound](crate::rank::bound) is computed.

use spirit_index::ground::FREQUENCY_MAX;
use spirit_index::lists::Maxima;
use spirit_kernel::Bm25;

use crate::rank::{SLACK, bound};

/// A threshold, and a condition on a term's postings that follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFilter {
    bm25: Bm25,
    threshold: f32,
    /// A score beats the threshold only if `k` is at most this many times the frequency.
    times: f32,
}

impl BlockFilter {
    pub(super) fn new(bm25: Bm25, threshold: f32) -> BlockFilter {
        let times = bm25.weight / threshold * (1.0 + SLACK) - 1.0 + SLACK;
        BlockFilter { bm25, threshold, times: if threshold > 0.0 { times } else { f32::INFINITY } }
    }

    /// Returns the filter for another threshold.
    #[inline]
    pub(super) fn for_threshold(self, threshold: f32) -> BlockFilter {
        if threshold == self.threshold { self } else { BlockFilter::new(self.bm25, threshold) }
    }

    /// Returns the threshold.
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Returns the lowest frequency that may beat the threshold in the shortest possible document,
    /// which contains only the term.
    pub(super) fn least_frequency(&self) -> u32 {
        let passes = |frequency: &u32| self.lets_pass(*frequency, *frequency);
        (1..FREQUENCY_MAX).find(passes).unwrap_or(FREQUENCY_MAX)
    }

    /// True if a posting with this frequency in a document of this length may beat the threshold.
    #[inline(always)]
    pub(super) fn lets_pass(&self, frequency: u32, length: u32) -> bool {
        let beside = self.bm25.c0 + self.bm25.c1 * length as f32;
        beside <= frequency as f32 * self.times || frequency == FREQUENCY_MAX
    }

    /// True if a block with these maxima may contain a posting that beats the threshold.
    #[inline]
    pub(super) fn is_open(&self, word: u64) -> bool {
        let pairs = Maxima::from_word(word).pairs();
        let any = pairs.iter().any(|pair| {
            pair.frequency > 0 && self.lets_pass(u32::from(pair.frequency), pair.shortest())
        });
        any && bound(self.bm25, word) > self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Exactly those blocks pass whose upper bound beats the threshold.
        #[test]
        fn what_a_block_is_bound_by_decides(
            postings in proptest::collection::vec((1u8..40, 1u16..400), 1..9),
            weight in 0.0f32..12.0,
            (c0, c1) in (
                prop_oneof![0.0f32..2.0, (0.0f32..9.0).prop_map(|n| 10.0f32.powf(-n))],
                prop_oneof![0.0f32..0.3, (0.0f32..9.0).prop_map(|n| 10.0f32.powf(-n))],
            ),
            share in 0.0f32..1.1,
        ) {
            let word = Maxima::of(postings).word();
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let bound = bound(bm25, word);
            for threshold in [-1.0, 0.0, bound, bound * share, bound.next_down()] {
                prop_assert_eq!(BlockFilter::new(bm25, threshold).is_open(word), bound > threshold);
            }
        }
    }
}
