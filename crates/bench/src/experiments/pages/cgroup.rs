//! A memory cgroup (v1) for one process, and files whose pages leave the page cache.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::fs::{Advice, fadvise, fsync};

use crate::Fallible;

const MEMORY: &str = "/sys/fs/cgroup/memory";
const LIMIT: &str = "memory.limit_in_bytes";

/// An empty cgroup. It goes when this is dropped, if its processes have ended.
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    pub(super) fn new() -> Fallible<Cgroup> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let path = Path::new(MEMORY).join(format!("spirit-bench-{}-{number}", std::process::id()));
        if !Path::new(MEMORY).join(LIMIT).exists() {
            return Err("there is no memory controller of cgroup v1".into());
        }
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Cgroup(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It stays behind if a process is in it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Moves this process into a cgroup.
pub(super) fn enter(cgroup: &Path) -> Fallible<()> {
    Ok(std::fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string())?)
}

/// Limits a cgroup to what it has now and some bytes more.
pub(super) fn limit(cgroup: &Path, more: u64) -> Fallible<()> {
    let used = std::fs::read_to_string(cgroup.join("memory.usage_in_bytes"))?;
    let bytes = used.trim().parse::<u64>()? + more;
    Ok(std::fs::write(cgroup.join(LIMIT), bytes.to_string())?)
}

/// Lets the pages of a folder's files leave the page cache.
pub(super) fn forget_pages(folder: &Path) -> Fallible<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A process that has the index open listens at a socket.
        if !entry.file_type()?.is_file() {
            continue;
        }
        let file = std::fs::File::open(entry.path())?;
        fsync(&file)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}
