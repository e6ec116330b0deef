//! A piece of a region's DRAM that lies in a file without a name, of a directory that the caller
//! chose: on another medium than memory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

/// A piece of a region, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its offset in the region; a multiple of a page.
    pub at: u64,
    /// Its bytes; a multiple of a page.
    pub bytes: u64,
    /// The directory of its file.
    pub directory: PathBuf,
}

/// The file of a piece. It is gone once nothing maps it.
pub(crate) struct PieceFile(File);

impl PieceFile {
    /// Makes the file. Its blocks are taken from the disk now: later, a full disk would be a
    /// signal.
    pub(crate) fn create(piece: &Piece) -> io::Result<PieceFile> {
        let file = nameless(&piece.directory)?;
        file.set_len(piece.bytes)?;
        rustix::io::retry_on_intr(|| {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, piece.bytes)
        })?;
        Ok(PieceFile(file))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Makes a file without a name. Some file systems make none; there it loses its name at once.
fn nameless(directory: &Path) -> io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (flags, mode) = (OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    match rustix::fs::open(directory, flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let number = COUNT.fetch_add(1, Relaxed);
            let path = directory.join(format!(".spirit-piece-{}-{number}", std::process::id()));
            let file = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
            std::fs::remove_file(&path)?;
            Ok(file.into())
        }
        opened => Ok(opened?.into()),
    }
}
