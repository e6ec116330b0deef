//! A piece of a region's DRAM that lies in a file without a name, of a directory that the caller
//! chose: on another medium than memory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, Mode, OFlags};

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
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = File::from(rustix::fs::open(&piece.directory, flags, mode)?);
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
