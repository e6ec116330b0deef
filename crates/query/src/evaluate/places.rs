//! The places of a query's terms in a document: the frequency of each, its first place, and the
//! distance of the terms of each [pair](crate::proximity::Pair).
//!
//! One pass over the document's vector finds all of them. Where lists are packed there are no
//! vectors, and the lists have the positions. Nothing is kept but the counts, so a document may be
//! of any length.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU32;

use spirit_index::ground::{FieldId, SegmentId, rank_of};
use spirit_index::lists::PositionIter;
use spirit_index::rows::vector;
use spirit_index::terms::Entry;
use spirit_kernel::Token;
use spirit_mem::Zeroed;

use super::phrase::packed_positions;
use super::{Evaluation, Place};
use crate::leaf::Context;
use crate::packed::{BLOCK_WORDS, Blocks};
use crate::proximity::{Pair, Proximity, worth_of_place};
use crate::query::Query;
use crate::rank::{Weights, score};

/// The distance of two terms that are not both in the document.
const APART: u32 = u32::MAX;

/// The places of terms in the document that was read last.
#[derive(Default)]
pub(crate) struct Places {
    /// The segment whose terms were found.
    segment: Option<SegmentId>,
    terms: Terms,
    /// Room for a block of each term's packed list.
    words: Zeroed<AtomicU32>,
    /// For each different term, where the document has it.
    sightings: Vec<Sighting>,
    /// For each pair, the least distance of its terms.
    distances: Vec<u32>,
}

/// The terms in a segment.
#[derive(Debug, Default)]
struct Terms {
    /// True if the segment's lists are packed.
    is_packed: bool,
    /// The tokens of those that the segment's vectors have.
    tokens: Vec<Token>,
    /// The number of each token's term.
    numbers: Vec<usize>,
    /// The entry of each term's packed list, if it has one.
    entries: Vec<Option<Entry>>,
}

/// A term in a document.
#[derive(Clone, Copy, Debug, Default)]
struct Sighting {
    frequency: u32,
    first: u32,
    last: u32,
}

impl Sighting {
    /// Adds an occurrence, which is the last so far.
    fn add(&mut self, position: u32) {
        if self.frequency == 0 {
            self.first = position;
        }
        self.frequency += 1;
        self.last = position;
    }
}

/// A document whose places were read.
pub(super) struct Read<'r> {
    query: &'r Query,
    weights: &'r Weights,
    proximity: &'r Proximity,
    place: &'r Place<'r>,
    rank: u32,
    places: &'r Places,
}

impl<C> Evaluation<'_, C> {
    /// Reads the places of the terms in the document at a rank.
    pub(super) fn read_places<'r>(
        &'r mut self,
        place: &'r Place<'_>,
        rank: u32,
        weights: &'r Weights,
        proximity: &'r Proximity,
    ) -> Read<'r> {
        self.scratch.places.read(proximity, place, rank);
        let (query, places) = (self.query, &self.scratch.places);
        Read { query, weights, proximity, place, rank, places }
    }
}

impl Read<'_> {
    /// Returns what places and closeness add to the document's score.
    pub(super) fn worth(&self) -> f32 {
        let mut worth = |term| self.of_term(term).map_or(0.0, |(_, worth)| worth);
        let by_place = self.query.placed(self.weights, &mut worth);
        let by_closeness: f32 = self.pairs().map(|(_, _, worth)| worth).sum();
        by_place + by_closeness
    }

    /// Returns the first place of one of the query's terms in its field, and what that is worth;
    /// `None` if the document does not contain it or its place does not count.
    pub(super) fn of_term(&self, term: u32) -> Option<(u32, f32)> {
        let sighting = self.places.sightings[self.proximity.number_of(term)?];
        if sighting.frequency == 0 {
            return None;
        }
        let (segment, local) = (&self.place.segment, rank_of(self.rank));
        let field = self.query.terms[term as usize].field();
        let bm25 = self.weights.of_term(term as usize);
        let own = score(bm25, sighting.frequency as f32, segment.length_of(field, local));
        // Positions count on through a document, and the text comes first.
        let begin =
            if field == FieldId::TEXT { 0 } else { segment.length_of(FieldId::TEXT, local) };
        let first = sighting.first.saturating_sub(begin);
        Some((first, worth_of_place(own, first)))
    }

    /// Yields the pairs of terms that the document contains, with their distance and what that is
    /// worth.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Pair, u32, f32)> {
        let all = self.proximity.pairs().iter().zip(&self.places.distances);
        let there = all.filter(|(_, distance)| **distance != APART);
        there.map(|(pair, distance)| (pair, *distance, pair.worth(*distance)))
    }
}

