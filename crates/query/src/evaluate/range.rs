//! Ranges: the documents of a segment that have a value in some intervals.
//!
//! A fresh segment has each row's values. A registered one has columns. In most segments, the least
//! and the highest value of a column show that all values match, or none.

use spirit_index::column::Column;
use spirit_index::ground::rank_of;

use super::window::{Ones, Window};
use super::{Evaluation, Place};
use crate::interval::QueryRange;
use crate::leaf::END;
use crate::range::has;

impl<C> Evaluation<'_, C> {
    fn range(&self, range: u32) -> &QueryRange {
        &self.query.ranges[range as usize]
    }

    /// Returns the column of a range in a registered segment, if the range overlaps its values.
    fn column_of<'l>(&self, place: &Place<'l>, range: u32) -> Option<Column<'l>> {
        let range = self.range(range);
        let column = place.segment.column(range.field, range.kind)?;
        let mut intervals = self.query.intervals(range).iter();
        let overlaps =
            intervals.any(|(first, last)| *first <= column.max() && *last >= column.min());
        overlaps.then_some(column)
    }

    /// Returns `target` if the range may match from there on; else [`END`].
    pub(super) fn next_of_range(&self, place: &Place<'_>, range: u32, target: u32) -> u32 {
        let may = if place.is_fresh() {
            !self.query.intervals(self.range(range)).is_empty()
        } else {
            self.column_of(place, range).is_some()
        };
        if may { target.min(END) } else { END }
    }

    /// Returns a rough upper bound on the number of documents of a segment that a range matches.
    pub(super) fn estimate_of_range(&self, place: &Place<'_>, range: u32) -> u32 {
        if place.is_fresh() {
            // High, so that other clauses are evaluated before it.
            return END - place.base;
        }
        self.column_of(place, range).map_or(0, |column| column.rows_with() as u32)
    }

    /// Sets the bits of a window's documents that a range matches.
    pub(super) fn add_range(
        &self,
        place: &Place<'_>,
        range: u32,
        window: Window,
        bits: &mut [u64],
    ) {
        if place.is_fresh() {
            for rank in window.start.max(place.first)..window.end().min(END) {
                if self.row_is_in(place, range, rank) {
                    let bit = (rank - window.start) as usize;
                    bits[bit / 64] |= 1 << (bit % 64);
                }
            }
            return;
        }
        let Some(column) = self.column_of(place, range) else { return };
        for (first, last) in self.query.intervals(self.range(range)) {
            column.range_bits(self.settings.level, window.start, *first..=*last, bits);
        }
    }

    /// Keeps the bits of documents that a range matches, or that it does not, as `wanted` says.
    pub(super) fn look_at_range(
        &self,
        place: &Place<'_>,
        range: u32,
        window: Window,
        bits: &mut [u64],
        wanted: bool,
    ) {
        for (number, word) in bits.iter_mut().enumerate() {
            for bit in Ones(*word) {
                if self.row_is_in(place, range, window.rank(number * 64 + bit)) != wanted {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    fn row_is_in(&self, place: &Place<'_>, range: u32, rank: u32) -> bool {
        if !place.is_fresh() {
            let intervals = self.query.intervals(self.range(range));
            let column = self.column_of(place, range);
            return column.is_some_and(|column| column.of(rank).any(|value| has(intervals, value)));
        }
        let range = self.range(range);
        let intervals = self.query.intervals(range);
        let mut values = place.segment.values(rank_of(rank));
        values.any(|value| {
            let value = value.read_as(range.field, range.kind);
            value.is_some_and(|value| has(intervals, value))
        })
    }
}
