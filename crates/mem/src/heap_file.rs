//! The file of the second tier: creation, lock, reservation of blocks, and medium.
//!
//! A file is locked while it is open for writing, so an index has one writer. Its length is fixed
//! when it is made. [`HeapFile::reserve`] takes blocks before anything is stored there. So a full
//! disk is an error and never a signal.
//!
//! | medium | how it is recognized | what survives without a sync |
//! |---|---|---|
//! | [`Medium::Dax`] | the kernel grants `MAP_SYNC` | kill, crash, power cut, after write-back |
//! | [`Medium::Tmpfs`] | the file system's magic number | kill |
//! | [`Medium::File`] | anything else: page cache | kill |

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom};
use rustix::mm::{self, MapFlags, ProtFlags};

use crate::identity::Identity;

/// The medium of a heap file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Persistent memory, mapped directly.
    Dax,
    /// A file system in memory.
    Tmpfs,
    /// A file system on a disk, seen through the page cache.
    File,
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Medium::Dax => "dax",
            Medium::Tmpfs => "tmpfs",
            Medium::File => "file",
        })
    }
}

/// A heap file could not be made or opened.
#[derive(Debug)]
pub enum HeapFileError {
    /// Another process has the file open for writing.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file belongs to another user, who could change it while it is mapped.
    ForeignOwner {
        /// The file.
        path: PathBuf,
    },
    /// The operating system returned an error.
    System {
        /// The file.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The error of the system.
        reason: io::Error,
    },
}

impl fmt::Display for HeapFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapFileError::Locked { path } => write!(
                f,
                "{}: another process has this index open for writing; use that process, stop it \
                 first, or open the index for reading only",
                path.display()
            ),
            HeapFileError::ForeignOwner { path } => {
                write!(
                    f,
                    "{}: belongs to another user; change its owner, or copy it",
                    path.display()
                )
            }
            HeapFileError::System { path, action, reason } => {
                write!(f, "{}: cannot {action}: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for HeapFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HeapFileError::System { reason, .. } => Some(reason),
            HeapFileError::Locked { .. } | HeapFileError::ForeignOwner { .. } => None,
        }
    }
}

impl HeapFileError {
    /// True if the disk or the user's quota is full. Other errors mean that the disk failed.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, HeapFileError::System { reason, .. } if matches!(reason.kind(), StorageFull | QuotaExceeded))
    }
}

/// An open heap file.
#[derive(Debug)]
pub struct HeapFile {
    file: File,
    path: PathBuf,
    bytes: u64,
    medium: Medium,
    access: Access,
    /// The process that opened it.
    process: u32,
}

/// Gives up the lock at once. Closing alone would leave it to a child that another thread is just starting, which
/// has the open file too until it runs its program. A child that goes on with a copy of this value leaves the lock
/// to its parent.
impl Drop for HeapFile {
    fn drop(&mut self) {
        if self.access == Access::Write && self.process == std::process::id() {
            // If this fails, closing the file does it.
            let _ = self.unlock();
        }
    }
}

/// The way in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// For writing.
    Write,
    /// For reading.
    Read,
    /// For reading. Stores to a mapping stay in this process and never reach the file.
    Copy,
}

/// A part of a file with which a region begins.
#[derive(Clone, Copy, Debug)]
pub struct FilePart<'a> {
    /// The file.
    pub file: &'a HeapFile,
    /// The offset of its first byte; a multiple of a page.
    pub start: u64,
    /// The size in bytes; a multiple of a page.
    pub bytes: u64,
}

impl HeapFile {
    /// Makes a file of `bytes` zeros, without blocks yet, and locks it. The name must not exist.
    pub fn create(path: &Path, bytes: u64) -> Result<HeapFile, HeapFileError> {
        let file =
            Self::open_file(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, "create it")?;
        let file = HeapFile {
            file,
            path: path.into(),
            bytes,
            medium: Medium::File,
            access: Access::Write,
            process: std::process::id(),
        };
        file.lock()?;
        rustix::fs::ftruncate(&file.file, bytes)
            .map_err(|e| file.failed("set its size", e.into()))?;
        file.probed()
    }

    /// Opens and locks a file for writing.
    pub fn open(path: &Path) -> Result<HeapFile, HeapFileError> {
        let file = Self::open_file(path, OFlags::RDWR, "open it")?;
        let file = HeapFile {
            file,
            path: path.into(),
            bytes: 0,
            medium: Medium::File,
            access: Access::Write,
            process: std::process::id(),
        };
        file.lock()?;
        file.measured()?.probed()
    }

    /// Opens a file for reading, whether or not another process writes it.
    pub fn open_read_only(path: &Path) -> Result<HeapFile, HeapFileError> {
        Self::open_as(path, Access::Read)
    }

