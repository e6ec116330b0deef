//! Automatic keys: `add` says which, no two documents get the same one, and `accepted` counts documents, not numbers; whatever
//! is refused, no matter who else adds, and across kills.

use std::collections::BTreeSet;

use spirit::{Analyzer, Index, WriteError};

use crate::support::directory::Directory;
use crate::support::join;

const SEGMENT_BYTES: u64 = 64 << 10;

fn open(directory: &Directory, executors: usize) -> Index {
    Index::builder()
        .directory(directory.path())
        .executors(executors)
        .dram_bytes(executors as u64 * (4 << 20))
        .nvm_bytes(executors as u64 * (8 << 20))
        .log_bytes(1 << 20)
        .segment_bytes(SEGMENT_BYTES)
        .document_bytes_max(100 << 10)
        .analyzer(Analyzer::Simple)
        .open()
        .unwrap()
}

/// More distinct words than a segment has room for.
fn too_large() -> String {
    (0..6000).map(|n| format!("large{n} ")).collect()
}

/// Kills the process that has the index, and starts another.
fn killed(directory: &mut Directory, index: Index, executors: usize) -> Index {
    index.settle();
    let copy = directory.killed();
    drop(index);
    *directory = copy;
    open(directory, executors)
}

#[track_caller]
fn holds(index: &Index, number: u64, word: &str) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count(&format!("+key:{number} +{word}")).unwrap(), 1, "{number} {word}");
}

/// What is refused in one executor had taken a number that no other document got, and was counted as accepted after a start.
#[test]
fn to_one_thread_a_key_is_the_number_of_documents_accepted_before() {
    for executors in [1, 3] {
        let mut directory = Directory::new();
        let mut index = open(&directory, executors);
        let (mut accepted, mut numbers) = (0, Vec::new());
        for round in 0..60u64 {
            let number = index.add(&format!("added{round}")).unwrap();
            assert_eq!(number, accepted, "{executors} executors");
            numbers.push((number, format!("added{round}")));
            accepted += 1;
            let refused = match round % 3 {
                0 => index.add(&too_large()).map(drop),
                1 => index.put(&format!("large{round}"), &too_large()),
                _ => index.put("", "no key"),
            };
            assert!(
                matches!(
                    refused,
                    Err(WriteError::DocumentTooLarge { .. } | WriteError::Key { .. })
                ),
                "{refused:?}"
            );
            for key in 0..round % 4 {
                index.put(&format!("own{key}"), &format!("put{round}")).unwrap();
                accepted += 1;
            }
            assert!(index.delete(&format!("own{}", round % 5)).is_ok());
            assert_eq!(index.accepted(), accepted);
            if round % 7 == 6 {
                index = killed(&mut directory, index, executors);
                assert_eq!(index.accepted(), accepted, "after a kill, {executors} executors");
            }
            if round % 20 == 19 {
                index.close().unwrap();
                index = open(&directory, executors);
                assert_eq!(index.accepted(), accepted, "after closing, {executors} executors");
            }
        }
        for (number, word) in numbers {
            holds(&index, number, &word);
        }
    }
}

/// Each of several threads gets the key that its document has.
#[test]
fn several_threads_get_numbers_of_their_own() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 3;
    for executors in [1, 3] {
        let mut directory = Directory::new();
        let mut index = open(&directory, executors);
        let mut all = BTreeSet::new();
        let mut accepted = 0;
        for round in 0..ROUNDS {
            let of_threads = std::thread::scope(|scope| {
                let index = &index;
                join((0..THREADS).map(|thread| {
                    scope.spawn(move || of_one_thread(index, &format!("r{round}t{thread}")))
                }))
            });
            for (numbers, puts) in of_threads {
                accepted += numbers.len() as u64 + puts;
                for (number, word) in numbers {
                    holds(&index, number, &word);
                    assert!(all.insert(number), "{number} was given twice");
                }
            }
            assert_eq!(index.accepted(), accepted);
            index = killed(&mut directory, index, executors);
            assert_eq!(index.accepted(), accepted, "after a kill, {executors} executors");
            if executors == 1 {
                assert!(all.last() < Some(&accepted), "one executor leaves no number out");
            }
        }
    }
}

/// The numbers that a thread was given, with a word of the document, and how many documents with keys of their own it added.
fn of_one_thread(index: &Index, name: &str) -> (Vec<(u64, String)>, u64) {
    let (mut numbers, mut puts) = (Vec::new(), 0);
    for n in 0..200 {
        match n % 10 {
            3 => assert!(index.add(&too_large()).is_err()),
            5 => {
                index.put(&format!("{name}k{n}"), "put").unwrap();
                puts += 1;
            }
            _ => {
                let word = format!("{name}n{n}");
                numbers.push((index.add(&word).unwrap(), word));
            }
        }
    }
    (numbers, puts)
}
