//! An index's file as whoever only reads it sees it: mapped for reading, its root looked at, its writers kept out if there is
//! none.

use std::path::{Path, PathBuf};

use spirit_index::nvm::root::{self, ROOT_BYTES, Root};
use spirit_mem::{FilePart, HeapFile, Region, Residency};

use crate::error::OpenError;
use crate::options::Options;

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
        let wrong = |why: String| OpenError::Root { path: path.into(), why };
        if file.bytes() < ROOT_BYTES {
            return Err(wrong(format!(
                "it has {} bytes, and a root alone has {ROOT_BYTES}",
                file.bytes()
            )));
        }
        let region = region_of(&file, 0, ROOT_BYTES)?;
        let root = root::read(&region).map_err(|error| wrong(error.to_string()))?;
        if root.file_bytes() != Some(file.bytes()) {
            let (has, says) = (file.bytes(), root.file_bytes());
            let says = says.map_or("more than there can be".into(), |bytes| bytes.to_string());
            return Err(wrong(format!("it has {has} bytes, and its root says {says}")));
        }
        let mut options = Options::default();
        options
            .take_over(&root)
            .map_err(|what| wrong(format!("its root names no {what} that this version knows")))?;
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
        ROOT_BYTES + executor * self.root.nvm_bytes
    }

    /// The part of an executor.
    pub(crate) fn part(&self, executor: u64) -> Result<Region, OpenError> {
        region_of(&self.file, self.part_start(executor), self.root.nvm_bytes)
    }
}

/// Whether operations of an index with this root, which was looked at, are in its log.
pub(crate) fn is_logged(root: &Root) -> bool {
    let mut options = Options::default();
    options.take_over(root).is_ok() && options.is_logged()
}

fn region_of(file: &HeapFile, start: u64, bytes: u64) -> Result<Region, OpenError> {
    let part = FilePart { file, start, bytes };
    Region::reserve_tiers(Some(part), bytes, Residency::OnTouch)
        .map_err(|reason| OpenError::Memory(reason.into()))
}
