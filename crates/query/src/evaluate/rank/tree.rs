//! The best documents of any query. In each window, matches are found first, then each clause adds
//! to their scores.
//!
//! Every term has a second cursor, which follows the matches. The matches of optional clauses are
//! kept from the evaluation of the window.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::FieldId;
use spirit_index::ground::rank_of;
use spirit_kernel as kernel;
use spirit_kernel::{Bm25, Lengths};

use super::Ranked;
use crate::evaluate::phrase::{Room, Wanted};
use crate::evaluate::window::{Bits, RANKS, WORDS, Window, is_empty, ones};
use crate::evaluate::{Evaluation, OUT, Place, Scratch, words_of};
use crate::query::{Kind, NodeId, Occur};
use crate::rank::{Best, Weight, score};

/// The scores of a window's documents while the best of their clauses is found.
pub(in crate::evaluate) struct BestRoom {
    best: Box<[Best]>,
    of_clause: Box<[f32]>,
}

/// The matches of the current window whose lengths in a field other than the text are in scratch
/// memory.
pub(in crate::evaluate) struct Noted {
    /// The text if there are none.
    field: FieldId,
    bits: Bits,
}

impl Noted {
    pub(in crate::evaluate) const NOTHING: Noted = Noted { field: FieldId::TEXT, bits: [0; WORDS] };

    /// Adds matches, and returns those that were not noted.
    fn add(&mut self, field: FieldId, bits: &[u64]) -> Bits {
        if self.field != field {
            *self = Noted { field, bits: [0; WORDS] };
        }
        let mut missing = [0; WORDS];
        for ((missing, noted), bits) in missing.iter_mut().zip(&mut self.bits).zip(bits) {
            *missing = bits & !*noted;
            *noted |= bits;
        }
        missing
    }
}

