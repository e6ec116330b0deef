//! Documents that all of several lists may have, looked up together.
//!
//! List after list says what its postings of them score, and leaves those that it has and that may still be among the best.

use std::ops::Range;

use spirit_index::ground::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::Level;

use super::lists::{BLOCK, List};
use crate::plan::TERMS_INLINE;

/// So many documents are looked up together.
pub(super) const TOGETHER: usize = BLOCK;

/// Some documents, ascending by rank. It lies in scratch memory and is filled anew.
#[derive(Debug, Default)]
pub(in crate::evaluate) struct Met {
    count: usize,
    ranks: Box<[u32]>,
    /// What each list that was looked at adds to their scores, by the list's number,
    parts: Box<[[f32; TOGETHER]]>,
    /// which lists those are, a bit each,
    known: u32,
    /// and their sum.
    sums: Box<[f32]>,
    /// Their postings in the list that is looked at.
    words: Box<[u32]>,
}

impl Met {
    pub(in crate::evaluate) fn with_room() -> Met {
        Met {
            ranks: Box::new([0; TOGETHER]),
            parts: Box::new([[0.0; TOGETHER]; TERMS_INLINE]),
            sums: Box::new([0.0; TOGETHER]),
            words: Box::new([0; TOGETHER]),
            ..Met::default()
        }
    }

    /// The documents at some ranks, as many as there is room for, of which nothing is known. Says how many.
    pub(super) fn begin(&mut self, ranks: impl Iterator<Item = u32>) -> usize {
        (self.count, self.known) = (0, 0);
        // Room first: a rank that is taken where there is none is lost.
        for ((to, sum), rank) in self.ranks.iter_mut().zip(&mut self.sums).zip(ranks) {
            (*to, *sum) = (rank, 0.0);
            self.count += 1;
        }
        self.count
    }

    /// Those of some postings of a list, and what these score there.
    pub(super) fn begin_with(&mut self, list: usize, words: &[u32], scores: &[f32]) {
        self.begin(words.iter().map(|word| rank(*word)));
        self.parts[list][..self.count].copy_from_slice(&scores[..self.count]);
        self.sums[..self.count].copy_from_slice(&scores[..self.count]);
        self.known = 1 << list;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Looks them up in a list, which is not behind the first of them; keeps those that it has if `may_pass` says so of what they score by the
    /// lists so far.
    pub(super) fn keep_in(
        &mut self,
        level: Level,
        (number, list): (usize, &List<'_>),
        may_pass: impl Fn(f32) -> bool,
    ) {
        self.known |= 1 << number;
        let known = self.known;
        let words = &mut self.words[..self.count];
        list.look_up_all(level, &self.ranks[..self.count], words);
        let scores = &mut self.parts[number];
        kernel::score_run(level, kernel::run_of(words), list.lengths, list.bm25, scores);
        let mut kept = 0;
        for (at, word) in words.iter().enumerate() {
            let sum = self.sums[at] + self.parts[number][at];
            if *word == 0 || !may_pass(sum) {
                continue;
            }
            self.sums[kept] = sum;
            if kept < at {
                self.ranks[kept] = self.ranks[at];
                for part in
                    self.parts.iter_mut().zip(0..).filter(|(_, list)| known >> list & 1 == 1)
                {
                    part.0[kept] = part.0[at];
                }
            }
            kept += 1;
        }
        self.count = kept;
    }

    /// Where they are.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks[..self.count]
    }

    /// What lists add to the score of one of them, in their order, where some make a phrase: what that scores is added in their place.
    pub(super) fn score_with(
        &self,
        at: usize,
        lists: usize,
        phrase: Range<usize>,
        score: f32,
    ) -> f32 {
        let of = |parts: &[[f32; TOGETHER]], sum: f32| {
            parts.iter().fold(sum, |sum, part| sum + part[at])
        };
        of(&self.parts[phrase.end..lists], of(&self.parts[..phrase.start], 0.0) + score)
    }

    /// Each with its score: what the lists add, in their order, so that it does not depend on what else there is.
    pub(super) fn scored(&self, lists: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let score = move |at: usize| self.parts[..lists].iter().map(|part| part[at]).sum();
        self.ranks[..self.count].iter().enumerate().map(move |(at, rank)| (*rank, score(at)))
    }
}
