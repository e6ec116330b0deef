//! The frontier of a block: the postings that no other exceeds in both frequency and density.

use crate::ground::posting::FREQUENCY_MAX;

/// Number of values of a posting's frequency.
const FREQUENCIES: usize = FREQUENCY_MAX as usize + 1;
/// Marks a frequency without postings. Lengths are stored less one.
const NONE: u16 = u16::MAX;
/// Bits by which worths are shifted before they are divided. No frequency overflows then.
const WORTH_SHIFT: u32 = 22;
const _: () = assert!(FREQUENCY_MAX.leading_zeros() >= WORTH_SHIFT);

/// A term's frequency in a document, and the document's length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) frequency: u8,
    pub(super) length: u16,
}

/// Points in descending order of frequency, which is ascending order of density.
#[derive(Debug)]
pub(super) struct Frontier {
    /// By frequency: the shortest length, less one.
    shortest: [u16; FREQUENCIES],
    /// The frequencies of the points.
    frequencies: [u8; FREQUENCIES],
    len: usize,
    /// The amount that a score adds to a document's length with the usual parameters (`b` = 0.75).
    /// It is a third of the mean length, here of the block's documents.
    constant: u32,
}

impl Frontier {
    /// Returns the frontier of postings with these frequencies and lengths. Postings of length 0
    /// are left out.
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
            // A length of 0 wraps to [`NONE`].
            let shortest = &mut frontier.shortest[frequency as usize];
            *shortest = length.wrapping_sub(1).min(*shortest);
        }
        frontier.constant = tokens.checked_div(3 * documents).unwrap_or(0) as u32;
        (1..=highest).rev().for_each(|frequency| frontier.add(frequency));
        frontier
    }

    /// Returns the number of points.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the point at `at`.
    pub(super) fn point(&self, at: usize) -> Point {
        self.shortest_with(self.frequencies[at])
    }

    /// Joins the two adjacent points whose join has the least worth: it is least likely to exceed
    /// all others. There are at least two points.
    pub(super) fn join_cheapest(&mut self) {
        let joined = |at: usize| self.point(at).joined(self.point(at + 1));
        let cheapest = (0..self.len - 1).min_by_key(|at| self.worth(joined(*at))).unwrap_or(0);
        let Point { frequency, length } = joined(cheapest);
        self.shortest[frequency as usize] = length - 1;
        self.frequencies.copy_within(cheapest + 2..self.len, cheapest + 1);
        self.len -= 1;
    }

    /// Adds the shortest posting of a frequency as a point, if it is denser than those before. The
    /// frequency is below theirs.
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

    /// Returns the worth of a point, which grows with its score.
    fn worth(&self, point: Point) -> u32 {
        ((point.frequency as u32) << WORTH_SHIFT) / (self.constant + point.length as u32)
    }
}

impl Point {
    fn is_denser_than(self, other: Point) -> bool {
        self.frequency as u32 * other.length as u32 > other.frequency as u32 * self.length as u32
    }

    /// Returns a point as frequent as this one and as dense as `denser`, or slightly denser.
    fn joined(self, denser: Point) -> Point {
        let length = denser.length as u32 * self.frequency as u32 / denser.frequency as u32;
        Point { frequency: self.frequency, length: length as u16 }
    }
}
