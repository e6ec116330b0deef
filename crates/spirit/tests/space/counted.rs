//! Every document that was accepted lives, was replaced or deleted, or was dropped with its segment: the three add up, across
//! closing and kills, with whatever policy.

use spirit::{Analyzer, Index, Mode, OnFull};

use crate::support::directory::Directory;
use crate::support::following::follow;

fn open(directory: &Directory, mode: Mode, on_full: OnFull, executors: usize) -> Index {
    let each = executors as u64;
    Index::builder()
        .directory(directory.path())
        .mode(mode)
        .executors(executors)
        .dram_bytes(each * (8 << 20))
        .nvm_bytes(each * if on_full == OnFull::DropOldest { 1 << 20 } else { 16 << 20 })
        .log_bytes(64 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
        .open()
        .unwrap()
}

/// Until rows have been looked at, which waits for merges, a start's guess at what died stands: one a segment.
fn guessed(index: &Index) -> u64 {
    index.stats().unwrap().segments.len() as u64
}

/// Checks the sum, and says how many were replaced or deleted.
#[track_caller]
fn adds_up(index: &Index) -> u64 {
    index.settle();
    let stats = index.stats().unwrap();
    let found = index.reader().unwrap().count("*").unwrap();
    let living = stats.documents..=stats.documents + guessed(index);
    assert!(living.contains(&found), "{found} found, {living:?} live");
    assert_eq!(
        stats.documents + stats.deleted + stats.expired,
        stats.accepted,
        "{} live, {} deleted, {} expired",
        stats.documents,
        stats.deleted,
        stats.expired
    );
    stats.deleted
}

/// A process that only reads, without a writer, guesses nothing.
#[track_caller]
fn follower_counts_exactly(directory: &Directory) {
    let index = follow(directory.path());
    let stats = index.stats().unwrap();
    let found = index.reader().unwrap().count("*").unwrap();
    assert_eq!(stats.documents, found);
    assert_eq!(stats.documents + stats.deleted + stats.expired, stats.accepted);
}

fn run(mode: Mode, on_full: OnFull, executors: usize) {
    let mut directory = Directory::new();
    let mut index = open(&directory, mode, on_full, executors);
    let (mut deleted, mut expired) = (0, 0);
    for round in 0..12u64 {
        for n in 0..1500 {
            match n % 3 {
                0 => index.put(&format!("key{}", n % 200), &format!("w{n} again")).unwrap(),
                _ => index.add(&format!("w{n} own{}", n % 300)).map(drop).unwrap(),
            }
        }
        for n in 0..20 {
            index.delete(&format!("key{}", n * 3)).unwrap();
            index.delete("nobody").unwrap();
        }
        let before = adds_up(&index);
        assert!(before > deleted, "{mode} {on_full:?}: {before} after {deleted}");
        deleted = before;
        if mode == Mode::Crash && round % 2 == 1 {
            let killed = directory.killed();
            drop(index);
            directory = killed;
        } else {
            index.close().unwrap();
        }
        follower_counts_exactly(&directory);
        index = open(&directory, mode, on_full, executors);
        let after = adds_up(&index);
        assert!(
            after + guessed(&index) >= deleted,
            "{mode} {on_full:?}: {after} after a start, {deleted} before"
        );
        // What is dropped while a log is replayed is not replaced by what comes after it.
        assert!(after == deleted || on_full == OnFull::DropOldest);
        deleted = after;
        expired = index.stats().unwrap().expired;
    }
    assert_eq!(expired > 0, on_full == OnFull::DropOldest);
}

#[test]
fn what_was_replaced_or_deleted_is_counted_over_the_life_of_the_index() {
    for mode in [Mode::Graceful, Mode::Crash] {
        for executors in [1, 2] {
            run(mode, OnFull::Refuse, executors);
        }
    }
}

#[test]
fn what_was_dropped_is_counted_apart() {
    for mode in [Mode::Graceful, Mode::Crash] {
        for executors in [1, 2] {
            run(mode, OnFull::DropOldest, executors);
        }
    }
}
