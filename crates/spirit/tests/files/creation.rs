//! An index is made once, no matter who else makes it at the same time; a key that no document can have deletes none.

use std::sync::Barrier;

use spirit::{Builder, Index, OpenError};

use crate::support::directory::Directory;

fn options(directory: &Directory) -> Builder {
    Index::builder().directory(directory.path()).dram_bytes(4 << 20).nvm_bytes(32 << 20)
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
                Err(OpenError::Locked { .. }) => false,
                Err(error) => panic!("{error}"),
            }
        };
        let added = std::thread::scope(|scope| {
            let threads = [scope.spawn(make), scope.spawn(make), scope.spawn(make)];
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|added| *added).count()
        });
        let index = options(&directory).open().unwrap();
        assert!(added > 0);
        assert_eq!(index.reader().unwrap().count("made").unwrap(), added as u64);
    }
}

/// Who made the index with large segments, and DRAM for them, need not say so at each start.
#[test]
fn an_index_that_is_there_gets_the_dram_that_its_segments_need() {
    for executors in [1, 3] {
        let directory = Directory::new();
        let bytes = executors as u64;
        let made = Index::builder().directory(directory.path()).executors(executors);
        let made = made.dram_bytes(bytes * (3 << 30)).nvm_bytes(bytes * (4 << 30));
        made.segment_bytes(128 << 20).open().unwrap().add("kept").unwrap();
        let opened = Index::builder().directory(directory.path());
        let index = opened.clone().open().unwrap();
        assert_eq!(index.reader().unwrap().count("kept").unwrap(), 1);
        drop(index);
        opened.clone().read_only(true).open().unwrap();
        // With less it has smaller segments.
        let index = opened.clone().dram_bytes(bytes << 30).open().unwrap();
        assert_eq!(index.stats().unwrap().dram_bytes, bytes << 30);
        assert_eq!(index.reader().unwrap().count("kept").unwrap(), 1);
        drop(index);
        let said = opened.dram_bytes(bytes << 27).open();
        assert!(matches!(said, Err(OpenError::DramTooSmall { .. })));
    }
}

/// The default sizes of segments and second tier depend on each other. The file is divided as its root says, whatever
/// the DRAM, and what is in it is there at the next start.
#[test]
fn default_sizes_are_those_of_the_root() {
    for (executors, store) in [(1, false), (1, true), (2, false)] {
        for sixteenths in (40 * executors as u64..640).step_by(11) {
            let (directory, dram_bytes) = (Directory::new(), sixteenths << 16);
            let made = Index::builder().directory(directory.path()).executors(executors);
            let index = made.store(store).dram_bytes(dram_bytes).open().unwrap();
            let settings = index.settings();
            index.add("kept").unwrap();
            index.flush().unwrap();
            index.add("kept").unwrap();
            index.close().unwrap();
            let index = Index::builder().directory(directory.path()).open().unwrap();
            assert_eq!(index.settings().segment_bytes, settings.segment_bytes, "{dram_bytes}");
            assert_eq!(index.reader().unwrap().count("kept").unwrap(), 2, "{dram_bytes}");
        }
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
    assert_eq!(index.reader().unwrap().count("kept").unwrap(), 1);
}
