//! Phrases: documents with all of the terms, in whose vectors the terms are where they should be.
//!
//! Positions are in the [document vectors](spirit_index::vector), so a phrase is looked up in each document that has its terms:
//! their ordinals, one behind the other, by the vector kernel; with gaps or slop, [one by one](crate::sloppy). That costs two cache misses,
//! one for the row and one for the vector, so documents are looked at [many at a time](Phrase::each), and those of the next ones are asked for meanwhile. Where lists are packed there are no vectors, and [the lists](packed) say where terms are.

mod packed;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, AtomicU32};

use spirit_index::posting::rank_of;
use spirit_index::vector::{self, Entry};
use spirit_kernel as kernel;
use spirit_kernel::Level;
use spirit_mem::prefetch;

use super::window::{Bits, WORDS, Window, is_empty, ones_from};
use super::{Evaluation, Place, Scratch};
use crate::collect::Limit;
use crate::query::{Kind, Node, NodeId};
use crate::sloppy::{self, Occurrence, SLOTS_MAX, Slot};
use packed::InLists;

/// Units of a document that are asked for ahead; the processor sees the pattern then.
const UNITS_AHEAD: u32 = 4 * LINE_UNITS as u32;
/// Units on a cache line.
const LINE_UNITS: usize = 32;
/// How many documents ahead a vector is asked for,
const VECTORS_AHEAD: usize = 8;
/// and before it the row that says where it is.
const ROWS_AHEAD: usize = 2 * VECTORS_AHEAD;
/// Documents that are looked at together.
const GROUP: usize = 128;

/// A phrase in one segment.
pub(super) struct Phrase {
    slots: Slots,
    slop: u32,
    form: Form,
}

/// The place of each term.
struct Slots {
    all: [Slot; SLOTS_MAX],
    len: usize,
}

/// How it is looked for.
#[expect(clippy::large_enum_variant, reason = "it lies on the stack, once a segment or window")]
enum Form {
    Vectors(InVectors),
    Lists(InLists),
}

/// A phrase as vectors have it.
struct InVectors {
    /// Its terms' ordinals.
    ordinals: [u32; SLOTS_MAX],
    /// The units of the terms, one behind the other, if there are no gaps and no slop.
    pattern: [u16; 2 * SLOTS_MAX],
    pattern_len: usize,
}

/// What is wanted of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Whether the phrase occurs: 1 or 0.
    Any,
    /// How often; a match that is moved counts for less, as in Lucene.
    Frequency,
}

/// What a phrase is looked for in.
pub(super) struct Room<'r> {
    pub(super) place: &'r Place<'r>,
    /// The scratch memory of all leaves.
    pub(super) words: &'r [AtomicU32],
    /// For where the terms are in the document at hand.
    pub(super) occurrences: &'r mut Vec<Occurrence>,
}

impl<C: Limit> Evaluation<'_, C> {
    /// Leaves the bits of documents in which a phrase occurs; they have the term `known` already.
    pub(super) fn keep_phrase(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        known: Option<NodeId>,
        window: Window,
        bits: &mut [u64],
    ) {
        let query = self.query;
        for child in query.children(node).filter(|child| Some(*child) != known) {
            if is_empty(bits) {
                return;
            }
            self.keep(place, child, window, bits);
        }
        if is_empty(bits) {
            return;
        }
        let Some(phrase) = self.phrase_in(place, node, &self.scratch.words) else {
            return bits.fill(0);
        };
        let Scratch { words, occurrences, .. } = &mut *self.scratch;
        let mut room = Room { place, words, occurrences };
        let mut asked: Bits = [0; WORDS];
        let asked = &mut asked[..bits.len()];
        asked.copy_from_slice(bits);
        phrase.each_bit(&mut room, window, asked, Wanted::Any, |bit, occurs| {
            if occurs == 0.0 {
                bits[bit / 64] &= !(1 << (bit % 64));
            }
        });
    }
}

