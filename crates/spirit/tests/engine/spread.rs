//! Documents that several executors take side by side: their order is that in which they were given, and nothing is lost or there twice.

use std::collections::HashSet;
use std::thread;

use spirit::{Analyzer, Batch, Builder, Document, Index, OnFull, Search, WriteError};

use crate::support::directory::Directory;
use crate::support::{Chance, join, tiny};

const MIB: u64 = 1 << 20;

fn options(executors: usize) -> Builder {
    tiny(executors, 16 * MIB).segment_bytes(256 << 10).analyzer(Analyzer::Simple)
}

fn durable(directory: &Directory, executors: usize) -> Builder {
    let bytes = executors as u64;
    options(executors).directory(directory.path()).nvm_bytes(bytes * 32 * MIB)
}

/// A document with a number as its text. Some have a key, and of those some replace one before.
fn document(chance: &mut Chance, number: u64) -> (Option<String>, String) {
    let key = match chance.below(8) {
        0..4 => None,
        4..6 => Some(format!("key {}", chance.below(1500))),
        6 => Some(format!("key {number}")),
        // A number above all automatic ones.
        _ => Some((chance.below(6000) + 50_000).to_string()),
    };
    (key, format!("all n{number} w{}", chance.below(50)))
}

/// The texts that are there, newest first.
fn newest(index: &Index) -> Vec<String> {
    let hits = index.searcher().search("all", Search::newest(usize::MAX)).unwrap();
    hits.iter().map(|hit| hit.text().unwrap().to_owned()).collect()
}

/// The same of documents in order, of which later ones replace others.
fn expected(documents: &[(Option<String>, String)]) -> Vec<String> {
    let mut seen = HashSet::new();
    let left = documents.iter().rev().filter(|(key, _)| key.is_none() || seen.insert(key));
    left.map(|(_, text)| text.clone()).collect()
}

fn given(documents: &[(Option<String>, String)]) -> impl Iterator<Item = Document<'_>> {
    documents.iter().map(|(key, text)| Document::from((key.as_deref(), text.as_str())))
}

#[test]
fn the_order_is_that_in_which_documents_were_given() {
    for executors in [2, 3] {
        let mut chance = Chance::new(executors as u64);
        let documents: Vec<_> = (0..9800).map(|n| document(&mut chance, n)).collect();
        let directory = Directory::new();
        let index = durable(&directory, executors).store(true).open().unwrap();
        let (rounds, groups) = documents.split_at(5500);
        let (first, second) = rounds.split_at(300);
        assert_eq!(index.add_all(given(first)), Ok(first.len() as u64));
        assert_eq!(index.add_all(given(second)), Ok(second.len() as u64));
        for group in groups.chunks(1700) {
            index.write(Batch::from_iter(given(group)).offset(b"there")).unwrap();
        }
        let expected = expected(&documents);
        assert!(newest(&index) == expected, "{executors} executors");
        let killed = directory.killed();
        let again = durable(&killed, executors).store(true).open().unwrap();
        assert!(newest(&again) == expected, "{executors} executors, after a kill");
        index.close().unwrap();
        let again = durable(&directory, executors).store(true).open().unwrap();
        assert!(newest(&again) == expected, "{executors} executors, after a start");
    }
}

