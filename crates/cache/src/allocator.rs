//! Allocators: how the blocks of a heap are found and given back.
//!
//! A heap is a slice of words that is reserved once. A block is named by the index of its first
//! word, never by an address. An allocator keeps its lists in the heap itself, in words that no
//! block in use covers. It belongs to one owner at a time, so its loads are relaxed. Readers may
//! copy a block that was just given back, and compare its [stamp](crate::stamp) afterwards. So all
//! stores are release, as those of data are.
//!
//! | file | what it is |
//! |---|---|
//! | `blocks` | a heap as a row of blocks with boundary tags |
//! | `lists` | free lists, whose links lie in the free blocks |
//! | [`first_fit`] | one list, searched from its front |
//! | [`tlsf`] | a list for each class of sizes, found by two bitmaps |
//!
//! An allocator stores to the heap when it first allocates, not before. It relies on no word that
//! it has not stored, so an old heap serves as well as a new one.

mod blocks;
pub mod first_fit;
mod lists;
pub mod tlsf;

#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicU64;

/// A block of a heap: the index of its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);

/// The use of a heap's words. `used`, `free` and `overhead` add up to the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Words of blocks in use, as large as they were allocated.
    pub used: u64,
    /// Words of free blocks, and words that were never in a block.
    pub free: u64,
    /// Words of headers.
    pub overhead: u64,
    /// Blocks in use.
    pub blocks: u64,
    /// Free blocks.
    pub free_blocks: u64,
    /// Words of the largest block that can be allocated now.
    pub largest: u64,
}

/// A way to divide a heap into blocks. Every call gets the heap that it was made for.
pub trait Allocator: Send {
    /// Allocates a block of at least `words` words (at least one). Returns `None` if no free block
    /// is large enough.
    fn allocate(&mut self, heap: &[AtomicU64], words: u32) -> Option<Block>;

    /// Gives a block back.
    fn free(&mut self, heap: &[AtomicU64], block: Block);

    /// Returns the words of a block in use.
    fn words(&self, heap: &[AtomicU64], block: Block) -> u32;

    /// Returns the use of the heap. Walks all blocks: for statistics and tests.
    fn usage(&self, heap: &[AtomicU64]) -> Usage;
}

/// Returns `rule` as an error if it is broken.
fn require(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}
