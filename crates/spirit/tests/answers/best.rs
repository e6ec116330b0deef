//! Early termination passes over what is not among the best, and over nothing else: long lists, with maxima, bitmaps and many equal
//! scores, are asked with it and without, by the way that the query's shape has and by windows; whatever was deleted, and page by page.

use std::collections::HashMap;

use spirit::lab::Postings;
use spirit::stats::SegmentStats;
use spirit::{Analyzer, Builder, Clause, Document, Index, Query, Search};

use crate::support::directory::Directory;
use crate::support::{Chance, tiny};

const DOCUMENTS: u64 = 24_000;

/// Documents of words that are as rare as those of a language: of `w1` and `w2` there are twice and four times as many as of
/// `w4` and `w8`. Most are short; in a few frequent words are many times.
fn text(chance: &mut Chance) -> String {
    let mut text = String::new();
    let most = if chance.below(12) == 0 { 120 } else { 14 };
    for _ in 0..1 + chance.below(most) {
        let words = 1 << (1 + chance.below(12));
        text += &format!("w{} ", chance.below(words));
    }
    text
}

fn fill(index: &Index, deletes: bool) {
    fill_and(index, deletes, |number| {
        if number % 11_000 == 10_000 {
            index.flush().unwrap();
        }
    });
}

fn fill_and(index: &Index, deletes: bool, each: impl Fn(u64)) {
    let mut chance = Chance::new(5);
    for number in 0..DOCUMENTS {
        index.put(&format!("k{number}"), &text(&mut chance)).unwrap();
        if deletes && number % 7 == 3 {
            index.delete(&format!("k{}", chance.below(number))).unwrap();
        }
        each(number);
    }
    index.settle();
}

fn queries() -> Vec<String> {
    let mut chance = Chance::new(6);
    let mut word = || {
        let words = 1 << (1 + chance.below(12));
        format!("w{}", chance.below(words))
    };
    let mut queries = Vec::new();
    for _ in 0..12 {
        let [a, b, c, d, e] = [word(), word(), word(), word(), word()];
        queries.extend([
            a.clone(),
            format!("{a} AND {b}"),
            format!("{a} AND w1 AND {c}"),
            format!("{a} {b}"),
            format!("{a} w0"),
            format!("{a} {b} {c}"),
            format!("w0 w1 {d}"),
            format!("{a} {b} {c} {d} {e}"),
            format!("{a}^3 {b}^0.2 w2"),
            format!("\"{a} {b}\""),
            format!("\"w0 w1\" {e}"),
            format!("\"{a} w0\"~3"),
            format!("{a} AND NOT {b}"),
            format!("\"{a} w\"* {b}"),
            format!("+w0 \"w1 w\"*^3 -\"w2 {c}\"*"),
            format!("w0 -w1 -{d}"),
            format!("+w1 +w2 -{c}"),
            format!("{a} w2 {b} -w0 -{e}"),
            format!("\"w0 w1\" -{a}"),
            format!("+\"w0 w1\" +{e}"),
            format!("+{a} +\"w1 w0\"^0.5 +w0"),
            format!("+w2 +\"w0 w1 w0\" w1 -{c}"),
            format!("+\"{a} w0 w1\"~3 +w1^2 -{b}"),
            format!("+{a} {b}"),
            format!("w2 +{c}^0.5"),
            format!("{d} +w0 +{e} w2 -{b}"),
            format!("+{a} {c} +{a} {a}"),
            format!("+{a} +({b} {c})"),
            format!("+(w0 {c})^2 {d} +({b} w1) +w2 -{e}"),
            format!("({a} w0 {b} w2)~2^=1.5"),
            format!("{a}*"),
            format!("{b}~1"),
            format!("+w1*^2 +{c}^=3 -{a}"),
        ]);
    }
    // Of many words, of which most are frequent and some repeated; more than are ranked list by list.
    for count in [33, 40, 63, 64, 65, 70] {
        let words = (0..count).map(|_| word()).collect::<Vec<_>>().join(" ");
        queries.extend([
            words.clone(),
            format!("{words} -w3"),
            format!("{words} +w2"),
            format!("+(w0 w1 w5) {words}"),
        ]);
    }
    // Phrases that are there, of words that are frequent, one of them twice.
    queries.extend(
        ["\"w0 w1\"", "\"w1 w0 w0\"", "\"w0 w0\"", "\"w2 w0\"~2", "\"w0 w1 w0\"~4"]
            .map(str::to_owned),
    );
    queries
}

