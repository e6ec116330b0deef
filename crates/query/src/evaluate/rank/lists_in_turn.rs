//! The best documents with any of several terms that are rare: list after list, the shortest first.
//!
//! What was found by one list need not be found again, so a document that comes up later has none of the terms before: of the last and
//! longest list only what is among the best by itself is looked at. Blocks and postings are passed over by what they and the
//! lists behind can add. The order is not that of age, so of two documents that score the same the newer may come later.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Level, Run};

use super::gate::Gate;
use super::lists::{Ahead, BLOCK, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::RANKED_INLINE;
use crate::rank::MORE;

/// Words of a block's bits.
const WORDS: usize = BLOCK / 64;

/// Nothing of any list.
const NONE: [[u64; WORDS]; RANKED_INLINE] = [[0; WORDS]; RANKED_INLINE];

/// A list that is gone through.
#[derive(Clone, Copy)]
struct Turn<'o> {
    /// The lists' numbers: what was gone through before comes first,
    order: &'o [usize],
    /// then the list itself.
    number: usize,
    /// The bits of lists: a document must be in one of each group.
    groups: &'o [u32],
}

impl<'o> Turn<'o> {
    /// The lists before, the list, and those behind.
    fn parts(self) -> (&'o [usize], usize, &'o [usize]) {
        let (before, later) = self.order.split_at(self.number);
        (before, later[0], &later[1..])
    }

