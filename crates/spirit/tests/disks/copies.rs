//! Copies of an index by other means than a backup: of a file that was open they are refused, of a closed one right, and a snapshot
//! of the file system is as after a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use spirit::backup::Backup;
use spirit::{Builder, Durability, Index, Mode, OpenError, WriteError};
use spirit_mem::HeapFile;
use spirit_mem::Medium;

use crate::support::directory::Directory;
use crate::support::disk::{Disk, not_measured};

fn options(folder: &Path, durability: Durability) -> Builder {
    let options = Index::builder().directory(folder).mode(Mode::Crash).durability(durability);
    options.dram_bytes(4 << 20).segment_bytes(64 << 10).nvm_bytes(16 << 20)
}

/// Adds documents until there are `count`.
fn fill(index: &Index, count: u64) {
    for number in index.accepted()..count {
        index.put(&format!("k{number}"), &format!("all m{} u{number}", number % 7)).unwrap();
    }
}

/// Finds documents `0..count`, each once, and no other.
fn has(index: &Index, count: u64) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), count);
    for number in (0..count).step_by(37) {
        assert_eq!(reader.count(&format!("u{number}")).unwrap(), 1, "u{number}");
    }
}

/// A copy as `cp -r` makes it.
fn copy(folder: &Path, to: &Path) -> PathBuf {
    let copy = to.join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(folder.join("heap"), copy.join("heap")).unwrap();
    copy
}

/// A folder on a disk, if tests have one, of a level that can be there.
struct OnDisk(PathBuf, Durability);

impl OnDisk {
    fn new(durability: Durability) -> OnDisk {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("copies-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        let probe = HeapFile::create(&folder.join("probe"), 4096).unwrap();
        let can = probe.medium() != Medium::Tmpfs;
        OnDisk(folder, if can { durability } else { Durability::Process })
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_refused<T>(refused: Result<T, OpenError>) {
    let Some(error) = refused.err() else { panic!("a copy of an open index was opened") };
    assert!(matches!(error, OpenError::Copied { .. }), "{error}");
    assert!(error.to_string().contains("`spirit backup`"), "{error}");
}

/// It was opened, and found a fifth of what it was asked for.
#[test]
fn a_copy_of_an_open_index_is_refused() {
    for durability in [Durability::Process, Durability::Os] {
        let disk = OnDisk::new(durability);
        let (folder, level) = (disk.0.join("index"), disk.1);
        let index = options(&folder, level).open().unwrap();
        fill(&index, 3000);
        // In memory as on the disk.
        let memory = Directory::new();
        for copy in [copy(&folder, memory.path()), copy(&folder, &disk.0)] {
            let before = fs::read(copy.join("heap")).unwrap();
            is_refused(options(&copy, level).open());
            is_refused(options(&copy, level).read_only(true).open());
            assert!(Backup::at(disk.0.join("backup")).make(&copy).is_err());
            assert!(fs::read(copy.join("heap")).unwrap() == before, "a refused copy was changed");
        }
        // It changed nothing for the original, which a kill leaves as it is.
        Backup::at(disk.0.join("backup")).make(&folder).unwrap();
        Backup::at(disk.0.join("backup")).restore(disk.0.join("restored")).unwrap();
        has(&options(&disk.0.join("restored"), level).open().unwrap(), 3000);
        let left = fs::read(folder.join("heap")).unwrap();
        drop(index);
        fs::write(folder.join("heap"), left).unwrap();
        has(&options(&folder, level).open().unwrap(), 3000);
    }
}

#[test]
fn a_copy_of_a_closed_index_is_as_good_as_the_index() {
    for durability in [Durability::Process, Durability::Os] {
        let disk = OnDisk::new(durability);
        let (mut folder, level) = (disk.0.join("index"), disk.1);
        let mut kept = Vec::new();
        for round in 1..4 {
            let index = options(&folder, level).open().unwrap();
            has(&index, (round - 1) * 1000);
            fill(&index, round * 1000);
            index.close().unwrap();
            folder = copy(&folder, &folder);
            kept.push(folder.clone());
        }
        for (copy, round) in kept.iter().zip(1..) {
            has(&options(copy, level).open().unwrap(), (round * 1000 + 1000).min(3000));
        }
    }
}

/// Its writer says that it is open before it stores anything, and not before.
#[test]
fn a_copy_of_an_index_that_was_open_and_only_asked_is_right() {
    let disk = OnDisk::new(Durability::Os);
    let (folder, level) = (disk.0.join("index"), disk.1);
    let index = options(&folder, level).open().unwrap();
    fill(&index, 10);
    index.close().unwrap();
    let asked = options(&folder, level).open().unwrap();
    has(&asked, 10);
    has(&options(&copy(&folder, &disk.0), level).open().unwrap(), 10);
}

/// The first disk stops at one moment, in the middle of what a writer does, and is copied as it is then.
#[test]
fn a_snapshot_of_the_disk_at_one_moment_opens_where_it_is_mounted() {
    let disk = match Disk::new(64 << 20) {
        Ok(disk) => disk,
        Err(why) => return not_measured("snapshots of a disk", &why),
    };
    for (number, count) in [1, 300, 3000].into_iter().enumerate() {
        let name = number.to_string();
        let index = options(&disk.path().join(&name), Durability::Os).open().unwrap();
        fill(&index, count);
        disk.cut();
        let failed = index.put("none", "none");
        assert!(matches!(failed, Err(WriteError::SyncFailed)), "{failed:?}");
        drop(index);
        let snapshot = disk.snapshot().unwrap();
        disk.restart();
        // The first is there too, so the snapshot has another device.
        let of = |disk: &Disk| HeapFile::open(&disk.path().join(&name).join("heap")).unwrap();
        let [first, second] = [&disk, &snapshot].map(|disk| of(disk).identity().unwrap());
        assert_ne!(first.device, second.device);
        for disk in [&snapshot, &disk] {
            let index = options(&disk.path().join(&name), Durability::Os).open().unwrap();
            has(&index, count);
            fill(&index, count + 10);
            index.close().unwrap();
        }
        fs::remove_dir_all(disk.path().join(&name)).unwrap();
    }
}
