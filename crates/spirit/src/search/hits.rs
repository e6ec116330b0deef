//! Hits: addresses of the documents that a search found. The documents stay readable while the hits
//! are kept, or until their lease ends.

use std::fmt;

use spirit_index::ground::ValueKind;
use spirit_query::{Address, Counts, ParseError, Query, Scored, SortBy, SortKey, Total};
use spirit_schema::Value;

use crate::cached::Outcome;
use crate::search::cursor::{
    Cursor, KeyedCursor, Last, RankedCursor, SortedCursor, fingerprint, sorted_fingerprint,
};
use crate::search::desk::Desk;
use crate::search::found::{Found, Ranked, Sorted};
use crate::search::hit_error::HitError;
use crate::search::pool::Pooled;
use crate::storage::view::View;

/// The first matches of a search, in the order that it asked for.
///
/// They keep their documents in memory. An index that waits for that memory takes it back after the
/// [lease](crate::Builder::reader_lease).
pub struct Hits<'r> {
    asked: Asked<'r>,
}

/// The desk that found the hits, and keeps their memory.
enum Asked<'r> {
    /// A reader's desk, which cannot be asked anything else meanwhile. The query, if it is not the
    /// desk's own.
    Reader(&'r Desk, Option<&'r Query>),
    /// A pool's desk.
    Pooled(Pooled),
}

impl Drop for Hits<'_> {
    #[inline]
    fn drop(&mut self) {
        self.desk().seat.leave();
    }
}

impl fmt::Debug for Hits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hits = f.debug_struct("Hits");
        hits.field("len", &self.len()).field("total", &self.total()).finish_non_exhaustive()
    }
}

