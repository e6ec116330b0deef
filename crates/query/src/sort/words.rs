//! The first documents in the order of their keywords, over all segments.
//!
//! A segment has its terms in order, so in one of them keywords are compared as numbers are. Between segments their bytes are compared:
//! those of what a segment has found are copied here. When there are twice as many documents as are wanted the latter half goes, and
//! the last that stays is what others have to beat, in whatever segment.

use std::cmp::Ordering;

use spirit_index::ground::term::TERM_BYTES_MAX;

use super::{Direction, Sorted};
use crate::collect::Address;

/// Bytes of keywords that there is room for from the beginning; who asks for many hits by long keywords makes it grow, once.
const BYTES: usize = 1 << 16;
/// A key is where a keyword begins, and in the low bits how long it is.
const LEN_BITS: u32 = 8;

/// What documents are ordered by: a keyword, if they have one, and their sequence number.
pub(crate) type Place<'w> = (Option<&'w [u8]>, u64);

/// Documents with their keywords.
#[derive(Debug)]
pub(crate) struct Words {
    k: usize,
    direction: Direction,
    /// Where the page before ended: whether that document has a keyword, and its sequence number.
    after: Option<(bool, u64)>,
    after_word: Vec<u8>,
    /// Keys say where keywords are. Once there were enough, the first `k` are in order.
    found: Vec<Sorted>,
    is_full: bool,
    bytes: Vec<u8>,
    /// Where those are copied that stay.
    spare: Vec<u8>,
}

impl Words {
    /// With room for `k_max` documents.
    pub(crate) fn with_capacity(k_max: usize) -> Words {
        Words {
            k: 0,
            direction: Direction::Ascending,
            after: None,
            after_word: Vec::with_capacity(TERM_BYTES_MAX),
            found: Vec::with_capacity(2 * k_max),
            is_full: false,
            bytes: Vec::with_capacity(BYTES),
            spare: Vec::with_capacity(BYTES),
        }
    }

    /// Begins anew: the first `k`, of those behind this place.
    pub(crate) fn begin(&mut self, k: usize, direction: Direction, after: Option<Place<'_>>) {
        (self.k, self.direction) = (k, direction);
        self.after = after.map(|(word, sequence)| (word.is_some(), sequence));
        self.after_word.clear();
        self.after_word.extend_from_slice(after.and_then(|(word, _)| word).unwrap_or(&[]));
        self.found.clear();
        self.is_full = false;
        self.bytes.clear();
    }

    /// How many are wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.k
    }

    /// Where the page before ended.
    pub(crate) fn after(&self) -> Option<Place<'_>> {
        self.after.map(|(has_word, sequence)| (has_word.then_some(&*self.after_word), sequence))
    }

    /// The place that others have to be before, if there are as many as are wanted.
    pub(crate) fn last(&self) -> Option<Place<'_>> {
        let last = self.found.get(self.k.checked_sub(1)?).filter(|_| self.is_full)?;
        Some(place_of(&self.bytes, last))
    }

    /// A document, if it may be among the first; says whether any may that comes behind it.
    pub(crate) fn offer(&mut self, word: Option<&[u8]>, sequence: u64, hit: Address) -> bool {
        let place = (word, sequence);
        let is_behind = |other| compare(self.direction, place, other).is_gt();
        if self.last().is_some_and(is_behind) {
            return false;
        }
        if self.after().is_none_or(is_behind) {
            let before = self.found.last().and_then(|found| found.key);
            let key = word.map(|word| keep(&mut self.bytes, before, word));
            self.found.push(Sorted { key, sequence, hit });
            if self.found.len() >= 2 * self.k {
                self.settle();
            }
        }
        true
    }

    /// Forgets all but the first, and puts these in order.
    pub(crate) fn settle(&mut self) {
        let Words { k, direction, found, bytes, spare, .. } = self;
        found.sort_unstable_by(|a, b| compare(*direction, place_of(bytes, a), place_of(bytes, b)));
        found.truncate(*k);
        self.is_full = found.len() == *k;
        spare.clear();
        let mut before = None;
        for key in found.iter_mut().filter_map(|found| found.key.as_mut()) {
            *key = keep(spare, before, word_of(bytes, *key));
            before = Some(*key);
        }
        std::mem::swap(bytes, spare);
    }

    /// The documents; in order, if they are [settled](Self::settle).
    pub(crate) fn found(&self) -> &[Sorted] {
        &self.found
    }

    /// The keyword with one of their keys.
    pub(crate) fn word(&self, key: u64) -> &[u8] {
        word_of(&self.bytes, key)
    }
}

/// Whether a document comes before another.
fn compare(direction: Direction, (a, of_a): Place<'_>, (b, of_b): Place<'_>) -> Ordering {
    let by_word = match (a, b) {
        (Some(a), Some(b)) => direction.compare(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    by_word.then(of_b.cmp(&of_a))
}

fn place_of<'w>(bytes: &'w [u8], found: &Sorted) -> Place<'w> {
    (found.key.map(|key| word_of(bytes, key)), found.sequence)
}

fn word_of(bytes: &[u8], key: u64) -> &[u8] {
    let (start, len) = ((key >> LEN_BITS) as usize, key as usize & ((1 << LEN_BITS) - 1));
    &bytes[start..start + len]
}

/// Copies a keyword, unless it is that with the key `before`; returns its key.
fn keep(bytes: &mut Vec<u8>, before: Option<u64>, word: &[u8]) -> u64 {
    if let Some(before) = before
        && word_of(bytes, before) == word
    {
        return before;
    }
    let start = bytes.len() as u64;
    bytes.extend_from_slice(word);
    start << LEN_BITS | word.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::ground::ids::SegmentId;

    proptest! {
        /// Page by page they are all of them in their order, whatever order they come in.
        #[test]
        fn pages_are_the_whole(
            given in prop::collection::vec(prop::option::of("[ab]{1,3}"), 0..60),
            k in 1usize..9,
            descending: bool,
        ) {
            let direction = if descending { Direction::Descending } else { Direction::Ascending };
            let mut expected: Vec<(Option<&str>, u64)> =
                given.iter().map(Option::as_deref).zip(0..).collect();
            expected.sort_by(|(a, of_a), (b, of_b)| {
                let words = if descending { b.cmp(a) } else { a.cmp(b) };
                let missing_last = a.is_none().cmp(&b.is_none());
                missing_last.then(words).then(of_b.cmp(of_a))
            });
            let mut words = Words::with_capacity(9);
            let mut paged: Vec<(Option<String>, u64)> = Vec::new();
            loop {
                let after = paged.last().map(|(word, sequence)| {
                    (word.as_ref().map(|word| word.as_bytes()), *sequence)
                });
                words.begin(k, direction, after);
                for (word, sequence) in given.iter().zip(0..) {
                    let hit = Address { executor: 0, segment: SegmentId(0), local: sequence as u32 };
                    words.offer(word.as_ref().map(|word| word.as_bytes()), sequence, hit);
                }
                words.settle();
                let text = |key| String::from_utf8(words.word(key).to_vec()).unwrap();
                let page = words.found().iter().map(|found| (found.key.map(text), found.sequence));
                let count = paged.len();
                paged.extend(page);
                if paged.len() - count < k {
                    break;
                }
            }
            let paged: Vec<_> = paged.iter().map(|(word, at)| (word.as_deref(), *at)).collect();
            prop_assert_eq!(paged, expected);
        }
    }
}
