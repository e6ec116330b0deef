//! The best documents of an OR in a fresh segment, by MaxScore as in [registered
//! segments](super::max_score).
//!
//! Window by window, the documents and frequencies of the essential lists are tallied. In a window
//! with at most [`FRESH_LOOKED_UP_MAX`] such documents, these are looked up in the non-essential
//! lists. Otherwise those lists are read too. If no term alone can beat the threshold, a document
//! must contain two.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::FieldId;
use spirit_index::ground::{FREQUENCY_MAX, frequency, rank};
use spirit_kernel as kernel;

use super::fresh::{RowLengths, score_of};
use super::{Evaluation, Ranked};
use crate::evaluate::window::{Bits, RANKS, WORDS, ones};
use crate::evaluate::{Place, words_of};
use crate::leaf::END;
use crate::plan::RANKED_INLINE;
use crate::rank::{MORE, TermSum, score};
use crate::tuning::FRESH_LOOKED_UP_MAX;

/// The frequencies of several terms in the documents of a window.
#[derive(Default)]
pub(crate) struct Tally {
    /// For each term, the documents that contain it.
    bits: Box<[Bits]>,
    /// For each term, its frequency in each document.
    frequencies: Box<[u8]>,
}

impl Tally {
    /// Reserves room for the highest number of terms in a query.
    pub(in crate::evaluate) fn with_room() -> Tally {
        let bits = vec![[0; WORDS]; RANKED_INLINE].into_boxed_slice();
        let frequencies = vec![0; RANKED_INLINE * RANKS as usize].into_boxed_slice();
        Tally { bits, frequencies }
    }

    fn note(&mut self, number: usize, bit: usize, frequency: u32) {
        self.bits[number][bit / 64] |= 1 << (bit % 64);
        self.frequencies[number * RANKS as usize + bit] = frequency as u8;
    }

    /// Returns the frequency of a term in a document; `None` if the document does not contain it.
    fn frequency(&self, number: usize, bit: usize) -> Option<u32> {
        let has = self.bits[number][bit / 64] >> (bit % 64) & 1 == 1;
        has.then(|| u32::from(self.frequencies[number * RANKS as usize + bit]))
    }
}

/// Terms in the order of their weights, divided into non-essential and essential ones.
struct Split {
    /// The terms' numbers, ascending by weight.
    order: [usize; RANKED_INLINE],
    len: usize,
    /// The number of non-essential terms, which come first in `order`.
    others: usize,
}

impl Split {
    fn others(&self) -> &[usize] {
        &self.order[..self.others]
    }

    fn essential(&self) -> &[usize] {
        &self.order[self.others..self.len]
    }
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents of an OR that may be among the best, in a fresh segment whose lists are
    /// open.
    pub(super) fn rank_fresh_by_max_score(&mut self, place: &Place<'_>, terms: &[u32]) {
        let mut tally = std::mem::take(&mut self.scratch.tally);
        let mut start = place.first;
        // Invariant: ranks below `start` are done. Terminates: `start` grows by a window in each
        // round.
        loop {
            let split = self.split(terms);
            let essential = split.essential().iter().map(|number| terms[*number] as usize);
            let first = essential.map(|term| self.seek(place, term, start)).min().unwrap_or(END);
            if first >= END || !self.meter.step() {
                break;
            }
            let candidates = self.tally(place, terms, &split, first, &mut tally);
            self.offer_tallied(place, terms, first, &candidates, &tally);
            start = first.saturating_add(RANKS).min(END);
        }
        self.scratch.tally = tally;
    }

    fn split(&self, terms: &[u32]) -> Split {
        let mut split = Split { order: [0; RANKED_INLINE], len: terms.len(), others: 0 };
        let order = &mut split.order[..terms.len()];
        order.iter_mut().enumerate().for_each(|(number, place)| *place = number);
        let weight = |number: &usize| self.bm25(terms[*number] as usize).weight;
        order.sort_unstable_by(|a, b| weight(a).total_cmp(&weight(b)));
        let mut sum = 0.0;
        let is_other = |number: &&usize| {
            sum += weight(number);
            sum * MORE <= self.limit()
        };
        split.others = order.iter().take_while(is_other).count();
        split
    }

