//! An index can be closed in an orderly way whatever fills it, and the next start finds what it had accepted: all of it, or the
//! newest of it where the oldest make room.

use std::ops::Range;

use spirit::{Analyzer, Index, Mode, OnFull, Search, WriteError};

use crate::support::comes_back;
use crate::support::directory::Directory;

/// Streams that fill different structures first.
const KINDS: usize = 4;

fn document(kind: usize, n: u64) -> (Option<String>, String) {
    match kind {
        0 => (None, format!("all own{n} mine{n} word{}", n % 50)),
        1 => (None, format!("all word{} other{} third{}", n % 50, n % 60, n % 70)),
        2 => (Some(format!("key{n}")), format!("all averylongwordthatdoesnotfitakey{}", n % 500)),
        _ => (None, format!("all long{} {}", n % 9, "word ".repeat(600))),
    }
}

fn open(directory: &Directory, mode: Mode, on_full: OnFull) -> Index {
    // An index that is there gets more DRAM: how much one that is full needs is another matter.
    let dram_bytes = if directory.path().join("heap").exists() { 4 << 20 } else { 2 << 20 };
    Index::builder()
        .directory(directory.path())
        .mode(mode)
        .dram_bytes(dram_bytes)
        .nvm_bytes(1 << 20)
        .log_bytes(64 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
        .open()
        .unwrap()
}

fn add(index: &Index, kind: usize, n: u64) -> Result<(), WriteError> {
    match document(kind, n) {
        (Some(key), text) => index.put(&key, &text),
        (None, text) => index.add(&text).map(drop),
    }
}

/// Adds until the index is full, and goes on trying for a while.
fn fill(index: &Index, kind: usize) -> u64 {
    let (mut added, mut refused) = (0, 0);
    while refused < 50 {
        match add(index, kind, added) {
            Ok(()) => added += 1,
            Err(WriteError::HeapFull | WriteError::KeysFull) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    added
}

/// The newest `held` of `added` documents are there, each under its key.
fn holds(index: &Index, kind: usize, added: u64, held: u64) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), held, "kind {kind}");
    drop(reader);
    newest_are_there(index, kind, added - held..added);
}

fn newest_are_there(index: &Index, kind: usize, numbers: Range<u64>) {
    let mut reader = index.reader().unwrap();
    let step = 1 + (numbers.end - numbers.start) as usize / 300;
    for n in numbers.step_by(step) {
        let (key, text) = document(kind, n);
        let key = key.unwrap_or_else(|| n.to_string());
        let second = text.split(' ').nth(1).unwrap();
        let query = format!("+key:{key} +{second}");
        assert_eq!(reader.count(&query).unwrap(), 1, "{query}");
    }
}

fn refuses_and_closes(mode: Mode) {
    for kind in 0..KINDS {
        let directory = Directory::new();
        let mut index = open(&directory, mode, OnFull::Refuse);
        let mut added = 0;
        for round in 0..3 {
            added += if round == 0 { fill(&index, kind) } else { 0 };
            assert!(added > 100, "full after {added}");
            holds(&index, kind, added, added);
            index.close().unwrap_or_else(|error| panic!("{mode}, kind {kind}: {error}"));
            index = open(&directory, mode, OnFull::Refuse);
            assert_eq!(index.accepted(), added);
        }
        holds(&index, kind, added, added);
    }
}

#[test]
fn a_graceful_index_that_refuses_closes_when_it_is_full() {
    comes_back(|| refuses_and_closes(Mode::Graceful));
}

#[test]
fn a_crash_consistent_index_that_refuses_closes_when_it_is_full() {
    comes_back(|| refuses_and_closes(Mode::Crash));
}

/// The segments that had found no room yet were forgotten, and the index said that it was closed in an orderly way.
fn drops_and_closes(mode: Mode) {
    for kind in 0..KINDS {
        let directory = Directory::new();
        let mut index = open(&directory, mode, OnFull::DropOldest);
        let mut added = 0;
        for _ in 0..12 {
            for _ in 0..3000 {
                add(&index, kind, added).unwrap();
                added += 1;
            }
            index.close().unwrap();
            index = open(&directory, mode, OnFull::DropOldest);
            assert_eq!(index.accepted(), added);
            // Merging may find that more of the oldest has to go.
            index.settle();
            let (key, _) = document(kind, added - 1);
            let mut reader = index.reader().unwrap();
            let hits = reader.search("all", Search::newest(1)).unwrap();
            assert_eq!(hits.keys().unwrap(), [key.unwrap_or((added - 1).to_string())]);
            drop(hits);
            let held = reader.count("all").unwrap();
            drop(reader);
            assert!(held > 100, "{held} held");
            newest_are_there(&index, kind, added - held..added);
        }
    }
}

#[test]
fn a_graceful_index_that_drops_its_oldest_closes_with_its_newest() {
    comes_back(|| drops_and_closes(Mode::Graceful));
}

#[test]
fn a_crash_consistent_index_that_drops_its_oldest_closes_with_its_newest() {
    comes_back(|| drops_and_closes(Mode::Crash));
}

/// Nobody would make room for the one who waits, and he would not let go of the index.
fn waits_and_closes(mode: Mode) {
    for kind in 0..KINDS {
        let directory = Directory::new();
        let full = Directory::new();
        let added = fill(&open(&full, mode, OnFull::Refuse), kind);
        let index = open(&directory, mode, OnFull::Wait);
        let mut taken = 0;
        // Enough that closing finds little room, and as many as fit without waiting.
        while taken < added * 2 / 3 {
            add(&index, kind, taken).unwrap();
            taken += 1;
        }
        index.close().unwrap();
        let index = open(&directory, mode, OnFull::Wait);
        assert_eq!(index.accepted(), taken);
        holds(&index, kind, taken, taken);
    }
}

#[test]
fn an_index_that_waits_closes_when_it_is_rather_full() {
    comes_back(|| [Mode::Graceful, Mode::Crash].into_iter().for_each(waits_and_closes));
}
