//! The best documents with a phrase and other terms, all of which must match: an [AND](super::all) of all terms, and of what may be among the
//! best then it is asked whether the phrase is there.
//!
//! A phrase is in a document at most as often as any of its terms, so its rarest stands for it until then, with the phrase's
//! weight. Where words may be moved there may be as many matches as occurrences of all of them; and what these are worth together is
//! less than what each is worth by itself, added up.

use std::ops::Range;

use spirit_kernel::Bm25;

use super::lists::List;
use super::met::Met;
use super::phrase::Search;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::{Among, TERMS_INLINE};

/// The part of a phrase's weight that its other terms have: hardly any, and more than nothing, by which nobody could divide.
const HARDLY: f32 = 1e-6;

/// A phrase that is sought in a segment beside other terms.
pub(super) struct Beside<'s> {
    search: Search<'s>,
    /// Which lists are those of its terms.
    lists: Range<usize>,
}

impl Evaluation<'_, Ranked<'_>> {
    /// A segment in which all terms have lists, of which some make a phrase.
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
                    let weight = if stands_for_it { bm25.weight } else { bm25.weight * HARDLY };
                    let bm25 = Bm25 { weight, ..bm25 };
                    this.list_weighing(place, *term as usize, field, bm25, words)
                } else {
                    this.list(place, *term as usize, words)
                };
            }
            let mut met = std::mem::take(&mut this.scratch.met);
            let mut beside = Some(Beside { search, lists: of_phrase });
            this.rank_lists_of_all(place, &mut lists[..terms.len()], &mut met, &mut beside);
            this.scratch.met = met;
        });
    }

    /// Offers those of some documents, which all lists have, that have the phrase.
    pub(super) fn offer_beside(
        &mut self,
        place: &Place<'_>,
        met: &Met,
        lists: usize,
        Beside { search, lists: of_phrase }: &mut Beside<'_>,
    ) {
        if met.is_empty() {
            return;
        }
        self.each_with_phrase(place, met.ranks(), search, |this, number, score| {
            // In the order of the clauses, so that a document's score does not depend on what else there is.
            let score = met.score_with(number, lists, of_phrase.clone(), score);
            if score > this.collector.top.threshold() {
                this.offer_scored(place, met.ranks()[number], score);
            }
        });
    }
}
