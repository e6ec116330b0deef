//! First fit, like a simplified malloc of the GNU C library (thesis §3.2.3.1): the baseline.
//!
//! All free blocks are in one list, the one that became free last at its front. A request takes the
//! first block of the list that is large enough. Its rest becomes a free block, if it is large
//! enough for one. A freed block is joined with its free neighbours.
//!
//! Blocks lie below the break, which is an index of the heap, not the process's. If no block fits,
//! the break moves by the missing words and a header, rounded up to [`GROWTH_WORDS`]. Near the
//! heap's end the last step is shorter, so that all of the heap can be used. A free block that
//! touches the break grows with it. Then only the words that it lacks are missing, and no header.
//!
//! Giving a block back takes constant time. Finding one takes a step for each free block.

use std::sync::atomic::AtomicU64;

use super::blocks::{Blocks, WORDS_MIN, usable};
use super::lists::{self, Filing, NONE};
use super::{Allocator, Block, Usage, require};

/// The break moves by multiples of these words: 4,096 bytes (thesis §3.2.3.1).
pub const GROWTH_WORDS: u32 = 4096 / 8;

/// The allocator with one free list.
pub struct FirstFit {
    words: u32,
    below_break: u32,
    free: u32,
}

impl FirstFit {
    /// Returns an allocator of a heap of `words` words. Below four words it gives out nothing.
    pub fn new(words: u64) -> FirstFit {
        FirstFit { words: usable(words), below_break: 0, free: NONE }
    }

    /// Returns a rule that is broken, if one is. Walks all blocks: for tests.
    pub fn check(&self, heap: &[AtomicU64]) -> Result<(), &'static str> {
        let blocks = Blocks::new(heap);
        let is_linked = |block| lists::is_linked(blocks, self.free, block);
        let free = blocks.check(self.below_break, is_linked)?;
        let listed = lists::check(blocks, self.free, |block| block < self.below_break)?;
        require(free == listed, "the list has the free blocks")?;
        require(self.below_break <= self.words, "the break is in the heap")
    }

    /// Returns the first block of the list that is large enough.
    fn find(&self, blocks: Blocks<'_>, words: u32) -> Option<u32> {
        lists::all(blocks, self.free).find(|block| blocks.words(*block) >= words)
    }

    /// Moves the break. Returns a free block of at least `words` words, which ends there. `None` if
    /// too few words are left.
    fn grow(&mut self, blocks: Blocks<'_>, words: u32) -> Option<u32> {
        let growing = blocks.growing(self.below_break);
        // The words of the block, then the header that ends the row.
        let needed = u64::from(growing) + u64::from(words) + 1;
        if needed > self.words.into() {
            return None;
        }
        let missing = needed - u64::from(self.below_break);
        let step = missing.next_multiple_of(GROWTH_WORDS.into());
        let to = (u64::from(self.below_break) + step).min(self.words.into()) as u32;
        if growing < self.below_break {
            self.remove(blocks, growing);
        }
        let block = blocks.grow(self.below_break, to);
        self.below_break = to;
        self.insert(blocks, block);
        Some(block)
    }

    /// Returns the words of the last block if it grew to the heap's end.
    fn grown_words(&self, blocks: Blocks<'_>) -> u32 {
        let words = self.words.saturating_sub(blocks.growing(self.below_break).saturating_add(1));
        if words < WORDS_MIN { 0 } else { words }
    }
}

impl Filing for FirstFit {
    fn insert(&mut self, blocks: Blocks<'_>, block: u32) {
        lists::push(blocks, &mut self.free, block);
    }

    fn remove(&mut self, blocks: Blocks<'_>, block: u32) {
        lists::remove(blocks, &mut self.free, block);
    }
}

impl Allocator for FirstFit {
    fn allocate(&mut self, heap: &[AtomicU64], words: u32) -> Option<Block> {
        let (blocks, words) = (Blocks::new(heap), words.max(WORDS_MIN));
        let found = self.find(blocks, words);
        let block = found.or_else(|| self.grow(blocks, words))?;
        Some(lists::take(self, blocks, block, words))
    }

    fn free(&mut self, heap: &[AtomicU64], block: Block) {
        lists::give_back(self, Blocks::new(heap), block.0);
    }

    fn words(&self, heap: &[AtomicU64], block: Block) -> u32 {
        Blocks::new(heap).words(block.0)
    }

    fn usage(&self, heap: &[AtomicU64]) -> Usage {
        let blocks = Blocks::new(heap);
        let usage = blocks.usage(self.below_break);
        Usage {
            free: usage.free + u64::from(self.words - self.below_break),
            largest: usage.largest.max(self.grown_words(blocks).into()),
            ..usage
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(words: u64) -> (Vec<AtomicU64>, FirstFit) {
        ((0..words).map(|_| AtomicU64::new(u64::MAX)).collect(), FirstFit::new(words))
    }

    #[test]
    fn the_break_moves_by_pages_and_last_by_the_rest() {
        let (heap, mut allocator) = heap(1500);
        let mut break_after = |words| {
            let block = allocator.allocate(&heap, words).map(|block| block.0);
            (block, allocator.below_break)
        };
        assert_eq!(break_after(10), (Some(1), 512));
        assert_eq!(break_after(499), (Some(12), 512), "its header and the last one fit as well");
        assert_eq!(break_after(511), (Some(512), 1024), "the size and a header are a page");
        assert_eq!(break_after(476), (None, 1024), "one word too many");
        assert_eq!(break_after(475), (Some(1024), 1500), "the last step is shorter");
        assert_eq!(break_after(1), (None, 1500));
        assert_eq!(allocator.usage(&heap).used, 10 + 499 + 511 + 475);
    }

    #[test]
    fn a_free_block_at_the_break_grows_with_it() {
        let (heap, mut allocator) = heap(5000);
        assert_eq!(allocator.allocate(&heap, 10), Some(Block(1)));
        // 499 words are free behind the block. 512 more are enough for 1,011, not for one more.
        assert_eq!(allocator.allocate(&heap, 1011), Some(Block(12)));
        assert_eq!(allocator.below_break, 1024);
        allocator.free(&heap, Block(12));
        assert_eq!(allocator.allocate(&heap, 1012), Some(Block(12)));
        assert_eq!(allocator.below_break, 1536);
        assert_eq!(allocator.check(&heap), Ok(()));
    }

    #[test]
    fn the_first_block_of_the_list_that_fits_is_taken() {
        let (heap, mut allocator) = heap(512);
        let all: Vec<Block> =
            [20, 4, 30, 4, 40, 4].map(|words| allocator.allocate(&heap, words).unwrap()).into();
        [0, 2, 4].into_iter().for_each(|freed: usize| allocator.free(&heap, all[freed]));
        // In the list: 40, 30, 20, then the block at the break.
        assert_eq!(allocator.allocate(&heap, 15), Some(all[4]));
        // Its rest of 24 words went to the front.
        assert_eq!(allocator.allocate(&heap, 25), Some(all[2]));
        assert_eq!(allocator.allocate(&heap, 18), Some(Block(all[4].0 + 16)));
        assert_eq!(allocator.allocate(&heap, 18), Some(all[0]));
        assert_eq!(allocator.words(&heap, all[0]), 20, "two words are no block");
        assert_eq!(allocator.check(&heap), Ok(()));
    }
}
