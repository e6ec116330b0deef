//! The documents of a window that may be among the best, as bits.
//!
//! Most postings have a frequency of 1. Their scores depend only on the document's length, so a
//! threshold is a [greatest length](crate::rank::longest). The candidates are a list's bits ANDed
//! with the bits of documents that are short enough. Higher frequencies are rare in short texts.
//! Such postings are scored one by one, and compared with the bar.

use spirit_index::ground::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Bar, Bm25, Level};

use super::lists::{BLOCK, List};
use crate::evaluate::window::{Bits, WORDS, is_empty};
use crate::rank::inverses::ratio_for;
use crate::rank::{MORE, longest, longest_below};

/// Postings with a frequency of 2 or more that are scored at once, at most.
const TOGETHER: usize = 2 * BLOCK;
/// Postings above the bar that a kernel hands over at once, at most.
const ABOVE: usize = 32;

/// Documents of a window that may score above a limit, a bit each.
pub(super) struct Candidates {
    window: Ranks,
    limit: f32,
    /// Documents that may beat the limit by one term alone.
    alone: Bits,
    /// Documents that may beat the limit if they contain other terms too.
    together: Bits,
    /// Documents of `together` with a high frequency of a term.
    often: Bits,
    /// The documents that at least one, two and three of the lists seen contain.
    seen: [Bits; 3],
}

/// The ranks of a window, from `first` to one before `end`. `first` is a multiple of 64 ranks
/// behind the segment's newest row.
#[derive(Clone, Copy)]
struct Ranks {
    level: Level,
    first: u32,
    end: u32,
}

impl Candidates {
    /// Returns an empty set for the ranks from `first` to one before `end`.
    pub(super) fn new(level: Level, limit: f32, first: u32, end: u32) -> Candidates {
        let none = [0; WORDS];
        let window = Ranks { level, first, end };
        Candidates { window, limit, alone: none, together: none, often: none, seen: [none; 3] }
    }

    /// Adds the candidates of a list. Its postings may beat the limit alone. Postings of frequency
    /// 2 or more may be above `bar`, if any other list can add to them. Others may be above
    /// `beside`, if only lists not seen can add to them; `None`: there are no such lists.
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

    /// Adds documents that two or more of the lists seen contain and that are short enough to be
    /// above `bar`, with frequencies of 1. `two` is the highest sum of two weights. `all` is the
    /// sum of all weights, for documents in three lists or more.
    pub(super) fn add_several(&mut self, list: &List<'_>, [two, all]: [f32; 2], bar: Bar) {
        let Candidates { window, together, seen: [_, twice, thrice], .. } = self;
        for (weight, met) in [(two, &*twice), (all, &*thrice)] {
            if !is_empty(met) {
                let most = longest_below(Bm25 { weight, ..list.bm25 }, bar);
                window.add_short(list, most, met, together);
            }
        }
    }

    /// Notes a list's documents, and those of its postings that may be among the best because of
    /// their frequency. Returns the list's bits; `None`, with incomplete notes, if more than `most`
    /// postings have a frequency of 2 or more. In long texts nearly all postings of a frequent term
    /// do.
    pub(super) fn see(&mut self, list: &List<'_>, bar: Bar, most: usize) -> Option<Bits> {
        let Ranks { level, first, end } = self.window;
        let mut all = [0; WORDS];
        let own = &mut all[..self.window.words()];
        let is_known = list.set_bits(level, first, own);
        let needed = bar.threshold - bar.rest.map_or(0.0, |rest| rest.most);
        let ratio = ratio_for(list.bm25, needed);
        let (mut list, mut often, mut count, mut left) = (*list, [0; TOGETHER], 0, most);
        // Invariant: of the blocks before, `own` has the documents and `often` the frequent
        // postings not scored yet. Terminates: each round takes postings from the list.
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

    /// Scores each of some postings, and notes its document if it is above the bar.
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
                // In a damaged list a posting may be out of order.
                if let Some(word) = bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
            run = &run[held.left..];
        }
    }

    /// Keeps those candidates of `together` that two lists contain: two of those seen, or one of
    /// `others`, which are dense.
    pub(super) fn keep_in<'o, 'l: 'o>(&mut self, others: impl Iterator<Item = &'o List<'l>>) {
        let (Ranks { level, first, .. }, words) = (self.window, self.window.words());
        let mut twice = self.seen[1];
        others.for_each(|list| _ = list.set_bits(level, first, &mut twice[..words]));
        kernel::and_window(level, &mut self.together, &twice);
    }

    /// Keeps those candidates of `together` that two of the lists contain. All lists must have been
    /// seen. With frequencies of 1, a document must also be short enough. The weights are those of
    /// [`add_several`](Self::add_several).
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

    /// Keeps those candidates of `together` that two of the lists contain. All lists must have been
    /// seen.
    pub(super) fn keep_twice(&mut self) {
        kernel::and_window(self.window.level, &mut self.together, &self.seen[1]);
    }

    /// Returns all candidates.
    pub(super) fn all(&self) -> Bits {
        let mut all = self.alone;
        kernel::or_window(self.window.level, &mut all, &self.together);
        all
    }
}

impl Ranks {
    /// Returns the window's length in words.
    fn words(self) -> usize {
        ((self.end - self.first) as usize).div_ceil(64)
    }

    /// Adds those documents of `own` whose length in the list's field is at most `most`.
    fn add_short(self, list: &List<'_>, most: Option<u16>, own: &Bits, bits: &mut Bits) {
        // No document has a length of 0.
        let Some(most) = most.filter(|most| *most > 0) else { return };
        let mut short = [0; WORDS];
        let words = self.words();
        kernel::short_bits(self.level, list.lengths, self.first, most, &mut short[..words]);
        kernel::and_window(self.level, &mut short, own);
        kernel::or_window(self.level, bits, &short);
    }
}
