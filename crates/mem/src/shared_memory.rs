//! Memory without a name that processes share: the DRAM of an index in a directory, which others
//! map for reading.
//!
//! It is a file in memory (`memfd`) of fixed length. It is sealed against shrinking and growing, so
//! no access after a successful mapping is a signal. It lives while any process has it open or
//! mapped, and takes pages as they are touched. Other processes get it as a descriptor
//! ([`rendezvous`](crate::rendezvous)), in every namespace.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

use crate::piece::Piece;

/// Memory that other processes can map.
#[derive(Debug)]
pub struct SharedMemory {
    file: File,
    bytes: u64,
    read_only: bool,
}

/// The memory behind a region's DRAM.
#[derive(Clone, Copy, Debug, Default)]
pub enum Dram<'a> {
    /// Anonymous memory of this process alone.
    #[default]
    Private,
    /// A part of shared memory.
    Shared {
        /// The memory.
        memory: &'a SharedMemory,
        /// The offset of the part; a multiple of a page.
        start: u64,
    },
    /// Anonymous memory of this process alone, but for some pieces that lie in files.
    Pieces(&'a [Piece]),
}

const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

impl SharedMemory {
    /// Makes `bytes` bytes of zeros. The system's tools show it as `name`.
    pub fn create(name: &str, bytes: u64) -> io::Result<SharedMemory> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create(name, flags)?);
        file.set_len(bytes)?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Ok(SharedMemory { file, bytes, read_only: false })
    }

    /// Takes memory that another process handed over. Returns an error if it could shrink while it
    /// is mapped.
    pub fn adopt(descriptor: OwnedFd) -> io::Result<SharedMemory> {
        let file = File::from(descriptor);
        if !rustix::fs::fcntl_get_seals(&file)?.contains(SEALS) {
            return Err(io::Error::other("it is not sealed"));
        }
        let bytes = file.metadata()?.len();
        let mode = rustix::fs::fcntl_getfl(&file)? & OFlags::RWMODE;
        Ok(SharedMemory { file, bytes, read_only: mode == OFlags::RDONLY })
    }

    /// Returns a descriptor that allows only reading.
    pub fn for_reading(&self) -> io::Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }

    /// Returns its length, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if this mapping is read-only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}

impl AsFd for SharedMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::{REGION_ALIGN, Region, Residency};
    use crate::span::Span;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn what_one_stores_another_reads_at_the_same_offset() {
        let memory = SharedMemory::create("test", 2 * REGION_ALIGN).unwrap();
        let reserve = |memory: &SharedMemory| {
            let dram = Dram::Shared { memory, start: REGION_ALIGN };
            Region::reserve_tiers(None, dram, REGION_ALIGN, Residency::OnTouch).unwrap()
        };
        let writer = reserve(&memory);
        let reader = SharedMemory::adopt(memory.for_reading().unwrap()).unwrap();
        assert!(reader.is_read_only() && !memory.is_read_only());
        let reader = reserve(&reader);
        let span = Span::<AtomicU64>::new(4096, 1);
        writer.view(span)[0].store(7, Relaxed);
        assert_eq!(reader.view(span)[0].load(Relaxed), 7);
    }

    #[test]
    fn a_part_beyond_the_end_and_a_file_that_can_shrink_are_refused() {
        let memory = SharedMemory::create("test", REGION_ALIGN).unwrap();
        let dram = Dram::Shared { memory: &memory, start: REGION_ALIGN };
        assert!(Region::reserve_tiers(None, dram, REGION_ALIGN, Residency::OnTouch).is_err());
        let unsealed = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        assert!(SharedMemory::adopt(unsealed).is_err());
    }
}
