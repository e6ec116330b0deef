//! Dictionary engines: maps from keys to words of 64 bits, behind one interface (part 004, figure 11). An [out-of-place
//! merge](crate::out_of_place) puts terms into one, and the keys of documents into another.
//!
//! | engine | what it is | what stands for it in the paper |
//! |---|---|---|
//! | `own, in the file` | our merged dictionary's structure in a mapped file, durable at the end | none |
//! | `own, in memory` | the same in DRAM, written out at the end | VCMap |
//! | `own, each put` | the same in a mapped file, each put written back and fenced | CMap |
//! | `B-tree` | redb, one transaction | BDB |
//! | `LSM` | fjall | none |
//! | `hollow` | drops everything: what the interface costs | Hollow |
//!
//! "Durable" is that of level process: a kill loses nothing. What a power cut loses, the medium decides.

mod code;
pub(crate) mod engine;
mod hollow;
pub(crate) mod kind;
mod lsm;
mod own;
mod tree;
