//! A term's list in a registered segment, gone through by rank with bounds of what is ahead.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::ground::posting::{FREQUENCY_MAX, frequency, rank};
use spirit_index::ground::term::FieldId;
use spirit_index::lists::maxima::{BLOCK_POSTINGS, Maxima, Pair};
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Bar, Bm25, Lengths, Level, Rest, Run};

use super::block_filter::BlockFilter;
use crate::leaf::{Context, END, Leaf};
use crate::packed::Blocks;
use crate::rank::inverses::{Best, Inverse, OF_ANY};
use crate::rank::{MORE, bound, least_frequency};

/// Postings of a block that has maxima.
pub(super) const BLOCK: usize = BLOCK_POSTINGS as usize;
/// A frequency that few postings of short texts have, or a higher one.
const OFTEN: u32 = 2;
/// The highest frequency of a block whose postings are all much alike.
const FEW_TIMES: u32 = 6;
/// Words of bits that are counted sooner than a posting is looked for.
const NEAR_WORDS: usize = 16;
/// Stands for every frequency that postings do not say.
const WITHOUT_END: f32 = 1e9;

/// A list, and where it is.
#[derive(Clone, Copy)]
pub(super) struct List<'l> {
    source: Source<'l>,
    maxima: &'l [AtomicU64],
    /// The bits of its ranks from the segment's newest row on, if it is dense.
    bits: Option<&'l [AtomicU64]>,
    base: u32,
    /// Of a list without maxima: what is ahead, all of it.
    whole: Ahead,
    pub(super) bm25: Bm25,
    /// What its blocks' bounds are computed with.
    inverse: &'l Inverse,
    /// The field of its term, and how long that is in each document.
    pub(super) field: FieldId,
    pub(super) lengths: Lengths<'l>,
    at: usize,
}