impl Places {
    /// Reserves room for queries of this many clauses.
    pub(super) fn with_capacity(clauses: usize) -> Places {
        let terms = Terms {
            is_packed: false,
            tokens: Vec::with_capacity(clauses),
            numbers: Vec::with_capacity(clauses),
            entries: Vec::with_capacity(clauses),
        };
        Places {
            segment: None,
            terms,
            words: Zeroed::new(clauses * BLOCK_WORDS),
            sightings: Vec::with_capacity(clauses),
            distances: Vec::with_capacity(clauses),
        }
    }

    /// Forgets the segment. The next query has other terms, or another executor's segments.
    pub(crate) fn forget(&mut self) {
        self.segment = None;
    }

    fn read(&mut self, proximity: &Proximity, place: &Place<'_>, rank: u32) {
        let id = place.segment.id();
        if self.segment != Some(id) {
            self.segment = Some(id);
            self.terms.find(proximity, place, &self.words);
        }
        self.clear(proximity);
        if self.terms.is_packed {
            self.read_lists(proximity.pairs(), place, rank);
        } else if !self.read_vector(proximity.pairs(), place, rank) {
            self.clear(proximity);
            self.read_with_gaps(proximity.pairs(), place, rank);
        }
    }

    fn clear(&mut self, proximity: &Proximity) {
        self.sightings.clear();
        self.sightings.resize(proximity.terms().len(), Sighting::default());
        self.distances.clear();
        self.distances.resize(proximity.pairs().len(), APART);
    }

    /// Reads a vector in which each entry is one position. Returns false if it met a longer one.
    fn read_vector(&mut self, pairs: &[Pair], place: &Place<'_>, rank: u32) -> bool {
        let row = place.segment.vector_row(rank_of(rank));
        let Places { terms: Terms { tokens, numbers, .. }, sightings, distances, .. } = self;
        let document = (row.vector(), row.tokens());
        let level = place.context.level;
        place.segment.vectors().each_of(document, level, tokens, |position, which| {
            see(pairs, (sightings, distances), numbers[which], position as u32);
            ControlFlow::Continue(())
        })
    }

    /// Like [`read_vector`](Self::read_vector), for any vector.
    #[cold]
    fn read_with_gaps(&mut self, pairs: &[Pair], place: &Place<'_>, rank: u32) {
        let row = place.segment.vector_row(rank_of(rank));
        let Places { terms: Terms { tokens, numbers, .. }, sightings, distances, .. } = self;
        let ordinals = place.segment.vectors().ordinals(row.vector(), row.tokens());
        for (position, ordinal) in (0..).zip(ordinals) {
            let Some(token) = ordinal.map(vector::units_for) else { continue };
            if let Some(which) = tokens.iter().position(|own| *own == token) {
                see(pairs, (sightings, distances), numbers[which], position);
            }
        }
    }

    fn read_lists(&mut self, pairs: &[Pair], place: &Place<'_>, rank: u32) {
        let Places { terms, words, sightings, distances, .. } = self;
        for (number, sighting) in sightings.iter_mut().enumerate() {
            let positions = terms.positions(place, words, number, rank);
            positions.into_iter().flatten().for_each(|position| sighting.add(position));
        }
        for (pair, distance) in pairs.iter().zip(distances) {
            if pair.numbers.iter().all(|number| sightings[*number].frequency > 0) {
                let of = |number| terms.positions(place, words, number, rank).into_iter().flatten();
                *distance = nearest(of(pair.numbers[0]), of(pair.numbers[1]));
            }
        }
    }
}

