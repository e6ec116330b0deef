//! The model checker's atomics as ours: what every protocol is checked over. The traits are not the checker's and its
//! types are not ours, so each needs a shell.
#![allow(dead_code, reason = "each test binary uses some of this")]

use loom::sync::atomic::{AtomicU32, AtomicU64};
use spirit_mem::sync::{Atom32, Atom64};
use std::sync::atomic::Ordering;

/// A 32-bit word.
pub(crate) struct Model32(AtomicU32);

/// A 64-bit word.
pub(crate) struct Model64(AtomicU64);

impl Model32 {
    pub(crate) fn new(value: u32) -> Model32 {
        Model32(AtomicU32::new(value))
    }
}

impl Model64 {
    pub(crate) fn new(value: u64) -> Model64 {
        Model64(AtomicU64::new(value))
    }
}

impl Atom32 for Model32 {
    fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }
    fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }
}

impl Atom64 for Model64 {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    fn compare_exchange(&self, a: u64, b: u64, c: Ordering, d: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(a, b, c, d)
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }
}