    /// Opens a file for reading, mapped copy-on-write. Stores stay in this process and never reach
    /// the file.
    pub fn open_private(path: &Path) -> Result<HeapFile, HeapFileError> {
        Self::open_as(path, Access::Copy)
    }

    fn open_as(path: &Path, access: Access) -> Result<HeapFile, HeapFileError> {
        let file = Self::open_file(path, OFlags::RDONLY, "open it")?;
        let (medium, process) = (Medium::File, std::process::id());
        let file = HeapFile { file, path: path.into(), bytes: 0, medium, access, process };
        file.measured()?.probed()
    }

    /// True if a process has the file open for writing. A writer that starts at this moment
    /// retries, so it is not kept out.
    pub fn has_writer(&self) -> Result<bool, HeapFileError> {
        let asked = |operation| match rustix::fs::flock(&self.file, operation) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(e) => Err(self.failed("check its lock", e.into())),
        };
        let is_free = asked(FlockOperation::NonBlockingLockShared)?;
        if is_free {
            asked(FlockOperation::NonBlockingUnlock)?;
        }
        Ok(!is_free)
    }

    fn open_file(path: &Path, flags: OFlags, action: &'static str) -> Result<File, HeapFileError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|e| HeapFileError::System { path: path.into(), action, reason: e.into() })?;
        Ok(File::from(fd))
    }

    /// Releases the lock while the file stays open: other processes may write it from now on.
    /// Without a lock this does nothing.
    pub fn unlock(&self) -> Result<(), HeapFileError> {
        rustix::fs::flock(&self.file, FlockOperation::Unlock)
            .map_err(|e| self.failed("unlock it", e.into()))
    }

    fn lock(&self) -> Result<(), HeapFileError> {
        // `has_writer` holds the lock for a moment.
        const TRIES: usize = 20;
        const PAUSE: Duration = Duration::from_millis(2);
        for _ in 0..TRIES {
            match rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(e) => return Err(self.failed("lock it", e.into())),
            }
        }
        Err(HeapFileError::Locked { path: self.path.clone() })
    }

    fn measured(mut self) -> Result<HeapFile, HeapFileError> {
        let stat = rustix::fs::fstat(&self.file)
            .map_err(|e| self.failed("read its metadata", e.into()))?;
        // A reader trusts the owner not to shorten the file while it is mapped.
        let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
        if self.access == Access::Write && !is_own {
            return Err(HeapFileError::ForeignOwner { path: self.path.clone() });
        }
        self.bytes = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(self)
    }

    fn probed(mut self) -> Result<HeapFile, HeapFileError> {
        const TMPFS: i64 = 0x0102_1994;
        const RAMFS: i64 = 0x8584_58F6;
        if self.grants_sync() {
            self.medium = Medium::Dax;
            return Ok(self);
        }
        let stat = rustix::fs::fstatfs(&self.file)
            .map_err(|e| self.failed("read its file system's type", e.into()))?;
        if [TMPFS, RAMFS].contains(&(stat.f_type as i64)) {
            self.medium = Medium::Tmpfs;
        }
        Ok(self)
    }

    /// True if the kernel maps the file so that a line that was written back is durable.
    fn grants_sync(&self) -> bool {
        const PAGE: usize = 4096;
        let flags = MapFlags::SHARED_VALIDATE | MapFlags::SYNC;
        if self.bytes < PAGE as u64 {
            return false;
        }
        // SAFETY: a mapping at an address of the kernel's choice touches no memory of ours, and
        // nothing reads it.
        let mapped =
            unsafe { mm::mmap(std::ptr::null_mut(), PAGE, ProtFlags::READ, flags, &self.file, 0) };
        let Ok(start) = mapped else { return false };
        // SAFETY: exactly the mapping made above, to which there are no references.
        let _ = unsafe { mm::munmap(start, PAGE) };
        true
    }

    pub(crate) fn failed(&self, action: &'static str, reason: io::Error) -> HeapFileError {
        HeapFileError::System { path: self.path.clone(), action, reason }
    }

    /// Returns the protection and the flags with which a region maps the file.
    pub(crate) fn access(&self) -> (ProtFlags, MapFlags) {
        let shared = match self.medium {
            Medium::Dax => MapFlags::SHARED_VALIDATE | MapFlags::SYNC,
            Medium::Tmpfs | Medium::File => MapFlags::SHARED,
        };
        match self.access {
            Access::Write => (ProtFlags::READ | ProtFlags::WRITE, shared),
            Access::Read => (ProtFlags::READ, shared),
            // Memory is needed only for pages that are stored to, not for the whole file.
            Access::Copy => {
                (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE)
            }
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns its length, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its medium.
    pub fn medium(&self) -> Medium {
        self.medium
    }

    /// True if stores to a mapping of it stay in this process.
    pub fn is_private(&self) -> bool {
        self.access == Access::Copy
    }

    /// Returns the permissions of the file.
    pub fn mode(&self) -> Result<u32, HeapFileError> {
        let stat = rustix::fs::fstat(&self.file);
        Ok(stat.map_err(|e| self.failed("read its metadata", e.into()))?.st_mode & 0o777)
    }

    /// Returns the identity of the file.
    pub fn identity(&self) -> Result<Identity, HeapFileError> {
        Identity::of(&self.file).map_err(|reason| self.failed("read its metadata", reason))
    }

    /// Backs `bytes` bytes from `start` with blocks of the disk, and keeps their contents. Reserved
    /// ranges can be stored to. A repeated call is cheap.
    ///
    /// Up to 2 MiB more is backed on either side. The kernel caches a file in pieces of up to 2
    /// MiB, and the first store to a piece needs blocks for all of it. On a full disk, a store to a
    /// piece that is reserved in part would be a signal.
    pub fn reserve(&self, start: u64, bytes: u64) -> Result<(), HeapFileError> {
        if self.is_private() {
            // Stores take memory, not blocks.
            return Ok(());
        }
        const PIECE: u64 = 2 << 20;
        let end = (start + bytes).next_multiple_of(PIECE).min(self.bytes);
        let start = start / PIECE * PIECE;
        let bytes = end.saturating_sub(start);
        // On a file system in memory, a signal may interrupt it.
        rustix::io::retry_on_intr(|| {
            rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, start, bytes)
        })
        .map_err(|e| self.failed("reserve space for it", e.into()))
    }

    /// Writes bytes at `start`. A mapping of the file shows them.
    pub fn write_at(&self, start: u64, bytes: &[u8]) -> Result<(), HeapFileError> {
        use std::os::unix::fs::FileExt;
        self.file.write_all_at(bytes, start).map_err(|e| self.failed("write to it", e))
    }

    /// Writes zeros over `bytes` bytes from `start`.
    ///
    /// If blocks are only reserved, the first sync of each costs more: the file system records that
    /// it has data. If the disk fails at that moment, ext4 reports success although the data is
    /// lost.
    ///
    /// Zeros are written page by page. The page cache keeps the data of one call as one folio, and
    /// a sync of any part of a folio writes all of it.
    pub fn write_zeros(&self, start: u64, bytes: u64) -> Result<(), HeapFileError> {
        use std::os::unix::fs::FileExt;
        const PIECE: u64 = 4096;
        let zeros = [0; PIECE as usize];
        for at in (start..start + bytes).step_by(PIECE as usize) {
            let piece = &zeros[..PIECE.min(start + bytes - at) as usize];
            self.file.write_all_at(piece, at).map_err(|e| self.failed("write zeros to it", e))?;
        }
        Ok(())
    }

    /// Returns start and length of each piece with data, in whole pages, of `bytes` bytes from
    /// `start`, a multiple of a page. The loop ends at the end of the range or after the last data.
    pub(crate) fn data(&self, start: u64, bytes: u64) -> io::Result<Vec<(u64, u64)>> {
        const PAGE: u64 = 4096;
        let (mut pieces, mut at, end) = (Vec::new(), start, (start + bytes).min(self.bytes));
        while at < end {
            let from = match rustix::fs::seek(&self.file, SeekFrom::Data(at)) {
                Ok(from) => from / PAGE * PAGE,
                // No data follows.
                Err(rustix::io::Errno::NXIO) => break,
                Err(reason) => return Err(reason.into()),
            };
            let from = from.max(at);
            if from >= end {
                break;
            }
            let to = rustix::fs::seek(&self.file, SeekFrom::Hole(from))?;
            at = to.next_multiple_of(PAGE).min(end);
            pieces.push((from, at - from));
        }
        Ok(pieces)
    }

    /// Syncs all data and metadata of the file to the medium.
    pub fn sync_all(&self) -> Result<(), HeapFileError> {
        if self.is_private() {
            return Ok(());
        }
        self.file.sync_all().map_err(|e| self.failed("sync it", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::{REGION_ALIGN, Region, Residency};
    use crate::span::Span;
    use crate::test_directory::TestDirectory;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    fn region(file: &HeapFile, start: u64) -> Region {
        let part = FilePart { file, start, bytes: REGION_ALIGN };
        let dram = crate::Dram::Private;
        Region::reserve_tiers(Some(part), dram, REGION_ALIGN * 2, Residency::OnTouch).unwrap()
    }

    #[test]
    fn what_was_stored_in_the_first_tier_of_a_region_is_in_the_file() {
        let directory = TestDirectory::new("tiers");
        let path = directory.path().join("heap");
        let at = |region: &Region, at| region.view(Span::<AtomicU64>::new(at, 1))[0].load(Relaxed);
        {
            let file = HeapFile::create(&path, 2 * REGION_ALIGN).unwrap();
            file.reserve(REGION_ALIGN, REGION_ALIGN).unwrap();
            let region = region(&file, REGION_ALIGN);
            assert_eq!((region.nvm_bytes(), region.bytes()), (REGION_ALIGN, 2 * REGION_ALIGN));
            // The last word of the file's part, and the first behind it.
            region.write_bytes(REGION_ALIGN - 8, &[7u64, 8].map(u64::to_le_bytes).concat());
            assert_eq!([at(&region, REGION_ALIGN - 8), at(&region, REGION_ALIGN)], [7, 8]);
        }
        let file = HeapFile::open(&path).unwrap();
        assert_eq!(file.bytes(), 2 * REGION_ALIGN);
        let region = region(&file, REGION_ALIGN);
        assert_eq!([at(&region, REGION_ALIGN - 8), at(&region, REGION_ALIGN)], [7, 0]);
        let reader = HeapFile::open_read_only(&path).unwrap();
        let region = self::region(&reader, REGION_ALIGN);
        assert_eq!(at(&region, REGION_ALIGN - 8), 7);
        let own = HeapFile::open_private(&path).unwrap();
        own.reserve(0, REGION_ALIGN).unwrap();
        let own = self::region(&own, REGION_ALIGN);
        own.write_bytes(REGION_ALIGN - 8, &9u64.to_le_bytes());
        assert_eq!([&own, &region].map(|region| at(region, REGION_ALIGN - 8)), [9, 7]);
    }

    #[test]
    fn what_is_asked_of_pages_changes_nothing_in_them() {
        let directory = TestDirectory::new("pages");
        let file = HeapFile::create(&directory.path().join("heap"), REGION_ALIGN).unwrap();
        file.reserve(0, REGION_ALIGN).unwrap();
        let region = region(&file, 0);
        let words = region.view(Span::<AtomicU64>::new(0, REGION_ALIGN / 8));
        words.iter().zip(1..).for_each(|(word, number)| word.store(number, Relaxed));
        region.use_single_pages(0, REGION_ALIGN / 2);
        region.read_ahead(4096, REGION_ALIGN - 4096);
        region.map_pages(0, REGION_ALIGN);
        assert!(words.iter().zip(1..).all(|(word, number)| word.load(Relaxed) == number));
        let outside = || region.read_ahead(REGION_ALIGN * 2, 4096);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(outside)).is_err());
    }

    #[test]
    fn a_file_has_one_writer() {
        let directory = TestDirectory::new("lock");
        let path = directory.path().join("heap");
        let file = HeapFile::create(&path, 4096).unwrap();
        assert!(matches!(HeapFile::open(&path), Err(HeapFileError::Locked { .. })));
        let reader = HeapFile::open_read_only(&path).unwrap();
        assert!(reader.has_writer().unwrap());
        drop(file);
        assert!(!reader.has_writer().unwrap());
        assert!(HeapFile::open(&path).is_ok(), "looking keeps no writer out");
        let error = HeapFile::create(&path, 4096).unwrap_err();
        assert!(error.to_string().contains("cannot create it"), "{error}");
    }

    #[test]
    fn a_lock_goes_with_its_value_though_a_child_has_the_file_open() {
        let directory = TestDirectory::new("fork");
        let path = directory.path().join("heap");
        let file = HeapFile::create(&path, 4096).unwrap();
        // As a child has it between its fork and its program.
        let inherited = file.file.try_clone().unwrap();
        drop(file);
        let again = HeapFile::open(&path).unwrap();
        drop(inherited);
        // A child that goes on with a copy of the value drops it.
        let file = again.file.try_clone().unwrap();
        let HeapFile { bytes, medium, access, process, .. } = again;
        let copy = HeapFile { file, path, bytes, medium, access, process: process + 1 };
        drop(copy);
        let reader = HeapFile::open_read_only(&again.path).unwrap();
        assert!(reader.has_writer().unwrap());
    }

    #[test]
    fn a_link_is_not_followed_and_nothing_is_an_error() {
        let directory = TestDirectory::new("link");
        let target = directory.path().join("target");
        std::fs::write(&target, "not ours").unwrap();
        let link = directory.path().join("heap");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(HeapFile::open(&link).is_err());
        assert!(HeapFile::open(&directory.path().join("missing")).is_err());
    }
}