impl BestRoom {
    pub(in crate::evaluate) fn new() -> BestRoom {
        let ranks = RANKS as usize;
        BestRoom { best: vec![Best::default(); ranks].into(), of_clause: vec![0.0; ranks].into() }
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents that may be among the best, in the registered segments of this part.
    pub(super) fn rank_tree(&mut self, bounded: bool) {
        self.each_registered(bounded, |this, place| {
            if this.promising(place.segment).is_some() {
                this.rank_tree_at(place);
            }
        });
    }

    /// Ranks a registered segment whose lists are open.
    pub(super) fn rank_tree_at(&mut self, place: &Place<'_>) {
        let (found, scored) = self.scratch.leaves.split_at_mut(self.query.terms.len());
        scored[..found.len()].copy_from_slice(found);
        self.rank_segment(place);
    }

    pub(super) fn rank_segment(&mut self, place: &Place<'_>) {
        self.each_window(place, |this, window, bits| {
            if !is_empty(bits) {
                this.rank_window(place, window, bits);
            }
        });
    }

    fn rank_window(&mut self, place: &Place<'_>, window: Window, bits: &[u64]) {
        if place.is_fresh() {
            self.scratch.noted.field = FieldId::TEXT;
            self.note_lengths(place, FieldId::TEXT, window, bits);
        }
        let mut all = std::mem::take(&mut self.scratch.scores);
        let scores = &mut all[..bits.len() * 64];
        scores.fill(0.0);
        self.score(place, self.query.root, window, bits, scores);
        self.offer_above(place, window.start, bits, scores);
        self.scratch.scores = all;
    }

    /// Offers the documents from rank `first` on whose bits are set, if their scores may be among
    /// the best.
    fn offer_above(&mut self, place: &Place<'_>, first: u32, bits: &[u64], scores: &[f32]) {
        let (level, mut from) = (self.settings.level, 0);
        let mut out = [0; OUT];
        while from < scores.len() {
            let threshold = self.collector.threshold();
            let (found, next) = kernel::above(level, scores, bits, threshold, from, &mut out);
            for bit in &out[..found] {
                self.offer_scored(place, first + bit, scores[*bit as usize]);
            }
            from = next;
        }
    }

    /// Copies the lengths of a window's matches to scratch memory, which replaces the arrays of a
    /// registered segment. The text's are kept apart from other fields'.
    fn note_lengths(&mut self, place: &Place<'_>, field: FieldId, window: Window, bits: &[u64]) {
        let to = self.scratch.lengths(field);
        let mut lengths = place.segment.field_lengths(field);
        for bit in ones(bits) {
            let length = lengths.get(rank_of(window.rank(bit)));
            to[bit].store(length as u16, Relaxed);
        }
    }

    /// Adds a node's scores to the documents of a window whose bits are set. The node matches them.
    fn score(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        window: Window,
        bits: &[u64],
        scores: &mut [f32],
    ) {
        match (self.collector.weights.of(node), self.query.nodes[node as usize].kind) {
            (Weight::Constant(0.0), _) => {}
            (Weight::Constant(constant), _) => {
                ones(bits).for_each(|bit| scores[bit] += constant);
            }
            (Weight::Frequency(bm25), Kind::Term(term)) => {
                self.score_term(place, term as usize, bm25, window, bits, scores);
            }
            (Weight::Frequency(bm25), _) => {
                self.score_phrase(place, node, bm25, window, bits, scores);
            }
            (Weight::Sum, _) => {
                self.score_clauses(place, node, window, bits, |own, child, bits| {
                    own.score(place, child, window, bits, scores);
                });
            }
            (Weight::Best(tie), _) => self.score_best(place, node, tie, window, bits, scores),
        }
    }

    /// Adds the best of its clauses' scores, and `tie` times the others. Out of line, and the scores
    /// apart from the stack: its frame would count for each level of a query. Only a best within a
    /// best allocates, once.
    #[inline(never)]
    fn score_best(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        tie: f32,
        window: Window,
        bits: &[u64],
        scores: &mut [f32],
    ) {
        let mut room = self.scratch.bests.pop().unwrap_or_else(BestRoom::new);
        let BestRoom { best, of_clause } = &mut room;
        let of_clause = &mut of_clause[..scores.len()];
        best.fill(Best::default());
        self.score_clauses(place, node, window, bits, |own, child, bits| {
            ones(bits).for_each(|bit| of_clause[bit] = 0.0);
            own.score(place, child, window, bits, of_clause);
            ones(bits).for_each(|bit| best[bit].add(std::mem::take(&mut of_clause[bit])));
        });
        ones(bits).for_each(|bit| scores[bit] += best[bit].with(tie));
        self.scratch.bests.push(room);
    }

    /// Calls `score` with each clause that adds to the score, and the documents of `bits` that it
    /// matches, or more of them if it is a term.
    fn score_clauses(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        window: Window,
        bits: &[u64],
        mut score: impl FnMut(&mut Self, NodeId, &[u64]),
    ) {
        let query = self.query;
        // Beside a required clause, optional ones were not evaluated with the window.
        let optional =
            self.has(node, Occur::Must) && query.nodes[node as usize].kind == Kind::CLAUSES;
        for child in query.scored(node) {
            // A term's postings show its matches.
            if query.counts(child, Occur::Must) || query.is_plain_term(child) {
                score(self, child, bits);
                continue;
            }
            let mut own: Bits = [0; WORDS];
            let own = &mut own[..bits.len()];
            if optional {
                self.add(place, child, window, own);
            } else {
                own.copy_from_slice(&self.scratch.windows[child as usize][..bits.len()]);
            }
            kernel::and_window(self.settings.level, own, bits);
            if !is_empty(own) {
                score(self, child, own);
            }
        }
    }

    fn score_term(
        &mut self,
        place: &Place<'_>,
        term: usize,
        bm25: Bm25,
        window: Window,
        bits: &[u64],
        scores: &mut [f32],
    ) {
        let scoring = self.query.terms.len() + term;
        let level = self.settings.level;
        let field = self.field(term);
        if place.is_fresh() && field != FieldId::TEXT {
            // Most terms have the same field, and their matches are the same documents.
            let missing = self.scratch.noted.add(field, bits);
            self.note_lengths(place, field, window, &missing);
        }
        let Scratch { leaves, words, lengths, field_lengths, .. } = &mut *self.scratch;
        let noted = if field == FieldId::TEXT { lengths } else { field_lengths };
        let lengths = match place.is_fresh() {
            true => Lengths::new(noted, window.start).with(place),
            false => Self::lengths(place, field),
        };
        let (leaf, words) = (&mut leaves[scoring], words_of(words, scoring));
        // Terminates: each round takes the postings of a run, until one is past the window or the
        // list ends.
        loop {
            let run = leaf.run(&place.context, words);
            let start = window.start;
            let used = kernel::add_scores_where(level, run, lengths, bm25, start, bits, scores);
            let ended = used == run.len();
            leaf.advance(used);
            if !ended || !leaf.refill(&place.context, words) {
                return;
            }
        }
    }

    fn score_phrase(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        bm25: Bm25,
        window: Window,
        bits: &[u64],
        scores: &mut [f32],
    ) {
        if !self.open_phrase(place, node) {
            return;
        }
        let field = self.query.field_of(node);
        let Scratch { words, occurrences, phrase, .. } = &mut *self.scratch;
        let mut lengths = place.segment.field_lengths(field);
        let mut room = Room { place, words, occurrences };
        let meter = &mut self.meter;
        phrase.each_bit(&mut room, meter, window, bits, Wanted::Frequency, |bit, frequency| {
            let length = lengths.get(rank_of(window.rank(bit)));
            scores[bit] += score(bm25, frequency, length);
        });
    }
}

const _: () = assert!(RANKS as usize == WORDS * 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_noted_once_until_another_field_comes() {
        let mut noted = Noted::NOTHING;
        let missing = |noted: &mut Noted, field, bits: [u64; 2]| {
            let missing = noted.add(FieldId(field), &bits);
            assert_eq!(missing[2..], [0; WORDS - 2]);
            [missing[0], missing[1]]
        };
        assert_eq!(missing(&mut noted, 2, [0b0110, 1]), [0b0110, 1]);
        assert_eq!(missing(&mut noted, 2, [0b0111, 0]), [0b0001, 0]);
        assert_eq!(missing(&mut noted, 2, [0b0111, 1]), [0, 0]);
        assert_eq!(missing(&mut noted, 3, [0b0111, 1]), [0b0111, 1]);
        assert_eq!(missing(&mut noted, 2, [0b0001, 0]), [0b0001, 0]);
        // The next window.
        noted.field = FieldId::TEXT;
        assert_eq!(missing(&mut noted, 2, [0b0001, 0]), [0b0001, 0]);
    }
}