/// What comes before a document that is refused is in, and nothing behind it.
#[test]
fn a_refused_document_is_named_and_those_before_it_are_in() {
    let index = options(2).open().unwrap();
    let small = || Document::from("all small").field("size", 1);
    let no_number = Document::from("all odd").field("size", "x").field("size", "y");
    let long = "x".repeat(600);
    let bad: [Document<'_>; 2] = [no_number, Document::from("all").key(&long)];
    let mut total = 0;
    for (bad, at) in bad.into_iter().zip([700, 5000]) {
        let documents = (0..9000).map(|n| if n == at { bad.clone() } else { small() });
        match index.add_all(documents).unwrap_err() {
            WriteError::AfterSome { added, .. } => assert_eq!(added, at),
            other => panic!("{other}"),
        }
        total += at;
        assert_eq!(index.searcher().count("all").unwrap(), total);
    }
}

/// A document that needs a segment of its own goes in between the others, or is named.
#[test]
fn large_documents_keep_their_place() {
    let index = options(2).store(true).open().unwrap();
    let large = format!("all large {}", "word ".repeat(3000));
    // More different words than a segment has room for.
    let too_large: String = (0..40_000).map(|n| format!("t{n} ")).collect();
    let text = |n: usize| match n {
        1500 => large.clone(),
        2500 => too_large.clone(),
        _ => format!("all n{n}"),
    };
    let texts: Vec<_> = (0..3000).map(text).collect();
    let error = index.add_all(texts.iter().map(Document::from)).unwrap_err();
    let WriteError::AfterSome { added, error } = error else { panic!("{error}") };
    assert_eq!(added, 2500);
    assert!(matches!(*error, WriteError::DocumentTooLarge { .. }), "{error}");
    let there = newest(&index);
    assert!(there.iter().rev().eq(&texts[..2500]));
}

/// Others add one by one meanwhile. Each document is there once, and each thread's in its order.
#[test]
fn others_add_beside_it() {
    let index = options(3).store(true).open().unwrap();
    let of = |thread: u64, n: u64| format!("all thread{thread} n{n}");
    thread::scope(|scope| {
        let many = scope.spawn(|| {
            let texts: Vec<_> = (0..6000).map(|n| of(0, n)).collect();
            index.add_all(texts.iter().map(Document::from)).unwrap();
        });
        let single = (1..3u64).map(|thread| {
            let index = &index;
            scope.spawn(move || {
                for n in 0..2000 {
                    let text = of(thread, n);
                    match thread {
                        1 => index.add(&text).map(drop).unwrap(),
                        _ => index.put(&format!("k{n}"), &text).unwrap(),
                    }
                }
            })
        });
        join(single.collect::<Vec<_>>());
        join([many]);
    });
    let there = newest(&index);
    assert_eq!(there.len(), 10_000);
    for (thread, count) in [(0, 6000), (1, 2000), (2, 2000)] {
        let own = there.iter().rev().filter(|text| text.contains(&format!("thread{thread} ")));
        assert!(own.eq((0..count).map(|n| of(thread, n)).collect::<Vec<_>>().iter()), "{thread}");
    }
    let keys = index.searcher().search("all", Search::newest(usize::MAX)).unwrap().keys().unwrap();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 10_000);
}

/// Automatic keys of an executor ascend with its rows: a key is looked up by that.
#[test]
fn each_automatic_key_finds_its_document() {
    (0..3).for_each(|_| keys_find_documents_that_threads_add_together());
}

fn keys_find_documents_that_threads_add_together() {
    let index = options(2).store(true).open().unwrap();
    let text = |thread: u64, n: u64| format!("all thread{thread} n{n}");
    thread::scope(|scope| {
        let add = |thread: u64| {
            let index = &index;
            scope.spawn(move || {
                for n in 0..2400 {
                    let text = text(thread, n);
                    match thread {
                        0 => _ = index.add_all([&*text, &*text]).unwrap(),
                        _ => _ = index.add(&text).unwrap(),
                    }
                }
            })
        };
        join([0, 1, 2].map(add));
    });
    let hits = index.searcher().search("all", Search::newest(usize::MAX)).unwrap();
    assert_eq!(hits.len(), 9600);
    let mut reader = index.reader().unwrap();
    for hit in hits.iter() {
        let key = hit.key().unwrap().to_string();
        let found = reader.search(format!("key:{key}").as_str(), Search::newest(2)).unwrap();
        let texts: Vec<_> = found.iter().map(|hit| hit.text().unwrap().to_owned()).collect();
        assert_eq!(texts, [hit.text().unwrap()], "{key}");
    }
}

/// Numbers are drawn for a round while the one before is being written, whose documents may have them as keys.
#[test]
fn nobody_has_the_number_of_a_later_round_as_a_key() {
    for executors in [2, 3] {
        let index = options(executors).open().unwrap();
        let keys: Vec<String> = (0..1500).map(|n| (5000 + n).to_string()).collect();
        let document = |n: usize| match keys.get(n) {
            Some(key) => Document::from("all").key(key),
            None => Document::from("all"),
        };
        index.add_all((0..9900).map(document)).unwrap();
        let hits = index.searcher().search("all", Search::newest(usize::MAX)).unwrap();
        let keys = hits.keys().unwrap();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 9900);
    }
}

/// What comes before the first document without room is in. Behind it is what another executor's thread wrote ahead.
#[test]
fn all_before_a_document_without_room_are_in() {
    let index = options(2).on_full(OnFull::Refuse).store(true).open().unwrap();
    let texts: Vec<String> =
        (0..200_000).map(|n| format!("all w{n} {}", "x".repeat(200))).collect();
    let error = index.add_all(texts.iter().map(Document::from)).unwrap_err();
    let WriteError::AfterSome { added, .. } = error else { panic!("{error}") };
    let mut reader = index.reader().unwrap();
    let count = reader.count("all").unwrap();
    assert!(added > 20_000 && count >= added, "{added} {count}");
    assert!(count < added + 30_000, "{added} {count}");
    for n in [0, 1, added / 2, added - 1] {
        assert_eq!(reader.count(format!("w{n}").as_str()).unwrap(), 1, "{n}");
    }
}
