//! Phrase prefixes: documents in which a term with a prefix follows other terms, as one bitmap for
//! the segment.
//!
//! First come the candidates: documents in which the other terms are in their places. Then each
//! term with the prefix is put in the phrase's last place. The phrase is looked for in the
//! candidates that contain the term. A match is no longer a candidate, so a document is checked at
//! most once for each term, and rarely for several.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::rank;
use spirit_index::lists::PACKED_BLOCK;
use spirit_index::snapshot::{OrderedTerm, TermCursor};
use spirit_index::terms::Entry;

use super::{Form, GROUP, Phrase, Room, Wanted};
use crate::collect::Limit;
use crate::evaluate::expansion::Expansion;
use crate::evaluate::pattern::each_fresh;
use crate::evaluate::window::{Bits, Ones, WORDS, Window, is_empty};
use crate::evaluate::{Evaluation, Place, Scratch};
use crate::leaf::END;
use crate::limits::Meter;
use crate::query::NodeId;

impl<C: Limit> Evaluation<'_, C> {
    /// Sets the bits of the current segment's documents in which a phrase prefix occurs. No bit is
    /// set before.
    pub(in crate::evaluate) fn expand_phrase(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        pattern: u32,
    ) {
        if !self.find_candidates(place, node, pattern) {
            return;
        }
        let query = self.query;
        let found = &query.patterns[pattern as usize];
        let terms = || place.segment.terms_from(found.field, query.pattern_bytes(found));
        // The cursor is made before the phrase is opened. If the phrase uses vectors, readers had
        // not been led to packed lists before, so the cursor's terms have ordinals.
        let cursor = (!place.is_fresh()).then(terms);
        if !self.open_phrase(place, node) {
            return;
        }
        let spare = 2 * self.scratch.clauses_max;
        let Scratch { patterns, phrase, words, occurrences, .. } = &mut *self.scratch;
        let (candidates, bits, fuzzy) = patterns.of_phrase(place, found.leaf);
        let Some(expansion) = Expansion::new(query, pattern, fuzzy, &mut self.meter) else {
            return;
        };
        let at = query.nodes[node as usize].at;
        let last = Last { at, others: phrase.places(), spare };
        let room = Room { place, words, occurrences };
        let group = Group { ranks: [0; GROUP], count: 0 };
        Search { room, phrase, last, candidates, bits, group }.run(expansion, cursor);
    }

    /// Finds the documents in which a phrase prefix may occur. Returns false if there are none.
    fn find_candidates(&mut self, place: &Place<'_>, node: NodeId, pattern: u32) -> bool {
        let leaf = self.query.patterns[pattern as usize].leaf;
        self.scratch.patterns.of_phrase(place, leaf).0.fill(0);
        let mut any = false;
        let mut rank = self.earliest_of_all(place, node, place.base);
        let mut window = Window::first(place.base, rank);
        while rank < END && self.meter.step() {
            let mut bits: Bits = [0; WORDS];
            let bits = &mut bits[..window.words()];
            self.find_phrase(place, node, window, bits);
            if !is_empty(bits) {
                any = true;
                let from = (window.start - place.base) as usize / 64;
                let (candidates, ..) = self.scratch.patterns.of_phrase(place, leaf);
                let to = candidates.iter_mut().skip(from);
                to.zip(bits).for_each(|(to, bits)| *to = *bits);
            }
            rank = self.earliest_of_all(place, node, window.end());
            window = window.next(place.base, rank);
        }
        any
    }
}

/// The last place of a phrase prefix.
#[derive(Clone, Copy)]
struct Last {
    at: u32,
    /// The number of places before it.
    others: usize,
    /// The leaf whose scratch memory serves the last term.
    spare: usize,
}

/// A search for a phrase prefix in a segment.
struct Search<'s> {
    room: Room<'s>,
    phrase: &'s mut Phrase,
    last: Last,
    /// Documents with the other terms in their places, in which the phrase prefix was not found
    /// yet.
    candidates: &'s mut [u64],
    /// Documents in which the phrase prefix was found.
    bits: &'s mut [u64],
    group: Group,
}

/// Documents that are checked together.
struct Group {
    ranks: [u32; GROUP],
    count: usize,
}

