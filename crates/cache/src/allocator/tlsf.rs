//! Two-level segregated fit (Masmano, Ripoll, Crespo and Real, ECRTS 2004; thesis §3.2.3.2): any
//! call takes constant time.
//!
//! Free blocks are filed in lists by size. [`mapping`] names the list of a size, in words:
//!
//! | size | first level | second level |
//! |---|---|---|
//! | 0 to 31 words, below 256 bytes | 0 | the size |
//! | 2^f to 2^(f+1) − 1 | f, 5 to 31 | 32 equal parts of that range: ⌊(size − 2^f) · 32 / 2^f⌋ |
//!
//! So 130 words are in list (7, 0), 460 in (8, 25), 4,096 in (12, 0). Below 64 words a list has one
//! size. One bitmap says which first levels have a block, and one for each first level says which
//! of its lists do.
//!
//! A request is rounded up to the next list's start. Then each block of its list and of all later
//! lists is large enough. The first list that is not empty is found by two searches for a set bit,
//! one for each level. So at most 1/32 of a block may stay unused though it would have been enough.
//!
//! The only loop of a call is the one over the two neighbours of a freed block.

use std::sync::atomic::AtomicU64;

use super::blocks::{Blocks, HEAP_WORDS_MIN, WORDS_MIN, usable};
use super::lists::{self, Filing, NONE};
use super::{Allocator, Block, Usage, require};

/// Bits of the second level: SLI in the paper.
const SECOND_BITS: u32 = 5;
/// Lists of each first level.
const LISTS: usize = 1 << SECOND_BITS;
/// First levels, one for each bit of a size. Those from 1 to 4 are empty.
const LEVELS: usize = u32::BITS as usize;

/// The allocator with a list for each class of sizes.
pub struct Tlsf {
    words: u32,
    /// Words of the heap that are in blocks: none before the first call, then all.
    below_break: u32,
    /// A bit for each first level with a block.
    levels: u32,
    /// For each first level, a bit for each list with a block.
    lists: [u32; LEVELS],
    heads: [[u32; LISTS]; LEVELS],
}

/// Returns first and second level of the list for free blocks of `size` words.
pub fn mapping(size: u32) -> (u32, u32) {
    if size < LISTS as u32 {
        return (0, size);
    }
    let first = size.ilog2();
    (first, (size - (1 << first)) >> (first - SECOND_BITS))
}

/// Returns the least size in a list: the inverse of [`mapping`].
fn least(first: u32, second: u32) -> u32 {
    if first == 0 { second } else { (1 << first) + (second << (first - SECOND_BITS)) }
}

/// Rounds a size up, to one whose list has only blocks that are large enough. `None` if it is too
/// large for any list.
fn rounded(size: u32) -> Option<u32> {
    let list_words = (1u32 << size.ilog2()) >> SECOND_BITS;
    size.checked_add(list_words.saturating_sub(1))
}

impl Tlsf {
    /// Returns an allocator of a heap of `words` words. Below four words it gives out nothing.
    pub fn new(words: u64) -> Tlsf {
        Tlsf {
            words: usable(words),
            below_break: 0,
            levels: 0,
            lists: [0; LEVELS],
            heads: [[NONE; LISTS]; LEVELS],
        }
    }

    /// Returns a rule that is broken, if one is. Walks all blocks: for tests.
    pub fn check(&self, heap: &[AtomicU64]) -> Result<(), &'static str> {
        let blocks = Blocks::new(heap);
        let head = |(first, second): (u32, u32)| self.heads[first as usize][second as usize];
        let is_linked = |block| lists::is_linked(blocks, head(mapping(blocks.words(block))), block);
        let free = blocks.check(self.below_break, is_linked)?;
        let mut listed = 0;
        for first in 0..LEVELS as u32 {
            let has_lists = self.lists[first as usize] != 0;
            require((self.levels >> first & 1 == 1) == has_lists, "a level's bit is right")?;
            for second in 0..LISTS as u32 {
                listed += self.check_list(blocks, (first, second))?;
            }
        }
        require(free == listed, "the lists have the free blocks")
    }

    fn check_list(&self, blocks: Blocks<'_>, list: (u32, u32)) -> Result<u64, &'static str> {
        let (first, second) = (list.0 as usize, list.1 as usize);
        let (head, bit) = (self.heads[first][second], self.lists[first] >> second & 1);
        require((bit == 1) == (head != NONE), "a list's bit is right")?;
        lists::check(blocks, head, |block| mapping(blocks.words(block)) == list)
    }

    /// Makes the whole heap one free block, when the first block is allocated.
    fn open(&mut self, blocks: Blocks<'_>) {
        if self.below_break == 0 && self.words >= HEAP_WORDS_MIN {
            let block = blocks.grow(0, self.words);
            self.below_break = self.words;
            self.insert(blocks, block);
        }
    }

    /// Returns the first block of the first list from which each block is large enough.
    fn find(&self, words: u32) -> Option<u32> {
        let (first, second) = mapping(rounded(words)?);
        let lists = self.lists[first as usize] & u32::MAX << second;
        let (first, lists) = if lists != 0 {
            (first, lists)
        } else {
            // Two shifts, since 32 bits are too far for one.
            let first = lowest_bit(self.levels & (u32::MAX << first) << 1)?;
            (first, self.lists[first as usize])
        };
        Some(self.heads[first as usize][lowest_bit(lists)? as usize])
    }

    /// Returns the largest size for which [`Self::find`] finds a block.
    fn largest(&self) -> u32 {
        let Some(first) = self.levels.checked_ilog2() else { return 0 };
        least(first, self.lists[first as usize].ilog2())
    }
}

