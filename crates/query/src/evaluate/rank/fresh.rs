//! The best documents in segments that are not registered yet: their lists have no maxima, and lengths are in rows.
//!
//! For a term and for any of several, they are asked last, though they are the newest: what other segments have found is what a posting
//! has to beat, and most are passed over by a comparison of lengths. Of any of several terms, scores are added up window by window.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::lengths::{LENGTH_MAX, RunningCounts};
use spirit_index::posting::{FREQUENCY_MAX, frequency, rank, rank_of};
use spirit_index::snapshot::Segment;
use spirit_index::term::FieldId;
use spirit_kernel::{Bm25, Frequencies};

use super::gate::Gate;
use super::{Evaluation, Ranked};
use crate::evaluate::window::{Bits, RANKS, WORDS};
use crate::evaluate::{Place, words_of};
use crate::leaf::END;
use crate::plan::{RankedPlan, RankedWay};
use crate::rank::score;

impl<'a> Evaluation<'a, Ranked<'_>> {
    /// Offers what may be among the best in the segments that are not registered.
    pub(super) fn rank_fresh(&mut self, plan: &RankedPlan) {
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            let (terms, excludes) = (plan.sought(), !plan.excluded().is_empty());
            let is_listed = matches!(plan.way, RankedWay::Term | RankedWay::Any) && !excludes;
            for term in 0..self.query.terms.len() {
                self.open_fresh(&place, term);
                if !is_listed {
                    self.open_fresh_scoring(&place, term);
                }
            }
            match plan.way {
                RankedWay::Term if is_listed => self.rank_fresh_term(&place, terms[0] as usize),
                RankedWay::Any if is_listed => self.rank_fresh_any(&place, terms),
                _ => self.rank_segment(&place),
            }
        }
    }

    fn open_fresh_scoring(&mut self, place: &Place<'_>, term: usize) {
        let found = &self.query.terms[term];
        let scoring = self.query.terms.len() + term;
        let words = words_of(&self.scratch.words, scoring);
        let extent = place.context.extent.as_ref().expect("a fresh segment");
        let lookup = self.query.lookup(found);
        self.scratch.leaves[scoring].open_fresh(extent, lookup, found.hash, words);
    }

    fn rank_fresh_term(&mut self, place: &Place<'_>, term: usize) {
        let bm25 = self.bm25(term);
        let lengths = RowLengths::of(place, self.field(term));
        let mut gate = Gate::new(bm25, self.limit());
        let mut words = std::mem::take(&mut self.scratch.words);
        loop {
            let own = words_of(&words, term);
            let leaf = &mut self.scratch.leaves[term];
            let run = leaf.run(&place.context, own);
            leaf.advance(run.len());
            for word in run.iter().map(|word| word.load(Relaxed)) {
                // A document is as long as its terms are frequent: most are told without a look at its length.
                if !gate.lets_pass(frequency(word), frequency(word)) {
                    continue;
                }
                let length = lengths.length(word);
                if !gate.lets_pass(frequency(word), length) {
                    continue;
                }
                let score = score_of(place, bm25, word, length);
                if score > self.collector.top.threshold() {
                    self.offer_scored(place, rank(word), score);
                    gate = Gate::new(bm25, self.limit());
                }
            }
            let leaf = &mut self.scratch.leaves[term];
            if !self.meter.step() || !leaf.refill(&place.context, words_of(&words, term)) {
                break;
            }
        }
        std::mem::swap(&mut self.scratch.words, &mut words);
    }

    fn rank_fresh_any(&mut self, place: &Place<'_>, terms: &[u32]) {
        let mut scores = std::mem::take(&mut self.scratch.scores);
        let mut start = place.first;
        loop {
            let seeks = terms.iter().map(|term| self.seek(place, *term as usize, start));
            let first = seeks.min().unwrap_or(END);
            if first >= END || !self.meter.step() {
                break;
            }
            let mut bits = [0; WORDS];
            // In the order of the terms, so that a document's score does not depend on what else there is.
            for term in terms {
                self.add_fresh(place, *term as usize, first, &mut bits, &mut scores);
            }
            self.offer_above(place, first, &bits, &scores);
            start = first.saturating_add(RANKS).min(END);
        }
        self.scratch.scores = scores;
    }

    /// Adds what a term gives to the documents of a window.
    fn add_fresh(
        &mut self,
        place: &Place<'_>,
        term: usize,
        first: u32,
        bits: &mut Bits,
        scores: &mut [f32],
    ) {
        let (bm25, lengths) = (self.bm25(term), RowLengths::of(place, self.field(term)));
        loop {
            let words = words_of(&self.scratch.words, term);
            let leaf = &mut self.scratch.leaves[term];
            let mut count = 0;
            for word in leaf.run(&place.context, words).iter().map(|word| word.load(Relaxed)) {
                let bit = rank(word).wrapping_sub(first) as usize;
                if bit >= RANKS as usize {
                    return leaf.advance(count);
                }
                count += 1;
                let (own, mask) = (&mut bits[bit / 64], 1 << (bit % 64));
                // What a window before has left there does not count.
                let before = if *own & mask == 0 { 0.0 } else { scores[bit] };
                *own |= mask;
                scores[bit] = before + score_of(place, bm25, word, lengths.length(word));
            }
            leaf.advance(count);
            if !leaf.refill(&place.context, words) {
                return;
            }
        }
    }
}

/// How long a field is in a segment's documents, as an array would have it.
struct RowLengths<'p> {
    segment: &'p Segment<'p>,
    field: FieldId,
    /// Asked for once, since there may be thousands of documents.
    counts: Option<RunningCounts<'p>>,
}

impl<'p> RowLengths<'p> {
    fn of(place: &'p Place<'_>, field: FieldId) -> RowLengths<'p> {
        let segment = &place.segment;
        let counts = segment.running_counts().filter(|_| field == FieldId::TEXT);
        RowLengths { segment, field, counts }
    }

    /// That of a posting's document.
    #[inline]
    fn length(&self, word: u32) -> u32 {
        let local = rank_of(rank(word));
        match &self.counts {
            Some(counts) => counts.length(local).min(LENGTH_MAX as u32),
            None => self.segment.length_of(self.field, local),
        }
    }
}

fn score_of(place: &Place<'_>, bm25: Bm25, word: u32, length: u32) -> f32 {
    let frequency = match frequency(word) {
        FREQUENCY_MAX => place.frequency(bm25.term, rank(word)),
        said => said,
    };
    score(bm25, frequency as f32, length)
}
