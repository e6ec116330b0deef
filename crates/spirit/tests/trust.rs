//! What an index on a disk, at level process, is relied on after: a kill in the same place and the same start of the machine, since
//! the page cache is all that holds it. After anything else it is refused.

mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use spirit::{Medium, Mode, OpenError, Options};
use spirit_index::nvm::root::{ROOT_BYTES, Root, WORDS, parse, words};
use spirit_mem::HeapFile;
use support::disk::not_measured;

/// Says in all roots of the file that were written what `change` makes of them.
fn change_roots(heap: &Path, change: fn(&mut Root)) {
    let file = File::options().read(true).write(true).open(heap).unwrap();
    for at in [0, ROOT_BYTES / 2] {
        let mut bytes = [0; WORDS * 8];
        file.read_exact_at(&mut bytes, at).unwrap();
        let (found, _) = bytes.as_chunks::<8>();
        let Ok(mut root) = parse(&std::array::from_fn(|i| u64::from_le_bytes(found[i])), at) else {
            continue;
        };
        change(&mut root);
        file.write_all_at(words(&root).map(u64::to_le_bytes).as_flattened(), at).unwrap();
    }
}

fn killed_and_changed(folder: &Path) {
    let heap = folder.join("heap");
    let options = || {
        let options = Options::default().directory(folder).mode(Mode::Crash);
        options.dram_bytes(4 << 20).segment_bytes(64 << 10).nvm_bytes(16 << 20)
    };
    // What a kill leaves is put back in its place, where an orderly end wrote over it.
    let add_and_kill = |documents: u64| {
        let index = options().open().unwrap();
        assert_eq!(index.reader().unwrap().count_text("all").unwrap(), documents);
        index.add("all").unwrap();
        index.settle();
        let left = fs::read(&heap).unwrap();
        drop(index);
        fs::write(&heap, left).unwrap();
    };
    add_and_kill(0);
    if HeapFile::open(&heap).unwrap().medium() != Medium::File {
        not_measured("trust after a start of the machine", "tests have no folder on a disk");
        return;
    }
    let changes: [fn(&mut Root); 5] = [
        |root| root.boot_low ^= 1,
        |root| root.boot_high ^= 1,
        |root| root.device ^= 1,
        |root| root.inode ^= 1,
        |root| root.mount ^= 1,
    ];
    for (change, number) in changes.into_iter().zip(1..) {
        change_roots(&heap, change);
        let refused = options().open();
        let is_refused = matches!(refused, Err(OpenError::Untrusted { .. }));
        assert!(is_refused, "change {number}: {:?}", refused.err());
        // Each change is its own opposite.
        change_roots(&heap, change);
        add_and_kill(number);
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
