//! What is done to a segment while it is engraved, and where in the log it ends.

use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Analyzer, Index, OnFull};

use crate::support::Chance;
use crate::support::directory::Directory;

fn open(directory: &Directory, engrave: EngravePolicy) -> Index {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(8 << 20)
        .nvm_bytes(32 << 20)
        .log_bytes(2 << 20)
        .document_bytes_max(64 << 10)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .engrave(engrave)
        .pointer_update(PointerUpdate::Eager)
        .on_full(OnFull::Refuse)
        .open()
        .unwrap()
}

fn count(index: &Index, query: &str) -> u64 {
    index.reader().unwrap().count(query).unwrap()
}

/// A row may die when it was copied and the copy is not known yet: the death is carried over, or a version that was replaced
/// comes back with the copy.
#[test]
fn documents_that_are_replaced_while_their_segment_is_engraved_are_found_once() {
    const KEYS: u64 = 200;
    let directory = Directory::new();
    let index = open(&directory, EngravePolicy::Eager);
    let mut chance = Chance::new(1);
    // Any document may be replaced at any time, so some are that were copied a moment ago. A segment is full of terms, so
    // that engraving it takes a while.
    let mut put = |index: &Index, number: u64, key: u64| {
        let words: String = (0..20).map(|_| format!(" w{}", chance.below(5000))).collect();
        index.put(&format!("k{key}"), &format!("all v{number}{words}")).unwrap();
        chance.below(KEYS)
    };
    for key in 0..KEYS {
        put(&index, key, key);
    }
    let mut key = 0;
    for number in KEYS..60 * KEYS {
        key = put(&index, number, key);
        if number % 1000 == 0 {
            assert_eq!(count(&index, "all"), KEYS, "after {number}");
        }
    }
    index.flush().unwrap();
    assert!(index.stats().unwrap().engraved.0 > 10);
    assert_eq!(count(&index, "all"), KEYS);
    index.close().unwrap();
    let index = open(&directory, EngravePolicy::Eager);
    assert_eq!(count(&index, "all"), KEYS);
    index.settle();
    assert_eq!(count(&index, "all"), KEYS);
}

/// A start fills its segments anew, so one may end within a record; the next start takes the rest of that record, and no more.
#[test]
fn a_segment_that_ends_within_a_record_has_its_part_of_it() {
    const DOCUMENTS: u64 = 4000;
    let directory = Directory::new();
    let text = |n: u64| format!("all n{n} w{} w{}", n % 7, n % 100);
    let index = open(&directory, EngravePolicy::Lazy);
    // The next start does not end its segments where these end.
    for first in 0..3 {
        index.add(&text(first)).unwrap();
        index.flush().unwrap();
    }
    let texts: Vec<String> = (3..DOCUMENTS).map(text).collect();
    index.add_all(texts.iter().map(|text| (None, text.as_str()))).unwrap();
    index.settle();
    let mut killed = directory.killed();
    drop(index);
    for start in 0..4 {
        let index = open(&killed, EngravePolicy::Eager);
        assert_eq!(count(&index, "all"), DOCUMENTS, "start {start}");
        assert_eq!(index.accepted(), DOCUMENTS);
        index.settle();
        killed = killed.killed();
        drop(index);
    }
}
