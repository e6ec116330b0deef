//! Stored texts where they are hard: long ones, many, none, full segments and heaps, and readers in the way of those who move
//! them. That every answer has the right ones is the matter of the oracle suites.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Analyzer, Builder, HitError, Index, OnFull, Search, WriteError};

use crate::support::directory::Directory;
use crate::support::{Chance, join, tiny};

const MIB: usize = 1 << 20;

/// A text of about `bytes` bytes that cannot be compressed much, with the words `all` and `n{number}`.
fn long(number: u64, bytes: usize) -> String {
    let mut chance = Chance::new(number);
    let mut text = format!("all n{number} ");
    while text.len() < bytes {
        text.extend(char::from_u32(0x2190 + chance.below(112) as u32));
    }
    text
}

fn in_directory(directory: &Directory) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(64 << 20)
        .segment_bytes(2 << 20)
        .nvm_bytes(128 << 20)
        .analyzer(Analyzer::Simple)
        .store(true)
}

/// The texts of what `query` finds, newest first.
fn texts(index: &Index, query: &str) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    reader.search(query, Search::newest(10_000)).unwrap().texts().unwrap()
}

fn assert_holds(index: &Index, newest_first: &[String]) {
    let found = texts(index, "all");
    assert_eq!(found.len(), newest_first.len());
    for (number, (found, expected)) in found.iter().zip(newest_first).enumerate() {
        assert!(found == expected, "text {number}: {} bytes, not {}", found.len(), expected.len());
    }
}

/// Texts of every length about those at which a block, a part and a chunk end, from the fresh segment to a second start.
#[test]
fn texts_of_any_length_are_kept_through_all_stages() {
    let directory = Directory::new();
    let index = in_directory(&directory).pointer_update(PointerUpdate::Eager).open().unwrap();
    let about = |at: usize| [at - 9, at - 1, at, at + 1, at + 9];
    let lengths = [16 << 10, 32 << 10, 256 << 10, 512 << 10].into_iter().flat_map(about);
    let lengths = lengths.chain([20, 0, 900 << 10, 21, MIB]);
    let mut expected: Vec<String> = Vec::new();
    for (number, length) in (0..).zip(lengths) {
        let mut text = long(number, length);
        // Three bytes a character: cut to length where one begins.
        while text.len() > length.max(20) {
            text.pop();
        }
        index.add(&text).unwrap();
        expected.insert(0, text);
        index.put("empty", "").unwrap();
    }
    assert_holds(&index, &expected);
    assert_eq!(texts(&index, "key:empty"), [""]);
    index.flush().unwrap();
    assert_holds(&index, &expected);
    let stats = index.stats().unwrap();
    assert!(stats.segments.iter().any(|s| s.state == "merged"), "{:?}", stats.segments);
    for _ in 0..2 {
        let killed = directory.killed();
        let again = in_directory(&killed).open().unwrap();
        assert_holds(&again, &expected);
        again.close().unwrap();
        assert!(Index::check(killed.path()).unwrap().is_sound());
    }
    index.close().unwrap();
    let index = Index::builder().directory(directory.path()).dram_bytes(64 << 20).open().unwrap();
    assert!(index.settings().store, "the index knows what it was made with");
    assert_holds(&index, &expected);
    assert_eq!(texts(&index, "key:empty"), [""]);
}

#[test]
fn an_index_that_does_not_store_says_so() {
    let index = tiny(1, 1 << 20).open().unwrap();
    index.add("the sea").unwrap();
    let mut reader = index.reader().unwrap();
    let hits = reader.search("sea", Search::newest(1)).unwrap();
    assert_eq!(hits.texts(), Err(HitError::NotStored));
    assert!(HitError::NotStored.to_string().contains("does not store"));
    assert_eq!(hits.keys().unwrap(), ["0"]);
}

/// A document whose words fit and whose text does not is refused whole, and the next one is taken.
#[test]
fn a_text_longer_than_a_segment_is_refused_and_leaves_nothing() {
    for mode_directory in [None, Some(Directory::new())] {
        let mut options = tiny(1, 2 << 20).store(true);
        if let Some(directory) = &mode_directory {
            options = options.directory(directory.path()).nvm_bytes(8 << 20).log_bytes(2 << 20);
            options = options.document_bytes_max(256 << 10);
        }
        let index = options.open().unwrap();
        index.add("all before").unwrap();
        let refused = index.put("long", &long(1, 70 << 10));
        assert!(matches!(refused, Err(WriteError::DocumentTooLarge { .. })), "{refused:?}");
        index.put("long", &long(2, 60 << 10)).unwrap();
        index.add("all after").unwrap();
        assert_holds(&index, &["all after".into(), long(2, 60 << 10), "all before".into()]);
        assert_eq!(texts(&index, "n1"), [""; 0]);
        index.flush().unwrap();
        assert_holds(&index, &["all after".into(), long(2, 60 << 10), "all before".into()]);
    }
}

