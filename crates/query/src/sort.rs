//! Matches in the order of a field's values.
//!
//! A value becomes a *key*, the greater the earlier. It is the value's
//! [sortable](ValueKind::sortable) form, inverted if the least comes first. A document without a
//! value has no key and comes last. The newer of two documents with one value comes first. A
//! document with several values counts by the one that comes first.
//!
//! A keyword is a place in its segment's order of terms. A keyword of another segment may be
//! between two places. So [keys](SortBy::key) of places are odd numbers, with even ones between
//! them. The results of all segments are [merged](words::Words) by the keywords' bytes.

mod first;
mod keyed;
mod words;

use std::cmp::Ordering;

use spirit_index::ground::ValueKind;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX};
use spirit_index::snapshot::Segment;

use crate::collect::{Address, Limit};
use crate::top::Placed;

pub use first::First;
pub(crate) use keyed::Keying;
pub use keyed::{FirstKeyed, KEYS_MAX, KeyBy, Keyed};

/// The order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The least value comes first.
    Ascending,
    /// The greatest value comes first.
    Descending,
}

impl Direction {
    /// Compares two keywords by which comes first.
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Direction::Ascending => a.cmp(b),
            Direction::Descending => b.cmp(a),
        }
    }
}

/// The value that a document is sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// The key of a number, a moment or a boolean.
    Number(u64),
    /// A keyword.
    Word(Box<[u8]>),
}

/// The field that matches are sorted by, and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortBy {
    /// The field.
    pub field: FieldId,
    /// The kind of its values.
    pub kind: ValueKind,
    /// The direction.
    pub direction: Direction,
}

impl SortBy {
    /// True if its values are keywords.
    pub fn is_by_words(&self) -> bool {
        self.kind == ValueKind::Keyword
    }

    /// Returns the key of a value in sortable form.
    #[inline]
    pub(crate) fn key(&self, value: u64) -> u64 {
        self.turned(if self.is_by_words() { 2 * value + 1 } else { value })
    }

    /// Returns the value of a key, in sortable form.
    fn value(&self, key: u64) -> u64 {
        if self.is_by_words() { self.turned(key) / 2 } else { self.turned(key) }
    }

    /// Inverts a number, if the least comes first.
    #[inline]
    fn turned(&self, number: u64) -> u64 {
        match self.direction {
            Direction::Ascending => !number,
            Direction::Descending => number,
        }
    }

    /// Returns the range of values, in sortable form, whose keys are at least `key`. The last is
    /// before the first if there are none.
    pub(crate) fn values_from(&self, key: u64) -> (u64, u64) {
        let number = self.turned(key);
        match (self.direction, self.is_by_words()) {
            (Direction::Ascending, false) => (0, number),
            (Direction::Descending, false) => (number, u64::MAX),
            (Direction::Ascending, true) => {
                number.checked_sub(1).map_or((1, 0), |below| (0, below / 2))
            }
            (Direction::Descending, true) => (number / 2, u64::MAX),
        }
    }

    /// Returns the bits of the value with this key. The value must not be a keyword.
    pub fn bits(&self, key: u64) -> u64 {
        self.kind.from_sortable(self.value(key))
    }

    /// Returns the key that a keyword has in a segment, or would have.
    fn key_in(&self, segment: &Segment<'_>, word: &[u8]) -> u64 {
        let mut terms = segment.terms_from(self.field, word);
        let (place, mut bytes) = (terms.place(), [0; TERM_BYTES_MAX]);
        let found = terms.next_term(&mut bytes).filter(|_| terms.place() == place + 1);
        let is_there =
            found.is_some_and(|term| term.field == self.field && bytes[..term.len] == *word);
        self.turned(2 * place + u64::from(is_there))
    }
}

/// A match with its place in the order.
#[derive(Clone, Copy, Debug)]
pub struct Sorted {
    /// The key of its value, if it has one.
    pub key: Option<u64>,
    /// The document's sequence number.
    pub sequence: u64,
    /// The document.
    pub hit: Address,
}

impl Sorted {
    /// True if this match comes after another one.
    pub fn comes_after(&self, other: &Sorted) -> bool {
        self.place() < other.place()
    }
}

impl Placed for Sorted {
    type Place = (Option<u64>, u64);

    fn place(&self) -> (Option<u64>, u64) {
        (self.key, self.sequence)
    }
}

