//! Arrays of the lengths of fields of text in a fresh segment. A search that scores thousands of
//! documents reads two bytes for each, where a [record](crate::fresh::field_lengths) is a list to be
//! searched.
//!
//! An array has the lengths of one field in the rows of one chunk. A directory has the newest array
//! of each chunk, which leads to the others. A chunk has an array of a field once half of its rows
//! have the field, or at once if all rows of the chunk before did. So arrays take at most four
//! bytes for each length. Where no memory is left there is no array, and readers go to the records.
//!
//! | bytes of an array | |
//! |---|---|
//! | 8 | offset of the chunk's next array; 0: none |
//! | 8 | its field |
//! | 2 × rows of a chunk | length of each row, saturated; 0: only the record has it |
//!
//! The writer stores the offset of an array (release) after its words. A row's length is stored
//! before the row is visible. So a reader that knows of a row finds its length, or an older state of
//! the directory, and then goes to the record.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::fields::NEWEST_WORDS;
use crate::ground::geometry::Geometry;
use crate::ground::ids::{Partition, SegmentId};
use crate::ground::term::FieldId;
use crate::memory::Memory;

const HEAD_WORDS: u64 = 2;

/// The arrays of one segment.
#[derive(Clone, Copy)]
pub(crate) struct LengthArrays<'a> {
    region: &'a Region,
    row_shift: u32,
    directory: &'a [AtomicU64],
}

impl<'a> LengthArrays<'a> {
    /// Returns the arrays of the segment whose directory of records is at `records`.
    pub(crate) fn new(region: &'a Region, geometry: &Geometry, records: u64) -> LengthArrays<'a> {
        let before = geometry.row_entries + NEWEST_WORDS + geometry.text_directory_words();
        let start = Span::<AtomicU64>::new(records, before).end();
        let directory = region.view(Span::new(start, geometry.row_entries));
        LengthArrays { region, row_shift: geometry.row_shift, directory }
    }

    /// Clears the directory: there is no array.
    pub(crate) fn clear(&self) {
        self.directory.iter().for_each(|chunk| chunk.store(0, Relaxed));
    }

    /// Returns the number of a row's chunk.
    #[inline]
    pub(crate) fn chunk_of(&self, row: u32) -> u32 {
        row >> self.row_shift
    }

    /// Returns the number of rows of a chunk.
    pub(crate) fn chunk_rows(&self) -> u32 {
        1 << self.row_shift
    }

    /// Returns the array of a field in a chunk.
    pub(crate) fn get(&self, chunk: u32, field: FieldId) -> Option<ChunkLengths<'a>> {
        let mut place = self.directory.get(chunk as usize)?.load(Acquire);
        // Each step goes to an older array, so that the loop ends.
        while place != 0 {
            let head = self.head(place);
            if head[1].load(Relaxed) == u64::from(field.0) {
                return Some(self.at(place));
            }
            place = head[0].load(Relaxed);
        }
        None
    }

    /// Adds an array of a field to a chunk that has none, if there is memory. `length` returns the
    /// length that each row of the chunk has so far. Writer only.
    pub(crate) fn add(
        &self,
        memory: &Memory,
        id: SegmentId,
        chunk: u32,
        field: FieldId,
        length: impl Fn(u32) -> u16,
    ) -> Option<ChunkLengths<'a>> {
        let first = self.directory.get(chunk as usize)?;
        let bytes = HEAD_WORDS * 8 + (u64::from(self.chunk_rows()) * 2).next_multiple_of(8);
        let place = memory.allocate(Partition::Long, bytes, id)?;
        let (head, array) = (self.head(place), self.at(place));
        head[0].store(first.load(Relaxed), Relaxed);
        head[1].store(field.0.into(), Relaxed);
        let rows = chunk << self.row_shift..(chunk + 1) << self.row_shift;
        rows.for_each(|row| array.set(row, length(row)));
        first.store(place, Release);
        Some(array)
    }

    fn head(&self, place: u64) -> &'a [AtomicU64] {
        self.region.view(Span::new(place, HEAD_WORDS))
    }

    fn at(&self, place: u64) -> ChunkLengths<'a> {
        let start = place + HEAD_WORDS * 8;
        let lengths = self.region.view(Span::new(start, u64::from(self.chunk_rows())));
        ChunkLengths { lengths, mask: self.chunk_rows() - 1 }
    }
}

/// The lengths of a field in one chunk.
#[derive(Clone, Copy)]
pub(crate) struct ChunkLengths<'a> {
    lengths: &'a [AtomicU16],
    mask: u32,
}

impl ChunkLengths<'_> {
    /// Returns the length of a row of the chunk. 0: the row's record has it.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> u16 {
        self.lengths[(row & self.mask) as usize].load(Relaxed)
    }

    fn set(&self, row: u32, length: u16) {
        self.lengths[(row & self.mask) as usize].store(length, Relaxed);
    }
}

/// The writer's view of a field's arrays: how dense the field is, and the current array.
#[derive(Debug, Default)]
pub(crate) struct Density {
    chunk: u32,
    /// Rows of the chunk that have the field.
    rows: u32,
    /// True if all rows of the chunk before had it.
    was_full: bool,
    /// True if the chunk has an array, or there was no memory for one.
    is_decided: bool,
}

impl Density {
    /// Notes that a row has a field with this length, saturated. `length` returns those of the rows
    /// before. Rows come in their order.
    pub(crate) fn note(
        &mut self,
        arrays: LengthArrays<'_>,
        (memory, id): (&Memory, SegmentId),
        (row, field, own): (u32, FieldId, u16),
        length: impl Fn(u32) -> u16,
    ) {
        let (chunk, all) = (arrays.chunk_of(row), arrays.chunk_rows());
        if chunk != self.chunk {
            let was_full = self.chunk + 1 == chunk && self.rows == all;
            *self = Density { chunk, was_full, ..Density::default() };
        }
        self.rows += 1;
        if !self.is_decided && (self.was_full || self.rows >= all / 2) {
            self.is_decided = true;
            let so_far = |before| if before < row { length(before) } else { 0 };
            arrays.add(memory, id, chunk, field, so_far);
        }
        if self.is_decided
            && let Some(array) = arrays.get(chunk, field)
        {
            array.set(row, own);
        }
    }
}
