//! From a row to its text in the second tier: an entry for each [block](crate::form::text_block), by row.
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
//! What the first three words say, a start has compared with the section table. An entry and its block are looked at by
//! anyone who reads them, every time.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::form::text_block::{Unpacked, unpack};
use crate::ground::corrupt::{Corrupt, checksum};

/// Words of an entry, and of what is before them.
pub const TEXT_ENTRY_WORDS: u64 = 3;
/// Their bytes.
pub const TEXT_ENTRY_BYTES: u64 = TEXT_ENTRY_WORDS * 8;

/// A block's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEntry {
    pub(crate) first: u32,
    pub(crate) raw_bytes: u32,
    /// In words, from the section's start.
    pub(crate) start: u32,
    pub(crate) stored_bytes: u32,
    pub(crate) check: u32,
}

impl TextEntry {
    /// The entry of a block that is stored as `padded`, whole words, `stored_bytes` of whose bytes count.
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

    /// To its words.
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

    /// One past its last word.
    pub(crate) fn end(&self) -> u64 {
        self.start as u64 + (self.stored_bytes as u64).div_ceil(8)
    }
}

/// Buffers for reading texts from the second tier, and what was read last: neighbours are in the same block.
#[derive(Debug, Default)]
pub struct TextScratch {
    stored: Vec<u8>,
    raw: Vec<u8>,
    /// The region and the place of the block in `raw`.
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
    /// The index at `start`.
    pub(crate) fn at(region: &'a Region, start: u64) -> Result<TextIndex<'a>, Corrupt> {
        let leaves = Corrupt { what: "text index", at: start, why: "it leaves the heap" };
        let Some([blocks, at, bytes]) = words(region, start) else { return Err(leaves) };
        let span = blocks.checked_mul(TEXT_ENTRY_WORDS);
        let entries = span.and_then(|len| region.get(Span::new(start + TEXT_ENTRY_BYTES, len)));
        let Some(entries) = entries else { return Err(leaves) };
        Ok(TextIndex { region, start, entries, texts: (at, bytes) })
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.entries.len() / TEXT_ENTRY_WORDS as usize
    }

    /// Start and bytes of the section of texts.
    pub(crate) fn texts(&self) -> (u64, u64) {
        self.texts
    }

    /// The entry of a block that there is.
    pub(crate) fn entry(&self, index: usize) -> TextEntry {
        let first = index * TEXT_ENTRY_WORDS as usize;
        TextEntry::from_words([0, 1, 2].map(|word| self.entries[first + word].load(Relaxed)))
    }

    /// Where that entry is.
    pub(crate) fn entry_at(&self, index: usize) -> u64 {
        self.start + (1 + index as u64) * TEXT_ENTRY_BYTES
    }

    /// Reads a block, and what its entry says of it.
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
        Unpacked::of(&scratch.raw).ok_or_else(|| corrupt("its texts are not as long as it says"))
    }

    fn read(&self, at: u64, bytes: u64, out: &mut Vec<u8>) -> bool {
        let Some(words) = self.region.get(Span::<AtomicU64>::new(at, bytes / 8)) else {
            return false;
        };
        out.clear();
        out.extend(words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()));
        true
    }

    /// Appends the text of a row.
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

    /// The first block that may have the row: of several that begin with it, which have its parts, the first.
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

/// What the texts that `texts` of a descriptor leads to take in the second tier, with their index, if they are there.
pub fn engraved_bytes(region: &Region, texts: u64) -> Option<u64> {
    let index = (texts < region.nvm_bytes()).then(|| TextIndex::at(region, texts))?.ok()?;
    Some(index.texts.1 + (1 + index.blocks() as u64) * TEXT_ENTRY_BYTES)
}

/// Three words of a region.
fn words(region: &Region, at: u64) -> Option<[u64; 3]> {
    let words = region.get(Span::<AtomicU64>::new(at, TEXT_ENTRY_WORDS))?;
    Some([0, 1, 2].map(|i: usize| words[i].load(Relaxed)))
}
