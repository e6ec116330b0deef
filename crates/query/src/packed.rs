//! Reading packed lists: the current block is unpacked to the leaf's scratch memory, and is a run
//! like any other.
//!
//! | words of the scratch memory | |
//! |---|---|
//! | 0 .. 128 | postings of the current block |
//! | 128 | its number, plus one; 0: no block |
//! | 129 | how many postings it has |
//! | 130 | where their positions begin |
//!
//! A block stays unpacked, so a second look at the list, to score a match, does not unpack it
//! again.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::rank;
use spirit_index::lists::{PACKED_BLOCK, PackedList, PositionIter, Unpacked};
use spirit_kernel::{Level, Run, run_of, seek, set_bits};
use spirit_mem::Region;

const NUMBER: usize = PACKED_BLOCK;
const COUNT: usize = PACKED_BLOCK + 1;
const POSITIONS: usize = PACKED_BLOCK + 2;
/// Words of scratch memory for a block.
pub(crate) const BLOCK_WORDS: usize = PACKED_BLOCK + 3;

/// A packed list, a block at a time.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'l> {
    pub(crate) list: PackedList,
    pub(crate) region: &'l Region,
    pub(crate) level: Level,
    words: &'l [AtomicU32],
}

impl<'l> Blocks<'l> {
    /// Begins with a list of which no block is unpacked in `words`.
    pub(crate) fn begin(
        list: PackedList,
        region: &'l Region,
        level: Level,
        words: &'l [AtomicU32],
    ) -> Blocks<'l> {
        words[NUMBER].store(0, Relaxed);
        Blocks { list, region, level, words }
    }

    /// Continues with the list's block that `words` has.
    pub(crate) fn resume(
        list: PackedList,
        region: &'l Region,
        level: Level,
        words: &'l [AtomicU32],
    ) -> Blocks<'l> {
        Blocks { list, region, level, words }
    }

    /// Returns the postings of a block. Unpacks it, unless it is the current one.
    pub(crate) fn block(&self, number: usize) -> Run<'l> {
        if self.words[NUMBER].load(Relaxed) != number as u32 + 1 {
            let Unpacked { count, positions_at } =
                unpack(self.list, self.region, self.level, number, self.words);
            self.words[COUNT].store(count as u32, Relaxed);
            self.words[POSITIONS].store(positions_at as u32, Relaxed);
            self.words[NUMBER].store(number as u32 + 1, Relaxed);
        }
        let count = self.words[COUNT].load(Relaxed) as usize;
        &self.words[..count.min(PACKED_BLOCK)]
    }

    /// Returns the positions of the posting at a rank; empty if there is no such posting.
    pub(crate) fn positions(&self, wanted: u32) -> PositionIter<'l> {
        let run = self.block_of(0, wanted).map_or(&[][..], |block| self.block(block));
        let at = seek(self.level, run, 0, wanted);
        let found = run.get(at).is_some_and(|word| rank(word.load(Relaxed)) == wanted);
        let mut postings = [0; PACKED_BLOCK];
        let count = if found { at + 1 } else { 0 };
        postings.iter_mut().zip(&run[..count]).for_each(|(to, word)| *to = word.load(Relaxed));
        let at = self.words[POSITIONS].load(Relaxed) as usize;
        self.list.positions(self.region, at).of_last(&postings[..count])
    }

    /// Returns the first block from `from` on that may have a rank from `target` on.
    pub(crate) fn block_of(&self, from: usize, target: u32) -> Option<usize> {
        self.list.block_of(self.region, self.level, from, target)
    }

    /// Returns the rank of a block's last posting, if the list has several blocks.
    pub(crate) fn last_rank(&self, number: usize) -> Option<u32> {
        let last = self.list.lasts(self.region).get(number)?;
        Some(rank(last.load(Relaxed)))
    }

    /// Returns a lower bound on the ranks of a block.
    pub(crate) fn first_rank(&self, number: usize) -> u32 {
        self.list.first_rank(self.region, number)
    }
}

/// Unpacks a block to the front of `words`.
pub(crate) fn unpack(
    list: PackedList,
    region: &Region,
    level: Level,
    number: usize,
    words: &[AtomicU32],
) -> Unpacked {
    let mut block = [0; PACKED_BLOCK];
    let unpacked = list.unpack(region, level, number, &mut block);
    let postings = &block[..unpacked.count];
    words.iter().zip(postings).for_each(|(to, word)| to.store(*word, Relaxed));
    unpacked
}

/// Sets the bits of a whole list. `base` is the rank of the first bit.
pub(crate) fn add_all(
    list: PackedList,
    region: &Region,
    level: Level,
    base: u32,
    bits: &mut [u64],
) {
    let mut block = [0; PACKED_BLOCK];
    for number in 0..list.blocks() {
        let count = list.unpack(region, level, number, &mut block).count;
        set_bits(level, run_of(&mut block[..count]), base, bits);
    }
}