impl Terms {
    /// Finds the terms in a segment.
    fn find(&mut self, proximity: &Proximity, place: &Place<'_>, words: &[AtomicU32]) {
        let may_be_packed = !place.is_fresh();
        self.is_packed = may_be_packed && place.segment.is_packed();
        if !self.is_packed {
            self.find_tokens(proximity, place);
            // If readers were led to packed lists in between, ordinals are gone.
            self.is_packed = may_be_packed && place.segment.is_packed();
        }
        if self.is_packed {
            self.find_entries(proximity, place, words);
        }
    }

    fn find_tokens(&mut self, proximity: &Proximity, place: &Place<'_>) {
        self.tokens.clear();
        self.numbers.clear();
        for (number, term) in proximity.terms().iter().enumerate() {
            if let Some(ordinal) = place.ordinal_of(*term as usize) {
                self.tokens.push(vector::units_for(ordinal));
                self.numbers.push(number);
            }
        }
    }

    fn find_entries(&mut self, proximity: &Proximity, place: &Place<'_>, words: &[AtomicU32]) {
        let Context { lists, level, .. } = place.context;
        self.entries.clear();
        for (number, term) in proximity.terms().iter().enumerate() {
            let term = place.query.lookup(&place.query.terms[*term as usize]);
            let entry = place.segment.packed_entry(term.key.field(), term.bytes);
            if let Some(list) = entry.and_then(|entry| place.segment.packed(entry)) {
                Blocks::begin(list, lists.region, level, block_words(words, number));
            }
            self.entries.push(entry);
        }
    }

    /// Returns the positions of a term in the document at a rank, if the segment has the term.
    fn positions<'p>(
        &self,
        place: &Place<'p>,
        words: &'p [AtomicU32],
        number: usize,
        rank: u32,
    ) -> Option<PositionIter<'p>> {
        Some(packed_positions(place, self.entries[number]?, block_words(words, number), rank))
    }
}

/// Returns the room for a block of one of the different terms.
fn block_words(words: &[AtomicU32], number: usize) -> &[AtomicU32] {
    &words[number * BLOCK_WORDS..][..BLOCK_WORDS]
}

/// Notes an occurrence of a term. Occurrences come in the order of their positions, so the nearest
/// one before is the other term's last.
fn see(
    pairs: &[Pair],
    (sightings, distances): (&mut [Sighting], &mut [u32]),
    number: usize,
    position: u32,
) {
    for (pair, distance) in pairs.iter().zip(distances) {
        let other = match pair.numbers {
            [one, other] if one == number => other,
            [one, other] if other == number => one,
            _ => continue,
        };
        if sightings[other].frequency > 0 {
            *distance = position.abs_diff(sightings[other].last).min(*distance);
        }
    }
    sightings[number].add(position);
}

/// Returns the least distance of two positions, one of each; [`APART`] if one has none. Both
/// ascend.
fn nearest(mut one: impl Iterator<Item = u32>, mut other: impl Iterator<Item = u32>) -> u32 {
    let (mut least, mut at) = (APART, (one.next(), other.next()));
    // Invariant: no position before these two is nearer to a later one. Terminates: each round
    // takes a position.
    while let (Some(here), Some(there)) = at {
        least = least.min(here.abs_diff(there));
        if here < there {
            at.0 = one.next();
        } else {
            at.1 = other.next();
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The least distance is that of all pairs of positions.
        #[test]
        fn the_nearest_are_found(
            one in prop::collection::btree_set(0u32..60, 0..8),
            other in prop::collection::btree_set(0u32..60, 0..8),
        ) {
            let all = one.iter().flat_map(|a| other.iter().map(|b| a.abs_diff(*b)));
            let expected = all.min().unwrap_or(APART);
            prop_assert_eq!(nearest(one.iter().copied(), other.iter().copied()), expected);
        }
    }
}
