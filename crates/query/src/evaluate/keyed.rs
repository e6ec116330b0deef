//! Evaluation in the order of several keys: every match is read, window by window.

use spirit_index::column::Column;
use spirit_index::form::FindOlder;
use spirit_index::ground::{TERM_BYTES_MAX, rank_of};

use super::sort::write_first_word;
use super::window::{Window, ones};
use super::{Evaluation, Place};
use crate::collect::Address;
use crate::query::NONE;
use crate::sort::{Direction, KEYS_MAX, KeyBy, Keying};

/// The columns of an order's keys in a segment.
type Columns<'s> = [Option<Column<'s>>; KEYS_MAX];

impl Evaluation<'_, Keying<'_>> {
    /// Offers all matches. `older` finds entries that the DRAM dictionary does not cover.
    pub(crate) fn sort_by_keys<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        if self.query.root == NONE {
            return;
        }
        let bounded = self.query.is_bounded(self.query.root);
        let terms = 0..self.query.terms.len() as u32;
        terms.clone().for_each(|term| self.look_up(term as usize));
        self.each_fresh(Self::key_segment);
        self.each_registered(bounded, Self::key_segment);
        self.step_back(older, terms, |part| part.each_registered(bounded, Self::key_segment));
    }

    fn key_segment(&mut self, place: &Place<'_>) {
        self.collector.first.enter();
        let mut columns: Columns<'_> = [const { None }; KEYS_MAX];
        if !place.is_fresh() {
            for (key, column) in (0..self.collector.first.order()).zip(&mut columns) {
                let by = self.collector.first.key(key).by;
                *column = place.segment.column(by.field, by.kind);
            }
        }
        self.each_window(place, |this, window, bits| {
            this.key_window(place, &columns, window, bits);
        });
    }

    fn key_window(
        &mut self,
        place: &Place<'_>,
        columns: &Columns<'_>,
        window: Window,
        bits: &mut [u64],
    ) {
        for bit in ones(bits) {
            let rank = window.rank(bit);
            let local = rank_of(rank);
            if place.has_dead && place.segment.is_dead(local) {
                continue;
            }
            if !self.push_keys(place, columns, rank) {
                continue;
            }
            let Keying { first, executor } = &mut self.collector;
            let hit = Address { executor: *executor, segment: place.segment.id(), local };
            first.offer(place.segment.sequence(local), hit);
        }
    }

    /// Adds the keys of a match. Returns false if it cannot be among the first.
    fn push_keys(&mut self, place: &Place<'_>, columns: &Columns<'_>, rank: u32) -> bool {
        self.collector.first.begin_match();
        for (number, column) in (0..self.collector.first.order()).zip(columns) {
            let key = self.collector.first.key(number);
            let first = &mut *self.collector.first;
            if place.is_fresh() {
                self.push_fresh(place, key, rank);
            } else {
                let value = column.as_ref().and_then(|column| match key.by.direction {
                    Direction::Ascending => column.first(rank),
                    Direction::Descending => column.of(rank).next_back(),
                });
                match key.by.is_by_words() {
                    true => first.push_place(&place.segment, key, value),
                    false => first.push_number(key, value),
                }
            }
            if self.collector.first.is_behind() {
                return false;
            }
        }
        true
    }

    /// Adds a key of a match in a fresh segment, whose values are in its row.
    fn push_fresh(&mut self, place: &Place<'_>, key: KeyBy, rank: u32) {
        let (by, local) = (key.by, rank_of(rank));
        let values = place.segment.values(local);
        if !by.is_by_words() {
            let values = values.filter_map(|value| value.read_as(by.field, by.kind));
            let value = match by.direction {
                Direction::Ascending => values.min(),
                Direction::Descending => values.max(),
            };
            return self.collector.first.push_number(key, value);
        }
        let mut word = [0; TERM_BYTES_MAX];
        let len = write_first_word(place, by, local, &mut word);
        self.collector.first.push_word(key, len.map(|len| &word[..len]));
    }
}
