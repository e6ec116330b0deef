//! The best documents with all of several terms: blocks of the shortest list for which the maxima of all lists together say that
//! there may be one. Dense lists are met by their bits, a window at a time. If some of the terms are to make [a phrase](super::beside), that is asked of
//! what is left.

use std::ops::Range;

use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Run};

use super::beside::Beside;
use super::candidates::Candidates;
use super::lists::{Ahead, BLOCK, List, bar};
use super::met::Met;
use super::tuning::LOOKED_UP_ONE_BY_ONE;
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::evaluate::window::{RANKS, WORDS, aligned, ones};
use crate::leaf::END;
use crate::plan::{Among, TERMS_INLINE};
use crate::rank::MORE;

/// Something of each term.
type Parts<T> = [T; TERMS_INLINE];

/// So many documents of a window are looked up sooner than a list is gone through to tell which of them may be among the best.
const LOOKED_UP: u64 = 48;
/// Ranks of the first window of dense lists.
const RANKS_FIRST: u32 = 512;

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with all of some terms, of which some may have to make a phrase, in the registered
    /// segments at hand.
    pub(super) fn rank_all(&mut self, terms: &[u32], phrase: Option<Among>) {
        self.each_meeting(terms, |this, place| match phrase {
            None => this.rank_meeting(place, terms),
            Some(among) => this.rank_meeting_with_phrase(place, terms, among),
        });
    }

    /// Visits the registered segments at hand in which all of some terms have lists, these open.
    pub(super) fn each_meeting(&mut self, terms: &[u32], visit: impl Fn(&mut Self, &Place<'_>)) {
        self.scratch.ahead.begin();
        let mut more = true;
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

    /// A segment in which all terms have lists.
    fn rank_meeting(&mut self, place: &Place<'_>, terms: &[u32]) {
        // Lent, since what lists are read in is not to be seen to change.
        let words = std::mem::take(&mut self.scratch.words);
        let mut met = std::mem::take(&mut self.scratch.met);
        let mut lists = [List::NONE; TERMS_INLINE];
        for (list, term) in lists.iter_mut().zip(terms) {
            *list = self.list(place, *term as usize, &words);
        }
        self.rank_lists_of_all(place, &mut lists[..terms.len()], &mut met, &mut None);
        self.scratch.met = met;
        self.scratch.words = words;
    }

    /// Offers what may be among the best of the documents that are in all of some lists, and in which `phrase` is, if there is one.
    pub(super) fn rank_lists_of_all(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        met: &mut Met,
        phrase: &mut Option<Beside<'_>>,
    ) {
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        let order = &mut order[..lists.len()];
        order.sort_unstable_by_key(|list| lists[*list].len());
        if lists.iter().all(List::is_dense) {
            self.rank_windows_of_all(place, (lists, order), met, phrase);
        } else {
            self.rank_blocks_of_all(place, (lists, order), met, phrase);
        }
    }

    /// Goes through windows, of which the first are small, since anything may be among the best there.
    fn rank_windows_of_all(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&mut [List<'_>], &[usize]),
        met: &mut Met,
        phrase: &mut Option<Beside<'_>>,
    ) {
        let level = self.settings.level;
        let (mut start, mut ranks) = (place.first, RANKS_FIRST);
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
                self.rank_window_of_all(place, (lists, order), window, met, phrase);
            }
        }
    }

    /// Offers the documents of a window of dense lists.
    fn rank_window_of_all(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&[List<'_>], &[usize]),
        (ranks, ahead): (Range<u32>, &Parts<Ahead>),
        met: &mut Met,
        phrase: &mut Option<Beside<'_>>,
    ) {
        let (level, shortest, others) = (self.settings.level, order[0], &order[1..]);
        let mut common = [u64::MAX; WORDS];
        for list in lists {
            let mut own = [0; WORDS];
            list.set_bits(level, ranks.start, &mut own[..ranks.len().div_ceil(64)]);
            kernel::and_window(level, &mut common, &own);
        }
        if kernel::count_bits(level, &common) > LOOKED_UP {
            let ahead_of = others.iter().map(|other| (&lists[*other], ahead[*other]));
            let bar = bar(self.limit(), &lists[shortest], ahead_of);
            let mut found = Candidates::new(level, self.limit(), ranks.start, ranks.end);
            found.add(&lists[shortest], bar, Some(bar));
            kernel::and_window(level, &mut common, &found.all());
        }
        let mut bits = ones(&common);
        while met.begin(bits.by_ref().map(|bit| ranks.start + bit as u32)) > 0 {
            self.keep_met(lists, order, met, ahead);
            self.offer_met(place, met, lists.len(), phrase);
        }
    }

    /// Keeps those of some documents that have all terms and may be among the best. `ahead` is what each of the lists that they were not looked up in
    /// yet, `order`, may add to a score.
    fn keep_met(&self, lists: &[List<'_>], order: &[usize], met: &mut Met, ahead: &Parts<Ahead>) {
        for (number, list) in order.iter().enumerate() {
            let rest: f32 = order[number + 1..].iter().map(|list| ahead[*list].bound).sum();
            let may_pass = |score: f32| !self.is_beaten((score + rest) * MORE);
            if met.is_empty() {
                return;
            }
            met.keep_in(self.settings.level, (*list, &lists[*list]), may_pass);
        }
    }

    /// Offers documents that all lists have.
    fn offer_met(
        &mut self,
        place: &Place<'_>,
        met: &Met,
        lists: usize,
        phrase: &mut Option<Beside<'_>>,
    ) {
        if let Some(phrase) = phrase {
            return self.offer_beside(place, met, lists, phrase);
        }
        for (rank, score) in met.scored(lists) {
            if score > self.collector.top.threshold() {
                self.offer_scored(place, rank, score);
            }
        }
    }

    /// Goes through the blocks of the shortest list. `order` are the lists, the shortest first.
    fn rank_blocks_of_all(
        &mut self,
        place: &Place<'_>,
        (lists, order): (&mut [List<'_>], &[usize]),
        met: &mut Met,
        phrase: &mut Option<Beside<'_>>,
    ) {
        let level = self.settings.level;
        let (shortest, others) = (order[0], &order[1..]);
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
                self.meet_block_of_all((lists, order), block, &ahead, met);
                self.keep_met(lists, others, met, &ahead);
                self.offer_met(place, met, lists.len(), phrase);
            }
        }
    }

    /// The documents of a block that may be among the best, and are in the second list too if there are more than a few.
    fn meet_block_of_all(
        &self,
        (lists, order): (&[List<'_>], &[usize]),
        block: (usize, Run<'_>),
        ahead: &Parts<Ahead>,
        met: &mut Met,
    ) {
        let level = self.settings.level;
        let (shortest, others) = (order[0], &order[1..]);
        let List { bm25, lengths, .. } = lists[shortest];
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        let ahead_of = others.iter().map(|other| (&lists[*other], ahead[*other]));
        let bar = bar(self.limit(), &lists[shortest], ahead_of);
        let mut block = lists[shortest].sift(level, block, bar, &mut room);
        // Most of these are not in the other list, and where that is dense it is told without their lengths.
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
        met.begin_with(shortest, &words[..found], &scores);
    }
}
