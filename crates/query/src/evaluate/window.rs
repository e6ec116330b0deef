//! A window: up to 4096 ranks of a segment that are evaluated together, a bit each.
//!
//! Evaluation is block at a time. A clause's matches in a window are a row of bits, and clauses are
//! combined 64 documents at a time. The first windows of a segment are small, since a query for the
//! newest few is often done there.

use std::ops::Range;

use crate::leaf::END;
use crate::tuning::WINDOW_WORDS_FIRST;

/// Words of the largest window.
pub(crate) const WORDS: usize = 64;
/// Ranks of the largest window.
pub(crate) const RANKS: u32 = WORDS as u32 * 64;

/// The bits of a window.
pub(crate) type Bits = [u64; WORDS];

/// The ranks of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The rank of bit 0: a multiple of 64 from the segment's first rank.
    pub(crate) start: u32,
    words: usize,
}

impl Window {
    /// Returns a segment's first window, if the first match may be at `rank`.
    pub(crate) fn first(base: u32, rank: u32) -> Window {
        Window { start: aligned(base, rank), words: WINDOW_WORDS_FIRST }
    }

    /// Returns the window after this one, if the next match may be at `rank`.
    pub(crate) fn next(self, base: u32, rank: u32) -> Window {
        Window { start: aligned(base, rank).max(self.end()), words: (self.words * 2).min(WORDS) }
    }

    /// Returns the number of its words.
    pub(crate) fn words(self) -> usize {
        self.words
    }

    /// Returns one past its last rank.
    pub(crate) fn end(self) -> u32 {
        self.start + self.words as u32 * 64
    }

    /// Returns the rank of a bit.
    pub(crate) fn rank(self, bit: usize) -> u32 {
        self.start + bit as u32
    }

    /// Sets the bits of all ranks below [`END`].
    pub(crate) fn fill(self, bits: &mut [u64]) {
        bits.fill(u64::MAX);
        self.keep_ranks(bits, self.start..END);
    }

    /// Clears the bits of ranks outside `ranks`.
    pub(crate) fn keep_ranks(self, bits: &mut [u64], ranks: Range<u32>) {
        let bit = |rank: u32| rank.saturating_sub(self.start) as usize;
        let (from, end) = (bit(ranks.start), bit(ranks.end));
        for (number, word) in bits.iter_mut().enumerate() {
            let (first, behind) = (number * 64, number * 64 + 64);
            if from >= behind || end <= first {
                *word = 0;
                continue;
            }
            if from > first {
                *word &= u64::MAX << (from - first);
            }
            if end < behind {
                *word &= u64::MAX >> (behind - end);
            }
        }
    }
}

/// Returns the first rank of the aligned 64 ranks that include `rank`.
pub(crate) fn aligned(base: u32, rank: u32) -> u32 {
    base + (rank.saturating_sub(base) & !63)
}

/// True if no bit is set.
pub(crate) fn is_empty(bits: &[u64]) -> bool {
    bits.iter().all(|word| *word == 0)
}

/// Returns the set bits, ascending.
pub(crate) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(number, word)| Ones(*word).map(move |bit| number * 64 + bit))
}

/// Like [`ones`], from a bit on.
pub(crate) fn ones_from(bits: &[u64], from: usize) -> impl Iterator<Item = usize> + '_ {
    let first = bits.get(from / 64).map_or(0, |word| word & u64::MAX << (from % 64));
    let rest = bits.get(from / 64 + 1..).unwrap_or(&[]);
    let words = std::iter::once(first).chain(rest.iter().copied()).zip(from / 64..);
    words.flat_map(|(word, number)| Ones(word).map(move |bit| number * 64 + bit))
}

/// The set bits of a word, ascending.
#[derive(Clone, Copy)]
pub(crate) struct Ones(pub(crate) u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let bit = self.0.trailing_zeros() as usize;
        (self.0 != 0).then(|| {
            self.0 &= self.0 - 1;
            bit
        })
    }
}

/// The number of matching clauses, for 64 documents at a time. Each binary digit of the counts is a
/// row of bits. A clause is added by half adders, digit by digit, until nothing is carried.
pub(crate) struct Counts {
    digits: [Bits; DIGITS],
    /// The digits in use, which suffice for the number of clauses.
    used: usize,
}

/// Digits that suffice for the highest number of clauses in a query.
const DIGITS: usize = 16;

impl Counts {
    /// Returns counts of zero, for at most this many clauses.
    pub(crate) fn of(clauses: usize) -> Counts {
        let used = (usize::BITS - clauses.leading_zeros()) as usize;
        Counts { digits: [[0; WORDS]; DIGITS], used: used.min(DIGITS) }
    }

    /// Increments the counts of the documents whose bits are set.
    pub(crate) fn add(&mut self, bits: &[u64]) {
        let mut carries = [0; WORDS];
        carries[..bits.len()].copy_from_slice(bits);
        for digit in &mut self.digits[..self.used] {
            let mut any = 0;
            for (digit, carry) in digit.iter_mut().zip(&mut carries) {
                (*digit, *carry) = (*digit ^ *carry, *digit & *carry);
                any |= *carry;
            }
            if any == 0 {
                return;
            }
        }
    }

    /// Clears the bits of documents whose count is below `minimum`.
    pub(crate) fn keep_at_least(&self, minimum: u32, bits: &mut [u64]) {
        if minimum >= 1 << self.used {
            return bits.fill(0);
        }
        // Digits are compared from the highest down. A count suffices if it is greater at the first
        // difference, or equal.
        let (mut more, mut least) = ([0; WORDS], [u64::MAX; WORDS]);
        for (power, digit) in self.digits[..self.used].iter().enumerate().rev() {
            let is_set = minimum >> power & 1 == 1;
            for ((more, least), digit) in more.iter_mut().zip(&mut least).zip(digit) {
                if is_set {
                    *least &= digit;
                } else {
                    *more |= *least & digit;
                }
            }
        }
        for ((word, more), least) in bits.iter_mut().zip(&more).zip(&least) {
            *word &= more | least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_those_of_counting(
            clauses in proptest::collection::vec(any::<[u64; 2]>(), 0..20),
            minimum in 0u32..22,
        ) {
            let mut counts = Counts::of(clauses.len());
            clauses.iter().for_each(|bits| counts.add(bits));
            let mut kept = [u64::MAX; 2];
            counts.keep_at_least(minimum, &mut kept);
            for bit in 0..128 {
                let has = |bits: &[u64; 2]| bits[bit / 64] >> (bit % 64) & 1 == 1;
                let count = clauses.iter().filter(|bits| has(bits)).count();
                prop_assert_eq!(has(&kept), count >= minimum as usize);
            }
        }

        #[test]
        fn ranks_outside_are_cleared(from in 0u32..700, len in 0u32..700, start in 0u32..5) {
            let window = Window { start: start * 64, words: 8 };
            let mut bits = [u64::MAX; 8];
            window.keep_ranks(&mut bits, from..from + len);
            let kept: Vec<u32> = ones(&bits).map(|bit| window.rank(bit)).collect();
            let expected: Vec<u32> =
                (window.start..window.end()).filter(|rank| (from..from + len).contains(rank)).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
