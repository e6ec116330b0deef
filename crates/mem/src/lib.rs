//! Memory that is reserved at start and shared between threads: the foundation of the engine.
//!
//! All data of an index lies in a [`Region`], a reservation of address space. A [`HeapFile`] backs
//! the second tier. Memory of this process, or memory [shared](SharedMemory) with others, backs the
//! DRAM.
//!
//! Typed offsets ([`Span`]) address it, never raw pointers. A region returns *atomics only*
//! (`&[AtomicU32]`, [`Line`], …). So a view is sound for every argument, whichever threads read or
//! write these bytes. There is no `&mut` and no plain `&[u32]` over shared memory above this crate.
//!
//! Two allocators divide the space of a region, each with one owner at a time:
//!
//! - [`Ring`]: first in, first out, for data that dies in segment order (the partitions of paper
//!   §4.4);
//! - [`Buddies`]: blocks that are halved and joined again, for other data (dictionaries and their
//!   arrays).
//!
//! [`Pins`] finds when unlinked memory can be reused: after the last reader that could hold it,
//! even in another process ([`ReaderWords`]).
//!
//! [`Proved`] records which pages of a file have been compared with their checksums.
//!
//! [`bulk`] moves many words at once. [`persist`] has the processor's means to make them durable.
//! The `door` crate decides who may use either on the second tier. [`power`] shuts a file system
//! down, for proofs.
//!
//! This crate deliberately does not know documents, terms, segments, or the contents of files.

pub mod buddies;
pub mod bulk;
pub mod disk;
pub mod heap_file;
pub mod identity;
pub mod line;
pub mod persist;
pub mod piece;
pub mod pins;
pub mod power;
pub mod prefetch;
pub mod proved;
pub mod reader_words;
pub mod region;
pub mod rendezvous;
pub mod ring;
pub mod shared_memory;
pub mod shared_pins;
mod slot_word;
pub mod span;
pub mod sync;
#[cfg(test)]
mod test_directory;
mod zeroed;

pub use buddies::Buddies;
pub use disk::{disk_bytes, disk_free};
pub use heap_file::{FilePart, HeapFile, HeapFileError, Medium};
pub use identity::Identity;
pub use line::Line;
pub use piece::Piece;
pub use pins::{Hold, PinSlot, Pins};
pub use prefetch::prefetch;
pub use proved::{Proved, Prover};
pub use reader_words::ReaderWords;
pub use region::{REGION_ALIGN, Region, ReserveError, Residency};
pub use ring::Ring;
pub use shared_memory::{Dram, SharedMemory};
pub use span::{Shared, Span};
pub use zeroed::Zeroed;
