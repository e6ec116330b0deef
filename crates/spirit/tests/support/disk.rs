//! A disk of a test's own: a file system on a loop device, or one in memory, that can be full, fail, and lose power.
//!
//! Making one takes the right to mount, and loop devices. Without them a test has no disk, and says so by
//! [`not_measured`].
#![allow(dead_code, reason = "each test binary uses some of this")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// What the folders of disks begin with; the process and a number follow.
const NAME: &str = "spirit-disk-";

/// A mounted file system, which goes with it.
pub(crate) struct Disk {
    folder: PathBuf,
    /// Where the file is that it lies in, if it lies in one: elsewhere than usual.
    base: Option<Box<Disk>>,
}

impl Disk {
    /// An ext4 of `bytes`; or why there can be none here.
    pub(crate) fn new(bytes: u64) -> Result<Disk, String> {
        Self::made(Disk { folder: folder()?, base: None }, bytes)
    }

    /// The same in a file on another disk, which may be the smaller one.
    pub(crate) fn within(base: Disk, bytes: u64) -> Result<Disk, String> {
        Self::made(Disk { folder: folder()?, base: Some(Box::new(base)) }, bytes)
    }

    fn made(disk: Disk, bytes: u64) -> Result<Disk, String> {
        let image = disk.image();
        let said = |error: io::Error| format!("{}: {error}", image.display());
        File::create(&image).and_then(|file| file.set_len(bytes)).map_err(said)?;
        let now = "lazy_itable_init=0,lazy_journal_init=0";
        run(
            "mkfs.ext4",
            [OsStr::new("-q"), "-F".as_ref(), "-E".as_ref(), now.as_ref(), image.as_ref()],
        )?;
        disk.mount()?;
        Ok(disk)
    }

    /// A file system in memory of `bytes`; or why there can be none here.
    pub(crate) fn in_memory(bytes: u64) -> Result<Disk, String> {
        let disk = Disk { folder: folder()?, base: None };
        let size = format!("size={bytes}");
        let words = ["-t", "tmpfs", "-o", &size, "tmpfs"].map(OsStr::new);
        run("mount", words.into_iter().chain([disk.path().as_ref()]))?;
        Ok(disk)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("mounted")
    }

    /// The disk that it lies on.
    pub(crate) fn base(&self) -> Option<&Disk> {
        self.base.as_deref()
    }

    fn image(&self) -> PathBuf {
        let base = self.base().map_or(self.folder.clone(), Disk::path);
        base.join("image")
    }

    fn mount(&self) -> Result<(), String> {
        let (image, path) = (self.image(), self.path());
        // The loop device goes with the mount.
        run("mount", ["-o".as_ref(), "loop".as_ref(), image.as_os_str(), path.as_ref()])
    }

    /// Takes the power: what was not synced is gone, and nothing works until it is [back](Disk::restart).
    pub(crate) fn cut(&self) {
        let root = File::open(self.path()).unwrap();
        spirit_mem::power::cut(&root).unwrap();
    }

    /// The power is back. Nobody has a file open on it any more.
    pub(crate) fn restart(&self) {
        self.unmount().unwrap();
        self.mount().unwrap();
    }

    /// A disk with the same contents, like a snapshot taken while nothing is written.
    pub(crate) fn snapshot(&self) -> Result<Disk, String> {
        let disk = Disk { folder: folder()?, base: None };
        let said = |error: io::Error| format!("{}: {error}", disk.image().display());
        fs::copy(self.image(), disk.image()).map_err(said)?;
        disk.mount()?;
        Ok(disk)
    }

    /// Who was killed may need a moment to be gone.
    fn unmount(&self) -> Result<(), String> {
        let path = self.path();
        let mut said = Ok(());
        for _ in 0..200 {
            said = run("umount", [path.as_os_str()]);
            if said.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        said
    }

    /// Bytes that are free for us.
    pub(crate) fn free(&self) -> u64 {
        let stat = rustix::fs::statvfs(self.path()).unwrap();
        stat.f_bfree * stat.f_frsize
    }

    /// Takes all but about `left` bytes of what is free, with a file whose path it gives.
    pub(crate) fn fill(&self, left: u64) -> PathBuf {
        let path = self.path().join("filler");
        let mut filler = File::create(&path).unwrap();
        let piece = vec![1; 64 << 10];
        while self.free() > left + piece.len() as u64 && filler.write_all(&piece).is_ok() {}
        // What a file system gives is known only when it was written.
        let _ = filler.sync_all();
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            // Somebody has a file open on it still: it goes when they do.
            let _ = run("umount", ["-l".as_ref(), self.path().as_os_str()]);
        }
        remove(&self.folder);
    }
}

/// Removes what an unmounted disk left, and nothing that is mounted.
fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join("image"));
    let _ = fs::remove_dir(folder.join("mounted"));
    let _ = fs::remove_dir(folder);
}

/// Makes the folder of a disk, in memory if that can be: then only what the disk itself does takes time.
fn folder() -> Result<PathBuf, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) };
    sweep(base);
    let number = COUNT.fetch_add(1, Relaxed);
    let folder = base.join(format!("{NAME}{}-{number}", std::process::id()));
    fs::create_dir_all(folder.join("mounted"))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Removes the disks of processes that were killed.
fn sweep(base: &Path) {
    for folder in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(NAME).and_then(|rest| rest.split('-').next());
        let is_gone = |owner| !Path::new("/proc").join(owner).exists();
        if owner.is_some_and(is_gone) {
            let _ = run("umount", [folder.path().join("mounted").as_os_str()]);
            remove(&folder.path());
        }
    }
}

fn run<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> Result<(), String> {
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Says, past what captures a test's output, that a proof could not run here.
pub(crate) fn not_measured(what: &str, why: &str) {
    let _ = writeln!(io::stderr(), "NOT MEASURED: {what}: {why}");
}
