//! The best documents with one term: blocks of its lists whose upper bound beats the threshold.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::rank;
use spirit_index::lists::Maxima;
use spirit_index::lists::{PACKED_BLOCK, PackedList};
use spirit_kernel as kernel;
use spirit_kernel::{Bar, Bm25, Lengths, Run};

use super::Ranked;
use super::block_filter::BlockFilter;
use super::lists::BLOCK;
use crate::evaluate::{Evaluation, Place};
use crate::leaf::SCRATCH_WORDS;
use crate::rank::least_frequency;

/// Postings above the threshold, and their scores.
struct Room {
    words: [u32; BLOCK],
    scores: [f32; BLOCK],
}

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents of a term that may be among the best, in the registered segments of
    /// this part.
    pub(super) fn rank_term(&mut self, term: usize) {
        let bm25 = self.bm25(term);
        self.seed_threshold(term);
        let mut room = Room { words: [0; BLOCK], scores: [0.0; BLOCK] };
        let entries = self.scratch.leaves[term].entries(self.lists());
        for index in (0..self.scratch.leaves[term].left).rev() {
            let entry = entries.get(index);
            if entry.segment.position() < self.part.oldest || self.done() || !self.meter.step() {
                return;
            }
            if self.snapshot.skips(entry.segment) {
                continue;
            }
            let segment = self.snapshot.of(entry.segment);
            let Some(place) = self.promising(segment) else { continue };
            self.scratch.leaves[term].open_entry(&segment, index, entry);
            self.open_excluded(&segment);
            self.rank_list(&place, term, bm25, &mut room);
        }
    }

    fn rank_list(&mut self, place: &Place<'_>, term: usize, bm25: Bm25, room: &mut Room) {
        let leaf = &self.scratch.leaves[term];
        let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
        let list = leaf.run(&place.context, words);
        let lengths = Self::lengths(place, self.field(term));
        // A single posting lies in scratch memory or in the entry. It is read before other methods
        // borrow that.
        if let [only] = list {
            let word = only.load(Relaxed);
            let score = bm25.score(word, lengths);
            return self.offer_scored(place, rank(word), score);
        }
        if let Some(list) = leaf.packed() {
            return self.rank_packed(place, list, (lengths, bm25), room);
        }
        let Some(list) = leaf.list(&place.context) else { return };
        match leaf.maxima(&place.context) {
            Some(maxima) => self.rank_blocks(place, list, maxima, (lengths, bm25), room),
            None => self.rank_words(place, list, (lengths, bm25), room),
        }
    }

    fn rank_blocks(
        &mut self,
        place: &Place<'_>,
        list: Run<'_>,
        maxima: &[AtomicU64],
        (lengths, bm25): (Lengths<'_>, Bm25),
        room: &mut Room,
    ) {
        let mut filter = BlockFilter::new(bm25, self.limit());
        for (block, maxima) in list.chunks(BLOCK).zip(maxima) {
            let maxima = maxima.load(Relaxed);
            if filter.is_open(maxima) && self.meter.step() {
                self.rank_block(place, (block, maxima), (lengths, bm25), room);
                filter = filter.for_threshold(self.limit());
            }
        }
    }

    /// Like [`rank_blocks`](Self::rank_blocks), for a packed list. Only blocks that may beat the
    /// threshold are unpacked.
    fn rank_packed(
        &mut self,
        place: &Place<'_>,
        list: PackedList,
        (lengths, bm25): (Lengths<'_>, Bm25),
        room: &mut Room,
    ) {
        let region = place.context.lists.region;
        let maxima = list.maxima(region);
        let mut filter = BlockFilter::new(bm25, self.limit());
        let mut words = [0; PACKED_BLOCK];
        // Invariant: each posting of the blocks before was offered, or cannot beat the threshold.
        for number in 0..list.blocks() {
            let maxima = maxima.get(number).map(|maxima| maxima.load(Relaxed));
            if maxima.is_none_or(|maxima| filter.is_open(maxima)) && self.meter.step() {
                let count = list.unpack(region, self.settings.level, number, &mut words).count;
                let block = kernel::run_of(&mut words[..count]);
                match maxima {
                    Some(maxima) => {
                        self.rank_block(place, (block, maxima), (lengths, bm25), room);
                    }
                    None => self.rank_words(place, block, (lengths, bm25), room),
                }
                filter = filter.for_threshold(self.limit());
            }
        }
    }

    /// Scores those postings of a block that are frequent enough. In short texts few are.
    fn rank_block(
        &mut self,
        place: &Place<'_>,
        (block, maxima): (Run<'_>, u64),
        (lengths, bm25): (Lengths<'_>, Bm25),
        room: &mut Room,
    ) {
        let least = least_frequency(bm25, Maxima::from_word(maxima), self.limit());
        if least <= 1 {
            return self.rank_words(place, block, (lengths, bm25), room);
        }
        let mut often = [0; BLOCK];
        let count = kernel::frequent(self.settings.level, block, least, &mut often);
        self.rank_words(place, kernel::run_of(&mut often[..count]), (lengths, bm25), room);
    }

    fn rank_words(
        &mut self,
        place: &Place<'_>,
        mut list: Run<'_>,
        (lengths, bm25): (Lengths<'_>, Bm25),
        Room { words, scores }: &mut Room,
    ) {
        while !list.is_empty() {
            let bar = Bar::at(self.collector.threshold());
            let level = self.settings.level;
            let progress = kernel::score_above(level, list, lengths, bm25, bar, words, scores);
            self.raise_threshold_to(place, &scores[..progress.found]);
            for (word, score) in words[..progress.found].iter().zip(&*scores) {
                if *score > self.collector.threshold() {
                    self.offer_scored(place, rank(*word), *score);
                }
            }
            list = &list[progress.left..];
        }
    }
}
