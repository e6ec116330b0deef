//! The first matches in the order of several keys, or with missing values first.
//!
//! A match's keys become bytes whose order is the order of matches. Each key has a byte that says
//! whether there is a value, and then the value. Numbers are eight bytes, the highest first.
//! Keywords end with two zeros, and a zero within them is followed by 255. All bytes of a value are
//! inverted where the greatest comes first. The sequence number, inverted, makes the newer of two
//! equal documents the first. So bytes from all segments and executors compare alike.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use spirit_index::ground::TERM_BYTES_MAX;
use spirit_index::snapshot::Segment;

use super::{Direction, SortBy, SortKey};
use crate::collect::{Address, Limit};

/// Keys of one order, at most.
pub const KEYS_MAX: usize = 3;
/// The first byte of a key without a value, if those come first.
const MISSING_FIRST: u8 = 0;
/// The first byte of a key with a value.
const PRESENT: u8 = 1;
/// The first byte of a key without a value, if those come last.
const MISSING_LAST: u8 = 2;
/// Keywords of one segment that are kept, at most.
const WORDS_MAX: usize = 4096;

/// One key of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBy {
    /// The field and the direction.
    pub by: SortBy,
    /// True if documents without a value come first.
    pub missing_first: bool,
}

/// A match.
#[derive(Clone, Debug)]
pub struct Keyed {
    /// The bytes that it is compared by.
    pub bytes: Vec<u8>,
    /// The document.
    pub hit: Address,
}

/// The first matches in the order of several keys.
#[derive(Debug, Default)]
pub struct FirstKeyed {
    order: Vec<KeyBy>,
    k: usize,
    /// The bytes of the last match of the page before.
    after: Option<Vec<u8>>,
    /// The matches, the last one on top.
    heap: BinaryHeap<Keyed>,
    /// The matches in their order, once it is finished.
    found: Vec<Keyed>,
    /// The first keys of the matches found.
    values: Vec<Option<SortKey>>,
    /// The bytes of the current match.
    bytes: Vec<u8>,
    /// Keywords of the current segment by their places.
    words: HashMap<u64, Box<[u8]>>,
}

/// The collector of matches with several keys.
pub(crate) struct Keying<'f> {
    pub(crate) first: &'f mut FirstKeyed,
    pub(crate) executor: u32,
}

impl Limit for Keying<'_> {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Keyed) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Keyed {}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Keyed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Keyed) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl FirstKeyed {
    /// Begins anew, for the first `k` matches behind the one with these bytes.
    pub fn begin(&mut self, order: &[KeyBy], k: usize, after: Option<&[u8]>) {
        self.order.clear();
        self.order.extend_from_slice(order);
        (self.k, self.after) = (k, after.map(<[u8]>::to_vec));
        self.heap.clear();
        self.found.clear();
        self.values.clear();
    }

    /// Sorts the matches found.
    pub fn finish(&mut self) {
        self.found = std::mem::take(&mut self.heap).into_sorted_vec();
        let first = self.order.first().copied();
        let value = |found: &Keyed| first.and_then(|key| key.read(&found.bytes));
        self.values = self.found.iter().map(value).collect();
    }

    /// Returns the matches found, in their order.
    pub fn found(&self) -> &[Keyed] {
        &self.found
    }

    /// Returns the first key, and the value there of the match at `place`. A number is in sortable
    /// form.
    pub fn value(&self, place: usize) -> Option<(SortBy, &SortKey)> {
        let by = self.order.first()?.by;
        Some((by, self.values.get(place)?.as_ref()?))
    }

    /// Returns the keys of the order.
    pub(crate) fn order(&self) -> usize {
        self.order.len()
    }

    /// Returns a key of the order.
    pub(crate) fn key(&self, place: usize) -> KeyBy {
        self.order[place]
    }

    /// Begins a segment, in which keywords have other places.
    pub(crate) fn enter(&mut self) {
        self.words.clear();
    }

    /// Begins a match.
    pub(crate) fn begin_match(&mut self) {
        self.bytes.clear();
    }

    /// Adds the next key: none, or a number in sortable form.
    pub(crate) fn push_number(&mut self, key: KeyBy, value: Option<u64>) {
        let Some(value) = value else { return self.push_missing(key) };
        self.bytes.push(PRESENT);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&value.to_be_bytes());
        key.turn(&mut self.bytes[start..]);
    }

    /// Adds the next key: none, or a keyword.
    pub(crate) fn push_word(&mut self, key: KeyBy, word: Option<&[u8]>) {
        match word {
            Some(word) => key.write_word(&mut self.bytes, word),
            None => self.push_missing(key),
        }
    }

    /// Adds the keyword at a place of a registered segment, if there is one.
    pub(crate) fn push_place(&mut self, segment: &Segment<'_>, key: KeyBy, place: Option<u64>) {
        let Some(place) = place else { return self.push_missing(key) };
        if let Some(word) = self.words.get(&place) {
            return key.write_word(&mut self.bytes, word);
        }
        let mut term = [0; TERM_BYTES_MAX];
        let mut terms = segment.terms_from(key.by.field, b"");
        terms.go_to(place);
        // In a damaged segment there may be no term.
        let Some(found) = terms.next_term(&mut term) else { return self.push_missing(key) };
        let word = &term[..found.len];
        key.write_word(&mut self.bytes, word);
        if self.words.len() == WORDS_MAX {
            self.words.clear();
        }
        self.words.insert(place, word.into());
    }

    fn push_missing(&mut self, key: KeyBy) {
        self.bytes.push(if key.missing_first { MISSING_FIRST } else { MISSING_LAST });
    }

    /// True if no match whose keys begin like the current one's can be among the first.
    pub(crate) fn is_behind(&self) -> bool {
        let is_full = self.heap.len() == self.k;
        let worst = self.heap.peek().filter(|_| is_full);
        worst.is_some_and(|worst| {
            let len = self.bytes.len().min(worst.bytes.len());
            self.bytes[..len] > worst.bytes[..len]
        })
    }

    /// Offers the current match.
    pub(crate) fn offer(&mut self, sequence: u64, hit: Address) {
        self.bytes.extend_from_slice(&(!sequence).to_be_bytes());
        let is_of_page = self.after.as_ref().is_none_or(|after| self.bytes > *after);
        if self.k == 0 || !is_of_page || self.is_behind() {
            return;
        }
        if self.heap.len() < self.k {
            return self.heap.push(Keyed { bytes: self.bytes.clone(), hit });
        }
        if let Some(mut worst) = self.heap.peek_mut() {
            worst.bytes.clone_from(&self.bytes);
            worst.hit = hit;
        }
    }
}

