//! Document lengths: the numbers of *kept* tokens of documents' texts. A hole, a position whose
//! token was not kept, does not count. Other fields of text have their own lengths
//! (`field_lengths`).
//!
//! A fresh segment has a *running count* for each row, in a word behind the rows of each chunk. It
//! counts the rows up to and with this one. So a length is the difference of two adjacent counts,
//! and the statistics of the first rows are one load. They are exact for any number of rows that a
//! snapshot sees while more are written.
//!
//! | bits of a running count | |
//! |---|---|
//! | 0 .. 40 | tokens that were kept |
//! | 40 .. 64 | documents that have any |
//!
//! A flushed segment has its lengths as an array of 16-bit numbers, saturated, newest row first:
//! the order of ranks and bitmaps. A reader that scores a list reads the array from front to end.
//! Beside packed lists the lengths are bytes, if none is longer.
//!
//! A delete's row counts nothing, and neither does that of a document that was broken off or given
//! up. A dead document counts while its row is there. Otherwise statistics would need the deaths of
//! each snapshot.

use std::ops::{Add, AddAssign, Sub};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::geometry::{COUNT_BYTES, Geometry, ROW_BYTES};
use crate::ground::section::Section;

/// Lengths in an array are exact below this value. At this value, the document vector has the exact
/// length.
pub const LENGTH_MAX: u16 = u16::MAX;
/// Bytes of a length in an array.
pub const LENGTH_BYTES: u64 = size_of::<u16>() as u64;

/// Returns the bytes of the lengths of this many rows in the second tier, in whole words.
pub(crate) fn length_bytes(rows: u64) -> u64 {
    (rows * LENGTH_BYTES).next_multiple_of(8)
}

/// Like [`length_bytes`], but for one byte each. For a few rows this is no less; then lengths are
/// not short.
pub(crate) fn short_length_bytes(rows: u64) -> u64 {
    rows.next_multiple_of(8)
}

/// Flag in a descriptor's word: the lengths are bytes.
const BYTES: u64 = 1;

/// Documents' lengths as an array, newest first.
#[derive(Clone, Copy)]
pub struct LengthArray<'a> {
    /// A length, or two lengths, the first in the low byte.
    units: &'a [AtomicU16],
    rows: usize,
    are_bytes: bool,
    /// True if each length is 1 and none is stored.
    are_ones: bool,
    /// The rows that have a length, if only those are stored: ascending, with 0 for the newest of
    /// the segment.
    listed: Option<&'a [AtomicU32]>,
}

impl<'a> LengthArray<'a> {
    /// Makes an array of 16-bit lengths.
    pub fn new(units: &'a [AtomicU16]) -> LengthArray<'a> {
        LengthArray { units, rows: units.len(), are_bytes: false, are_ones: false, listed: None }
    }

    /// Makes the lengths of this many rows in a field whose lengths do not matter: each is 1.
    pub(crate) fn ones(rows: u32) -> LengthArray<'static> {
        LengthArray { rows: rows as usize, are_ones: true, ..LengthArray::new(&[]) }
    }