impl<C> Evaluation<'_, C> {
    /// The phrase as the segment at hand has it; none if one of its terms has no posting there. `words` is the scratch memory of all
    /// leaves.
    pub(super) fn phrase_in(
        &self,
        place: &Place<'_>,
        node: NodeId,
        words: &[AtomicU32],
    ) -> Option<Phrase> {
        let Kind::Phrase { slop } = self.query.nodes[node as usize].kind else { return None };
        let mut slots = Slots { all: [Slot::default(); SLOTS_MAX], len: 0 };
        if !self.is_packed(place) {
            if let Some(vectors) = self.in_vectors(place, node, slop, &mut slots) {
                return Some(Phrase { slots, slop, form: Form::Vectors(vectors) });
            }
            // If readers were led to packed lists meanwhile, ordinals are gone.
            if !self.is_packed(place) {
                return None;
            }
            slots.len = 0;
        }
        let lists = self.in_lists(place, node, &mut slots, words)?;
        Some(Phrase { slots, slop, form: Form::Lists(lists) })
    }

    fn in_vectors(
        &self,
        place: &Place<'_>,
        node: NodeId,
        slop: u32,
        slots: &mut Slots,
    ) -> Option<InVectors> {
        let mut vectors =
            InVectors { ordinals: [0; SLOTS_MAX], pattern: [0; 2 * SLOTS_MAX], pattern_len: 0 };
        for (term, at) in self.phrase_terms(node) {
            let ordinal = self.ordinal(place, term)?;
            let known = vectors.ordinals[..slots.len].iter().position(|o| *o == ordinal);
            vectors.ordinals[slots.len] = ordinal;
            slots.push(known, at);
        }
        if slop == 0 && slots.are_in_a_row() {
            for ordinal in &vectors.ordinals[..slots.len] {
                let (units, count) = vector::units_for(*ordinal);
                vectors.pattern[vectors.pattern_len..][..count].copy_from_slice(&units[..count]);
                vectors.pattern_len += count;
            }
        }
        Some(vectors)
    }

    /// The terms of a phrase, and the place of each.
    fn phrase_terms(&self, node: NodeId) -> impl Iterator<Item = (usize, u32)> + '_ {
        let query = self.query;
        query.children(node).filter_map(|child| match query.nodes[child as usize] {
            Node { kind: Kind::Term(term), at, .. } => Some((term as usize, at)),
            _ => None,
        })
    }

    /// A term's ordinal in the segment at hand, where it has a list.
    fn ordinal(&self, place: &Place<'_>, term: usize) -> Option<u32> {
        let leaf = &self.scratch.leaves[term];
        if leaf.postings == 1 && place.context.extent.is_none() {
            // A posting that lies in an entry has no list before which it would stand.
            return place.ordinal_of(term);
        }
        leaf.ordinal(&place.context)
    }
}

