//! Directories of a test's own, which go with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::roots::make_original;

/// A directory in memory where there is one, else where temporary files go.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// An empty directory.
    pub(crate) fn new() -> Directory {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let shm = Path::new("/dev/shm");
        let base = if shm.is_dir() { shm.to_path_buf() } else { std::env::temp_dir() };
        let name = format!("spirit-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = base.join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What a kill now would leave: the file as it is, under a lock of nobody.
    pub(crate) fn killed(&self) -> Directory {
        let copy = Directory::new();
        std::fs::copy(self.0.join("heap"), copy.0.join("heap")).unwrap();
        make_original(&copy.0.join("heap"));
        copy
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
