//! One cache line of shared words, for records whose fields have different widths.
//!
//! A record type, of a term for example, wraps a `&Line` and names its words. By the record's
//! layout, each word has *one* width: a location that is read as 64 bits is never written as 32.
//! Breaking that rule gives an unspecified value on the processors that we support, never a wild
//! access.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// The bytes in a cache line, and in a [`Line`].
pub const LINE_BYTES: usize = 64;

/// A cache line of sixteen 32-bit words.
#[repr(C, align(64))]
pub struct Line {
    words: [AtomicU32; 16],
}

const _: () = assert!(size_of::<Line>() == LINE_BYTES && align_of::<Line>() == LINE_BYTES);

impl Line {
    /// Returns the 32-bit word at `index` (0 to 15).
    #[inline(always)]
    pub fn word(&self, index: usize) -> &AtomicU32 {
        &self.words[index]
    }

    /// Returns the words from `from` (inclusive) to `to` (exclusive).
    #[inline(always)]
    pub fn words(&self, from: usize, to: usize) -> &[AtomicU32] {
        &self.words[from..to]
    }

    /// Returns the 64-bit word at `index` (0 to 7), which covers the 32-bit words `2 * index` and
    /// `2 * index + 1`.
    #[inline(always)]
    pub fn pair(&self, index: usize) -> &AtomicU64 {
        let pair: &[AtomicU32; 2] =
            self.words[2 * index..2 * index + 2].try_into().expect("two words");
        // SAFETY: the two words are contiguous and live as long as `self`. They are 8-byte aligned,
        // since the line is 64-byte aligned and `2 * index` words are a multiple of 8 bytes. Both
        // types allow shared mutation, and every bit pattern is a valid `AtomicU64`.
        unsafe { &*std::ptr::from_ref(pair).cast::<AtomicU64>() }
    }
}
