//! An index's file as bytes, to be damaged and opened again and again.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use spirit::cache::Cache;
use spirit::{Builder, Index, OpenError};

use super::flips::Flip;
use super::sample;
use crate::support::directory::Directory;
use crate::support::roots::make_original;

/// The bytes of a file, and a directory in which it is tried out.
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    /// How it is opened where pages are looked at.
    pub(crate) options: fn(&Directory) -> Builder,
    directory: Directory,
}

impl Image {
    /// The file in `directory`.
    pub(crate) fn of(directory: &Directory) -> Image {
        let bytes = std::fs::read(directory.path().join("heap")).unwrap();
        let mut image = Image { bytes, options: sample::options, directory: Directory::new() };
        image.restore();
        make_original(&image.directory.path().join("heap"));
        image.take();
        image
    }

    /// What the file is now is what it is to be.
    pub(crate) fn take(&mut self) {
        self.bytes = std::fs::read(self.directory.path().join("heap")).unwrap();
    }

    /// Makes the file what it was, as it was opened for writing or lost its length.
    pub(crate) fn restore(&self) {
        std::fs::write(self.directory.path().join("heap"), &self.bytes).unwrap();
    }

    /// Where it is tried out.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Overwrites some bytes of the file.
    pub(crate) fn write(&self, at: u64, bytes: &[u8]) {
        self.file().write_all_at(bytes, at).unwrap();
    }

    /// Flips a bit.
    pub(crate) fn flip(&self, flip: Flip) {
        self.write(flip.at, &[self.bytes[flip.at as usize] ^ 1 << flip.bit]);
    }

    /// Makes some bytes what they were.
    pub(crate) fn undo(&self, at: u64, len: usize) {
        self.write(at, &self.bytes[at as usize..at as usize + len]);
    }

    /// Cuts the file off.
    pub(crate) fn truncate(&self, len: u64) {
        self.file().set_len(len).unwrap();
    }

    fn file(&self) -> File {
        File::options().write(true).open(self.directory.path().join("heap")).unwrap()
    }

    /// What `check` says of it.
    pub(crate) fn check(&self) -> Result<spirit::backup::Report, OpenError> {
        Index::check(self.directory.path())
    }

    /// Whether `check` says that something is wrong.
    pub(crate) fn is_found_out(&self) -> bool {
        self.check().is_ok_and(|report| !report.is_sound()) || self.check().is_err()
    }

    /// Opens it so that pages are looked at when they are read, for reading only or not.
    pub(crate) fn open_verified(&self, read_only: bool) -> Result<Index, OpenError> {
        // An answer that is refused must not be kept for the next question.
        let cache = Cache::new(1 << 20).cost_min(Duration::ZERO);
        let options = (self.options)(&self.directory).verify(true).read_only(read_only);
        options.cache(cache).open()
    }

    /// Opens it with the engine. The file is another one afterwards.
    pub(crate) fn open(&self) -> Result<Index, OpenError> {
        sample::options(&self.directory).open()
    }
}
