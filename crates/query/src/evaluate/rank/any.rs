//! The best documents with any of several terms, by MaxScore (Turtle and Flood, 1995) over windows, as Lucene does it: in each
//! window the terms that cannot lift a document above what was found by themselves, all of them together, are *non-essential*.
//! The others are added up for all documents of the window; non-essential ones are looked up for those which they may lift.

use spirit_index::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Bm25, Lengths};

use super::lists::{Ahead, List, bar};
use super::{Evaluation, Ranked};
use crate::evaluate::window::{RANKS, WORDS};
use crate::evaluate::{OUT, Place, words_of};
use crate::leaf::END;
use crate::plan::RANKED_INLINE;
use crate::rank::MORE;

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
            let lengths = Self::lengths(&place);
            for term in terms {
                let leaf = &self.scratch.leaves[*term as usize];
                if leaf.postings > 0 {
                    let bm25 = self.bm25(*term as usize);
                    let words = words_of(&words, *term as usize);
                    streams.lists[streams.len] =
                        List::of(leaf, &place.context, words, bm25, lengths);
                    streams.len += 1;
                }
            }
            self.rank_streams(&place, &mut streams);
            self.scratch.words = words;
        }
    }

    fn rank_streams(&mut self, place: &Place<'_>, streams: &mut Streams<'_>) {
        let level = self.settings.level;
        let mut scores = std::mem::take(&mut self.scratch.scores);
        let mut start = place.first;
        loop {
            streams.lists[..streams.len].iter_mut().for_each(|list| list.go_to(level, start));
            let next = streams.lists[..streams.len].iter().map(List::rank).min();
            let Some(first) = next.filter(|rank| *rank < END && self.meter.step()) else { break };
            start = first.saturating_add(RANKS).min(END);
            streams.look_ahead(start - 1);
            if streams.divide(self.limit()) {
                if streams.len - streams.others == 1 {
                    self.rank_only(place, streams, start);
                } else {
                    self.rank_sum(place, streams, first, start, &mut scores);
                }
            }
        }
        self.scratch.scores = scores;
    }

    /// A window in which one list is essential: its postings are the candidates.
    fn rank_only(&mut self, place: &Place<'_>, streams: &Streams<'_>, end: u32) {
        let (level, lengths) = (self.settings.level, Self::lengths(place));
        let mut only = streams.lists[streams.order[streams.others]];
        let (mut words, mut scores) = ([0; OUT], [0.0; OUT]);
        while let Some(mut run) = only.take_run(level, end) {
            while !run.is_empty() {
                let bar = bar(self.limit(), streams.others());
                let (words, scores) = (&mut words, &mut scores);
                let progress =
                    kernel::score_above(level, run, lengths, only.bm25, bar, words, scores);
                for (word, score) in words[..progress.found].iter().zip(&*scores) {
                    self.rank_candidate(place, streams, lengths, rank(*word), *score);
                }
                run = &run[progress.left..];
            }
        }
    }

    /// A window in which several lists are essential: they are added up.
    fn rank_sum(
        &mut self,
        place: &Place<'_>,
        streams: &Streams<'_>,
        first: u32,
        end: u32,
        scores: &mut [f32],
    ) {
        let (level, lengths) = (self.settings.level, Self::lengths(place));
        let mut bits = [0; WORDS];
        let words = ((end - first) as usize).div_ceil(64);
        let (bits, scores) = (&mut bits[..words], &mut scores[..words * 64]);
        scores.fill(0.0);
        for list in &streams.order[streams.others..streams.len] {
            let mut list = streams.lists[*list];
            while let Some(run) = list.take_run(level, end) {
                kernel::set_bits(level, run, first, bits);
                kernel::add_scores(level, run, lengths, list.bm25, first, scores);
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
                self.rank_candidate(place, streams, lengths, first + bit, score);
            }
            from = next;
        }
    }

    /// A document whose essential lists give it `score`.
    fn rank_candidate(
        &mut self,
        place: &Place<'_>,
        streams: &Streams<'_>,
        lengths: Lengths<'_>,
        rank: u32,
        score: f32,
    ) {
        let level = self.settings.level;
        let (mut score, mut left) = (score, streams.others_bound);
        for other in (0..streams.others).rev() {
            if (score + left) * MORE <= self.collector.top.threshold() {
                return;
            }
            let number = streams.order[other];
            left -= streams.ahead[number].bound;
            if let Some(word) = streams.lists[number].look_up(level, rank) {
                score += streams.lists[number].bm25.score(word, lengths);
            }
        }
        if score * MORE <= self.collector.top.threshold() {
            return;
        }
        // In the order of the terms, so that a document's score does not depend on what else there is.
        let mut exact = 0.0;
        for list in &streams.lists[..streams.len] {
            if let Some(word) = list.look_up(level, rank) {
                exact += list.bm25.score(word, lengths);
            }
        }
        if exact > self.collector.top.threshold() {
            self.offer_scored(place, rank, exact);
        }
    }
}

impl Streams<'_> {
    /// Looks at what is between where each list is and a rank.
    fn look_ahead(&mut self, last: u32) {
        for (ahead, list) in self.ahead.iter_mut().zip(&self.lists[..self.len]) {
            *ahead = list.ahead(last);
        }
    }

    /// The non-essential lists, and what they can be in the window.
    fn others(&self) -> impl Iterator<Item = (Bm25, Ahead)> + '_ {
        self.order[..self.others].iter().map(|list| (self.lists[*list].bm25, self.ahead[*list]))
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
