//! One reservation of address space, made at start and viewed as atomics: the second tier, then
//! DRAM.
//!
//! | bytes | backing |
//! |---|---|
//! | 0 .. [`nvm_bytes`](Region::nvm_bytes) | part of a [heap file](crate::HeapFile); maybe empty |
//! | up to [`bytes`](Region::bytes) | anonymous or [shared](crate::SharedMemory) memory; [pieces](crate::Piece) of it may lie in files |
//!
//! So one offset is a place in either tier, and a caller need not know which. An offset into the
//! second tier has the same meaning at the next start, with any size of DRAM.
//!
//! One call reserves the whole address space. The kernel provides pages on first touch, or all at
//! once if the caller asks for that. Nothing is mapped or unmapped afterwards. So a view is valid
//! while the region lives, and a full heap is an allocator's error, never a signal. (Paper §4.4:
//! the two heaps.)

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use rustix::mm::{self, Advice, MapFlags, ProtFlags};

use crate::heap_file::FilePart;
use crate::piece::{Piece, PieceFile};
use crate::proved::Proved;
use crate::shared_memory::{Dram, SharedMemory};
use crate::span::{Shared, Span};

/// The alignment of a region's first byte and of its DRAM, in bytes: a huge page.
pub const REGION_ALIGN: u64 = 2 << 20;
const ALIGN: usize = REGION_ALIGN as usize;

/// The time at which the kernel provides the pages of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residency {
    /// On first touch: each page faults once.
    #[default]
    OnTouch,
    /// All at reservation. The start takes longer; nothing faults later.
    Prefault,
}

/// A region could not be reserved.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReserveError {
    /// The kernel refused the mapping.
    Map {
        /// The bytes asked for.
        bytes: u64,
        /// The kernel's error.
        reason: io::Error,
    },
    /// The heap file, or the memory that processes share, could not be mapped.
    MapFile {
        /// The bytes of the part.
        bytes: u64,
        /// The kernel's error.
        reason: io::Error,
    },
    /// A piece of memory that was to lie in a directory could not be made there.
    Piece {
        /// The directory.
        directory: PathBuf,
        /// The bytes of the piece.
        bytes: u64,
        /// The kernel's error.
        reason: io::Error,
    },
    /// The pages could not be made resident.
    Prefault {
        /// The bytes asked for.
        bytes: u64,
        /// The kernel's error.
        reason: io::Error,
    },
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReserveError::Map { bytes, reason } => {
                write!(
                    f,
                    "cannot reserve {bytes} bytes of address space: {reason}; ask for less memory"
                )
            }
            ReserveError::MapFile { bytes, reason } => {
                write!(f, "cannot map {bytes} bytes of the index: {reason}")
            }
            ReserveError::Piece { directory, bytes, reason } => write!(
                f,
                "{}: cannot take {bytes} bytes of memory there: {reason}; choose a directory of \
                 another file system, or one with more room",
                directory.display()
            ),
            ReserveError::Prefault { bytes, reason } => {
                write!(
                    f,
                    "cannot make {bytes} bytes resident: {reason}; ask for less, or for no prefault"
                )
            }
        }
    }
}

impl std::error::Error for ReserveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReserveError::Map { reason, .. }
            | ReserveError::MapFile { reason, .. }
            | ReserveError::Piece { reason, .. }
            | ReserveError::Prefault { reason, .. } => Some(reason),
        }
    }
}

/// A mapping of fixed size that any number of threads read and write through atomics.
pub struct Region {
    /// The kernel's mapping: `mapped` bytes, unmapped on drop.
    mapping: NonNull<u8>,
    mapped: usize,
    /// The aligned part of it that is used.
    base: NonNull<u8>,
    bytes: usize,
    /// The bytes of it, from the base on, that a file backs.
    nvm_bytes: usize,
    /// The first byte of the pages that are checked when they are read, and their bytes; 0 if none
    /// are.
    proved_start: u64,
    proved_bytes: u64,
    proved: Option<Proved>,
}

