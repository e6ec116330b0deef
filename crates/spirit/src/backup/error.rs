//! Errors of backups: making, verifying and restoring them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use spirit_index::backup::Fault;
use spirit_index::backup::target::PutError;

use crate::config::error::OpenError;

/// A backup could not be made, verified or restored. No file of the attempt is left.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackupError {
    /// The index cannot be read, or the restored index cannot be made.
    Index(OpenError),
    /// The index is in memory alone.
    Volatile,
    /// The index is graceful and open, so its newest operations are in memory alone.
    Graceful {
        /// The index's file.
        path: PathBuf,
    },
    /// The index changed too fast to be copied.
    Restless {
        /// The index's file.
        path: PathBuf,
        /// The change that kept happening.
        why: &'static str,
    },
    /// A file or an index of that name exists already.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another backup is being written to the same file.
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The error of the system.
        reason: io::Error,
    },
    /// The file is no backup, is a backup of an unknown version, or is damaged.
    Damaged {
        /// The backup.
        path: PathBuf,
        /// The place and the error.
        why: String,
    },
}

impl BackupError {
    pub(crate) fn file(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> BackupError {
        let path = path.into();
        move |reason| BackupError::File { path, action, reason }
    }

    pub(crate) fn no_room(path: &Path) -> BackupError {
        Self::file(path, "reserve space for it")(io::ErrorKind::StorageFull.into())
    }

    pub(crate) fn fault(path: &Path, fault: Fault) -> BackupError {
        match fault {
            Fault::System(reason) => Self::file(path, "read it")(reason),
            fault => BackupError::Damaged { path: path.into(), why: fault.to_string() },
        }
    }

    pub(crate) fn put(path: &Path, executor: usize, error: PutError) -> BackupError {
        match error {
            PutError::Fault(fault) => Self::fault(path, fault),
            error => {
                let why = format!("executor {executor}: {error}");
                BackupError::Damaged { path: path.into(), why }
            }
        }
    }
}

impl From<OpenError> for BackupError {
    fn from(error: OpenError) -> BackupError {
        BackupError::Index(error)
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackupError::Index(error) => error.fmt(f),
            BackupError::Volatile => f.write_str(
                "the index is in memory alone: there is no file to back up; open it with a directory",
            ),
            BackupError::Graceful { path } => write!(
                f,
                "{}: a graceful index keeps its documents in memory until it is closed; close it \
                 first, or make it in mode crash",
                path.display()
            ),
            BackupError::Restless { path, why } => {
                write!(f, "{}: {why}; try again while the index is less busy", path.display())
            }
            BackupError::Exists { path } => {
                write!(f, "{}: exists already; choose another name, or remove it", path.display())
            }
            BackupError::Busy { path } => {
                write!(f, "{}: another backup is being written to it", path.display())
            }
            BackupError::File { path, action, reason } => {
                write!(f, "{}: cannot {action}: {reason}", path.display())
            }
            BackupError::Damaged { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for BackupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message is the inner error's, so the source is the inner error's too.
            BackupError::Index(error) => error.source(),
            BackupError::File { reason, .. } => Some(reason),
            _ => None,
        }
    }
}
