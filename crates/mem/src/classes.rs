//! A size-class allocator for what does not die in order: a dictionary's growing arrays and term bytes.
//!
//! Sizes are rounded up to `64 << class` bytes. A freed block waits in its class's free list, whose links lie
//! in the freed blocks themselves; fresh space comes from a bump pointer. Blocks are never split or joined,
//! so allocation and free are O(1), and the growth of one kind of structure (arrays that double) reuses
//! what the last generation left behind.
//!
//! Not thread-safe: its owner serializes. The caller frees a block only when no reader can hold it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::region::Region;
use crate::span::Span;

/// The smallest block, in bytes.
pub const CLASS_BYTES_MIN: u64 = 64;
const CLASSES: usize = 32;

/// Size-class allocator over the bytes `start .. start + bytes` of a region.
pub struct Classes {
    end: u64,
    bump: u64,
    /// First free block of each class (0: none; the block at offset 0 is never given out).
    free: [u64; CLASSES],
    used: u64,
}

impl Classes {
    /// An allocator over `bytes` bytes at `start`.
    pub fn new(start: u64, bytes: u64) -> Classes {
        let end = start + bytes;
        let bump = start.max(CLASS_BYTES_MIN).next_multiple_of(CLASS_BYTES_MIN);
        Classes { end, bump, free: [0; CLASSES], used: 0 }
    }

    /// Bytes a block of at least `bytes` bytes really takes.
    pub fn rounded(bytes: u64) -> u64 {
        CLASS_BYTES_MIN << Self::class(bytes)
    }

    /// A block of at least `bytes` bytes: its offset from the region's start. `None` when full.
    pub fn allocate(&mut self, region: &Region, bytes: u64) -> Option<u64> {
        let class = Self::class(bytes);
        let size = CLASS_BYTES_MIN << class;
        let reused = self.free.get(class).copied()?;
        let at = if reused != 0 {
            self.free[class] = link(region, reused).load(Relaxed);
            reused
        } else {
            let at = self.bump;
            self.bump = at.checked_add(size).filter(|end| *end <= self.end)?;
            at
        };
        self.used += size;
        Some(at)
    }

    /// Takes back the block at `at`, which was given out for `bytes` bytes.
    pub fn free(&mut self, region: &Region, at: u64, bytes: u64) {
        let class = Self::class(bytes);
        link(region, at).store(self.free[class], Relaxed);
        self.free[class] = at;
        self.used -= CLASS_BYTES_MIN << class;
    }

    /// Bytes in blocks that are given out.
    pub fn used(&self) -> u64 {
        self.used
    }

    fn class(bytes: u64) -> usize {
        let lines = bytes.max(1).div_ceil(CLASS_BYTES_MIN);
        (u64::BITS - (lines - 1).leading_zeros()) as usize
    }
}

fn link(region: &Region, at: u64) -> &AtomicU64 {
    &region.view(Span::<AtomicU64>::new(at, 1))[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Residency;
    use proptest::prelude::*;

    #[test]
    fn sizes_round_up_to_powers_of_two_lines() {
        let rounded = |b| Classes::rounded(b);
        assert_eq!([1, 64, 65, 128, 129, 4096].map(rounded), [64, 64, 128, 128, 256, 4096]);
    }

    #[test]
    fn a_full_heap_says_no_and_reuses_what_is_freed() {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        let mut heap = Classes::new(4096, 256);
        let a = heap.allocate(&region, 100).unwrap();
        let b = heap.allocate(&region, 100).unwrap();
        assert!(heap.allocate(&region, 1).is_none());
        assert!(heap.allocate(&region, u64::MAX / 2).is_none());
        heap.free(&region, a, 100);
        assert!(heap.allocate(&region, 1).is_none(), "another class");
        assert_eq!(heap.allocate(&region, 128), Some(a));
        heap.free(&region, b, 100);
        assert_eq!(heap.used(), 128);
    }

    proptest! {
        #[test]
        fn blocks_never_overlap(steps in prop::collection::vec((1u64..2000, any::<prop::sample::Index>(), any::<bool>()), 1..200)) {
            let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
            let mut heap = Classes::new(0, 64 << 10);
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (bytes, which, free) in steps {
                if free && !live.is_empty() {
                    let (at, bytes) = live.swap_remove(which.index(live.len()));
                    heap.free(&region, at, bytes);
                } else if let Some(at) = heap.allocate(&region, bytes) {
                    let end = at + Classes::rounded(bytes);
                    prop_assert!(end <= 64 << 10);
                    for (other, size) in &live {
                        prop_assert!(end <= *other || other + Classes::rounded(*size) <= at);
                    }
                    live.push((at, bytes));
                }
                let used: u64 = live.iter().map(|(_, b)| Classes::rounded(*b)).sum();
                prop_assert_eq!(heap.used(), used);
            }
        }
    }
}