    /// Tallies a window as far as needed. Returns the documents that may be among the best.
    fn tally(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        split: &Split,
        first: u32,
        tally: &mut Tally,
    ) -> Bits {
        let (level, limit) = (self.settings.level, self.limit());
        let (mut once, mut twice, mut alone) = ([0; WORDS], [0; WORDS], [0; WORDS]);
        // Invariant: `once` and `twice` have the documents of at least one and of two of the lists
        // noted so far.
        for number in split.essential() {
            let term = terms[*number] as usize;
            self.note_all(place, (term, *number), first, tally);
            add_seen(&tally.bits[*number], &mut once, &mut twice);
            if self.bm25(term).weight * MORE > limit {
                kernel::or_window(level, &mut alone, &tally.bits[*number]);
            }
        }
        let essential = once;
        let are_few = kernel::count_bits(level, &essential) <= FRESH_LOOKED_UP_MAX;
        for number in split.others().iter().rev() {
            let term = terms[*number] as usize;
            if are_few {
                self.note_each(place, (term, *number), first, &essential, tally);
            } else {
                self.seek(place, term, first);
                self.note_all(place, (term, *number), first, tally);
            }
            add_seen(&tally.bits[*number], &mut once, &mut twice);
        }
        kernel::and_window(level, &mut twice, &essential);
        kernel::or_window(level, &mut alone, &twice);
        alone
    }

    /// Tallies a term's whole list in a window.
    fn note_all(
        &mut self,
        place: &Place<'_>,
        (term, number): (usize, usize),
        first: u32,
        tally: &mut Tally,
    ) {
        tally.bits[number] = [0; WORDS];
        // Terminates: each round takes all postings of a run, until one is past the window or the
        // list ends.
        loop {
            let words = words_of(&self.scratch.words, term);
            let leaf = &mut self.scratch.leaves[term];
            let mut count = 0;
            for word in leaf.run(&place.context, words).iter().map(|word| word.load(Relaxed)) {
                let bit = rank(word).wrapping_sub(first) as usize;
                if bit >= RANKS as usize {
                    return leaf.advance(count);
                }
                count += 1;
                tally.note(number, bit, frequency(word));
            }
            leaf.advance(count);
            if !leaf.refill_from(&place.context, words, first) {
                return;
            }
        }
    }

    /// Tallies a term's list for some documents of a window.
    fn note_each(
        &mut self,
        place: &Place<'_>,
        (term, number): (usize, usize),
        first: u32,
        documents: &Bits,
        tally: &mut Tally,
    ) {
        tally.bits[number] = [0; WORDS];
        for bit in ones(documents) {
            let wanted = first + bit as u32;
            if self.seek(place, term, wanted) == wanted {
                let words = words_of(&self.scratch.words, term);
                let run = self.scratch.leaves[term].run(&place.context, words);
                tally.note(number, bit, frequency(run[0].load(Relaxed)));
            }
        }
    }

    fn offer_tallied(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        first: u32,
        candidates: &Bits,
        tally: &Tally,
    ) {
        let mut lengths = RowLengths::of(place, FieldId::TEXT);
        for bit in ones(candidates) {
            let rank = first + bit as u32;
            // A document is at least as long as its terms are frequent. This bound rules out most
            // candidates without reading the length, which would be a cache miss.
            let most = |(number, term): (usize, &u32)| {
                let bm25 = self.bm25(*term as usize);
                match tally.frequency(number, bit) {
                    None => 0.0,
                    Some(FREQUENCY_MAX) => bm25.weight,
                    Some(frequency) => score(bm25, frequency as f32, frequency),
                }
            };
            let most: f32 = terms.iter().enumerate().map(most).sum();
            if most * MORE <= self.collector.threshold() {
                continue;
            }
            let mut sum = TermSum::default();
            for (number, term) in terms.iter().enumerate() {
                let Some(frequency) = tally.frequency(number, bit) else { continue };
                let (bm25, field) = (self.bm25(*term as usize), self.field(*term as usize));
                lengths.turn_to(place, field);
                let score = score_of(place, bm25, (rank, frequency), lengths.length(rank));
                sum.add(self.collector.plan.clause_of(*term), score);
            }
            let score = sum.total();
            if score > self.collector.threshold() {
                self.offer_listed(place, rank, score);
            }
        }
    }
}

/// Adds a list's documents to `twice` if they are in `once`, and to `once`.
fn add_seen(own: &Bits, once: &mut Bits, twice: &mut Bits) {
    for ((own, once), twice) in own.iter().zip(once).zip(twice) {
        *twice |= *once & own;
        *once |= own;
    }
}
