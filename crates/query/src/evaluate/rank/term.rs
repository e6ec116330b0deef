//! The best documents with one term: blocks of its lists that can beat what was found, in all segments.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::gate::Gate;
use super::lists::BLOCK;
use spirit_index::packed::{PACKED_BLOCK, PackedList};
use spirit_index::posting::rank;
use spirit_kernel as kernel;
use spirit_kernel::{Bar, Bm25, Lengths};

use super::Ranked;
use crate::evaluate::{Evaluation, OUT, Place};
use crate::leaf::SCRATCH_WORDS;

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of a term's documents in the registered segments at hand.
    pub(super) fn rank_term(&mut self, term: usize) {
        let bm25 = self.bm25(term);
        self.raise_floor(term);
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
            self.rank_list(&place, term, bm25);
        }
    }

    fn rank_list(&mut self, place: &Place<'_>, term: usize, bm25: Bm25) {
        let leaf = &self.scratch.leaves[term];
        let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
        let list = leaf.run(&place.context, words);
        let lengths = Self::lengths(place, self.field(term));
        // What an entry holds itself is read before anything is lent to others.
        if let [only] = list {
            let word = only.load(Relaxed);
            let score = bm25.score(word, lengths);
            return self.offer_scored(place, rank(word), score);
        }
        if let Some(list) = leaf.packed() {
            return self.rank_packed(place, list, lengths, bm25);
        }
        let Some(list) = leaf.list(&place.context) else { return };
        match leaf.maxima(&place.context) {
            Some(maxima) => self.rank_blocks(place, list, maxima, lengths, bm25),
            None => self.rank_words(place, list, lengths, bm25),
        }
    }

    fn rank_blocks(
        &mut self,
        place: &Place<'_>,
        list: &[AtomicU32],
        maxima: &[AtomicU64],
        lengths: Lengths<'_>,
        bm25: Bm25,
    ) {
        let mut gate = Gate::new(bm25, self.limit());
        for (block, maxima) in list.chunks(BLOCK).zip(maxima) {
            if gate.is_open(maxima.load(Relaxed)) && self.meter.step() {
                self.rank_words(place, block, lengths, bm25);
                if self.limit() != gate.threshold() {
                    gate = Gate::new(bm25, self.limit());
                }
            }
        }
    }

    /// The same of a packed list: blocks are unpacked that can beat what was found.
    fn rank_packed(
        &mut self,
        place: &Place<'_>,
        list: PackedList,
        lengths: Lengths<'_>,
        bm25: Bm25,
    ) {
        let region = place.context.lists.region;
        let maxima = list.maxima(region);
        let mut gate = Gate::new(bm25, self.limit());
        let mut words = [0; PACKED_BLOCK];
        for block in 0..list.blocks() {
            let is_open = maxima.get(block).is_none_or(|maxima| gate.is_open(maxima.load(Relaxed)));
            if is_open && self.meter.step() {
                let count = list.unpack(region, self.settings.level, block, &mut words).count;
                self.rank_words(place, kernel::run_of(&mut words[..count]), lengths, bm25);
                if self.limit() != gate.threshold() {
                    gate = Gate::new(bm25, self.limit());
                }
            }
        }
    }

    fn rank_words(
        &mut self,
        place: &Place<'_>,
        mut list: &[AtomicU32],
        lengths: Lengths<'_>,
        bm25: Bm25,
    ) {
        let (mut words, mut scores) = ([0; OUT], [0.0; OUT]);
        while !list.is_empty() {
            let bar = Bar::at(self.collector.top.threshold());
            let level = self.settings.level;
            let progress =
                kernel::score_above(level, list, lengths, bm25, bar, &mut words, &mut scores);
            for (word, score) in words[..progress.found].iter().zip(&scores) {
                if *score > self.collector.top.threshold() {
                    self.offer_scored(place, rank(*word), *score);
                }
            }
            list = &list[progress.left..];
        }
    }
}