    /// The groups that the list is not in.
    fn other_groups(self) -> impl Iterator<Item = u32> + 'o {
        let own = self.order[self.number];
        self.groups.iter().copied().filter(move |group| group >> own & 1 == 0)
    }

    /// Whether no document is left: all lists of a group were gone through, and this is the last.
    fn ends_a_group(self) -> bool {
        let done = self.order[..=self.number].iter().fold(0, |done, list| done | 1 << list);
        self.groups.iter().any(|group| group & !done == 0)
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with any of some terms, whose lists are in the order of the terms, and with
    /// one of each group, which are the lists' bits.
    pub(super) fn rank_one_by_one(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        groups: &[u32],
    ) {
        let mut order = [0; RANKED_INLINE];
        let order = &mut order[..lists.len()];
        order.iter_mut().enumerate().for_each(|(number, at)| *at = number);
        order.sort_unstable_by_key(|list| lists[*list].len());
        let had_newer = self.collector.top.set_has_newer(true);
        for number in 0..order.len() {
            lists.iter_mut().for_each(List::rewind);
            let turn = Turn { order, number, groups };
            self.rank_turn(place, lists, turn);
            if turn.ends_a_group() {
                break;
            }
        }
        self.collector.top.set_has_newer(had_newer);
    }

    /// The documents of one list that none before has, and all that are required.
    fn rank_turn(&mut self, place: &Place<'_>, lists: &mut [List<'_>], turn: Turn<'_>) {
        let level = self.settings.level;
        let (_, own, later) = turn.parts();
        let later_bound: f32 = later.iter().map(|list| lists[*list].bm25.weight).sum();
        if self.is_beaten((lists[own].bm25.weight + later_bound) * MORE) {
            return;
        }
        let needed = |this: &Self| this.limit() / MORE - later_bound;
        let mut gate = Gate::new(lists[own].bm25, needed(self));
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        for number in 0..lists[own].len().div_ceil(BLOCK) {
            if !lists[own].may_pass(number, &gate) {
                continue;
            }
            let mut bound = lists[own].block(number).bound;
            let mut ahead = [Ahead::NOTHING; RANKED_INLINE];
            let (first, last) = lists[own].block_ranks(number);
            lists[own].go_to(level, first);
            for list in later {
                lists[*list].go_to(level, first);
                ahead[*list] = lists[*list].ahead(last);
                bound += ahead[*list].bound;
            }
            let is_there = |list: &usize| ahead[*list].frequency > 0;
            let has =
                |group: u32| later.iter().any(|list| group >> list & 1 == 1 && is_there(list));
            let lacks = turn.other_groups().any(|group| !has(group));
            if lacks || self.is_beaten(bound * MORE) || !self.meter.step() {
                continue;
            }
            let ahead_of = later.iter().map(|list| (&lists[*list], ahead[*list]));
            let bar = bar(self.limit(), &lists[own], ahead_of);
            let (block, List { bm25, lengths, .. }) =
                ((number, lists[own].block_run(number)), lists[own]);
            let block = lists[own].sift(level, block, bar, &mut room);
            let progress =
                kernel::score_above(level, block, lengths, bm25, bar, &mut words, &mut scores);
            let found = (kernel::run_of(&mut words[..progress.found]), &scores[..]);
            let bounds = ahead.map(|ahead| ahead.bound);
            self.rank_found(place, lists, turn, found, &bounds);
            gate = gate.for_threshold(needed(self));
        }
    }

    /// Offers postings of a list with what they score there, unless one of the lists before has the document or one that is required has not. Most have no
    /// other term, which is told of all of them together. The lists behind add at most `bounds`.
    fn rank_found(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        turn: Turn<'_>,
        (run, scores): (Run<'_>, &[f32]),
        bounds: &[f32; RANKED_INLINE],
    ) {
        let Some(first) = run.first().map(|word| rank(word.load(Relaxed))) else { return };
        let (level, (before, own, later)) = (self.settings.level, turn.parts());
        // Documents that count, those with other terms, and those with each of them.
        let (mut left, mut any, mut shared) = ([u64::MAX; WORDS], [0; WORDS], NONE);
        for (number, other) in before.iter().chain(later).enumerate() {
            lists[*other].go_to(level, first);
            let bits = shared_with(level, &lists[*other], run);
            shared[*other] = bits;
            for ((left, any), bits) in left.iter_mut().zip(&mut any).zip(bits) {
                *any |= bits;
                *left &= if number < turn.number { !bits } else { u64::MAX };
            }
        }
        for group in turn.other_groups() {
            for (number, left) in left.iter_mut().enumerate() {
                let of_group = later.iter().filter(|list| group >> **list & 1 == 1);
                *left &= of_group.fold(0, |has, list| has | shared[*list][number]);
            }
        }
        for (number, (word, score)) in run.iter().zip(scores).enumerate() {
            let has = |bits: &[u64; WORDS]| bits[number / 64] >> (number % 64) & 1 == 1;
            let rank = rank(word.load(Relaxed));
            if !has(&left) {
                continue;
            }
            let mut sum = *score;
            if has(&any) {
                let others = later.iter().filter(|list| has(&shared[**list]));
                let most = others.fold(*score, |sum, list| sum + bounds[*list]);
                if self.is_beaten(most * MORE) {
                    continue;
                }
                sum = sum_of(level, lists, rank, (own, *score), |list| has(&shared[list]));
            }
            if sum > self.collector.top.threshold() {
                self.offer_scored(place, rank, sum);
            }
        }
    }
}

/// What a document scores, in the order of the terms, so that it does not depend on what else there is. It is known of one list and
/// looked up in those that have it.
fn sum_of(
    level: Level,
    lists: &[List<'_>],
    rank: u32,
    (known, score): (usize, f32),
    has: impl Fn(usize) -> bool,
) -> f32 {
    let mut sum = 0.0;
    for (number, list) in lists.iter().enumerate() {
        if number == known {
            sum += score;
        } else if has(number)
            && let Some(word) = list.look_up(level, rank)
        {
            sum += list.score(word);
        }
    }
    sum
}

/// Which postings of a run, of a block at most, are of documents that a list has from where it is on.
fn shared_with(level: Level, list: &List<'_>, run: Run<'_>) -> [u64; WORDS] {
    let mut met = [0; BLOCK];
    let count = list.probe(level, run, &mut met);
    let count = count.unwrap_or_else(|| list.meet(level, Algorithm::Simd, run, &mut met));
    let mut ranks = run.iter().map(|word| rank(word.load(Relaxed))).enumerate();
    let mut shared = [0; WORDS];
    for met in &met[..count] {
        if let Some((number, _)) = ranks.find(|(_, own)| *own == rank(*met)) {
            shared[number / 64] |= 1 << (number % 64);
        }
    }
    shared
}
