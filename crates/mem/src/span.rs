//! Spans: typed offsets with lengths, which name every structure in a region.
//!
//! Offsets count bytes from the region's start, so they are valid wherever the region is mapped. A
//! span is a claim, not a proof: the region checks bounds and alignment at each view.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use crate::line::Line;

mod sealed {
    pub trait Sealed {}
}

/// A type that may be viewed in shared memory. It consists of atomics only, every bit pattern is a
/// valid value, and it has no padding. Sealed, since [`Region::view`](crate::Region::view) relies
/// on it.
pub trait Shared: sealed::Sealed + Sized + 'static {}

macro_rules! shared {
    ($($t:ty),*) => { $(impl sealed::Sealed for $t {} impl Shared for $t {})* };
}
shared!(AtomicU8, AtomicU16, AtomicU32, AtomicU64, Line);

/// A span of `len` values of type `T`, `start` bytes from the beginning of a region.
pub struct Span<T> {
    start: u64,
    len: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: Shared> Span<T> {
    /// Returns the span of `len` values whose first byte is `start` bytes into the region.
    pub const fn new(start: u64, len: u64) -> Self {
        Span { start, len, of: PhantomData }
    }

    /// Returns the offset of its first byte from the region's start.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// Returns the number of values.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// True if it has no values.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the number of bytes that it covers.
    pub const fn bytes(self) -> u64 {
        self.len * size_of::<T>() as u64
    }

    /// Returns the offset of the first byte after it, from the region's start.
    pub const fn end(self) -> u64 {
        self.start + self.bytes()
    }
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

impl<T> Default for Span<T> {
    fn default() -> Self {
        Span { start: 0, len: 0, of: PhantomData }
    }
}

impl<T> fmt::Debug for Span<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}@{:#x}", self.len, std::any::type_name::<T>(), self.start)
    }
}
