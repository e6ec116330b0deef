//! A ring allocator: blocks are allocated in order and released in (nearly) that order.
//!
//! Segments are born and die first in, first out. So their memory needs no free lists, and never
//! fragments beyond the gap at the ring's end (paper §4.4). Each block has an owner, a segment. The
//! blocks of an owner are released together.
//!
//! Blocks of two neighbouring segments may interleave: one is flushed while the next one is filled.
//! The space of a released block returns when all older blocks are released too, or all newer ones.
//! So an owner that releases what it has just allocated leaves the ring unchanged, however often it
//! tries.
//!
//! Not thread-safe: its user serializes. It allocates nothing after construction.

use std::collections::VecDeque;

/// The size in bytes of which blocks are multiples, and to which they are aligned.
pub const RING_ALIGN: u64 = 64;

struct Block {
    owner: u64,
    bytes: u64,
    released: bool,
}

/// A FIFO allocator over the bytes `start .. start + bytes` of a region.
pub struct Ring {
    start: u64,
    bytes: u64,
    /// The offset of the next block, from `start`.
    head: u64,
    /// The bytes from the oldest block to the newest, with gaps.
    used: u64,
    /// The blocks, oldest first. The gap before a wrap is a block that was released at birth.
    blocks: VecDeque<Block>,
    blocks_max: usize,
}

impl Ring {
    /// Returns a ring over `bytes` bytes at `start`, with at most `blocks_max` blocks alive at one
    /// time.
    pub fn new(start: u64, bytes: u64, blocks_max: usize) -> Ring {
        let aligned = start.next_multiple_of(RING_ALIGN);
        let bytes = bytes.saturating_sub(aligned - start);
        let bytes = bytes - bytes % RING_ALIGN;
        // A wrap puts one gap between two blocks, hence one more at most.
        let blocks = VecDeque::with_capacity(blocks_max + 1);
        Ring { start: aligned, bytes, head: 0, used: 0, blocks, blocks_max }
    }

    /// Allocates a block of at least `bytes` bytes for `owner`. Returns its offset from the
    /// region's start; none while it does not fit.
    pub fn allocate(&mut self, bytes: u64, owner: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(RING_ALIGN)?;
        if bytes > self.bytes || self.blocks.len() >= self.blocks_max {
            return None;
        }
        if self.blocks.is_empty() {
            self.head = 0;
        }
        let gap = if self.head + bytes > self.bytes { self.bytes - self.head } else { 0 };
        if self.used + gap + bytes > self.bytes {
            return None;
        }
        if gap > 0 {
            self.push(Block { owner, bytes: gap, released: true });
        }
        let place = self.head;
        self.push(Block { owner, bytes, released: false });
        Some(self.start + place)
    }

    /// Restores a block that was allocated before, as if by this ring. Blocks come oldest first.
    /// False if such blocks cannot have been allocated.
    pub fn restore(&mut self, at: u64, bytes: u64, owner: u64) -> bool {
        let bytes = bytes.max(1).next_multiple_of(RING_ALIGN);
        let place = at.wrapping_sub(self.start);
        if !place.is_multiple_of(RING_ALIGN) || place >= self.bytes || bytes > self.bytes - place {
            return false;
        }
        if self.blocks.is_empty() {
            self.head = place;
        }
        // Before the block is the gap at the ring's end, or space that was released.
        let gap =
            if place >= self.head { place - self.head } else { self.bytes - self.head + place };
        if self.used + gap + bytes > self.bytes {
            return false;
        }
        if gap > 0 {
            self.push(Block { owner, bytes: gap, released: true });
            self.head = place;
        }
        self.push(Block { owner, bytes, released: false });
        true
    }

    /// Releases the newest block's bytes beyond `bytes`, if the block is `owner`'s. True if it is.
    pub fn shrink(&mut self, bytes: u64, owner: u64) -> bool {
        let bytes = bytes.max(1).next_multiple_of(RING_ALIGN);
        let newest = self.blocks.back_mut().filter(|b| b.owner == owner && b.bytes >= bytes);
        let Some(newest) = newest.filter(|b| !b.released) else { return false };
        let left = newest.bytes - bytes;
        newest.bytes = bytes;
        self.used -= left;
        let end = if self.head == 0 { self.bytes } else { self.head };
        self.head = (end - left) % self.bytes;
        true
    }

