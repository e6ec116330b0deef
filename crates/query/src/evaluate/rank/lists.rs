//! A term's list in a registered segment, read in the order of ranks, with upper bounds of the
//! postings ahead.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::ground::FieldId;
use spirit_index::ground::{FREQUENCY_MAX, frequency, rank};
use spirit_index::lists::{BLOCK_POSTINGS, Maxima, Pair};
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Bar, Bm25, Lengths, Level, Rest, Run};

use super::block_filter::BlockFilter;
use crate::leaf::{Context, END, Leaf};
use crate::packed::Blocks;
use crate::rank::inverses::{Best, Inverse, OF_ANY};
use crate::rank::{MORE, bound, least_frequency};
use crate::tuning::{COUNTED_WORDS_MAX, EXACT_FREQUENCY_MAX};

/// Postings of a block, which has one word of maxima.
pub(super) const BLOCK: usize = BLOCK_POSTINGS as usize;
/// The lowest frequency that is rare in short texts.
const OFTEN: u32 = 2;
/// A stand-in for a saturated frequency, which may have any value.
const WITHOUT_END: f32 = 1e9;

/// A list and a position in it.
#[derive(Clone, Copy)]
pub(super) struct List<'l> {
    source: Source<'l>,
    maxima: &'l [AtomicU64],
    /// For a dense list, the bits of its ranks from the segment's newest row on.
    bits: Option<&'l [AtomicU64]>,
    base: u32,
    /// The upper bounds of the whole list, if it has no maxima.
    whole: Ahead,
    pub(super) bm25: Bm25,
    /// The table for its blocks' upper bounds.
    inverse: &'l Inverse,
    /// The field of its term.
    pub(super) field: FieldId,
    /// The field's length in each document.
    pub(super) lengths: Lengths<'l>,
    /// The first term of the clause that its term belongs to.
    pub(super) clause: u32,
    at: usize,
}

/// The form of a list.
#[derive(Clone, Copy)]
enum Source<'l> {
    /// Postings in one piece.
    Run(Run<'l>),
    /// Packed postings, which are unpacked a block at a time.
    Blocks(Blocks<'l>),
}

/// The upper bounds of some postings.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// An upper bound on the score of each.
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

/// Returns the bar for the postings of `own`: the score that one needs there to be among the best.
/// `others` can add up to their upper bounds. `threshold` is the score to beat. The upper bound of
/// a list in another field is subtracted from it, since that field's length differs.
pub(super) fn bar<'o, 'l: 'o>(
    threshold: f32,
    own: &List<'_>,
    others: impl Iterator<Item = (&'o List<'l>, Ahead)>,
) -> Bar {
    let (mut weight, mut most, mut highest, mut apart) = (0.0, 0.0, 0, 0.0);
    for (list, ahead) in others.filter(|(_, ahead)| ahead.frequency > 0) {
        if list.field == own.field {
            weight += list.bm25.weight;
            most += ahead.bound;
            highest = highest.max(ahead.frequency);
        } else {
            apart += ahead.bound;
        }
    }
    let frequency = if highest < FREQUENCY_MAX { highest as f32 } else { WITHOUT_END };
    let rest = (highest > 0).then_some(Rest { weight, frequency, most });
    Bar { threshold: threshold.min(threshold / MORE) - apart, rest }
}

/// Counts the bits from bit `first` of the first word to the one before bit `behind` of the last
/// word.
fn count_between(words: &[AtomicU64], first: u32, behind: u32) -> usize {
    let ones = |word: &AtomicU64| word.load(Relaxed).count_ones() as usize;
    let below =
        |word: &AtomicU64, bit: u32| (word.load(Relaxed) & ((1 << bit) - 1)).count_ones() as usize;
    let Some((last, whole)) = words.split_last() else { return 0 };
    let all = whole.iter().map(ones).sum::<usize>() + below(last, behind);
    all.saturating_sub(below(&words[0], first))
}

