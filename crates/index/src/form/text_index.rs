//! The index from a row to its text in the second tier. It has an entry for each
//! [block](crate::form::text_block), by row.
//!
//! | word | |
//! |---|---|
//! | 0 | blocks |
//! | 1, 2 | start and bytes of the section of texts |
//!
//! Then for each block:
//!
//! | word | low half | high half |
//! |---|---|---|
//! | 0 | first row | bytes before compression |
//! | 1 | where it begins in the section, in words | bytes stored |
//! | 2 | checksum of the words before, and of the bytes up to a whole word | 0 |
//!
//! A start compares the first three words with the section table. A reader checks an entry and its
//! block on every read.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::form::text_block::{Unpacked, unpack};
use crate::ground::corrupt::{Corrupt, checksum};

/// Number of words of an entry, and of the head before the entries.
pub(crate) const TEXT_ENTRY_WORDS: u64 = 3;
/// Bytes of an entry.
pub(crate) const TEXT_ENTRY_BYTES: u64 = TEXT_ENTRY_WORDS * 8;

/// A block's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEntry {
    pub(crate) first: u32,
    pub(crate) raw_bytes: u32,
    /// Offset from the section's start, in words.
    pub(crate) start: u32,
    pub(crate) stored_bytes: u32,
    pub(crate) check: u32,
}

impl TextEntry {
    /// Makes the entry of a block that is stored as `padded`, in whole words. Its first
    /// `stored_bytes` bytes count.
    pub(crate) fn new(
        first: u32,
        raw_bytes: usize,
        start: u32,
        stored_bytes: usize,
        padded: &[u8],
    ) -> TextEntry {
        let (raw_bytes, stored_bytes) = (raw_bytes as u32, stored_bytes as u32);
        let entry = TextEntry { first, raw_bytes, start, stored_bytes, check: 0 };
        TextEntry { check: entry.check_of(padded), ..entry }
    }

    fn check_of(&self, padded: &[u8]) -> u32 {
        let [low, high, _] = self.words();
        crc32c::crc32c_append(checksum(0, &[low, high]), padded)
    }

    /// Returns the words of the entry.
    pub(crate) fn words(&self) -> [u64; 3] {
        [
            self.first as u64 | (self.raw_bytes as u64) << 32,
            self.start as u64 | (self.stored_bytes as u64) << 32,
            self.check as u64,
        ]
    }

    fn from_words([low, high, check]: [u64; 3]) -> TextEntry {
        TextEntry {
            first: low as u32,
            raw_bytes: (low >> 32) as u32,
            start: high as u32,
            stored_bytes: (high >> 32) as u32,
            check: check as u32,
        }
    }

    /// Returns the offset behind its last word, in words.
    pub(crate) fn end(&self) -> u64 {
        self.start as u64 + (self.stored_bytes as u64).div_ceil(8)
    }
}

/// Buffers for reading texts from the second tier. They keep the last block, since neighbours are
/// in one block.
#[derive(Debug, Default)]
pub struct TextScratch {
    stored: Vec<u8>,
    raw: Vec<u8>,
    /// The region, and the place of the entry of the block in `raw`.
    of: Option<(usize, u64)>,
}

/// The index of a segment's texts.
#[derive(Clone, Copy)]
pub(crate) struct TextIndex<'a> {
    region: &'a Region,
    start: u64,
    entries: &'a [AtomicU64],
    /// Start and bytes of the section of texts.
    texts: (u64, u64),
}

