//! Bulk loads: what is in afterwards is what a stream of the same documents leaves.

use proptest::prelude::*;
use spirit::{Analyzer, Builder, Document, Index, Mode, OnFull, Search, WriteError};

use crate::support::comes_back;
use crate::support::directory::Directory;

const WORDS: [&str; 6] = ["a", "b", "c", "dd", "ee", "fff"];

fn options(directory: &Directory, executors: usize) -> Builder {
    let each = executors as u64;
    Index::builder()
        .directory(directory.path())
        .executors(executors)
        .dram_bytes(each * (8 << 20))
        .nvm_bytes(each * (32 << 20))
        .log_bytes(64 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .store(true)
        .on_full(OnFull::Refuse)
}

/// Sequence numbers, keys and texts of what a query finds, newest first.
fn found(index: &Index, query: &str) -> Vec<(u64, String, String)> {
    let mut reader = index.reader().unwrap();
    let hits = reader.search(query, Search::newest(100_000)).unwrap();
    let one = |hit: spirit::Hit<'_>| {
        let text = hit.stored().unwrap().text.clone();
        (hit.sequence().unwrap(), hit.key().unwrap().to_owned(), text)
    };
    hits.iter().map(one).collect()
}

/// The same of several queries, with their best documents.
fn all(index: &Index) -> Vec<Vec<(u64, String, String)>> {
    let queries = ["*", "a", "b c", "+dd +ee", "\"a b\"", "fff -a"];
    queries.iter().map(|query| found(index, query)).collect()
}

type Given = (Option<String>, String);

fn documents(given: &[Given]) -> impl Iterator<Item = Document<'_>> {
    given.iter().map(|(key, text)| {
        let document = Document::from(text.as_str());
        match key {
            Some(key) => document.key(key),
            None => document,
        }
    })
}

fn collection() -> impl Strategy<Value = Vec<Given>> {
    let text = proptest::collection::vec(0..WORDS.len(), 1..12);
    let text =
        text.prop_map(|words| words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" "));
    let key = prop_oneof![Just(None), (0..40u32).prop_map(|key| Some(format!("k{key}")))];
    proptest::collection::vec((key, text), 0..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_load_is_what_a_stream_leaves(
        given in collection(), executors in 1..4usize, step in 1..900usize, ends in 0..4usize,
    ) {
        let streamed = Directory::new();
        let stream = options(&streamed, executors).open().unwrap();
        stream.add_all(documents(&given)).unwrap();
        let loaded = Directory::new();
        let mut index = options(&loaded, executors).open().unwrap();
        for part in 0..ends {
            // A run that ends before all is in, and is gone on with.
            let mut bulk = index.bulk().unwrap();
            let at = bulk.documents() as usize;
            let end = given.len() * (part + 1) / (ends + 1);
            for piece in given[at.min(end)..end].chunks(step) {
                bulk.add_all(documents(piece)).unwrap();
                bulk.note_place([bulk.documents(), 0, 0, 0, 0, 7]).unwrap();
            }
            match part % 3 {
                0 => bulk.suspend().unwrap(),
                1 => drop(bulk),
                _ => {
                    drop(bulk);
                    index.close().unwrap();
                    index = options(&loaded, executors).open().unwrap();
                }
            }
            prop_assert!(index.has_unfinished_bulk());
        }
        let mut bulk = index.bulk().unwrap();
        let at = bulk.documents() as usize;
        for piece in given[at..].chunks(step) {
            prop_assert_eq!(bulk.add_all(documents(piece)).unwrap(), piece.len() as u64);
        }
        bulk.note_place([9, 8, 7, 6, 5, 4]).unwrap();
        prop_assert_eq!(index.finished_bulk(), [0; 6]);
        bulk.finish().unwrap();
        prop_assert_eq!(index.finished_bulk(), [9, 8, 7, 6, 5, 4]);
        prop_assert_eq!(all(&index), all(&stream));
        prop_assert_eq!(index.accepted(), given.len() as u64);
        // Other documents go on behind the last one.
        prop_assert_eq!(index.add("afterwards").unwrap(), stream.add("afterwards").unwrap());
        index.close().unwrap();
        stream.close().unwrap();
        let (index, stream) =
            (options(&loaded, executors).open().unwrap(), options(&streamed, executors).open().unwrap());
        prop_assert_eq!(all(&index), all(&stream));
        prop_assert!(!index.has_unfinished_bulk());
        prop_assert_eq!(index.finished_bulk(), [9, 8, 7, 6, 5, 4]);
    }
}