impl<'s> Search<'s> {
    /// Searches for the phrase with each term that the prefix matches. `cursor` is the position in
    /// a registered segment's terms.
    fn run(mut self, mut expansion: Expansion<'_, '_>, cursor: Option<TermCursor<'s>>) {
        let place = self.room.place;
        if let Some(extent) = &place.context.extent {
            expansion.fresh(place, extent, |meter, _, ordinal| {
                self.put_ordinal(ordinal);
                each_fresh(extent, ordinal, |word| self.take(meter, rank(word)));
                self.look(meter);
            });
        } else if let Some(cursor) = cursor {
            expansion.registered(place, cursor, |meter, bytes, term| {
                if self.put(bytes, term).is_some() {
                    self.take_all(meter, term.entry);
                    self.look(meter);
                }
            });
        }
    }

    /// Puts a term of a registered segment in the last place; `None` if the segment has no
    /// positions for it.
    fn put(&mut self, bytes: &[u8], term: OrderedTerm) -> Option<()> {
        if self.phrase.form == Form::Vectors {
            self.put_ordinal(term.ordinal?);
            return Some(());
        }
        let segment = self.room.place.segment;
        // The cursor may be from before readers were led to packed lists.
        let entry = if term.entry.has_positions() {
            term.entry
        } else {
            segment.packed_entry(term.field, bytes)?
        };
        let Last { at, others, spare } = self.last;
        self.phrase.truncate(others);
        self.phrase.push_list(self.room.place, self.room.words, spare, entry, at);
        Some(())
    }

    fn put_ordinal(&mut self, ordinal: u32) {
        self.phrase.truncate(self.last.others);
        self.phrase.push_ordinal(ordinal, self.last.at);
        self.phrase.fill_pattern();
    }

    /// Adds all documents of a list in a registered segment to the group.
    fn take_all(&mut self, meter: &mut Meter<'_>, entry: Entry) {
        let place = self.room.place;
        let (segment, region) = (&place.segment, place.context.lists.region);
        if entry.postings == 1 {
            return self.take(meter, rank(entry.payload));
        }
        if let Some(list) = segment.packed(entry) {
            let mut block = [0; PACKED_BLOCK];
            for number in 0..list.blocks() {
                let count = list.unpack(region, place.context.level, number, &mut block).count;
                block[..count].iter().for_each(|word| self.take(meter, rank(*word)));
            }
            return;
        }
        let flushed = segment.flushed();
        match flushed.bitmap(entry) {
            Some(dense) => self.take_dense(meter, region.view(dense)),
            None => {
                let list = region.view(flushed.list(entry));
                list.iter().for_each(|word| self.take(meter, rank(word.load(Relaxed))));
            }
        }
    }

    /// Like [`take_all`](Self::take_all), for a bitmap.
    fn take_dense(&mut self, meter: &mut Meter<'_>, dense: &[AtomicU64]) {
        let base = self.room.place.base;
        for (number, word) in dense.iter().enumerate() {
            let both = self.candidates.get(number).unwrap_or(&0) & word.load(Relaxed);
            Ones(both).for_each(|bit| self.take(meter, base + (number * 64 + bit) as u32));
        }
    }

    /// Adds a document that contains the last term to the group, if it is a candidate. Documents
    /// that are newer than the snapshot are none.
    #[inline]
    fn take(&mut self, meter: &mut Meter<'_>, rank: u32) {
        let bit = rank.wrapping_sub(self.room.place.base) as usize;
        if self.candidates.get(bit / 64).is_none_or(|word| word >> (bit % 64) & 1 == 0) {
            return;
        }
        self.group.ranks[self.group.count] = rank;
        self.group.count += 1;
        if self.group.count == GROUP {
            self.look(meter);
        }
    }

    /// Searches for the phrase in the documents of the group, which contain all of its terms.
    fn look(&mut self, meter: &mut Meter<'_>) {
        let Search { room, phrase, candidates, bits, group, .. } = self;
        let ranks = &group.ranks[..std::mem::take(&mut group.count)];
        if ranks.is_empty() || !meter.steps(ranks.len()) {
            return;
        }
        let base = room.place.base;
        phrase.each(room, ranks, Wanted::Any, |number, occurs| {
            let bit = (ranks[number] - base) as usize;
            if occurs > 0.0 {
                bits[bit / 64] |= 1 << (bit % 64);
                candidates[bit / 64] &= !(1 << (bit % 64));
            }
            true
        });
    }
}
