//! The second tier of an executor: what lies where in it, how a segment gets there, and how all is found again.
//!
//! | file | noun |
//! |---|---|
//! | [`tier`], [`layout`] | an executor's part, open; its partitions |
//! | [`slot`] | a segment's entry in the engrave log: where its copy is, what it covers, its mark |
//! | [`section`] | the parts of a segment's copy |
//! | `pages` | a checksum for each page of it |
//! | `prover`, [`damage`] | looking at a page when it is read for the first time; what was wrong with it |
//! | [`log`], [`log_reader`], `log_operation` | operations that are in no engraved segment yet |
//! | [`engrave`] | the stage that copies a flushed segment |
//! | [`commit`] | readers go to the copy |
//! | [`term_engraver`] | writing its terms, in the order of their hashes |
//! | `packed_term_engraver` | writing them in the order of their bytes, if its lists are packed |
//! | `list_packer`, `inversion` | packing its lists, with where terms are in their documents |
//! | `key_engraver` | its stored keys, if document vectors do not come along |
//! | `order_engraver` | writing which of those comes where in the order of their bytes |
//! | [`text_block`], [`text_index`] | compressed texts, and how a row's is found |
//! | [`text_engraver`] | compressing them, in pieces |
//! | [`engraved_terms`], [`node`] | a raw segment's terms until it is merged; where their postings are |
//! | `packed_terms` | those of packed ones, which no node has |
//! | `named_nodes` | from a node to the bytes of its term, wherever they are |
//! | [`merged`], [`merged_writer`] | the dictionary of the merged segment |
//! | [`merge`] | the stage that links a segment's terms into it |
//! | [`coverage`] | from which segment on the DRAM dictionary has all entries |
//! | [`older`] | entries of segments before that |
//! | `packed_import` | those that come to DRAM after a start of segments with packed terms |
//! | [`import`], [`shed`] | how entries come to DRAM after a start, and leave it |
//! | [`key_hashes`] | keys that are not in the key table |
//! | [`shape`] | what a start relies on in a segment |
//! | [`seal`] | where the log and the segments ended when the index was closed |
//! | [`recover`] | what a start finds |
//! | [`check`] | whether all of it is what was stored |
//! | [`backup`] | a copy of it as it is at one point of its operation order |
//! | [`root`] | what is said once for a whole index |
//! | [`field_list`] | which fields its documents have |
//!
//! Everything is stored through the [door](spirit_door). Nothing here relies on the order in which stores become durable,
//! but for fences: data is durable before the word that leads to it, that word is one aligned 8-byte store, and what can be
//! torn carries a checksum. The byte format is described in `docs/format.md`.

pub mod backup;
pub mod check;
pub mod commit;
pub mod coverage;
pub mod damage;
pub mod engrave;
pub mod engraved_terms;
pub mod field_list;
pub mod gather;
pub mod import;
mod inversion;
mod key_engraver;
pub mod key_filter;
pub mod key_hashes;
pub mod layout;
mod length_engraver;
mod list_packer;
pub mod log;
mod log_operation;
pub mod log_reader;
pub mod merge;
pub mod merged;
pub mod merged_writer;
pub(crate) mod named_nodes;
pub mod node;
pub mod older;
mod order_engraver;
mod packed_import;
mod packed_term_engraver;
pub(crate) mod packed_terms;
pub(crate) mod pages;
mod prover;
pub mod recover;
pub mod root;
mod row_packer;
pub mod salvage;
pub mod seal;
pub mod section;
pub mod shape;
pub mod shed;
pub mod slot;
pub(crate) mod stamps;
pub mod term_engraver;
pub mod text_block;
pub mod text_engraver;
pub mod text_index;
pub mod tier;
#[cfg(test)]
mod vectors;

use std::fmt;

/// Something in the second tier is not what was stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// What.
    pub what: &'static str,
    /// Its offset from the start of the executor's part (of the file, for the root).
    pub at: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}: {}", self.what, self.at, self.why)
    }
}

impl std::error::Error for Corrupt {}

/// The CRC32C of words, in the byte order of the format (little endian).
#[inline]
pub(crate) fn checksum(seed: u32, words: &[u64]) -> u32 {
    spirit_kernel::crc32c_words(seed, words)
}
