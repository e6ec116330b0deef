//! The posting list of a fresh segment. One writer appends while any number of readers read it,
//! newest first.
//!
//! The newest postings of a term (up to [`BUFFER`]) lie in its record, on the cache line that the
//! writer touches anyway. When the buffer is full and another posting comes, the writer *spills*.
//! It copies the buffer to the tail block of the term's chain, then overwrites it. Blocks are
//! linked from new to old and are append-only; they live in the short-term partition (paper §4.5
//! and §4.6).
//!
//! Block sizes double up to a limit (VSB), or are all equal (FSB, for comparison). In both cases
//! the number of spilled postings determines the fill of the tail block and the size of each block.
//! So a block's header is only a link. The largest blocks have a second word, which leads to their
//! directory.
//!
//! # Orderings
//!
//! `chain` is one 64-bit word: tail block and number of spilled postings, published together.
//!
//! - Spill: block and directory words (relaxed), then `chain` (release). A reader that acquires
//!   `chain` sees the blocks.
//! - Overwrite: the new posting goes to the buffer with a release store. So a reader that acquires
//!   an overwritten word sees, on its next load, the `chain` that was stored before.
//! - Reading: `chain`, then `count` and the buffer (acquire), then `chain` again. If it did not
//!   move, no word was overwritten and the first `count - spilled` words belong to it. If it moved,
//!   all postings that the buffer held at the first load are in the blocks of the second. The
//!   buffer now holds only postings of rows that were not visible when the reader took its
//!   watermark. So it is left out. No loop, no retry.
//!
//! The word of the row being written may still grow in frequency. Its row is not visible, so
//! readers ignore it: they drop words newer than their watermark. Checked by loom in
//! `tests/list_loom.rs`.

mod directory;

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use directory::Directory;
use spirit_mem::prefetch;
use spirit_mem::sync::{Atom32, Atom64};

use crate::ground::blocks::Blocks;
use crate::ground::posting::{FREQUENCY_MAX, local, rank};

/// Number of postings buffered in a term's record.
pub const BUFFER: usize = 8;

/// There is no room for another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Returns the number of units before the largest block of this number, in a chain whose blocks
/// double `doublings` times.
fn units_before(doublings: u32, number: u32) -> u32 {
    ((number + 1) << doublings) - 1
}

/// A list's head: the words of a term's record that belong to it.
pub struct List<'a, A32, A64> {
    /// Tail block (high half, 0: none) and spilled postings (low half).
    pub chain: &'a A64,
    /// Number of postings ever appended.
    pub count: &'a A32,
    /// The newest postings. While there are none, the last word is 0.
    pub buffer: &'a [A32],
}

/// The newest part of a list as a reader found it; the rest hangs on `chain`.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Buffered postings, oldest first.
    pub buffer: [u32; BUFFER],
    /// Number of buffered postings.
    pub buffered: usize,
    /// The blocks with the rest.
    pub chain: Chain,
}

/// A position in a chain of blocks: all older postings are still to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    block: u32,
    spilled: u32,
}

impl Chain {
    fn from_word(word: u64) -> Chain {
        Chain { block: (word >> 32) as u32, spilled: word as u32 }
    }

    /// Returns the number of postings in the blocks from here on.
    pub fn postings(self) -> u32 {
        self.spilled
    }

    /// Prefetches up to `lines` cache lines of the newest block, its newest postings first, and its
    /// link.
    pub fn prefetch<A: Atom32>(self, area: &[A], blocks: Blocks, lines: usize) {
        if self.spilled == 0 {
            return;
        }
        let spilled = self.spilled / BUFFER as u32;
        let words = blocks.tail(spilled).0 as usize * BUFFER;
        let (block, header) = (self.block as usize, blocks.header(spilled));
        for back in (1..=words.min(lines * 16)).step_by(16) {
            if let Some(word) = area.get(block + header + words - back) {
                prefetch(word);
            }
        }
        if let Some(link) = area.get(block) {
            prefetch(link);
        }
    }

