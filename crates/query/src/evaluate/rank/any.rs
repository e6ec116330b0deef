//! The best documents with any of several terms, by MaxScore (Turtle and Flood, 1995) over windows, as Lucene does it: in each window the terms
//! that cannot lift a document above what was found by themselves, all of them together, are *non-essential*.
//!
//! A term without which all others together are not enough is *required*: of a window in which few documents have all of these nothing else is
//! looked at. Of the others it is told by bits [which documents](super::candidates) may be among the best. Where
//! few are left each is looked up in all lists; where many are, the lists are added up, and non-essential ones are looked up for
//! those which they may lift. Lists so sparse that windows would have little in them go [in turn](super::lists_in_turn).

use spirit_kernel as kernel;
use spirit_kernel::{Bar, Level};

use super::candidates::Candidates;
use super::lists::{Ahead, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::window::{Bits, RANKS, WORDS, aligned, ones};
use crate::evaluate::{OUT, Place};
use crate::leaf::END;
use crate::plan::RANKED_INLINE;
use crate::rank::MORE;

/// So few documents with all required terms are looked up at once,
const LOOKED_UP: u64 = 48;
/// So few documents of a window are looked up one by one at once, whichever terms they have,
const VERY_FEW: u64 = 8;
/// so few if they have two of them,
const FEW: u64 = 32;
/// and so few if their scores would have to be added up otherwise.
const MANY: u64 = 128;
/// To look up a candidate takes as long as to look at so many postings.
const WORTH: usize = 16;
/// A list with a posting in so many rows or fewer is dense.
const DENSE: u32 = 32;

/// The lists of a segment, in the order of the query's terms.
struct Streams<'l> {
    lists: [List<'l>; RANKED_INLINE],
    len: usize,
    /// Those with the lowest bounds in the window first.
    order: [usize; RANKED_INLINE],
    /// What each can be in the window at best.
    ahead: [Ahead; RANKED_INLINE],
    /// Those without which all others together are not enough, a bit each.
    required: u32,
    /// How many of `order` are non-essential, and above what they add together.
    others: usize,
    others_bound: f32,
}

/// A window.
struct InWindow {
    /// Its ranks: from the first to one past the last.
    first: u32,
    end: u32,
    /// The documents with all terms that it takes, if it takes any, and how many these are.
    required: Option<(Bits, u64)>,
}

impl InWindow {
    /// Those documents, if they are so few that they are looked up, and no list is gone through.
    fn few(&self) -> Option<Bits> {
        self.required.filter(|(_, count)| *count <= LOOKED_UP).map(|(bits, _)| bits)
    }

    /// Keeps documents with all terms that it takes.
    fn keep_required(&self, level: Level, bits: &mut [u64]) {
        if let Some((required, _)) = &self.required {
            kernel::and_window(level, bits, required);
        }
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with any of some terms in the registered segments at hand.
    pub(super) fn rank_any(&mut self, terms: &[u32]) {
        let oldest = self.part.oldest;
        self.raise_floor_of_any(terms);
        while !self.done() {
            let Some(position) = self.newest_entry().filter(|p| *p >= oldest) else { return };
            let Some(segment) = self.snapshot.segment(position) else { return };
            self.open_at(&segment);
            let Some(place) = self.promising(segment) else { continue };
            // Lent, since what lists are read in is not to be seen to change; it is back before leaves are opened again.
            let words = std::mem::take(&mut self.scratch.words);
            let mut streams = Streams {
                lists: [List::NONE; RANKED_INLINE],
                len: 0,
                order: [0; RANKED_INLINE],
                ahead: [Ahead::NOTHING; RANKED_INLINE],
                required: 0,
                others: 0,
                others_bound: 0.0,
            };
            for term in terms.iter().map(|term| *term as usize) {
                if self.scratch.leaves[term].postings > 0 {
                    streams.lists[streams.len] = self.list(&place, term, &words);
                    streams.len += 1;
                }
            }
            if streams.are_sparse(END - place.base) {
                self.rank_one_by_one(&place, &mut streams.lists[..streams.len], &[]);
            } else {
                self.rank_streams(&place, &mut streams);
            }
            self.scratch.words = words;
        }
    }

    fn rank_streams(&mut self, place: &Place<'_>, streams: &mut Streams<'_>) {
        let level = self.settings.level;
        let mut scores = std::mem::take(&mut self.scratch.scores);
        // What a document had to score when too many of a window might have.
        let mut too_low = 0.0;
        let mut start = place.first;
        loop {
            streams.lists[..streams.len].iter_mut().for_each(|list| list.go_to(level, start));
            let next = streams.lists[..streams.len].iter().map(List::rank).min();
            // Ends, also where a list is damaged and leads back.
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

    /// A window in which few documents may be among the best; says whether that is so.
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
        if kernel::count_bits(level, &candidates) > MANY {
            return false;
        }
        for bit in ones(&candidates) {
            let rank = window.first + bit as u32;
            // In the order of the terms, so that a document's score does not depend on what else there is.
            let mut score = 0.0;
            for list in &mut streams.lists[..streams.len] {
                if let Some(word) = list.find(level, rank) {
                    score += list.score(word);
                }
            }
            if score > self.collector.top.threshold() {
                self.offer_scored(place, rank, score);
            }
        }
        true
    }

    /// A window in which many documents may be among the best: essential lists are added up.
    fn rank_sum(
        &mut self,
        place: &Place<'_>,
        streams: &Streams<'_>,
        window: &InWindow,
        scores: &mut [f32],
    ) {
        let (level, first, end) = (self.settings.level, window.first, window.end);
        let mut bits = [0; WORDS];
        let words = ((end - first) as usize).div_ceil(64);
        let (bits, scores) = (&mut bits[..words], &mut scores[..words * 64]);
        scores.fill(0.0);
        for list in &streams.order[streams.others..streams.len] {
            let mut list = streams.lists[*list];
            while let Some(run) = list.take_run(level, end) {
                kernel::set_bits(level, run, first, bits);
                kernel::add_scores(level, run, list.lengths, list.bm25, first, scores);
            }
        }
        window.keep_required(level, bits);
        let (mut out, mut from) = ([0; OUT], 0);
        while from < scores.len() {
            // What is added up in another order may come out a little lower, by a part of the whole: what is left of the
            // threshold may be as small as that.
            let threshold = self.collector.top.threshold();
            let needed = threshold.min(threshold / MORE) - streams.others_bound;
            let (found, next) = kernel::above(level, scores, bits, needed, from, &mut out);
            for bit in &out[..found] {
                let score = scores[*bit as usize];
                self.rank_candidate(place, streams, first + bit, score);
            }
            from = next;
        }
    }

    /// A document whose essential lists give it `score`.
    fn rank_candidate(&mut self, place: &Place<'_>, streams: &Streams<'_>, rank: u32, score: f32) {
        let level = self.settings.level;
        let (mut score, mut left) = (score, streams.others_bound);
        for other in (0..streams.others).rev() {
            if (score + left) * MORE <= self.collector.top.threshold() {
                return;
            }
            let number = streams.order[other];
            left -= streams.ahead[number].bound;
            if let Some(word) = streams.lists[number].look_up(level, rank) {
                score += streams.lists[number].score(word);
            }
        }
        if score * MORE <= self.collector.top.threshold() {
            return;
        }
        // In the order of the terms, so that a document's score does not depend on what else there is.
        let mut exact = 0.0;
        for list in &streams.lists[..streams.len] {
            if let Some(word) = list.look_up(level, rank) {
                exact += list.score(word);
            }
        }
        if exact > self.collector.top.threshold() {
            self.offer_scored(place, rank, exact);
        }
    }
}

impl Streams<'_> {
    /// Whether windows of so many rows would have little in them.
    fn are_sparse(&self, rows: u32) -> bool {
        let is_dense = |list: &&List<'_>| list.len() as u32 > rows / DENSE;
        self.lists[..self.len].iter().filter(is_dense).count() <= 1
    }

    /// Looks at what is between where each list is and a rank.
    fn look_ahead(&mut self, last: u32) {
        for (ahead, list) in self.ahead.iter_mut().zip(&self.lists[..self.len]) {
            *ahead = list.ahead(last);
        }
    }

    /// The documents of a window with all terms that it takes, if it takes any, and how many these are.
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

    /// The documents of a window that may score above a limit.
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
            if kernel::count_bits(level, &found.all()) <= VERY_FEW {
                return found.all();
            }
            // Most of these have one of the terms only.
            let others = others.iter().map(|list| &self.lists[*list]);
            if others.clone().all(List::is_dense) {
                found.keep_met(others);
                if kernel::count_bits(level, &found.all()) <= FEW {
                    return found.all();
                }
            }
            // What it takes to tell must not be more than what it spares.
            let most = kernel::count_bits(level, &found.all()) as usize * WORTH;
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

    /// What a posting of a list has to score by itself.
    fn bar_of(&self, own: usize, limit: f32) -> Bar {
        self.bar_beside(own, &self.order[..self.len], limit)
    }

    /// The same if only some of the other lists can add to it.
    fn bar_beside(&self, own: usize, others: &[usize], limit: f32) -> Bar {
        let others = others.iter().filter(|other| **other != own);
        bar(limit, &self.lists[own], others.map(|other| (&self.lists[*other], self.ahead[*other])))
    }

    /// Whether all terms are of the same field: where a document has several, they are worth their sum by one length.
    fn are_of_one_field(&self) -> bool {
        let lists = &self.lists[..self.len];
        lists.iter().all(|list| list.field == lists[0].field)
    }

    /// The sum of the weights of any two of some terms that have postings in the window at most, and that of all of them.
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

    /// Divides the lists into those that are essential to score more than `limit` and others; says whether that can be
    /// done at all.
    fn divide(&mut self, limit: f32) -> bool {
        let order = &mut self.order[..self.len];
        order.iter_mut().enumerate().for_each(|(number, place)| *place = number);
        order.sort_unstable_by(|a, b| self.ahead[*a].bound.total_cmp(&self.ahead[*b].bound));
        let bounds = &self.ahead[..self.len];
        let bound = |list: &usize| bounds[*list].bound;
        let without = |own: usize| {
            (0..bounds.len()).filter(|list| *list != own).map(|list| bound(&list)).sum::<f32>()
        };
        let is_required = |own: &usize| without(*own) * MORE <= limit;
        self.required = (0..self.len).filter(is_required).fold(0, |bits, list| bits | 1 << list);
        (self.others, self.others_bound) = (0, 0.0);
        for number in order.iter() {
            let sum = self.others_bound + self.ahead[*number].bound;
            if sum * MORE > limit {
                return true;
            }
            self.others += 1;
            self.others_bound = sum;
        }
        false
    }
}
