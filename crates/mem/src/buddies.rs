//! A buddy allocator for objects that do not die in order: a dictionary's records, growing arrays
//! and long terms.
//!
//! A block has `64 << class` bytes, and begins at a multiple of its size. A request takes a block
//! of the smallest class that has one, and halves it until it fits. A freed block is joined with
//! its *buddy* (the other half of the block that both came from) as long as that is free too. So
//! memory freed in small blocks serves a large one again, and does not fragment under a stream of
//! months (Knowlton, 1965). Halving and joining take at most one step for each class.
//!
//! | where | what |
//! |---|---|
//! | first lines of the pool | the map: one bit a line, set if a free block begins there |
//! | a free block's first line | 0, 1: line of its class's next and previous free block; 2: class |
//!
//! Blocks in use have no mark. Not thread-safe: its owner serializes. The caller frees a block only
//! when no reader can hold it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::line::Line;
use crate::region::Region;
use crate::span::Span;

/// The smallest block, in bytes: a line.
pub const BUDDY_BYTES_MIN: u64 = size_of::<Line>() as u64;
const CLASSES: usize = 32;
/// The class of blocks that are made of fresh lines at once, if alignment allows: 256 KiB.
const GROWTH_CLASS: usize = 12;
/// No line: the end of a free list.
const NONE: u64 = u64::MAX;

/// A buddy allocator over a pool of lines in a region.
pub struct Buddies {
    pool: Span<Line>,
    map: Span<AtomicU64>,
    /// The first free block of each class, by line.
    free: [u64; CLASSES],
    /// The first line that was never in a block, like all after it. Fresh lines are touched only
    /// when needed: a start that touched a line of each large block would wait for as many huge
    /// pages.
    fresh: u64,
    used: u64,
}

impl Buddies {
    /// Returns an allocator over `pool`, to which nothing was ever stored.
    pub fn new(pool: Span<Line>) -> Buddies {
        let map = Span::<AtomicU64>::new(pool.start(), pool.len().div_ceil(64));
        let fresh = map.bytes().div_ceil(BUDDY_BYTES_MIN);
        Buddies { pool, map, free: [NONE; CLASSES], fresh, used: 0 }
    }

    /// Returns the bytes that a block of at least `bytes` bytes takes.
    pub fn rounded(bytes: u64) -> u64 {
        BUDDY_BYTES_MIN << Self::class(bytes)
    }

    /// Returns the offset of a block of at least `bytes` bytes from the region's start. None while
    /// no block is free. The loop ends with a large enough block, or when no fresh lines are left.
    pub fn allocate(&mut self, region: &Region, bytes: u64) -> Option<u64> {
        let class = Self::class(bytes);
        let mut larger = loop {
            let found = (class..CLASSES).find(|class| self.free[*class] != NONE);
            match found {
                None if self.fresh < self.pool.len() => self.grow(region, class),
                found => break found?,
            }
        };
        let line = self.free[larger];
        self.unlink(region, line, larger);
        while larger > class {
            larger -= 1;
            self.push(region, line + (1 << larger), larger);
        }
        self.used += BUDDY_BYTES_MIN << class;
        Some(self.pool.start() + line * BUDDY_BYTES_MIN)
    }

    /// Makes a free block of fresh lines. It has `class` if alignment and the pool's end allow, and
    /// is not much larger.
    fn grow(&mut self, region: &Region, class: usize) {
        let room = (self.pool.len() - self.fresh).ilog2();
        let most = (self.fresh.trailing_zeros().min(room) as usize).min(CLASSES - 1);
        let (line, class) = (self.fresh, most.min(class.max(GROWTH_CLASS)));
        self.fresh += 1 << class;
        self.join(region, line, class);
    }

    /// Frees the block at `at`, which was allocated for `bytes` bytes.
    pub fn free(&mut self, region: &Region, at: u64, bytes: u64) {
        let class = Self::class(bytes);
        self.used -= BUDDY_BYTES_MIN << class;
        self.join(region, (at - self.pool.start()) / BUDDY_BYTES_MIN, class);
    }