    /// Returns the newest block's postings (oldest first) within `area`, and the chain behind it.
    pub fn next<A: Atom32>(self, area: &[A], blocks: Blocks) -> Option<(&[A], Chain)> {
        if self.spilled == 0 {
            return None;
        }
        let spilled = self.spilled / BUFFER as u32;
        let postings = blocks.tail(spilled).0 * BUFFER as u32;
        let first = self.block as usize + blocks.header(spilled);
        let words = area.get(first..first + postings as usize)?;
        // Relaxed: the link was written before the block was published, and never again.
        let older = area[self.block as usize].load(Relaxed);
        Some((words, Chain { block: older, spilled: self.spilled - postings }))
    }

    /// Returns the chain without its newest blocks in which all ranks are below `target`. Small
    /// blocks are never skipped.
    pub fn from_rank<A: Atom32>(self, area: &[A], blocks: Blocks, target: u32) -> Chain {
        let units = self.spilled / BUFFER as u32;
        let (Blocks::Variable { doublings }, Some(number)) = (blocks, blocks.largest(units)) else {
            return self;
        };
        // Relaxed, here and in the directory: all was written before the chain that leads to it was
        // stored.
        let oldest = area[self.block as usize + blocks.header(units)].load(Relaxed);
        if rank(oldest) >= target {
            return self;
        }
        let (block, units) = match Directory::of(area, self.block).newest_from(number, target) {
            Ok((number, block)) => (block, units_before(doublings, number + 1)),
            // Continue with the block before the first of the largest.
            Err(first) => (area[first as usize].load(Relaxed), units_before(doublings, 0)),
        };
        Chain { block, spilled: units * BUFFER as u32 }
    }
}

impl<A32, A64> Clone for List<'_, A32, A64> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A32, A64> Copy for List<'_, A32, A64> {}

impl<A32: Atom32, A64: Atom64> List<'_, A32, A64> {
    /// Appends the posting `word`, or counts one more occurrence if its row is the list's newest.
    /// Returns true if it added a posting. `allocate` takes a number of words in `area`.
    ///
    /// Writer only.
    #[inline(always)]
    pub fn append(
        self,
        word: u32,
        area: &[A32],
        blocks: Blocks,
        allocate: impl FnMut(u32) -> Option<u32>,
    ) -> Result<bool, Full> {
        let count = self.count.load(Relaxed);
        // In a list without postings this word is 0, and no posting has rank 0.
        let newest = &self.buffer[count.wrapping_sub(1) as usize & (BUFFER - 1)];
        let value = newest.load(Relaxed);
        if rank(value) == rank(word) {
            if value & FREQUENCY_MAX < FREQUENCY_MAX {
                newest.store(value + 1, Relaxed);
            }
            return Ok(false);
        }
        // Only whole buffers are spilled, and each when the next posting comes. So the count
        // determines when.
        let buffered = count as usize & (BUFFER - 1);
        if buffered == 0 && count > 0 {
            spill(self.chain, self.buffer, area, blocks, allocate)?;
        }
        // Release: see "Overwrite" above.
        self.buffer[buffered].store(word, Release);
        self.count.store(count + 1, Release);
        Ok(true)
    }

    /// Returns the list's blocks, without the buffer. If the list takes no more postings, these are
    /// all its blocks.
    pub fn chain(self) -> Chain {
        Chain::from_word(self.chain.load(Relaxed))
    }

    /// Counts the postings of rows below `rows`, which were visible when the caller loaded its
    /// watermark. Blocks without newer postings are not read.
    pub fn count_below(self, rows: u32, area: &[A32], blocks: Blocks) -> u32 {
        let Head { buffer, buffered, mut chain } = self.read();
        let mut count = buffer[..buffered].partition_point(|word| local(*word) < rows) as u32;
        while let Some((block, older)) = chain.next(area, blocks) {
            // Relaxed: a block was written before the chain that leads to it was stored.
            let below = block.partition_point(|word| local(word.load(Relaxed)) < rows);
            if below == block.len() {
                return count + chain.postings();
            }
            count += below as u32;
            chain = older;
        }
        count
    }

    /// Reads the list as of now, without loop or lock. The result has at least all postings of all
    /// rows that were visible when the caller loaded its watermark.
    #[inline]
    pub fn read(self) -> Head {
        let first = self.chain.load(Acquire);
        let count = self.count.load(Acquire);
        let mut buffer = [0; BUFFER];
        for (to, from) in buffer.iter_mut().zip(self.buffer) {
            *to = from.load(Acquire);
        }
        let second = self.chain.load(Acquire);
        let buffered = if first == second { count.wrapping_sub(first as u32) as usize } else { 0 };
        Head { buffer, buffered: buffered.min(BUFFER), chain: Chain::from_word(second) }
    }
}

