//! The flushed segment: contiguous posting arrays, newest first, and bitmaps for dense lists.
//!
//! | words of an array | |
//! |---|---|
//! | -1 | the term's ordinal in the segment |
//! | 0 .. n | posting words, ascending by rank (newest first) |
//! | from the next line on | if the list is dense: a bitmap, bit `i` is the segment's `i`-th newest row |
//!
//! A list is dense if it has at least one row in [`DENSE_ROWS`]. Single postings lie in the dictionary.

use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::Span;

use crate::descriptor::Descriptor;
use crate::entries::Entry;
use crate::posting::rank_of;

/// A list with a posting for every this many rows has a bitmap too.
pub const DENSE_ROWS: u32 = 64;
const LINE_WORDS: u64 = 16;

/// Whether a list of `postings` in a segment of `rows` has a bitmap.
#[inline(always)]
pub fn is_dense(postings: u32, rows: u32) -> bool {
    postings as u64 * DENSE_ROWS as u64 >= rows as u64 && rows >= 512
}

/// 64-bit words of a bitmap over `rows` rows, whole lines.
pub fn bitmap_words(rows: u32) -> u64 {
    (rows as u64).div_ceil(512) * 8
}

/// Where the bitmap of a list begins, in 32-bit words.
#[inline(always)]
pub fn bitmap_at(first: u64, postings: u32) -> u64 {
    (first + postings as u64).next_multiple_of(LINE_WORDS)
}

/// A flushed segment's lists: where they lie.
#[derive(Clone, Copy)]
pub struct Flushed {
    postings: u64,
    rows: u32,
    bitmap_rows: u32,
}

impl Flushed {
    /// The lists that a descriptor leads to.
    #[inline]
    pub fn new(descriptor: Descriptor<'_>) -> Self {
        Flushed {
            postings: descriptor.postings(),
            rows: descriptor.rows() as u32,
            bitmap_rows: descriptor.bitmap_rows() as u32,
        }
    }

    /// Rows of the segment.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The rank of the newest row: bit 0 of bitmaps.
    #[inline(always)]
    pub fn base_rank(&self) -> u32 {
        rank_of(self.rows.wrapping_sub(1) & crate::posting::LOCAL_MAX)
    }

    /// The list of an entry that has more than one posting.
    #[inline(always)]
    pub fn list(&self, entry: Entry) -> Span<AtomicU32> {
        Span::new(self.postings + entry.payload as u64 * 4, entry.postings as u64)
    }

    /// The bitmap of an entry, if its list is dense.
    #[inline(always)]
    pub fn bitmap(&self, entry: Entry) -> Option<Span<AtomicU64>> {
        if entry.postings < 2 || !is_dense(entry.postings, self.bitmap_rows) {
            return None;
        }
        let at = bitmap_at(entry.payload as u64, entry.postings);
        Some(Span::new(self.postings + at * 4, bitmap_words(self.bitmap_rows)))
    }
}
