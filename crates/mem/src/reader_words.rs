//! Reader slots in memory that processes share. With them, readers tell the writer what they still
//! read.
//!
//! | bytes | |
//! |---|---|
//! | 0, 128 | epoch, groups |
//! | from 4096 | slots of 128 bytes, group by group |
//!
//! A group belongs to one process while its connection to the writer is open
//! ([`rendezvous`](crate::rendezvous)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::region::{REGION_ALIGN, Region, Residency};
use crate::shared_memory::{Dram, SharedMemory};
use crate::shared_pins::SharedPins;
use crate::span::Span;

/// The most processes that read at one time.
pub const GROUPS: usize = 32;
/// The number of slots of each.
pub const GROUP_SLOTS: usize = 32;

const EPOCH_AT: u64 = 0;
const GROUPS_AT: u64 = 128;
const SLOTS_AT: u64 = 4096;
/// The bytes of a slot: alone on a pair of cache lines, as in memory of one process.
const SLOT_BYTES: u64 = 128;
const BYTES: u64 = SLOTS_AT + (GROUPS * GROUP_SLOTS) as u64 * SLOT_BYTES;

/// The shared words, mapped.
pub struct ReaderWords {
    memory: SharedMemory,
    region: Region,
}

impl ReaderWords {
    /// Makes words in which no group is taken.
    pub fn create() -> io::Result<Arc<ReaderWords>> {
        let bytes = BYTES.next_multiple_of(REGION_ALIGN);
        Self::map(SharedMemory::create("spirit-readers", bytes)?)
    }

    /// Maps the words that the writer handed over.
    pub fn adopt(descriptor: OwnedFd) -> io::Result<Arc<ReaderWords>> {
        Self::map(SharedMemory::adopt(descriptor)?)
    }

    fn map(memory: SharedMemory) -> io::Result<Arc<ReaderWords>> {
        let dram = Dram::Shared { memory: &memory, start: 0 };
        let region = Region::reserve_tiers(None, dram, BYTES, Residency::OnTouch);
        let region = region.map_err(io::Error::other)?;
        Ok(Arc::new(ReaderWords { memory, region }))
    }

    /// Returns the descriptor for a process that reads.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.region.view(Span::<AtomicU64>::new(at, 1))[0]
    }
}

impl SharedPins<AtomicU64> for ReaderWords {
    fn epoch(&self) -> &AtomicU64 {
        self.word(EPOCH_AT)
    }

    fn groups(&self) -> &AtomicU64 {
        self.word(GROUPS_AT)
    }

    fn group_slots(&self) -> usize {
        GROUP_SLOTS
    }

    fn groups_max(&self) -> usize {
        GROUPS
    }

    fn slot(&self, group: usize, slot: usize) -> &AtomicU64 {
        self.word(SLOTS_AT + (group * GROUP_SLOTS + slot) as u64 * SLOT_BYTES)
    }
}
