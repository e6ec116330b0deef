//! A term's list in a registered segment, gone through by rank with bounds of what is ahead.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::maxima::{BLOCK_POSTINGS, Maxima};
use spirit_index::posting::{FREQUENCY_MAX, frequency, rank};
use spirit_kernel as kernel;
use spirit_kernel::{Bar, Bm25, Lengths, Level, Rest, Run};

use crate::leaf::{Context, END, Leaf};
use crate::rank::{MORE, bound};

/// Postings of a block that has maxima.
pub(super) const BLOCK: usize = BLOCK_POSTINGS as usize;
/// Stands for every frequency that postings do not say.
const WITHOUT_END: f32 = 1e9;

/// A list, and where it is.
#[derive(Clone, Copy)]
pub(super) struct List<'l> {
    run: Run<'l>,
    maxima: &'l [AtomicU64],
    /// Of a list without maxima: what is ahead, all of it.
    whole: Ahead,
    pub(super) bm25: Bm25,
    at: usize,
}

/// What postings can be at best.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// Above what each adds to a score.
    pub(super) bound: f32,
    /// The highest frequency.
    pub(super) frequency: u32,
}

impl Ahead {
    pub(super) const NOTHING: Ahead = Ahead { bound: 0.0, frequency: 0 };

    fn or(self, other: Ahead) -> Ahead {
        Ahead { bound: self.bound.max(other.bound), frequency: self.frequency.max(other.frequency) }
    }
}

/// What a posting has to score by itself to be among the best, if lists of which this is ahead can add to it. `threshold` is the
/// score to beat.
pub(super) fn bar(threshold: f32, others: impl Iterator<Item = (Bm25, Ahead)>) -> Bar {
    let (mut weight, mut highest) = (0.0, 0);
    for (bm25, ahead) in others.filter(|(_, ahead)| ahead.frequency > 0) {
        weight += bm25.weight;
        highest = highest.max(ahead.frequency);
    }
    let frequency = if highest < FREQUENCY_MAX { highest as f32 } else { WITHOUT_END };
    let rest = (highest > 0).then_some(Rest { weight, frequency });
    Bar { threshold: threshold.min(threshold / MORE), rest }
}

impl<'l> List<'l> {
    /// No list.
    pub(super) const NONE: List<'static> =
        List { run: &[], maxima: &[], whole: Ahead::NOTHING, bm25: Bm25::NOTHING, at: 0 };

    /// The list that a leaf has open. A single posting is copied to `single`: it lies in memory that queries borrow.
    pub(super) fn of(
        leaf: &Leaf,
        context: &Context<'l>,
        single: &'l mut [u32; 1],
        bm25: Bm25,
        lengths: Lengths<'_>,
    ) -> List<'l> {
        let maxima = leaf.maxima(context).unwrap_or(&[]);
        let run = match leaf.list(context) {
            Some(list) => list,
            None => {
                single[0] = leaf.single(context).unwrap_or(0);
                kernel::run_of(single)
            }
        };
        let mut list = List { run, maxima, whole: Ahead::NOTHING, bm25, at: 0 };
        if maxima.is_empty() {
            list.look_at_all(context.level, lengths);
        }
        list
    }

    /// A list without maxima is short.
    fn look_at_all(&mut self, level: Level, lengths: Lengths<'_>) {
        let mut scores = [0.0; BLOCK];
        let count = kernel::score_run(level, self.run, lengths, self.bm25, &mut scores);
        for (word, score) in self.run.iter().zip(&scores[..count]) {
            let frequency = frequency(word.load(Relaxed));
            self.whole = self.whole.or(Ahead { bound: *score, frequency });
        }
    }

    /// The whole list.
    pub(super) fn run(&self) -> Run<'l> {
        self.run
    }

    /// Goes on to the first posting at or behind a rank.
    pub(super) fn go_to(&mut self, level: Level, rank: u32) {
        self.at = kernel::seek(level, self.run, self.at, rank);
    }

    /// The rank of the posting where it is; [`END`] behind the last.
    pub(super) fn rank(&self) -> u32 {
        self.run.get(self.at).map_or(END, |word| rank(word.load(Relaxed)))
    }

    /// The postings from where it is to before a rank.
    pub(super) fn up_to(&self, level: Level, end: u32) -> Run<'l> {
        &self.run[self.at..kernel::seek(level, self.run, self.at, end)]
    }

    /// The postings from where it is.
    pub(super) fn rest(&self) -> Run<'l> {
        &self.run[self.at..]
    }

    /// Goes on to a rank; the posting there, if there is one.
    pub(super) fn find(&mut self, level: Level, wanted: u32) -> Option<u32> {
        self.go_to(level, wanted);
        let word = self.run.get(self.at)?.load(Relaxed);
        (rank(word) == wanted).then_some(word)
    }

    /// The posting at a rank that is not before where it is.
    pub(super) fn look_up(&self, level: Level, wanted: u32) -> Option<u32> {
        let at = kernel::seek(level, self.run, self.at, wanted);
        let word = self.run.get(at)?.load(Relaxed);
        (rank(word) == wanted).then_some(word)
    }

    /// What the postings of a block can be at best.
    pub(super) fn block(&self, block: usize) -> Ahead {
        let Some(word) = self.maxima.get(block) else { return self.whole };
        let word = word.load(Relaxed);
        let frequency = u32::from(Maxima::from_word(word).frequency);
        Ahead { bound: bound(self.bm25, word), frequency }
    }

    /// What the postings from where it is up to a rank can be at best.
    pub(super) fn ahead(&self, last: u32) -> Ahead {
        let mut ahead = Ahead::NOTHING;
        let mut at = self.at;
        while self.run.get(at).is_some_and(|word| rank(word.load(Relaxed)) <= last) {
            let block = at / BLOCK;
            ahead = ahead.or(self.block(block));
            at = (block + 1) * BLOCK;
        }
        ahead
    }
}
