//! A block of texts in the second tier: the texts of consecutive rows, compressed together.
//!
//! The data to compress, in 32-bit words, then bytes:
//!
//! | | |
//! |---|---|
//! | word 0 | rows |
//! | word 1 | bytes of the first row's text that are in blocks before |
//! | a word a row | bytes of its text |
//! | bytes | the texts, one behind the other |
//!
//! A block has as many whole texts as fit into [`BLOCK_BYTES`], and at least one. A text of more
//! than [`PART_BYTES`] bytes is cut into parts of this size. Each part has its own block. A block
//! that compression does not shorten is stored uncompressed.

use lz4_flex::block::get_maximum_output_size;
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into};

/// Largest number of bytes before compression of a block of several texts.
///
/// A hit pays for a whole block, so it is small: blocks of 16 KiB take 9 % less room for posts, and four
/// times as long.
pub(crate) const BLOCK_BYTES: usize = 4 << 10;
/// Largest number of bytes of a text in one block.
pub(crate) const PART_BYTES: u32 = 256 << 10;
/// Largest number of bytes of a block before compression.
pub(crate) const RAW_BYTES_MAX: usize = HEADER_BYTES + LENGTH_BYTES + PART_BYTES as usize;
const HEADER_BYTES: usize = 8;
const LENGTH_BYTES: usize = 4;
const _: () = assert!(RAW_BYTES_MAX >= BLOCK_BYTES && PART_BYTES.is_multiple_of(8));

/// The texts of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The first row.
    pub(crate) first: u32,
    /// Number of rows.
    pub(crate) rows: u32,
    /// Bytes of the first row's text that are in earlier blocks.
    pub(crate) skipped: u32,
    /// Bytes of texts.
    pub(crate) bytes: u32,
}

impl Cut {
    /// Returns the bytes before compression.
    pub(crate) fn raw_bytes(&self) -> usize {
        HEADER_BYTES + LENGTH_BYTES * self.rows as usize + self.bytes as usize
    }
}

/// The division of a segment's texts into blocks. It depends only on the texts' lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter {
    rows: u32,
    next: u32,
    skipped: u32,
}

impl Cutter {
    pub(crate) fn new(rows: u32) -> Cutter {
        Cutter { rows, next: 0, skipped: 0 }
    }

    /// Returns the next block of rows. `length` returns the length of a row's text.
    pub(crate) fn next(&mut self, length: impl Fn(u32) -> u32) -> Option<Cut> {
        let mut cut = Cut { first: self.next, rows: 0, skipped: self.skipped, bytes: 0 };
        while self.next < self.rows {
            let left = length(self.next) - self.skipped;
            let more = cut.raw_bytes() + LENGTH_BYTES + left as usize;
            if cut.rows > 0 && more > BLOCK_BYTES {
                break;
            }
            cut.rows += 1;
            if left > PART_BYTES {
                cut.bytes = PART_BYTES;
                self.skipped += PART_BYTES;
                break;
            }
            cut.bytes += left;
            self.next += 1;
            if self.skipped > 0 {
                self.skipped = 0;
                break;
            }
        }
        (cut.rows > 0).then_some(cut)
    }
}

/// Begins a block in `raw`. The caller appends its texts.
pub(crate) fn begin(cut: &Cut, length: impl Fn(u32) -> u32, raw: &mut Vec<u8>) {
    raw.clear();
    raw.extend_from_slice(&cut.rows.to_le_bytes());
    raw.extend_from_slice(&cut.skipped.to_le_bytes());
    for row in cut.first..cut.first + cut.rows {
        raw.extend_from_slice(&length(row).to_le_bytes());
    }
}

