//! An index's file mapped for reading, with its root. It takes no lock, so it keeps no process out.

use std::path::{Path, PathBuf};

use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_index::ground::PARTS_START;
use spirit_mem::{HeapFile, Region};

use crate::config::error::OpenError;
use crate::config::options::Options;
use crate::storage::trust;

/// An index's file, open for reading.
pub(crate) struct Image {
    pub(crate) file: HeapFile,
    pub(crate) root: Root,
    /// The settings that the index was made with.
    pub(crate) options: Options,
    /// True if a process had it open for writing.
    pub(crate) in_use: bool,
    /// The region of the root.
    pub(crate) region: Region,
    /// The start numbers in the root when the file was opened.
    starts: [u64; 2],
}

impl Image {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Image, OpenError> {
        Self::of(HeapFile::open_read_only(path).map_err(OpenError::from)?)
    }

    /// Opens the file at `path`; stores to its parts stay in this process.
    pub(crate) fn open_private(path: &Path) -> Result<Image, OpenError> {
        Self::of(HeapFile::open_private(path).map_err(OpenError::from)?)
    }

    fn of(file: HeapFile) -> Result<Image, OpenError> {
        let mut options = Options::default();
        let (root, region) = trust::find_root(&file, &mut options)?;
        // The order matters: a writer that comes after `has_writer` shows by another start number.
        let starts = root::starts(&region);
        let in_use = file.has_writer().map_err(OpenError::from)?;
        Ok(Image { file, root, options, in_use, region, starts })
    }

    /// True if a writer has started since, and may have stored something.
    pub(crate) fn has_changed(&self) -> bool {
        root::starts(&self.region) != self.starts
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path().into()
    }

    /// Reads the root anew.
    pub(crate) fn read_root(&self) -> Result<Root, OpenError> {
        let wrong = |why: String| OpenError::Root { path: self.path(), why };
        root::read(&self.region).map_err(|error| wrong(error.to_string()))
    }

    /// Returns the file offset at which an executor's part begins.
    pub(crate) fn part_start(&self, executor: u64) -> u64 {
        PARTS_START + executor * self.root.nvm_bytes
    }

    /// Maps the part of an executor.
    pub(crate) fn part(&self, executor: u64) -> Result<Region, OpenError> {
        trust::map(&self.file, self.part_start(executor), self.root.nvm_bytes)
    }
}

/// True if operations of an index with this root are in its log. The root must have been checked.
pub(crate) fn is_logged(root: &Root) -> bool {
    let mut options = Options::default();
    options.take_over(root).is_ok() && options.is_logged()
}
