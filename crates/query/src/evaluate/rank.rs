//! Evaluation by relevance: the best matches of a snapshot, whatever their age.
//!
//! A document's score is the sum of its clauses' scores ([`Weights`](crate::rank::Weights)). In
//! registered segments these evaluators skip blocks whose upper bound does not beat the threshold.
//!
//! | file | query |
//! |---|---|
//! | [`term`] | one term |
//! | [`max_score`] | an OR of terms, or of the best of several terms, by MaxScore over windows |
//! | [`term_at_a_time`] | an OR of rare terms, list by list |
//! | [`required_terms`] | required and optional terms, list by list |
//! | [`block_max_and`] | an AND, by block maxima |
//! | [`phrase`], [`and_with_phrase`] | a phrase, alone or beside other terms |
//! | [`tree`] | any other query, by windows |
//!
//! [`fresh`] and [`max_score_fresh`] rank fresh segments, which have no block maxima.
//! [`threshold_seed`] raises the threshold before any posting is read. [`proximity`] adds what places
//! and closeness of terms are worth. The evaluators share
//! [`block_filter`], [`candidates`] and [`candidate_check`]. [`tuning`] has their constants.

mod and_with_phrase;
mod block_filter;
mod block_max_and;
mod candidate_check;
mod candidates;
mod fade;
mod fresh;
mod lists;
mod max_score;
mod max_score_fresh;
mod phrase;
mod proximity;
mod required_terms;
mod term;
mod term_at_a_time;
mod threshold_seed;
mod tree;

use std::sync::atomic::AtomicU32;

use spirit_index::form::FindOlder;
use spirit_index::ground::FieldId;
use spirit_index::ground::rank_of;
use spirit_index::snapshot::Segment;
use spirit_kernel::{Bm25, Lengths};

use super::{Evaluation, Place, words_of};
use crate::collect::{Address, Limit};
use crate::fade::Fading;
use crate::plan::{RankedPlan, RankedWay};
use crate::proximity::Proximity;
use crate::rank::Weights;
use crate::top::{Scored, Top};
pub(super) use candidate_check::CandidateCheck;
use lists::List;
pub(super) use max_score_fresh::Tally;
pub(super) use tree::{BestRoom, Noted};

/// The collector of ranked matches.
pub(crate) struct Ranked<'r> {
    pub(crate) top: &'r mut Top,
    pub(crate) weights: &'r Weights,
    pub(crate) executor: u32,
    /// True if blocks may be skipped.
    pub(crate) skips: bool,
    pub(crate) fading: Option<Fading>,
    /// What places and closeness add, if they count.
    pub(crate) proximity: Option<&'r Proximity>,
    /// An upper bound on the BM25 score of every document.
    pub(crate) highest: f32,
    pub(crate) plan: RankedPlan,
}

impl Ranked<'_> {
    /// Returns the threshold that a match's BM25 score must beat.
    #[inline(always)]
    fn threshold(&self) -> f32 {
        let threshold = self.top.threshold();
        self.proximity.map_or(threshold, |proximity| proximity.needed(threshold))
    }
}

impl Limit for Ranked<'_> {
    const SCORES: bool = true;

    /// Returns 0 once no document can beat the threshold.
    fn wanted(&self) -> usize {
        if self.skips && self.highest <= self.threshold() { 0 } else { usize::MAX }
    }
}

