//! Queries of every kind beside ingest, flush, engraving in packed lists, the moving of readers and merging: what is true of every state of the
//! index is true of each answer.
//!
//! One thread adds, two ask. Every document has both words of a pair, one value of each field and the next number, and none ever
//! goes. So no answer has half a document, none forgets one, and what facets say of one moment adds up.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use spirit::facets::{Aggregate, Facet};
use spirit::lab::{EngravePolicy, PointerUpdate, Postings};
use spirit::search::Direction;
use spirit::{Analyzer, Builder, Document, FieldKind, Index, OnFull, Reader, Search, Value};

use crate::support::directory::Directory;
use crate::support::{Chance, join, size_of_run};

const CLASSES: u64 = 17;

/// Documents that come beside the queries, in all.
fn adds() -> u64 {
    size_of_run("SPIRIT_BESIDE_ADDS", 60_000)
}

fn options(directory: &Directory, pointer_update: PointerUpdate) -> Builder {
    Index::builder()
        .directory(directory.path())
        .postings(Postings::Packed)
        .engrave(EngravePolicy::Eager)
        .pointer_update(pointer_update)
        .merge_after(2)
        .dram_bytes(3 << 20)
        .nvm_bytes(32 << 20)
        .log_bytes(128 << 10)
        .document_bytes_max(32 << 10)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .field("class", FieldKind::Keyword)
        .field("n", FieldKind::Integer)
}

fn add(index: &Index, number: u64) {
    let class = format!("c{}", number % CLASSES);
    let text = format!("all {class} left right {}", "and more ".repeat(number as usize % 9));
    let document = Document::new().text(&text).field("class", &class);
    index.add(document.field("n", number as i64)).unwrap();
}

/// Nothing has one word of a pair without the other, nor the words the other way round.
fn no_half(reader: &mut Reader, class: u64) {
    for nothing in [
        "+left -right".to_owned(),
        "all -\"left right\"".to_owned(),
        format!("+c{class} -class:c{class}"),
        format!("+class:c{class} -\"all c{class} left\""),
        "left -n:*".to_owned(),
        "\"right left\"".to_owned(),
    ] {
        assert_eq!(reader.count(&nothing), Ok(0), "{nothing}");
    }
}

/// The best come in order, none comes twice, and why each has its place can be said.
fn best_are_in_order(reader: &mut Reader, class: u64) {
    for query in
        [format!("c{class}"), format!("left c{class} nobody"), format!("more AND c{class}")]
    {
        let hits = reader.search(&query, Search::best(20).total(u64::MAX)).unwrap();
        let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{query}: {scores:?}");
        let (mut keys, total) = (hits.keys().unwrap(), hits.total().unwrap());
        assert_eq!(keys.len() as u64, total.count().min(20), "{query}");
        let cursor = hits.cursor().unwrap();
        drop(hits);
        let Some(cursor) = cursor else { continue };
        let why = reader.explain(&query, &Search::best(20), &keys[0]).unwrap();
        assert!(why.is_some_and(|why| why.matches() && why.score() > 0.0), "{query}");
        let next = reader.search(&query, Search::best(20).after(cursor)).unwrap();
        assert!(
            next.iter()
                .filter_map(|hit| hit.score())
                .all(|score| score <= scores[scores.len() - 1]),
            "{query}"
        );
        keys.extend(next.keys().unwrap());
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "{query}: {keys:?}");
    }
}

/// The first in the order of a field are those that came first.
fn first_stay_first(reader: &mut Reader) {
    let first = Search::by_field(5, "n", Direction::Ascending);
    let hits = reader.search("left", first).unwrap();
    let expected = (0..hits.len() as i64).map(|n| Some(Value::Integer(n)));
    assert!(hits.iter().zip(expected).all(|(hit, expected)| hit.sort_value() == expected));
}

/// Facets of one moment add up; returns how many documents there were.
fn facets_add_up(reader: &mut Reader) -> u64 {
    let [class, n] = ["class", "n"].map(str::to_owned);
    let facets = [
        Facet::Terms { field: class, top: 3 },
        Facet::Stats { field: n.clone() },
        Facet::Histogram { field: n, interval: 100.0 },
    ];
    let found = reader.aggregate("\"left right\"", &facets).unwrap();
    let [Aggregate::Terms(classes), Aggregate::Stats(stats), Aggregate::Histogram(hundreds)] =
        &found[..]
    else {
        panic!("{found:?}");
    };
    let documents = stats.map_or(0, |stats| stats.count);
    let top: u64 = classes.top.iter().map(|(_, count)| count).sum();
    assert_eq!(top + classes.others, documents);
    assert_eq!(classes.distinct, documents.min(CLASSES));
    assert_eq!(hundreds.iter().map(|(_, count)| count).sum::<u64>(), documents);
    // With one thread that adds, the documents that are there are the first `count` ones.
    assert!(hundreds.iter().rev().skip(1).all(|(_, count)| *count == 100), "{hundreds:?}");
    assert!(stats.is_none_or(|stats| stats.max == documents as f64 - 1.0), "{stats:?}");
    documents
}

/// Lets those who ask end, after a panic too.
struct Ends<'o>(&'o AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn every_answer_is_of_one_moment() {
    for pointer_update in [PointerUpdate::Eager, PointerUpdate::Lazy] {
        let directory = Directory::new();
        let index = options(&directory, pointer_update).open().unwrap();
        let (over, adds) = (AtomicBool::new(false), adds() / 2);
        thread::scope(|scope| {
            let asking = [1, 2].map(|seed| {
                let (index, over) = (&index, &over);
                scope.spawn(move || {
                    let (mut reader, mut chance) = (index.reader().unwrap(), Chance::new(seed));
                    let mut seen = 0;
                    loop {
                        // Once more when all are there.
                        let is_last = over.load(Relaxed);
                        let class = chance.below(CLASSES);
                        no_half(&mut reader, class);
                        best_are_in_order(&mut reader, class);
                        first_stay_first(&mut reader);
                        let now = facets_add_up(&mut reader);
                        assert!(seen <= now && now <= reader.count("all").unwrap());
                        seen = now;
                        if is_last {
                            return seen;
                        }
                    }
                })
            });
            let ends = Ends(&over);
            (0..adds).for_each(|number| add(&index, number));
            index.flush().unwrap();
            drop(ends);
            assert_eq!(join(asking), [adds; 2]);
        });
        index.settle();
        assert!(index.stats().unwrap().merged.0 > 0, "some were merged beside the queries");
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.is_sound(), "{report}");
    }
}
