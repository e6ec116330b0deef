//! Segments, dictionary, descriptor table and snapshots: the index itself, without threads or policy.
//!
//! Each room uses only those above it:
//!
//! | room | what it is |
//! |---|---|
//! | [`ground`] | ids, posting words, terms, values; how memory and file are divided; slots and sections of segments |
//! | [`rows`] | rows, their lengths, texts, document vectors and death stamps |
//! | [`terms`] | terms in order; the dictionary in DRAM and its writer; packed terms |
//! | [`lists`] | posting lists: growing, packed; block maxima |
//! | [`column`](mod@column) | values of rows, by field |
//! | [`tier`] | an executor's part of the file, open; page checks |
//! | [`memory`] | an executor's memory, and the descriptor table in it |
//! | [`form`] | what lies in the file: the root, list of fields, nodes, texts, the merged dictionary |
//! | [`log`] | operations that no engraved segment has yet |
//! | [`fresh`] | the segment that a [batch](fresh::batch) goes into |
//! | [`snapshot`] | what one query sees of an executor |
//! | [`keys`] | from a document's key to its row |
//! | [`engrave`] | from DRAM to the second tier: a segment is copied, and readers go there |
//! | [`merge`] | the terms of engraved segments are linked into the merged dictionary |
//! | [`flush`] | a full segment becomes a read-optimized one, registered in the dictionary |
//! | [`rewrite`] | mostly dead segments become one |
//! | [`start`] | what a start finds, and how terms come to DRAM after it and leave it |
//! | [`check`] | whether the file is what was stored there |
//! | [`backup`], [`salvage`] | copies of it, at one point of its operation order or of its whole parts |
//!
//! Everything in the second tier is stored through the [door](spirit_door). Nothing relies on the order in which stores become durable,
//! but for fences: data is durable before the word that leads to it, that word is one aligned 8-byte store, and what can be
//! torn carries a checksum. `docs/format.md` describes the format byte by byte.
//!
//! This crate does not know text, queries, threads or files.
#![forbid(unsafe_code)]

pub mod backup;
pub mod check;
pub mod column;
pub mod engrave;
pub mod flush;
pub mod form;
#[cfg(test)]
mod format_vectors;
pub mod fresh;
pub mod ground;
pub mod keys;
pub mod lists;
pub mod log;
pub mod memory;
pub mod merge;
pub mod rewrite;
pub mod rows;
pub mod salvage;
pub mod snapshot;
pub mod start;
pub mod terms;
pub mod tier;
