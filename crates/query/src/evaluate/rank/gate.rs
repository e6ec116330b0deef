//! Which blocks of a list may hold a posting that scores above a threshold, told without a division.
//!
//! A score is above it if what is below the line beside the frequency, which a document's length decides, is at most so many times the
//! frequency. So most blocks are passed over by a multiplication and a comparison for each pair of their maxima; of those that are not it is asked
//! what they are [bound](crate::rank::bound) by.

use spirit_index::ground::posting::FREQUENCY_MAX;
use spirit_index::lists::maxima::Maxima;
use spirit_kernel::Bm25;

use crate::rank::{SLACK, bound};

/// A threshold, and what it means for a term's postings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    bm25: Bm25,
    threshold: f32,
    /// What comes to the frequency below the line is at most so many times the frequency where a score is above the threshold.
    times: f32,
}

impl Gate {
    pub(super) fn new(bm25: Bm25, threshold: f32) -> Gate {
        let times = bm25.weight / threshold * (1.0 + SLACK) - 1.0 + SLACK;
        Gate { bm25, threshold, times: if threshold > 0.0 { times } else { f32::INFINITY } }
    }

    /// The same for another threshold, or for that which it has.
    #[inline]
    pub(super) fn for_threshold(self, threshold: f32) -> Gate {
        if threshold == self.threshold { self } else { Gate::new(self.bm25, threshold) }
    }

    /// The threshold.
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// No posting that is less frequent may score above it, as long as its document is at least: one that has nothing but the term.
    pub(super) fn least_frequency(&self) -> u32 {
        let passes = |frequency: &u32| self.lets_pass(*frequency, *frequency);
        (1..FREQUENCY_MAX).find(passes).unwrap_or(FREQUENCY_MAX)
    }

    /// Whether a posting with this frequency in a document of this length may score above it.
    #[inline(always)]
    pub(super) fn lets_pass(&self, frequency: u32, length: u32) -> bool {
        let beside = self.bm25.c0 + self.bm25.c1 * length as f32;
        beside <= frequency as f32 * self.times || frequency == FREQUENCY_MAX
    }

    /// Whether a block with these maxima may hold a posting that scores above it.
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
        /// What its bound would let through is let through, and nothing else.
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
                prop_assert_eq!(Gate::new(bm25, threshold).is_open(word), bound > threshold);
            }
        }
    }
}