#[test]
fn nothing_else_is_accepted_before_the_end() {
    for mode in [Mode::Volatile, Mode::Graceful, Mode::Crash] {
        let directory = Directory::new();
        let options = || options(&directory, 2).mode(mode);
        let index = match mode {
            Mode::Volatile => Index::builder().executors(2).store(true).open().unwrap(),
            _ => options().open().unwrap(),
        };
        index.put("before", "a").unwrap();
        let mut bulk = index.bulk().unwrap();
        bulk.add_all(["b", "c"]).unwrap();
        drop(bulk);
        let refused = |index: &Index| {
            let unfinished = Err(WriteError::BulkUnfinished);
            assert_eq!(index.add("x"), unfinished);
            assert_eq!(index.put("y", "x"), Err(WriteError::BulkUnfinished));
            assert_eq!(index.delete("before"), Err(WriteError::BulkUnfinished));
            let batch = spirit::Batch::from_iter([(None, "x")]);
            assert_eq!(index.write(batch), Err(WriteError::BulkUnfinished));
            let many = index.add_all(["x"; 3]);
            let is_refused = |error: &WriteError| match error {
                WriteError::AfterSome { added: 0, error } => **error == WriteError::BulkUnfinished,
                other => *other == WriteError::BulkUnfinished,
            };
            assert!(many.is_err_and(|error| is_refused(&error)));
        };
        refused(&index);
        let index = if mode == Mode::Volatile {
            index
        } else {
            index.close().unwrap();
            options().open().unwrap()
        };
        refused(&index);
        assert_eq!(found(&index, "*").len(), 3);
        index.give_up_bulk().unwrap();
        index.add("x").unwrap();
        assert_eq!(found(&index, "*").len(), 4);
        assert!(!index.has_unfinished_bulk());
    }
}

#[test]
fn a_refused_document_keeps_its_number() {
    let directory = Directory::new();
    let index = options(&directory, 2).open().unwrap();
    let mut bulk = index.bulk().unwrap();
    let long = "x ".repeat(4000);
    let texts = ["a", "b", &long, "c", "d"];
    let error = bulk.add_all(texts).unwrap_err();
    let WriteError::AfterSome { added: 2, error } = error else { panic!("{error}") };
    assert!(matches!(*error, WriteError::DocumentTooLong { .. }));
    bulk.leave_out();
    assert_eq!(bulk.add_all(texts.into_iter().skip(3)).map_err(|error| error.to_string()), Ok(2));
    bulk.finish().unwrap();
    let keys: Vec<_> = found(&index, "*").into_iter().map(|(_, key, _)| key).collect();
    assert_eq!(keys, ["4", "3", "1", "0"]);
}

#[test]
fn keys_that_may_be_two_documents_are_refused() {
    let index = Index::in_memory().unwrap();
    let mut bulk = index.bulk().unwrap();
    bulk.add_all([(Some("seven"), "a"), (None, "b")]).unwrap();
    let error = bulk.add_all([(None, "c"), (Some("7"), "d"), (None, "e")]).unwrap_err();
    let mixed = WriteError::AfterSome { added: 1, error: WriteError::BulkKeysMixed.into() };
    assert_eq!(error, mixed);
    drop(bulk);
    let mut bulk = index.bulk().unwrap();
    assert_eq!(bulk.documents(), 0, "no place was noted");
    bulk.add_all([(Some("seven"), "a"), (None, "b")]).unwrap();
    assert!(bulk.add_all([(Some("8"), "d")]).is_err(), "kinds of documents that were passed over");
    bulk.add_all([(None, "c")]).unwrap();
    bulk.finish().unwrap();
    assert_eq!(index.accepted(), 3);
}

/// Numbers that documents have as keys are no automatic keys of a load.
#[test]
fn automatic_keys_are_above_numbers_that_are_in() {
    let index = Index::in_memory().unwrap();
    index.put("5", "a").unwrap();
    let mut bulk = index.bulk().unwrap();
    bulk.add_all(["b", "c"]).unwrap();
    bulk.finish().unwrap();
    let mut reader = index.reader().unwrap();
    let keys = reader.search("*", Search::newest(10)).unwrap().keys().unwrap();
    assert_eq!(keys, ["7", "6", "5"]);
}

/// Numbers of documents that went in before one that was refused are not given to others.
#[test]
fn numbers_go_on_behind_a_load_that_was_given_up() {
    let index = Index::builder().executors(2).document_bytes_max(1 << 10).open().unwrap();
    let mut bulk = index.bulk().unwrap();
    let long = "x ".repeat(1000);
    let texts = (0..9000).map(|number| if number == 8500 { long.as_str() } else { "a" });
    assert!(bulk.add_all(texts).is_err());
    drop(bulk);
    index.give_up_bulk().unwrap();
    let number = index.add("b").unwrap();
    let mut reader = index.reader().unwrap();
    let newest = reader.search("*", Search::newest(1)).unwrap().keys().unwrap();
    assert_eq!(newest, [number.to_string()]);
    assert!(number >= 8500, "{number}");
}

/// Another thread that adds waits until the load is left, and is refused then.
#[test]
fn another_thread_is_refused() {
    comes_back(|| {
        let index = Index::in_memory().unwrap();
        std::thread::scope(|scope| {
            let mut bulk = index.bulk().unwrap();
            let other = scope.spawn(|| index.add("other"));
            bulk.add_all(["a"; 700]).unwrap();
            drop(bulk);
            assert_eq!(other.join().unwrap(), Err(WriteError::BulkUnfinished));
        });
        index.bulk().unwrap().finish().unwrap();
        assert_eq!(index.add("next"), Ok(700));
    });
}
