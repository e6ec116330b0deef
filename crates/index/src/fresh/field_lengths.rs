//! The lengths of fields of text in a fresh segment's documents: the number of kept tokens of each.
//! The text itself has its [own lengths](crate::rows::lengths), since every document has one.
//!
//! A row's [record](crate::ground::values) has two words for each field of text that it has tokens
//! of. The first has the statistics of the field in the rows before. The second has the row's own
//! length, and the last row before it that has the field. A line beside the directory of records
//! has the newest such row of each field.
//!
//! So a field's statistics in the first rows are found from the newest row back. The search skips
//! rows behind the last one that a snapshot sees. The result is exact, for any number of rows
//! written meanwhile. Documents that have only a text cost nothing. Searches that score many
//! documents read [arrays](crate::fresh::length_arrays) of the lengths.
//!
//! | bits | of a record's words | |
//! |---|---|---|
//! | all | of the first | what the rows before have, as a [running count](crate::rows::lengths) |
//! | 0 .. 32 | of the second | length, saturated as in arrays of lengths; 0 if given up |
//! | 32 .. 64 | | one past the last row before that has the field; 0: no such row |
//!
//! A word of the line is a field (high half) and its newest row (low half). A word of 0 ends the line.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::fresh::extent::Extent;
use crate::fresh::length_arrays::{Density, LengthArrays};
use crate::ground::fields::NEWEST_WORDS;
use crate::ground::geometry::Geometry;
use crate::ground::ids::SegmentId;
use crate::ground::term::FieldId;
use crate::ground::values::{RowValue, ValueKind, find_length};
use crate::memory::Memory;
use crate::rows::lengths::{Statistics, saturated};
use crate::rows::record_places::RecordPlaces;

const ROW_BITS: u32 = 32;

/// A field of text in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldLength {
    /// Statistics of the field in the rows before.
    pub(crate) before: Statistics,
    pub(crate) length: u32,
    /// The last row before that has the field.
    pub(crate) previous: Option<u32>,
}

impl FieldLength {
    pub(crate) fn from_words([before, own]: [u64; 2]) -> FieldLength {
        FieldLength {
            before: Statistics::from_word(before),
            length: own as u32,
            previous: ((own >> 32) as u32).checked_sub(1),
        }
    }

    pub(crate) fn words(self) -> [u64; 2] {
        let previous = self.previous.map_or(0, |row| row as u64 + 1);
        [self.before.word(), self.length as u64 | previous << 32]
    }
}

/// The newest row of each field of text of one segment.
#[derive(Clone, Copy)]
struct NewestRows<'a>(&'a [AtomicU64]);

impl<'a> NewestRows<'a> {
    /// Returns the rows beside the directory of records at `records`.
    fn new(region: &'a Region, geometry: &Geometry, records: u64) -> NewestRows<'a> {
        let start = Span::<AtomicU64>::new(records, geometry.row_entries).end();
        NewestRows(region.view(Span::new(start, NEWEST_WORDS)))
    }

    fn get(&self, field: FieldId) -> Option<u32> {
        // Acquire: the data of the row, and of those before it, was written before.
        let mut words = self.0.iter().map(|word| word.load(Acquire)).take_while(|word| *word != 0);
        let word = words.find(|word| word >> ROW_BITS == field.0 as u64)?;
        Some(word as u32)
    }

    fn put(&self, index: usize, field: FieldId, row: u32) {
        self.0[index].store((field.0 as u64) << ROW_BITS | row as u64, Release);
    }
}

/// Clears the line beside the directory of records at `records`: no row has a field of text.
pub(crate) fn clear(region: &Region, geometry: &Geometry, records: u64) {
    NewestRows::new(region, geometry, records).0.iter().for_each(|word| word.store(0, Relaxed));
}

/// The lengths of fields of text in a segment that is, or was, fresh.
#[derive(Clone, Copy)]
pub(crate) struct FreshLengths<'a> {
    area: &'a [AtomicU32],
    places: RecordPlaces<'a>,
    newest: NewestRows<'a>,
    pub(crate) arrays: LengthArrays<'a>,
}

