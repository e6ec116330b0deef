//! Touches: the entries that look-ups found, for the policy to learn of later.
//!
//! A look-up changes no list. It puts the entry's number into a ring. The owner takes all numbers
//! out before it changes anything, in the order in which they came. A ring that is half full asks
//! for that. If more come before an owner does, the oldest are lost: then the policy knows a little
//! less. With one thread none is lost, so the policy sees every look-up in order.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Numbers in the ring, at most.
const RING: u64 = 256;

/// A ring of entries' numbers.
pub(crate) struct Touches {
    ring: Box<[AtomicU32]>,
    pushed: AtomicU64,
    taken: AtomicU64,
}

impl Touches {
    pub(crate) fn new() -> Touches {
        let ring = (0..RING).map(|_| AtomicU32::new(0)).collect();
        Touches { ring, pushed: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }

    /// Adds an entry's number. True if the ring should be emptied.
    #[inline]
    pub(crate) fn push(&self, entry: u32) -> bool {
        let number = self.pushed.fetch_add(1, Relaxed);
        self.ring[(number % RING) as usize].store(entry + 1, Release);
        number.wrapping_sub(self.taken.load(Relaxed)) >= RING / 2
    }

    /// Takes all numbers out. The owner alone calls it.
    pub(crate) fn take(&self, mut touch: impl FnMut(u32)) {
        let end = self.pushed.load(Acquire);
        let taken = self.taken.load(Relaxed);
        for number in taken.max(end.saturating_sub(RING))..end {
            // 0: another thread has not stored it yet.
            let entry = self.ring[(number % RING) as usize].swap(0, Acquire);
            if entry > 0 {
                touch(entry - 1);
            }
        }
        self.taken.store(end, Relaxed);
    }

    /// Returns the number of touches ever.
    pub(crate) fn count(&self) -> u64 {
        self.pushed.load(Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        RING * size_of::<AtomicU32>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(touches: &Touches) -> Vec<u32> {
        let mut entries = Vec::new();
        touches.take(|entry| entries.push(entry));
        entries
    }

    #[test]
    fn touches_come_out_in_order_and_the_oldest_are_lost() {
        let touches = Touches::new();
        assert_eq!(taken(&touches), []);
        assert!(!touches.push(7) && !touches.push(0) && !touches.push(7));
        assert_eq!(taken(&touches), [7, 0, 7]);
        let asks: Vec<bool> = (0..RING as u32 + 3).map(|entry| touches.push(entry)).collect();
        assert_eq!(asks.iter().position(|ask| *ask), Some(RING as usize / 2));
        assert_eq!(taken(&touches), (3..RING as u32 + 3).collect::<Vec<_>>());
        assert_eq!(touches.count(), 3 + RING + 3);
    }
}
