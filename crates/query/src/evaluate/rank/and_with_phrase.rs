//! The best documents that contain a phrase and other terms: an [AND](super::block_max_and) of all
//! terms, whose candidates are then checked for the phrase.
//!
//! A document contains a phrase at most as often as any of its terms. So the rarest term stands for
//! the phrase, with the phrase's weight, and gives an upper bound. With slop a phrase may match as
//! often as all its terms occur. Then each term counts with the phrase's weight: the score of the
//! sum of frequencies is at most the sum of the scores.

use std::ops::Range;

use spirit_kernel::Bm25;

use super::candidate_check::CandidateCheck;
use super::lists::List;
use super::phrase::Search;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::{Among, TERMS_INLINE};

/// The share of a phrase's weight for its terms that do not stand for it. Upper bounds divide by a
/// weight, so it is not 0.
const NEARLY_ZERO: f32 = 1e-6;

/// A phrase that is searched for beside other terms in a segment.
pub(super) struct WithPhrase<'s> {
    search: Search<'s>,
    /// The lists of its terms.
    lists: Range<usize>,
}

impl Evaluation<'_, Ranked<'_>> {
    /// Ranks a segment in which all terms have lists and some terms make a phrase.
    pub(super) fn rank_meeting_with_phrase(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        among: Among,
    ) {
        self.searching(among.phrase, |this, search| {
            let Search { field, bm25, words, is_exact, .. } = search;
            let of_phrase = among.first..among.end;
            let postings = |number: &usize| this.scratch.leaves[terms[*number] as usize].postings;
            let rarest = of_phrase.clone().min_by_key(postings);
            let mut lists = [List::NONE; TERMS_INLINE];
            for (number, (list, term)) in lists.iter_mut().zip(terms).enumerate() {
                *list = if of_phrase.contains(&number) {
                    let stands_for_it = !is_exact || Some(number) == rarest;
                    let weight =
                        if stands_for_it { bm25.weight } else { bm25.weight * NEARLY_ZERO };
                    let bm25 = Bm25 { weight, ..bm25 };
                    this.list_weighing(place, *term as usize, field, bm25, words)
                } else {
                    this.list(place, *term as usize, words)
                };
            }
            let mut check = std::mem::take(&mut this.scratch.candidate_check);
            let mut with_phrase = Some(WithPhrase { search, lists: of_phrase });
            this.rank_lists_of_and(place, &mut lists[..terms.len()], &mut check, &mut with_phrase);
            this.scratch.candidate_check = check;
        });
    }

    /// Offers those candidates that contain the phrase. All lists contain them.
    pub(super) fn offer_with_phrase(
        &mut self,
        place: &Place<'_>,
        check: &CandidateCheck,
        lists: usize,
        WithPhrase { search, lists: of_phrase }: &mut WithPhrase<'_>,
    ) {
        if check.is_empty() {
            return;
        }
        self.each_with_phrase(place, check.ranks(), search, |this, number, score| {
            // Summed in the order of the clauses, so a document has one score in all evaluators.
            let score = check.score_with(number, lists, of_phrase.clone(), score);
            if score > this.collector.threshold() {
                this.offer_scored(place, check.ranks()[number], score);
            }
        });
    }
}
