//! Positions of postings: numbers of one width, each of which can be read on its own.
//!
//! They are a stream of bits, lowest first. Its first 8 bits are the *width*, 0 to 32. Then come
//! the numbers, with that many bits each, filled up to whole words of 4 bytes. A posting of
//! frequency `f` below 255 has `f` numbers. The first is its first position. Each further number is
//! the distance from the position before, less one. Frequency 255 stands for all higher ones. Such
//! a posting has one more number in front: the number of its positions.
//!
//! A phrase asks for a few postings of a block, seldom for all. So there are no exceptions, and no
//! gaps between documents, which would have to be summed from the block's beginning.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::ground::posting::{FREQUENCY_MAX, frequency};

/// Number of bits of the width.
const WIDTH_BITS: u64 = 8;
const WORD_BITS: u64 = u32::BITS as u64;

/// The positions of one block's postings.
#[derive(Clone, Copy)]
pub struct Positions<'a> {
    words: &'a [AtomicU32],
    width: u32,
    /// The region and the place of the words, if their pages are to be proved.
    place: Option<(&'a Region, u64)>,
}

impl<'a> Positions<'a> {
    /// Returns the positions that begin with these words.
    pub fn new(words: &'a [AtomicU32]) -> Positions<'a> {
        let width = words.first().map_or(0, |word| word.load(Relaxed) & 0xFF);
        Positions { words, width: width.min(u32::BITS), place: None }
    }

    /// Returns the positions that begin with the words of `span`. The span may be longer.
    pub fn at(region: &'a Region, span: Span<AtomicU32>) -> Positions<'a> {
        let words = region.peek(span).unwrap_or(&[]);
        region.prove(span.start(), words.len().min(1) as u64 * 4);
        Positions { place: Some((region, span.start())), ..Positions::new(words) }
    }

    /// Proves the pages of `count` numbers from `first` on, before they are read.
    fn look_at(&self, first: u64, count: u64) {
        let Some((region, start)) = self.place else { return };
        let word = |number: u64| {
            let bit = WIDTH_BITS + number.saturating_mul(self.width as u64);
            (bit / WORD_BITS).min(self.words.len() as u64)
        };
        let end = (word(first + count) + 1).min(self.words.len() as u64);
        let first = word(first).min(end);
        region.prove(start + first * 4, (end - first) * 4);
    }

    /// Returns the number at `index`. Missing words are read as zeros.
    fn number(&self, index: u64) -> u32 {
        let bit = WIDTH_BITS + index * self.width as u64;
        let at = (bit / WORD_BITS) as usize;
        let word = |at: usize| self.words.get(at).map_or(0, |word| word.load(Relaxed) as u64);
        let bits = (word(at) | word(at + 1) << WORD_BITS) >> (bit % WORD_BITS);
        (bits & ((1 << self.width) - 1)) as u32
    }

    /// Yields the positions of the last of these postings, ascending. `postings` are those of the
    /// block up to it.
    pub fn of_last(&self, postings: &[u32]) -> PositionIter<'a> {
        let Some((last, before)) = postings.split_last() else { return self.take(0, 0) };
        let at = before.iter().fold(0, |at, word| at + self.numbers(at, *word));
        let (extra, count) = match frequency(*last) {
            // A damaged one says no more than there is.
            FREQUENCY_MAX => (1, self.counted(at).min(self.numbers_max())),
            count => (0, count),
        };
        self.take(at + extra, count)
    }

    /// Returns an upper bound of the numbers of this width in the words.
    fn numbers_max(&self) -> u32 {
        let bits = self.words.len() as u64 * WORD_BITS;
        bits.checked_div(self.width as u64).map_or(0, |max| max.min(u32::MAX as u64) as u32)
    }

    /// Returns the number of numbers of a posting whose first one is at `at`.
    fn numbers(&self, at: u64, posting: u32) -> u64 {
        match frequency(posting) {
            FREQUENCY_MAX => 1 + self.counted(at) as u64,
            count => count as u64,
        }
    }

    /// Returns the number at `at`, which counts the numbers behind it.
    fn counted(&self, at: u64) -> u32 {
        self.look_at(at, 1);
        self.number(at)
    }

    fn take(&self, at: u64, count: u32) -> PositionIter<'a> {
        self.look_at(at, count.into());
        PositionIter { positions: *self, at, left: count, next: 0 }
    }

