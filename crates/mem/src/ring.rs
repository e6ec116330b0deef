//! A ring allocator: blocks are given out in order and come back in (nearly) that order.
//!
//! Segments are born and die first in, first out, so their memory needs no free lists and never fragments
//! beyond the gap at the ring's end (paper §4.4). A block may be freed early; its space returns when all
//! older blocks are gone too. Positions are *virtual*: they count bytes ever given out and never wrap, which
//! is what makes a stale handle recognizable.
//!
//! Not thread-safe: its owner serializes. It allocates nothing after construction.

use std::collections::VecDeque;

/// Blocks are multiples of, and aligned to, this many bytes.
pub const RING_ALIGN: u64 = 64;

/// A block given out by a [`Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingBlock {
    /// Bytes from the region's start.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes the ring had given out before this block, over its whole life.
    pub position: u64,
}

struct Entry {
    position: u64,
    bytes: u64,
    freed: bool,
}

/// A FIFO allocator over the bytes `start .. start + bytes` of a region.
pub struct Ring {
    start: u64,
    bytes: u64,
    /// Virtual position of the next block.
    head: u64,
    /// Live blocks and freed ones behind a live one, oldest first. The gap before a wrap is a freed entry.
    entries: VecDeque<Entry>,
    entries_max: usize,
}

impl Ring {
    /// A ring over `bytes` bytes at `start`, with at most `blocks_max` blocks alive at once.
    pub fn new(start: u64, bytes: u64, blocks_max: usize) -> Ring {
        let bytes = bytes - bytes % RING_ALIGN;
        let start = start.next_multiple_of(RING_ALIGN);
        // A wrap puts one gap between two blocks, hence one more entry at most.
        let entries = VecDeque::with_capacity(blocks_max + 1);
        Ring { start, bytes, head: 0, entries, entries_max: blocks_max }
    }

    /// A block of at least `bytes` bytes, or `None` while it does not fit.
    pub fn allocate(&mut self, bytes: u64) -> Option<RingBlock> {
        let bytes = bytes.max(1).checked_next_multiple_of(RING_ALIGN)?;
        if bytes > self.bytes || self.entries.len() >= self.entries_max {
            return None;
        }
        let place = self.head % self.bytes;
        let gap = if place + bytes > self.bytes { self.bytes - place } else { 0 };
        if self.used() + gap + bytes > self.bytes {
            return None;
        }
        if gap > 0 {
            self.push(gap, true);
        }
        let position = self.head;
        self.push(bytes, false);
        self.trim();
        Some(RingBlock { start: self.start + position % self.bytes, bytes, position })
    }

    /// Takes `block` back.
    ///
    /// # Panics
    /// If the block is not alive in this ring: a double free would hand its bytes to two owners.
    pub fn free(&mut self, block: RingBlock) {
        let found = self.entries.binary_search_by_key(&block.position, |e| e.position);
        let entry = found.ok().map(|i| &mut self.entries[i]);
        match entry {
            Some(e) if !e.freed && e.bytes == block.bytes => e.freed = true,
            _ => panic!("{block:?} is not alive in this ring"),
        }
        self.trim();
    }

    /// Bytes the ring covers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes between the oldest block that is alive and the newest, gaps included.
    pub fn used(&self) -> u64 {
        self.entries.front().map_or(0, |oldest| self.head - oldest.position)
    }

    fn push(&mut self, bytes: u64, freed: bool) {
        self.entries.push_back(Entry { position: self.head, bytes, freed });
        self.head += bytes;
    }

    fn trim(&mut self) {
        while self.entries.front().is_some_and(|e| e.freed) {
            self.entries.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_ring_says_no_until_the_oldest_goes() {
        let mut ring = Ring::new(0, 256, 8);
        let a = ring.allocate(100).unwrap();
        let b = ring.allocate(128).unwrap();
        assert_eq!((a.start, a.bytes, b.start), (0, 128, 128));
        assert!(ring.allocate(1).is_none());
        ring.free(b);
        assert!(ring.allocate(1).is_none(), "b is free, but a is older and alive");
        ring.free(a);
        assert_eq!(ring.used(), 0);
        assert_eq!(ring.allocate(256).unwrap().start, 0);
    }

    #[test]
    #[should_panic(expected = "not alive")]
    fn a_double_free_is_refused() {
        let mut ring = Ring::new(0, 256, 8);
        let a = ring.allocate(64).unwrap();
        let _b = ring.allocate(64).unwrap();
        ring.free(a);
        ring.free(a);
    }

    proptest! {
        /// Shadow model: live blocks never overlap, stay inside, and a drained ring is empty again.
        #[test]
        fn blocks_never_overlap(steps in prop::collection::vec((1u64..700, any::<prop::sample::Index>(), any::<bool>()), 1..200)) {
            let mut ring = Ring::new(128, 2048, 16);
            let mut live: Vec<RingBlock> = Vec::new();
            for (bytes, which, free) in steps {
                if free && !live.is_empty() {
                    // Mostly the oldest, as segments do; sometimes a neighbour.
                    let i = which.index(live.len().min(3));
                    ring.free(live.remove(i));
                } else if let Some(new) = ring.allocate(bytes) {
                    prop_assert!(new.start >= 128 && new.start + new.bytes <= 128 + 2048);
                    prop_assert!(new.bytes >= bytes && new.start % RING_ALIGN == 0);
                    for old in &live {
                        prop_assert!(new.start + new.bytes <= old.start || old.start + old.bytes <= new.start);
                    }
                    live.push(new);
                }
                prop_assert!(ring.used() <= ring.bytes());
            }
            for block in live {
                ring.free(block);
            }
            prop_assert_eq!(ring.used(), 0);
            prop_assert!(ring.allocate(64).is_some());
        }
    }
}