/// A compressor that is reused for many blocks.
///
/// Each block begins by clearing a table, so short blocks have one of half the bytes.
pub(crate) struct Packer {
    short: CompressTable,
    long: CompressTable,
    out: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Packer {
        Packer { short: CompressTable::small(), long: CompressTable::large(), out: Vec::new() }
    }
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl Packer {
    /// Returns the stored form of a block: compressed, or `raw` if that is not longer.
    pub(crate) fn pack<'p>(&'p mut self, raw: &'p [u8]) -> &'p [u8] {
        self.out.resize(get_maximum_output_size(raw.len()), 0);
        let table = if raw.len() <= BLOCK_BYTES { &mut self.short } else { &mut self.long };
        match compress_into_with_table(raw, &mut self.out, table) {
            Ok(bytes) if bytes < raw.len() => &self.out[..bytes],
            _ => raw,
        }
    }
}

/// Restores the block of `raw_bytes` bytes from its stored form into `raw`. True if there is such a
/// block.
pub(crate) fn unpack(stored: &[u8], raw_bytes: usize, raw: &mut Vec<u8>) -> bool {
    raw.clear();
    if raw_bytes > RAW_BYTES_MAX || stored.len() > raw_bytes {
        return false;
    }
    if stored.len() == raw_bytes {
        raw.extend_from_slice(stored);
        return true;
    }
    raw.resize(raw_bytes, 0);
    decompress_into(stored, raw).is_ok_and(|bytes| bytes == raw_bytes)
}

/// A block that was read and has a valid form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unpacked<'r> {
    pub(crate) rows: u32,
    pub(crate) skipped: u32,
    lengths: &'r [u8],
    texts: &'r [u8],
}