impl<'r> Evaluation<'_, Ranked<'r>> {
    /// Offers all matches that may be among the best. `older` finds entries that the DRAM
    /// dictionary does not cover.
    pub(crate) fn rank<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        let plan = self.collector.plan;
        if plan.way == RankedWay::Nothing {
            return;
        }
        // With a high threshold most postings of a fresh list are skipped, so fresh segments come
        // last. Where scores are constant or fade with age, the newest documents are the best. Then
        // fresh segments come first.
        let is_last = plan.goes_by_lists_when_fresh() && self.collector.fading.is_none();
        if !is_last {
            self.rank_fresh(&plan);
        }
        self.rank_registered(&plan, older);
        if is_last {
            let had_newer = self.collector.top.set_has_newer(true);
            self.rank_fresh(&plan);
            self.collector.top.set_has_newer(had_newer);
        }
    }

    fn rank_registered<O: FindOlder>(
        &mut self,
        plan: &RankedPlan,
        older: impl FnOnce() -> Option<O>,
    ) {
        let terms = plan.sought();
        match plan.way {
            RankedWay::Nothing => {}
            RankedWay::Term => self.rank_listed(older, |part| part.rank_term(terms[0] as usize)),
            RankedWay::All => self.rank_listed(older, |part| part.rank_and(terms, None)),
            RankedWay::AllWithPhrase(among) => {
                self.rank_listed(older, |part| part.rank_and(terms, Some(among)));
            }
            RankedWay::Phrase(phrase) => {
                self.rank_listed(older, |part| part.rank_phrase(phrase, terms));
            }
            RankedWay::Any => self.rank_listed(older, |part| part.rank_by_max_score(terms)),
            RankedWay::Required(groups) => {
                self.rank_listed(older, |part| part.rank_required(terms, &groups));
            }
            RankedWay::Tree { bounded } => {
                let terms = 0..self.query.terms.len() as u32;
                terms.clone().for_each(|term| self.look_up(term as usize));
                self.rank_tree(bounded);
                self.step_back(older, terms, |part| part.rank_tree(bounded));
            }
        }
    }

    fn rank_listed<O: FindOlder>(
        &mut self,
        older: impl FnOnce() -> Option<O>,
        rank: impl Fn(&mut Self),
    ) {
        let plan = self.collector.plan;
        plan.terms().iter().for_each(|term| self.look_up(*term as usize));
        rank(self);
        self.step_back(older, plan.terms().iter().copied(), rank);
    }

    /// Opens the lists of excluded terms in a segment.
    fn open_excluded(&mut self, segment: &Segment<'_>) {
        let lists = self.lists();
        for term in self.collector.plan.excluded() {
            self.scratch.leaves[*term as usize].open_at(lists, segment);
        }
    }

    /// True if a document of a registered segment has an excluded term. In fresh segments,
    /// [`Self::offer_listed`] and the windows of a tree exclude them.
    fn is_excluded(&self, place: &Place<'_>, rank: u32) -> bool {
        let has =
            |term: &u32| self.scratch.leaves[*term as usize].has(&place.context, place.base, rank);
        !place.is_fresh() && self.collector.plan.excluded().iter().any(has)
    }

    /// Returns the BM25 parameters of a term.
    fn bm25(&self, term: usize) -> Bm25 {
        self.collector.weights.of_term(term)
    }

    /// Returns the lengths of a field in a registered segment's documents.
    fn lengths<'l>(place: &'l Place<'_>, field: FieldId) -> Lengths<'l> {
        let lengths = place.segment.lengths_of(field).map(|lengths| lengths.by_rank(place.base));
        lengths.unwrap_or(Lengths::NONE).with(place)
    }

    /// Returns the field of a term.
    fn field(&self, term: usize) -> FieldId {
        self.query.terms[term].field()
    }

    /// Returns the open list of a term in a segment. `words` is scratch memory.
    fn list<'l>(&self, place: &'l Place<'_>, term: usize, words: &'l [AtomicU32]) -> List<'l>
    where
        'r: 'l,
    {
        let (leaf, field) = (&self.scratch.leaves[term], self.field(term));
        let (words, lengths) = (words_of(words, term), Self::lengths(place, field));
        let bm25 = self.bm25(term);
        let inverse = self.collector.weights.inverses.of(field, bm25);
        let mut list =
            List::of(leaf, &place.context, words, (bm25, inverse), field, (lengths, place.base));
        list.clause = self.collector.plan.clause_of(term as u32);
        list
    }

    /// Returns the threshold that a score must beat; -1 if blocks may not be skipped.
    fn limit(&self) -> f32 {
        if self.collector.skips { self.collector.threshold() } else { -1.0 }
    }

    /// True if no document with this upper bound can be among the best.
    #[inline(always)]
    fn is_beaten(&self, bound: f32) -> bool {
        self.collector.skips && bound <= self.collector.threshold()
    }

    /// Offers a match, unless it is dead or has an excluded term.
    fn offer_scored(&mut self, place: &Place<'_>, rank: u32, score: f32) {
        let local = rank_of(rank);
        if rank < place.first
            || (place.has_dead && place.segment.is_dead(local))
            || self.is_excluded(place, rank)
        {
            return;
        }
        let Some(score) = self.with_places(place, rank, score) else { return };
        let score = self.faded(place, rank, score);
        let hit = Address { executor: self.collector.executor, segment: place.segment.id(), local };
        let sequence = place.segment.sequence(local);
        self.collector.top.offer(Scored { score, sequence, hit });
    }
}
