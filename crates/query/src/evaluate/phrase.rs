//! Phrases: documents that contain all of the terms, in whose vectors the terms are in their
//! places.
//!
//! Positions are in the [document vectors](spirit_index::rows::vector). So a phrase is looked up in
//! each document that contains its terms. The vector kernel finds the terms' ordinals in a row.
//! With gaps or slop, [matches](crate::slop) are found one by one.
//!
//! A document costs two cache misses, one for its row and one for its vector. So documents are
//! checked [many at a time](Phrase::each), and those ahead are prefetched. Where lists are packed
//! there are no vectors, and [the lists](packed) have the positions.

mod packed;
mod prefix;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU32;

use spirit_index::ground::rank_of;
use spirit_index::rows::vector;
use spirit_index::rows::vector::Vectors;
use spirit_kernel::{Level, Token};
use spirit_mem::prefetch;

use super::window::{Bits, WORDS, Window, is_empty, ones_from};
use super::{Evaluation, Place, Scratch};
use crate::collect::Limit;
use crate::limits::Meter;
use crate::query::{Kind, Node, NodeId};
use crate::slop::{self, Occurrence, SLOTS_MAX, Slot};
use crate::tuning::{ROWS_AHEAD, UNITS_AHEAD, VECTORS_AHEAD};
use packed::InLists;
pub(super) use packed::packed_positions;

/// Units on a cache line.
const LINE_UNITS: usize = 32;
/// Documents that are checked together, at most.
const GROUP: usize = 128;

/// A phrase in one segment. It lies in scratch memory and is filled in anew: the longest phrases
/// are large, most are small.
#[derive(Debug, Default)]
pub(super) struct Phrase {
    /// The places of the terms.
    slots: Vec<Slot>,
    slop: u32,
    form: Form,
    /// The terms' tokens, for vectors.
    tokens: Vec<Token>,
    /// The tokens' units in a row, if there are no gaps and no slop.
    pattern: Vec<u16>,
    lists: InLists,
}

/// The source of a phrase's positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Vectors,
    Lists,
}

/// The result wanted for a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// 1 if the phrase occurs, else 0.
    Any,
    /// The phrase's frequency. Like in Lucene, a match with moved terms counts for less.
    Frequency,
}

/// The memory for checking phrases.
pub(super) struct Room<'r> {
    pub(super) place: &'r Place<'r>,
    /// The scratch memory of all leaves.
    pub(super) words: &'r [AtomicU32],
    /// Room for the terms' places in the current document.
    pub(super) occurrences: &'r mut Vec<Occurrence>,
}

impl<C: Limit> Evaluation<'_, C> {
    /// Keeps the bits of documents in which a phrase occurs. They contain the term `known`.
    pub(super) fn keep_phrase(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        known: Option<NodeId>,
        window: Window,
        bits: &mut [u64],
    ) {
        let query = self.query;
        // Invariant: the documents left contain the terms of the children before.
        for child in query.children(node).filter(|child| Some(*child) != known) {
            if is_empty(bits) {
                return;
            }
            self.keep(place, child, window, bits);
        }
        if is_empty(bits) {
            return;
        }
        if !self.open_phrase(place, node) {
            return bits.fill(0);
        }
        if self.scratch.phrase.places() == 1 {
            return;
        }
        let Scratch { words, occurrences, phrase, .. } = &mut *self.scratch;
        let mut room = Room { place, words, occurrences };
        let mut asked: Bits = [0; WORDS];
        let asked = &mut asked[..bits.len()];
        asked.copy_from_slice(bits);
        phrase.each_bit(&mut room, &mut self.meter, window, asked, Wanted::Any, |bit, occurs| {
            if occurs == 0.0 {
                bits[bit / 64] &= !(1 << (bit % 64));
            }
        });
    }
}