impl KeyBy {
    /// Inverts a value's bytes, if the greatest comes first.
    fn turn(self, bytes: &mut [u8]) {
        if self.by.direction == Direction::Descending {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    fn write_word(self, bytes: &mut Vec<u8>, word: &[u8]) {
        bytes.push(PRESENT);
        let start = bytes.len();
        for byte in word {
            bytes.push(*byte);
            if *byte == 0 {
                bytes.push(u8::MAX);
            }
        }
        bytes.extend_from_slice(&[0, 0]);
        self.turn(&mut bytes[start..]);
    }

    /// Reads the key that bytes begin with.
    fn read(self, bytes: &[u8]) -> Option<SortKey> {
        let (first, rest) = bytes.split_first()?;
        if *first != PRESENT {
            return None;
        }
        let turned = |byte: u8| match self.by.direction {
            Direction::Ascending => byte,
            Direction::Descending => !byte,
        };
        if !self.by.is_by_words() {
            let number = rest.first_chunk::<8>()?.map(turned);
            return Some(SortKey::Number(u64::from_be_bytes(number)));
        }
        let mut word = Vec::new();
        let mut rest = rest.iter().map(|byte| turned(*byte));
        while let Some(byte) = rest.next() {
            if byte == 0 && rest.next() != Some(u8::MAX) {
                break;
            }
            word.push(byte);
        }
        Some(SortKey::Word(word.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::ground::{FieldId, SegmentId, ValueKind};

    fn key(kind: ValueKind, descending: bool, missing_first: bool) -> KeyBy {
        let direction = if descending { Direction::Descending } else { Direction::Ascending };
        KeyBy { by: SortBy { field: FieldId(1), kind, direction }, missing_first }
    }

    fn compare<T: Ord>(key: KeyBy, a: &Option<T>, b: &Option<T>) -> Ordering {
        let is_descending = key.by.direction == Direction::Descending;
        match (a, b) {
            (Some(a), Some(b)) if is_descending => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) if key.missing_first => a.is_some().cmp(&b.is_some()),
            (a, b) => a.is_none().cmp(&b.is_none()),
        }
    }

    proptest! {
        /// Page by page, all matches come in the order of both keys, the newer of two equals first.
        #[test]
        fn pages_are_the_whole(
            given in prop::collection::vec((prop::option::of(prop::collection::vec(0u8..3, 0..4)), prop::option::of(0u64..4)), 0..60),
            turns in prop::array::uniform4(any::<bool>()),
            k in 1usize..9,
        ) {
            let order = [key(ValueKind::Keyword, turns[0], turns[1]), key(ValueKind::Integer, turns[2], turns[3])];
            let mut expected: Vec<usize> = (0..given.len()).collect();
            expected.sort_by(|a, b| {
                let (one, other) = (&given[*a], &given[*b]);
                let words = compare(order[0], &one.0, &other.0);
                words.then(compare(order[1], &one.1, &other.1)).then(b.cmp(a))
            });
            let (mut first, mut paged, mut after) = (FirstKeyed::default(), Vec::new(), None::<Vec<u8>>);
            loop {
                first.begin(&order, k, after.as_deref());
                for (place, (word, number)) in given.iter().enumerate() {
                    first.begin_match();
                    first.push_word(order[0], word.as_deref());
                    if first.is_behind() {
                        continue;
                    }
                    first.push_number(order[1], *number);
                    first.offer(place as u64, Address { executor: 0, segment: SegmentId(0), local: place as u32 });
                }
                first.finish();
                for (place, found) in first.found().iter().enumerate() {
                    let local = found.hit.local as usize;
                    paged.push(local);
                    let word = given[local].0.as_ref().map(|word| SortKey::Word(word.as_slice().into()));
                    prop_assert_eq!(first.value(place).map(|(_, value)| value.clone()), word);
                }
                match first.found().last() {
                    Some(last) if first.found().len() == k => after = Some(last.bytes.clone()),
                    _ => break,
                }
            }
            prop_assert_eq!(paged, expected);
        }
    }
}