impl<'r> Unpacked<'r> {
    pub(crate) fn of(raw: &'r [u8]) -> Option<Unpacked<'r>> {
        let (header, rest) = raw.split_at_checked(HEADER_BYTES)?;
        let [rows, skipped] = [number(&header[..4]), number(&header[4..])];
        let (lengths, texts) = rest.split_at_checked((rows as usize).checked_mul(LENGTH_BYTES)?)?;
        let block = Unpacked { rows, skipped, lengths, texts };
        let said = lengths.chunks(LENGTH_BYTES).map(|length| number(length) as u64).sum::<u64>();
        let held = skipped as u64 + texts.len() as u64;
        // A block of one row may have a part of its text. A block of several has whole texts.
        let right = if rows == 1 { held <= said } else { rows > 1 && skipped == 0 && held == said };
        right.then_some(block)
    }

    /// Returns the bytes of the text of the block's row at `index`. If the block has a part, this
    /// counts the other blocks too.
    pub(crate) fn length(&self, index: u32) -> u32 {
        number(&self.lengths[index as usize * LENGTH_BYTES..][..LENGTH_BYTES])
    }

    /// Returns the bytes of that text in this block.
    pub(crate) fn held(&self, index: u32) -> u32 {
        if self.rows == 1 { self.texts.len() as u32 } else { self.length(index) }
    }

    /// Returns the bytes of that text which this block holds.
    pub(crate) fn text(&self, index: u32) -> &'r [u8] {
        let start = (0..index).map(|before| self.length(before) as usize).sum::<usize>();
        &self.texts[start..start + self.held(index) as usize]
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The blocks of some texts, as they are before compression.
    fn blocks(texts: &[Vec<u8>]) -> Vec<(Cut, Vec<u8>)> {
        let length = |row: u32| texts[row as usize].len() as u32;
        let mut cutter = Cutter::new(texts.len() as u32);
        let mut blocks = Vec::new();
        while let Some(cut) = cutter.next(length) {
            let mut raw = Vec::new();
            begin(&cut, length, &mut raw);
            let texts = texts[cut.first as usize..][..cut.rows as usize].concat();
            raw.extend_from_slice(&texts[cut.skipped as usize..][..cut.bytes as usize]);
            assert_eq!(raw.len(), cut.raw_bytes());
            blocks.push((cut, raw));
        }
        blocks
    }

    /// What blocks hold, text by text.
    fn texts(blocks: &[(Cut, Vec<u8>)]) -> Vec<Vec<u8>> {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let (mut packer, mut back) = (Packer::default(), Vec::new());
        for (cut, raw) in blocks {
            let stored = packer.pack(raw).to_vec();
            assert!(stored.len() <= raw.len() && raw.len() <= RAW_BYTES_MAX);
            assert!(unpack(&stored, raw.len(), &mut back));
            assert_eq!(&back, raw);
            let block = Unpacked::of(&back).unwrap();
            assert_eq!((block.rows, block.skipped), (cut.rows, cut.skipped));
            for index in 0..block.rows {
                let row = (cut.first + index) as usize;
                if row == texts.len() {
                    texts.push(Vec::new());
                }
                assert_eq!((row, texts[row].len()), (texts.len() - 1, block.skipped as usize));
                texts[row].extend_from_slice(block.text(index));
                assert!(texts[row].len() <= block.length(index) as usize);
            }
        }
        texts
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let mixed = prop::collection::vec(any::<u8>(), 0..200);
        let long = (any::<u8>(), 0usize..40_000).prop_map(|(byte, len)| vec![byte; len]);
        let parts = (0usize..3, 0usize..9).prop_map(|(parts, more)| {
            let len = parts * PART_BYTES as usize + more;
            (0..len).map(|at| (at * at / 128) as u8).collect()
        });
        prop_oneof![20 => mixed, 3 => Just(Vec::new()), 3 => long, 1 => parts]
    }

    proptest! {
        #[test]
        fn texts_come_back(all in prop::collection::vec(text(), 0..120)) {
            let blocks = blocks(&all);
            for pair in blocks.windows(2) {
                let filled = pair[0].1.len() + LENGTH_BYTES + pair[1].0.bytes as usize;
                let parts = pair[0].0.skipped > 0 || pair[0].0.bytes >= PART_BYTES;
                prop_assert!(filled > BLOCK_BYTES || parts || pair[1].0.rows > 1);
            }
            prop_assert_eq!(texts(&blocks), all);
        }

        /// Bytes that are no block give no panic, and nothing but what fits together.
        #[test]
        fn any_bytes_are_read(stored in prop::collection::vec(any::<u8>(), 0..400), raw_bytes in 0usize..2000) {
            let mut raw = Vec::new();
            if unpack(&stored, raw_bytes, &mut raw) && let Some(block) = Unpacked::of(&raw) {
                let held = (0..block.rows).map(|row| block.text(row).len()).sum::<usize>();
                prop_assert_eq!(held + HEADER_BYTES + block.rows as usize * LENGTH_BYTES, raw.len());
            }
        }
    }

    #[test]
    fn every_truncation_and_every_flip_is_read_without_a_panic() {
        let all: Vec<Vec<u8>> = (0..60).map(|n| format!("sea {n} whale {n} man").into()).collect();
        let blocks = blocks(&all);
        assert_eq!(blocks.len(), 1);
        let stored = Packer::default().pack(&blocks[0].1).to_vec();
        let len = blocks[0].1.len();
        assert!(stored.len() < len / 2, "{} of {len}", stored.len());
        let mut raw = Vec::new();
        for cut in 0..stored.len() {
            // A checksum precedes this in use. Cut data that decompresses to the right length is
            // parsed too.
            if unpack(&stored[..cut], len, &mut raw) {
                let _ = Unpacked::of(&raw);
            }
        }
        for bit in 0..stored.len() * 8 {
            let mut bent = stored.clone();
            bent[bit / 8] ^= 1 << (bit % 8);
            if unpack(&bent, len, &mut raw)
                && let Some(block) = Unpacked::of(&raw)
            {
                (0..block.rows).for_each(|row| drop(block.text(row).to_vec()));
            }
        }
        assert!(!unpack(&stored, RAW_BYTES_MAX + 1, &mut raw), "longer than any block");
        assert!(!unpack(&vec![0; len + 1], len, &mut raw), "longer than what it was");
    }

    #[test]
    fn a_block_that_does_not_fit_together_is_none() {
        let block = |words: &[u32], bytes: &[u8]| {
            let mut raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            raw.extend_from_slice(bytes);
            Unpacked::of(&raw).map(|block| block.rows)
        };
        assert_eq!(block(&[2, 0, 1, 2], b"abc"), Some(2));
        assert_eq!(block(&[1, 4, 7], b"abc"), Some(1));
        for (words, bytes) in [
            (&[][..], &b""[..]),
            (&[0, 0], b""),
            (&[2, 0, 1], b""),
            (&[2, 0, 1, 1], b"abc"),
            (&[2, 1, 1, 2], b"ab"),
            (&[1, 5, 7], b"abc"),
            (&[u32::MAX, 0, 1, 1], b"abc"),
            (&[2, 0, u32::MAX, u32::MAX], b"abc"),
        ] {
            assert_eq!(block(words, bytes), None, "{words:?}");
        }
    }
}
