//! Backups of an index, and checks of an index and its backups.

pub(crate) mod check;
pub(crate) mod error;
pub(crate) mod image;
pub(crate) mod make;
pub(crate) mod new_file;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod salvage;
pub(crate) mod verify;

use std::fmt;
use std::path::{Path, PathBuf};

pub use report::Report;

pub use crate::config::progress::Progress;

/// A backup of an index: its state at one point of its operation order, in one file.
///
/// ```
/// use spirit::Index;
/// use spirit::backup::Backup;
///
/// # let folder = std::env::temp_dir().join(format!("spirit-backup-{}", std::process::id()));
/// # let [chat, file, copy] = ["chat", "chat.backup", "copy"].map(|name| folder.join(name));
/// let index = Index::builder().directory(&chat).dram_bytes(64 << 20).open()?;
/// index.add("a grey heron")?;
/// Backup::at(&file).make(&chat)?; // or `index.backup(&file)`: the stream goes on meanwhile
/// assert!(Backup::at(&file).verify()?.is_sound());
/// Backup::at(&file).progress(|p| eprintln!("{} %", p.percent())).restore(&copy)?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Backup<'p> {
    path: PathBuf,
    progress: Box<dyn FnMut(Progress) + 'p>,
}

impl fmt::Debug for Backup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backup").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'p> Backup<'p> {
    /// Names the backup in this file, which may not exist yet.
    pub fn at(path: impl AsRef<Path>) -> Backup<'p> {
        Backup { path: path.as_ref().into(), progress: Box::new(|_| {}) }
    }

    /// Sets a function that is called often while an operation runs.
    pub fn progress(mut self, progress: impl FnMut(Progress) + 'p) -> Backup<'p> {
        self.progress = Box::new(progress);
        self
    }
}
