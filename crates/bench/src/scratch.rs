//! A directory for an index that is measured; it goes with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Fallible;

/// An empty directory.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// In memory where there is such a file system, else where temporary files go.
    pub(crate) fn new() -> Fallible<Scratch> {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::on_disk() }
    }

    /// On a disk, or what temporary files are kept on.
    pub(crate) fn on_disk() -> Fallible<Scratch> {
        Self::below(&std::env::temp_dir())
    }

    fn below(folder: &Path) -> Fallible<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let path = folder.join(format!("spirit-bench-index-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is a folder for temporary files' matter.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
