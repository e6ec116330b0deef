//! The best documents with any of several terms that are rare: list after list, the shortest first.
//!
//! What was found by one list need not be found again, so a document that comes up later has none of the terms before: of the last and
//! longest list only what is among the best by itself is looked at. Blocks and postings are passed over by what they and the
//! lists behind can add. The order is not that of age, so of two documents that score the same the newer may come later.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Run};

use super::lists::{Ahead, BLOCK, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::RANKED_INLINE;
use crate::rank::MORE;

/// The lists' numbers, the shortest first.
type Order = [usize; RANKED_INLINE];

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with any of some terms, whose lists are in the order of the terms.
    pub(super) fn rank_one_by_one(&mut self, place: &Place<'_>, lists: &mut [List<'_>]) {
        let mut order: Order = [0; RANKED_INLINE];
        let order = &mut order[..lists.len()];
        order.iter_mut().enumerate().for_each(|(number, at)| *at = number);
        order.sort_unstable_by_key(|list| lists[*list].len());
        let had_newer = self.collector.top.set_has_newer(true);
        for turn in 0..order.len() {
            lists.iter_mut().for_each(List::rewind);
            self.rank_list_of(place, lists, order, turn);
        }
        self.collector.top.set_has_newer(had_newer);
    }

    /// The documents of one list that none before has.
    fn rank_list_of(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        order: &[usize],
        turn: usize,
    ) {
        let level = self.settings.level;
        let (own, later) = (order[turn], &order[turn + 1..]);
        let later_bound: f32 = later.iter().map(|list| lists[*list].bm25.weight).sum();
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        for number in 0..lists[own].len().div_ceil(BLOCK) {
            let mut bound = lists[own].block(number).bound;
            if self.is_beaten((bound + later_bound) * MORE) {
                continue;
            }
            let mut ahead = [Ahead::NOTHING; RANKED_INLINE];
            let (first, last) = lists[own].block_ranks(number);
            lists[own].go_to(level, first);
            for list in later {
                lists[*list].go_to(level, first);
                ahead[*list] = lists[*list].ahead(last);
                bound += ahead[*list].bound;
            }
            if self.is_beaten(bound * MORE) || !self.meter.step() {
                continue;
            }
            let ahead_of = later.iter().map(|list| (&lists[*list], ahead[*list]));
            let bar = bar(self.limit(), &lists[own], ahead_of);
            let (block, List { bm25, lengths, .. }) =
                ((number, lists[own].block_run(number)), lists[own]);
            let block = lists[own].sift(level, block, bar, &mut room);
            let progress =
                kernel::score_above(level, block, lengths, bm25, bar, &mut words, &mut scores);
            let found = (&mut words[..progress.found], &scores[..progress.found]);
            self.rank_found(place, lists, (order, turn), found);
        }
    }

    /// Offers postings of a list with what they score there, unless one of the lists before has the document. Most have no other term, which is told of all
    /// of them together.
    fn rank_found(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        (order, turn): (&[usize], usize),
        (words, scores): (&mut [u32], &[f32]),
    ) {
        let run = kernel::run_of(words);
        let shared = self.shared(lists, (order, turn), run);
        for (number, (word, score)) in run.iter().zip(scores).enumerate() {
            let rank = rank(word.load(Relaxed));
            if shared[number / 64] >> (number % 64) & 1 == 1 {
                self.rank_with_others(place, lists, &order[..turn], rank);
            } else if *score > self.collector.top.threshold() {
                self.offer_scored(place, rank, *score);
            }
        }
    }

    /// Which postings of a run, of a block at most, are of documents that another list has too.
    fn shared(
        &self,
        lists: &mut [List<'_>],
        (order, turn): (&[usize], usize),
        run: Run<'_>,
    ) -> [u64; BLOCK / 64] {
        let (mut shared, mut met) = ([0; BLOCK / 64], [0; BLOCK]);
        let Some(first) = run.first().map(|word| rank(word.load(Relaxed))) else { return shared };
        let (level, algorithm) = (self.settings.level, Algorithm::Simd);
        let others = order.iter().enumerate().filter(|(number, _)| *number != turn);
        for (_, other) in others {
            let list = &mut lists[*other];
            list.go_to(level, first);
            let count = list.probe(level, run, &mut met);
            let count = count.unwrap_or_else(|| list.meet(level, algorithm, run, &mut met));
            let mut ranks = run.iter().map(|word| rank(word.load(Relaxed))).enumerate();
            for met in &met[..count] {
                let same = ranks.find(|(_, own)| *own == rank(*met));
                same.into_iter().for_each(|(number, _)| shared[number / 64] |= 1 << (number % 64));
            }
        }
        shared
    }

    /// Offers a document unless one of the lists before has it.
    fn rank_with_others(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        before: &[usize],
        rank: u32,
    ) {
        let level = self.settings.level;
        if before.iter().any(|list| lists[*list].find(level, rank).is_some()) {
            return;
        }
        // In the order of the terms, so that a document's score does not depend on what else there is.
        let mut score = 0.0;
        for list in lists {
            if let Some(word) = list.look_up(level, rank) {
                score += list.score(word);
            }
        }
        if score > self.collector.top.threshold() {
            self.offer_scored(place, rank, score);
        }
    }
}
