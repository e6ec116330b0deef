//! The first documents in the order of their keywords, over all segments.
//!
//! Within a segment keywords are compared as numbers, since its terms are in order. Between
//! segments their bytes are compared: each segment's matches are copied here with their keywords.
//! Once there are twice as many documents as wanted, the latter half is dropped. The last document
//! kept is the one to beat, in every segment.

use std::cmp::Ordering;

use spirit_index::ground::TERM_BYTES_MAX;

use super::{Direction, Sorted};
use crate::collect::Address;

/// Bytes of keywords that there is room for at first. A query for many hits by long keywords makes
/// it grow, once.
const BYTES: usize = 1 << 16;
/// Bits of a key for a keyword's length. The high bits are the keyword's offset.
const LEN_BITS: u32 = 8;

/// A document's place in the order: its keyword, if it has one, and its sequence number.
pub(crate) type Place<'w> = (Option<&'w [u8]>, u64);

/// Documents with their keywords.
#[derive(Debug)]
pub(crate) struct Words {
    k: usize,
    direction: Direction,
    /// The end of the page before: true if that document has a keyword, and its sequence number.
    after: Option<(bool, u64)>,
    after_word: Vec<u8>,
    /// The documents. Their keys lead to keywords. Once there were enough, the first `k` are in
    /// order.
    found: Vec<Sorted>,
    is_full: bool,
    bytes: Vec<u8>,
    /// The copies of keywords that are kept.
    spare: Vec<u8>,
}

impl Words {
    /// Reserves room for `k_max` documents.
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

    /// Begins anew, for the first `k` documents behind the place `after`.
    pub(crate) fn begin(&mut self, k: usize, direction: Direction, after: Option<Place<'_>>) {
        (self.k, self.direction) = (k, direction);
        self.after = after.map(|(word, sequence)| (word.is_some(), sequence));
        self.after_word.clear();
        self.after_word.extend_from_slice(after.and_then(|(word, _)| word).unwrap_or(&[]));
        self.found.clear();
        self.is_full = false;
        self.bytes.clear();
    }

    /// Returns the number of documents wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.k
    }

    /// Returns the end of the page before.
    pub(crate) fn after(&self) -> Option<Place<'_>> {
        self.after.map(|(has_word, sequence)| (has_word.then_some(&*self.after_word), sequence))
    }

    /// Returns the place to beat, if there are as many documents as wanted.
    pub(crate) fn last(&self) -> Option<Place<'_>> {
        let last = self.found.get(self.k.checked_sub(1)?).filter(|_| self.is_full)?;
        Some(place_of(&self.bytes, last))
    }

    /// Offers a document. Returns false if no document behind this one can be among the first.
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

    /// Sorts the documents, and drops all but the first.
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

    /// Returns the documents, which are in order once [settled](Self::settle).
    pub(crate) fn found(&self) -> &[Sorted] {
        &self.found
    }

    /// Returns the keyword with one of their keys.
    pub(crate) fn word(&self, key: u64) -> &[u8] {
        word_of(&self.bytes, key)
    }
}

/// Compares two documents by which comes first.
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

/// Copies a keyword, unless it equals the one with the key `before`. Returns its key.
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
    use spirit_index::ground::SegmentId;

    proptest! {
        /// Page by page, it gives all documents in their order, in whatever order they come.
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
