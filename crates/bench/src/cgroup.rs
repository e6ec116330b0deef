//! Control groups for processes that are measured, of version 1 or 2, and files whose pages leave the page cache.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::fs::{Advice, fadvise, fsync, major, minor};

use crate::Fallible;

const ROOT: &str = "/sys/fs/cgroup";

/// What a group limits. Each version has a file for it.
pub(crate) struct Controller {
    name: &'static str,
    version_1: &'static str,
    version_2: &'static str,
}

pub(crate) const MEMORY: Controller =
    Controller { name: "memory", version_1: "memory.limit_in_bytes", version_2: "memory.max" };
pub(crate) const READS: Controller =
    Controller { name: "blkio", version_1: "blkio.throttle.read_bps_device", version_2: "io.max" };

/// A group without processes. It goes when this is dropped, if its processes have ended.
pub(crate) struct Cgroup(PathBuf);

impl Cgroup {
    pub(crate) fn new(controller: &Controller) -> Fallible<Cgroup> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let name = format!("spirit-bench-{}-{number}", std::process::id());
        let Controller { name: folder, version_1, version_2 } = controller;
        let of_version_1 = Path::new(ROOT).join(folder);
        let (parent, file) = if of_version_1.join(version_1).exists() {
            (of_version_1, version_1)
        } else if Path::new(ROOT).join("cgroup.controllers").exists() {
            (PathBuf::from(ROOT), version_2)
        } else {
            return Err(format!("there is no controller {folder} of cgroups").into());
        };
        let path = parent.join(name);
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let group = Cgroup(path);
        if !group.0.join(file).exists() {
            return Err(format!("groups in {} have no {file}", parent.display()).into());
        }
        Ok(group)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Lets its processes read no more than this in a second from the disk that has a file.
    pub(crate) fn throttle(&self, file: &Path, bytes: u64, reads: u64) -> Fallible<()> {
        let disk = disk_of(file)?;
        let set = |name: &str, line: String| {
            let path = self.0.join(name);
            std::fs::write(&path, line).map_err(|e| format!("{}: {e}", path.display()))
        };
        if self.0.join(READS.version_2).exists() {
            return Ok(set(READS.version_2, format!("{disk} rbps={bytes} riops={reads}"))?);
        }
        set(READS.version_1, format!("{disk} {bytes}"))?;
        Ok(set("blkio.throttle.read_iops_device", format!("{disk} {reads}"))?)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It stays behind if a process is in it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Moves this process into a cgroup.
pub(crate) fn enter(cgroup: &Path) -> Fallible<()> {
    Ok(std::fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string())?)
}

/// Limits a cgroup to the memory that it has now and some bytes more.
pub(crate) fn limit(cgroup: &Path, more: u64) -> Fallible<()> {
    let (used, limit) = match cgroup.join(MEMORY.version_1).exists() {
        true => ("memory.usage_in_bytes", MEMORY.version_1),
        false => ("memory.current", MEMORY.version_2),
    };
    let used = std::fs::read_to_string(cgroup.join(used))?;
    let bytes = used.trim().parse::<u64>()? + more;
    Ok(std::fs::write(cgroup.join(limit), bytes.to_string())?)
}

/// Lets the pages of a folder's files leave the page cache. Those that a process has mapped stay.
pub(crate) fn forget_pages(folder: &Path) -> Fallible<()> {
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

/// The numbers of the disk that has a file, as `8:0`. Limits are of whole disks, not of their partitions.
fn disk_of(file: &Path) -> Fallible<String> {
    let device = std::fs::metadata(file)?.dev();
    let numbers = format!("{}:{}", major(device), minor(device));
    let entry = Path::new("/sys/dev/block").join(&numbers);
    if !entry.exists() {
        return Err(format!("{} is on no disk", file.display()).into());
    }
    if !entry.join("partition").exists() {
        return Ok(numbers);
    }
    let partition = entry.canonicalize()?;
    let disk = partition.parent().ok_or("a partition of no disk")?;
    Ok(std::fs::read_to_string(disk.join("dev"))?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_group_is_made_where_that_is_allowed_and_goes() {
        for controller in [&MEMORY, &READS] {
            let path = match Cgroup::new(controller) {
                Ok(group) => {
                    assert!(group.path().join("cgroup.procs").exists());
                    group.path().to_owned()
                }
                Err(reason) => {
                    println!("NOT MEASURED: {reason}");
                    continue;
                }
            };
            assert!(!path.exists());
        }
    }

    #[test]
    fn files_in_memory_are_on_no_disk() {
        assert!(disk_of(Path::new("/proc/self/stat")).is_err());
    }

    #[test]
    fn pages_are_forgotten_and_read_again() {
        let scratch = Scratch::on_disk().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, [7; 9000]).unwrap();
        std::fs::create_dir(scratch.path().join("folder")).unwrap();
        forget_pages(scratch.path()).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), [7; 9000]);
    }
}