/// Keys and scores of the best, page by page.
fn pages(index: &Index, query: &str, search: impl Fn(usize) -> Search) -> Vec<(String, u32)> {
    let mut reader = index.reader().unwrap();
    let mut found = Vec::new();
    let mut after = None;
    for k in [10, 3, 1, 40] {
        let search = match after.take() {
            None => search(k),
            Some(cursor) => search(k).after(cursor),
        };
        let hits = reader.search(query, search).unwrap();
        let scores: Vec<u32> =
            hits.iter().filter_map(|hit| hit.score()).map(f32::to_bits).collect();
        after = hits.cursor().unwrap();
        found.extend(hits.keys().unwrap().into_iter().zip(scores));
        if after.is_none() {
            break;
        }
    }
    found
}

/// Also where places and closeness of words count, which puts other documents first.
fn is_the_same_with_and_without(index: &Index) {
    let (mut phrases, mut changed) = (0, 0);
    for (number, query) in queries().into_iter().enumerate() {
        let expected = by_all_ways(index, &query, Search::best);
        phrases += usize::from(query.starts_with('"') && expected.len() > 10);
        // Every shape of a query is among every second one.
        if number % 2 == 0 && query.len() < 150 {
            let by_proximity = by_all_ways(index, &query, |k| Search::best(k).proximity());
            let keys = |found: Vec<(String, u32)>| found.into_iter().map(|(key, _)| key);
            changed += usize::from(keys(expected).ne(keys(by_proximity)));
        }
    }
    assert!(phrases > 3, "phrases occur");
    assert!(changed > 60, "places change the order for {changed} queries only");
}

fn by_all_ways(index: &Index, query: &str, best: fn(usize) -> Search) -> Vec<(String, u32)> {
    let expected = pages(index, query, |k| best(k).exhaustive().windows());
    let ways: [fn(Search) -> Search; 4] =
        [|search| search, Search::windows, Search::exhaustive, |search| search.total(100)];
    for (number, way) in ways.into_iter().enumerate() {
        let found = pages(index, query, |k| way(best(k)));
        assert_eq!(found, expected, "{query}, way {number}");
    }
    expected
}

/// A word without a field counts where it counts most: fresh and flushed after deletes, and packed.
#[test]
fn of_several_fields() {
    for postings in [Postings::Raw, Postings::Packed] {
        let directory = Directory::new();
        let options = || {
            let options = options().directory(directory.path()).segment_bytes(4 << 20);
            options.nvm_bytes(256 << 20).postings(postings)
        };
        let mut index = options().open().unwrap();
        let mut chance = Chance::new(7);
        for number in 0..DOCUMENTS / 3 {
            let [words, title, user] = [(); 3].map(|()| text(&mut chance));
            let mut document = Document::new().text(&words);
            for (name, value, one_of) in [("title", &title, 2), ("user", &user, 5)] {
                if chance.below(one_of) == 0 {
                    document = document.field(name, value.as_str());
                }
            }
            index.put(&format!("k{number}"), document).unwrap();
            if number % 7 == 3 && postings == Postings::Raw {
                index.delete(&format!("k{}", chance.below(number))).unwrap();
            }
            if number % 3000 == 2000 {
                index.flush().unwrap();
            }
        }
        if postings == Postings::Packed {
            index.close().unwrap();
            index = options().open().unwrap();
        }
        index.settle();
        is_the_same_with_and_without(&index);
    }
}

fn options() -> Builder {
    Index::builder().dram_bytes(256 << 20).analyzer(Analyzer::Simple)
}

#[test]
fn of_all_that_is_added() {
    let index = options().open().unwrap();
    fill(&index, false);
    is_the_same_with_and_without(&index);
}

#[test]
fn of_what_deletes_leave() {
    let index = options().executors(2).open().unwrap();
    fill(&index, true);
    is_the_same_with_and_without(&index);
}

#[test]
fn of_packed_lists() {
    let directory = Directory::new();
    let options =
        || options().directory(directory.path()).nvm_bytes(256 << 20).postings(Postings::Packed);
    fill(&options().open().unwrap(), false);
    let index = options().open().unwrap();
    index.settle();
    is_the_same_with_and_without(&index);
}

