//! Which blocks of a list may hold a posting that scores above a threshold, told by comparing lengths.
//!
//! A score falls with a document's length, so for each frequency there is a length from which on it is too low. Looking at a
//! block's maxima then takes no division, as its [bound](crate::rank::bound) does; and most blocks of most lists have
//! frequencies of 1 to 3 only.

use spirit_index::maxima::Maxima;
use spirit_kernel::Bm25;

use crate::rank::bound;

/// Frequencies whose lengths are known.
const KNOWN: usize = 3;

/// A threshold, and what it means for a term's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    bm25: Bm25,
    threshold: f32,
    /// By frequency: no longer document scores above the threshold.
    longest: [f32; KNOWN + 1],
}

impl Gate {
    pub(super) fn new(bm25: Bm25, threshold: f32) -> Gate {
        let mut longest = [f32::INFINITY; KNOWN + 1];
        if threshold > 0.0 && bm25.c1 > 0.0 {
            for (frequency, longest) in (0..).zip(&mut longest) {
                let frequency = frequency as f32;
                let exact = (bm25.weight * frequency / threshold - frequency - bm25.c0) / bm25.c1;
                // Numbers are rounded, in another order than a score's are.
                *longest = exact + exact.abs() * 1e-4 + 0.5;
            }
        }
        Gate { bm25, threshold, longest }
    }

    /// The threshold.
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Whether a posting with this frequency in a document of this length may score above it.
    #[inline]
    pub(super) fn lets_pass(&self, frequency: u32, length: u32) -> bool {
        let longest = self.longest.get(frequency as usize);
        longest.is_none_or(|longest| length as f32 <= *longest)
    }

    /// Whether a block with these maxima may hold a posting that scores above it.
    #[inline]
    pub(super) fn is_open(&self, word: u64) -> bool {
        let Maxima { frequency, lengths: [once, twice, _] } = Maxima::from_word(word);
        match frequency as usize {
            frequency @ 0..=KNOWN => {
                let few = self.longest[frequency];
                f32::from(once) <= self.longest[1] || frequency > 1 && f32::from(twice) <= few
            }
            _ => bound(self.bm25, word) > self.threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What its bound would let through is let through.
        #[test]
        fn no_block_is_passed_over_that_counts(
            frequency in 1u8..8,
            lengths in proptest::array::uniform3(1u16..400),
            weight in 0.0f32..12.0,
            (c0, c1) in (0.0f32..2.0, 0.0f32..0.3),
            share in 0.0f32..1.1,
        ) {
            let [once, more, most] = lengths;
            let twice = if frequency > 1 { once.saturating_add(more) } else { u16::MAX };
            let four = if frequency > 3 { twice.saturating_add(most) } else { u16::MAX };
            let word = Maxima { frequency, lengths: [once, twice, four] }.word();
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            for threshold in [-1.0, 0.0, bound(bm25, word), bound(bm25, word) * share] {
                let counts = bound(bm25, word) > threshold;
                prop_assert!(!counts || Gate::new(bm25, threshold).is_open(word));
            }
            let below = bound(bm25, word).next_down();
            prop_assert!(bound(bm25, word) <= 0.0 || Gate::new(bm25, below).is_open(word));
        }
    }
}