impl<C> Evaluation<'_, C> {
    /// Fills the phrase of scratch memory with the terms of a phrase in the current segment. For a
    /// phrase prefix, the last word is left out. Returns false if a term has no postings in the
    /// segment.
    pub(super) fn open_phrase(&mut self, place: &Place<'_>, node: NodeId) -> bool {
        // Moved out, since filling it reads the rest of the scratch memory.
        let mut phrase = std::mem::take(&mut self.scratch.phrase);
        let is_open = self.fill_phrase(place, node, &self.scratch.words, &mut phrase);
        self.scratch.phrase = phrase;
        is_open
    }

    /// Like [`open_phrase`](Self::open_phrase), for a phrase and scratch memory of the leaves that
    /// were moved out before.
    pub(super) fn fill_phrase(
        &self,
        place: &Place<'_>,
        node: NodeId,
        words: &[AtomicU32],
        phrase: &mut Phrase,
    ) -> bool {
        phrase.slop = match self.query.nodes[node as usize].kind {
            Kind::Phrase { slop } => slop,
            Kind::PhrasePrefix(_) => 0,
            _ => return false,
        };
        if !self.is_packed(place) {
            phrase.clear(Form::Vectors);
            if self.fill_ordinals(place, node, phrase).is_some() {
                return true;
            }
            // If readers were led to packed lists in between, ordinals are gone.
            if !self.is_packed(place) {
                return false;
            }
        }
        phrase.clear(Form::Lists);
        self.fill_lists(place, node, words, phrase).is_some()
    }

    fn fill_ordinals(&self, place: &Place<'_>, node: NodeId, phrase: &mut Phrase) -> Option<()> {
        for (term, at) in self.phrase_terms(node) {
            phrase.push_ordinal(self.ordinal(place, term)?, at);
        }
        phrase.fill_pattern();
        Some(())
    }

    /// Returns the terms of a phrase, and the place of each.
    fn phrase_terms(&self, node: NodeId) -> impl Iterator<Item = (usize, u32)> + '_ {
        let query = self.query;
        query.children(node).filter_map(|child| match query.nodes[child as usize] {
            Node { kind: Kind::Term(term), at, .. } => Some((term as usize, at)),
            _ => None,
        })
    }

    /// Returns a term's ordinal in the current segment, if it has a list there.
    fn ordinal(&self, place: &Place<'_>, term: usize) -> Option<u32> {
        let leaf = &self.scratch.leaves[term];
        if leaf.postings == 1 && place.context.extent.is_none() {
            // An ordinal stands before a list, but a single posting lies in its entry.
            return place.ordinal_of(term);
        }
        leaf.ordinal(&place.context)
    }
}

impl Phrase {
    /// Reserves room for the longest phrase.
    pub(super) fn with_capacity() -> Phrase {
        Phrase {
            slots: Vec::with_capacity(SLOTS_MAX),
            tokens: Vec::with_capacity(SLOTS_MAX),
            pattern: Vec::with_capacity(2 * SLOTS_MAX),
            lists: InLists::with_capacity(),
            ..Phrase::default()
        }
    }

    /// Removes all terms, but keeps the slop.
    fn clear(&mut self, form: Form) {
        self.form = form;
        self.pattern.clear();
        self.truncate(0);
    }

    /// Removes the terms after the first `places`.
    fn truncate(&mut self, places: usize) {
        self.slots.truncate(places);
        self.tokens.truncate(places);
        self.lists.truncate(places);
    }

    /// Appends a term at a place. If `known` is the index of an earlier place, the term is that
    /// one's.
    fn push(&mut self, known: Option<usize>, at: u32) {
        let term = known.unwrap_or(self.slots.len()) as u32;
        self.slots.push(Slot { term, at });
    }

    /// Like [`push`](Self::push), for a term in vectors.
    fn push_ordinal(&mut self, ordinal: u32, at: u32) {
        let token = vector::units_for(ordinal);
        let known = self.tokens.iter().position(|own| *own == token);
        self.tokens.push(token);
        self.push(known, at);
    }

    /// Fills in the units of all tokens in a row, if the terms must follow each other.
    fn fill_pattern(&mut self) {
        self.pattern.clear();
        if self.is_in_a_row() {
            for (units, count) in &self.tokens {
                self.pattern.extend_from_slice(&units[..*count]);
            }
        }
    }

