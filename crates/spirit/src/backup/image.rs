//! An index's file mapped for reading, with its root. It takes no lock, so it keeps no process out.

use std::path::{Path, PathBuf};

use spirit_index::form::root::{self, Root};
use spirit_index::ground::layout::PARTS_START;
use spirit_mem::{HeapFile, Region};

use crate::config::error::OpenError;
use crate::config::options::Options;
use crate::storage::trust;

/// An index's file, open for reading.
pub(crate) struct Image {
    pub(crate) file: HeapFile,
    pub(crate) root: Root,
    /// What the index was made with.
    pub(crate) options: Options,
    /// Somebody had it open for writing.
    pub(crate) in_use: bool,
    /// Where the root lies.
    pub(crate) region: Region,
    /// The starts that it said.
    starts: [u64; 2],
}

impl Image {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Image, OpenError> {
        Self::of(HeapFile::open_read_only(path).map_err(OpenError::File)?)
    }

    /// Opens the file at `path`; what is stored to its parts stays in this process.
    pub(crate) fn open_private(path: &Path) -> Result<Image, OpenError> {
        Self::of(HeapFile::open_private(path).map_err(OpenError::File)?)
    }

    fn of(file: HeapFile) -> Result<Image, OpenError> {
        let mut options = Options::default();
        let (root, region) = trust::find_root(&file, &mut options)?;
        // In this order: a writer that is not there yet shows by another start.
        let starts = root::starts(&region);
        let in_use = file.has_writer().map_err(OpenError::File)?;
        Ok(Image { file, root, options, in_use, region, starts })
    }

    /// True if a writer has started since, and may have stored something.
    pub(crate) fn has_changed(&self) -> bool {
        root::starts(&self.region) != self.starts
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path().into()
    }

    /// What the root says now.
    pub(crate) fn read_root(&self) -> Result<Root, OpenError> {
        let wrong = |why: String| OpenError::Root { path: self.path(), why };
        root::read(&self.region).map_err(|error| wrong(error.to_string()))
    }

    /// Where the part of an executor begins.
    pub(crate) fn part_start(&self, executor: u64) -> u64 {
        PARTS_START + executor * self.root.nvm_bytes
    }

    /// The part of an executor.
    pub(crate) fn part(&self, executor: u64) -> Result<Region, OpenError> {
        trust::map(&self.file, self.part_start(executor), self.root.nvm_bytes)
    }
}

/// Whether operations of an index with this root, which was looked at, are in its log.
pub(crate) fn is_logged(root: &Root) -> bool {
    let mut options = Options::default();
    options.take_over(root).is_ok() && options.is_logged()
}
