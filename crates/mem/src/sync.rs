//! The atomic operations that our concurrency protocols use.
//!
//! Production code uses the standard library's atomics. The model checker has its own types, which
//! do not have the layout of an integer and cannot lie in a [`Region`](crate::Region). A protocol
//! that is generic over these two traits runs unchanged, with all orderings, on both.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A 32-bit atomic word.
pub trait Atom32 {
    /// Loads the value.
    fn load(&self, order: Ordering) -> u32;
    /// Stores `value`.
    fn store(&self, value: u32, order: Ordering);
}

/// A 64-bit atomic word.
pub trait Atom64 {
    /// Loads the value.
    fn load(&self, order: Ordering) -> u64;
    /// Stores `value`.
    fn store(&self, value: u64, order: Ordering);
    /// Stores `value`, and returns the value before.
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Stores `new` if the value is `current`. The error is the value found.
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64>;
    /// Adds `value` (wrapping), and returns the value before.
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;
}

impl Atom32 for AtomicU32 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u32 {
        self.load(order)
    }
    #[inline(always)]
    fn store(&self, value: u32, order: Ordering) {
        self.store(value, order);
    }
}

impl Atom64 for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }
    #[inline(always)]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.swap(value, order)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(current, new, success, failure)
    }
    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }
}
