//! A heap as a row of blocks with boundary tags (Knuth, The Art of Computer Programming 1, §2.5).
//!
//! Each block has a header, which is the word before its first word. The row begins at the heap's
//! start and ends at the *break*. The last word below the break is the header of a block without
//! words, which is never free. So each block has one behind it.
//!
//! | word of a block | in use | free |
//! |---|---|---|
//! | header, bits 0 to 31 | its words | its words |
//! | header, bit 32 | 0 | 1 |
//! | header, bit 33: the block before is free | 0 or 1 | 0 |
//! | first word | the owner's | links of its free list, see `lists` |
//! | last word | the owner's | its words again |
//!
//! So the last word of a free block and the header behind it describe both neighbours of a border:
//! size and state of the one, size and state of the other. A block in use needs no second size,
//! since nobody joins it to the block behind. Two free blocks are never neighbours.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::{Usage, require};

/// The least words of a block: a free one needs its links and its size.
pub(super) const WORDS_MIN: u32 = 2;
/// The least heap with a block in it: two headers and the least block.
pub(super) const HEAP_WORDS_MIN: u32 = 2 + WORDS_MIN;

const FREE: u64 = 1 << 32;
const BEHIND_FREE: u64 = 1 << 33;

/// Returns the words that blocks of a heap of `words` words can lie in. The break must have 32
/// bits, so the last one of 2^32 words is left out.
pub(super) fn usable(words: u64) -> u32 {
    words.min(u64::from(u32::MAX)) as u32
}

/// The blocks of a heap. A block is the index of its first word, at least 1. The one that ends the
/// row is the break.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'h>(&'h [AtomicU64]);

