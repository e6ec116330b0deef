//! Packed lists: one behind the other, ascending, of rows that there are, with block maxima and last postings that say the same, and
//! with positions that ascend, as many as its documents have tokens.

use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::Level;
use spirit_mem::Span;

use super::postings::{Lists, Verdict};
use crate::entries::ALONE;
use crate::maxima::maxima_of;
use crate::nvm::node::Node;
use crate::nvm::section::{Kind, Section};
use crate::packed::{PACKED_BLOCK, PackedList, Positions};
use crate::posting::{FREQUENCY_MAX, frequency, local, rank, rank_of};

impl Lists<'_> {
    /// Looks at a packed list.
    pub(super) fn packed(&mut self, node: Node, postings: &mut u64) -> Verdict {
        let (entry, lengths) = (node.entry(), self.lengths.of_term(node.ordinal));
        let Some(at) = entry.packed_at().filter(|_| self.room().hold(entry)) else {
            return Err("its postings leave the segment's packed lists");
        };
        if (at as u64) < self.taken {
            return Err("its postings lie where those of the term before do");
        }
        self.taken = at as u64 + 1;
        let region = self.part.region;
        let Section { start, bytes, .. } = self.segment.sections.get(Kind::PackedLists);
        let base = rank_of(self.rows.len().saturating_sub(1));
        let words = Span::new(start + at as u64 * 4, (bytes / 4).saturating_sub(at as u64));
        let list = PackedList::new(words, entry.postings, base);
        let (lasts, maxima) = (list.lasts(region), list.maxima(region));
        let mut next = base;
        for block in 0..list.blocks() {
            let mut words = [0; PACKED_BLOCK];
            let unpacked = list.unpack(region, Level::detect(), block, &mut words);
            let words = &mut words[..unpacked.count];
            let positions = list.positions(region, unpacked.positions_at);
            next = self.block(node, words, next, positions, postings)?;
            if lasts.get(block).is_some_and(|last| rank(last.load(Relaxed)) + 1 != next) {
                return Err("its skip data are not those of its postings");
            }
            let expected = maxima_of(spirit_kernel::run_of(words), lengths, base);
            if maxima.get(block).is_some_and(|word| word.load(Relaxed) != expected.word()) {
                return Err("its block maxima are not those of its postings");
            }
        }
        Ok(())
    }

    /// Looks at the postings of a block, the first of which is not before rank `next`; returns what that is of the next block.
    fn block(
        &mut self,
        node: Node,
        words: &[u32],
        mut next: u32,
        positions: Positions<'_>,
        postings: &mut u64,
    ) -> Result<u32, &'static str> {
        for (index, word) in words.iter().enumerate() {
            if self.posting(*word, postings)? < next {
                return Err("its postings do not ascend");
            }
            next = rank(*word) + 1;
            self.positions(node, *word, positions.of_last(&words[..=index]))?;
        }
        Ok(next)
    }

    /// Looks at where a posting that has no list is.
    pub(super) fn alone(&mut self, node: Node) -> Verdict {
        let (posting, at) = (node.payload, node.alone & !ALONE);
        if frequency(posting) == 1 {
            return self.positions(node, posting, std::iter::once(at));
        }
        let Section { start, bytes, .. } = self.segment.sections.get(Kind::PackedLists);
        let words = Span::new(start + at as u64 * 4, (bytes / 4).saturating_sub(at as u64));
        let words = self.part.region.get(words).unwrap_or(&[]);
        self.positions(node, posting, Positions::new(words).of_last(&[posting]))
    }

    /// Looks at the positions of a posting.
    fn positions(
        &mut self,
        node: Node,
        posting: u32,
        positions: impl Iterator<Item = u32>,
    ) -> Verdict {
        let Some(counts) = &mut self.counts else { return Ok(()) };
        let row = local(posting);
        if !self.rows.is_document(row) {
            return Ok(());
        }
        let (tokens, mut next, mut count) = (self.rows.tokens(row), 0, 0);
        for position in positions {
            if position < next || position >= tokens {
                return Err("its positions do not ascend, or are in no token of its document");
            }
            (next, count) = (position + 1, count + 1);
        }
        if count < frequency(posting)
            || (frequency(posting) < FREQUENCY_MAX && count != frequency(posting))
        {
            return Err("it has not as many positions as its postings say");
        }
        if let Some(number) = self.lengths.number_of(node.ordinal) {
            let sum = &mut counts[number][row as usize];
            *sum = sum.saturating_add(count);
        }
        Ok(())
    }
}
