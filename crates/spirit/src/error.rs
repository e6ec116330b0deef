//! Errors: one for each kind of operation, and [`Error`] for programs that do not tell them apart.

use std::fmt;

pub use crate::backup::error::BackupError;
pub use crate::config::error::{AddAllError, OpenError, WriteError};
pub use crate::search::cursor::CursorError;
pub use crate::search::error::{SearchError, TooManyReaders};
pub use crate::search::hit_error::HitError;
pub use crate::search::query_pool::PoolError;
pub use crate::stages::lease::LeaseExpired;
pub use spirit_index::ground::corrupt::Corrupt;
pub use spirit_index::ground::geometry::GeometryError;
pub use spirit_mem::HeapFileError;
pub use spirit_query::Stop;

/// The result of a program that does not tell errors apart.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An index was not opened.
    Open(OpenError),
    /// An operation that changes the index was not done.
    Write(WriteError),
    /// A document of a stream was not taken.
    AddAll(AddAllError),
    /// A question was not answered.
    Search(SearchError),
    /// A hit was not read.
    Hit(HitError),
    /// A text is no cursor.
    Cursor(CursorError),
    /// A query pool was not started.
    Pool(PoolError),
    /// A backup was not made, verified or restored.
    Backup(BackupError),
}

impl Error {
    fn inner(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            Error::Open(error) => error,
            Error::Write(error) => error,
            Error::AddAll(error) => error,
            Error::Search(error) => error,
            Error::Hit(error) => error,
            Error::Cursor(error) => error,
            Error::Pool(error) => error,
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

impl From<AddAllError> for Error {
    fn from(error: AddAllError) -> Error {
        Error::AddAll(error)
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Error {
        Error::Search(error)
    }
}

impl From<TooManyReaders> for Error {
    fn from(error: TooManyReaders) -> Error {
        Error::Search(error.into())
    }
}

impl From<HitError> for Error {
    fn from(error: HitError) -> Error {
        Error::Hit(error)
    }
}

impl From<CursorError> for Error {
    fn from(error: CursorError) -> Error {
        Error::Cursor(error)
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Error {
        Error::Pool(error)
    }
}

impl From<BackupError> for Error {
    fn from(error: BackupError) -> Error {
        Error::Backup(error)
    }
}
