//! The first matches in the order of a field, while they are looked for in one segment after the other, and when they are found.

use super::words::{Place, Words};
use super::{SortBy, SortKey, Sorted};
use crate::top::Top;

/// The first matches in the order of a field.
#[derive(Debug)]
pub struct First {
    /// Of all segments; of the current one where keywords order them, which are numbers there.
    pub(super) top: Top<Sorted>,
    /// What `top` has found.
    pub(super) found: Vec<Sorted>,
    /// Those of all segments, where keywords order them.
    pub(super) words: Words,
    is_by_words: bool,
}

impl First {
    /// With room for `k_max` matches.
    pub fn with_capacity(k_max: usize) -> First {
        First {
            top: Top::with_capacity(k_max),
            found: Vec::with_capacity(k_max),
            words: Words::with_capacity(k_max),
            is_by_words: false,
        }
    }

    /// Begins anew: the first `k`, of those behind the one with this key and sequence number. Says whether the key can be one of this
    /// order.
    pub fn begin(&mut self, by: SortBy, k: usize, after: Option<(Option<&SortKey>, u64)>) -> bool {
        self.is_by_words = by.is_by_words();
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

    /// Whether any match counts.
    pub(crate) fn takes_any(&self) -> bool {
        self.top.takes_any()
    }

    /// Puts what was found in order.
    pub fn finish(&mut self) {
        if self.is_by_words {
            self.words.settle();
        } else {
            self.top.drain_into(&mut self.found);
        }
    }

    /// What was found, the first first.
    pub fn found(&self) -> &[Sorted] {
        if self.is_by_words { self.words.found() } else { &self.found }
    }

    /// The keyword with the key of a match that was found.
    pub fn word(&self, key: u64) -> Option<&[u8]> {
        self.is_by_words.then(|| self.words.word(key))
    }

    /// What a match that was found is sorted by.
    pub fn key_of(&self, found: &Sorted) -> Option<SortKey> {
        found.key.map(|key| match self.word(key) {
            Some(word) => SortKey::Word(word.into()),
            None => SortKey::Number(key),
        })
    }
}