    /// Makes an array of this many rows' lengths, with a unit or half a unit each.
    pub(crate) fn packed(units: &'a [AtomicU16], rows: u32, are_bytes: bool) -> LengthArray<'a> {
        LengthArray { rows: rows as usize, are_bytes, ..LengthArray::new(units) }
    }

    /// Returns these lengths as those of the rows `listed`.
    pub(crate) fn of_rows(self, listed: &'a [AtomicU32]) -> LengthArray<'a> {
        LengthArray { listed: Some(listed), ..self }
    }

    /// Returns the lengths of this many rows that a descriptor's word leads to, or `None` if they
    /// are out of range.
    pub(crate) fn at(region: &'a Region, word: u64, rows: u64) -> Option<LengthArray<'a>> {
        let (start, are_bytes) = (word & !BYTES, word & BYTES != 0);
        let units = if are_bytes { rows.div_ceil(2) } else { rows };
        let units = region.get(Span::new(start, units))?;
        Some(LengthArray { rows: rows as usize, are_bytes, ..LengthArray::new(units) })
    }

    /// Returns a descriptor's word for the lengths of this many rows in a section.
    pub(crate) fn word(section: Section, rows: u64) -> u64 {
        section.start | if section.bytes < length_bytes(rows) { BYTES } else { 0 }
    }

    /// Returns the number of lengths.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns the length at `index`, saturated at [`LENGTH_MAX`].
    #[inline]
    pub fn get(&self, index: usize) -> Option<u16> {
        match self.listed {
            None if self.are_ones => (index < self.rows).then_some(1),
            None => self.stored(index),
            Some(rows) => {
                let row = u32::try_from(index).ok()?;
                self.stored(rows.binary_search_by_key(&row, |row| row.load(Relaxed)).ok()?)
            }
        }
    }

    #[inline]
    fn stored(&self, index: usize) -> Option<u16> {
        let unit = self.units.get(if self.are_bytes { index / 2 } else { index })?.load(Relaxed);
        Some(if self.are_bytes { unit >> (index % 2 * 8) & 0xFF } else { unit })
    }

    /// Returns the lengths for scoring: that of rank `r` is at `r - base`.
    #[inline]
    pub fn by_rank(&self, base: u32) -> spirit_kernel::Lengths<'a> {
        let lengths = match self.are_bytes {
            true => spirit_kernel::Lengths::of_bytes(self.units, base),
            false => spirit_kernel::Lengths::new(self.units, base),
        };
        self.listed.map_or(lengths, |rows| lengths.of_rows(rows))
    }
}

const TOKEN_BITS: u32 = 40;
/// Upper bound of a segment's kept tokens, exclusive.
pub(crate) const TOKENS_LIMIT: u64 = 1 << TOKEN_BITS;

/// The size of a collection, for ranking functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of documents with at least one kept token.
    pub documents: u64,
    /// Number of kept tokens.
    pub tokens: u64,
}

impl Statistics {
    /// Returns the statistics of one document.
    pub fn of(length: u32) -> Statistics {
        Statistics { documents: u64::from(length > 0), tokens: length as u64 }
    }

    /// Parses a segment's word.
    pub(crate) fn from_word(word: u64) -> Statistics {
        Statistics { documents: word >> TOKEN_BITS, tokens: word & (TOKENS_LIMIT - 1) }
    }

    /// Returns the word of a segment, whose number of rows fits in the other bits.
    pub(crate) fn word(self) -> u64 {
        debug_assert!(self.tokens < TOKENS_LIMIT && self.documents >> (64 - TOKEN_BITS) == 0);
        self.documents << TOKEN_BITS | self.tokens
    }
}

impl Add for Statistics {
    type Output = Statistics;

    /// Wraps, like [running totals](crate::memory::descriptor::Descriptor::total), of which only
    /// differences count.
    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            documents: self.documents.wrapping_add(other.documents),
            tokens: self.tokens.wrapping_add(other.tokens),
        }
    }
}

impl Sub for Statistics {
    type Output = Statistics;

    fn sub(self, other: Statistics) -> Statistics {
        Statistics {
            documents: self.documents.wrapping_sub(other.documents),
            tokens: self.tokens.wrapping_sub(other.tokens),
        }
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Statistics) {
        *self = *self + other;
    }
}

/// Returns the offset of the running counts of the chunk of rows at `chunk`.
pub(crate) fn counts_at(geometry: &Geometry, chunk: u64) -> u64 {
    chunk + (ROW_BYTES << geometry.row_shift)
}

/// The running counts of a segment that is, or was, fresh.
#[derive(Clone, Copy)]
pub struct RunningCounts<'a> {
    region: &'a Region,
    geometry: &'a Geometry,
    chunks: &'a [AtomicU64],
}

impl<'a> RunningCounts<'a> {
    /// Makes the counts behind the rows that the directory at `directory` leads to.
    pub(crate) fn new(region: &'a Region, geometry: &'a Geometry, directory: u64) -> Self {
        let chunks = region.view(Span::new(directory, geometry.row_entries));
        RunningCounts { region, geometry, chunks }
    }