    /// Returns the number of places that have terms.
    pub(super) fn places(&self) -> usize {
        self.slots.len()
    }

    /// True if its terms must follow each other.
    fn is_in_a_row(&self) -> bool {
        self.slop == 0 && self.slots.windows(2).all(|pair| pair[1].at == pair[0].at + 1)
    }

    /// Checks the documents of a window whose bits are set, which contain its terms. Calls `found`
    /// with each document's bit and the result wanted. Stops if the meter does.
    pub(super) fn each_bit(
        &self,
        room: &mut Room<'_>,
        meter: &mut Meter<'_>,
        window: Window,
        bits: &[u64],
        wanted: Wanted,
        mut found: impl FnMut(usize, f32),
    ) {
        let (mut group, mut ranks) = ([0; GROUP], [0; GROUP]);
        let mut from = 0;
        // Invariant: the documents of all bits before `from` were checked. Terminates: `from` grows
        // until a group is not full.
        loop {
            let mut count = 0;
            for (bit, to) in ones_from(bits, from).zip(&mut group) {
                (*to, ranks[count]) = (bit, window.rank(bit));
                count += 1;
            }
            if !meter.steps(count) {
                return;
            }
            self.each(room, &ranks[..count], wanted, |number, occurs| {
                found(group[number], occurs);
                true
            });
            if count < GROUP {
                return;
            }
            from = group[GROUP - 1] + 1;
        }
    }

    /// Checks the documents at some ranks, which contain its terms. Calls `found` with each one's
    /// index and the result wanted, until `found` returns false.
    pub(super) fn each(
        &self,
        room: &mut Room<'_>,
        ranks: &[u32],
        wanted: Wanted,
        mut found: impl FnMut(usize, f32) -> bool,
    ) {
        let ahead = if self.form == Form::Vectors { ROWS_AHEAD } else { 0 };
        for step in 0..ranks.len() + ahead {
            if ahead > 0 {
                let at = |ahead| ranks.get(step.checked_sub(ROWS_AHEAD - ahead)?).copied();
                room.ask_for(at(ROWS_AHEAD), at(VECTORS_AHEAD));
            }
            let Some(number) = step.checked_sub(ahead) else { continue };
            if !found(number, self.occurs(room, ranks[number], wanted)) {
                return;
            }
        }
    }

    /// Returns the result wanted for the document at a rank, which contains the phrase's terms.
    pub(super) fn occurs(&self, room: &mut Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        if self.form == Form::Lists {
            return self.occurs_in_lists(room, rank, wanted);
        }
        let Room { place, occurrences, .. } = room;
        let level = place.context.level;
        let row = place.segment.vector_row(rank_of(rank));
        let (vectors, document) = (place.segment.vectors(), (row.vector(), row.tokens()));
        if !self.pattern.is_empty() {
            let any = wanted == Wanted::Any;
            return vectors.phrase(document, level, &self.pattern, any) as f32;
        }
        collect(level, (vectors, document), &self.tokens, occurrences);
        self.sloppy_frequency(occurrences, wanted)
    }

    /// Returns the phrase's frequency among these occurrences. For [`Wanted::Any`], stops at the
    /// first match.
    fn sloppy_frequency(&self, occurrences: &[Occurrence], wanted: Wanted) -> f32 {
        let mut frequency = 0.0;
        slop::matches(occurrences, &self.slots, self.slop, |length| {
            frequency += 1.0 / (1 + length) as f32;
            wanted == Wanted::Frequency
        });
        frequency
    }
}

impl Room<'_> {
    /// Prefetches the row of one document, and the vector of another one, whose row was prefetched
    /// before.
    #[inline]
    fn ask_for(&self, row: Option<u32>, vector: Option<u32>) {
        let segment = self.place.segment;
        if let Some(rank) = row {
            segment.vector_row(rank_of(rank)).prefetch();
        }
        if let Some(rank) = vector {
            let row = segment.vector_row(rank_of(rank));
            let vectors = segment.vectors();
            let units = vectors.units(row.vector(), row.tokens().min(UNITS_AHEAD) as u64);
            units.iter().step_by(LINE_UNITS).chain(units.last()).for_each(prefetch);
        }
    }
}