    /// Releases all blocks of `owner`.
    pub fn release(&mut self, owner: u64) {
        for block in self.blocks.iter_mut().filter(|b| b.owner == owner) {
            block.released = true;
        }
        while let Some(oldest) = self.blocks.pop_front_if(|b| b.released) {
            self.used -= oldest.bytes;
        }
        while let Some(newest) = self.blocks.pop_back_if(|b| b.released) {
            self.used -= newest.bytes;
            self.head = (self.head + self.bytes - newest.bytes) % self.bytes;
        }
    }

    /// Returns the bytes that the ring covers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes between the oldest and the newest block that are alive, with gaps.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the bytes that would be [used](Self::used) if the blocks of some owners were released.
    pub fn used_without(&self, is_gone: impl Fn(u64) -> bool) -> u64 {
        let is_free = |block: &&Block| block.released || is_gone(block.owner);
        let oldest = self.blocks.iter().take_while(is_free);
        if oldest.clone().count() == self.blocks.len() {
            return 0;
        }
        let newest = self.blocks.iter().rev().take_while(is_free);
        self.used - oldest.chain(newest).map(|block| block.bytes).sum::<u64>()
    }

    /// Returns the size of the largest block that could be allocated now.
    pub fn largest_free(&self) -> u64 {
        if self.blocks.len() >= self.blocks_max {
            return 0;
        }
        if self.blocks.is_empty() {
            return self.bytes;
        }
        // Behind the newest block, and behind a gap at the ring's end.
        let free = self.bytes - self.used;
        let behind = self.bytes - self.head;
        behind.min(free).max(free.saturating_sub(behind))
    }

    /// Returns the owner of the oldest block that is alive, which keeps the space after it from
    /// returning.
    pub fn oldest_owner(&self) -> Option<u64> {
        self.blocks.front().map(|b| b.owner)
    }

    /// Returns the bytes in blocks of `owner`.
    pub fn owned(&self, owner: u64) -> u64 {
        self.blocks.iter().filter(|b| b.owner == owner && !b.released).map(|b| b.bytes).sum()
    }