    /// Makes a block free, joined with its buddy if that is free.
    fn join(&mut self, region: &Region, mut line: u64, mut class: usize) {
        while class + 1 < CLASSES && self.is_free(region, line ^ (1 << class), class) {
            self.unlink(region, line ^ (1 << class), class);
            line &= !(1 << class);
            class += 1;
        }
        self.push(region, line, class);
    }

    /// Returns the bytes in allocated blocks.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the bytes that blocks can be made of.
    pub fn bytes(&self) -> u64 {
        self.pool.bytes()
            - self.map.bytes().next_multiple_of(BUDDY_BYTES_MIN).min(self.pool.bytes())
    }

    /// Returns the size of the largest block that could be allocated now; 0 without one.
    pub fn largest_free(&self, region: &Region) -> u64 {
        let fits = |class: &usize| self.free[*class] != NONE || self.can_grow_to(region, *class);
        (0..CLASSES).rev().find(fits).map_or(0, |class| BUDDY_BYTES_MIN << class)
    }

    /// True if fresh lines make a block of `class`, maybe with free blocks right before them.
    fn can_grow_to(&self, region: &Region, class: usize) -> bool {
        let lines = 1 << class;
        let start = self.fresh & !(lines - 1);
        let is_own = self.is_free_between(region, start, self.fresh);
        let start = if is_own { start } else { start + lines };
        start + lines <= self.pool.len()
    }

    /// True if free blocks fill the lines from `line` to `end`.
    fn is_free_between(&self, region: &Region, mut line: u64, end: u64) -> bool {
        // Terminates: a block has at least one line.
        while line < end {
            let class = self.word(region, line, 2).load(Relaxed);
            if class >= CLASSES as u64 || !self.is_free(region, line, class as usize) {
                return false;
            }
            line += 1 << class;
        }
        true
    }

    fn class(bytes: u64) -> usize {
        let lines = bytes.max(1).div_ceil(BUDDY_BYTES_MIN);
        (u64::BITS - (lines - 1).leading_zeros()) as usize
    }

    /// True if a free block of `class` begins at `line`.
    fn is_free(&self, region: &Region, line: u64, class: usize) -> bool {
        let Some(word) = region.view(self.map).get(line as usize / 64) else { return false };
        word.load(Relaxed) >> (line % 64) & 1 == 1
            && self.word(region, line, 2).load(Relaxed) == class as u64
    }

    /// Puts a block at the front of its class's list.
    fn push(&mut self, region: &Region, line: u64, class: usize) {
        let next = std::mem::replace(&mut self.free[class], line);
        if next != NONE {
            self.word(region, next, 1).store(line, Relaxed);
        }
        for (word, value) in [next, NONE, class as u64].into_iter().enumerate() {
            self.word(region, line, word).store(value, Relaxed);
        }
        self.flip(region, line);
    }

    /// Removes a block from its class's list.
    fn unlink(&mut self, region: &Region, line: u64, class: usize) {
        let [next, previous] = [0, 1].map(|word| self.word(region, line, word).load(Relaxed));
        if next != NONE {
            self.word(region, next, 1).store(previous, Relaxed);
        }
        if previous == NONE {
            self.free[class] = next;
        } else {
            self.word(region, previous, 0).store(next, Relaxed);
        }
        self.flip(region, line);
    }

    /// Flips the line's bit of the map.
    fn flip(&self, region: &Region, line: u64) {
        let word = &region.view(self.map)[line as usize / 64];
        word.store(word.load(Relaxed) ^ 1 << (line % 64), Relaxed);
    }

