//! Phrases where lists are packed: the lists have the positions.
//!
//! Each term has room in its leaf's scratch memory for the block with the last document, beside the
//! leaf's own block. If the terms must follow each other, their positions are merged without being
//! written down.

use std::sync::atomic::AtomicU32;

use spirit_index::lists::PositionIter;
use spirit_index::terms::Entry;

use super::{Phrase, Room, Wanted};
use crate::evaluate::{Evaluation, Place, words_of};
use crate::leaf::SCRATCH_WORDS;
use crate::packed::Blocks;
use crate::query::NodeId;
use crate::slop::{Occurrence, SLOTS_MAX};
use crate::tuning::SHORT_PHRASE_MAX;

/// The start of a phrase's block in a leaf's scratch memory, in words.
const WORDS_AT: usize = SCRATCH_WORDS / 2;

/// A phrase in packed lists: the query's terms, and their entries in the current segment.
#[derive(Debug, Default)]
pub(super) struct InLists {
    terms: Vec<u32>,
    entries: Vec<Entry>,
}

impl<C> Evaluation<'_, C> {
    /// True if the lists of the current segment are packed by now, even if the entries found are
    /// older.
    pub(super) fn is_packed(&self, place: &Place<'_>) -> bool {
        !place.is_fresh() && place.segment.is_packed()
    }

    /// Fills in a phrase from packed lists; `None` if a term has no posting in the current segment.
    pub(super) fn fill_lists(
        &self,
        place: &Place<'_>,
        node: NodeId,
        words: &[AtomicU32],
        phrase: &mut Phrase,
    ) -> Option<()> {
        for (term, at) in self.phrase_terms(node) {
            phrase.push_list(place, words, term, self.packed_entry(place, term)?, at);
        }
        Some(())
    }

    /// Returns a term's entry that leads to positions. The one found before may be from before
    /// readers were led to packed lists.
    fn packed_entry(&self, place: &Place<'_>, term: usize) -> Option<Entry> {
        let leaf = &self.scratch.leaves[term];
        if leaf.postings == 0 {
            return None;
        }
        if leaf.entry.has_positions() {
            return Some(leaf.entry);
        }
        let term = self.query.lookup(&self.query.terms[term]);
        place.segment.packed_entry(term.key.field(), term.bytes)
    }
}

impl Phrase {
    /// Appends a term at a place. Its blocks are unpacked in the scratch memory of the leaf `term`.
    pub(super) fn push_list(
        &mut self,
        place: &Place<'_>,
        words: &[AtomicU32],
        term: usize,
        entry: Entry,
        at: u32,
    ) {
        // Two terms never share the place of their postings, nor a single posting with its
        // position.
        let is_same = |known: &Entry| (known.payload, known.alone) == (entry.payload, entry.alone);
        let known = self.lists.entries.iter().position(is_same);
        self.lists.terms.push(term as u32);
        self.lists.entries.push(entry);
        if let Some(list) = place.segment.packed(entry) {
            let (lists, level) = (place.context.lists, place.context.level);
            Blocks::begin(list, lists.region, level, phrase_words(words, term));
        }
        self.push(known, at);
    }

    /// Returns the result wanted for the document at a rank.
    pub(super) fn occurs_in_lists(&self, room: &mut Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        if self.is_in_a_row() {
            return match self.slots.len() {
                ..=SHORT_PHRASE_MAX => self.in_a_row::<SHORT_PHRASE_MAX>(room, rank, wanted),
                _ => self.in_a_row::<SLOTS_MAX>(room, rank, wanted),
            };
        }
        let Room { place, words, ref mut occurrences } = *room;
        occurrences.clear();
        for (number, slot) in self.slots.iter().enumerate() {
            // A repeated term's positions are there already.
            if slot.term as usize == number {
                let left = occurrences.capacity() - occurrences.len();
                let positions = self.lists.positions(place, words, number, rank);
                let occurrence = |position| Occurrence::new(position, slot.term);
                occurrences.extend(positions.take(left).map(occurrence));
            }
        }
        occurrences.sort_unstable();
        self.sloppy_frequency(occurrences, wanted)
    }

    /// Counts the places where the terms follow each other. There are at most `N` terms.
    fn in_a_row<const N: usize>(&self, room: &Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        let positions = |number| self.lists.positions(room.place, room.words, number, rank);
        let mut others = [const { None }; N];
        let others = &mut others[..self.slots.len()];
        for (number, other) in others[1..].iter_mut().enumerate() {
            let mut positions = positions(number + 1);
            *other = positions.next().map(|first| (first, positions));
        }
        let mut frequency = 0.0;
        // Invariant: the positions of each other term are at or past its place beside the previous
        // `first`. Terminates with the positions of the first term.
        for first in positions(0) {
            let mut others = (first + 1..).zip(&mut others[1..]);
            if others.all(|(position, other)| is_at(position, other)) {
                frequency += 1.0;
                if wanted == Wanted::Any {
                    break;
                }
            }
        }
        frequency
    }
}

impl InLists {
    pub(super) fn with_capacity() -> InLists {
        InLists { terms: Vec::with_capacity(SLOTS_MAX), entries: Vec::with_capacity(SLOTS_MAX) }
    }

    /// Removes the terms after the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.terms.truncate(count);
        self.entries.truncate(count);
    }

    /// Returns the positions of one of the phrase's terms in the document at a rank.
    fn positions<'p>(
        &self,
        place: &Place<'p>,
        words: &'p [AtomicU32],
        number: usize,
        rank: u32,
    ) -> PositionIter<'p> {
        let words = phrase_words(words, self.terms[number] as usize);
        packed_positions(place, self.entries[number], words, rank)
    }
}

/// Returns the positions of an entry's term in the document at a rank. `words` has the block of its
/// packed list that was read last.
pub(in crate::evaluate) fn packed_positions<'p>(
    place: &Place<'p>,
    entry: Entry,
    words: &'p [AtomicU32],
    rank: u32,
) -> PositionIter<'p> {
    let Some(list) = place.segment.packed(entry) else {
        return place.segment.positions_alone(entry, rank);
    };
    Blocks::resume(list, place.context.lists.region, place.context.level, words).positions(rank)
}

fn phrase_words(words: &[AtomicU32], term: usize) -> &[AtomicU32] {
    &words_of(words, term)[WORDS_AT..]
}

/// Moves to the first position from `wanted` on. True if that is `wanted`.
fn is_at(wanted: u32, at: &mut Option<(u32, PositionIter<'_>)>) -> bool {
    while let Some((position, more)) = at
        && *position < wanted
    {
        *at = more.next().map(|next| (next, more.clone()));
    }
    at.as_ref().is_some_and(|(position, _)| *position == wanted)
}