/// The collector of matches with keys.
pub(crate) struct Sorting<'s> {
    pub(crate) first: &'s mut First,
    pub(crate) by: SortBy,
    pub(crate) executor: u32,
    /// Set if keywords are the order: the key to beat in the current segment. In every executor but
    /// the first an equal key counts too, since its document may be newer than those found.
    bar: Option<Option<u64>>,
}

impl<'s> Sorting<'s> {
    pub(crate) fn new(first: &'s mut First, by: SortBy, executor: u32) -> Sorting<'s> {
        first.enter_executor(executor);
        Sorting { first, by, executor, bar: None }
    }

    /// True if a match with this key may be among the first.
    pub(crate) fn takes(&self, key: Option<u64>) -> bool {
        let is_above = self.bar.is_none_or(|bar| key > bar || (self.executor > 0 && key == bar));
        is_above
            && match self.first.top.worst() {
                Some((worst, true)) => key >= worst.key,
                Some((worst, false)) => key > worst.key,
                None => true,
            }
    }

    /// Returns the lowest key that still counts, if there is a bound.
    pub(crate) fn least(&self) -> Option<u64> {
        let worst = self.first.top.worst().and_then(|(worst, _)| worst.key);
        worst.max(self.bar.flatten())
    }

    /// Offers a match in a registered segment, or one whose key is not a place.
    pub(crate) fn offer(&mut self, found: Sorted) {
        self.first.top.offer(found);
    }

    /// Offers a match in a fresh segment, with its keyword.
    pub(crate) fn offer_word(&mut self, word: Option<&[u8]>, sequence: u64, hit: Address) {
        self.first.words.offer(word, sequence, hit);
    }

    /// Enters a registered segment. Computes the keys of the place to beat and of the page's end
    /// there.
    pub(crate) fn enter(&mut self, segment: &Segment<'_>) {
        if !self.by.is_by_words() {
            return;
        }
        let (by, words) = (self.by, &self.first.words);
        let key_of = |word: Option<&[u8]>| word.map(|word| by.key_in(segment, word));
        let after = words.after().map(|(word, sequence)| (key_of(word), sequence));
        self.bar = words.last().map(|(word, _)| key_of(word));
        self.first.top.begin(words.wanted(), after);
        // A segment's matches come newest first.
        self.first.top.set_has_newer(false);
    }

    /// Leaves the segment entered. Merges its matches with those of other segments, by their
    /// keywords.
    pub(crate) fn leave(&mut self, segment: &Segment<'_>) {
        if !self.by.is_by_words() {
            return;
        }
        let First { top, found, words, .. } = &mut *self.first;
        top.drain_into(found);
        let mut terms = segment.terms_from(self.by.field, &[]);
        let (mut bytes, mut read) = ([0; TERM_BYTES_MAX], None);
        // Matches come in the order of their keys, so each keyword is read once.
        for Sorted { key, sequence, hit } in found.drain(..) {
            let place = key.map(|key| self.by.value(key));
            if let Some(place) = place
                && read.is_none_or(|(at, _)| at != place)
            {
                terms.go_to(place);
                // In a damaged segment the term at a place may be unreadable. Then the cursor finds
                // the next one, or none.
                let found = terms.next_term(&mut bytes).filter(|_| terms.place() == place + 1);
                read = found.map(|term| (place, term.len));
            }
            let word = match (place, read) {
                (None, _) => None,
                (Some(_), Some((_, len))) => Some(&bytes[..len]),
                (Some(_), None) => continue,
            };
            if !words.offer(word, sequence, hit) {
                break;
            }
        }
        words.settle();
        self.bar = None;
    }
}

impl Limit for Sorting<'_> {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Keys of places keep the order of places, or invert it. A key between two places is above
        /// the one and below the other.
        #[test]
        fn keys_of_places_have_room_between_them(place in 0u64..1000, between in 0u64..1000) {
            for direction in [Direction::Ascending, Direction::Descending] {
                let by = SortBy { field: FieldId(1), kind: ValueKind::Keyword, direction };
                prop_assert_eq!(by.value(by.key(place)), place);
                let missing = by.turned(2 * between);
                let is_before = match direction {
                    Direction::Ascending => place < between,
                    Direction::Descending => place >= between,
                };
                prop_assert_eq!(by.key(place) > missing, is_before);
                for least in [missing, by.key(between)] {
                    let (low, high) = by.values_from(least);
                    prop_assert_eq!((low..=high).contains(&place), by.key(place) >= least);
                }
            }
        }
    }
}
