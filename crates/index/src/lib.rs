//! The index without threads or policy: segments, dictionary, descriptor table and snapshots.
//!
//! Each room uses only those above it:
//!
//! | room | contents |
//! |---|---|
//! | [`ground`] | ids, posting words, terms, values; layout of memory and file; slots, sections |
//! | [`rows`] | rows, their lengths, texts, document vectors and death stamps |
//! | [`terms`] | terms in order; the dictionary in DRAM and its writer; packed terms |
//! | [`lists`] | posting lists: growing, packed; block maxima |
//! | [`column`](mod@column) | values of rows, by field |
//! | [`tier`] | an executor's part of the file, open; page checks |
//! | [`memory`] | an executor's memory, and the descriptor table in it |
//! | [`form`] | the contents of the file: root, list of fields, nodes, texts, merged dictionary |
//! | [`log`] | operations that no engraved segment has yet |
//! | [`fresh`] | the segment that a [batch](fresh::batch) goes into |
//! | [`snapshot`] | the state of an executor that one query sees |
//! | [`keys`] | from a document's key to its row |
//! | [`engrave`] | from DRAM to the second tier: a segment is copied, and its readers move |
//! | [`merge`] | the terms of engraved segments are linked into the merged dictionary |
//! | [`flush`] | a full segment becomes a read-optimized one, registered in the dictionary |
//! | [`rewrite`] | mostly dead segments become one |
//! | [`start`] | recovery, import of terms to DRAM after it, and their shedding |
//! | [`check`] | comparison of the file with its checksums and with itself |
//! | [`backup`], [`salvage`] | copies at one point of the operation order, or of the whole parts |
//!
//! Everything in the second tier is stored through the [door](spirit_door), apart from zeros in a
//! log's first lap. Nothing relies on the order in which stores become durable, apart from fences.
//! Data is durable before the word that leads to it. This word is one aligned 8-byte store. Data
//! that can be torn has a checksum. `docs/format.md` describes the format byte by byte.
//!
//! This crate knows no text and no query. It starts no thread, and opens no file: it is given one.
//!
//! A room's own file lists what other crates use of it. The files inside a room are private:
//! `cargo doc --document-private-items` shows them.
#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links, reason = "engineers read the private items as well")]

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