impl<'h> Blocks<'h> {
    pub(super) fn new(heap: &'h [AtomicU64]) -> Blocks<'h> {
        Blocks(heap)
    }

    /// Returns the words of a block.
    pub(super) fn words(self, block: u32) -> u32 {
        self.header(block) as u32
    }

    /// True if a block is free.
    pub(super) fn is_free(self, block: u32) -> bool {
        self.header(block) & FREE != 0
    }

    /// Returns the block behind a block.
    fn behind(self, block: u32) -> u32 {
        block + self.words(block) + 1
    }

    /// Returns the block before a block, if it is free.
    fn free_before(self, block: u32) -> Option<u32> {
        let is_free = self.header(block) & BEHIND_FREE != 0;
        is_free.then(|| block - 1 - self.load(block - 2) as u32)
    }

    /// Returns the free blocks before and behind a block.
    pub(super) fn free_neighbours(self, block: u32) -> [Option<u32>; 2] {
        let behind = self.behind(block);
        [self.free_before(block), self.is_free(behind).then_some(behind)]
    }

    /// Makes a block in use free, with its free neighbours, which are in no list any more. Returns
    /// the block that they all became.
    pub(super) fn join(self, block: u32, [before, behind]: [Option<u32>; 2]) -> u32 {
        let start = before.unwrap_or(block);
        let end = self.behind(behind.unwrap_or(block));
        self.set_free(start, end - start - 1);
        start
    }

    /// Makes the first `words` words of a free block a block in use. Returns the block of the rest,
    /// which is free. If the rest is less than a block, all of it is in use.
    pub(super) fn split(self, block: u32, words: u32) -> Option<u32> {
        let rest = self.words(block) - words;
        if rest < 1 + WORDS_MIN {
            self.set_used(block);
            return None;
        }
        self.store(block - 1, words.into());
        let behind = block + words + 1;
        self.set_free(behind, rest - 1);
        Some(behind)
    }

    /// Returns the block that gets the words behind the break when it moves: the last block if that
    /// is free, otherwise a new one.
    pub(super) fn growing(self, below_break: u32) -> u32 {
        match below_break {
            0 => 1,
            end => self.free_before(end).unwrap_or(end),
        }
    }

    /// Moves the break. Returns the block that got the words, which is free.
    pub(super) fn grow(self, below_break: u32, to: u32) -> u32 {
        let block = self.growing(below_break);
        self.store(to - 1, 0);
        self.set_free(block, to - block - 1);
        block
    }

    /// Returns all blocks below the break. It ends, since each one is behind the last.
    pub(super) fn all(self, below_break: u32) -> impl Iterator<Item = u32> {
        let is_block = move |block: &u32| *block < below_break;
        let first = Some(1).filter(is_block);
        std::iter::successors(first, move |block| Some(self.behind(*block)).filter(is_block))
    }

    /// Returns the use of the words below the break.
    pub(super) fn usage(self, below_break: u32) -> Usage {
        let mut usage = Usage { overhead: u64::from(below_break > 0), ..Usage::default() };
        for block in self.all(below_break) {
            let words = u64::from(self.words(block));
            usage.overhead += 1;
            if self.is_free(block) {
                usage.free += words;
                usage.free_blocks += 1;
                usage.largest = usage.largest.max(words);
            } else {
                usage.used += words;
                usage.blocks += 1;
            }
        }
        usage
    }

    /// Returns the first word of a free block.
    pub(super) fn links(self, block: u32) -> u64 {
        self.load(block)
    }

    pub(super) fn set_links(self, block: u32, links: u64) {
        self.store(block, links);
    }

    /// Makes these words a free block. The block before is in use, hence bit 33 is 0.
    fn set_free(self, block: u32, words: u32) {
        self.store(block - 1, u64::from(words) | FREE);
        self.store(block + words - 1, words.into());
        let behind = block + words + 1;
        self.store(behind - 1, self.header(behind) | BEHIND_FREE);
    }

    /// Makes a free block one in use.
    fn set_used(self, block: u32) {
        self.store(block - 1, self.words(block).into());
        let behind = self.behind(block);
        self.store(behind - 1, self.header(behind) & !BEHIND_FREE);
    }

    fn header(self, block: u32) -> u64 {
        self.load(block - 1)
    }

    fn load(self, word: u32) -> u64 {
        #[cfg(test)]
        accesses::count();
        self.0[word as usize].load(Relaxed)
    }

    fn store(self, word: u32, value: u64) {
        #[cfg(test)]
        accesses::count();
        // A reader may be copying this word: if it gets the new value, it sees the stamp that was
        // closed before.
        self.0[word as usize].store(value, Release);
    }
}

/// Checks.
impl Blocks<'_> {
    /// Returns a rule that is broken, if one is, otherwise the number of free blocks. Calls
    /// `is_filed` for each of them.
    pub(super) fn check(
        self,
        below_break: u32,
        is_filed: impl Fn(u32) -> bool,
    ) -> Result<u64, &'static str> {
        let (mut end, mut free, mut is_behind_free) = (1, 0, false);
        for block in self.all(below_break) {
            require((self.header(block) & BEHIND_FREE != 0) == is_behind_free, "bit 33 is right")?;
            require(self.words(block) >= WORDS_MIN, "no block is too small")?;
            end = self.behind(block);
            require(end <= below_break, "a block is below the break")?;
            is_behind_free = self.is_free(block);
            if is_behind_free {
                self.check_free(block)?;
                require(is_filed(block), "a free block is in its list")?;
                free += 1;
            }
        }
        if below_break > 0 {
            require(end == below_break, "the row ends at the break")?;
            let header = if is_behind_free { BEHIND_FREE } else { 0 };
            require(self.header(end) == header, "the last header has no words")?;
        }
        Ok(free)
    }

    fn check_free(self, block: u32) -> Result<(), &'static str> {
        let words = self.words(block);
        require(self.header(block) & BEHIND_FREE == 0, "no two free blocks are neighbours")?;
        require(self.load(block + words - 1) == u64::from(words), "both sizes agree")
    }
}

/// The number of loads and stores, for tests.
#[cfg(test)]
pub(super) mod accesses {
    use std::cell::Cell;

    thread_local! {
        static ACCESSES: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        ACCESSES.set(ACCESSES.get() + 1);
    }

    /// Returns the loads and stores of a call.
    pub(in crate::allocator) fn of<T>(call: impl FnOnce() -> T) -> (u64, T) {
        let before = ACCESSES.get();
        let result = call();
        (ACCESSES.get() - before, result)
    }
}
