//! Memory that is reserved at start and shared between threads: the basement of the engine.
//!
//! Everything the index holds lies in a [`Region`]: one reservation, backed by a [`HeapFile`] (the second tier) and by
//! memory of this process or [shared](SharedMemory) with others (DRAM), addressed by typed offsets ([`Span`]) and never by raw pointers. A region hands out *atomics only* (`&[AtomicU32]`, [`Line`], …),
//! so a view is sound for every argument, no matter who else reads or writes the same bytes: there is no
//! `&mut` and no plain `&[u32]` over shared memory anywhere above this crate.
//!
//! Space inside a region is given out by two allocators, each with one owner at a time:
//!
//! * [`Ring`]: first in, first out, for what dies in segment order (the paper's §4.4 partitions);
//! * [`Buddies`]: blocks that are halved and joined again, for what does not (dictionaries and their arrays).
//!
//! [`Pins`] tells when memory that was unlinked can be reused: after the last reader that could hold it, be it in another
//! process ([`ReaderWords`]).
//!
//! [`Proved`] tells which pages of a file hold what was stored there, for anyone who reads them.
//!
//! [`bulk`] moves many words at once, and [`persist`] is what a processor offers to make them durable; who may use either
//! on the second tier is the `door` crate's matter. [`power`] takes a file system down, for proofs.
//!
//! What this crate deliberately does not know: documents, terms, segments, and what is in a file.

pub mod buddies;
pub mod bulk;
pub mod disk;
pub mod heap_file;
pub mod identity;
pub mod line;
pub mod persist;
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
pub use pins::{Hold, PinSlot, Pins};
pub use prefetch::prefetch;
pub use proved::{Proved, Prover};
pub use reader_words::ReaderWords;
pub use region::{REGION_ALIGN, Region, ReserveError, Residency};
pub use ring::Ring;
pub use shared_memory::{Dram, SharedMemory};
pub use span::{Shared, Span};
pub use zeroed::Zeroed;