    /// Returns the word of a written row.
    pub(crate) fn word(&self, local: u32) -> &'a AtomicU64 {
        &self.region.view(Span::<AtomicU64>::new(self.place(local), 1))[0]
    }

    /// Returns the offset of a row's word.
    #[inline]
    fn place(&self, local: u32) -> u64 {
        let shift = self.geometry.row_shift;
        let chunk = self.chunks[(local >> shift) as usize].load(Acquire);
        let inside = (local & ((1 << shift) - 1)) as u64;
        counts_at(self.geometry, chunk) + inside * COUNT_BYTES
    }

    /// Returns the statistics of the first `rows` rows, which were written.
    #[inline]
    pub(crate) fn of_first(&self, rows: u32) -> Statistics {
        // Relaxed: a reader that knows of the last of these rows has acquired its data.
        let last = rows.checked_sub(1).map(|last| self.word(last).load(Relaxed));
        last.map_or(Statistics::default(), Statistics::from_word)
    }

    /// Returns the length of a written row.
    #[inline]
    pub fn length(&self, local: u32) -> u32 {
        let inside = local & ((1 << self.geometry.row_shift) - 1);
        if inside == 0 {
            return (self.of_first(local + 1) - self.of_first(local)).tokens as u32;
        }
        // Neighbours in a chunk are found together.
        let pair = Span::<AtomicU64>::new(self.place(local) - COUNT_BYTES, 2);
        let count = |word: &AtomicU64| Statistics::from_word(word.load(Relaxed));
        let words = self.region.view(pair);
        (count(&words[1]) - count(&words[0])).tokens as u32
    }

    /// Writes the lengths of a segment that takes no more rows, in the form of an array.
    pub(crate) fn write_lengths(&self, lengths: &[AtomicU16]) {
        let mut before = Statistics::default();
        for (local, to) in (0..).zip(lengths.iter().rev()) {
            let after = self.of_first(local + 1);
            to.store(saturated((after - before).tokens as u32), Relaxed);
            before = after;
        }
    }
}

/// Returns a length in the form of the array.
pub(crate) fn saturated(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(LENGTH_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_survive_their_word() {
        for statistics in [
            Statistics::default(),
            Statistics::of(7),
            Statistics { documents: (1 << 24) - 1, tokens: TOKENS_LIMIT - 1 },
        ] {
            assert_eq!(Statistics::from_word(statistics.word()), statistics);
        }
        let many = Statistics::of(3) + Statistics::of(0) + Statistics::of(1 << 20);
        assert_eq!(many, Statistics { documents: 2, tokens: (1 << 20) + 3 });
        assert_eq!(many - Statistics::of(3), Statistics::of(1 << 20));
    }

    #[test]
    fn lengths_of_a_byte_are_read_one_by_one() {
        let region = Region::reserve(1 << 16, spirit_mem::Residency::OnTouch).unwrap();
        let stored = region.view(Span::<AtomicU64>::new(64, 2));
        stored[0].store(u64::from_le_bytes([0, 1, 2, 255, 4, 5, 6, 7]), Relaxed);
        stored[1].store(9, Relaxed);
        let section = Section { start: 64, bytes: short_length_bytes(9), check: 0 };
        let lengths = LengthArray::at(&region, LengthArray::word(section, 9), 9).unwrap();
        let read: Vec<_> = (0..9).map_while(|index| lengths.get(index)).collect();
        assert_eq!(read, [0, 1, 2, 255, 4, 5, 6, 7, 9]);
        assert_eq!((lengths.len(), lengths.get(11)), (9, None));
        let few = Section { bytes: short_length_bytes(4), ..section };
        let lengths = LengthArray::at(&region, LengthArray::word(few, 4), 4).unwrap();
        assert_eq!(lengths.get(1), Some(0xFF02), "four take as many bytes in either form");
    }

    #[test]
    fn lengths_saturate() {
        assert_eq!(
            [0, 1, 65_534, 65_535, 65_536, u32::MAX].map(saturated),
            [0, 1, 65_534, LENGTH_MAX, LENGTH_MAX, LENGTH_MAX]
        );
    }
}