    fn push(&mut self, block: Block) {
        self.head += block.bytes;
        if self.head >= self.bytes {
            self.head = 0;
        }
        self.used += block.bytes;
        self.blocks.push_back(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_given_back_at_once_costs_nothing() {
        let mut ring = Ring::new(0, 640, 8);
        ring.allocate(128, 1);
        ring.allocate(320, 2);
        ring.release(1);
        // Behind the newest there is room for 192 bytes, and before the oldest for 128 behind a gap.
        for bytes in [192, 64, 128].repeat(10) {
            assert_eq!(ring.allocate(bytes, 3), Some(448));
            ring.release(3);
            assert_eq!(ring.used(), 320);
        }
        ring.allocate(128, 3);
        for _ in 0..10 {
            assert_eq!(ring.allocate(128, 4), Some(0));
            ring.release(4);
            assert_eq!(ring.used(), 320 + 128);
        }
        assert_eq!(ring.allocate(64, 4), Some(576));
    }

    #[test]
    fn blocks_that_were_given_out_before_are_taken_up_again() {
        let mut ring = Ring::new(64, 640, 8);
        // As it was left: two blocks at the end, and after the gap of 64 bytes one at the beginning.
        for (at, bytes, owner) in [(64 + 320, 128, 1), (64 + 448, 128, 2), (64, 192, 3)] {
            assert!(ring.restore(at, bytes, owner));
        }
        assert_eq!((ring.used(), ring.owned(3)), (128 + 128 + 64 + 192, 192));
        assert_eq!(ring.allocate(192, 4), None);
        assert_eq!(ring.allocate(128, 4), Some(64 + 192));
        ring.release(1);
        assert_eq!(ring.allocate(128, 5), Some(64 + 320));
        // What cannot have been given out.
        let mut ring = Ring::new(64, 640, 8);
        assert!(!ring.restore(0, 64, 1) && !ring.restore(64 + 640, 64, 1));
        assert!(!ring.restore(64, 704, 1) && !ring.restore(65, 64, 1));
        assert!(ring.restore(64, 320, 1) && !ring.restore(128, 64, 2));
    }

    #[test]
    fn a_full_ring_says_no_until_the_oldest_goes() {
        let mut ring = Ring::new(0, 256, 8);
        assert_eq!(ring.allocate(100, 1), Some(0));
        assert_eq!(ring.allocate(64, 2), Some(128));
        assert_eq!(ring.allocate(64, 3), Some(192));
        assert_eq!(ring.owned(1), 128);
        assert!(ring.allocate(1, 4).is_none());
        ring.release(2);
        assert!(ring.allocate(1, 4).is_none(), "2 is gone, but 1 and 3 around it are alive");
        ring.release(1);
        assert_eq!(ring.used(), 64);
        ring.release(3);
        assert_eq!(ring.used(), 0);
        assert_eq!(ring.allocate(256, 4), Some(0));
    }

    #[test]
    fn the_newest_block_gives_back_what_it_does_not_need() {
        let mut ring = Ring::new(0, 256, 8);
        assert_eq!(ring.allocate(64, 1), Some(0));
        assert_eq!(ring.allocate(192, 2), Some(64));
        assert!(!ring.shrink(64, 1), "another one is newer");
        assert!(!ring.shrink(256, 2), "a block does not grow");
        assert!(ring.shrink(192, 2) && ring.used() == 256);
        assert!(ring.shrink(65, 2) && ring.used() == 192 && ring.owned(2) == 128);
        assert_eq!(ring.allocate(64, 3), Some(192));
        assert!(ring.shrink(0, 3));
        ring.release(1);
        assert_eq!(ring.allocate(64, 4), Some(0));
    }

    proptest! {
        /// Shadow model: live blocks never overlap, stay inside, and a drained ring is empty again.
        #[test]
        fn blocks_never_overlap(steps in prop::collection::vec((1u64..700, 0u64..4, any::<bool>()), 1..200)) {
            let mut ring = Ring::new(128, 2048, 16);
            let mut live: Vec<(u64, u64, u64)> = Vec::new();
            let (mut oldest, mut newest) = (0, 0);
            for (bytes, near, release) in steps {
                if near == 3 {
                    let Some((owner, start, end)) = live.pop() else { continue };
                    let less = bytes.next_multiple_of(RING_ALIGN).min(end - start);
                    // Not if a neighbour's gap is newer.
                    let end = if ring.shrink(less, owner) { start + less } else { end };
                    live.push((owner, start, end));
                } else if release && oldest < newest {
                    // Mostly the oldest, as segments do; sometimes a neighbour goes first.
                    let owner = (oldest + near.saturating_sub(1)).min(newest);
                    let left = ring.used_without(|gone| gone == owner);
                    ring.release(owner);
                    prop_assert_eq!(ring.used(), left);
                    live.retain(|b| b.0 != owner);
                    oldest += u64::from(owner == oldest);
                } else {
                    newest += near / 2;
                    if let Some(start) = ring.allocate(bytes, newest) {
                        let end = start + bytes.next_multiple_of(RING_ALIGN);
                        prop_assert!(start >= 128 && end <= 128 + 2048 && start % RING_ALIGN == 0);
                        for (_, s, e) in &live {
                            prop_assert!(end <= *s || *e <= start);
                        }
                        live.push((newest, start, end));
                    }
                }
                prop_assert!(ring.used() <= ring.bytes());
                let largest = ring.largest_free();
                prop_assert_eq!(ring.allocate(largest + 1, u64::MAX), None);
                if largest > 0 {
                    prop_assert!(ring.allocate(largest, u64::MAX).is_some());
                    ring.release(u64::MAX);
                }
            }
            for (owner, _, _) in live {
                ring.release(owner);
            }
            prop_assert_eq!(ring.used(), 0);
            prop_assert!(ring.allocate(2048, 9).is_some());
        }
    }
}
