//! A packed list: a term's postings in an engraved segment, in blocks of 128, with their positions.
//!
//! All words have 4 bytes. Parts follow each other without gaps. A list of several blocks begins at
//! an even word.
//!
//! | words | of a list of more than 128 postings only |
//! |---|---|
//! | blocks | the *last* posting of each block, as a posting word of frequency 0 |
//! | blocks | where each block begins, counted from the list's first word |
//! | 2 × blocks | the [maxima](crate::lists::maxima) of each block |
//!
//! Then the blocks: their postings in the form of the [codec](spirit_kernel::packed), as a block
//! for 128 postings, else as a tail. The lowest rank possible in the first block is that of the
//! segment's newest row. In each further block it is one more than the last rank of the block
//! before. If the index keeps positions, a block's [positions](Positions) follow it.
//!
//! The skip data are three arrays. A gallop or bisection in the first finds the only block that can
//! have a rank. So they need no levels and no pointers.
//!
//! An [entry](crate::terms::entries::Entry) says whether it leads to a packed list. So readers may
//! be moved from the raw form to this one entry by entry.

mod positions;
pub(crate) mod writer;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_kernel::packed::{
    BLOCK, POSTING_TAIL_WORDS_MAX, POSTINGS_WORDS_MAX, unpack_posting_tail, unpack_postings,
};
use spirit_kernel::{Level, Run, seek};
use spirit_mem::{Region, Span};

use crate::ground::posting::rank;
use crate::lists::maxima::blocks_of;

pub use positions::{PositionIter, Positions};

/// Number of postings of a block.
pub const PACKED_BLOCK: usize = BLOCK;
const _: () = assert!(BLOCK == crate::lists::maxima::BLOCK_POSTINGS as usize);

/// Number of words before the blocks, for each block.
const HEAD_WORDS: usize = 4;

/// The word of their section at which the first list begins. The words before are zeros. So a
/// section of packed lists is never empty, and differs from that of a segment without packed lists.
pub(crate) const PACKED_FIRST: u32 = 2;

/// Returns the number of words before the blocks of a list of this many postings.
pub(crate) fn head_words(postings: u32) -> u64 {
    blocks_of(postings) * HEAD_WORDS as u64
}

/// A packed list, where it is stored.
#[derive(Clone, Copy, Debug)]
pub struct PackedList {
    /// The words from its first to the end of its section.
    words: Span<AtomicU32>,
    postings: u32,
    /// The rank of the segment's newest row.
    base: u32,
}

/// The postings of a block.
#[derive(Clone, Copy, Debug)]
pub struct Unpacked {
    /// Number of postings.
    pub count: usize,
    /// Place of their positions in the list's words.
    pub positions_at: usize,
}

impl PackedList {
    /// Makes the list of `postings` postings that begins with `words`. The span may be longer than
    /// the list. `base` is the rank of the segment's newest row.
    pub(crate) fn new(words: Span<AtomicU32>, postings: u32, base: u32) -> PackedList {
        PackedList { words, postings, base }
    }

    /// Returns its words and those behind them. Their pages are not proved.
    pub fn words<'a>(&self, region: &'a Region) -> &'a [AtomicU32] {
        // The list of a damaged term may lie outside the region.
        region.peek(self.words).unwrap_or(&[])
    }

    /// Returns up to `len` of its words from `at` on, as far as there are words.
    fn some<'a>(&self, region: &'a Region, at: usize, len: usize) -> &'a [AtomicU32] {
        let (at, len) = (at as u64, len as u64);
        let len = len.min(self.words.len().saturating_sub(at));
        region.get(Span::new(self.words.start() + at * 4, len)).unwrap_or(&[])
    }

    /// Returns the number of its postings.
    pub fn postings(&self) -> u32 {
        self.postings
    }

    /// Returns the number of its blocks.
    pub fn blocks(&self) -> usize {
        (self.postings as usize).div_ceil(BLOCK)
    }

    /// Returns the last posting of each block, if there are several blocks.
    pub fn lasts<'a>(&self, region: &'a Region) -> Run<'a> {
        let blocks = blocks_of(self.postings) as usize;
        self.some(region, 0, blocks)
    }

    /// Returns the maxima of each block, if there are several blocks.
    pub fn maxima<'a>(&self, region: &'a Region) -> &'a [AtomicU64] {
        let blocks = blocks_of(self.postings);
        region.get(Span::new(self.words.start() + blocks * 8, blocks)).unwrap_or(&[])
    }

    /// Returns the lowest rank that a block may begin with.
    pub fn first_rank(&self, region: &Region, block: usize) -> u32 {
        let before = block.checked_sub(1).and_then(|before| self.lasts(region).get(before));
        before.map_or(self.base, |last| rank(last.load(Relaxed)).wrapping_add(1))
    }

    /// Finds the first block from `from` on that has a rank at or behind `target`: the only block
    /// that may have `target`. Returns `None` behind the last block. A list of one block has no
    /// skip data, so its block may lack such a rank.
    pub fn block_of(
        &self,
        region: &Region,
        level: Level,
        from: usize,
        target: u32,
    ) -> Option<usize> {
        let found = match self.lasts(region) {
            [] => from,
            lasts => seek(level, lasts, from, target),
        };
        (found < self.blocks()).then_some(found)
    }

    /// Writes the words of a block's postings to the front of `out`.
    pub fn unpack(
        &self,
        region: &Region,
        level: Level,
        block: usize,
        out: &mut [u32; BLOCK],
    ) -> Unpacked {
        let count = (self.postings as usize).saturating_sub(block * BLOCK).min(BLOCK);
        let blocks = self.blocks();
        let at = match blocks {
            0 | 1 => 0,
            _ => {
                let place = self.some(region, blocks + block, 1).first();
                place.map_or(usize::MAX, |at| at.load(Relaxed) as usize)
            }
        };
        let body = self.some(region, at, POSTINGS_WORDS_MAX.max(POSTING_TAIL_WORDS_MAX));
        let start = self.first_rank(region, block);
        let taken = if count == BLOCK {
            unpack_postings(level, body, start, out)
        } else {
            unpack_posting_tail(body, start, &mut out[..count])
        };
        Unpacked { count, positions_at: at.saturating_add(taken) }
    }

    /// Returns the positions of a block's postings, which begin at word `at`.
    pub fn positions<'a>(&self, region: &'a Region, at: usize) -> Positions<'a> {
        let left = self.words.len().saturating_sub(at as u64);
        Positions::at(region, Span::new(self.words.start().saturating_add(at as u64 * 4), left))
    }

    /// Yields the positions of the posting at a rank. Yields none if there is no such posting.
    pub fn positions_of<'a>(
        &self,
        region: &'a Region,
        level: Level,
        wanted: u32,
    ) -> PositionIter<'a> {
        let Some(block) = self.block_of(region, level, 0, wanted) else {
            return PositionIter::none();
        };
        let mut words = [0; BLOCK];
        let Unpacked { count, positions_at } = self.unpack(region, level, block, &mut words);
        match words[..count].binary_search_by_key(&wanted, |word| rank(*word)) {
            Ok(at) => self.positions(region, positions_at).of_last(&words[..=at]),
            Err(_) => PositionIter::none(),
        }
    }

    /// True if it has a posting of rank `wanted`.
    pub fn has(&self, region: &Region, level: Level, wanted: u32) -> bool {
        let Some(block) = self.block_of(region, level, 0, wanted) else { return false };
        let mut words = [0; BLOCK];
        let Unpacked { count, .. } = self.unpack(region, level, block, &mut words);
        words[..count].binary_search_by_key(&wanted, |word| rank(*word)).is_ok()
    }
}
