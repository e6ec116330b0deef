//! Block maxima: an upper bound of the scores in a block, without reading its postings.
//!
//! A score grows with the frequency, and with the *density*: the frequency divided by the length of
//! the document. So a posting scores no more than another that is at least as frequent and as
//! dense, for any parameters of the formula. Only a block's frontier counts: postings that no other
//! exceeds in both. It seldom has more than four.
//!
//! | bits of a block's word | |
//! |---|---|
//! | 0 .. 8 | a pair's frequency, saturated as in postings |
//! | 8 .. 16 | its length's class (`length_class`) |
//! | 16 .. 64 | three more pairs, or zeros |
//!
//! Pairs that descend by frequency are postings. If the frontier had more than four, some were
//! joined: the higher frequency with the higher density. Then pairs ascend.
//!
//! Lengths are those of the term's field. In a field that is not text, all values score alike, and
//! lengths are 1. Rows that never came to life count nothing, so their postings are left out.

mod frontier;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::ground::posting::{frequency, rank};
use crate::rows::length_class::{SHORTEST, class_of, longest_of, shortest_of};
use crate::rows::lengths::LengthArray;
use frontier::{Frontier, Point};

/// Number of postings of a block; the last block of a list may have fewer. Lists of one block have
/// no maxima.
pub const BLOCK_POSTINGS: u32 = 128;
/// Number of pairs of a block.
const PAIRS: usize = 4;

/// Returns the number of blocks of a list that have maxima.
#[inline(always)]
pub(crate) fn blocks_of(postings: u32) -> u64 {
    if postings > BLOCK_POSTINGS { postings.div_ceil(BLOCK_POSTINGS) as u64 } else { 0 }
}

/// Upper bounds of the postings of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maxima([Pair; PAIRS]);

/// A frequency, saturated, and the class of a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The frequency; 0 if there is no pair.
    pub frequency: u8,
    class: u8,
}

impl Pair {
    /// Returns the least length of its class.
    #[inline(always)]
    pub fn shortest(self) -> u32 {
        shortest_of(self.class)
    }

    /// Returns the class of its length.
    #[inline(always)]
    pub fn class(self) -> u8 {
        self.class
    }

    /// Returns the greatest length of its class.
    #[inline]
    pub fn longest(self) -> u32 {
        longest_of(self.class)
    }
}

impl Maxima {
    /// The least length of each class.
    pub const SHORTEST: [u32; 256] = SHORTEST;

    /// Returns the maxima of postings with these saturated frequencies and lengths. A posting of
    /// length 0 does not count.
    #[inline]
    pub fn of(postings: impl IntoIterator<Item = (u8, u16)>) -> Maxima {
        let mut frontier = Frontier::of(postings);
        let are_postings = frontier.len() <= PAIRS;
        while frontier.len() > PAIRS {
            frontier.join_cheapest();
        }
        let mut pairs = [Pair::default(); PAIRS];
        for (at, pair) in pairs.iter_mut().enumerate().take(frontier.len()) {
            let Point { frequency, length } = frontier.point(at);
            *pair = Pair { frequency, class: class_of(length) };
        }
        if !are_postings {
            pairs.reverse();
        }
        Maxima(pairs)
    }

    /// Parses a block's word.
    #[inline(always)]
    pub fn from_word(word: u64) -> Maxima {
        Maxima([0, 1, 2, 3].map(|number| {
            let [frequency, class] = ((word >> (16 * number)) as u16).to_le_bytes();
            Pair { frequency, class }
        }))
    }

    /// Returns the block's word.
    pub fn word(self) -> u64 {
        let bits = |(number, pair): (usize, &Pair)| {
            (u64::from(pair.class) << 8 | u64::from(pair.frequency)) << (16 * number)
        };
        self.0.iter().enumerate().map(bits).sum()
    }

    /// Returns the pairs that bound the block's postings. For each posting there is a pair that is
    /// at least as frequent. In the shortest length of its class, this pair is also at least as
    /// dense. A frequency of [`FREQUENCY_MAX`](crate::ground::posting::FREQUENCY_MAX) stands for
    /// all that are as high or higher.
    #[inline(always)]
    pub fn pairs(self) -> [Pair; PAIRS] {
        self.0
    }

