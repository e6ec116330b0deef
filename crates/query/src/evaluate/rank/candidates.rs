//! The documents of a window that may be among the best, as bits.
//!
//! Most postings say that a document has a term once. What that is worth depends on the document's length, so the documents that may be among the best are a
//! list's bits ANDed with those of the documents that are [as short as it takes](crate::rank::longest): by the term itself, or with others. Postings
//! that say more, few in short texts, are each held to what they score and what other terms can add.

use spirit_index::ground::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Bar, Bm25, Level};

use super::lists::{BLOCK, List};
use crate::evaluate::window::{Bits, WORDS, is_empty};
use crate::rank::inverses::ratio_for;
use crate::rank::{MORE, longest, longest_below};

/// This many postings that say a frequency of 2 or more are looked at together.
const TOGETHER: usize = 2 * BLOCK;
/// This many of those that are above the bar are taken together.
const ABOVE: usize = 32;

/// Documents of a window that may score above a limit, a bit each.
pub(super) struct Candidates {
    window: Ranks,
    limit: f32,
    /// Those that may by one of the terms,
    alone: Bits,
    /// those that may if they have others too,
    together: Bits,
    /// and of these the ones that have a term often.
    often: Bits,
    /// Those with one of the terms that were looked at or more, with two or more, and with three or more.
    seen: [Bits; 3],
}

/// The ranks of a window: from the first, a multiple of 64 from the segment's newest row, to one past the last.
#[derive(Clone, Copy)]
struct Ranks {
    level: Level,
    first: u32,
    end: u32,
}

impl Candidates {
    /// None yet of the ranks from `first` on and before `end`.
    pub(super) fn new(level: Level, limit: f32, first: u32, end: u32) -> Candidates {
        let none = [0; WORDS];
        let window = Ranks { level, first, end };
        Candidates { window, limit, alone: none, together: none, often: none, seen: [none; 3] }
    }

    /// Looks at a list, whose postings have to be above `bar` if any other list can add to them; and above `beside` where only lists can that
    /// nobody looks at, if there are such.
    pub(super) fn add(&mut self, list: &List<'_>, bar: Bar, beside: Option<Bar>) {
        let own = self.see(list, bar, usize::MAX).unwrap_or([0; WORDS]);
        let by_itself = longest(list.bm25, list.bm25.weight, self.limit / MORE);
        self.window.add_short(list, by_itself, &own, &mut self.alone);
        if let Some(beside) = beside {
            let most = longest_below(list.bm25, beside);
            self.window.add_short(list, most, &own, &mut self.together);
        }
        kernel::or_window(self.window.level, &mut self.together, &self.often);
    }

    /// Adds what has two of the terms that were looked at, or more, which have to be above a bar together; where it has each once, it is as short
    /// as two of them take, or three.
    pub(super) fn add_several(&mut self, list: &List<'_>, [two, all]: [f32; 2], bar: Bar) {
        let Candidates { window, together, seen: [_, twice, thrice], .. } = self;
        for (weight, met) in [(two, &*twice), (all, &*thrice)] {
            if !is_empty(met) {
                let most = longest_below(Bm25 { weight, ..list.bm25 }, bar);
                window.add_short(list, most, met, together);
            }
        }
    }

