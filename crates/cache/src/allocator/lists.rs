//! Free lists: doubly linked, so that a block leaves its list in constant time.
//!
//! The links lie in the first word of a free block: bits 0 to 31 are the next block, bits 32 to 63
//! the previous one. A list's head lies in the allocator. 0 is no block: that word is a header.

use super::blocks::Blocks;
use super::{Block, require};

/// No block.
pub(super) const NONE: u32 = 0;

struct Links {
    next: u32,
    previous: u32,
}

impl Links {
    fn load(blocks: Blocks<'_>, block: u32) -> Links {
        let links = blocks.links(block);
        Links { next: links as u32, previous: (links >> 32) as u32 }
    }

    fn store(self, blocks: Blocks<'_>, block: u32) {
        blocks.set_links(block, u64::from(self.previous) << 32 | u64::from(self.next));
    }
}

/// Puts a free block at the front of a list.
pub(super) fn push(blocks: Blocks<'_>, head: &mut u32, block: u32) {
    let next = std::mem::replace(head, block);
    Links { next, previous: NONE }.store(blocks, block);
    if next != NONE {
        Links { previous: block, ..Links::load(blocks, next) }.store(blocks, next);
    }
}

/// Takes a free block out of a list.
pub(super) fn remove(blocks: Blocks<'_>, head: &mut u32, block: u32) {
    let Links { next, previous } = Links::load(blocks, block);
    if previous == NONE {
        *head = next;
    } else {
        Links { next, ..Links::load(blocks, previous) }.store(blocks, previous);
    }
    if next != NONE {
        Links { previous, ..Links::load(blocks, next) }.store(blocks, next);
    }
}

/// Returns the blocks of a list.
pub(super) fn all(blocks: Blocks<'_>, head: u32) -> impl Iterator<Item = u32> {
    let is_block = |block: &u32| *block != NONE;
    let next = move |block: &u32| Some(Links::load(blocks, *block).next).filter(is_block);
    std::iter::successors(Some(head).filter(is_block), next)
}

/// True if a free block is in the list, as far as its own links show.
pub(super) fn is_linked(blocks: Blocks<'_>, head: u32, block: u32) -> bool {
    match Links::load(blocks, block).previous {
        NONE => head == block,
        previous => Links::load(blocks, previous).next == block,
    }
}

/// Returns a rule that is broken, if one is, otherwise the number of blocks in a list. It ends even
/// if the links lead into a circle: then a block has two previous ones.
pub(super) fn check(
    blocks: Blocks<'_>,
    head: u32,
    belongs: impl Fn(u32) -> bool,
) -> Result<u64, &'static str> {
    let (mut count, mut previous) = (0, NONE);
    for block in all(blocks, head) {
        require(blocks.is_free(block), "a block in a list is free")?;
        require(belongs(block), "a block is in the list of its size")?;
        require(Links::load(blocks, block).previous == previous, "links agree both ways")?;
        (count, previous) = (count + 1, block);
    }
    Ok(count)
}

/// How an allocator files its free blocks.
pub(super) trait Filing {
    /// Puts a free block into its list.
    fn insert(&mut self, blocks: Blocks<'_>, block: u32);

    /// Takes a free block out of its list.
    fn remove(&mut self, blocks: Blocks<'_>, block: u32);
}

/// Gives out the front of a free block, or all of it if the rest is too small.
pub(super) fn take(filing: &mut impl Filing, blocks: Blocks<'_>, block: u32, words: u32) -> Block {
    filing.remove(blocks, block);
    if let Some(rest) = blocks.split(block, words) {
        filing.insert(blocks, rest);
    }
    Block(block)
}

/// Makes a block free, and joins it with its free neighbours.
pub(super) fn give_back(filing: &mut impl Filing, blocks: Blocks<'_>, block: u32) {
    debug_assert!(!blocks.is_free(block), "block {block} is free already");
    let neighbours = blocks.free_neighbours(block);
    neighbours.into_iter().flatten().for_each(|neighbour| filing.remove(blocks, neighbour));
    let joined = blocks.join(block, neighbours);
    filing.insert(blocks, joined);
}
