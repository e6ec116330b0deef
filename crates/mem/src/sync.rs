//! The atomic operations that our concurrency protocols are written over.
//!
//! Production code uses the standard library's atomics; the model checker brings its own types, which do
//! not have the layout of an integer and so cannot lie in a [`Region`](crate::Region). A protocol that is
//! generic over these two traits runs unchanged, ordering by ordering, on both.

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
    /// Stores `value` and returns what was there.
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Stores `new` if the value is `current`; the error is the value found.
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64>;
    /// Adds `value` (wrapping) and returns what was there.
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