/// Collects the places of some terms in a document, up to the capacity of `occurrences`.
fn collect(
    level: Level,
    (vectors, document): (Vectors<'_>, (u32, u32)),
    tokens: &[Token],
    occurrences: &mut Vec<Occurrence>,
) {
    occurrences.clear();
    let is_read = vectors.each_of(document, level, tokens, |position, term| {
        put(occurrences, Occurrence::new(position as u32, term as u32))
    });
    if !is_read {
        collect_with_gaps((vectors, document), tokens, occurrences);
    }
}

/// Like [`collect`], for a document in which some entries stand for more than one position.
#[cold]
fn collect_with_gaps(
    (vectors, (start, tokens)): (Vectors<'_>, (u32, u32)),
    wanted: &[Token],
    occurrences: &mut Vec<Occurrence>,
) {
    occurrences.clear();
    for (position, ordinal) in (0..).zip(vectors.ordinals(start, tokens)) {
        let Some(token) = ordinal.map(vector::units_for) else { continue };
        let term = wanted.iter().position(|own| *own == token);
        let full = term.map(|term| put(occurrences, Occurrence::new(position, term as u32)));
        if full.is_some_and(|full| full.is_break()) {
            return;
        }
    }
}

/// Appends an occurrence, if there is room.
fn put(occurrences: &mut Vec<Occurrence>, occurrence: Occurrence) -> ControlFlow<()> {
    if occurrences.len() == occurrences.capacity() {
        return ControlFlow::Break(());
    }
    occurrences.push(occurrence);
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::rows::vector::Entry;
    use spirit_mem::{Region, Residency, Span};
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    fn entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            4 => (0u32..4).prop_map(Entry::Term),
            1 => (32_766u32..32_770).prop_map(Entry::Term),
            1 => Just(Entry::Holes(1)),
        ]
    }

    proptest! {
        /// Terms are where a reading finds them, with and without gaps.
        #[test]
        fn terms_are_where_a_reading_finds_them(
            entries in prop::collection::vec(entry(), 0..200),
            gap in prop::option::of((0usize..200, 2u32..40_000)),
            ordinals in prop::collection::vec(prop_oneof![0u32..4, 32_766u32..32_770], 1..4),
            capacity in 1usize..80,
        ) {
            let mut entries = entries;
            if let Some((at, holes)) = gap {
                let holes = Entry::Holes(holes.min(vector::GAP_MAX));
                entries.insert(at.min(entries.len()), holes);
            }
            let region = Region::reserve(4096, Residency::OnTouch).unwrap();
            let directory = Span::<AtomicU64>::new(0, 1);
            region.view(directory)[0].store(1024, Relaxed);
            let units = region.view(Span::new(1024, 1024));
            let end = entries.iter().fold(0, |at, entry| vector::put_entry(units, at, *entry));
            // Another document follows.
            vector::put(units, end, ordinals[0]);
            let tokens: Vec<Token> = ordinals.iter().map(|own| vector::units_for(*own)).collect();
            let document = (0, entries.iter().map(|entry| entry.positions()).sum());
            let vectors = Vectors::new(&region, directory, 10);

            let mut expected = Vec::new();
            let mut position = 0;
            for entry in &entries {
                if let Entry::Term(ordinal) = entry
                    && let Some(term) = ordinals.iter().position(|own| own == ordinal)
                {
                    expected.push(Occurrence::new(position, term as u32));
                }
                position += entry.positions();
            }
            expected.truncate(capacity);
            for level in Level::all_supported() {
                let mut found = Vec::with_capacity(capacity);
                collect(level, (vectors, document), &tokens, &mut found);
                prop_assert_eq!(&found, &expected, "{:?}", level);
                prop_assert_eq!(found.capacity(), capacity);
            }
        }
    }
}