/// Moves a full buffer to the tail block.
// Not inlined, and with single values as parameters: one posting in eight comes here, and the
// others need the registers.
#[inline(never)]
fn spill<A32: Atom32, A64: Atom64>(
    head: &A64,
    buffer: &[A32],
    area: &[A32],
    blocks: Blocks,
    allocate: impl FnMut(u32) -> Option<u32>,
) -> Result<(), Full> {
    let chain = Chain::from_word(head.load(Relaxed));
    let units = chain.spilled / BUFFER as u32 + 1;
    let fill = blocks.tail(units).0;
    let block = if fill > 1 {
        chain.block
    } else {
        let oldest = buffer[0].load(Relaxed);
        begin_block(chain.block, units, oldest, area, blocks, allocate).ok_or(Full)?
    };
    let at = block as usize + blocks.header(units) + (fill as usize - 1) * BUFFER;
    for (to, from) in area[at..at + BUFFER].iter().zip(buffer) {
        to.store(from.load(Relaxed), Relaxed);
    }
    let spilled = units * BUFFER as u32;
    head.store((block as u64) << 32 | spilled as u64, Release);
    Ok(())
}

/// Begins a block behind `tail` for the last of `units` units. `oldest` is the oldest posting of
/// that unit.
fn begin_block<A32: Atom32>(
    tail: u32,
    units: u32,
    oldest: u32,
    area: &[A32],
    blocks: Blocks,
    mut allocate: impl FnMut(u32) -> Option<u32>,
) -> Option<u32> {
    let postings = blocks.tail(units).1 * BUFFER as u32;
    let block = allocate(blocks.header(units) as u32 + postings)?;
    area[block as usize].store(tail, Relaxed);
    if let Some(number) = blocks.largest(units) {
        directory::enter(area, tail, block, number, oldest, allocate)?;
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::posting::{LOCAL_MAX, frequency, posting, rank_of};
    use std::sync::atomic::{AtomicU32, AtomicU64};

    const VARIABLE: Blocks = Blocks::Variable { doublings: 5 };

    /// The schedule says of each number of units what a walk over the blocks says.
    #[test]
    fn tails_agree_with_a_walk() {
        for blocks in [
            Blocks::Variable { doublings: 0 },
            Blocks::Variable { doublings: 3 },
            Blocks::Variable { doublings: 5 },
            Blocks::Fixed { units: 1 },
            Blocks::Fixed { units: 4 },
        ] {
            let (mut index, mut fill) = (0, 0);
            let capacity = |index: u32| match blocks {
                Blocks::Variable { doublings } => 1 << index.min(doublings),
                Blocks::Fixed { units } => units,
            };
            for units in 1..2000 {
                if fill == capacity(index) {
                    (index, fill) = (index + 1, 0);
                }
                fill += 1;
                assert_eq!(blocks.tail(units), (fill, capacity(index)), "{blocks:?} {units}");
            }
        }
    }

    #[test]
    fn a_list_reads_back_newest_first() {
        let area: Vec<AtomicU32> = (0..60_000).map(|_| AtomicU32::new(0)).collect();
        let smallest = Blocks::Variable { doublings: 0 };
        for blocks in [VARIABLE, smallest, Blocks::Fixed { units: 4 }] {
            let (chain, count) = (AtomicU64::new(0), AtomicU32::new(0));
            let buffer: [AtomicU32; BUFFER] = Default::default();
            let list = List { chain: &chain, count: &count, buffer: &buffer };
            let mut bump = 1;
            for n in 0..1500 {
                for _ in 0..=n % 300 {
                    let added = list.append(posting(n), &area, blocks, |words| {
                        bump += words;
                        Some(bump - words)
                    });
                    assert!(added.is_ok());
                }
                if n % 97 == 0 || n < 40 {
                    let words = read_all(&list, &area, blocks);
                    assert_eq!(words.len(), n as usize + 1);
                    for rows in [0, 1, n / 3, n.saturating_sub(9), n, n + 1] {
                        assert_eq!(list.count_below(rows, &area, blocks), rows, "{n}");
                        let older = older_than(&list, &area, blocks, rows);
                        assert!(words.ends_with(&older), "{n} {rows}");
                        let all = words.iter().filter(|word| local(**word) < rows);
                        let spilled = all.count().min(words.len() - list.read().buffered);
                        assert!(older.len() >= spilled, "{n} {rows}");
                        // A skip leaves one block at most, or blocks that are in no directory.
                        let passed = older.iter().filter(|word| local(**word) >= rows).count();
                        let most = match blocks {
                            Blocks::Variable { doublings } => 8 << (doublings + 1),
                            Blocks::Fixed { .. } => passed,
                        };
                        assert!(passed <= most, "{n} {rows}: {passed}");
                    }
                    for (i, word) in words.iter().enumerate() {
                        let row = n - i as u32;
                        assert_eq!(
                            (local(*word), frequency(*word)),
                            (row, (row % 300 + 1).min(255))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_full_area_loses_nothing() {
        let area: [AtomicU32; 16] = Default::default();
        let (chain, count) = (AtomicU64::new(0), AtomicU32::new(0));
        let buffer: [AtomicU32; BUFFER] = Default::default();
        let list = List { chain: &chain, count: &count, buffer: &buffer };
        let blocks = VARIABLE;
        for n in 0..8 {
            assert_eq!(list.append(posting(n), &area, blocks, |_| None), Ok(true));
        }
        assert_eq!(list.append(posting(8), &area, blocks, |_| None), Err(Full));
        assert_eq!(read_all(&list, &area, blocks).len(), 8);
        assert_eq!(list.append(posting(8), &area, blocks, |_| Some(1)), Ok(true));
        assert_eq!(read_all(&list, &area, blocks).len(), 9);
    }

    fn read_all(list: &List<AtomicU32, AtomicU64>, area: &[AtomicU32], blocks: Blocks) -> Vec<u32> {
        let head = list.read();
        let mut words: Vec<u32> = head.buffer[..head.buffered].iter().rev().copied().collect();
        words.extend(spilled(head.chain, area, blocks));
        words
    }

    /// Reads the postings in the blocks, newest first. Skips blocks with no posting older than
    /// `rows` rows.
    fn older_than(
        list: &List<AtomicU32, AtomicU64>,
        area: &[AtomicU32],
        blocks: Blocks,
        rows: u32,
    ) -> Vec<u32> {
        let target = rows.checked_sub(1).map_or(LOCAL_MAX + 1, rank_of);
        spilled(list.read().chain.from_rank(area, blocks, target), area, blocks)
    }

    fn spilled(mut chain: Chain, area: &[AtomicU32], blocks: Blocks) -> Vec<u32> {
        let mut words = Vec::new();
        while let Some((block, older)) = chain.next(area, blocks) {
            words.extend(block.iter().rev().map(|w| w.load(Relaxed)));
            chain = older;
        }
        words
    }
}