/// A segment that is being filled says what it says when it is flushed, of long lists too.
#[test]
fn of_fresh_lists_as_of_flushed_ones() {
    for deletes in [false, true] {
        let [fresh, flushed] = [(); 2].map(|()| options().segment_bytes(16 << 20).open().unwrap());
        fill_and(&fresh, deletes, |_| {});
        fill_and(&flushed, deletes, |_| {});
        flushed.flush().unwrap();
        flushed.settle();
        let states = |index: &Index| -> Vec<(String, bool)> {
            let of = |segment: &SegmentStats| (segment.state.clone(), segment.rows > 0);
            index.stats().unwrap().segments.iter().map(of).collect()
        };
        assert_eq!(states(&fresh), [("ingested".to_owned(), true)]);
        assert_eq!(states(&flushed)[1..], [("flushed".to_owned(), true)]);
        is_the_same_with_and_without(&fresh);
        for query in queries() {
            let counts = [&fresh, &flushed].map(|i| i.reader().unwrap().count(&query).unwrap());
            assert_eq!(counts[0], counts[1], "{query}");
            let by_proximity = |k| Search::best(k).proximity();
            for search in [Search::best, Search::newest, by_proximity] {
                let found = [&fresh, &flushed].map(|index| keys(index, &query, search(60)));
                assert_eq!(found[0], found[1], "{query}");
            }
        }
    }
}

fn keys(index: &Index, query: &str, search: Search) -> Vec<String> {
    index.reader().unwrap().search(query, search).unwrap().keys().unwrap()
}

/// Alone, beside other clauses, within them, and multiplied.
#[test]
fn the_best_of_several_clauses_counts() {
    let index = tiny(1, 16 << 20).analyzer(Analyzer::Simple).open().unwrap();
    let mut chance = Chance::new(1);
    for _ in 0..2000 {
        let words: String =
            (0..2 + chance.below(9)).map(|_| format!("w{} ", chance.below(12))).collect();
        index.add(words.as_str()).unwrap();
    }
    let scores = |asked: &Clause| -> HashMap<String, f32> {
        let query = Query::new_of(asked).unwrap();
        let mut reader = index.reader().unwrap();
        let hits = reader.search(&query, Search::best(2000)).unwrap();
        let keys = hits.keys().unwrap().into_iter();
        keys.zip(hits.iter().filter_map(|hit| hit.score())).collect()
    };
    for flushed in [false, true] {
        if flushed {
            index.flush().unwrap();
            index.settle();
        }
        let words = ["w1", "w2", "w3"].map(Clause::term);
        let alone = words.clone().map(|word| scores(&word));
        let other = scores(&Clause::term("w4"));
        for tie in [0.0, 0.25, 1.0] {
            let best = Clause::best(words.clone(), tie);
            let expected = |key: &String| {
                let found: Vec<f32> =
                    alone.iter().filter_map(|scores| scores.get(key)).copied().collect();
                let highest = found.iter().copied().fold(0.0, f32::max);
                highest + tie * (found.iter().sum::<f32>() - highest)
            };
            let near = |score: f32, expected: f32| (score - expected).abs() <= 1e-5 * expected;
            let found = scores(&best);
            let any = scores(&Clause::any(words.clone()));
            assert_eq!(found.len(), any.len());
            assert!(found.iter().all(|(key, score)| near(*score, expected(key))), "{tie}");
            for asked in [
                Clause::all([best.clone(), Clause::term("w4")]),
                Clause::all([Clause::any([best.clone()]), Clause::term("w4")]),
            ] {
                let found = scores(&asked);
                assert!(found.len() > 100, "{asked}");
                let exact = |key: &String| expected(key) + other[key];
                assert!(found.iter().all(|(key, score)| near(*score, exact(key))), "{asked}");
            }
            let twice = scores(&Clause::best([words[0].clone(), words[0].clone()], tie));
            let exact = |key: &String| alone[0][key] * (1.0 + tie);
            assert!(twice.iter().all(|(key, score)| near(*score, exact(key))), "the same twice");
            let boosted = scores(&best.clone().boost(2.0));
            assert!(boosted.iter().all(|(key, score)| near(*score, 2.0 * expected(key))));
        }
    }
}
