//! The postings of a block that no other is above both in frequency and in density.

use crate::ground::posting::FREQUENCY_MAX;

/// A posting's frequency may be each of these.
const FREQUENCIES: usize = FREQUENCY_MAX as usize + 1;
/// No posting of a frequency: lengths are kept less one.
const NONE: u16 = u16::MAX;
/// What worths are multiplied by before they are divided: no frequency is too high for that.
const WORTH_SHIFT: u32 = 22;
const _: () = assert!(FREQUENCY_MAX.leading_zeros() >= WORTH_SHIFT);

/// How often a term is in a document, and how long that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) frequency: u8,
    pub(super) length: u16,
}

/// Points in descending order of frequency, ascending by density.
#[derive(Debug)]
pub(super) struct Frontier {
    /// By frequency: the shortest length, less one.
    shortest: [u16; FREQUENCIES],
    /// The frequencies of the points.
    frequencies: [u8; FREQUENCIES],
    len: usize,
    /// What a score adds to a document's length, in the usual parameters (`b` = 0.75): a third of the mean length, here of the block's documents.
    constant: u32,
}

impl Frontier {
    /// That of postings with these frequencies and lengths, those of length 0 left out.
    #[inline]
    pub(super) fn of(postings: impl IntoIterator<Item = (u8, u16)>) -> Frontier {
        let mut frontier = Frontier {
            shortest: [NONE; FREQUENCIES],
            frequencies: [0; FREQUENCIES],
            len: 0,
            constant: 0,
        };
        let (mut highest, mut tokens, mut documents) = (0, 0, 0);
        for (frequency, length) in postings {
            highest = highest.max(frequency);
            tokens += u64::from(length);
            documents += u64::from(length > 0);
            // One of no length becomes none.
            let shortest = &mut frontier.shortest[frequency as usize];
            *shortest = length.wrapping_sub(1).min(*shortest);
        }
        frontier.constant = tokens.checked_div(3 * documents).unwrap_or(0) as u32;
        (1..=highest).rev().for_each(|frequency| frontier.add(frequency));
        frontier
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A point.
    pub(super) fn point(&self, at: usize) -> Point {
        self.shortest_with(self.frequencies[at])
    }

    /// Makes one of the two neighbours that make the least: what is least likely to be above all others. There are two.
    pub(super) fn join_cheapest(&mut self) {
        let joined = |at: usize| self.point(at).joined(self.point(at + 1));
        let cheapest = (0..self.len - 1).min_by_key(|at| self.worth(joined(*at))).unwrap_or(0);
        let Point { frequency, length } = joined(cheapest);
        self.shortest[frequency as usize] = length - 1;
        self.frequencies.copy_within(cheapest + 2..self.len, cheapest + 1);
        self.len -= 1;
    }

    /// Makes a point of the shortest posting of a frequency, which is below those before, if it is denser than they are.
    fn add(&mut self, frequency: u8) {
        let point = self.shortest_with(frequency);
        let before = self.len.checked_sub(1).map(|last| self.point(last));
        let is_there = self.shortest[frequency as usize] != NONE;
        if is_there && before.is_none_or(|before| point.is_denser_than(before)) {
            self.frequencies[self.len] = frequency;
            self.len += 1;
        }
    }

    fn shortest_with(&self, frequency: u8) -> Point {
        let length = self.shortest[frequency as usize].saturating_add(1);
        Point { frequency, length }
    }

    /// What a point scores grows with it.
    fn worth(&self, point: Point) -> u32 {
        ((point.frequency as u32) << WORTH_SHIFT) / (self.constant + point.length as u32)
    }
}

impl Point {
    fn is_denser_than(self, other: Point) -> bool {
        self.frequency as u32 * other.length as u32 > other.frequency as u32 * self.length as u32
    }

    /// As frequent as this one and as dense as `denser`, or a little more.
    fn joined(self, denser: Point) -> Point {
        let length = denser.length as u32 * self.frequency as u32 / denser.frequency as u32;
        Point { frequency: self.frequency, length: length as u16 }
    }
}
