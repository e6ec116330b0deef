//! Errors: one for each kind of operation, and [`Error`] for programs that handle all alike.

use std::fmt;

pub use crate::backup::error::BackupError;
pub use crate::config::corrupt::Corrupt;
use crate::config::error::{OpenError, WriteError};
use crate::search::error::SearchError;
use crate::search::hit_error::HitError;

/// A result with [`Error`], for programs that handle all errors alike.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An index could not be opened.
    Open(OpenError),
    /// An operation that changes the index failed.
    Write(WriteError),
    /// A search failed.
    Search(SearchError),
    /// A hit could not be read.
    Hit(HitError),
    /// A backup could not be made, verified or restored.
    Backup(BackupError),
}

impl Error {
    fn inner(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            Error::Open(error) => error,
            Error::Write(error) => error,
            Error::Search(error) => error,
            Error::Hit(error) => error,
            Error::Backup(error) => error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

/// The message is the inner error's, so the source is the inner error's too.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner().source()
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        Error::Open(error)
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        Error::Write(error)
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Error {
        Error::Search(error)
    }
}

impl From<HitError> for Error {
    fn from(error: HitError) -> Error {
        Error::Hit(error)
    }
}

impl From<BackupError> for Error {
    fn from(error: BackupError) -> Error {
        Error::Backup(error)
    }
}
