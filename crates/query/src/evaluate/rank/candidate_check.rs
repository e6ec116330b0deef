//! Candidates of an AND, looked up together, list after list. After each list, those remain that it
//! contains and whose upper bound still beats the threshold.

use std::ops::Range;

use spirit_index::ground::rank;
use spirit_kernel as kernel;
use spirit_kernel::Level;

use super::lists::List;
use crate::plan::TERMS_INLINE;
use crate::tuning::CHECKED_TOGETHER;

/// Candidates, ascending by rank. They lie in scratch memory and are filled in for each block or
/// window.
#[derive(Debug, Default)]
pub(in crate::evaluate) struct CandidateCheck {
    count: usize,
    ranks: Box<[u32]>,
    /// For each list, by its number, its part of the candidates' scores.
    parts: Box<[[f32; CHECKED_TOGETHER]]>,
    /// The lists in which the candidates were looked up, a bit each.
    known: u32,
    /// For each candidate, the sum of the parts of these lists.
    sums: Box<[f32]>,
    /// The candidates' postings in the current list.
    words: Box<[u32]>,
}

impl CandidateCheck {
    pub(in crate::evaluate) fn with_room() -> CandidateCheck {
        CandidateCheck {
            ranks: Box::new([0; CHECKED_TOGETHER]),
            parts: Box::new([[0.0; CHECKED_TOGETHER]; TERMS_INLINE]),
            sums: Box::new([0.0; CHECKED_TOGETHER]),
            words: Box::new([0; CHECKED_TOGETHER]),
            ..CandidateCheck::default()
        }
    }

    /// Begins with documents that were looked up in no list. Takes as many as there is room for,
    /// and returns their number.
    pub(super) fn begin(&mut self, ranks: impl Iterator<Item = u32>) -> usize {
        (self.count, self.known) = (0, 0);
        // The room comes first in `zip`: otherwise the iterator would lose a rank when the room
        // ends.
        for ((to, sum), rank) in self.ranks.iter_mut().zip(&mut self.sums).zip(ranks) {
            (*to, *sum) = (rank, 0.0);
            self.count += 1;
        }
        self.count
    }

    /// Begins with the documents of some postings of a list, and their scores there.
    pub(super) fn begin_with(&mut self, list: usize, words: &[u32], scores: &[f32]) {
        self.begin(words.iter().map(|word| rank(*word)));
        self.parts[list][..self.count].copy_from_slice(&scores[..self.count]);
        self.sums[..self.count].copy_from_slice(&scores[..self.count]);
        self.known = 1 << list;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Looks the candidates up in a list that is not past the first of them. Keeps those that it
    /// contains and whose sum `may_pass`.
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
        // Invariant: the first `kept` candidates are those kept of the first `at`. Unread ones are
        // not overwritten.
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

    /// Returns the candidates' ranks.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks[..self.count]
    }

    /// Returns the score of a candidate, summed in the order of the lists. `score` replaces the
    /// parts of the lists of `phrase`.
    pub(super) fn score_with(
        &self,
        at: usize,
        lists: usize,
        phrase: Range<usize>,
        score: f32,
    ) -> f32 {
        let of = |parts: &[[f32; CHECKED_TOGETHER]], sum: f32| {
            parts.iter().fold(sum, |sum, part| sum + part[at])
        };
        of(&self.parts[phrase.end..lists], of(&self.parts[..phrase.start], 0.0) + score)
    }

    /// Returns each candidate with its score, summed in the order of the lists, so a document has
    /// one score in all evaluators.
    pub(super) fn scored(&self, lists: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let score = move |at: usize| self.parts[..lists].iter().map(|part| part[at]).sum();
        self.ranks[..self.count].iter().enumerate().map(move |(at, rank)| (*rank, score(at)))
    }
}