impl<'l> List<'l> {
    /// An empty list.
    pub(super) const NONE: List<'static> = List {
        source: Source::Run(&[]),
        maxima: &[],
        bits: None,
        base: 0,
        whole: Ahead::NOTHING,
        bm25: Bm25::NOTHING,
        inverse: &OF_ANY,
        field: FieldId::TEXT,
        lengths: Lengths::NONE,
        clause: 0,
        at: 0,
    };

    /// Returns the list that a leaf has open. A single posting is copied to `words`, the leaf's
    /// scratch memory, because its own memory is borrowed by queries. Blocks are unpacked there
    /// too.
    pub(super) fn of(
        leaf: &Leaf,
        context: &Context<'l>,
        words: &'l [AtomicU32],
        (bm25, inverse): (Bm25, &'l Inverse),
        field: FieldId,
        (lengths, base): (Lengths<'l>, u32),
    ) -> List<'l> {
        let (region, level) = (context.lists.region, context.level);
        let (source, maxima) = match (leaf.packed(), leaf.list(context)) {
            (Some(list), _) => {
                (Source::Blocks(Blocks::begin(list, region, level, words)), list.maxima(region))
            }
            (None, Some(list)) => (Source::Run(list), leaf.maxima(context).unwrap_or(&[])),
            (None, None) => {
                words[0].store(leaf.single(context).unwrap_or(0), Relaxed);
                (Source::Run(&words[..1]), &[][..])
            }
        };
        let (whole, bits) = (Ahead::NOTHING, leaf.bits.map(|bits| region.view(bits)));
        let (clause, at) = (bm25.term, 0);
        let mut list =
            List { source, maxima, bits, base, whole, bm25, inverse, field, lengths, clause, at };
        if maxima.is_empty() {
            list.look_at_all(level);
        }
        list
    }

    /// Computes the upper bounds of a list without maxima. It fits in one block.
    fn look_at_all(&mut self, level: Level) {
        let mut scores = [0.0; BLOCK];
        let run = self.block_run(0);
        let count = kernel::score_run(level, run, self.lengths, self.bm25, &mut scores);
        for (word, score) in run.iter().zip(&scores[..count]) {
            let frequency = frequency(word.load(Relaxed));
            self.whole = self.whole.or(Ahead { bound: *score, frequency });
        }
    }

    /// Returns the score of one of its postings.
    pub(super) fn score(&self, word: u32) -> f32 {
        self.bm25.score(word, self.lengths)
    }

    /// Returns the number of its postings.
    pub(super) fn len(&self) -> usize {
        match &self.source {
            Source::Run(run) => run.len(),
            Source::Blocks(blocks) => blocks.list.postings() as usize,
        }
    }

    /// Returns the postings of a block.
    pub(super) fn block_run(&self, block: usize) -> Run<'l> {
        match &self.source {
            Source::Run(run) => run.chunks(BLOCK).nth(block).unwrap_or(&[]),
            Source::Blocks(blocks) => blocks.block(block),
        }
    }

    /// Returns a lower and an upper bound on the ranks of a block.
    pub(super) fn block_ranks(&self, block: usize) -> (u32, u32) {
        let run = match &self.source {
            Source::Blocks(blocks) if let Some(last) = blocks.last_rank(block) => {
                return (blocks.first_rank(block), last);
            }
            _ => self.block_run(block),
        };
        let rank_at = |word: Option<&AtomicU32>| word.map_or(END, |word| rank(word.load(Relaxed)));
        (rank_at(run.first()), rank_at(run.last()))
    }

    /// Returns the posting at an index.
    fn word(&self, at: usize) -> Option<u32> {
        let word = match &self.source {
            Source::Run(run) => run.get(at)?,
            Source::Blocks(_) if at >= self.len() => return None,
            Source::Blocks(blocks) => blocks.block(at / BLOCK).get(at % BLOCK)?,
        };
        Some(word.load(Relaxed))
    }

    /// Returns the index of the first posting from the current one on whose rank is at least
    /// `target`.
    fn seek(&self, level: Level, target: u32) -> usize {
        match &self.source {
            Source::Run(run) => match self.bits {
                Some(bits) => self.seek_dense(level, run, bits, target),
                None => kernel::seek(level, run, self.at, target),
            },
            Source::Blocks(blocks) => {
                let (mut first, mut from) = (self.at / BLOCK, self.at % BLOCK);
                while let Some(block) = blocks.block_of(first, target) {
                    let run = blocks.block(block);
                    let at =
                        kernel::seek(level, run, if block == first { from } else { 0 }, target);
                    if at < run.len() {
                        return block * BLOCK + at;
                    }
                    // Only a damaged list gets here: the block ends before the rank that was
                    // recorded as its last.
                    (first, from) = (block + 1, 0);
                }
                self.len()
            }
        }
    }

    /// Like [`seek`](Self::seek), for a dense list. If at most [`COUNTED_WORDS_MAX`] words of bits are
    /// between, they are counted.
    fn seek_dense(&self, level: Level, run: Run<'_>, bits: &[AtomicU64], target: u32) -> usize {
        let from = self.rank();
        let (first, behind) = (from.wrapping_sub(self.base), target.saturating_sub(self.base));
        let words = bits.get(first as usize / 64..=behind as usize / 64);
        match words.filter(|words| from < target && words.len() <= COUNTED_WORDS_MAX) {
            Some(words) => self.at + count_between(words, first % 64, behind % 64),
            None => kernel::seek(level, run, self.at, target),
        }
    }

    /// Goes back to the first posting.
    pub(super) fn rewind(&mut self) {
        self.at = 0;
    }

    /// Goes on to the first posting whose rank is at least `rank`.
    pub(super) fn go_to(&mut self, level: Level, rank: u32) {
        self.at = self.seek(level, rank);
    }

    /// Returns the rank of the current posting; [`END`] after the last.
    pub(super) fn rank(&self) -> u32 {
        self.word(self.at).map_or(END, rank)
    }

    /// Takes the postings of the current block from the current one to before the rank `end`, with
    /// the block's number. `None` if there are no more.
    pub(super) fn take_block(&mut self, level: Level, end: u32) -> Option<(usize, Run<'l>)> {
        let block = self.at / BLOCK;
        let (run, from) = match &self.source {
            _ if self.at >= self.len() => return None,
            Source::Run(run) => (&run[..run.len().min((block + 1) * BLOCK)], self.at),
            Source::Blocks(blocks) => (blocks.block(block), self.at % BLOCK),
        };
        let is_whole = run.last().is_some_and(|last| rank(last.load(Relaxed)) < end);
        let behind = if is_whole { run.len() } else { kernel::seek(level, run, from, end) };
        let run = &run[from.min(behind)..behind];
        self.at += run.len();
        (!run.is_empty()).then_some((block, run))
    }

    /// Takes postings from the current one to before the rank `end`; of a packed list, only those
    /// of the current block. `None` if there are no more.
    pub(super) fn take_run(&mut self, level: Level, end: u32) -> Option<Run<'l>> {
        let (run, from) = match &self.source {
            Source::Run(run) => (*run, self.at),
            Source::Blocks(_) if self.at >= self.len() => return None,
            Source::Blocks(blocks) => (blocks.block(self.at / BLOCK), self.at % BLOCK),
        };
        let run = &run[from.min(run.len())..kernel::seek(level, run, from, end)];
        self.at += run.len();
        (!run.is_empty()).then_some(run)
    }

    /// Adds the list's bits from the rank `first` on. Returns false if the list has no bits.
    pub(super) fn set_bits(&self, level: Level, first: u32, bits: &mut [u64]) -> bool {
        let Some(own) = self.bits else { return false };
        kernel::or_bits(level, own, first.wrapping_sub(self.base) as usize, bits);
        true
    }

    /// True if the list has bits.
    pub(super) fn is_dense(&self) -> bool {
        self.bits.is_some()
    }

    /// Writes the postings of a run whose documents the list contains, and returns their number.
    /// `None` if the list has no bits.
    pub(super) fn probe(&self, level: Level, run: Run<'_>, out: &mut [u32]) -> Option<usize> {
        self.bits.map(|bits| kernel::probe_into(level, run, bits, self.base, out).found)
    }

    /// True if the bits show that the list does not contain a rank.
    fn lacks(&self, wanted: u32) -> bool {
        self.bits.is_some_and(|bits| {
            let bit = wanted.wrapping_sub(self.base) as usize;
            bits.get(bit / 64).is_none_or(|word| word.load(Relaxed) >> (bit % 64) & 1 == 0)
        })
    }

    /// Writes the postings of `candidates` whose documents the list contains, from the current
    /// posting on. Returns their number.
    pub(super) fn meet(
        &self,
        level: Level,
        algorithm: Algorithm,
        candidates: Run<'_>,
        out: &mut [u32],
    ) -> usize {
        // Invariant: `out[..found]` has all matches before `left`. Terminates: `left` shrinks past
        // the last rank of each run.
        let (mut list, mut left, mut found) = (*self, candidates, 0);
        while let Some(first) = left.first() {
            list.go_to(level, rank(first.load(Relaxed)));
            let Some(run) = list.take_run(level, END) else { break };
            let out = &mut out[found..];
            let progress = kernel::intersect_into(level, algorithm, left, run, out);
            found += progress.found;
            // Candidates beyond this run are looked for in the next one.
            let last = run.last().map_or(END, |word| rank(word.load(Relaxed)));
            left = &left[kernel::seek(level, left, progress.left, last + 1)..];
        }
        found
    }

    /// Goes on to a rank and returns the posting there, if there is one.
    pub(super) fn find(&mut self, level: Level, wanted: u32) -> Option<u32> {
        if self.lacks(wanted) {
            return None;
        }
        self.go_to(level, wanted);
        self.word(self.at).filter(|word| rank(*word) == wanted)
    }

    /// Returns the posting at a rank that is not before the current posting.
    pub(super) fn look_up(&self, level: Level, wanted: u32) -> Option<u32> {
        if self.lacks(wanted) {
            return None;
        }
        self.word(self.seek(level, wanted)).filter(|word| rank(*word) == wanted)
    }

    /// Writes the postings at some ranks, 0 where the list has none. The ranks ascend and are not
    /// before the current posting.
    pub(super) fn look_up_all(&self, level: Level, ranks: &[u32], out: &mut [u32]) {
        if let (Source::Run(run), Some(bits)) = (&self.source, self.bits) {
            kernel::look_up(level, run, bits, self.base, self.at, ranks, out);
            return;
        }
        let mut list = *self;
        for (rank, out) in ranks.iter().zip(out) {
            *out = list.find(level, *rank).unwrap_or(0);
        }
    }

    /// Returns the upper bounds of a block's postings.
    pub(super) fn block(&self, block: usize) -> Ahead {
        let Some(word) = self.maxima.get(block) else { return self.whole };
        let word = word.load(Relaxed);
        let frequency = u32::from(Maxima::from_word(word).frequency());
        Ahead { bound: bound(self.bm25, word), frequency }
    }

    /// True if a block may contain postings above a filter's threshold.
    pub(super) fn may_pass(&self, block: usize, filter: &BlockFilter) -> bool {
        self.maxima.get(block).is_none_or(|word| filter.is_open(word.load(Relaxed)))
    }

    /// Returns the least frequency with which a posting of a block may be above the bar, in the
    /// shortest document for that frequency. `None` if no posting of the block can.
    fn least(&self, block: usize, bar: Bar) -> Option<u32> {
        let needed = bar.threshold - bar.rest.map_or(0.0, |rest| rest.most);
        let Some(maxima) = self.maxima_of(block) else {
            return (self.whole.bound > needed).then_some(1);
        };
        let least = least_frequency(self.bm25, maxima, needed);
        (least <= u32::from(maxima.frequency())).then_some(least)
    }

    /// Like [`least`](Self::least), for postings with a frequency of 2 or more. A pair of the
    /// maxima must have a [ratio](Best) above `ratio`.
    pub(super) fn least_often(&self, block: usize, bar: Bar, ratio: f32) -> Option<u32> {
        let Some(maxima) = self.maxima_of(block) else {
            return self.least(block, bar).map(|least| least.max(OFTEN));
        };
        let is_above = |pair: &Pair| {
            let own = f32::from(pair.frequency) * self.inverse[pair.class() as usize];
            pair.frequency >= OFTEN as u8 && own > ratio
        };
        if !maxima.pairs().iter().any(is_above) {
            return None;
        }
        match u32::from(maxima.frequency()) {
            // A higher least frequency would drop hardly any more postings.
            ..=EXACT_FREQUENCY_MAX => Some(OFTEN),
            _ => self.least(block, bar).map(|least| least.max(OFTEN)),
        }
    }

    /// Returns the maxima of a block.
    fn maxima_of(&self, block: usize) -> Option<Maxima> {
        self.maxima.get(block).map(|word| Maxima::from_word(word.load(Relaxed)))
    }

    /// Returns the postings of a block's run that are frequent enough to be above the bar. They are
    /// copied to `room`, unless all are.
    pub(super) fn sift<'r>(
        &self,
        level: Level,
        (block, run): (usize, Run<'r>),
        bar: Bar,
        room: &'r mut [u32; BLOCK],
    ) -> Run<'r> {
        match self.least(block, bar) {
            None => &[],
            Some(0 | 1) => run,
            Some(least) => {
                let found = kernel::frequent(level, run, least, room);
                kernel::run_of(&mut room[..found])
            }
        }
    }

    /// Returns the upper bounds of the postings from the current one up to the rank `last`.
    pub(super) fn ahead(&self, last: u32) -> Ahead {
        if self.maxima.is_empty() {
            return if self.rank() <= last { self.whole } else { Ahead::NOTHING };
        }
        let (mut best, mut at) = (Best::default(), self.at);
        while at < self.len() && self.least_rank(at) <= last {
            let block = at / BLOCK;
            let maxima = self.maxima_of(block);
            maxima.into_iter().for_each(|maxima| best.add(maxima, self.inverse));
            at = (block + 1) * BLOCK;
        }
        Ahead { bound: best.bound(self.bm25), frequency: best.frequency }
    }

    /// Returns the rank at an index. For the first index of a block ahead, returns a lower bound
    /// without unpacking the block.
    fn least_rank(&self, at: usize) -> u32 {
        match &self.source {
            Source::Blocks(blocks) if at > self.at => blocks.first_rank(at / BLOCK),
            _ => self.word(at).map_or(END, rank),
        }
    }
}