    /// Returns a word of a free block's first line.
    fn word<'a>(&self, region: &'a Region, line: u64, word: usize) -> &'a AtomicU64 {
        region.view(self.pool)[line as usize].pair(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Residency;
    use proptest::prelude::*;

    /// A pool that begins at a page, has `lines` lines of blocks, and lines before it for the map.
    fn pool(lines: u64) -> (Region, Buddies) {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        let buddies = Buddies::new(Span::new(4096, lines));
        (region, buddies)
    }

    #[test]
    fn sizes_round_up_to_powers_of_two_lines() {
        let rounded = |b| Buddies::rounded(b);
        assert_eq!([1, 64, 65, 128, 129, 4096].map(rounded), [64, 64, 128, 128, 256, 4096]);
    }

    #[test]
    fn a_full_pool_says_no_and_small_blocks_become_a_large_one_again() {
        // Nine lines: the map takes the first, and blocks of 1, 2, 4 and 1 lines are left.
        let (region, mut pool) = pool(9);
        assert_eq!(pool.bytes(), 8 * 64);
        assert!(pool.allocate(&region, 257).is_none());
        assert!(pool.allocate(&region, u64::MAX / 2).is_none());
        let four = [(); 4].map(|()| pool.allocate(&region, 128));
        assert_eq!(four.map(|block| block.is_some()), [true, true, true, false]);
        assert!(pool.allocate(&region, 256).is_none());
        for at in four.into_iter().flatten() {
            pool.free(&region, at, 100);
        }
        assert_eq!(pool.allocate(&region, 256), Some(4096 + 4 * 64));
        assert_eq!(pool.used(), 256);
    }

    #[test]
    fn a_pool_with_no_room_for_anything_but_its_map_gives_nothing() {
        let (region, mut pool) = pool(1);
        assert_eq!((pool.bytes(), pool.allocate(&region, 1)), (0, None));
    }

    proptest! {
        /// Shadow model: blocks in use never overlap, are aligned and inside, nothing is refused that a free block of
        /// its size could serve, and a pool whose blocks all came back is as it was.
        #[test]
        fn blocks_never_overlap_and_always_join_again(
            lines in 2u64..1500,
            steps in prop::collection::vec((1u64..3000, any::<prop::sample::Index>(), any::<bool>()), 1..300),
        ) {
            let (region, mut pool) = pool(lines);
            let first = 4096 + lines.div_ceil(512) * 64;
            let end = 4096 + lines * 64;
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (bytes, which, free) in steps {
                if free && !live.is_empty() {
                    let (at, bytes) = live.swap_remove(which.index(live.len()));
                    pool.free(&region, at, bytes);
                } else if let Some(at) = pool.allocate(&region, bytes) {
                    let size = Buddies::rounded(bytes);
                    prop_assert!((at - 4096).is_multiple_of(size) && at >= first && at + size <= end);
                    for (other, bytes) in &live {
                        prop_assert!(at + size <= *other || other + Buddies::rounded(*bytes) <= at);
                    }
                    live.push((at, bytes));
                } else {
                    let size = Buddies::rounded(bytes);
                    let hole = (0..lines * 64 / size).map(|n| 4096 + n * size).find(|at| {
                        let taken = |(other, bytes): &(u64, u64)| {
                            *other < at + size && *at < other + Buddies::rounded(*bytes)
                        };
                        *at >= first && at + size <= end && !live.iter().any(taken)
                    });
                    prop_assert_eq!(hole, None, "{} bytes fit", size);
                }
                let used: u64 = live.iter().map(|(_, b)| Buddies::rounded(*b)).sum();
                prop_assert_eq!(pool.used(), used);
                let largest = pool.largest_free(&region);
                // Trying takes fresh lines, so only some steps try.
                if bytes % 4 == 0 {
                    prop_assert_eq!(pool.allocate(&region, largest + 1), None);
                }
                if largest > 0 {
                    let at = pool.allocate(&region, largest);
                    prop_assert!(at.is_some(), "{} bytes do not fit", largest);
                    pool.free(&region, at.unwrap(), largest);
                }
            }
            for (at, bytes) in live {
                pool.free(&region, at, bytes);
            }
            let (other, mut fresh) = self::pool(lines);
            for (region, pool) in [(&region, &mut pool), (&other, &mut fresh)] {
                prop_assert_eq!(pool.allocate(region, lines * 64 + 1), None);
            }
            let occupied = |pool: &Buddies| pool.free.map(|line| line != NONE);
            prop_assert_eq!(occupied(&pool), occupied(&fresh));
        }
    }
}
