//! Phrases: documents with all of the terms, in whose vectors the terms are where they should be.
//!
//! Positions are in the [document vectors](spirit_index::vector), so a phrase is looked up in each document that has its terms:
//! their ordinals, one behind the other, by the vector kernel; with gaps or slop, [one by one](crate::sloppy). Rows and vectors of the next few documents are
//! asked for before they are needed. Where lists are packed there are no vectors, and [the lists](packed) say where terms are.

mod packed;

use std::sync::atomic::AtomicU16;

use spirit_index::posting::rank_of;
use spirit_index::vector::{self, Entry};
use spirit_kernel as kernel;
use spirit_mem::prefetch;

use super::window::{Ones, Window, is_empty};
use super::{Evaluation, Place};
use crate::collect::Limit;
use crate::query::{Kind, Node, NodeId};
use crate::sloppy::{self, Occurrence, SLOTS_MAX, Slot};
use packed::InLists;

/// Units of a document that are asked for ahead; the processor sees the pattern then.
const UNITS_AHEAD: u32 = 4 * LINE_UNITS as u32;
/// Units on a cache line.
const LINE_UNITS: usize = 32;
/// Documents that are asked for together.
const GROUP: usize = 16;

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
#[expect(clippy::large_enum_variant, reason = "it lies on the stack, once a window")]
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
enum Wanted {
    /// Whether the phrase occurs.
    Any,
    /// How often.
    Frequency,
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
        let Some(phrase) = self.phrase_in(place, node) else { return bits.fill(0) };
        let mut group = [0; GROUP];
        let mut from = 0;
        loop {
            let count = next_ones(bits, &mut from, &mut group);
            if count == 0 {
                return;
            }
            let ranks = group.map(|bit| window.rank(bit));
            self.ask_for(place, &phrase, &ranks[..count]);
            for bit in &group[..count] {
                if self.occurs(place, &phrase, window.rank(*bit), Wanted::Any) == 0.0 {
                    bits[bit / 64] &= !(1 << (bit % 64));
                }
            }
        }
    }

    /// How often a phrase occurs in the document at a rank, which has its terms: a match that is moved counts for less, as in Lucene.
    pub(super) fn phrase_frequency(
        &mut self,
        place: &Place<'_>,
        phrase: &Phrase,
        rank: u32,
    ) -> f32 {
        self.occurs(place, phrase, rank, Wanted::Frequency)
    }

    /// The phrase as the segment at hand has it; none if one of its terms has no posting there.
    pub(super) fn phrase_in(&self, place: &Place<'_>, node: NodeId) -> Option<Phrase> {
        let Kind::Phrase { slop } = self.query.nodes[node as usize].kind else { return None };
        let mut slots = Slots { all: [Slot::default(); SLOTS_MAX], len: 0 };
        let form = if self.is_packed(place, node) {
            Form::Lists(self.in_lists(place, node, &mut slots)?)
        } else {
            Form::Vectors(self.in_vectors(place, node, slop, &mut slots)?)
        };
        Some(Phrase { slots, slop, form })
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

    /// Asks for the rows of documents, and then for their vectors.
    fn ask_for(&self, place: &Place<'_>, phrase: &Phrase, ranks: &[u32]) {
        if matches!(phrase.form, Form::Lists(_)) {
            return;
        }
        let vectors = place.segment.vectors();
        ranks.iter().for_each(|rank| place.segment.vector_row(rank_of(*rank)).prefetch());
        for rank in ranks {
            let row = place.segment.vector_row(rank_of(*rank));
            let units = vectors.units(row.vector(), row.tokens().min(UNITS_AHEAD) as u64);
            units.iter().step_by(LINE_UNITS).chain(units.last()).for_each(prefetch);
        }
    }

    fn occurs(&mut self, place: &Place<'_>, phrase: &Phrase, rank: u32, wanted: Wanted) -> f32 {
        let vectors = match &phrase.form {
            Form::Vectors(vectors) => vectors,
            Form::Lists(lists) => return self.occurs_in_lists(place, phrase, lists, rank, wanted),
        };
        let row = place.segment.vector_row(rank_of(rank));
        let level = self.settings.level;
        let units = place.segment.vectors().document(row.vector(), row.tokens(), level);
        if vectors.pattern_len > 0 {
            let pattern = &vectors.pattern[..vectors.pattern_len];
            return match wanted {
                Wanted::Any if kernel::find_phrase(level, units, pattern).is_some() => 1.0,
                Wanted::Any => 0.0,
                Wanted::Frequency => kernel::phrase_count(level, units, pattern) as f32,
            };
        }
        let occurrences = &mut self.scratch.occurrences;
        occurrences.clear();
        collect(units, &vectors.ordinals[..phrase.slots.len], occurrences);
        phrase.sloppy_frequency(occurrences, wanted)
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

impl Phrase {
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

/// Where in a document some terms are. Of a document with more of them than there is room for, the first.
fn collect(units: &[AtomicU16], ordinals: &[u32], occurrences: &mut Vec<Occurrence>) {
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

/// The next bits that are set from `from` on, and where to go on.
fn next_ones(bits: &[u64], from: &mut usize, out: &mut [usize; GROUP]) -> usize {
    let mut count = 0;
    while let Some(word) = bits.get(*from / 64) {
        for bit in Ones(word & u64::MAX << (*from % 64)) {
            out[count] = *from / 64 * 64 + bit;
            count += 1;
            if count == GROUP {
                *from = out[count - 1] + 1;
                return count;
            }
        }
        *from = (*from / 64 + 1) * 64;
    }
    count
}
