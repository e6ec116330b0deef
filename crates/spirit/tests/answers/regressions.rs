//! Bugs that were found, each held down by a small test that tells its story.

use spirit::{Analyzer, Batch, Document, Index, OnFull, Search, WriteError};

fn small(dram: u64, on_full: OnFull) -> Index {
    let options = Index::builder().dram_bytes(dram).segment_bytes(64 << 10);
    options.analyzer(Analyzer::Simple).on_full(on_full).open().unwrap()
}

/// The ingest role waited for the flush stage to take a full segment, and the flush stage for room that only
/// the caller could make: `add` never returned. Dropping the index then waited for the stage for ever.
#[test]
fn a_full_heap_that_refuses_says_so_and_lets_go() {
    let index = small(1 << 20, OnFull::Refuse);
    let mut added = 0;
    let error = loop {
        match index.add(&format!("word{added} other{} red fox", added * 7)) {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, WriteError::HeapFull);
    assert_eq!(index.add("one more"), Err(WriteError::HeapFull), "and again");
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("red AND fox").unwrap(), added, "what was acknowledged is there");
    assert_eq!(index.accepted(), added);
    drop(reader);
    drop(index);
}

/// After one document that fits no segment, the segment that it was tried in was half full and counted as
/// empty, so every later document was refused as well; and the refused one had used up a number.
#[test]
fn a_document_that_fits_no_segment_is_refused_alone() {
    let index = small(2 << 20, OnFull::Refuse);
    index.add("red zero").unwrap();
    let large: String = (0..60_000).map(|n| format!("w{n} ")).collect();
    assert!(matches!(index.add(&large), Err(WriteError::DocumentTooLarge { .. })));
    for n in 1..6 {
        index.add(&format!("red {n}")).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let hits = reader.search("red", Search::newest(10)).unwrap();
    assert_eq!(hits.keys().unwrap(), ["5", "4", "3", "2", "1", "0"]);
    drop(hits);
    assert_eq!(reader.count("w7 OR w59999").unwrap(), 0, "nothing of it is visible");
}

/// Asking for no hit counted down from zero.
#[test]
fn no_hits_can_be_asked_for() {
    let index = small(2 << 20, OnFull::Wait);
    index.add("red").unwrap();
    let mut reader = index.reader().unwrap();
    assert!(reader.search("red", Search::newest(0)).unwrap().is_empty());
}

/// A number given as an explicit key is the document with that automatic key, with any number of executors.
#[test]
fn a_number_calls_the_same_document_however_it_was_given() {
    let options = Index::builder().dram_bytes(6 << 20).segment_bytes(64 << 10).executors(3);
    let index = options.analyzer(Analyzer::Simple).open().unwrap();
    for n in 0..100 {
        index.add(&format!("red n{n}")).unwrap();
    }
    for n in (0..100).step_by(3) {
        index.put(&n.to_string(), "blue").unwrap();
    }
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("red").unwrap(), 66);
    assert_eq!(reader.count("blue").unwrap(), 34);
    assert!(
        index.delete("3").unwrap() && index.delete("4").unwrap() && !index.delete("4").unwrap()
    );
    assert_eq!(reader.count("*").unwrap(), 98);
}

/// Log lines behind a table whose ids are small numbers replaced rows of the table.
#[test]
fn an_automatic_key_replaces_no_document() {
    for executors in [1, 3] {
        let options = Index::builder().dram_bytes(6 << 20).segment_bytes(64 << 10);
        let index = options.analyzer(Analyzer::Simple).executors(executors).open().unwrap();
        for id in [0, 2, 3, 5, 6, 600] {
            index.put(&id.to_string(), "row").unwrap();
        }
        // One at a time, as a stream and as a group; some rows of the table come late.
        assert_eq!(index.next_number().unwrap(), 7);
        assert_eq!(index.add("line").unwrap(), 7, "six rows have come, and 6 is a row's");
        let document = |_| Document::new().text("line");
        index.add_all((0..300).map(document)).unwrap();
        let late = Document::new().key("900").text("row");
        let batch: Batch<'_> = std::iter::once(late).chain((0..300).map(document)).collect();
        index.write(batch).unwrap();
        index.add_all((0..300).map(document)).unwrap();
        let searcher = index.searcher();
        assert_eq!(searcher.count("row").unwrap(), 7, "{executors} executors");
        assert_eq!(searcher.count("line").unwrap(), 901);
        // A key that somebody brings replaces what has it.
        index.put("7", "row").unwrap();
        assert_eq!(searcher.count("line").unwrap(), 900);
    }
}

/// A flush on demand ends the segment, answers stay, and the next documents go on after it.
#[test]
fn a_flush_in_between_changes_no_answer() {
    let index = small(4 << 20, OnFull::Refuse);
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    for round in 1..=5 {
        index.add(&format!("fox round{round}")).unwrap();
        index.flush().unwrap();
        index.flush().unwrap();
        assert_eq!(reader.count("fox").unwrap(), round);
        let hits = reader.search("fox", Search::newest(1)).unwrap();
        assert_eq!(hits.keys().unwrap(), [(round - 1).to_string()]);
    }
    // What is being filled is empty, and nothing was flushed twice.
    let rows: Vec<u64> =
        index.stats().unwrap().segments.iter().map(|segment| segment.rows).collect();
    assert_eq!(rows, [0, 1, 1, 1, 1, 1]);
}

/// A rewritten segment kept the numbers of terms whose last living posting had gone. Once nothing else had such a term its record
/// became another term's, or an array, and the next rewrite took that for the segment's: it read, and changed, what was
/// not its own.
#[test]
fn a_term_that_dies_out_in_a_rewrite_is_none_of_the_new_segment() {
    let index = small(2 << 20, OnFull::Wait);
    for number in 0..40_000 {
        let text =
            format!("all words that stay w{} and one that goes g{}", number % 97, number / 8);
        index.put(&format!("k{}", number % 60), &text).unwrap();
    }
    let stats = index.stats().unwrap();
    assert!(stats.rewritten_segments > 10, "{} rewrites", stats.rewritten_segments);
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), 60);
    assert_eq!(reader.count("g4999").unwrap(), 8);
    assert_eq!(reader.count("g4000").unwrap(), 0);
}