/// Returns the number of the lowest bit that is set.
fn lowest_bit(bits: u32) -> Option<u32> {
    (bits != 0).then(|| bits.trailing_zeros())
}

impl Filing for Tlsf {
    fn insert(&mut self, blocks: Blocks<'_>, block: u32) {
        let (first, second) = mapping(blocks.words(block));
        lists::push(blocks, &mut self.heads[first as usize][second as usize], block);
        self.levels |= 1 << first;
        self.lists[first as usize] |= 1 << second;
    }

    fn remove(&mut self, blocks: Blocks<'_>, block: u32) {
        let (first, second) = mapping(blocks.words(block));
        let head = &mut self.heads[first as usize][second as usize];
        lists::remove(blocks, head, block);
        if *head == NONE {
            let lists = &mut self.lists[first as usize];
            *lists &= !(1 << second);
            self.levels &= !(u32::from(*lists == 0) << first);
        }
    }
}

impl Allocator for Tlsf {
    fn allocate(&mut self, heap: &[AtomicU64], words: u32) -> Option<Block> {
        let (blocks, words) = (Blocks::new(heap), words.max(WORDS_MIN));
        self.open(blocks);
        let block = self.find(words)?;
        Some(lists::take(self, blocks, block, words))
    }

    fn free(&mut self, heap: &[AtomicU64], block: Block) {
        lists::give_back(self, Blocks::new(heap), block.0);
    }

    fn words(&self, heap: &[AtomicU64], block: Block) -> u32 {
        Blocks::new(heap).words(block.0)
    }

    fn usage(&self, heap: &[AtomicU64]) -> Usage {
        if self.below_break > 0 {
            let largest = self.largest().into();
            return Usage { largest, ..Blocks::new(heap).usage(self.below_break) };
        }
        // No block was ever allocated.
        let (first, second) = mapping(self.words.saturating_sub(2));
        let largest = if self.words < HEAP_WORDS_MIN { 0 } else { least(first, second).into() };
        Usage { free: self.words.into(), largest, ..Usage::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_map_as_in_the_thesis() {
        assert_eq!([130, 460, 4096].map(mapping), [(7, 0), (8, 25), (12, 0)]);
        assert_eq!([0, 2, 31].map(mapping), [(0, 0), (0, 2), (0, 31)]);
        assert_eq!([32, 33, 63].map(mapping), [(5, 0), (5, 1), (5, 31)]);
        assert_eq!([64, 65, 66].map(mapping), [(6, 0), (6, 0), (6, 1)]);
        assert_eq!(mapping(u32::MAX), (31, 31));
    }

    #[test]
    fn requests_are_rounded_up_to_a_list() {
        assert_eq!([2, 31, 63, 64, 65].map(rounded), [2, 31, 63, 65, 66].map(Some));
        assert_eq!([128, 129, 4096].map(rounded), [131, 132, 4223].map(Some));
        assert_eq!(rounded(u32::MAX), None);
        assert_eq!(rounded(u32::MAX - (1 << 26) + 2), None);
        assert_eq!(rounded(u32::MAX - (1 << 26) + 1).map(mapping), Some((31, 31)));
    }

    #[test]
    fn the_list_of_a_large_block_may_be_too_low_for_its_own_size() {
        let heap: Vec<AtomicU64> = (0..4102).map(AtomicU64::new).collect();
        let mut allocator = Tlsf::new(4102);
        assert_eq!(allocator.usage(&heap).largest, 4096, "a block of 4,100 words is in (12, 0)");
        assert_eq!(allocator.allocate(&heap, 4097), None);
        assert_eq!(allocator.allocate(&heap, 4096), Some(Block(1)));
        assert_eq!(allocator.usage(&heap).free_blocks, 1, "the rest has three words");
        allocator.free(&heap, Block(1));
        assert_eq!(allocator.check(&heap), Ok(()));
        assert_eq!(allocator.usage(&heap).free, 4100);
    }

    fn sizes() -> impl Strategy<Value = u32> {
        (1u32..=u32::MAX, 0u32..32).prop_map(|(size, shift)| (size >> shift).max(1))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Lists have the order of sizes, and `least` is the first size of each.
        #[test]
        fn lists_are_ranges_of_sizes(size in sizes(), other in sizes()) {
            let (first, second) = mapping(size);
            let least = least(first, second);
            prop_assert!(least <= size && mapping(least) == (first, second));
            prop_assert!(least == 0 || mapping(least - 1) < (first, second));
            prop_assert!(size > other || mapping(size) <= mapping(other));
        }

        /// A rounded size is in the first list that has only blocks of at least that size.
        #[test]
        fn a_rounded_size_finds_only_blocks_that_fit(size in sizes()) {
            let Some(rounded) = rounded(size) else {
                prop_assert!(least(31, 31) < size);
                return Ok(());
            };
            let (first, second) = mapping(rounded);
            let start = least(first, second);
            prop_assert!(start >= size);
            let (first, second) = mapping(start - 1);
            prop_assert!(least(first, second) < size);
        }
    }
}