/// How a list is read.
#[derive(Clone, Copy)]
enum Source<'l> {
    /// It lies in one piece.
    Run(Run<'l>),
    /// It is unpacked a block at a time.
    Blocks(Blocks<'l>),
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

/// What a posting of `own` has to score on its own to be among the best, if lists of which this is ahead can add to it. `threshold` is the
/// score to beat. What a list of another field adds does not depend on the same length.
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

/// How many bits are set from a bit of the first word on and before one of the last.
fn count_between(words: &[AtomicU64], first: u32, behind: u32) -> usize {
    let ones = |word: &AtomicU64| word.load(Relaxed).count_ones() as usize;
    let below =
        |word: &AtomicU64, bit: u32| (word.load(Relaxed) & ((1 << bit) - 1)).count_ones() as usize;
    let Some((last, whole)) = words.split_last() else { return 0 };
    let all = whole.iter().map(ones).sum::<usize>() + below(last, behind);
    all.saturating_sub(below(&words[0], first))
}

impl<'l> List<'l> {
    /// No list.
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
        at: 0,
    };

    /// The list that a leaf has open. A single posting is copied to `words`, the leaf's scratch memory: it lies in memory that queries
    /// borrow. A block that is unpacked goes there too.
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
        let mut list =
            List { source, maxima, bits, base, whole, bm25, inverse, field, lengths, at: 0 };
        if maxima.is_empty() {
            list.look_at_all(level);
        }
        list
    }

    /// A list without maxima is short.
    fn look_at_all(&mut self, level: Level) {
        let mut scores = [0.0; BLOCK];
        let run = self.block_run(0);
        let count = kernel::score_run(level, run, self.lengths, self.bm25, &mut scores);
        for (word, score) in run.iter().zip(&scores[..count]) {
            let frequency = frequency(word.load(Relaxed));
            self.whole = self.whole.or(Ahead { bound: *score, frequency });
        }
    }

    /// What one of its postings adds to a score.
    pub(super) fn score(&self, word: u32) -> f32 {
        self.bm25.score(word, self.lengths)
    }

    /// How many postings it has.
    pub(super) fn len(&self) -> usize {
        match &self.source {
            Source::Run(run) => run.len(),
            Source::Blocks(blocks) => blocks.list.postings() as usize,
        }
    }

    /// The postings of one of its blocks.
    pub(super) fn block_run(&self, block: usize) -> Run<'l> {
        match &self.source {
            Source::Run(run) => run.chunks(BLOCK).nth(block).unwrap_or(&[]),
            Source::Blocks(blocks) => blocks.block(block),
        }
    }

    /// A rank that no posting of a block is before, and one that none is behind.
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

    /// The posting at an index.
    fn word(&self, at: usize) -> Option<u32> {
        let word = match &self.source {
            Source::Run(run) => run.get(at)?,
            Source::Blocks(_) if at >= self.len() => return None,
            Source::Blocks(blocks) => blocks.block(at / BLOCK).get(at % BLOCK)?,
        };
        Some(word.load(Relaxed))
    }

    /// The index of the first posting from where it is that is at or behind a rank.
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
                    // Only a damaged one has no posting that its last one was said to be.
                    (first, from) = (block + 1, 0);
                }
                self.len()
            }
        }
    }

    /// The same of a dense list: as far as the bits are counted that lie between.
    fn seek_dense(&self, level: Level, run: Run<'_>, bits: &[AtomicU64], target: u32) -> usize {
        let from = self.rank();
        let (first, behind) = (from.wrapping_sub(self.base), target.saturating_sub(self.base));
        let words = bits.get(first as usize / 64..=behind as usize / 64);
        match words.filter(|words| from < target && words.len() <= NEAR_WORDS) {
            Some(words) => self.at + count_between(words, first % 64, behind % 64),
            None => kernel::seek(level, run, self.at, target),
        }
    }

    /// Goes back to the first posting.
    pub(super) fn rewind(&mut self) {
        self.at = 0;
    }

    /// Goes on to the first posting at or behind a rank.
    pub(super) fn go_to(&mut self, level: Level, rank: u32) {
        self.at = self.seek(level, rank);
    }

    /// The rank of the posting where it is; [`END`] behind the last.
    pub(super) fn rank(&self) -> u32 {
        self.word(self.at).map_or(END, rank)
    }

    /// Takes postings of the current block, from where it is to before a rank. None if there are no more.
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

    /// Takes postings from where it is to before a rank: all of them, or those of the current block. None if there are no more.
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

    /// Sets the bits of the ranks from `first` on, if it has them.
    pub(super) fn set_bits(&self, level: Level, first: u32, bits: &mut [u64]) -> bool {
        let Some(own) = self.bits else { return false };
        kernel::or_bits(level, own, first.wrapping_sub(self.base) as usize, bits);
        true
    }

    /// Whether it has bits.
    pub(super) fn is_dense(&self) -> bool {
        self.bits.is_some()
    }

    /// Writes those of a run that it has, of as many as there is room for; none if it has no bits.
    pub(super) fn probe(&self, level: Level, run: Run<'_>, out: &mut [u32]) -> Option<usize> {
        self.bits.map(|bits| kernel::probe_into(level, run, bits, self.base, out).found)
    }

    /// True if a glance shows that the list does not contain a rank.
    fn lacks(&self, wanted: u32) -> bool {
        self.bits.is_some_and(|bits| {
            let bit = wanted.wrapping_sub(self.base) as usize;
            bits.get(bit / 64).is_none_or(|word| word.load(Relaxed) >> (bit % 64) & 1 == 0)
        })
    }

    /// Writes those of `candidates` that are in the list, from where it is on; returns how many.
    pub(super) fn meet(
        &self,
        level: Level,
        algorithm: Algorithm,
        candidates: Run<'_>,
        out: &mut [u32],
    ) -> usize {
        let (mut list, mut left, mut found) = (*self, candidates, 0);
        while let Some(first) = left.first() {
            list.go_to(level, rank(first.load(Relaxed)));
            let Some(run) = list.take_run(level, END) else { break };
            let out = &mut out[found..];
            let progress = kernel::intersect_into(level, algorithm, left, run, out);
            found += progress.found;
            // What is behind the run is still to be looked for.
            let last = run.last().map_or(END, |word| rank(word.load(Relaxed)));
            left = &left[kernel::seek(level, left, progress.left, last + 1)..];
        }
        found
    }

    /// Goes on to a rank; the posting there, if there is one.
    pub(super) fn find(&mut self, level: Level, wanted: u32) -> Option<u32> {
        if self.lacks(wanted) {
            return None;
        }
        self.go_to(level, wanted);
        self.word(self.at).filter(|word| rank(*word) == wanted)
    }

    /// The posting at a rank that is not before where it is.
    pub(super) fn look_up(&self, level: Level, wanted: u32) -> Option<u32> {
        if self.lacks(wanted) {
            return None;
        }
        self.word(self.seek(level, wanted)).filter(|word| rank(*word) == wanted)
    }

    /// Writes the postings at some ranks, which ascend and are not before where it is; 0 where the list has none.
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

    /// What the postings of a block can be at best.
    pub(super) fn block(&self, block: usize) -> Ahead {
        let Some(word) = self.maxima.get(block) else { return self.whole };
        let word = word.load(Relaxed);
        let frequency = u32::from(Maxima::from_word(word).frequency());
        Ahead { bound: bound(self.bm25, word), frequency }
    }

    /// Whether postings of a block may be above a filter's threshold.
    pub(super) fn may_pass(&self, block: usize, filter: &BlockFilter) -> bool {
        self.maxima.get(block).is_none_or(|word| filter.is_open(word.load(Relaxed)))
    }

    /// The frequency that a posting of a block needs to be above a bar in the shortest document that may have the term so often; none if
    /// nothing in the block is.
    fn least(&self, block: usize, bar: Bar) -> Option<u32> {
        let needed = bar.threshold - bar.rest.map_or(0.0, |rest| rest.most);
        let Some(maxima) = self.maxima_of(block) else {
            return (self.whole.bound > needed).then_some(1);
        };
        let least = least_frequency(self.bm25, maxima, needed);
        (least <= u32::from(maxima.frequency())).then_some(least)
    }

    /// The same of postings that say a frequency of 2 or more: by pairs whose [ratio](Best) is high enough.
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
            // A higher one would hardly leave out more.
            ..=FEW_TIMES => Some(OFTEN),
            _ => self.least(block, bar).map(|least| least.max(OFTEN)),
        }
    }

    /// What is said of a block.
    fn maxima_of(&self, block: usize) -> Option<Maxima> {
        self.maxima.get(block).map(|word| Maxima::from_word(word.load(Relaxed)))
    }

    /// The postings of a run of a block that are frequent enough to be above a bar; copied to `room`, unless they are all.
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

    /// What the postings from where it is up to a rank can be at best.
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

    /// The rank at an index; of one with which a block begins that need not be unpacked for it, one that is not above.
    fn least_rank(&self, at: usize) -> u32 {
        match &self.source {
            Source::Blocks(blocks) if at > self.at => blocks.first_rank(at / BLOCK),
            _ => self.word(at).map_or(END, rank),
        }
    }
}
