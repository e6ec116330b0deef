//! The best documents with a phrase.
//!
//! A document contains a phrase at most as often as any of its terms. So the score of each term's
//! posting, with the phrase's weight, is an upper bound, and the lowest counts. With slop a phrase
//! may match more often than one term occurs, but not more often than all of them do. Only
//! documents that pass these bounds are checked.

use std::sync::atomic::AtomicU32;

use spirit_index::ground::FieldId;
use spirit_index::ground::{FREQUENCY_MAX, frequency, rank, rank_of};
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Bar, Bm25, Lengths, Run};

use super::lists::{BLOCK, List};
use super::{Evaluation, Ranked};
use crate::evaluate::phrase::{Phrase, Room, Wanted};
use crate::evaluate::{Place, words_of};
use crate::plan::TERMS_INLINE;
use crate::query::{Kind, NodeId};
use crate::rank::{MORE, Weight, score};
use crate::slop::Occurrence;
use crate::tuning::LOOKED_UP_ONE_BY_ONE;

/// A search for a phrase in a segment.
pub(super) struct Search<'s> {
    node: NodeId,
    pub(super) field: FieldId,
    pub(super) bm25: Bm25,
    /// True if no word may be moved.
    pub(super) is_exact: bool,
    /// The phrase's terms in the segment, valid once `has_terms` is `Some(true)`.
    phrase: &'s mut Phrase,
    /// True if the segment has them all; `None` before the first check.
    has_terms: Option<bool>,
    pub(super) words: &'s [AtomicU32],
    occurrences: &'s mut Vec<Occurrence>,
}

/// The candidates of a block.
struct Candidates {
    ranks: [u32; BLOCK],
    count: usize,
}