impl<'a> TextIndex<'a> {
    /// Returns the index at `start`.
    pub(crate) fn at(region: &'a Region, start: u64) -> Result<TextIndex<'a>, Corrupt> {
        let leaves = Corrupt { what: "text index", at: start, why: "it leaves the heap" };
        let Some([blocks, at, bytes]) = words(region, start) else { return Err(leaves) };
        let span = blocks.checked_mul(TEXT_ENTRY_WORDS);
        let entries = span.and_then(|len| region.get(Span::new(start + TEXT_ENTRY_BYTES, len)));
        let Some(entries) = entries else { return Err(leaves) };
        Ok(TextIndex { region, start, entries, texts: (at, bytes) })
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.entries.len() / TEXT_ENTRY_WORDS as usize
    }

    /// Returns start and bytes of the section of texts.
    pub(crate) fn texts(&self) -> (u64, u64) {
        self.texts
    }

    /// Returns the entry of a block, which must exist.
    pub(crate) fn entry(&self, index: usize) -> TextEntry {
        let first = index * TEXT_ENTRY_WORDS as usize;
        TextEntry::from_words([0, 1, 2].map(|word| self.entries[first + word].load(Relaxed)))
    }

    /// Returns the offset of that entry.
    pub(crate) fn entry_at(&self, index: usize) -> u64 {
        self.start + (1 + index as u64) * TEXT_ENTRY_BYTES
    }

    /// Reads a block and checks it against its entry.
    pub(crate) fn block<'s>(
        &self,
        index: usize,
        scratch: &'s mut TextScratch,
    ) -> Result<Unpacked<'s>, Corrupt> {
        let entry = self.entry(index);
        let at = self.texts.0.saturating_add(entry.start as u64 * 8);
        let corrupt = |why| Corrupt { what: "block of texts", at, why };
        let of = (std::ptr::from_ref(self.region).addr(), self.entry_at(index));
        if scratch.of != Some(of) {
            scratch.of = None;
            let bytes = (entry.stored_bytes as u64).next_multiple_of(8);
            if entry.end() * 8 > self.texts.1 || !self.read(at, bytes, &mut scratch.stored) {
                return Err(corrupt("it leaves its section"));
            }
            if entry.check_of(&scratch.stored) != entry.check {
                return Err(corrupt("its checksum is wrong"));
            }
            let stored = &scratch.stored[..entry.stored_bytes as usize];
            if !unpack(stored, entry.raw_bytes as usize, &mut scratch.raw) {
                return Err(corrupt("it cannot be decompressed"));
            }
            scratch.of = Some(of);
        }
        Unpacked::of(&scratch.raw)
            .ok_or_else(|| corrupt("its texts do not have the length that it says"))
    }

    fn read(&self, at: u64, bytes: u64, out: &mut Vec<u8>) -> bool {
        let is_inside = self.region.get(Span::<AtomicU64>::new(at, bytes / 8)).is_some();
        if is_inside {
            out.clear();
            self.region.read_words(at, bytes, out);
        }
        is_inside
    }

    /// Appends the text of a row. An error appends nothing.
    pub(crate) fn write(
        &self,
        local: u32,
        scratch: &mut TextScratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let before = out.len();
        let written = self.append(local, scratch, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    fn append(
        &self,
        local: u32,
        scratch: &mut TextScratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let before = out.len();
        let mut index = self.first_block_of(local);
        // Invariant: the blocks before `index` have given the text's first bytes. Each round adds
        // at least one byte or returns, so that the loop ends.
        loop {
            let corrupt = |why| Corrupt { what: "text index", at: self.start, why };
            if index >= self.blocks() {
                return Err(corrupt("a row is in no block"));
            }
            let first = self.entry(index).first;
            let block = self.block(index, scratch)?;
            let Some(inside) = local.checked_sub(first).filter(|inside| *inside < block.rows)
            else {
                return Err(corrupt("a row is not in the block where it should be"));
            };
            let done = out.len() - before;
            if block.skipped as usize != done {
                return Err(corrupt("a part of a text is missing"));
            }
            let length = block.length(inside) as usize;
            out.extend_from_slice(block.text(inside));
            if out.len() - before == length {
                return Ok(());
            }
            if out.len() - before == done {
                return Err(corrupt("a part of a text is empty"));
            }
            index += 1;
        }
    }

    /// Returns the first block that may contain the row. If several blocks begin with the row, they
    /// have its parts.
    fn first_block_of(&self, local: u32) -> usize {
        let until = |is_before: &dyn Fn(u32) -> bool| {
            let (mut low, mut high) = (0, self.blocks());
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(self.entry(middle).first) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let first = until(&|first| first < local);
        let begins = first < self.blocks() && self.entry(first).first == local;
        if begins { first } else { first.saturating_sub(1) }
    }
}

/// Returns the bytes that the texts of a descriptor take in the second tier, with their index.
/// `texts` leads to them. Returns `None` if they are elsewhere.
pub fn engraved_bytes(region: &Region, texts: u64) -> Option<u64> {
    let index = (texts < region.nvm_bytes()).then(|| TextIndex::at(region, texts))?.ok()?;
    Some(index.texts.1 + (1 + index.blocks() as u64) * TEXT_ENTRY_BYTES)
}

/// Returns three words of a region.
fn words(region: &Region, at: u64) -> Option<[u64; 3]> {
    let words = region.get(Span::<AtomicU64>::new(at, TEXT_ENTRY_WORDS))?;
    Some([0, 1, 2].map(|i: usize| words[i].load(Relaxed)))
}
