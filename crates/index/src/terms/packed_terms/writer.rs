//! Writes the terms of a segment, a block at a time.

use crate::ground::corrupt::checksum;
use crate::ground::term::FieldId;
use crate::terms::entries::Entry;
use crate::terms::packed_terms::code::{self, Coded};
use crate::terms::packed_terms::{BLOCK, HEAD_WORDS, WORD};
use crate::terms::term_order::prefix;

/// Bytes of a term beside its own, at most: three say what it shares, twelve lead to its list, and one is its field's.
const BESIDE_BYTES_MAX: u64 = 16;

/// What is behind the blocks of terms that are being written, and what comes next.
#[derive(Debug, Default)]
pub(crate) struct PackedTermsWriter {
    terms: u32,
    /// Of all blocks but the current one.
    words: u32,
    /// The last term, and the current block.
    last: Vec<u8>,
    block: Vec<u8>,
    prefixes: Vec<u64>,
    index: Vec<u64>,
}

impl PackedTermsWriter {
    /// Where the first block belongs, in bytes behind the beginning.
    pub(crate) const BLOCKS_AT: u64 = HEAD_WORDS * WORD;

    /// Adds a term, which is behind all before, and its list, which is packed. Blocks that are full are appended to `out`: they
    /// follow those that were before.
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

    /// Appends what comes behind the blocks that were written, and says which word belongs before the first.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> u64 {
        self.end_block(out);
        for word in self.prefixes.iter().chain(&self.index) {
            out.extend_from_slice(&word.to_le_bytes());
        }
        self.terms as u64 | (self.words as u64) << 32
    }

    /// Bytes that this many terms take at most, which have this many bytes themselves.
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