impl Phrase {
    /// Looks at the documents of a window whose bits are set, which have its terms: calls `found` with each one's bit and what is
    /// wanted.
    pub(super) fn each_bit(
        &self,
        room: &mut Room<'_>,
        window: Window,
        bits: &[u64],
        wanted: Wanted,
        mut found: impl FnMut(usize, f32),
    ) {
        let (mut group, mut ranks) = ([0; GROUP], [0; GROUP]);
        let mut from = 0;
        loop {
            let mut count = 0;
            for (bit, to) in ones_from(bits, from).zip(&mut group) {
                (*to, ranks[count]) = (bit, window.rank(bit));
                count += 1;
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

    /// Looks at the documents at some ranks, which have its terms: calls `found` with each one's index and what is wanted, for as long as
    /// that says so.
    pub(super) fn each(
        &self,
        room: &mut Room<'_>,
        ranks: &[u32],
        wanted: Wanted,
        mut found: impl FnMut(usize, f32) -> bool,
    ) {
        let ahead = if matches!(self.form, Form::Vectors(_)) { ROWS_AHEAD } else { 0 };
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

    /// What is wanted of the document at a rank, which has the phrase's terms.
    pub(super) fn occurs(&self, room: &mut Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        let vectors = match &self.form {
            Form::Vectors(vectors) => vectors,
            Form::Lists(lists) => return self.occurs_in_lists(room, lists, rank, wanted),
        };
        let Room { place, occurrences, .. } = room;
        let level = place.context.level;
        let row = place.segment.vector_row(rank_of(rank));
        let units = place.segment.vectors().document(row.vector(), row.tokens(), level);
        if vectors.pattern_len > 0 {
            let pattern = &vectors.pattern[..vectors.pattern_len];
            return match wanted {
                Wanted::Any if kernel::find_phrase(level, units, pattern).is_some() => 1.0,
                Wanted::Any => 0.0,
                Wanted::Frequency => kernel::phrase_count(level, units, pattern) as f32,
            };
        }
        collect(level, units, &vectors.ordinals[..self.slots.len], occurrences);
        self.sloppy_frequency(occurrences, wanted)
    }

    /// How often it occurs among these; if only whether it does is wanted, no more is looked at than that takes.
    fn sloppy_frequency(&self, occurrences: &[Occurrence], wanted: Wanted) -> f32 {
        let mut frequency = 0.0;
        sloppy::matches(occurrences, self.slots.as_slice(), self.slop, |length| {
            frequency += 1.0 / (1 + length) as f32;
            wanted == Wanted::Frequency
        });
        frequency
    }
}

impl Room<'_> {
    /// Asks for the row of one document, and for the vector of another, whose row was asked for before.
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

impl Slots {
    /// Takes the next term along, which is the same as one before if that is `known`.
    fn push(&mut self, known: Option<usize>, at: u32) {
        self.all[self.len] = Slot { term: known.unwrap_or(self.len) as u32, at };
        self.len += 1;
    }

    fn as_slice(&self) -> &[Slot] {
        &self.all[..self.len]
    }

    /// Whether they follow each other.
    fn are_in_a_row(&self) -> bool {
        self.as_slice().windows(2).all(|pair| pair[1].at == pair[0].at + 1)
    }
}

/// Where in a document some terms are. Of a document with more of them than there is room for, the first.
fn collect(level: Level, units: &[AtomicU16], ordinals: &[u32], occurrences: &mut Vec<Occurrence>) {
    if vector::has_gap(level, units) || !collect_by_term(level, units, ordinals, occurrences) {
        collect_by_token(units, ordinals, occurrences);
    }
}

/// The same where each token is one position; says whether there was room for all.
fn collect_by_term(
    level: Level,
    units: &[AtomicU16],
    ordinals: &[u32],
    occurrences: &mut Vec<Occurrence>,
) -> bool {
    occurrences.clear();
    for (term, ordinal) in ordinals.iter().enumerate() {
        // One that is there twice is known by its first place.
        if ordinals[..term].contains(ordinal) {
            continue;
        }
        let (pattern, count) = vector::units_for(*ordinal);
        kernel::each_occurrence(level, units, &pattern[..count], |position, _| {
            if occurrences.len() == occurrences.capacity() {
                return ControlFlow::Break(());
            }
            occurrences.push(Occurrence::new(position as u32, term as u32));
            ControlFlow::Continue(())
        });
    }
    occurrences.sort_unstable();
    occurrences.len() < occurrences.capacity()
}

/// The same of any vector.
#[cold]
fn collect_by_token(units: &[AtomicU16], ordinals: &[u32], occurrences: &mut Vec<Occurrence>) {
    occurrences.clear();
    let (mut at, mut position) = (0, 0);
    while let Some((entry, count)) = vector::take(&units[at..]) {
        let term = match entry {
            Entry::Term(ordinal) => ordinals.iter().position(|o| *o == ordinal),
            Entry::Holes(_) => None,
        };
        if let Some(term) = term {
            if occurrences.len() == occurrences.capacity() {
                return;
            }
            occurrences.push(Occurrence::new(position, term as u32));
        }
        (at, position) = (at + count, position + entry.positions());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            4 => (0u32..4).prop_map(Entry::Term),
            1 => (32_766u32..32_770).prop_map(Entry::Term),
            1 => Just(Entry::Holes(1)),
        ]
    }

    proptest! {
        /// Term by term gives what token by token does.
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
            let units: Vec<AtomicU16> = (0..2 * entries.len()).map(|_| AtomicU16::new(0)).collect();
            let end = entries.iter().fold(0, |at, entry| vector::put_entry(&units, at, *entry));
            let units = &units[..end];
            let mut read = Vec::with_capacity(capacity);
            collect_by_token(units, &ordinals, &mut read);
            for level in Level::all_supported() {
                prop_assert_eq!(vector::has_gap(level, units), gap.is_some());
                let mut found = Vec::with_capacity(capacity);
                collect(level, units, &ordinals, &mut found);
                prop_assert_eq!(&found, &read, "{:?}", level);
                prop_assert_eq!(found.capacity(), read.capacity());
            }
        }
    }
}