impl<'r> Hits<'r> {
    /// Returns hits that a reader found.
    #[inline(always)]
    pub(crate) fn lent(desk: &'r Desk, query: Option<&'r Query>) -> Hits<'r> {
        Hits { asked: Asked::Reader(desk, query) }
    }

    /// Returns hits that a pool's desk found. Their query is the desk's own.
    #[inline(always)]
    pub(crate) fn pooled(desk: Pooled) -> Hits<'r> {
        Hits { asked: Asked::Pooled(desk) }
    }

    #[inline(always)]
    pub(crate) fn desk(&self) -> &Desk {
        match &self.asked {
            Asked::Reader(desk, _) => desk,
            Asked::Pooled(desk) => desk,
        }
    }

    fn query(&self) -> &Query {
        match &self.asked {
            Asked::Reader(_, Some(query)) => query,
            _ => &self.desk().query,
        }
    }

    fn found(&self) -> Found {
        self.desk().memory.found
    }

    /// Returns the number of hits.
    pub fn len(&self) -> usize {
        self.addresses().len()
    }

    /// True if there are no hits.
    pub fn is_empty(&self) -> bool {
        self.addresses().is_empty()
    }

    /// Returns the number of documents that match; none unless the search [counts
    /// them](crate::Search::total).
    pub fn total(&self) -> Option<Total> {
        self.desk().memory.total
    }

    /// True if the result cache answered from another query's entry, so some matches are missing.
    /// Only with [`Matching::Partial2`](crate::cache::Matching).
    pub fn is_approximate(&self) -> bool {
        self.desk().memory.recall.outcome == Outcome::Approximate
    }

    /// Returns the errors that a [lenient](crate::Lenient) parser skipped.
    pub fn warnings(&self) -> &[ParseError] {
        &self.desk().warnings
    }

    /// True if the search was in the order of a field's values.
    pub fn is_sorted_by_field(&self) -> bool {
        matches!(self.found(), Found::Sorted(_) | Found::Keyed { .. })
    }

    /// Returns a sequence number: the search saw every operation that was acknowledged with a lower
    /// one. It may have seen later ones.
    pub fn as_of(&self) -> u64 {
        self.desk().seat.as_of()
    }

    /// Returns the counts that scores were computed from; none unless the search was for the best.
    #[cfg(feature = "lab")]
    pub(crate) fn scored_from(&self) -> Option<&Counts> {
        matches!(self.found(), Found::Best(_)).then(|| &self.desk().memory.counts)
    }

    pub(crate) fn addresses(&self) -> &[Address] {
        &self.desk().memory.hits
    }

    /// Returns the score of the hit at `place`; none unless the search was for the best.
    pub(crate) fn score(&self, place: usize) -> Option<f32> {
        let Found::Best(_) = self.found() else { return None };
        Some(self.desk().memory.scored[place].score)
    }

    /// Returns the value that the hit at `place` is sorted by, if there is one.
    pub(crate) fn sort_value(&self, place: usize) -> Option<Value<'_>> {
        let by = match self.found() {
            Found::Sorted(Sorted { by, .. }) => by,
            Found::Keyed { .. } => return self.first_key(place),
            _ => return None,
        };
        let first = &self.desk().memory.first;
        let key = first.found()[place].key?;
        match first.word(key) {
            // A keyword is UTF-8.
            Some(word) => std::str::from_utf8(word).ok().map(Value::Text),
            None => value_of(by.kind, by.bits(key)),
        }
    }

    /// Returns the value of the first of several keys.
    fn first_key(&self, place: usize) -> Option<Value<'_>> {
        let (by, key) = self.desk().memory.keyed.value(place)?;
        match key {
            SortKey::Word(word) => std::str::from_utf8(word).ok().map(Value::Text),
            SortKey::Number(value) => value_of(by.kind, by.kind.from_sortable(*value)),
        }
    }

    /// Reads memory that the hits hold.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&View) -> T) -> Result<T, HitError> {
        let Desk { index, seat, .. } = self.desk();
        seat.read(index, read)
    }

    /// Returns the place where the next page begins; none if there are no hits.
    pub fn cursor(&self) -> Result<Option<Cursor>, HitError> {
        let Desk { memory, parser, .. } = self.desk();
        let query = self.query();
        let fields = Some(parser.fields().len());
        Ok(match self.found() {
            Found::Newest => {
                let last = memory.hits.last().copied();
                let limit = last.map(|hit| self.read(|view| view.sequence_of(hit))).transpose()?;
                limit.map(|limit| Cursor { limit, fields: None, last: Last::Newest })
            }
            Found::Best(ranked) => {
                let last = memory.scored.last();
                last.map(|last| Cursor { fields, ..ranked.cursor(query, &memory.counts, last) })
            }
            Found::Keyed { limit, fingerprint } => {
                let bytes = memory.keyed.found().last().map(|last| last.bytes.clone().into());
                bytes.map(|bytes| Cursor {
                    limit,
                    fields,
                    last: Last::Keyed(KeyedCursor { fingerprint, bytes }),
                })
            }
            Found::Sorted(sorted) => {
                let first = &memory.first;
                let last = first.found().last();
                let cursor = |last| sorted.cursor(query, first.key_of(last), last.sequence);
                last.map(|last| Cursor { fields, ..cursor(last) })
            }
        })
    }
}

/// Decodes a value of a fixed size; none for texts and keywords.
fn value_of(kind: ValueKind, bits: u64) -> Option<Value<'static>> {
    match kind {
        ValueKind::Text | ValueKind::Keyword => None,
        ValueKind::Integer => Some(Value::Integer(bits.cast_signed())),
        ValueKind::Float => Some(Value::Float(f64::from_bits(bits))),
        ValueKind::Time => Some(Value::Time(bits.cast_signed())),
        ValueKind::Boolean => Some(Value::Boolean(bits != 0)),
    }
}

impl Ranked {
    /// Returns the cursor after `last`.
    fn cursor(self, query: &Query, counts: &Counts, last: &Scored) -> Cursor {
        let Ranked { by, limit } = self;
        let Scored { score, sequence, .. } = *last;
        let fingerprint = fingerprint(query, &by);
        let (counts, now) = (counts.clone(), by.fading.map(|fading| fading.now));
        let last =
            Last::Ranked(Box::new(RankedCursor { fingerprint, score, sequence, counts, now }));
        Cursor { limit, fields: None, last }
    }
}

impl Sorted {
    /// Returns the cursor after the hit with this key and sequence number.
    fn cursor(self, query: &Query, key: Option<SortKey>, sequence: u64) -> Cursor {
        let Sorted { by, limit } = self;
        let fingerprint = sorted_fingerprint(query, by);
        let SortBy { field, direction, .. } = by;
        let last = Last::Sorted(SortedCursor { fingerprint, field, direction, key, sequence });
        Cursor { limit, fields: None, last }
    }
}
