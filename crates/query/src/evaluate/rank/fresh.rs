//! The best documents in fresh segments. Their lists have no block maxima, and lengths are in rows.
//!
//! For one term and for an [OR](super::max_score_fresh), fresh segments come last, though they are
//! the newest. By then other segments have raised the threshold. Most postings are skipped by their
//! frequency, since a document is at least as long as its terms are frequent. Most others are
//! skipped by one comparison of lengths.

use spirit_index::ground::FieldId;
use spirit_index::ground::{FREQUENCY_MAX, frequency, rank, rank_of};
use spirit_index::snapshot::FieldLengths;
use spirit_kernel as kernel;
use spirit_kernel::{Bm25, Frequencies};

use super::block_filter::BlockFilter;
use super::{Evaluation, Ranked};
use crate::evaluate::{OUT, Place, words_of};
use crate::leaf::END;
use crate::plan::{RankedPlan, RankedWay};
use crate::rank::score;

impl<'a> Evaluation<'a, Ranked<'_>> {
    /// Offers the documents of fresh segments that may be among the best.
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
                RankedWay::Any => self.rank_fresh_by_max_score(&place, terms),
                _ => self.rank_segment(&place),
            }
        }
    }

    /// Like [`offer_scored`](Self::offer_scored), for matches that come in the order of ranks.
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
        let extent = place.context.extent.as_ref().expect("a fresh segment has an extent");
        let lookup = self.query.lookup(found);
        self.scratch.leaves[scoring].open_fresh(extent, lookup, found.hash, words);
    }

    fn rank_fresh_term(&mut self, place: &Place<'_>, term: usize) {
        // Documents that the snapshot does not see may be incomplete. Their frequencies are not
        // read.
        if self.seek(place, term, place.first) == END {
            return;
        }
        let (level, bm25) = (self.settings.level, self.bm25(term));
        let mut lengths = RowLengths::of(place, self.field(term));
        let mut filter = BlockFilter::new(bm25, self.limit());
        let (mut least, mut often) = (filter.least_frequency(), [0; OUT]);
        // Invariant: every posting before the leaf's position was offered or cannot beat the
        // threshold. Terminates: each round advances the leaf or refills it, until its list ends.
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
                if !filter.lets_pass(frequency, length) {
                    continue;
                }
                let score = score_of(place, bm25, (rank, frequency), length);
                if score > self.collector.threshold() {
                    self.offer_listed(place, rank, score);
                    filter = BlockFilter::new(bm25, self.limit());
                    least = filter.least_frequency();
                }
            }
        }
    }
}

/// A field's lengths in a segment's documents, by rank.
pub(super) struct RowLengths<'p> {
    field: FieldId,
    lengths: FieldLengths<'p>,
}

impl<'p> RowLengths<'p> {
    pub(super) fn of(place: &'p Place<'_>, field: FieldId) -> RowLengths<'p> {
        RowLengths { field, lengths: place.segment.field_lengths(field) }
    }

    /// Changes to another field, unless it is the current one.
    pub(super) fn turn_to(&mut self, place: &'p Place<'_>, field: FieldId) {
        if self.field != field {
            *self = RowLengths::of(place, field);
        }
    }

    /// Returns the length of a document.
    #[inline]
    pub(super) fn length(&mut self, rank: u32) -> u32 {
        self.lengths.get(rank_of(rank))
    }
}

/// Returns the score of a posting with the frequency `said`. If that is saturated, the exact
/// frequency is read.
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
