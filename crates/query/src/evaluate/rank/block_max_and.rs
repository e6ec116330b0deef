//! The best documents of an AND, by block maxima. A block of the shortest list is skipped if the
//! sum of all lists' upper bounds there does not beat the threshold. Dense lists are intersected as
//! bitmaps, window by window. If some terms make a [phrase](super::and_with_phrase), candidates are
//! checked for it last.

use std::ops::Range;

use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Run};

use super::and_with_phrase::WithPhrase;
use super::candidate_check::CandidateCheck;
use super::candidates::Candidates;
use super::lists::{Ahead, BLOCK, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::evaluate::window::{RANKS, WORDS, aligned, ones};
use crate::leaf::END;
use crate::plan::{Among, TERMS_INLINE};
use crate::rank::MORE;
use crate::tuning::{AND_LOOKED_UP_MAX, AND_RANKS_FIRST, LOOKED_UP_ONE_BY_ONE};

/// A value for each term.
type Parts<T> = [T; TERMS_INLINE];

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents of an AND that may be among the best, in the registered segments of
    /// this part. With `phrase`, some of the terms must make a phrase.
    pub(super) fn rank_and(&mut self, terms: &[u32], phrase: Option<Among>) {
        self.each_meeting(terms, |this, place| match phrase {
            None => this.rank_meeting(place, terms),
            Some(among) => this.rank_meeting_with_phrase(place, terms, among),
        });
    }

    /// Visits the registered segments of this part in which all terms have lists, and opens the
    /// lists.
    pub(super) fn each_meeting(&mut self, terms: &[u32], visit: impl Fn(&mut Self, &Place<'_>)) {
        self.scratch.ahead.begin();
        let mut more = true;
        // Invariant: `ahead` holds the next segments with lists of all terms, in order. Terminates:
        // each round consumes one segment, and each call of `align` consumes entries.
        loop {
            while more && self.scratch.ahead.has_room() {
                more = self.align(terms);
            }
            let Some(slot) = self.scratch.ahead.pop() else { return };
            if self.done() || !self.meter.step() {
                return;
            }
            let segment = self.snapshot.of(self.scratch.ahead.at(slot).entries[0].0.segment);
            let Some(place) = self.promising(segment) else { continue };
            for (number, term) in terms.iter().enumerate() {
                let (entry, index) = self.scratch.ahead.at(slot).entries[number];
                self.scratch.leaves[*term as usize].open_entry(&segment, index as usize, entry);
            }
            self.open_excluded(&segment);
            visit(self, &place);
        }
    }

    /// Ranks a segment in which all terms have lists.
    fn rank_meeting(&mut self, place: &Place<'_>, terms: &[u32]) {
        // Moved out while lists borrow from it.
        let words = std::mem::take(&mut self.scratch.words);
        let mut check = std::mem::take(&mut self.scratch.candidate_check);
        let mut lists = [List::NONE; TERMS_INLINE];
        for (list, term) in lists.iter_mut().zip(terms) {
            *list = self.list(place, *term as usize, &words);
        }
        self.rank_lists_of_and(place, &mut lists[..terms.len()], &mut check, &mut None);
        self.scratch.candidate_check = check;
        self.scratch.words = words;
    }

    /// Offers the documents that are in all lists, contain `phrase` if there is one, and may be
    /// among the best.
    pub(super) fn rank_lists_of_and(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        check: &mut CandidateCheck,
        phrase: &mut Option<WithPhrase<'_>>,
    ) {
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        let order = &mut order[..lists.len()];
        order.sort_unstable_by_key(|list| lists[*list].len());
        if lists.iter().all(List::is_dense) {
            self.rank_windows_of_and(place, (lists, order), check, phrase);
        } else {
            self.rank_blocks_of_and(place, (lists, order), check, phrase);
        }
    }

    /// Ranks dense lists window by window. The first windows are small: they raise the threshold
    /// for the others.
    fn rank_windows_of_and(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&mut [List<'_>], &[usize]),
        check: &mut CandidateCheck,
        phrase: &mut Option<WithPhrase<'_>>,
    ) {
        let level = self.settings.level;
        let (mut start, mut ranks) = (place.first, AND_RANKS_FIRST);
        // Invariant: documents of ranks below `start` are done. Terminates: `start` grows in each
        // round, and a list ends with the rank END.
        loop {
            lists.iter_mut().for_each(|list| list.go_to(level, start));
            let next = lists.iter().map(List::rank).fold(start, u32::max);
            if next >= END || !self.meter.step() {
                return;
            }
            let first = aligned(place.base, next);
            start = first.saturating_add(ranks).min(END);
            ranks = (ranks * 2).min(RANKS);
            let mut ahead: Parts<Ahead> = [Ahead::NOTHING; TERMS_INLINE];
            for (ahead, list) in ahead.iter_mut().zip(&*lists) {
                *ahead = list.ahead(start - 1);
            }
            let total: f32 = ahead[..lists.len()].iter().map(|ahead| ahead.bound).sum();
            if !self.is_beaten(total * MORE) {
                let window = (first..start, &ahead);
                self.rank_window_of_and(place, (lists, order), window, check, phrase);
            }
        }
    }

    /// Offers the documents of a window of dense lists.
    fn rank_window_of_and(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&[List<'_>], &[usize]),
        (ranks, ahead): (Range<u32>, &Parts<Ahead>),
        check: &mut CandidateCheck,
        phrase: &mut Option<WithPhrase<'_>>,
    ) {
        let (level, shortest, others) = (self.settings.level, order[0], &order[1..]);
        let mut common = [u64::MAX; WORDS];
        for list in lists {
            let mut own = [0; WORDS];
            list.set_bits(level, ranks.start, &mut own[..ranks.len().div_ceil(64)]);
            kernel::and_window(level, &mut common, &own);
        }
        if kernel::count_bits(level, &common) > AND_LOOKED_UP_MAX {
            let ahead_of = others.iter().map(|other| (&lists[*other], ahead[*other]));
            let bar = bar(self.limit(), &lists[shortest], ahead_of);
            let mut found = Candidates::new(level, self.limit(), ranks.start, ranks.end);
            found.add(&lists[shortest], bar, Some(bar));
            kernel::and_window(level, &mut common, &found.all());
        }
        let mut bits = ones(&common);
        // Terminates: each round takes candidates from `bits`, until all are taken.
        while check.begin(bits.by_ref().map(|bit| ranks.start + bit as u32)) > 0 {
            self.check_candidates(lists, order, check, ahead);
            self.offer_checked(place, check, lists.len(), phrase);
        }
    }

    /// Looks up candidates in the lists of `order`, and keeps those that all of them contain and
    /// that may be among the best. `ahead` has the upper bound of each list.
    fn check_candidates(
        &self,
        lists: &[List<'_>],
        order: &[usize],
        check: &mut CandidateCheck,
        ahead: &Parts<Ahead>,
    ) {
        for (number, list) in order.iter().enumerate() {
            let rest: f32 = order[number + 1..].iter().map(|list| ahead[*list].bound).sum();
            let may_pass = |score: f32| !self.is_beaten((score + rest) * MORE);
            if check.is_empty() {
                return;
            }
            check.keep_in(self.settings.level, (*list, &lists[*list]), may_pass);
        }
    }

    /// Offers candidates that all lists contain.
    fn offer_checked(
        &mut self,
        place: &Place<'_>,
        check: &CandidateCheck,
        lists: usize,
        phrase: &mut Option<WithPhrase<'_>>,
    ) {
        if let Some(phrase) = phrase {
            return self.offer_with_phrase(place, check, lists, phrase);
        }
        for (rank, score) in check.scored(lists) {
            if score > self.collector.threshold() {
                self.offer_scored(place, rank, score);
            }
        }
    }

    /// Ranks the blocks of the shortest list. `order` has the lists' numbers, the shortest first.
    fn rank_blocks_of_and(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&mut [List<'_>], &[usize]),
        check: &mut CandidateCheck,
        phrase: &mut Option<WithPhrase<'_>>,
    ) {
        let level = self.settings.level;
        let (shortest, others) = (order[0], &order[1..]);
        // Invariant: every document above the threshold in an earlier block was offered. Other
        // lists only move forward.
        for number in 0..lists[shortest].len().div_ceil(BLOCK) {
            let (first, last) = lists[shortest].block_ranks(number);
            let mut ahead: Parts<Ahead> = [Ahead::NOTHING; TERMS_INLINE];
            ahead[shortest] = lists[shortest].block(number);
            for other in others {
                lists[*other].go_to(level, first);
                ahead[*other] = lists[*other].ahead(last);
            }
            let total: f32 = ahead[..lists.len()].iter().map(|ahead| ahead.bound).sum();
            if !self.is_beaten(total * MORE) && self.meter.step() {
                let block = (number, lists[shortest].block_run(number));
                self.take_candidates_of_block((lists, order), block, &ahead, check);
                self.check_candidates(lists, others, check, &ahead);
                self.offer_checked(place, check, lists.len(), phrase);
            }
        }
    }

    /// Takes the candidates of a block: postings whose upper bound beats the threshold. If the
    /// second list is dense, its bits are probed first. Otherwise more than
    /// [`LOOKED_UP_ONE_BY_ONE`] candidates are intersected with it.
    fn take_candidates_of_block(
        &self,
        (lists, order): (&[List<'_>], &[usize]),
        block: (usize, Run<'_>),
        ahead: &Parts<Ahead>,
        check: &mut CandidateCheck,
    ) {
        let level = self.settings.level;
        let (shortest, others) = (order[0], &order[1..]);
        let List { bm25, lengths, .. } = lists[shortest];
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        let ahead_of = others.iter().map(|other| (&lists[*other], ahead[*other]));
        let bar = bar(self.limit(), &lists[shortest], ahead_of);
        let mut block = lists[shortest].sift(level, block, bar, &mut room);
        // The second list contains few of these. If it is dense, a probe of its bits drops the
        // others before their lengths are read.
        let mut common = [0; BLOCK];
        let probed = lists[others[0]].probe(level, block, &mut common);
        if let Some(count) = probed {
            block = kernel::run_of(&mut common[..count]);
        }
        let mut found =
            kernel::score_above(level, block, lengths, bm25, bar, &mut words, &mut scores).found;
        if probed.is_none() && found > LOOKED_UP_ONE_BY_ONE {
            let candidates = kernel::run_of(&mut words[..found]);
            let algorithm = self.settings.algorithm.unwrap_or(Algorithm::Simd);
            found = lists[others[0]].meet(level, algorithm, candidates, &mut common);
            words = common;
            let words = kernel::run_of(&mut words[..found]);
            kernel::score_run(level, words, lengths, bm25, &mut scores);
        }
        check.begin_with(shortest, &words[..found], &scores);
    }
}