    /// Words that this many numbers of this width take.
    #[cfg(test)]
    fn words(&self, numbers: u64) -> usize {
        words_for(self.width, numbers)
    }
}

/// Words that the width and this many numbers take.
pub(super) fn words_for(width: u32, numbers: u64) -> usize {
    (WIDTH_BITS + numbers * width as u64).div_ceil(WORD_BITS) as usize
}

/// Appends numbers, as [`Positions`] reads them.
pub(super) fn write(numbers: &[u32], out: &mut Vec<u32>) {
    let width = spirit_kernel::packed::width_of(numbers);
    let first = out.len();
    out.resize(first + words_for(width, numbers.len() as u64), 0);
    let words = &mut out[first..];
    words[0] = width;
    for (index, number) in (0..).zip(numbers) {
        let bit = WIDTH_BITS + index * width as u64;
        let (at, bits) = ((bit / WORD_BITS) as usize, (*number as u64) << (bit % WORD_BITS));
        for (word, bits) in words[at..].iter_mut().zip([bits as u32, (bits >> WORD_BITS) as u32]) {
            *word |= bits;
        }
    }
}

/// Appends the numbers of a posting of this frequency with these positions.
pub(super) fn push_numbers(frequency: u32, positions: &[u32], numbers: &mut Vec<u32>) {
    if frequency == FREQUENCY_MAX {
        numbers.push(positions.len() as u32);
    }
    let mut next = 0;
    for position in positions {
        numbers.push(position - next);
        next = position + 1;
    }
}

/// Iterator over a posting's positions, ascending.
#[derive(Clone)]
pub struct PositionIter<'a> {
    positions: Positions<'a>,
    at: u64,
    left: u32,
    /// The lowest position that the next one may be.
    next: u32,
}

impl PositionIter<'_> {
    /// One position.
    pub fn once(position: u32) -> PositionIter<'static> {
        PositionIter { positions: Positions::new(&[]), at: 0, left: 1, next: position }
    }

    /// No position.
    pub fn none() -> PositionIter<'static> {
        PositionIter { left: 0, ..PositionIter::once(0) }
    }
}

impl Iterator for PositionIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next.wrapping_add(self.positions.number(self.at));
        (self.at, self.next) = (self.at + 1, position.wrapping_add(1));
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Every posting's positions come back, whatever is before them.
        #[test]
        fn positions_read_back(
            documents in prop::collection::vec(
                prop_oneof![
                    9 => prop::collection::btree_set(0u32..300, 1..5),
                    1 => prop::collection::btree_set(0u32..70_000, 250..260),
                ],
                1..40,
            ),
            none in any::<bool>(),
        ) {
            let mut documents: Vec<BTreeSet<u32>> = documents;
            if none {
                documents.clear();
            }
            let (mut numbers, mut words, mut postings) = (Vec::new(), vec![7], Vec::new());
            for (rank, positions) in (0u32..).zip(&documents) {
                let frequency = (positions.len() as u32).min(FREQUENCY_MAX);
                postings.push(rank << 8 | frequency);
                push_numbers(frequency, &positions.iter().copied().collect::<Vec<_>>(), &mut numbers);
            }
            write(&numbers, &mut words);
            let shared: Vec<AtomicU32> = words.iter().map(|word| AtomicU32::new(*word)).collect();
            let positions = Positions::new(&shared[1..]);
            prop_assert_eq!(positions.words(numbers.len() as u64), words.len() - 1);
            for (index, expected) in documents.iter().enumerate() {
                let found: Vec<u32> = positions.of_last(&postings[..=index]).collect();
                prop_assert_eq!(found, expected.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(positions.of_last(&[]).count(), 0);
        }
    }
}
