//! Hits: what a search found. They are addresses of documents, and what these lead to is there for as long as the hits are kept,
//! or until their lease is over.

use std::cell::RefCell;

use spirit_index::form::text_index::TextScratch;
use spirit_index::keys;
use spirit_index::snapshot::Snapshot;
use spirit_query::{
    Counts, Fading, Fingerprint, First, Hit, Parameters, Query, Scored, SortBy, Total,
};

use crate::config::document::StoredValue;
use crate::index::Index;
use crate::search::cursor::{Cursor, Last, RankedCursor, SortedCursor, fingerprint};
use crate::search::hit_error::HitError;
use crate::search::seat::Seat;
use crate::storage::fields::Fields;
use crate::storage::view::View;

/// The hits stay readable while this lives, or until their lease is over.
pub(crate) struct Held<'r>(&'r Seat);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The first matches in the order that was asked for.
pub struct Hits<'r> {
    pub(crate) index: &'r Index,
    pub(crate) hits: &'r [Hit],
    found: Found<'r>,
    total: Option<Total>,
    /// Made when the first text is read.
    pub(crate) scratch: RefCell<Option<Box<TextScratch>>>,
    /// But for the time of a call that reads.
    held: Held<'r>,
}

/// How hits were found.
#[derive(Clone, Copy)]
pub(crate) enum Found<'r> {
    Newest,
    Best(Ranking<'r>),
    Sorted(Sorting<'r>),
}

/// How hits were sorted by a field.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<'r> {
    pub(crate) query: &'r Query,
    /// The hits with what they are sorted by.
    pub(crate) first: &'r First,
    pub(crate) by: SortBy,
    /// Where the documents end that were there when the first page was asked for.
    pub(crate) limit: u64,
}

/// How the best hits were found.
#[derive(Clone, Copy)]
pub(crate) struct Ranking<'r> {
    pub(crate) query: &'r Query,
    /// The hits with their scores.
    pub(crate) scored: &'r [Scored],
    /// What scores were computed from.
    pub(crate) counts: &'r Counts,
    pub(crate) parameters: Parameters,
    /// How they faded, if they did.
    pub(crate) fading: Option<Fading>,
    /// Where the documents end that were there when the first page was asked for.
    pub(crate) limit: u64,
}

impl<'r> Hits<'r> {
    #[inline]
    pub(crate) fn new(
        index: &'r Index,
        hits: &'r [Hit],
        found: Found<'r>,
        total: Option<Total>,
        seat: &'r Seat,
    ) -> Hits<'r> {
        Hits { index, hits, found, total, scratch: RefCell::new(None), held: Held(seat) }
    }

    /// The score of each hit, if the search was for the best.
    pub fn scores(&self) -> Option<impl ExactSizeIterator<Item = f32> + '_> {
        self.ranking().map(|ranking| ranking.scored.iter().map(|found| found.score))
    }

    fn ranking(&self) -> Option<Ranking<'r>> {
        match self.found {
            Found::Best(ranking) => Some(ranking),
            Found::Newest | Found::Sorted(_) => None,
        }
    }

    /// What each hit is sorted by, if the search was by a field: none for a document that has no value.
    pub fn sort_values(
        &self,
    ) -> Option<impl ExactSizeIterator<Item = Option<StoredValue>> + use<'r>> {
        let Found::Sorted(Sorting { first, by, .. }) = self.found else { return None };
        let value = move |key| match first.word(key) {
            Some(word) => Some(StoredValue::Text(String::from_utf8_lossy(word).into_owned())),
            None => StoredValue::from_bits(by.kind, by.bits(key)),
        };
        Some(first.found().iter().map(move |found| found.key.and_then(value)))
    }

    /// Reads where the hits lead to.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&View) -> T) -> Result<T, HitError> {
        self.held.0.read(self.index, read)
    }

    /// The fields of what was found.
    pub(crate) fn fields(&self) -> &Fields {
        &self.held.0.view().fields
    }

    /// What scores were computed from, if the search was for the best.
    pub fn counts(&self) -> Option<&Counts> {
        self.ranking().map(|ranking| ranking.counts)
    }

    /// How many documents match, if the search was to [say so](crate::Search::total).
    pub fn total(&self) -> Option<Total> {
        self.total
    }

    /// One past the sequence number of the newest operation that was seen, at least: what was acknowledged below it is among what
    /// was searched.
    pub fn as_of(&self) -> u64 {
        self.held.0.as_of()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// The addresses of the documents, in the order of the hits: executor, segment and row. Good while this lives.
    pub fn addresses(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.hits.iter().map(|hit| (hit.executor, hit.segment.0, hit.local))
    }

    /// The sequence number of each hit: larger is newer, over the whole index.
    pub fn sequences(&self) -> Result<Vec<u64>, HitError> {
        self.read(|view| self.hits.iter().map(|hit| view.sequence_of(*hit)).collect())
    }

    /// Appends the key of the hit at `index` (0 is the first) to `key`.
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn write_key(&self, index: usize, key: &mut Vec<u8>) -> Result<(), HitError> {
        let hit = self.hits[index];
        self.read(|view| {
            let memory = &view.parts[hit.executor as usize].memory;
            let segment = Snapshot::take(memory).of(hit.segment);
            keys::write_key(&segment, segment.row_table().row(hit.local).key(), key);
        })
    }

    /// The keys, in the order of the hits.
    pub fn keys(&self) -> Result<Vec<String>, HitError> {
        let key = |i| {
            let mut key = Vec::new();
            self.write_key(i, &mut key)?;
            Ok(String::from_utf8_lossy(&key).into_owned())
        };
        (0..self.len()).map(key).collect()
    }

    /// Where the next page begins; `None` if there is no hit.
    pub fn cursor(&self) -> Result<Option<Cursor>, HitError> {
        Ok(match self.found {
            Found::Newest => {
                let last = self.hits.last().copied();
                let limit = last.map(|hit| self.read(|view| view.sequence_of(hit))).transpose()?;
                limit.map(|limit| Cursor { limit, last: Last::Newest })
            }
            Found::Best(Ranking { query, scored, counts, parameters, fading, limit }) => {
                scored.last().map(|last| {
                    let Scored { score, sequence, .. } = *last;
                    let fingerprint = fingerprint(query, parameters, fading.as_ref());
                    let (counts, now) = (counts.clone(), fading.map(|fading| fading.now));
                    let ranked = RankedCursor { fingerprint, score, sequence, counts, now };
                    Cursor { limit, last: Last::Ranked(Box::new(ranked)) }
                })
            }
            Found::Sorted(Sorting { query, first, by, limit }) => {
                first.found().last().map(|last| {
                    let fingerprint = Fingerprint::of(query).short();
                    let (key, sequence) = (first.key_of(last), last.sequence);
                    let SortBy { field, direction, .. } = by;
                    let last =
                        Last::Sorted(SortedCursor { fingerprint, field, direction, key, sequence });
                    Cursor { limit, last }
                })
            }
        })
    }
}