    /// Takes note of which documents a list has, and of those of its postings that may be among the best because of their frequency; returns the list's
    /// bits. None, and what was noted is not all, if more than `most` postings say 2 or more: of long texts nearly all of a frequent term do.
    pub(super) fn see(&mut self, list: &List<'_>, bar: Bar, most: usize) -> Option<Bits> {
        let Ranks { level, first, end } = self.window;
        let mut all = [0; WORDS];
        let own = &mut all[..self.window.words()];
        let is_known = list.set_bits(level, first, own);
        let needed = bar.threshold - bar.rest.map_or(0.0, |rest| rest.most);
        let ratio = ratio_for(list.bm25, needed);
        let (mut list, mut often, mut count, mut left) = (*list, [0; TOGETHER], 0, most);
        while let Some((block, run)) = list.take_block(level, end) {
            if !is_known {
                kernel::set_bits(level, run, first, own);
            }
            if let Some(least) = list.least_often(block, bar, ratio) {
                if TOGETHER - count < run.len() {
                    self.hold(&list, bar, &mut often[..count]);
                    count = 0;
                }
                let found = kernel::frequent(level, run, least, &mut often[count..]);
                (count, left) = (count + found, left.checked_sub(found)?);
            }
        }
        self.hold(&list, bar, &mut often[..count]);
        let [once, twice, thrice] = &mut self.seen;
        for (number, own) in own.iter().enumerate() {
            thrice[number] |= twice[number] & own;
            twice[number] |= once[number] & own;
            once[number] |= *own;
        }
        Some(all)
    }

    /// Holds each of some postings to what it scores.
    fn hold(&mut self, list: &List<'_>, bar: Bar, postings: &mut [u32]) {
        let (mut words, mut scores) = ([0; ABOVE], [0.0; ABOVE]);
        let mut run = kernel::run_of(postings);
        while !run.is_empty() {
            let (words, scores) = (&mut words, &mut scores);
            let List { lengths, bm25, .. } = *list;
            let held =
                kernel::score_above(self.window.level, run, lengths, bm25, bar, words, scores);
            for (word, score) in words[..held.found].iter().zip(&*scores) {
                let bits =
                    if score * MORE > self.limit { &mut self.alone } else { &mut self.often };
                let bit = rank(*word).wrapping_sub(self.window.first) as usize;
                // What is damaged may be out of order.
                if let Some(word) = bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
            run = &run[held.left..];
        }
    }

    /// Keeps, of those that may be among the best with others, what has two of the terms: of those seen, or one of other dense lists.
    pub(super) fn keep_in<'o, 'l: 'o>(&mut self, others: impl Iterator<Item = &'o List<'l>>) {
        let (Ranks { level, first, .. }, words) = (self.window, self.window.words());
        let mut twice = self.seen[1];
        others.for_each(|list| _ = list.set_bits(level, first, &mut twice[..words]));
        kernel::and_window(level, &mut self.together, &twice);
    }

    /// Keeps, of those that may be among the best with others, what has two of the terms seen: which are all there are. Where it
    /// has each once, it is as short as two of them take, or three.
    pub(super) fn keep_several(&mut self, list: &List<'_>, [two, all]: [f32; 2]) {
        let Candidates { window, together, often, seen: [_, twice, thrice], .. } = self;
        let needed = self.limit / MORE;
        kernel::and_window(window.level, often, twice);
        for (weight, met) in [(two, &*twice), (all, &*thrice)] {
            if !is_empty(met) {
                window.add_short(list, longest(list.bm25, weight, needed), met, often);
            }
        }
        kernel::and_window(window.level, together, often);
    }

    /// Keeps, of those that may be among the best with others, what has two of the terms seen: which are all there are.
    pub(super) fn keep_twice(&mut self) {
        kernel::and_window(self.window.level, &mut self.together, &self.seen[1]);
    }

    /// All of them.
    pub(super) fn all(&self) -> Bits {
        let mut all = self.alone;
        kernel::or_window(self.window.level, &mut all, &self.together);
        all
    }
}

impl Ranks {
    /// Words of the window.
    fn words(self) -> usize {
        ((self.end - self.first) as usize).div_ceil(64)
    }

    /// Adds the bits of those documents of `own` that are no longer than `most` in a list's field.
    fn add_short(self, list: &List<'_>, most: Option<u16>, own: &Bits, bits: &mut Bits) {
        // No document is so short that it has nothing.
        let Some(most) = most.filter(|most| *most > 0) else { return };
        let mut short = [0; WORDS];
        let words = self.words();
        kernel::short_bits(self.level, list.lengths, self.first, most, &mut short[..words]);
        kernel::and_window(self.level, &mut short, own);
        kernel::or_window(self.level, bits, &short);
    }
}
