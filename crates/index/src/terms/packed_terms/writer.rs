//! Writes the terms of a segment, a block at a time.

use crate::ground::corrupt::checksum;
use crate::ground::term::FieldId;
use crate::terms::entries::Entry;
use crate::terms::packed_terms::code::{self, Coded};
use crate::terms::packed_terms::{BLOCK, HEAD_WORDS, WORD};
use crate::terms::term_order::prefix;

/// Largest number of bytes of a term beside its own: three for the shared prefix, twelve for the
/// list, and two for the field.
const BESIDE_BYTES_MAX: u64 = 17;

/// The state of the writer: the data behind the blocks, and the current block.
#[derive(Debug, Default)]
pub(crate) struct PackedTermsWriter {
    terms: u32,
    /// Number of words of all blocks but the current one.
    words: u32,
    /// The last term, and the current block.
    last: Vec<u8>,
    block: Vec<u8>,
    prefixes: Vec<u64>,
    index: Vec<u64>,
}

impl PackedTermsWriter {
    /// Offset of the first block from the beginning, in bytes.
    pub(crate) const BLOCKS_AT: u64 = HEAD_WORDS * WORD;

    /// Adds a term behind all before, and its packed list. Appends full blocks to `out`: they
    /// follow those of earlier calls.
    pub(crate) fn add(&mut self, field: FieldId, bytes: &[u8], entry: Entry, out: &mut Vec<u8>) {
        if (self.terms as usize).is_multiple_of(BLOCK) {
            self.end_block(out);
            self.prefixes.push(prefix(field, bytes));
        }
        let term = Coded::new(field, bytes);
        code::push(&self.last, term.bytes(), entry, &mut self.block);
        self.last.clear();
        self.last.extend_from_slice(term.bytes());
        self.terms += 1;
    }

    /// Appends the data behind the blocks. Returns the word before the first block.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> u64 {
        self.end_block(out);
        for word in self.prefixes.iter().chain(&self.index) {
            out.extend_from_slice(&word.to_le_bytes());
        }
        self.terms as u64 | (self.words as u64) << 32
    }

    /// Returns an upper bound of the bytes of `terms` terms that have `bytes` bytes of their own.
    pub(crate) fn bytes_max(terms: u64, bytes: u64) -> u64 {
        let of_blocks = terms.div_ceil(BLOCK as u64) * 3 * WORD;
        Self::BLOCKS_AT + bytes + terms * BESIDE_BYTES_MAX + of_blocks
    }

    fn end_block(&mut self, out: &mut Vec<u8>) {
        self.last.clear();
        if self.block.is_empty() {
            return;
        }
        let terms = (self.terms - 1) % BLOCK as u32 + 1;
        self.block.resize(self.block.len().next_multiple_of(WORD as usize), 0);
        let words: Vec<u64> =
            self.block.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        self.index.push(self.words as u64 | (checksum(terms, &words) as u64) << 32);
        self.words += words.len() as u32;
        out.append(&mut self.block);
    }
}