// SAFETY: a region is a range of memory that it alone owns and that is reached through atomics
// only.
unsafe impl Send for Region {}
// SAFETY: as above: `&Region` gives only atomics.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves `bytes` (rounded up to a huge page) of anonymous memory, zeroed.
    pub fn reserve(bytes: u64, residency: Residency) -> Result<Region, ReserveError> {
        Self::reserve_tiers(None, Dram::Private, bytes, residency)
    }

    /// Reserves a region of `bytes` bytes that begins with a part of a file, if given, and
    /// continues with `dram`. The part's offset and size are multiples of a page.
    pub fn reserve_tiers(
        nvm: Option<FilePart<'_>>,
        dram: Dram<'_>,
        bytes: u64,
        residency: Residency,
    ) -> Result<Region, ReserveError> {
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        let refused = || ReserveError::Map { bytes, reason: io::ErrorKind::OutOfMemory.into() };
        let bytes_used = wanted.checked_next_multiple_of(ALIGN).ok_or_else(refused)?;
        let mapped = bytes_used.checked_add(ALIGN).ok_or_else(refused)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing
        // memory.
        let start = unsafe {
            mm::mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(|e| ReserveError::Map { bytes, reason: e.into() })?;
        let mapping =
            NonNull::new(start.cast::<u8>()).expect("the kernel maps nothing at address zero");
        let skip = mapping.as_ptr().align_offset(ALIGN);
        // SAFETY: `skip` is below ALIGN, and ALIGN spare bytes were mapped.
        let base = unsafe { mapping.add(skip) };
        let mut region = Region {
            mapping,
            mapped,
            base,
            bytes: bytes_used,
            nvm_bytes: 0,
            proved_start: 0,
            proved_bytes: 0,
            proved: None,
        };
        if let Some(part) = &nvm {
            region.map_file(part)?;
        }
        match dram {
            Dram::Private => {}
            Dram::Shared { memory, start } => region.map_shared(memory, start)?,
            Dram::Pieces(pieces) => pieces.iter().try_for_each(|piece| region.map_piece(piece))?,
        }
        // The padding to a huge page after a file's part alone is never touched.
        if bytes > region.nvm_bytes() {
            region.advise(residency)?;
        }
        Ok(region)
    }

    /// Maps the part of a file over the region's first bytes.
    fn map_file(&mut self, part: &FilePart<'_>) -> Result<(), ReserveError> {
        let bytes = usize::try_from(part.bytes).ok().filter(|bytes| *bytes <= self.bytes);
        let bytes =
            bytes.ok_or_else(|| not_mapped(part.bytes, io::ErrorKind::OutOfMemory.into()))?;
        self.nvm_bytes = bytes;
        if !part.file.is_private() {
            return self.map(0, bytes, part.file.access(), part.file.fd(), part.start);
        }
        // Anonymous memory stays where the file has holes: it is zero too. Stores there need no
        // disk block, and reads allocate none, as they would in a hole of a file in memory.
        let data = part.file.data(part.start, part.bytes).map_err(|e| not_mapped(part.bytes, e))?;
        for (start, bytes) in data {
            let at = (start - part.start) as usize;
            self.map(at, bytes as usize, part.file.access(), part.file.fd(), start)?;
        }
        Ok(())
    }

    /// Maps memory that processes share over everything after the file's part.
    fn map_shared(&mut self, memory: &SharedMemory, start: u64) -> Result<(), ReserveError> {
        let bytes = self.bytes - self.nvm_bytes;
        if start.checked_add(bytes as u64).is_none_or(|end| end > memory.bytes()) {
            return Err(not_mapped(bytes as u64, io::ErrorKind::UnexpectedEof.into()));
        }
        let protection = if memory.is_read_only() { ProtFlags::empty() } else { ProtFlags::WRITE };
        let access = (ProtFlags::READ | protection, MapFlags::SHARED);
        self.map(self.nvm_bytes, bytes, access, memory.as_fd(), start)
    }

    /// Maps the file of a piece over it.
    fn map_piece(&mut self, piece: &Piece) -> Result<(), ReserveError> {
        let failed = |reason| {
            let (directory, bytes) = (piece.directory.clone(), piece.bytes);
            ReserveError::Piece { directory, bytes, reason }
        };
        let end = piece.at.checked_add(piece.bytes);
        if piece.at < self.nvm_bytes() || end.is_none_or(|end| end > self.bytes()) {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        let file = PieceFile::create(piece).map_err(failed)?;
        let access = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        self.map(piece.at as usize, piece.bytes as usize, access, file.fd(), 0)
    }

    /// Maps a file over `bytes` bytes at `at`, which are in the region.
    fn map(
        &mut self,
        at: usize,
        bytes: usize,
        (protection, flags): (ProtFlags, MapFlags),
        file: BorrowedFd<'_>,
        start: u64,
    ) -> Result<(), ReserveError> {
        // SAFETY: `at` is in the region.
        let target = unsafe { self.base.add(at) }.as_ptr().cast();
        // SAFETY: the target range is a part of the mapping that `reserve_tiers` has just made. No
        // reference to it exists yet, so replacing it is sound.
        unsafe { mm::mmap(target, bytes, protection, flags | MapFlags::FIXED, file, start) }
            .map_err(|e| not_mapped(bytes as u64, e.into()))?;
        Ok(())
    }

    fn advise(&self, residency: Residency) -> Result<(), ReserveError> {
        let bytes = self.bytes - self.nvm_bytes;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `nvm_bytes` is below `bytes`, so this is the first byte of the anonymous part.
        let dram = unsafe { self.base.add(self.nvm_bytes) };
        let start = dram.as_ptr().cast();
        // SAFETY: advice on our own private mapping; huge pages change no contents. A kernel
        // without them returns an error. This costs only speed, so it is ignored.
        let _ = unsafe { mm::madvise(start, bytes, Advice::LinuxHugepage) };
        if residency == Residency::Prefault {
            self.populate(self.nvm_bytes, bytes)?;
        }
        Ok(())
    }

    /// Asks for small pages for `bytes` bytes of DRAM at `at`, both multiples of a page. For small
    /// ranges that are touched at start, since a huge page is cleared whole. Existing pages are not
    /// changed.
    ///
    /// # Panics
    /// If the range leaves the region.
    pub fn use_small_pages(&self, at: u64, bytes: u64) {
        self.tell(at, bytes, Advice::LinuxNoHugepage);
    }

    /// Asks for single pages of a file for `bytes` bytes at `at`, both multiples of a page. For
    /// ranges with scattered or small stores that are synced. The page cache reads ahead in pieces
    /// of up to some MiB, and a sync of a store in a piece writes all of it.
    ///
    /// # Panics
    /// If the range leaves the region.
    pub fn use_single_pages(&self, at: u64, bytes: u64) {
        self.tell(at, bytes, Advice::Random);
    }

    /// Asks to read the file's contents for `bytes` bytes at `at` ahead, both multiples of a page.
    ///
    /// # Panics
    /// If the range leaves the region.
    pub fn read_ahead(&self, at: u64, bytes: u64) {
        self.tell(at, bytes, Advice::WillNeed);
    }

    /// Maps the file's pages of `bytes` bytes at `at`, both multiples of a page, before they are
    /// read.
    ///
    /// # Panics
    /// If the range leaves the region.
    pub fn map_pages(&self, at: u64, bytes: u64) {
        self.tell(at, bytes, Advice::LinuxPopulateRead);
    }

    fn tell(&self, at: u64, bytes: u64, advice: Advice) {
        let range = self.view(Span::<AtomicU8>::new(at, bytes));
        // SAFETY: advice on our own mapping that changes no contents. A kernel that does not know
        // it returns an error. This costs only speed.
        let _ = unsafe { mm::madvise(range.as_ptr().cast_mut().cast(), range.len(), advice) };
    }

    /// Makes the pages of `bytes` bytes at `at`, both multiples of a page, resident for writing.
    /// Their contents do not change. Pages of a file must have disk blocks already.
    ///
    /// # Panics
    /// If the range leaves the region.
    pub fn make_resident(&self, at: u64, bytes: u64) -> Result<(), ReserveError> {
        let range = self.view(Span::<AtomicU8>::new(at, bytes));
        self.populate(at as usize, range.len())
    }

    /// Makes a range in the region resident for writing.
    fn populate(&self, at: usize, bytes: usize) -> Result<(), ReserveError> {
        // SAFETY: the range lies in the region, so this is its first byte.
        let start = unsafe { self.base.add(at) };
        // SAFETY: populating our own mapping for writing does not change its contents.
        unsafe { mm::madvise(start.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) }
            .map_err(|e| ReserveError::Prefault { bytes: bytes as u64, reason: e.into() })
    }

    /// Returns the bytes at the beginning that a file backs: lower offsets are of the second tier.
    #[inline]
    pub fn nvm_bytes(&self) -> u64 {
        self.nvm_bytes as u64
    }

    /// Returns the bytes reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Sets the pages that are checked when they are read.
    pub fn prove_with(&mut self, proved: Proved) {
        let bytes = proved.bytes();
        (self.proved_start, self.proved_bytes) = (bytes.start, bytes.end - bytes.start);
        self.proved = Some(proved);
    }

    /// Returns the pages that are checked when they are read, if any.
    pub fn proved(&self) -> Option<&Proved> {
        self.proved.as_ref()
    }

    /// Checks the pages of `bytes` bytes at `at`, if [`proved`](Self::proved()) has them. True if
    /// they are right.
    #[inline]
    pub fn prove(&self, at: u64, bytes: u64) -> bool {
        at.wrapping_sub(self.proved_start) >= self.proved_bytes || self.is_right(at, bytes)
    }

    #[inline(never)]
    fn is_right(&self, at: u64, bytes: u64) -> bool {
        if bytes == 0 {
            return true;
        }
        let range = at..at.saturating_add(bytes);
        self.proved.as_ref().is_none_or(|proved| proved.are_right(self, range))
    }

    /// Returns the values of `span`; none if it leaves the region or is misaligned. Checks its
    /// pages, if [`proved`](Self::proved()) has them.
    #[inline(always)]
    pub fn get<T: Shared>(&self, span: Span<T>) -> Option<&[T]> {
        let values = self.peek(span)?;
        // An error is noted: the reader continues and gives its answer up.
        self.prove(span.start(), span.bytes());
        Some(values)
    }

    /// Returns the values of `span` like [`get`](Self::get), but checks no page. For callers that
    /// check a part alone, and for checkers.
    #[inline(always)]
    pub fn peek<T: Shared>(&self, span: Span<T>) -> Option<&[T]> {
        let len = usize::try_from(span.len()).ok()?;
        let start = usize::try_from(span.start()).ok()?;
        let end = len.checked_mul(size_of::<T>())?.checked_add(start)?;
        if end > self.bytes || start % align_of::<T>() != 0 {
            return None;
        }
        // SAFETY: `start` lies within the mapping, as `end <= bytes` shows.
        let first = unsafe { self.base.add(start) };
        // SAFETY: the range lies in the mapping, which lives as long as `self`. It is aligned: the
        // base is aligned to more than any `Shared` type needs, and `start` was checked. `Shared`
        // is sealed to types made of atomics that accept every bit pattern. So a shared reference
        // is sound, whichever thread writes. Fresh pages are zeros.
        Some(unsafe { std::slice::from_raw_parts(first.as_ptr().cast(), len) })
    }

    /// Returns the values of `span`.
    ///
    /// # Panics
    /// If the span leaves the region or is misaligned. Our own allocators make the spans of the
    /// volatile tier. So a wild one is a bug and must not be ignored.
    #[inline(always)]
    pub fn view<T: Shared>(&self, span: Span<T>) -> &[T] {
        match self.get(span) {
            Some(values) => values,
            None => self.wild(span.start(), span.bytes()),
        }
    }

    /// Returns the values of `span` like [`view`](Self::view), for spans of the volatile tier,
    /// which has no checked pages: a query takes dozens.
    ///
    /// # Panics
    /// Like [`view`](Self::view).
    #[inline(always)]
    pub fn dram<T: Shared>(&self, span: Span<T>) -> &[T] {
        match self.peek(span) {
            Some(values) => values,
            None => self.wild(span.start(), span.bytes()),
        }
    }

    #[cold]
    #[inline(never)]
    fn wild(&self, start: u64, bytes: u64) -> ! {
        panic!(
            "span of {bytes} bytes at {start:#x} does not lie in a region of {} bytes",
            self.bytes
        )
    }
}

fn not_mapped(bytes: u64, reason: io::Error) -> ReserveError {
    ReserveError::MapFile { bytes, reason }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `reserve_tiers` made; no view outlives the borrow of
        // `self`. A failure to unmap only leaves address space behind.
        let _ = unsafe { mm::munmap(self.mapping.as_ptr().cast(), self.mapped) };
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("bytes", &self.bytes)
            .field("nvm_bytes", &self.nvm_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

    #[test]
    fn views_share_bytes() {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        region.view(Span::<AtomicU32>::new(64, 2))[1].store(0x0102_0304, Relaxed);
        let bytes = region.view(Span::<AtomicU8>::new(68, 4));
        assert_eq!(bytes.iter().map(|b| b.load(Relaxed)).collect::<Vec<_>>(), [4, 3, 2, 1]);
        let line = &region.view(Span::<Line>::new(64, 1))[0];
        assert_eq!(line.pair(0).load(Relaxed), 0x0102_0304_0000_0000);
        assert_eq!(line.word(1).load(Relaxed), 0x0102_0304);
    }

    #[test]
    fn spans_outside_or_misaligned_are_refused() {
        let region = Region::reserve(1, Residency::Prefault).unwrap();
        let end = region.bytes();
        assert!(region.get(Span::<AtomicU64>::new(end - 8, 1)).is_some());
        assert!(region.get(Span::<AtomicU64>::new(end - 8, 2)).is_none());
        assert!(region.get(Span::<AtomicU64>::new(4, 1)).is_none());
        assert!(region.get(Span::<AtomicU64>::new(u64::MAX - 7, 1)).is_none());
        assert!(region.get(Span::<AtomicU64>::new(0, u64::MAX)).is_none());
        assert!(region.get(Span::<Line>::new(end, 0)).is_some());
    }

    #[test]
    fn an_impossible_reservation_is_an_error() {
        let error = Region::reserve(u64::MAX - 5, Residency::OnTouch).unwrap_err();
        assert!(error.to_string().contains("cannot reserve"), "{error}");
        assert!(Region::reserve(1 << 60, Residency::OnTouch).is_err());
    }
}
