//! An index's file as whoever only reads it sees it: mapped for reading, its root looked at, its writers kept out if there is
//! none.

use std::path::{Path, PathBuf};

use spirit_index::nvm::field_list::PARTS_START;
use spirit_index::nvm::root::{self, Root};
use spirit_mem::{HeapFile, Region};

use crate::error::OpenError;
use crate::options::Options;
use crate::trust;

/// An index's file, open for reading.
pub(crate) struct Image {
    pub(crate) file: HeapFile,
    pub(crate) root: Root,
    /// What the index was made with.
    pub(crate) options: Options,
    /// Somebody has it open for writing.
    pub(crate) in_use: bool,
    /// Where the root lies.
    pub(crate) region: Region,
}

impl Image {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Image, OpenError> {
        let file = HeapFile::open_read_only(path).map_err(OpenError::File)?;
        let in_use = !file.keep_writers_out().map_err(OpenError::File)?;
        let mut options = Options::default();
        let (root, region) = trust::find_root(&file, &mut options)?;
        Ok(Image { file, root, options, in_use, region })
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
