//! An index is made once, whoever else makes it at the same time; a key that no document can have deletes none.

mod support;

use std::sync::Barrier;

use spirit::{HeapFileError, OpenError, Options};
use support::directory::Directory;

fn options(directory: &Directory) -> Options {
    Options::default().directory(directory.path()).dram_bytes(4 << 20).nvm_bytes(32 << 20)
}

#[test]
fn of_several_that_make_an_index_one_does() {
    for _ in 0..20 {
        let directory = Directory::new();
        let meet = Barrier::new(3);
        let make = || {
            meet.wait();
            match options(&directory).open() {
                Ok(index) => {
                    index.add("made").unwrap();
                    true
                }
                Err(OpenError::File(HeapFileError::Locked { .. })) => false,
                Err(error) => panic!("{error}"),
            }
        };
        let added = std::thread::scope(|scope| {
            let threads = [scope.spawn(make), scope.spawn(make), scope.spawn(make)];
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|added| *added).count()
        });
        let index = options(&directory).open().unwrap();
        assert!(added > 0);
        assert_eq!(index.reader().unwrap().count_text("made").unwrap(), added as u64);
    }
}

#[test]
fn a_key_that_is_too_long_is_no_documents_even_after_a_kill() {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    index.put("a", "kept").unwrap();
    assert!(!index.delete(&"a".repeat(65537)).unwrap());
    assert!(!index.delete("").unwrap());
    index.settle();
    let killed = directory.killed();
    let index = options(&killed).open().unwrap();
    assert_eq!(index.reader().unwrap().count_text("kept").unwrap(), 1);
}
