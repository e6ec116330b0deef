//! The first matches in the order of a field: those found so far, segment by segment, and the
//! result.

use super::words::{Place, Words};
use super::{SortBy, SortKey, Sorted};
use crate::top::Top;

/// The first matches in the order of a field.
#[derive(Debug)]
pub struct First {
    /// The matches of all segments. For keywords, those of the current segment, in which they are
    /// numbers.
    pub(super) top: Top<Sorted>,
    /// The matches taken from `top`.
    pub(super) found: Vec<Sorted>,
    /// The matches of all segments, for keywords.
    pub(super) words: Words,
    is_by_words: bool,
    /// True if matches come that are newer than those found.
    has_older: bool,
}

impl First {
    /// Reserves room for `k_max` matches.
    pub fn with_capacity(k_max: usize) -> First {
        First {
            top: Top::with_capacity(k_max),
            found: Vec::with_capacity(k_max),
            words: Words::with_capacity(k_max),
            is_by_words: false,
            has_older: false,
        }
    }

    /// Begins anew, for the first `k` matches behind the one with this key and sequence number.
    /// Returns false if the key is of another kind than this order's.
    pub fn begin(&mut self, by: SortBy, k: usize, after: Option<(Option<&SortKey>, u64)>) -> bool {
        (self.is_by_words, self.has_older) = (by.is_by_words(), false);
        let (mut number, mut word): (_, Option<Place<'_>>) = (None, None);
        match after {
            None => {}
            Some((None, sequence)) => {
                (number, word) = (Some((None, sequence)), Some((None, sequence)));
            }
            Some((Some(SortKey::Number(key)), sequence)) if !self.is_by_words => {
                number = Some((Some(*key), sequence));
            }
            Some((Some(SortKey::Word(bytes)), sequence)) if self.is_by_words => {
                word = Some((Some(bytes), sequence));
            }
            Some(_) => return false,
        }
        self.top.begin(k, number);
        if self.is_by_words {
            self.words.begin(k, by.direction, word);
        }
        true
    }

    /// True if any match counts.
    pub(crate) fn takes_any(&self) -> bool {
        self.top.takes_any()
    }

    /// Begins the matches of an executor.
    pub(super) fn enter_executor(&mut self, number: u32) {
        self.top.enter_executor(number);
        if self.has_older {
            self.top.set_has_newer(true);
        }
    }

    /// Offers a match that was found before. The order must not be that of keywords.
    pub fn offer(&mut self, found: Sorted) {
        self.top.offer(found);
    }

    /// Expects matches that are newer than those found so far. Of equal ones the newer counts.
    pub fn expect_newer(&mut self) {
        self.has_older = true;
    }

    /// True if there are as many matches as are wanted, and none of them comes after `end`. The
    /// order must not be that of keywords.
    pub fn is_full_before(&self, end: Option<Sorted>) -> bool {
        let Some((worst, _)) = self.top.worst() else { return false };
        end.is_none_or(|end| !worst.comes_after(&end))
    }

    /// Yields the matches found so far, in no order. The order must not be that of keywords.
    pub fn unsorted(&self) -> impl ExactSizeIterator<Item = Sorted> + '_ {
        self.top.unsorted()
    }

    /// Sorts the matches found.
    pub fn finish(&mut self) {
        if self.is_by_words {
            self.words.settle();
        } else {
            self.top.drain_into(&mut self.found);
        }
    }

    /// Returns the matches found, in their order.
    pub fn found(&self) -> &[Sorted] {
        if self.is_by_words { self.words.found() } else { &self.found }
    }

    /// Returns the keyword for the key of a match found.
    pub fn word(&self, key: u64) -> Option<&[u8]> {
        self.is_by_words.then(|| self.words.word(key))
    }

    /// Returns the value that a match found is sorted by.
    pub fn key_of(&self, found: &Sorted) -> Option<SortKey> {
        found.key.map(|key| match self.word(key) {
            Some(word) => SortKey::Word(word.into()),
            None => SortKey::Number(key),
        })
    }
}
