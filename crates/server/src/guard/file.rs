//! The file of keys in the server's directory. The command changes it, the server reads it.
//!
//! It has hashes only, and mode 600. A change writes a new file and renames it, so a reader sees the
//! old keys or the new ones. Changes take turns by a lock on a file beside it.

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::key::Key;

/// The file's name. No index begins with `_`.
const NAME: &str = "_keys.json";
/// Its name until it is whole.
const NEW: &str = "_keys.json.new";
/// The file that is locked while keys change.
const LOCK: &str = "_keys.lock";
/// Bits of a mode by which others may read or write a file.
const OTHERS: u32 = 0o077;

/// The file of keys of a server's directory.
#[derive(Clone, Debug)]
pub struct KeyFile {
    directory: PathBuf,
}

/// The reason why keys cannot be read or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeysError {
    /// The file cannot be read or written.
    Io {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: io::Error,
    },
    /// Others than its owner may read or write it.
    Exposed {
        /// Its path.
        path: PathBuf,
    },
    /// It does not have the form of a file of keys.
    Malformed {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: serde_json::Error,
    },
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeysError::Io { path, why } => write!(f, "{}: {why}", path.display()),
            KeysError::Exposed { path } => {
                let path = path.display();
                write!(f, "{path}: others may read or write the keys: chmod 600 {path}")
            }
            KeysError::Malformed { path, why } => {
                write!(f, "{}: not a file of keys: {why}", path.display())
            }
        }
    }
}

impl Error for KeysError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            KeysError::Io { why, .. } => Some(why),
            KeysError::Malformed { why, .. } => Some(why),
            KeysError::Exposed { .. } => None,
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    keys: Vec<Key>,
}

/// What tells one state of the file from the next: its number, its length, and when it changed.
pub(super) type Stamp = (u64, u64, i64, i64);

impl KeyFile {
    /// Returns the file of a directory.
    pub fn of(directory: &Path) -> KeyFile {
        KeyFile { directory: directory.to_owned() }
    }

    /// Returns its path.
    pub fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// Reads the keys; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read, is not of keys, or others may read or write it.
    pub fn read(&self) -> Result<Option<Vec<Key>>, KeysError> {
        let path = self.path();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(KeysError::Io { path, why }),
        };
        let mode = file.metadata().map_err(|why| self.failed(why))?.mode();
        if mode & OTHERS != 0 {
            return Err(KeysError::Exposed { path });
        }
        let text = io::read_to_string(file).map_err(|why| self.failed(why))?;
        let read = serde_json::from_str::<Contents>(&text);
        Ok(Some(read.map_err(|why| KeysError::Malformed { path, why })?.keys))
    }

    /// Changes the keys. Makes the directory and the file if they are not there.
    ///
    /// # Errors
    /// If the file cannot be read or written. Then it stays as it was.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Key>) -> T) -> Result<T, KeysError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.map_err(|why| self.failed(why))?;
        let lock = own_file(&self.directory.join(LOCK)).map_err(|why| self.failed(why))?;
        lock.lock().map_err(|why| self.failed(why))?;
        let mut keys = self.read()?.unwrap_or_default();
        let changed = change(&mut keys);
        self.write(keys).map_err(|why| self.failed(why))?;
        Ok(changed)
    }

    fn write(&self, keys: Vec<Key>) -> io::Result<()> {
        let new = self.directory.join(NEW);
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = own_file(&new)?;
        serde_json::to_writer_pretty(&mut file, &Contents { keys })?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(new, self.path())?;
        File::open(&self.directory)?.sync_all()
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        let metadata = fs::metadata(self.path()).ok()?;
        Some((metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec()))
    }

    fn failed(&self, why: io::Error) -> KeysError {
        KeysError::Io { path: self.path(), why }
    }
}

/// Opens or makes a file that only its owner may read and write.
fn own_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
