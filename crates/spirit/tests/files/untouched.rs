//! A start that only answers queries, of an index with an empty log and nothing to merge, leaves
//! the file as it was. However its process ends, the index is as closed as before. An operation
//! that changes the index first makes the file say that it is open.

use std::fs;

use spirit::{Analyzer, Index, Mode, OnFull, OpenError};

use crate::support::directory::Directory;

fn try_open(directory: &Directory, mode: Mode, on_full: OnFull) -> Result<Index, OpenError> {
    Index::builder()
        .directory(directory.path())
        .mode(mode)
        .dram_bytes(4 << 20)
        .nvm_bytes(8 << 20)
        .log_bytes(256 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(64 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
        .open()
}

fn open(directory: &Directory, mode: Mode, on_full: OnFull) -> Index {
    try_open(directory, mode, on_full).unwrap()
}

const KINDS: [(Mode, OnFull); 4] = [
    (Mode::Graceful, OnFull::DropOldest),
    (Mode::Graceful, OnFull::Refuse),
    (Mode::Crash, OnFull::DropOldest),
    (Mode::Crash, OnFull::Refuse),
];

fn made(mode: Mode, on_full: OnFull) -> Directory {
    let directory = Directory::new();
    let index = open(&directory, mode, on_full);
    for number in 0..3000 {
        index.put(&format!("key{}", number % 2000), &format!("all n{number}")).unwrap();
    }
    index.delete("key7").unwrap();
    index.flush().unwrap();
    index.close().unwrap();
    directory
}

fn bytes(directory: &Directory) -> Vec<u8> {
    fs::read(directory.path().join("heap")).unwrap()
}

fn asked(index: &Index) {
    index.settle();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), 1999);
    assert_eq!(reader.count("+key:key9 +all").unwrap(), 1);
    assert_eq!(index.stats().unwrap().documents, 1999);
}

/// A log with an explicit key may kill rows when it is replayed. After an orderly close it has done
/// so, though the only segment has no dead row.
#[test]
fn a_replay_after_an_orderly_close_does_not_touch_the_file() {
    let directory = Directory::new();
    let index = open(&directory, Mode::Crash, OnFull::Refuse);
    (0..1000).for_each(|_| assert!(index.add("all").is_ok()));
    index.flush().unwrap();
    index.settle();
    index.put("key", "all").unwrap();
    index.close().unwrap();
    let before = bytes(&directory);
    for _ in 0..2 {
        let index = open(&directory, Mode::Crash, OnFull::Refuse);
        assert_eq!(index.start_report().replayed, 1);
        assert_eq!(index.reader().unwrap().count("all").unwrap(), 1001);
        index.settle();
        assert!(bytes(&directory) == before, "touched while it was asked");
        assert!(Index::check(directory.killed().path()).unwrap().closed);
        index.close().unwrap();
    }
}

/// It said that it was open as soon as it was opened, so a kill while it was searched made a
/// graceful index useless.
#[test]
fn an_index_that_is_asked_and_nothing_else_is_not_touched() {
    for (mode, on_full) in KINDS {
        let directory = made(mode, on_full);
        let before = bytes(&directory);
        let index = open(&directory, mode, on_full);
        asked(&index);
        assert!(bytes(&directory) == before, "{mode} {on_full:?}: touched while it was asked");
        let killed = directory.killed();
        index.close().unwrap();
        assert!(bytes(&directory) == before, "{mode} {on_full:?}: touched when it was closed");
        asked(&open(&killed, mode, on_full));
    }
}

#[test]
fn whatever_changes_it_says_that_it_is_open() {
    type Change = fn(&Index);
    let changes: [Change; 4] = [
        |index| assert!(index.add("all of it").is_ok()),
        |index| index.put("key5", "another").unwrap(),
        |index| assert!(index.delete("key5").unwrap()),
        |index| assert!(index.add_all([(None, "one more")]).is_ok()),
    ];
    for (mode, on_full) in KINDS {
        for change in changes {
            let directory = made(mode, on_full);
            let index = open(&directory, mode, on_full);
            change(&index);
            let killed = directory.killed();
            assert!(!Index::check(killed.path()).unwrap().closed);
            match try_open(&killed, mode, on_full) {
                Err(OpenError::Unclean { .. }) => assert_eq!(mode, Mode::Graceful),
                Err(error) => panic!("{error}"),
                Ok(opened) => {
                    assert_eq!(mode, Mode::Crash);
                    assert_eq!(opened.accepted(), index.accepted());
                }
            }
            index.close().unwrap();
            assert!(Index::check(directory.path()).unwrap().closed);
            open(&directory, mode, on_full);
        }
    }
}

/// After a kill the next orderly end says that the index is closed, though nothing was changed in
/// between.
#[test]
fn what_was_killed_is_closed_by_the_next_orderly_end() {
    for on_full in [OnFull::DropOldest, OnFull::Refuse] {
        let directory = made(Mode::Crash, on_full);
        let index = open(&directory, Mode::Crash, on_full);
        index.add("all of it").unwrap();
        let killed = directory.killed();
        open(&killed, Mode::Crash, on_full).close().unwrap();
        let report = Index::check(killed.path()).unwrap();
        assert!(report.closed && report.is_sound(), "{report}");
        assert_eq!(open(&killed, Mode::Crash, on_full).accepted(), index.accepted());
    }
}