impl<'a> FreshLengths<'a> {
    /// Makes the view of the segment with this extent, whose directory of records is at `records`.
    pub(crate) fn new(
        region: &'a Region,
        geometry: &'a Geometry,
        records: u64,
        extent: Extent<'a>,
    ) -> FreshLengths<'a> {
        FreshLengths {
            area: extent.area(),
            places: RecordPlaces::new(region, geometry, records),
            newest: NewestRows::new(region, geometry, records),
            arrays: LengthArrays::new(region, geometry, records),
        }
    }

    /// Returns the entry of a field in the record of a written row, or `None` if the row has no
    /// tokens of the field.
    pub(crate) fn of_row(&self, row: u32, field: FieldId) -> Option<FieldLength> {
        let words = find_length(self.record(row)?, field)?;
        Some(FieldLength::from_words(words.map(load)))
    }

    /// Returns the statistics of a field in the first `rows` rows, which were written.
    pub(crate) fn of_first(&self, rows: u32, field: FieldId) -> Statistics {
        let mut next = self.newest.get(field);
        // Each step goes to an older row, so that the loop ends.
        while let Some(row) = next {
            let Some(found) = self.of_row(row, field) else { break };
            if row < rows {
                return found.before + Statistics::of(found.length);
            }
            next = found.previous;
        }
        Statistics::default()
    }

    /// Empties a field of a row that no reader has seen. `before` are the statistics of the rows
    /// before it.
    fn empty(&self, row: u32, field: FieldId, before: Statistics) {
        let words = self.record(row).and_then(|record| find_length(record, field));
        let Some([of_before, own]) = words else { return };
        let previous = FieldLength::from_words([0, load(own)]).previous;
        let [first, second] = FieldLength { before, length: 0, previous }.words();
        store(of_before, first);
        store(own, second);
    }

    fn record(&self, row: u32) -> Option<&'a [AtomicU32]> {
        match self.places.get(row) {
            0 => None,
            first => self.area.get(first as usize..),
        }
    }
}

/// Loads a word of two halves.
fn load([low, high]: &[AtomicU32; 2]) -> u64 {
    low.load(Relaxed) as u64 | (high.load(Relaxed) as u64) << 32
}

/// Stores a word of two halves.
fn store([low, high]: &[AtomicU32; 2], word: u64) {
    low.store(word as u32, Relaxed);
    high.store((word >> 32) as u32, Relaxed);
}

/// The writer's counts of its fields of text, in the order of the line.
#[derive(Debug, Default)]
pub(crate) struct FieldCounts(Vec<FieldCount>);

#[derive(Debug)]
struct FieldCount {
    field: FieldId,
    newest: u32,
    counted: Statistics,
    density: Density,
}

impl FieldCounts {
    /// Returns the two values of the next row's record for a field with this many kept tokens.
    pub(crate) fn values(&self, field: FieldId, kept: u64) -> [RowValue; 2] {
        let known = self.0.iter().find(|known| known.field == field);
        let length = FieldLength {
            before: known.map_or(Statistics::default(), |known| known.counted),
            length: saturated(u32::try_from(kept).unwrap_or(u32::MAX)) as u32,
            previous: known.map(|known| known.newest),
        };
        length.words().map(|bits| RowValue { field, kind: ValueKind::Text, bits })
    }

    /// Notes the record of a row of segment `id`, after it was written.
    pub(crate) fn note(
        &mut self,
        lengths: FreshLengths<'_>,
        (memory, id): (&Memory, SegmentId),
        row: u32,
        record: &[RowValue],
    ) {
        for pair in record.chunk_by(|a, b| a.field == b.field) {
            let &[RowValue { field, kind: ValueKind::Text, bits: before }, own] = pair else {
                continue;
            };
            let length = FieldLength::from_words([before, own.bits]);
            let counted = length.before + Statistics::of(length.length);
            let index = self.0.iter().position(|known| known.field == field);
            let index = index.unwrap_or(self.0.len());
            if index == self.0.len() {
                let density = Density::default();
                self.0.push(FieldCount { field, newest: row, counted, density });
            }
            let known = &mut self.0[index];
            (known.newest, known.counted) = (row, counted);
            lengths.newest.put(index, field, row);
            let of_row = |row| lengths.of_row(row, field).map_or(0, |found| found.length as u16);
            known.density.note(
                lengths.arrays,
                (memory, id),
                (row, field, length.length as u16),
                of_row,
            );
        }
    }

    /// Discounts the rows from `first` on. They were given up, and no reader has seen them.
    pub(crate) fn discount(&mut self, lengths: FreshLengths<'_>, first: u32) {
        for FieldCount { field, newest, counted, .. } in &mut self.0 {
            let given_up = || {
                std::iter::successors(Some(*newest), |row| lengths.of_row(*row, *field)?.previous)
                    .take_while(|row| *row >= first)
            };
            let oldest = given_up().last().and_then(|row| lengths.of_row(row, *field));
            let Some(FieldLength { before, .. }) = oldest else { continue };
            given_up().for_each(|row| lengths.empty(row, *field, before));
            *counted = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_survives_its_words() {
        for length in [
            FieldLength { before: Statistics::default(), length: 0, previous: None },
            FieldLength { before: Statistics::of(7), length: 65_535, previous: Some(0) },
            FieldLength { before: Statistics::of(1), length: 1, previous: Some((1 << 24) - 1) },
        ] {
            assert_eq!(FieldLength::from_words(length.words()), length);
        }
    }
}
