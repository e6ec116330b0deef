//! A full heap is a state, not an accident: under `Refuse` the error comes and comes again and nothing that was
//! acknowledged is lost; under `DropOldest` there is no error at all; and an index can always be closed.
//!
//! What may hang runs on a thread of its own that is given `following::PATIENCE`: a bound on hanging, not on speed.

use spirit::{Index, OnFull, WriteError};

use crate::support::directory::Directory;
use crate::support::{Chance, comes_back, tiny};

/// Streams that fill different structures first.
const KINDS: [&str; 5] = [
    "own words",
    "few words",
    "dense words and many rows",
    "keys and long words",
    "keys and little else",
];

fn document(kind: usize, n: u64) -> (Option<String>, String) {
    let mut chance = Chance::new(n);
    match kind {
        0 => (None, format!("own{n} mine{n} word{}", n % 50)),
        1 => (None, format!("word{} other{} third{}", n % 50, n % 60, n % 70)),
        2 => {
            let [a, b, c] = [0; 3].map(|_: u32| chance.below(60));
            (None, format!("a{a} b{b} c{c} a{a} a{a} a{a} a{a} a{a}"))
        }
        3 => (Some(format!("key{n}")), format!("averylongwordthatdoesnotfitakey{}", n % 500)),
        _ => (Some(format!("k{n:x}")), format!("word{}", n % 10)),
    }
}

fn add(index: &Index, kind: usize, n: u64) -> Result<(), WriteError> {
    let (key, text) = document(kind, n);
    match key {
        Some(key) => index.put(&key, &text),
        None => index.add(&text).map(drop),
    }
}

/// Adds until the heap is full; returns how many went in.
fn fill(index: &Index, kind: usize) -> u64 {
    let mut n = 0;
    loop {
        match add(index, kind, n) {
            Ok(()) => n += 1,
            Err(WriteError::HeapFull | WriteError::KeysFull) => return n,
            Err(other) => panic!("{}: after {n} documents: {other}", KINDS[kind]),
        }
    }
}

/// Of `all` documents in the index, the first `added` are of this kind.
fn everything_is_there(index: &Index, kind: usize, added: u64, all: u64) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("*").unwrap(), all, "{}", KINDS[kind]);
    for n in (0..added).step_by(1 + added as usize / 500) {
        let (key, text) = document(kind, n);
        let key = key.unwrap_or_else(|| n.to_string());
        for word in text.split(' ') {
            let query = format!("+key:{key} +{word}");
            assert_eq!(reader.count(&query).unwrap(), 1, "{query} ({})", KINDS[kind]);
        }
    }
}

fn refuses(kind: usize) {
    for executors in [1, 3] {
        let index = tiny(executors, 1 << 20).on_full(OnFull::Refuse).open().unwrap();
        let added = fill(&index, kind);
        assert!(added > 500, "full after {added}: {}", KINDS[kind]);
        everything_is_there(&index, kind, added, added);
        // A smaller document may still find a place. What is said to be in is there, what is refused is not.
        let count = |query: &str| index.reader().unwrap().count(query).unwrap();
        let (mut all, mut refused) = (count("*"), 0);
        // The key table is full for one key before it is for all of them, hence the many tries.
        for n in 0..100_000 {
            if n >= 2000 && refused > 100 {
                break;
            }
            let word = format!("more{n}");
            let taken = match n % 2 {
                0 => index.add(&word).map(drop),
                _ => index.put(&format!("more{n}"), &word),
            };
            match taken {
                Ok(()) => all += 1,
                Err(WriteError::HeapFull | WriteError::KeysFull) => refused += 1,
                Err(other) => panic!("{other}"),
            }
            assert_eq!(count(&word), u64::from(taken.is_ok()), "{word}: {taken:?}");
            if n % 20 == 0 {
                assert_eq!(count("*"), all, "after {word}: {taken:?}");
            }
        }
        assert!(refused > 100, "refused only {refused}: {}", KINDS[kind]);
        everything_is_there(&index, kind, added, all);
        assert_eq!(index.accepted(), all, "what was refused does not count as accepted");
        drop(index);
    }
}

