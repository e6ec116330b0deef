//! Phrases where lists are packed: the lists say where terms are.
//!
//! Each term has a place in its leaf's scratch memory for the block of its list in which the last document was, beside that of
//! the leaf. Of a phrase whose terms are to follow each other the positions are gone through together, without being written down.

use std::sync::atomic::AtomicU32;

use spirit_index::lists::packed::PositionIter;
use spirit_index::terms::entries::Entry;

use super::{Phrase, Room, Wanted};
use crate::evaluate::{Evaluation, Place, words_of};
use crate::leaf::SCRATCH_WORDS;
use crate::packed::Blocks;
use crate::query::NodeId;
use crate::slop::{Occurrence, SLOTS_MAX};

/// Where in a leaf's scratch memory phrases have their blocks.
const WORDS_AT: usize = SCRATCH_WORDS / 2;

/// A phrase as packed lists have it: the terms of the query that it has, and their entries in the current segment.
#[derive(Debug, Default)]
pub(super) struct InLists {
    terms: Vec<u32>,
    entries: Vec<Entry>,
}

/// This many terms have their positions side by side in little room.
const FEW: usize = 4;

impl<C> Evaluation<'_, C> {
    /// Whether the lists of the current segment are packed by now, whatever the entries that were found lead to.
    pub(super) fn is_packed(&self, place: &Place<'_>) -> bool {
        !place.is_fresh() && place.segment.is_packed()
    }

    /// Fills a phrase with what packed lists have; none if one of its terms has no posting in the current segment.
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

    /// A term's entry that leads to positions. The one that was found may be from before readers were led to packed lists.
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
    /// Takes the next term along, whose blocks are put where those of the leaf `term` would be.
    pub(super) fn push_list(
        &mut self,
        place: &Place<'_>,
        words: &[AtomicU32],
        term: usize,
        entry: Entry,
        at: u32,
    ) {
        // No two terms have their postings, or one posting and its position, at one place.
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

    /// What is wanted of the document at a rank.
    pub(super) fn occurs_in_lists(&self, room: &mut Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        if self.is_in_a_row() {
            return match self.slots.len() {
                ..=FEW => self.in_a_row::<FEW>(room, rank, wanted),
                _ => self.in_a_row::<SLOTS_MAX>(room, rank, wanted),
            };
        }
        let Room { place, words, ref mut occurrences } = *room;
        occurrences.clear();
        for (number, slot) in self.slots.iter().enumerate() {
            // A term that was there before has its positions already.
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

    /// How often terms follow each other, of which there are at most `N`.
    fn in_a_row<const N: usize>(&self, room: &Room<'_>, rank: u32, wanted: Wanted) -> f32 {
        let positions = |number| self.lists.positions(room.place, room.words, number, rank);
        let mut others = [const { None }; N];
        let others = &mut others[..self.slots.len()];
        for (number, other) in others[1..].iter_mut().enumerate() {
            let mut positions = positions(number + 1);
            *other = positions.next().map(|first| (first, positions));
        }
        let mut frequency = 0.0;
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

    /// Without terms behind the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.terms.truncate(count);
        self.entries.truncate(count);
    }

    /// Where the phrase's term of this number is in the document at a rank.
    fn positions<'p>(
        &self,
        place: &Place<'p>,
        words: &'p [AtomicU32],
        number: usize,
        rank: u32,
    ) -> PositionIter<'p> {
        let entry = self.entries[number];
        let Some(list) = place.segment.packed(entry) else {
            return place.segment.positions_alone(entry, rank);
        };
        let words = phrase_words(words, self.terms[number] as usize);
        Blocks::resume(list, place.context.lists.region, place.context.level, words).positions(rank)
    }
}

fn phrase_words(words: &[AtomicU32], term: usize) -> &[AtomicU32] {
    &words_of(words, term)[WORDS_AT..]
}

/// Goes on to a position or behind it; says whether the term is there.
fn is_at(wanted: u32, at: &mut Option<(u32, PositionIter<'_>)>) -> bool {
    while let Some((position, more)) = at
        && *position < wanted
    {
        *at = more.next().map(|next| (next, more.clone()));
    }
    at.as_ref().is_some_and(|(position, _)| *position == wanted)
}
