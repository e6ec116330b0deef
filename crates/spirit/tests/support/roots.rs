//! Changes the roots of an index's file from outside.
#![allow(dead_code, reason = "each test binary uses some of this")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use spirit_index::form::root::{Root, WORDS, parse, words};
use spirit_index::ground::ROOT_BYTES;
use spirit_mem::HeapFile;

/// Says in all roots of the file that were written what `change` makes of them.
pub(crate) fn change_roots(heap: &Path, change: impl Fn(&mut Root)) {
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

/// Says that the file is not a copy, but the one that its writer had open.
pub(crate) fn make_original(heap: &Path) {
    let identity = HeapFile::open_read_only(heap).unwrap().identity().unwrap();
    change_roots(heap, |root| (root.inode, root.birth) = (identity.inode, identity.birth));
}
