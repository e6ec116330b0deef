//! The best documents of an OR, by MaxScore (Turtle and Flood, 1995) over windows, as Lucene does
//! it. In each window the lists whose upper bounds together do not beat the threshold are
//! *non-essential*. A document that only they contain is skipped.
//!
//! A term is *required* if all others together cannot beat the threshold. If at most
//! [`REQUIRED_LOOKED_UP_MAX`] documents of a window contain all required terms, only they are
//! looked up. Otherwise bits show [the candidates](super::candidates). At most [`CANDIDATES_MAX`]
//! candidates are looked up in all lists, one by one. With more, the essential lists are added up,
//! and non-essential lists are looked up for sums that they may lift above the threshold, or added
//! too where most sums are such. Sparse
//! lists are processed [term at a time](super::term_at_a_time).
//!
//! Of the terms of one clause only the best score may count. A sum of all bounds it from above.

use spirit_kernel as kernel;
use spirit_kernel::{Bar, Level};

use super::candidates::Candidates;
use super::lists::{Ahead, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::window::{Bits, RANKS, WORDS, aligned, ones};
use crate::evaluate::{OUT, Place};
use crate::leaf::END;
use crate::plan::{RANKED_INLINE, TermBits};
use crate::rank::{MORE, SLACK, TermSum};
use crate::tuning::{
    ADDED_A_LOOK_UP, CANDIDATES_MAX, DENSE_ROWS, POSTINGS_A_LOOK_UP, REQUIRED_LOOKED_UP_MAX,
    SIFTED_ONCE_MAX, UNSIFTED_MAX,
};

/// The lists of a segment, in the order of the query's terms.
struct Streams<'l> {
    lists: [List<'l>; RANKED_INLINE],
    len: usize,
    /// True if two of the lists are of one clause, of which the best counts.
    joined: bool,
    /// The lists' numbers, ascending by upper bound in the window.
    order: [usize; RANKED_INLINE],
    /// Each list's upper bound in the window.
    ahead: [Ahead; RANKED_INLINE],
    /// The required lists, a bit each.
    required: TermBits,
    /// The number of non-essential lists, which come first in `order`.
    others: usize,
    /// The upper bound of the non-essential lists together.
    others_bound: f32,
}

/// A window.
struct InWindow {
    /// Its ranks, from the first to one past the last.
    first: u32,
    end: u32,
    /// The documents that contain all required terms, and their number; `None` if no term is
    /// required.
    required: Option<(Bits, u64)>,
}

impl InWindow {
    /// Returns the documents with all required terms if at most [`REQUIRED_LOOKED_UP_MAX`]
    /// documents contain them.
    fn few(&self) -> Option<Bits> {
        self.required.filter(|(_, count)| *count <= REQUIRED_LOOKED_UP_MAX).map(|(bits, _)| bits)
    }

    /// Keeps the documents that contain all required terms.
    fn keep_required(&self, level: Level, bits: &mut [u64]) {
        if let Some((required, _)) = &self.required {
            kernel::and_window(level, bits, required);
        }
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents of an OR that may be among the best, in the registered segments of this
    /// part.
    pub(super) fn rank_by_max_score(&mut self, terms: &[u32]) {
        self.seed_threshold_of_or(terms);
        self.each_with_any(|this, place| this.rank_by_max_score_at(place, terms));
    }

    /// Visits the registered segments of this part in which any term has a list, and opens the
    /// lists.
    pub(super) fn each_with_any(&mut self, visit: impl Fn(&mut Self, &Place<'_>)) {
        let oldest = self.part.oldest;
        // Invariant: segments newer than the newest entry left are done. Terminates: `open_at`
        // consumes a segment's entries.
        while !self.done() {
            let Some(position) = self.newest_entry().filter(|p| *p >= oldest) else { return };
            let Some(segment) = self.snapshot.segment(position) else { return };
            self.open_at(&segment);
            if let Some(place) = self.promising(segment) {
                visit(self, &place);
            }
        }
    }

    /// Like [`rank_by_max_score`](Self::rank_by_max_score), in a segment whose lists are open.
    fn rank_by_max_score_at(&mut self, place: &Place<'_>, terms: &[u32]) {
        // Moved out while lists borrow from it.
        let words = std::mem::take(&mut self.scratch.words);
        let mut streams = Streams {
            lists: [List::NONE; RANKED_INLINE],
            len: 0,
            joined: false,
            order: [0; RANKED_INLINE],
            ahead: [Ahead::NOTHING; RANKED_INLINE],
            required: 0,
            others: 0,
            others_bound: 0.0,
        };
        for term in terms.iter().map(|term| *term as usize) {
            if self.scratch.leaves[term].postings > 0 {
                let list = self.list(place, term, &words);
                let before = &streams.lists[..streams.len];
                streams.joined |= before.last().is_some_and(|last| last.clause == list.clause);
                streams.lists[streams.len] = list;
                streams.len += 1;
            }
        }
        if streams.are_sparse(END - place.base) {
            self.rank_term_at_a_time(place, &mut streams.lists[..streams.len], &[]);
        } else {
            self.rank_streams(place, &mut streams);
        }
        self.scratch.words = words;
    }

    fn rank_streams(&mut self, place: &Place<'_>, streams: &mut Streams<'_>) {
        let level = self.settings.level;
        let mut scores = std::mem::take(&mut self.scratch.scores);
        // The highest threshold at which a window had too many candidates. A window is sifted only
        // above it.
        let mut too_low = 0.0;
        let mut start = place.first;
        loop {
            streams.lists[..streams.len].iter_mut().for_each(|list| list.go_to(level, start));
            let next = streams.lists[..streams.len].iter().map(List::rank).min();
            // Invariant: ranks below `start` are done. Terminates: `start` grows in each round. A
            // damaged list may lead back to a lower rank.
            let is_within = |rank: &u32| *rank < END && start < END;
            let Some(next) = next.filter(|rank| is_within(rank) && self.meter.step()) else {
                break;
            };
            let first = aligned(place.base, next.max(start));
            start = first.saturating_add(RANKS).min(END);
            streams.look_ahead(start - 1);
            let limit = self.limit();
            if !streams.divide(limit) {
                continue;
            }
            let required = streams.with_required(level, first, start);
            let window = InWindow { first, end: start, required };
            if limit > too_low || window.few().is_some() {
                if self.rank_few(place, streams, &window) {
                    continue;
                }
                too_low = limit;
            }
            self.rank_sum(place, streams, &window, &mut scores);
        }
        self.scratch.scores = scores;
    }

    /// Looks up a window's candidates one by one. Returns false if there are more than
    /// [`CANDIDATES_MAX`].
    fn rank_few(
        &mut self,
        place: &Place<'_>,
        streams: &mut Streams<'_>,
        window: &InWindow,
    ) -> bool {
        let level = self.settings.level;
        let candidates = window.few().unwrap_or_else(|| {
            let mut found = streams.candidates(level, self.limit(), window.first, window.end);
            window.keep_required(level, &mut found);
            found
        });
        if kernel::count_bits(level, &candidates) > CANDIDATES_MAX {
            return false;
        }
        // Candidates ascend, so lists only move forward. Terminates with the candidates.
        for bit in ones(&candidates) {
            let rank = window.first + bit as u32;
            let mut sum = TermSum::default();
            for list in &mut streams.lists[..streams.len] {
                if let Some(word) = list.find(level, rank) {
                    sum.add(list.clause, list.score(word));
                }
            }
            let score = sum.total();
            if score > self.collector.threshold() {
                self.offer_scored(place, rank, score);
            }
        }
        true
    }

    /// Adds up the lists of a window, and offers the documents whose sums may beat the threshold. Only
    /// essential lists are added, unless only the best of a clause counts: then sums are scores.
    fn rank_sum(
        &mut self,
        place: &Place<'_>,
        streams: &mut Streams<'_>,
        window: &InWindow,
        scores: &mut [f32],
    ) {
        let (level, first, end) = (self.settings.level, window.first, window.end);
        let mut bits = [0; WORDS];
        let words = ((end - first) as usize).div_ceil(64);
        let (bits, scores) = (&mut bits[..words], &mut scores[..words * 64]);
        scores.fill(0.0);
        if streams.joined {
            streams.add_clauses(level, window, bits, scores, &mut self.scratch.clause_scores);
        } else {
            streams.add_essential(level, window, bits, scores);
        }
        window.keep_required(level, bits);
        if !streams.joined {
            let rows = END - place.base;
            streams.add_others(level, window, rows, (self.limit() / MORE, bits), scores);
        }
        let others_bound = if streams.joined { 0.0 } else { streams.others_bound };
        let (mut out, mut from) = ([0; OUT], 0);
        // Invariant: all sums before `from` were compared with the threshold. Terminates: `above`
        // returns a greater `next`.
        while from < scores.len() {
            // A sum in another order may be lower by a rounding error. The error is relative to the
            // whole threshold, not to the difference below.
            let threshold = self.collector.threshold();
            let needed = threshold.min(threshold / MORE) - others_bound;
            let (found, next) = kernel::above(level, scores, bits, needed, from, &mut out);
            if !streams.joined {
                self.rank_candidates(place, streams, first, (&out[..found], scores));
            } else {
                for bit in &out[..found] {
                    let score = scores[*bit as usize];
                    if score > self.collector.threshold() {
                        self.offer_scored(place, first + bit, score);
                    }
                }
            }
            from = next;
        }
    }

    /// Offers the documents from rank `first` on, at most [`OUT`], whose essential lists sum up to
    /// `scores`, if the non-essential ones can lift them above the threshold. List by list those that
    /// are left are looked up.
    fn rank_candidates(
        &mut self,
        place: &Place<'_>,
        streams: &Streams<'_>,
        first: u32,
        (bits, scores): (&[u32], &[f32]),
    ) {
        let level = self.settings.level;
        let (mut left, mut words) = (Sums::of(first, bits, scores), [0; OUT]);
        // Invariant: `bound` is the sum of the upper bounds of the lists that were not looked up
        // yet.
        let mut bound = streams.others_bound;
        for number in streams.order[..streams.others].iter().rev() {
            left.keep_above(self.collector.threshold(), bound);
            if left.count == 0 {
                return;
            }
            bound -= streams.ahead[*number].bound;
            let list = &streams.lists[*number];
            let (ranks, sums) = left.parts();
            list.look_up_all(level, ranks, &mut words);
            for (sum, word) in sums.iter_mut().zip(&words).filter(|(_, word)| **word != 0) {
                *sum += list.score(*word);
            }
        }
        left.keep_above(self.collector.threshold(), 0.0);
        for rank in left.parts().0.iter() {
            self.rank_exactly(place, streams, *rank);
        }
    }

    /// Offers a document whose sum beats the threshold, unless a rounding error lifted it.
    fn rank_exactly(&mut self, place: &Place<'_>, streams: &Streams<'_>, rank: u32) {
        let level = self.settings.level;
        // Summed in the order of the terms, so a document has one score in all evaluators.
        let mut exact = 0.0;
        for list in &streams.lists[..streams.len] {
            if let Some(word) = list.look_up(level, rank) {
                exact += list.score(word);
            }
        }
        if exact > self.collector.threshold() {
            self.offer_scored(place, rank, exact);
        }
    }
}

/// Counts the sums above a number, of the documents whose bits are set.
fn count_above(level: Level, scores: &[f32], bits: &[u64], needed: f32) -> usize {
    let (mut out, mut from, mut count) = ([0; OUT], 0, 0);
    // Terminates: `above` returns a greater `next`.
    while from < scores.len() {
        let (found, next) = kernel::above(level, scores, bits, needed, from, &mut out);
        (from, count) = (next, count + found);
    }
    count
}

/// Documents of a window that may be among the best, and the sums of their scores so far.
struct Sums {
    ranks: [u32; OUT],
    sums: [f32; OUT],
    count: usize,
}

impl Sums {
    /// Returns the documents of some bits from the rank `first` on, which ascend.
    fn of(first: u32, bits: &[u32], scores: &[f32]) -> Sums {
        let mut all = Sums { ranks: [0; OUT], sums: [0.0; OUT], count: bits.len() };
        let to = all.ranks.iter_mut().zip(&mut all.sums);
        for ((rank, sum), bit) in to.zip(bits) {
            (*rank, *sum) = (first + bit, scores[*bit as usize]);
        }
        all
    }

    /// Drops those that cannot beat a threshold, since at most `bound` is added to their sums.
    fn keep_above(&mut self, threshold: f32, bound: f32) {
        let mut kept = 0;
        for number in 0..self.count {
            (self.ranks[kept], self.sums[kept]) = (self.ranks[number], self.sums[number]);
            kept += usize::from((self.sums[number] + bound) * MORE > threshold);
        }
        self.count = kept;
    }

    fn parts(&mut self) -> (&[u32], &mut [f32]) {
        (&self.ranks[..self.count], &mut self.sums[..self.count])
    }
}

impl Streams<'_> {
    /// True if at most one list has more than one posting in [`DENSE_ROWS`] rows, on average.
    /// Windows would be nearly empty.
    fn are_sparse(&self, rows: u32) -> bool {
        let is_dense = |list: &&List<'_>| list.len() as u32 > rows / DENSE_ROWS;
        self.lists[..self.len].iter().filter(is_dense).count() <= 1
    }

    /// Adds up the essential lists of a window, and sets the bits of their documents.
    fn add_essential(&self, level: Level, window: &InWindow, bits: &mut [u64], scores: &mut [f32]) {
        for number in &self.order[self.others..self.len] {
            let mut list = self.lists[*number];
            while let Some(run) = list.take_run(level, window.end) {
                kernel::set_bits(level, run, window.first, bits);
                kernel::add_scores(level, run, list.lengths, list.bm25, window.first, scores);
            }
        }
    }

    /// Adds the non-essential lists that have few postings for the documents that would be looked up
    /// in them: those of `bits` whose sums may beat the threshold. What is left is non-essential. The
    /// segment has this many rows.
    fn add_others(
        &mut self,
        level: Level,
        window: &InWindow,
        rows: u32,
        (threshold, bits): (f32, &[u64]),
        scores: &mut [f32],
    ) {
        if self.others == 0 {
            return;
        }
        let candidates = count_above(level, scores, bits, threshold - self.others_bound);
        let others = std::mem::take(&mut self.others);
        self.others_bound = 0.0;
        for at in 0..others {
            let number = self.order[at];
            let mut list = self.lists[number];
            // The share of the window, if the postings are spread evenly.
            let postings = list.len() as u64 * u64::from(RANKS) / u64::from(rows.max(RANKS));
            if postings > candidates as u64 * ADDED_A_LOOK_UP {
                self.order[self.others] = number;
                self.others += 1;
                self.others_bound += self.ahead[number].bound;
                continue;
            }
            while let Some(run) = list.take_run(level, window.end) {
                kernel::add_scores(level, run, list.lengths, list.bm25, window.first, scores);
            }
        }
    }

    /// Adds up the clauses of a window in their order, of each the best score, and sets the bits of
    /// their documents. `best` is scratch memory.
    fn add_clauses(
        &self,
        level: Level,
        window: &InWindow,
        bits: &mut [u64],
        scores: &mut [f32],
        best: &mut [f32],
    ) {
        let best = &mut best[..scores.len()];
        for lists in self.lists[..self.len].chunk_by(|a, b| a.clause == b.clause) {
            best.fill(0.0);
            for mut list in lists.iter().copied() {
                while let Some(run) = list.take_run(level, window.end) {
                    kernel::set_bits(level, run, window.first, bits);
                    kernel::max_scores(level, run, list.lengths, list.bm25, window.first, best);
                }
            }
            scores.iter_mut().zip(&*best).for_each(|(sum, best)| *sum += best);
        }
    }

    /// Computes each list's upper bound from its position up to a rank.
    fn look_ahead(&mut self, last: u32) {
        for (ahead, list) in self.ahead.iter_mut().zip(&self.lists[..self.len]) {
            *ahead = list.ahead(last);
        }
    }

    /// Returns the documents of a window that contain all required terms, and their number; `None`
    /// if no term is required.
    fn with_required(&self, level: Level, first: u32, end: u32) -> Option<(Bits, u64)> {
        if self.required == 0 {
            return None;
        }
        let (mut all, words) = ([u64::MAX; WORDS], ((end - first) as usize).div_ceil(64));
        let required = |number: &usize| self.required >> number & 1 == 1;
        for number in (0..self.len).filter(required) {
            let (mut list, mut own) = (self.lists[number], [0; WORDS]);
            if !list.set_bits(level, first, &mut own[..words]) {
                while let Some(run) = list.take_run(level, end) {
                    kernel::set_bits(level, run, first, &mut own[..words]);
                }
            }
            kernel::and_window(level, &mut all, &own);
        }
        Some((all, kernel::count_bits(level, &all)))
    }

    /// Returns the documents of a window that may score above a limit.
    fn candidates(&self, level: Level, limit: f32, first: u32, end: u32) -> Bits {
        let mut found = Candidates::new(level, limit, first, end);
        let (others, essential) = self.order[..self.len].split_at(self.others);
        let one_field = self.are_of_one_field();
        let not_seen = if one_field { others } else { &self.order[..self.len] };
        for own in essential {
            let beside = (!not_seen.is_empty()).then(|| self.bar_beside(*own, not_seen, limit));
            found.add(&self.lists[*own], self.bar_of(*own, limit), beside);
        }
        if one_field {
            let rest = self.bar_beside(essential[0], others, limit);
            found.add_several(&self.lists[0], self.weights(essential), rest);
        }
        if !others.is_empty() {
            if kernel::count_bits(level, &found.all()) <= UNSIFTED_MAX {
                return found.all();
            }
            // Most candidates contain only one term. If all non-essential lists have bitmaps, an
            // AND drops those.
            let others = others.iter().map(|list| &self.lists[*list]);
            if others.clone().all(List::is_dense) {
                found.keep_in(others);
                if kernel::count_bits(level, &found.all()) <= SIFTED_ONCE_MAX {
                    return found.all();
                }
            }
            // Give up once sifting has read more postings than looking up the candidates would
            // cost.
            let most = kernel::count_bits(level, &found.all()) as usize * POSTINGS_A_LOOK_UP;
            for other in &self.order[..self.others] {
                let bar = self.bar_of(*other, limit);
                if found.see(&self.lists[*other], bar, most).is_none() {
                    return found.all();
                }
            }
            if one_field {
                found.keep_several(&self.lists[0], self.weights(&self.order[..self.len]));
            }
        }
        found.keep_twice();
        found.all()
    }

    /// Returns the score that a posting needs in its own list, if the lists of all other clauses can
    /// add to it.
    fn bar_of(&self, own: usize, limit: f32) -> Bar {
        self.bar_beside(own, &self.order[..self.len], limit)
    }

    /// Like [`bar_of`](Self::bar_of), if only the lists of `others` can add to it.
    fn bar_beside(&self, own: usize, others: &[usize], limit: f32) -> Bar {
        // A document is found in the list that is the best of its clause there.
        let clause = self.lists[own].clause;
        let others = others.iter().filter(|other| self.lists[**other].clause != clause);
        bar(limit, &self.lists[own], others.map(|other| (&self.lists[*other], self.ahead[*other])))
    }

    /// True if all terms are of one field. Then one document length bounds the sum of several
    /// terms.
    fn are_of_one_field(&self) -> bool {
        let lists = &self.lists[..self.len];
        lists.iter().all(|list| list.field == lists[0].field)
    }

    /// Returns the highest sum of two weights, and the sum of all weights. Lists without postings
    /// in the window do not count.
    fn weights(&self, lists: &[usize]) -> [f32; 2] {
        let (mut highest, mut next, mut all) = (0.0_f32, 0.0_f32, 0.0);
        for list in lists.iter().filter(|list| self.ahead[**list].frequency > 0) {
            let weight = self.lists[*list].bm25.weight;
            all += weight;
            next = next.max(weight.min(highest));
            highest = highest.max(weight);
        }
        [highest + next, all]
    }

    /// Divides the lists into essential and non-essential ones. Returns false if all together
    /// cannot beat `limit`.
    fn divide(&mut self, limit: f32) -> bool {
        let order = &mut self.order[..self.len];
        order.iter_mut().enumerate().for_each(|(number, place)| *place = number);
        order.sort_unstable_by(|a, b| self.ahead[*a].bound.total_cmp(&self.ahead[*b].bound));
        let all = self.bound_of(TermBits::MAX);
        // Most lists are not required by far, and need no sum of their own.
        let may_be = |own: usize| all - self.ahead[own].bound - all * SLACK <= limit;
        let without = |own: usize| self.bound_of(!(1 << own));
        let is_required = |own: &usize| may_be(*own) && without(*own) * MORE <= limit;
        self.required = (0..self.len).filter(is_required).fold(0, |bits, list| bits | 1 << list);
        (self.others, self.others_bound) = (0, 0.0);
        let mut others = 0;
        for number in &self.order[..self.len] {
            others |= 1 << number;
            let bound = match self.joined {
                true => self.bound_of(others),
                false => self.others_bound + self.ahead[*number].bound,
            };
            if bound * MORE > limit {
                return true;
            }
            self.others += 1;
            self.others_bound = bound;
        }
        false
    }

    /// Returns the upper bound of some lists together, a bit each.
    fn bound_of(&self, lists: TermBits) -> f32 {
        let mut sum = TermSum::default();
        for number in (0..self.len).filter(|number| lists >> number & 1 == 1) {
            sum.add(self.lists[number].clause, self.ahead[number].bound);
        }
        sum.total()
    }
}
