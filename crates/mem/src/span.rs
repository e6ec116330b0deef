//! A typed offset with a length: how every structure in a region is named.
//!
//! Offsets count bytes from the region's start, so a structure is found again wherever the region is
//! mapped. A span is a claim, not a proof: the region checks bounds and alignment when it is viewed.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use crate::line::Line;

mod sealed {
    pub trait Sealed {}
}

/// A type that may be viewed in shared memory: it consists of atomics and nothing else, any bit pattern is
/// a valid value, and it has no padding. Sealed, since [`Region::view`](crate::Region::view) relies on it.
pub trait Shared: sealed::Sealed + Sized + 'static {}

macro_rules! shared {
    ($($t:ty),*) => { $(impl sealed::Sealed for $t {} impl Shared for $t {})* };
}
shared!(AtomicU8, AtomicU16, AtomicU32, AtomicU64, Line);

/// `len` values of type `T`, starting `start` bytes into a region.
pub struct Span<T> {
    start: u64,
    len: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: Shared> Span<T> {
    /// The span of `len` values whose first byte is `start` bytes into the region.
    pub const fn new(start: u64, len: u64) -> Self {
        Span { start, len, of: PhantomData }
    }

    /// Bytes from the region's start.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// How many values.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Whether there is nothing in it.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// How many bytes it covers.
    pub const fn bytes(self) -> u64 {
        self.len * size_of::<T>() as u64
    }

    /// The first byte behind it, from the region's start.
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
