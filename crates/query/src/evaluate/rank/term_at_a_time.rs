//! The best documents of an OR of rare terms, term at a time: list after list, the shortest first.
//!
//! Documents that an earlier list contains are skipped: they were scored then. So in the last and
//! longest list only postings that beat the threshold alone matter. Blocks and postings are skipped
//! by the upper bounds of their list and of the lists after it. Documents do not come in the order
//! of their age. So of two documents with one score the newer may come later.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Level, Run};

use super::block_filter::BlockFilter;
use super::lists::{Ahead, BLOCK, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::Place;
use crate::plan::{RANKED_INLINE, TermBits};
use crate::rank::{MORE, TermSum};

/// Words of a block's bits.
const WORDS: usize = BLOCK / 64;

/// No bits of any list.
const NONE: [[u64; WORDS]; RANKED_INLINE] = [[0; WORDS]; RANKED_INLINE];

/// The turn of one list.
#[derive(Clone, Copy)]
struct Turn<'o> {
    /// The lists' numbers. Lists that were processed before come first.
    order: &'o [usize],
    /// The index of the list in `order`.
    number: usize,
    /// For each group, a bit for each of its lists. A document must be in one list of each group.
    groups: &'o [TermBits],
}

impl<'o> Turn<'o> {
    /// Returns the lists before it, the list, and those after it.
    fn parts(self) -> (&'o [usize], usize, &'o [usize]) {
        let (before, later) = self.order.split_at(self.number);
        (before, later[0], &later[1..])
    }

    /// Returns the groups that the list does not belong to.
    fn other_groups(self) -> impl Iterator<Item = TermBits> + 'o {
        let own = self.order[self.number];
        self.groups.iter().copied().filter(move |group| group >> own & 1 == 0)
    }

    /// True if no document remains, because this is the last list of a group.
    fn ends_a_group(self) -> bool {
        let done = self.order[..=self.number].iter().fold(0, |done, list| done | 1 << list);
        self.groups.iter().any(|group| group & !done == 0)
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents of an OR that may be among the best and are in one list of each group.
    /// `lists` are in the order of the terms.
    pub(super) fn rank_term_at_a_time(
        &mut self,
        place: &Place<'_>,
        lists: &mut [List<'_>],
        groups: &[TermBits],
    ) {
        let mut order = [0; RANKED_INLINE];
        let order = &mut order[..lists.len()];
        order.iter_mut().enumerate().for_each(|(number, at)| *at = number);
        order.sort_unstable_by_key(|list| lists[*list].len());
        let had_newer = self.collector.top.set_has_newer(true);
        // Invariant: each document of the lists before was offered, or cannot beat the threshold.
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

    /// Offers the documents of one list that no list before contains and that are in one list of
    /// each group.
    fn rank_turn(&mut self, place: &Place<'_>, lists: &mut [List<'_>], turn: Turn<'_>) {
        let level = self.settings.level;
        let (_, own, later) = turn.parts();
        let later_bound: f32 = later.iter().map(|list| lists[*list].bm25.weight).sum();
        if self.is_beaten((lists[own].bm25.weight + later_bound) * MORE) {
            return;
        }
        let needed = |this: &Self| this.limit() / MORE - later_bound;
        let mut filter = BlockFilter::new(lists[own].bm25, needed(self));
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; BLOCK], [0.0; BLOCK]);
        // Invariant: each document of the blocks before was offered, or cannot beat the threshold.
        // Later lists only move forward.
        for number in 0..lists[own].len().div_ceil(BLOCK) {
            if !lists[own].may_pass(number, &filter) {
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
                |group: TermBits| later.iter().any(|list| group >> list & 1 == 1 && is_there(list));
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
            filter = filter.for_threshold(needed(self));
        }
    }

    /// Offers scored postings, skipping documents that an earlier list contains or that miss a
    /// required term. Most contain no other term; one bitmap test shows which. Later lists add at
    /// most `bounds`.
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
        // `left` has the documents that remain, `any` those with another term, `shared` those with
        // each other term.
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
            if sum > self.collector.threshold() {
                self.offer_scored(place, rank, sum);
            }
        }
    }
}

/// Returns the score of a document, summed in the order of the terms. One list's part is known. The
/// other lists that contain the document are looked up.
fn sum_of(
    level: Level,
    lists: &[List<'_>],
    rank: u32,
    (known, score): (usize, f32),
    has: impl Fn(usize) -> bool,
) -> f32 {
    let mut sum = TermSum::default();
    for (number, list) in lists.iter().enumerate() {
        if number == known {
            sum.add(list.clause, score);
        } else if has(number)
            && let Some(word) = list.look_up(level, rank)
        {
            sum.add(list.clause, list.score(word));
        }
    }
    sum.total()
}

/// Returns a bit for each posting of a run, of at most one block. It is set if `list` contains the
/// document from its current posting on.
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
