//! What an index on a disk, at level process, is relied on after: a kill while its file system and the machine stay up, since
//! the page cache is all that holds it. After anything else it is refused.

use std::fs;
use std::path::Path;

use spirit::{Builder, Index, Mode, OpenError};
use spirit_index::form::root::Root;
use spirit_mem::HeapFile;
use spirit_mem::Medium;

use crate::support::disk::{Disk, not_measured};
use crate::support::roots::change_roots;

fn options(folder: &Path) -> Builder {
    let options = Index::builder().directory(folder).mode(Mode::Crash);
    options.dram_bytes(4 << 20).segment_bytes(64 << 10).nvm_bytes(16 << 20)
}

/// Adds a document; what a kill leaves is put back in its place, where an orderly end wrote over it.
fn add_and_kill(folder: &Path, documents: u64) {
    let heap = folder.join("heap");
    let index = options(folder).open().unwrap();
    assert_eq!(index.reader().unwrap().count("all").unwrap(), documents);
    index.add("all").unwrap();
    index.settle();
    let left = fs::read(&heap).unwrap();
    drop(index);
    fs::write(&heap, left).unwrap();
}

/// A place and a time that a root may name, and whether the index is trusted then.
type Change = (fn(&mut Root), bool);

fn killed_and_changed(folder: &Path) {
    let heap = folder.join("heap");
    add_and_kill(folder, 0);
    let file = HeapFile::open(&heap).unwrap();
    if file.medium() != Medium::File {
        not_measured("trust after a start of the machine", "tests have no folder on a disk");
        return;
    }
    let has_number = file.identity().unwrap().file_system != 0;
    drop(file);
    let changes: [Change; 8] = [
        (|root| root.boot_low ^= 1, false),
        (|root| root.boot_high ^= 1, false),
        (|root| root.device ^= 1, false),
        (|root| root.inode ^= 1, false),
        (|root| root.file_system ^= 1, !has_number),
        // Another view of a file system that stayed up, and one of which nothing else is known.
        (|root| root.mount ^= 1, has_number),
        (|root| (root.mount, root.file_system) = (root.mount ^ 1, 0), false),
        (|root| root.file_system = 0, true),
    ];
    for ((change, is_trusted), number) in changes.into_iter().zip(1..) {
        let left = fs::read(&heap).unwrap();
        change_roots(&heap, change);
        match options(folder).open() {
            Ok(index) => {
                assert!(is_trusted, "change {number}");
                assert_eq!(index.reader().unwrap().count("all").unwrap(), number);
            }
            Err(OpenError::Untrusted { .. }) => assert!(!is_trusted, "change {number}"),
            Err(error) => panic!("change {number}: {error}"),
        }
        fs::write(&heap, left).unwrap();
        add_and_kill(folder, number);
    }
}

#[test]
fn what_another_start_of_the_machine_left_is_refused() {
    let name = format!("trust-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    killed_and_changed(&folder);
    fs::remove_dir_all(&folder).unwrap();
}

/// It may have been taken down by force: nothing tells afterwards.
#[test]
fn a_file_system_that_was_taken_down_and_up_is_another() {
    let disk = match Disk::new(64 << 20) {
        Ok(disk) => disk,
        Err(why) => return not_measured("trust after a file system went down and up", &why),
    };
    let folder = disk.path().join("index");
    add_and_kill(&folder, 0);
    disk.restart();
    // Kernels before 6.8 may give a mount the number of the last.
    let heap = folder.join("heap");
    let mount = HeapFile::open(&heap).unwrap().identity().unwrap().mount;
    change_roots(&heap, |root| root.mount = mount);
    let refused = options(&folder).open();
    assert!(matches!(refused, Err(OpenError::Untrusted { .. })), "{:?}", refused.err());
}