/// Texts that no compression makes shorter fill the heap and the second tier, many times over.
#[test]
fn the_oldest_go_with_their_texts() {
    for directory in [None, Some(Directory::new())] {
        let mut options = tiny(2, 3 << 19).store(true).document_bytes_max(20 << 10);
        if let Some(directory) = &directory {
            options = options.directory(directory.path()).nvm_bytes(2 << 20).log_bytes(128 << 10);
        }
        let index = options.open().unwrap();
        for number in 0..3000 {
            let length = if number % 5 == 0 { 9000 } else { 60 };
            index.add(&long(number, length)).unwrap();
            if number % 100 == 99 {
                let mut reader = index.reader().unwrap();
                let hits = reader.search("all", Search::newest(10_000)).unwrap();
                for (key, text) in hits.keys().unwrap().iter().zip(hits.texts().unwrap()) {
                    let number = key.parse().unwrap();
                    assert!(text == long(number, if number % 5 == 0 { 9000 } else { 60 }), "{key}");
                }
                assert!(hits.len() > 20, "{}", hits.len());
            }
        }
        assert!(index.stats().unwrap().dropped_segments > 20);
        index.close().unwrap();
        if let Some(directory) = &directory {
            let report = Index::check(directory.path()).unwrap();
            assert!(report.is_sound(), "{report}");
        }
    }
}

/// A heap that may drop nothing refuses what has no room, and what it took stays.
#[test]
fn a_heap_full_of_texts_refuses() {
    let index = tiny(1, 5 << 18).store(true).on_full(OnFull::Refuse).open().unwrap();
    let mut expected = Vec::new();
    let refused = (0..).map(|number| long(number, 5000)).find_map(|text| {
        let added = index.add(&text);
        if added.is_ok() {
            expected.insert(0, text);
        }
        added.err()
    });
    assert_eq!(refused, Some(WriteError::HeapFull));
    assert!(expected.len() > 20, "{} texts", expected.len());
    assert_holds(&index, &expected);
    assert_eq!(index.accepted(), expected.len() as u64);
}

/// Segments are flushed, engraved, committed and dropped beside readers, and each text is that of its key.
#[test]
fn readers_of_texts_beside_all_stages_never_see_another() {
    let directory = Directory::new();
    let options = tiny(1, 2 << 20).store(true).directory(directory.path()).nvm_bytes(3 << 20);
    let options = options.log_bytes(256 << 10).document_bytes_max(16 << 10);
    let options = options.engrave(EngravePolicy::Eager).pointer_update(PointerUpdate::Eager);
    let index = options.open().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = (0..2).map(|_| {
            scope.spawn(|| {
                let mut reader = index.reader().unwrap();
                let mut seen = 0;
                while !over.load(Relaxed) {
                    let hits = reader.search("all", Search::newest(2000)).unwrap();
                    let (keys, texts) = (hits.keys().unwrap(), hits.texts().unwrap());
                    for (key, text) in keys.iter().zip(&texts) {
                        let number = key.parse().unwrap();
                        assert!(*text == long(number, (number * 7 % 600) as usize), "{key}");
                    }
                    seen += texts.len();
                }
                seen
            })
        });
        let readers: Vec<_> = readers.collect();
        for number in 0..40_000 {
            index.add(&long(number, (number * 7 % 600) as usize)).unwrap();
        }
        over.store(true, Relaxed);
        assert!(join(readers).into_iter().all(|seen| seen > 1000));
    });
    assert!(index.stats().unwrap().dropped_segments > 10);
}

/// Bytes by structure: texts as they were given, and what they take where they are.
#[test]
fn statistics_tell_texts_from_what_they_take() {
    let directory = Directory::new();
    let index = in_directory(&directory).pointer_update(PointerUpdate::Eager).open().unwrap();
    let mut given = 0;
    for number in 0..2000 {
        let text = format!("all the texts are alike but for a number, which is n{number}");
        given += text.len() as u64;
        index.add(&text).unwrap();
    }
    let bytes = index.stats().unwrap().bytes;
    assert_eq!((bytes.texts_raw, bytes.texts), (given, given + 2000 * 8));
    index.flush().unwrap();
    let bytes = index.stats().unwrap().bytes;
    assert_eq!(bytes.texts_raw, given);
    assert!(bytes.texts > 0 && bytes.texts < given / 3, "{bytes:?}");
    index.close().unwrap();
    let index = in_directory(&directory).open().unwrap();
    let again = index.stats().unwrap().bytes;
    assert_eq!((again.texts_raw, again.texts), (given, bytes.texts));
    assert_eq!(Index::check(directory.path()).unwrap().text_bytes, given);
}

/// Texts that are sources of documents come back as they were given, and only fields find them.
#[test]
fn opaque_texts_are_stored_and_not_searched() {
    let directory = Directory::new();
    let source = |number: u64| format!("{{ \"title\":\"heron {number}\",  \"n\": {number}.50 }}\n");
    let open = || in_directory(&directory).opaque_text(true).open().unwrap();
    let check = |index: &Index, count: u64| {
        assert!(index.settings().opaque_text && index.settings().store);
        let mut reader = index.reader().unwrap();
        for (query, found) in
            [("heron", count), ("title:heron", count), ("n", 0), ("_source:heron", 0)]
        {
            assert_eq!(reader.count(query).unwrap(), found, "{query}");
        }
        let hits = reader.search("n:7.5", Search::newest(9)).unwrap();
        assert_eq!(hits.texts().unwrap(), [source(7)]);
        let hit = hits.get(0).unwrap();
        assert_eq!(hit.get("n").unwrap(), Some(spirit::Value::Float(7.5)));
    };
    let index = open();
    for number in 0..300 {
        let (source, title) = (source(number), format!("heron {number}"));
        let document = spirit::Document::new().text(&source).field("title", &title);
        index.add(document.field("n", number as f64 + 0.5)).unwrap();
    }
    check(&index, 300);
    index.flush().unwrap();
    check(&index, 300);
    index.add(spirit::Document::new().text(&source(300)).field("title", "heron 300")).unwrap();
    // What is not engraved yet comes from the log.
    drop(index);
    let again = in_directory(&directory).store(false).open().unwrap();
    check(&again, 301);
}
