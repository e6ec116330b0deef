//! Block maxima: how high the postings of a block can score, told without looking at any.
//!
//! A score grows with the frequency and falls with the length of the document. The highest frequency of a block and its
//! shortest document are seldom one posting's, and together they promise much more than any of them holds. So a block has
//! its shortest document thrice: of all postings, of those that are there twice, and of those that are there four times.
//! A posting is below one of the three [`levels`](Maxima::levels), whatever the formula.
//!
//! | bits of a block's word | |
//! |---|---|
//! | 0 .. 8 | highest frequency, saturated as in postings |
//! | 8 .. 16 | 0 |
//! | 16 .. 32 | shortest length, saturated as in the array of lengths; 65535 if there is no posting |
//! | 32 .. 48 | the same of postings with a frequency of 2 or more |
//! | 48 .. 64 | the same of 4 or more |
//!
//! Lengths are those of the term's field; where that is not of text, and what it has scores the same for all, they are 1. Postings of rows
//! that have no length, since they never came to life, are left out.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::lengths::{LENGTH_MAX, LengthArray};
use crate::posting::{frequency, rank};

/// Postings of a block; the last one of a list may have fewer. Lists of no more have no maxima.
pub const BLOCK_POSTINGS: u32 = 128;
/// The frequencies from which on a block has its shortest document.
pub const LEVELS: [u32; 3] = [1, 2, 4];

/// Blocks of a list that have maxima.
#[inline(always)]
pub fn blocks_of(postings: u32) -> u64 {
    if postings > BLOCK_POSTINGS { postings.div_ceil(BLOCK_POSTINGS) as u64 } else { 0 }
}

/// What the postings of a block can be at best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maxima {
    /// The highest frequency, saturated.
    pub frequency: u8,
    /// The shortest length, saturated, of postings with a frequency of at least 1, 2 and 4.
    pub lengths: [u16; 3],
}

impl Maxima {
    /// Of no postings.
    pub const NONE: Maxima = Maxima { frequency: 0, lengths: [LENGTH_MAX; 3] };

    /// From a block's word.
    #[inline(always)]
    pub fn from_word(word: u64) -> Maxima {
        let lengths = [word >> 16, word >> 32, word >> 48].map(|bits| bits as u16);
        Maxima { frequency: word as u8, lengths }
    }

    /// To a block's word.
    pub fn word(self) -> u64 {
        let [one, two, four] = self.lengths.map(u64::from);
        self.frequency as u64 | one << 16 | two << 32 | four << 48
    }

    /// Three frequencies, each with a length: no posting of the block has a higher frequency and a shorter document than all
    /// of them. A frequency of [`FREQUENCY_MAX`](crate::posting::FREQUENCY_MAX) stands for any that is as high or higher.
    #[inline]
    pub fn levels(self) -> [(u32, u32); 3] {
        let highest = self.frequency as u32;
        let [one, two, four] = self.lengths.map(u32::from);
        [(highest.min(1), one), (highest.min(3), two), (highest, four)]
    }

    fn add(&mut self, frequency: u32, length: u16) {
        self.frequency = self.frequency.max(frequency as u8);
        for (level, shortest) in LEVELS.iter().zip(&mut self.lengths) {
            if frequency >= *level {
                *shortest = length.min(*shortest);
            }
        }
    }
}

/// The maxima of a block of postings in a segment whose documents have these lengths in the field of the term, whose newest row has the rank `base_rank`.
pub(crate) fn maxima_of(block: &[AtomicU32], lengths: LengthArray<'_>, base_rank: u32) -> Maxima {
    let mut maxima = Maxima::NONE;
    for word in block {
        let word = word.load(Relaxed);
        // A damaged posting is of no row.
        let index = rank(word).wrapping_sub(base_rank) as usize;
        let length = lengths.get(index).unwrap_or(0);
        if length > 0 {
            maxima.add(frequency(word), length);
        }
    }
    maxima
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
    use crate::posting::rank_of;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU16;

    /// Higher for a higher frequency and for a shorter document.
    fn score(frequency: u32, length: u32) -> f64 {
        frequency as f64 / (frequency as f64 + 0.3 + 0.02 * length as f64)
    }

    proptest! {
        /// The word says the highest and the shortest, no posting scores more than its block's best level, and none of the levels
        /// is higher than the highest frequency in the shortest document.
        #[test]
        fn no_posting_is_above_its_block(
            postings in (prop_oneof![2u32..6, Just(300)], prop_oneof![Just(60u32), Just(70_000)])
                .prop_flat_map(|(frequency, length)| {
                    prop::collection::vec((1..frequency, 0..length), 1..400)
                }),
        ) {
            let rows = postings.len() as u32;
            let of = |row: u32| postings[row as usize];
            let lengths: Vec<AtomicU16> = (0..rows).rev()
                .map(|row| AtomicU16::new(crate::lengths::saturated(of(row).1))).collect();
            let list: Vec<AtomicU32> = (0..rows).rev()
                .map(|row| AtomicU32::new(rank_of(row) << 8 | of(row).0.min(255))).collect();
            let words: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
            write_maxima(&list, LengthArray::new(&lengths), rank_of(rows - 1), &words);
            for (block, word) in (0..rows).rev().collect::<Vec<_>>().chunks(128).zip(&words) {
                let maxima = Maxima::from_word(word.load(Relaxed));
                prop_assert_eq!(maxima.word(), word.load(Relaxed));
                let counted: Vec<_> = block.iter().map(|row| of(*row)).filter(|(_, l)| *l > 0).collect();
                for (level, shortest) in LEVELS.iter().zip(maxima.lengths) {
                    let naive = counted.iter().filter(|(f, _)| f >= level).map(|(_, l)| *l).min();
                    prop_assert_eq!(shortest as u32, naive.unwrap_or(u32::MAX).min(65_535));
                }
                let highest = counted.iter().map(|(f, _)| *f).max().unwrap_or(0);
                prop_assert_eq!(maxima.frequency as u32, highest.min(255));
                let best = |(f, l): (u32, u32)| score(if f == 255 { u32::MAX } else { f }, l);
                let bound = maxima.levels().into_iter().map(best).fold(0.0, f64::max);
                prop_assert!(counted.iter().all(|(f, l)| score(*f, *l) <= bound));
            }
        }
    }
}
