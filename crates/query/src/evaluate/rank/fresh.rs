//! The best documents in segments that are not registered yet: their lists have no maxima, and lengths are in rows.
//!
//! For a term and for [any of several](super::fresh_any), they are asked last, though they are the newest: what other segments have found is
//! what a posting has to beat. Of a term's postings most are passed over by their frequencies, since a document is as long as its terms are
//! frequent, and of the others most by a comparison of lengths.

use spirit_index::ground::posting::{FREQUENCY_MAX, frequency, rank, rank_of};
use spirit_index::ground::term::FieldId;
use spirit_index::rows::lengths::{LENGTH_MAX, RunningCounts};
use spirit_index::snapshot::Segment;
use spirit_kernel as kernel;
use spirit_kernel::{Bm25, Frequencies};

use super::gate::Gate;
use super::{Evaluation, Ranked};
use crate::evaluate::{OUT, Place, words_of};
use crate::leaf::END;
use crate::plan::{RankedPlan, RankedWay};
use crate::rank::score;

impl<'a> Evaluation<'a, Ranked<'_>> {
    /// Offers what may be among the best in the segments that are not registered.
    pub(super) fn rank_fresh(&mut self, plan: &RankedPlan) {
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            let (terms, is_listed) = (plan.sought(), plan.goes_by_lists_when_fresh());
            for term in 0..self.query.terms.len() {
                self.open_fresh(&place, term);
                if !is_listed {
                    self.open_fresh_scoring(&place, term);
                }
            }
            match plan.way {
                RankedWay::Term => self.rank_fresh_term(&place, terms[0] as usize),
                RankedWay::Any => self.rank_fresh_any(&place, terms),
                _ => self.rank_segment(&place),
            }
        }
    }

    /// The same as [`offer_scored`](Self::offer_scored) where lists are gone through as they come: each match behind those before.
    pub(super) fn offer_listed(&mut self, place: &Place<'_>, rank: u32, score: f32) {
        let plan = self.collector.plan;
        let mut excluded = plan.excluded().iter();
        if !excluded.any(|term| self.seek(place, *term as usize, rank) == rank) {
            self.offer_scored(place, rank, score);
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
        // What the snapshot does not see may not be whole yet: how often it has the term cannot be asked.
        if self.seek(place, term, place.first) == END {
            return;
        }
        let (level, bm25) = (self.settings.level, self.bm25(term));
        let lengths = RowLengths::of(place, self.field(term));
        let mut gate = Gate::new(bm25, self.limit());
        let (mut least, mut often) = (gate.least_frequency(), [0; OUT]);
        loop {
            let words = words_of(&self.scratch.words, term);
            let leaf = &mut self.scratch.leaves[term];
            let run = leaf.run(&place.context, words);
            let run = &run[..run.len().min(OUT)];
            if run.is_empty() && !(self.meter.step() && leaf.refill(&place.context, words)) {
                return;
            }
            let found = kernel::frequent(level, run, least, &mut often);
            leaf.advance(run.len());
            for word in &often[..found] {
                let (rank, frequency) = (rank(*word), frequency(*word));
                let length = lengths.length(rank);
                if !gate.lets_pass(frequency, length) {
                    continue;
                }
                let score = score_of(place, bm25, (rank, frequency), length);
                if score > self.collector.top.threshold() {
                    self.offer_listed(place, rank, score);
                    gate = Gate::new(bm25, self.limit());
                    least = gate.least_frequency();
                }
            }
        }
    }
}

/// How long a field is in a segment's documents, as an array would have it.
pub(super) struct RowLengths<'p> {
    segment: &'p Segment<'p>,
    field: FieldId,
    /// Asked for once, since there may be thousands of documents.
    counts: Option<RunningCounts<'p>>,
}

impl<'p> RowLengths<'p> {
    pub(super) fn of(place: &'p Place<'_>, field: FieldId) -> RowLengths<'p> {
        let segment = &place.segment;
        let counts = segment.running_counts().filter(|_| field == FieldId::TEXT);
        RowLengths { segment, field, counts }
    }

    /// Another field's from now on, if it is another one.
    pub(super) fn turn_to(&mut self, place: &'p Place<'_>, field: FieldId) {
        if self.field != field {
            *self = RowLengths::of(place, field);
        }
    }

    /// That of a document.
    #[inline]
    pub(super) fn length(&self, rank: u32) -> u32 {
        let local = rank_of(rank);
        match &self.counts {
            Some(counts) => counts.length(local).min(LENGTH_MAX as u32),
            None => self.segment.length_of(self.field, local),
        }
    }
}

/// What a posting scores that says so often.
pub(super) fn score_of(
    place: &Place<'_>,
    bm25: Bm25,
    (rank, said): (u32, u32),
    length: u32,
) -> f32 {
    let frequency = match said {
        FREQUENCY_MAX => place.frequency(bm25.term, rank),
        said => said,
    };
    score(bm25, frequency as f32, length)
}