#[test]
fn a_full_heap_refuses_own_words_and_loses_nothing() {
    comes_back(|| refuses(0));
}

#[test]
fn a_full_heap_refuses_few_words_and_loses_nothing() {
    comes_back(|| refuses(1));
}

#[test]
fn a_full_heap_refuses_dense_words_and_loses_nothing() {
    comes_back(|| refuses(2));
}

#[test]
fn a_full_heap_refuses_keys_and_loses_nothing() {
    comes_back(|| refuses(3));
}

fn drops_the_oldest(kind: usize) {
    let index = tiny(1, 1 << 20).on_full(OnFull::DropOldest).open().unwrap();
    for n in 0..100_000 {
        add(&index, kind, n).unwrap_or_else(|error| panic!("{}: {n}: {error}", KINDS[kind]));
    }
    let mut reader = index.reader().unwrap();
    let (_, text) = document(kind, 99_999);
    let query = text.replace(' ', " AND ");
    assert!(reader.count(&query).unwrap() >= 1, "{query} is the newest");
}

#[test]
fn dropping_the_oldest_never_fails_for_own_words() {
    comes_back(|| drops_the_oldest(0));
}

#[test]
fn dropping_the_oldest_never_fails_for_few_words() {
    comes_back(|| drops_the_oldest(1));
}

#[test]
fn dropping_the_oldest_never_fails_for_dense_words() {
    comes_back(|| drops_the_oldest(2));
}

#[test]
fn dropping_the_oldest_never_fails_for_keys() {
    comes_back(|| drops_the_oldest(3));
}

/// The key table has a fixed number of slots; documents of one word come with more keys than that.
#[test]
fn dropping_the_oldest_never_fails_for_keys_and_little_else() {
    comes_back(|| drops_the_oldest(4));
}

/// Segments of one document each: there is memory enough for more of them than there are slots.
#[test]
fn segments_run_out_before_memory_does() {
    comes_back(|| {
        let index = tiny(1, 64 << 20).on_full(OnFull::Refuse).open().unwrap();
        let mut added = 0;
        let refused = loop {
            match add(&index, 0, added).and_then(|()| index.flush()) {
                Ok(()) => added += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(refused, WriteError::HeapFull);
        let stats = index.stats().unwrap();
        assert!(stats.segments.len() > 1000, "{}", stats.segments.len());
        // The last one is in, and was not flushed.
        everything_is_there(&index, 0, added + 1, added + 1);
        assert_eq!(add(&index, 0, added + 1), Err(WriteError::HeapFull));
    });
}

#[test]
fn a_full_index_settles_and_closes() {
    comes_back(|| {
        let index = tiny(1, 1 << 20).on_full(OnFull::Refuse).open().unwrap();
        let added = fill(&index, 1);
        index.settle();
        everything_is_there(&index, 1, added, added);
    });
}

/// Words that no other document has fill the merged dictionary long before the rest of the file.
#[test]
fn own_words_fill_the_file_and_not_its_dictionary_alone() {
    comes_back(|| {
        let folder = Directory::new();
        let options = || Index::builder().directory(folder.path()).dram_bytes(24 << 20);
        let options = || options().nvm_bytes(32 << 20).log_bytes(4 << 20).segment_bytes(512 << 10);
        let index = options().on_full(OnFull::Refuse).open().unwrap();
        let added = fill(&index, 0);
        let stats = index.stats().unwrap();
        let is_full = |name: &str| {
            let found = stats.partitions.iter().find(|partition| partition.name == name).unwrap();
            found.used * 10 > found.bytes * 9
        };
        assert!(is_full("nvm dictionary"), "{added}: {:?}", stats.partitions);
        // A segment needs a slot, however little is in it.
        let rest = is_full("nvm long-term") || is_full("nvm slots");
        assert!(rest, "{added}: {:?}", stats.partitions);
        everything_is_there(&index, 0, added, added);
        index.close().unwrap();
        let index = options().open().unwrap();
        everything_is_there(&index, 0, added, added);
    });
}