impl<'r> Evaluation<'_, Ranked<'r>> {
    /// Offers the documents with a phrase of these terms that may be among the best, in the
    /// registered segments of this part.
    pub(super) fn rank_phrase(&mut self, phrase: NodeId, terms: &[u32]) {
        self.each_meeting(terms, |this, place| this.rank_phrase_in(place, phrase, terms));
    }

    fn rank_phrase_in(&mut self, place: &Place<'_>, node: NodeId, terms: &[u32]) {
        self.searching(node, |this, mut search| {
            let Search { field, bm25, words, .. } = search;
            let mut lists = [List::NONE; TERMS_INLINE];
            for (list, term) in lists.iter_mut().zip(terms) {
                *list = this.list_weighing(place, *term as usize, field, bm25, words);
            }
            let lists = &mut lists[..terms.len()];
            lists.sort_unstable_by_key(|list| list.len());
            this.rank_blocks_of_phrase(place, lists, &mut search);
        });
    }

    /// Calls `look` with the search for a phrase, if that is scored by frequency. Moves memory out
    /// of the scratch memory meanwhile, because lists borrow from it.
    pub(super) fn searching(
        &mut self,
        node: NodeId,
        look: impl for<'s> FnOnce(&mut Self, Search<'s>),
    ) {
        let (Weight::Frequency(bm25), Kind::Phrase { slop }) =
            (self.collector.weights.of(node), self.query.nodes[node as usize].kind)
        else {
            return;
        };
        let words = std::mem::take(&mut self.scratch.words);
        let mut occurrences = std::mem::take(&mut self.scratch.occurrences);
        let mut phrase = std::mem::take(&mut self.scratch.phrase);
        let search = Search {
            node,
            field: self.query.field_of(node),
            bm25,
            is_exact: slop == 0,
            phrase: &mut phrase,
            has_terms: None,
            words: &words,
            occurrences: &mut occurrences,
        };
        look(self, search);
        self.scratch.words = words;
        self.scratch.occurrences = occurrences;
        self.scratch.phrase = phrase;
    }

    /// Returns the open list of a phrase's term in a segment, scored with the weight of `bm25`.
    pub(super) fn list_weighing<'l>(
        &self,
        place: &'l Place<'_>,
        term: usize,
        field: FieldId,
        bm25: Bm25,
        words: &'l [AtomicU32],
    ) -> List<'l>
    where
        'r: 'l,
    {
        let (leaf, words) = (&self.scratch.leaves[term], words_of(words, term));
        let bm25 = Bm25 { term: term as u32, ..bm25 };
        let inverse = self.collector.weights.inverses.of(field, bm25);
        let lengths = Self::lengths(place, field);
        List::of(leaf, &place.context, words, (bm25, inverse), field, (lengths, place.base))
    }

    /// Ranks the blocks of the shortest list, which comes first.
    fn rank_blocks_of_phrase(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        search: &mut Search<'_>,
    ) {
        for number in 0..lists[0].len().div_ceil(BLOCK) {
            if self.may_have(lists, number, search) && self.meter.step() {
                let block = (number, lists[0].block_run(number));
                let candidates = self.candidates(lists, block, search);
                self.offer_candidates(place, &candidates, search);
            }
        }
    }

    /// True if a block of the shortest list may contain one of the best. Moves the other lists to
    /// the block's beginning.
    fn may_have(&self, lists: &mut [List<'_>], number: usize, search: &Search<'_>) -> bool {
        let level = self.settings.level;
        let (shortest, others) = lists.split_first_mut().expect("a phrase has terms");
        if search.is_exact && self.is_beaten(shortest.block(number).bound * MORE) {
            return false;
        }
        let (first, last) = shortest.block_ranks(number);
        others.iter_mut().all(|other| {
            other.go_to(level, first);
            other.rank() <= last
                && !(search.is_exact && self.is_beaten(other.ahead(last).bound * MORE))
        })
    }

    /// Returns the documents of a block that contain all terms and whose frequencies may beat the
    /// threshold.
    fn candidates(
        &self,
        lists: &mut [List<'_>],
        block: (usize, Run<'_>),
        search: &Search<'_>,
    ) -> Candidates {
        let (level, List { bm25, lengths, .. }) = (self.settings.level, lists[0]);
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        let limit = if search.is_exact { self.limit() } else { -1.0 };
        let bar = Bar::at(limit.min(limit / MORE));
        let mut block = lists[0].sift(level, block, bar, &mut room);
        let others = &mut lists[1..];
        // The second list contains few of these.
        let mut met = [0; BLOCK];
        let probed = others[0].probe(level, block, &mut met);
        if let Some(count) = probed {
            block = kernel::run_of(&mut met[..count]);
        }
        let mut found =
            kernel::score_above(level, block, lengths, bm25, bar, &mut words, &mut scores).found;
        if probed.is_none() && found > LOOKED_UP_ONE_BY_ONE {
            let mut common = [0; BLOCK];
            let asked = kernel::run_of(&mut words[..found]);
            let algorithm = self.settings.algorithm.unwrap_or(Algorithm::Simd);
            found = others[0].meet(level, algorithm, asked, &mut common);
            words = common;
        }
        let mut candidates = Candidates { ranks: [0; BLOCK], count: 0 };
        // Candidates ascend, so the other lists only move forward.
        for word in &words[..found] {
            let found = others.iter_mut().map(|other| other.find(level, rank(*word)));
            if self.is_promising(*word, found, lengths, search) {
                candidates.ranks[candidates.count] = rank(*word);
                candidates.count += 1;
            }
        }
        candidates
    }

    /// True if a document may be among the best. `word` is its posting in the shortest list,
    /// `others` are those in the other lists.
    fn is_promising(
        &self,
        word: u32,
        mut others: impl Iterator<Item = Option<u32>>,
        lengths: Lengths<'_>,
        search: &Search<'_>,
    ) -> bool {
        let mut matches = frequency(word);
        let all = others.all(|other| {
            let Some(frequency) = other.map(frequency) else { return false };
            matches = if search.is_exact { matches.min(frequency) } else { matches + frequency };
            true
        });
        // A saturated frequency is no upper bound.
        let is_bounded = matches < FREQUENCY_MAX;
        let best = || search.bm25.score(word & !FREQUENCY_MAX | matches, lengths);
        all && !(is_bounded && self.is_beaten(best() * MORE))
    }

    fn offer_candidates(
        &mut self,
        place: &Place<'_>,
        candidates: &Candidates,
        search: &mut Search<'_>,
    ) {
        let ranks = &candidates.ranks[..candidates.count];
        if ranks.is_empty() {
            return;
        }
        self.each_with_phrase(place, ranks, search, |this, number, score| {
            if !this.is_beaten(score) {
                this.offer_scored(place, ranks[number], score);
            }
        });
    }

    /// Calls `take` for each document of `ranks` that contains the phrase, with its index and the
    /// phrase's score.
    pub(super) fn each_with_phrase(
        &mut self,
        place: &Place<'_>,
        ranks: &[u32],
        search: &mut Search<'_>,
        mut take: impl FnMut(&mut Self, usize, f32),
    ) {
        let Search { field, bm25, words, .. } = *search;
        let fill = || self.fill_phrase(place, search.node, words, search.phrase);
        if !*search.has_terms.get_or_insert_with(fill) || !self.meter.steps(ranks.len()) {
            return;
        }
        let phrase = &*search.phrase;
        let mut lengths = place.segment.field_lengths(field);
        let mut room = Room { place, words, occurrences: &mut *search.occurrences };
        phrase.each(&mut room, ranks, Wanted::Frequency, |number, frequency| {
            if frequency > 0.0 {
                let length = lengths.get(rank_of(ranks[number]));
                take(self, number, score(bm25, frequency, length));
            }
            true
        });
    }
}
