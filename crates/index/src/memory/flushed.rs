//! The flushed segment: contiguous posting arrays, newest first, and bitmaps for dense lists.
//!
//! | words of an array | |
//! |---|---|
//! | -1 | the term's ordinal in the segment |
//! | 0 .. n | posting words, ascending by rank (newest first) |
//! | next even word .. | for several blocks: the [maxima](crate::lists::maxima), two words each |
//! | next line .. | if the list is dense: a bitmap, bit `i` is the segment's `i`-th newest row |
//!
//! The arrays of a segment begin at a line. A list is dense if it has at least one posting per
//! [`DENSE_ROWS`] rows. Single postings lie in the dictionary.

use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::Span;

use crate::ground::posting::{LOCAL_MAX, rank_of};
use crate::lists::maxima::blocks_of;
use crate::memory::descriptor::Descriptor;
use crate::terms::entries::Entry;

/// A list with at least one posting in this number of rows has a bitmap too.
pub(crate) const DENSE_ROWS: u32 = 64;
const LINE_WORDS: u64 = 16;

/// True if a list of `postings` postings in a segment of `rows` rows has a bitmap.
#[inline(always)]
pub(crate) fn is_dense(postings: u32, rows: u32) -> bool {
    postings as u64 * DENSE_ROWS as u64 >= rows as u64 && rows >= 512
}

/// Returns the number of 64-bit words of a bitmap over `rows` rows, in whole lines.
pub(crate) fn bitmap_words(rows: u32) -> u64 {
    (rows as u64).div_ceil(512) * 8
}

/// Returns the place of a list's maxima, in 32-bit words.
#[inline(always)]
pub(crate) fn maxima_at(first: u64, postings: u32) -> u64 {
    (first + postings as u64).next_multiple_of(2)
}

/// Returns the end of a list with its maxima.
#[inline(always)]
fn maxima_end(first: u64, postings: u32) -> u64 {
    match blocks_of(postings) {
        0 => first + postings as u64,
        blocks => maxima_at(first, postings) + blocks * 2,
    }
}

/// Returns the place of a list's bitmap, in 32-bit words.
#[inline(always)]
pub(crate) fn bitmap_at(first: u64, postings: u32) -> u64 {
    maxima_end(first, postings).next_multiple_of(LINE_WORDS)
}

/// Returns the end of a list of several postings from word `first` on, with its maxima and bitmap.
pub(crate) fn list_end(first: u64, postings: u32, bitmap_rows: u32) -> u64 {
    if is_dense(postings, bitmap_rows) {
        bitmap_at(first, postings) + bitmap_words(bitmap_rows) * 2
    } else {
        maxima_end(first, postings)
    }
}

/// Returns the place of a list of `postings` postings if the words below `at` are taken: its first
/// word, and the first word behind it.
pub(crate) fn layout(at: u64, postings: u32, bitmap_rows: u32) -> (u64, u64) {
    match postings {
        0 | 1 => (at, at),
        _ => (at + 1, list_end(at + 1, postings, bitmap_rows)),
    }
}

/// The places of a flushed segment's lists.
#[derive(Clone, Copy)]
pub struct Flushed {
    postings: u64,
    rows: u32,
    bitmap_rows: u32,
}

impl Flushed {
    /// Makes the view of the lists that a descriptor leads to.
    #[inline]
    pub fn new(descriptor: Descriptor<'_>) -> Self {
        let (postings, bitmap_rows) = descriptor.postings_and_bitmap_rows();
        Flushed { postings, rows: descriptor.rows() as u32, bitmap_rows }
    }

    /// Returns the number of rows of the segment.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the rank of the newest row: bit 0 of bitmaps.
    #[inline(always)]
    pub fn base_rank(&self) -> u32 {
        rank_of(self.rows.wrapping_sub(1) & LOCAL_MAX)
    }

    /// Returns the list of an entry that has more than one posting and does not lead to a packed
    /// list.
    #[inline(always)]
    pub fn list(&self, entry: Entry) -> Span<AtomicU32> {
        Span::new(self.postings + entry.payload as u64 * 4, entry.postings as u64)
    }

    /// Returns the maxima of the blocks of an entry's list, if it has more than one: a word each,
    /// see [`Maxima`](crate::lists::maxima::Maxima).
    #[inline(always)]
    pub fn maxima(&self, entry: Entry) -> Option<Span<AtomicU64>> {
        let blocks = if entry.is_packed() { 0 } else { blocks_of(entry.postings) };
        let at = maxima_at(entry.payload as u64, entry.postings);
        (blocks > 0).then(|| Span::new(self.postings + at * 4, blocks))
    }

    /// Returns the bitmap of an entry, if its list is dense.
    #[inline(always)]
    pub fn bitmap(&self, entry: Entry) -> Option<Span<AtomicU64>> {
        if entry.postings < 2 || entry.is_packed() || !is_dense(entry.postings, self.bitmap_rows) {
            return None;
        }
        let at = bitmap_at(entry.payload as u64, entry.postings);
        Some(Span::new(self.postings + at * 4, bitmap_words(self.bitmap_rows)))
    }
}
