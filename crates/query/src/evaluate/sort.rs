//! Evaluation in the order of a field's values: window by window, reading only rows whose value may
//! be among the first.
//!
//! Segments are skipped if all their values come after those found. A fresh segment has no order of
//! keywords, so each document's keywords are compared by their bytes.

use spirit_index::column::Column;
use spirit_index::form::FindOlder;
use spirit_index::ground::TERM_BYTES_MAX;
use spirit_index::ground::rank_of;
use spirit_kernel as kernel;

use super::window::{Bits, WORDS, Window, is_empty, ones};
use super::{Evaluation, Place};
use crate::collect::Address;
use crate::query::NONE;
use crate::sort::{Direction, SortBy, Sorted, Sorting};

impl Evaluation<'_, Sorting<'_>> {
    /// Offers the matches that may be among the first. `older` finds entries that the DRAM
    /// dictionary does not cover.
    pub(crate) fn sort<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        if self.query.root == NONE {
            return;
        }
        let bounded = self.query.is_bounded(self.query.root);
        let terms = 0..self.query.terms.len() as u32;
        terms.clone().for_each(|term| self.look_up(term as usize));
        self.each_fresh(Self::sort_segment);
        self.each_registered(bounded, Self::sort_segment);
        self.step_back(older, terms, |part| part.each_registered(bounded, Self::sort_segment));
    }

    fn sort_segment(&mut self, place: &Place<'_>) {
        if place.is_fresh() {
            return self.each_window(place, |this, window, bits| {
                ones(bits).for_each(|bit| this.offer_fresh(place, window.rank(bit)));
            });
        }
        let by = self.collector.by;
        let column = place.segment.column(by.field, by.kind);
        self.collector.enter(&place.segment);
        let first = column.map(|column| match by.direction {
            Direction::Ascending => by.key(column.min()),
            Direction::Descending => by.key(column.max()),
        });
        if self.collector.takes(first) {
            self.each_window(place, |this, window, bits| {
                this.sort_window(place, column, window, bits);
            });
        }
        self.collector.leave(&place.segment);
    }

    fn sort_window(
        &mut self,
        place: &Place<'_>,
        column: Option<Column<'_>>,
        window: Window,
        bits: &mut [u64],
    ) {
        if is_empty(bits) || !self.collector.takes(column.map(|_| u64::MAX)) {
            return;
        }
        if let (Some(column), Some(least)) = (column, self.collector.least()) {
            let mut near: Bits = [0; WORDS];
            let near = &mut near[..bits.len()];
            let (low, high) = self.collector.by.values_from(least);
            column.range_bits(self.settings.level, window.start, low..=high, near);
            kernel::and_window(self.settings.level, bits, near);
        }
        let by = self.collector.by;
        for bit in ones(bits) {
            let rank = window.rank(bit);
            let value = column.and_then(|column| match by.direction {
                Direction::Ascending => column.first(rank),
                Direction::Descending => column.of(rank).next_back(),
            });
            self.offer_sorted(place, rank, value.map(|value| by.key(value)));
        }
    }

    /// Offers a match in a fresh segment, whose values are in its row.
    fn offer_fresh(&mut self, place: &Place<'_>, rank: u32) {
        let by = self.collector.by;
        if by.is_by_words() {
            return self.offer_fresh_word(place, rank);
        }
        let values = place.segment.values(rank_of(rank));
        let values = values.filter_map(|value| value.read_as(by.field, by.kind));
        let key = values.map(|value| by.key(value)).max();
        self.offer_sorted(place, rank, key);
    }

    /// Like [`offer_fresh`](Self::offer_fresh), for keywords. They are terms of the segment, in no
    /// order.
    fn offer_fresh_word(&mut self, place: &Place<'_>, rank: u32) {
        let (by, local) = (self.collector.by, rank_of(rank));
        if place.has_dead && place.segment.is_dead(local) {
            return;
        }
        let mut first = [0; TERM_BYTES_MAX];
        let first_len = write_first_word(place, by, local, &mut first);
        let hit = Address { executor: self.collector.executor, segment: place.segment.id(), local };
        let word = first_len.map(|len| &first[..len]);
        self.collector.offer_word(word, place.segment.sequence(local), hit);
    }

    fn offer_sorted(&mut self, place: &Place<'_>, rank: u32, key: Option<u64>) {
        let local = rank_of(rank);
        if !self.collector.takes(key) || (place.has_dead && place.segment.is_dead(local)) {
            return;
        }
        let hit = Address { executor: self.collector.executor, segment: place.segment.id(), local };
        let sequence = place.segment.sequence(local);
        self.collector.offer(Sorted { key, sequence, hit });
    }
}

/// Writes the keyword that comes first of a document in a fresh segment. Returns its length.
pub(super) fn write_first_word(
    place: &Place<'_>,
    by: SortBy,
    local: u32,
    first: &mut [u8; TERM_BYTES_MAX],
) -> Option<usize> {
    let extent = place.context.extent.as_ref().expect("a fresh segment has an extent");
    let (mut other, mut first_len): (_, Option<usize>) = ([0; TERM_BYTES_MAX], None);
    let values = place.segment.values(local);
    for value in values.filter(|value| (value.field, value.kind) == (by.field, by.kind)) {
        let (_, len) = extent.write_term(value.bits as u32, &mut other);
        let comes_first =
            |first_len: usize| by.direction.compare(&other[..len], &first[..first_len]).is_lt();
        if first_len.is_none_or(comes_first) {
            std::mem::swap(first, &mut other);
            first_len = Some(len);
        }
    }
    first_len
}