    /// Returns the highest frequency, saturated.
    #[inline(always)]
    pub fn frequency(self) -> u8 {
        self.0[0].frequency.max(self.0[PAIRS - 1].frequency)
    }

    /// True if each pair is a posting of the block, with a length of that class.
    #[inline(always)]
    pub fn are_postings(self) -> bool {
        self.0[0].frequency >= self.0[1].frequency
    }
}

/// Returns the maxima of a block of postings. `lengths` are the documents' lengths in the term's
/// field, and `base_rank` is the rank of the segment's newest row.
pub(crate) fn maxima_of(block: &[AtomicU32], lengths: LengthArray<'_>, base_rank: u32) -> Maxima {
    Maxima::of(block.iter().map(|word| {
        let word = word.load(Relaxed);
        // A damaged posting has no row.
        let index = rank(word).wrapping_sub(base_rank) as usize;
        (frequency(word) as u8, lengths.get(index).unwrap_or(0))
    }))
}

/// Writes the maxima of a list.
pub(crate) fn write_maxima(
    list: &[AtomicU32],
    lengths: LengthArray<'_>,
    base_rank: u32,
    maxima: &[AtomicU64],
) {
    for (block, word) in list.chunks(BLOCK_POSTINGS as usize).zip(maxima) {
        word.store(maxima_of(block, lengths, base_rank).word(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::posting::rank_of;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU16;

    /// A score's share of its weight.
    fn share(frequency: u32, length: u32, (c0, c1): (f64, f64)) -> f64 {
        frequency as f64 / (frequency as f64 + c0 + c1 * length as f64)
    }

    /// Postings as short documents have them, and as long ones.
    fn any_postings() -> impl Strategy<Value = Vec<(u32, u32)>> {
        let ends =
            (prop_oneof![2u32..30, Just(300)], prop_oneof![Just(60u32), Just(900), Just(70_000)]);
        ends.prop_flat_map(|(frequency, length)| {
            prop::collection::vec((1..frequency, 0..length), 1..400)
        })
    }

    proptest! {
        /// No posting scores more than its block's best pair, for any parameters. Pairs are
        /// postings if the maxima say so.
        #[test]
        fn no_posting_is_above_its_block(
            postings in any_postings(),
            parameters in (0.0f64..3.0, prop_oneof![Just(0.0), 0.0f64..0.3]),
        ) {
            let rows = postings.len() as u32;
            let of = |row: u32| postings[row as usize];
            let lengths: Vec<AtomicU16> = (0..rows).rev()
                .map(|row| AtomicU16::new(crate::rows::lengths::saturated(of(row).1))).collect();
            let list: Vec<AtomicU32> = (0..rows).rev()
                .map(|row| AtomicU32::new(rank_of(row) << 8 | of(row).0.min(255))).collect();
            let words: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
            write_maxima(&list, LengthArray::new(&lengths), rank_of(rows - 1), &words);
            for (block, word) in (0..rows).rev().collect::<Vec<_>>().chunks(128).zip(&words) {
                let maxima = Maxima::from_word(word.load(Relaxed));
                prop_assert_eq!(maxima.word(), word.load(Relaxed));
                let counted: Vec<_> = block.iter().map(|row| of(*row)).filter(|(_, l)| *l > 0).collect();
                let highest = counted.iter().map(|(f, _)| *f).max().unwrap_or(0);
                prop_assert_eq!(maxima.frequency() as u32, highest.min(255));
                let best = |pair: Pair| {
                    let frequency = if pair.frequency == 255 { u32::MAX } else { pair.frequency as u32 };
                    if frequency == 0 { 0.0 } else { share(frequency, pair.shortest(), parameters) }
                };
                let bound = maxima.pairs().into_iter().map(best).fold(0.0, f64::max) + 1e-12;
                prop_assert!(counted.iter().all(|(f, l)| share(*f, (*l).min(65_535), parameters) <= bound));
                for pair in maxima.pairs().into_iter().filter(|pair| pair.frequency > 0) {
                    let is = |(f, l): &(u32, u32)| (*f).min(255) == pair.frequency as u32
                        && (pair.shortest()..=pair.longest()).contains(&(*l).min(65_535));
                    prop_assert!(!maxima.are_postings() || counted.iter().any(is));
                }
            }
        }
    }
}
