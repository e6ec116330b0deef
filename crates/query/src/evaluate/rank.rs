//! Evaluation by relevance: the best matches of a snapshot, whatever their age.
//!
//! What a document scores is the sum of what the query's clauses add; [`Weights`](crate::rank::Weights) says what that is. In registered segments
//! [one term](term), [any of several](any), [all of several](all), [some of them](required), [a phrase](phrase) and [one beside other terms](beside)
//! pass over blocks of postings whose maxima say that nothing in them beats what was found; any other query goes by [windows](tree).
//! [Fresh segments](fresh) have no maxima.

mod all;
mod any;
mod beside;
mod candidates;
mod fade;
mod floor;
mod fresh;
mod fresh_any;
mod gate;
mod lists;
mod lists_in_turn;
mod met;
mod phrase;
mod required;
mod term;
mod tree;
mod tuning;

use std::sync::atomic::AtomicU32;

use spirit_index::form::older::FindOlder;
use spirit_index::ground::posting::rank_of;
use spirit_index::ground::term::FieldId;
use spirit_index::snapshot::Segment;
use spirit_kernel::{Bm25, Lengths};

use super::{Evaluation, Place, words_of};
use crate::collect::{Hit, Limit};
use crate::fade::Fading;
use crate::plan::{RankedPlan, RankedWay};
use crate::rank::Weights;
use crate::top::{Scored, Top};
pub(super) use fresh_any::Tally;
use lists::List;
pub(super) use met::Met;

/// Takes matches with their scores.
pub(crate) struct Ranked<'r> {
    pub(crate) top: &'r mut Top,
    pub(crate) weights: &'r Weights,
    pub(crate) executor: u32,
    /// Whether blocks may be passed over.
    pub(crate) skips: bool,
    pub(crate) fading: Option<Fading>,
    /// No document scores more.
    pub(crate) highest: f32,
    pub(crate) plan: RankedPlan,
}

impl Limit for Ranked<'_> {
    const SCORES: bool = true;

    /// None, once nothing can beat what was found.
    fn wanted(&self) -> usize {
        if self.skips && self.highest <= self.top.threshold() { 0 } else { usize::MAX }
    }
}

impl<'r> Evaluation<'_, Ranked<'r>> {
    /// Offers the matches that may be among the best. `older` finds what the DRAM dictionary does not cover.
    pub(crate) fn rank<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        let plan = self.collector.plan;
        if plan.way == RankedWay::Nothing {
            return;
        }
        // What others have found keeps most of a fresh list's postings from being looked at; but what scores the same everywhere, or
        // fades, is best where it is newest.
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
            RankedWay::All => self.rank_listed(older, |part| part.rank_all(terms, None)),
            RankedWay::AllWithPhrase(among) => {
                self.rank_listed(older, |part| part.rank_all(terms, Some(among)));
            }
            RankedWay::Phrase(phrase) => {
                self.rank_listed(older, |part| part.rank_phrase(phrase, terms));
            }
            RankedWay::Any => self.rank_listed(older, |part| part.rank_any(terms)),
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

    /// Opens the lists in a segment of terms that a match must not have.
    fn open_excluded(&mut self, segment: &Segment<'_>) {
        let lists = self.lists();
        for term in self.collector.plan.excluded() {
            self.scratch.leaves[*term as usize].open_at(lists, segment);
        }
    }

    /// Whether a document has a term that a match must not have. In a fresh segment it was asked before.
    fn is_excluded(&self, place: &Place<'_>, rank: u32) -> bool {
        let has =
            |term: &u32| self.scratch.leaves[*term as usize].has(&place.context, place.base, rank);
        !place.is_fresh() && self.collector.plan.excluded().iter().any(has)
    }

    /// What BM25 gives for a term.
    fn bm25(&self, term: usize) -> Bm25 {
        self.collector.weights.of_term(term)
    }

    /// How long a field is in a registered segment's documents.
    fn lengths<'l>(place: &'l Place<'_>, field: FieldId) -> Lengths<'l> {
        let lengths = place.segment.lengths_of(field).map(|lengths| lengths.from_rank(place.base));
        lengths.unwrap_or(Lengths::NONE).with(place)
    }

    /// The field of a term.
    fn field(&self, term: usize) -> FieldId {
        self.query.terms[term].field()
    }

    /// The list of a term that a segment has open, with `words` of scratch memory.
    fn list<'l>(&self, place: &'l Place<'_>, term: usize, words: &'l [AtomicU32]) -> List<'l>
    where
        'r: 'l,
    {
        let (leaf, field) = (&self.scratch.leaves[term], self.field(term));
        let (words, lengths) = (words_of(words, term), Self::lengths(place, field));
        let bm25 = self.bm25(term);
        let inverse = self.collector.weights.inverses.of(field, bm25);
        List::of(leaf, &place.context, words, (bm25, inverse), field, (lengths, place.base))
    }

    /// No posting needs to be looked at that cannot lift a score above it.
    fn limit(&self) -> f32 {
        if self.collector.skips { self.collector.top.threshold() } else { -1.0 }
    }

    /// Whether it is pointless to look at what scores so much at most.
    #[inline(always)]
    fn is_beaten(&self, bound: f32) -> bool {
        self.collector.skips && bound <= self.collector.top.threshold()
    }

    /// A match; it is not certain yet that it is alive, nor that it is among the best.
    fn offer_scored(&mut self, place: &Place<'_>, rank: u32, score: f32) {
        let local = rank_of(rank);
        if rank < place.first
            || (place.has_dead && place.segment.is_dead(local))
            || self.is_excluded(place, rank)
        {
            return;
        }
        let score = self.faded(place, rank, score);
        let hit = Hit { executor: self.collector.executor, segment: place.segment.id(), local };
        let sequence = place.segment.sequence(local);
        self.collector.top.offer(Scored { score, sequence, hit });
    }
}
