//! The best documents with any of several terms, by MaxScore (Turtle and Flood, 1995) over windows, as Lucene does it: in each window the terms
//! that cannot lift a document above what was found by themselves, all of them together, are *non-essential*.
//!
//! Of the others each posting is held to what it scores by itself, and what other terms can add to a document of its length. Where
//! few are left each is looked up in all lists; where many are, the lists are added up, and non-essential ones are looked up for
//! those which they may lift. Lists so sparse that windows would have little in them go [in turn](super::lists_in_turn).

use spirit_index::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::Level;

use super::lists::{Ahead, BLOCK, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::window::{Bits, RANKS, WORDS, ones};
use crate::evaluate::{OUT, Place};
use crate::leaf::END;
use crate::plan::RANKED_INLINE;
use crate::rank::MORE;

/// Documents of a window, a bit each.
struct Candidates {
    /// Those that may be among the best by one of the terms,
    alone: Bits,
    /// and those that may if they have others too.
    together: Bits,
}

/// So few documents of a window are looked up one by one.
const FEW: u64 = 128;
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
    /// How many of `order` are non-essential, and above what they add together.
    others: usize,
    others_bound: f32,
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with any of some terms in the registered segments at hand.
    pub(super) fn rank_any(&mut self, terms: &[u32]) {
        let oldest = self.part.oldest;
        terms.iter().for_each(|term| self.raise_floor(*term as usize));
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
                self.rank_one_by_one(&place, &mut streams.lists[..streams.len]);
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
            let Some(first) = next.filter(|rank| *rank < END && self.meter.step()) else { break };
            start = first.saturating_add(RANKS).min(END);
            streams.look_ahead(start - 1);
            let limit = self.limit();
            if streams.divide(limit)
                && (limit <= too_low || !self.rank_few(place, streams, first, start))
            {
                too_low = limit;
                self.rank_sum(place, streams, first, start, &mut scores);
            }
        }
        self.scratch.scores = scores;
    }

    /// A window in which few documents may be among the best, told by their lengths and by how often they have a term; says whether
    /// that is so.
    fn rank_few(
        &mut self,
        place: &Place<'_>,
        streams: &mut Streams<'_>,
        first: u32,
        end: u32,
    ) -> bool {
        let level = self.settings.level;
        let mut candidates = self.window_candidates(streams, first, end);
        if kernel::count_bits(level, &candidates.together) > FEW {
            // Most of these have one of the terms only.
            kernel::and_window(level, &mut candidates.together, &streams.twice(level, first, end));
        }
        let Candidates { mut alone, together } = candidates;
        kernel::or_window(level, &mut alone, &together);
        if kernel::count_bits(level, &alone) > FEW {
            return false;
        }
        for bit in ones(&alone) {
            let rank = first + bit as u32;
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

    /// The documents of a window that may be among the best. Each list is asked for documents that none before was asked for: those
    /// with none of the terms before.
    fn window_candidates(&self, streams: &Streams<'_>, first: u32, end: u32) -> Candidates {
        let (level, limit) = (self.settings.level, self.limit());
        let mut found = Candidates { alone: [0; WORDS], together: [0; WORDS] };
        let (mut room, mut words, mut scores) = ([0; BLOCK], [0; OUT], [0.0; OUT]);
        for turn in (streams.others..streams.len).rev() {
            let mut list = streams.lists[streams.order[turn]];
            let bar = bar(limit, &list, streams.up_to(turn));
            while let Some(block) = list.take_block(level, end) {
                let mut run = list.sift(level, block, bar, &mut room);
                while !run.is_empty() {
                    let (words, scores) = (&mut words, &mut scores);
                    let List { lengths, bm25, .. } = list;
                    let progress =
                        kernel::score_above(level, run, lengths, bm25, bar, words, scores);
                    for (word, score) in words[..progress.found].iter().zip(&*scores) {
                        found.add(rank(*word).wrapping_sub(first), score * MORE > limit);
                    }
                    run = &run[progress.left..];
                }
            }
        }
        found
    }

    /// A window in which many documents may be among the best: essential lists are added up.
    fn rank_sum(
        &mut self,
        place: &Place<'_>,
        streams: &Streams<'_>,
        first: u32,
        end: u32,
        scores: &mut [f32],
    ) {
        let level = self.settings.level;
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

impl Candidates {
    /// The document of a bit, with what it scores by one term alone or only with others.
    #[inline]
    fn add(&mut self, bit: u32, alone: bool) {
        let bits = if alone { &mut self.alone } else { &mut self.together };
        // What is damaged may be out of order.
        if let Some(word) = bits.get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
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

    /// The documents of a window that have two of the terms or more.
    fn twice(&self, level: Level, first: u32, end: u32) -> Bits {
        let (mut once, mut twice): (Bits, Bits) = ([0; WORDS], [0; WORDS]);
        for list in &self.lists[..self.len] {
            let (mut list, mut own) = (*list, [0; WORDS]);
            while let Some(run) = list.take_run(level, end) {
                kernel::set_bits(level, run, first, &mut own);
            }
            for ((once, twice), own) in once.iter_mut().zip(&mut twice).zip(own) {
                *twice |= *once & own;
                *once |= own;
            }
        }
        twice
    }

    /// The lists that come before one in their order, and what they can be in the window.
    fn up_to(&self, turn: usize) -> impl Iterator<Item = (&List<'_>, Ahead)> + '_ {
        self.order[..turn].iter().map(|list| (&self.lists[*list], self.ahead[*list]))
    }

    /// Divides the lists into those that are essential to score more than `limit` and others; says whether that can be
    /// done at all.
    fn divide(&mut self, limit: f32) -> bool {
        let order = &mut self.order[..self.len];
        order.iter_mut().enumerate().for_each(|(number, place)| *place = number);
        order.sort_unstable_by(|a, b| self.ahead[*a].bound.total_cmp(&self.ahead[*b].bound));
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
