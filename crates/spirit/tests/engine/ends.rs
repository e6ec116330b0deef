//! Where numbers, columns, pages and scores end: what is right in the middle is asked for at the edge, in every state of a segment.

use std::ops::Bound;

use spirit::search::{Direction, Total};
use spirit::{Analyzer, Clause, Document, FieldKind, Index, Query, Search, SearchError};

use crate::support::tiny;

/// The keys of what a clause matches, the newest first, counted too.
fn keys(index: &Index, clause: &Clause) -> Vec<String> {
    let query = Query::in_schema(clause, &index.schema()).unwrap();
    let mut reader = index.reader().unwrap();
    let found = reader.search(&query, Search::newest(10_000)).unwrap().keys().unwrap();
    assert_eq!(reader.count(&query), Ok(found.len() as u64), "{clause}");
    found
}

/// Does `check` while all is fresh, and once more when it is flushed.
fn fresh_and_flushed(index: &Index, check: impl Fn()) {
    check();
    index.flush().unwrap();
    index.settle();
    check();
}

#[test]
fn ranges_end_where_the_numbers_do() {
    let options = tiny(1, 8 << 20).field("n", FieldKind::Integer).field("x", FieldKind::Float);
    let index = options.open().unwrap();
    let least = Document::new().key("least").field("n", i64::MIN).field("x", f64::MIN);
    let none = Document::new().key("none").field("n", 0).field("x", 0.0);
    let most = Document::new().key("most").field("n", i64::MAX).field("x", f64::MAX);
    for document in [least, none, most] {
        index.add(&document).unwrap();
    }
    let ends = [
        ("n", [i64::MIN.to_string(), i64::MAX.to_string()]),
        ("x", [f64::MIN.to_string(), f64::MAX.to_string()]),
    ];
    fresh_and_flushed(&index, || {
        for (field, [min, max]) in &ends {
            let [min, max] = [min, max].map(String::as_str);
            use Bound::{Excluded, Included, Unbounded};
            let range = |from: Bound<&str>, to: Bound<&str>| {
                let [from, to] = [from, to].map(|bound| bound.map(str::to_owned));
                keys(&index, &Clause::Range { field: (*field).to_owned(), from, to })
            };
            assert_eq!(range(Unbounded, Unbounded), ["most", "none", "least"]);
            assert_eq!(range(Included(min), Included(max)), ["most", "none", "least"]);
            assert_eq!(range(Excluded(min), Excluded(max)), ["none"]);
            assert_eq!(range(Included(max), Unbounded), ["most"]);
            assert_eq!(range(Unbounded, Included(min)), ["least"]);
            assert_eq!(range(Excluded(max), Unbounded), [""; 0]);
            assert_eq!(range(Unbounded, Excluded(min)), [""; 0]);
            assert_eq!(range(Included(max), Included(min)), [""; 0]);
        }
    });
}

/// Columns are gone through in blocks of rows, of which most have nothing here.
#[test]
fn few_values_among_many_rows_are_found() {
    const ROWS: i64 = 1000;
    for step in [1, 7, 97, 499, 999] {
        let index = tiny(1, 8 << 20).field("n", FieldKind::Integer).open().unwrap();
        for row in 0..ROWS {
            let document = Document::new();
            let has = row % step == step - 1;
            let document = if has { document.field("n", row / step) } else { document };
            index.add(&document).unwrap();
        }
        let with = ROWS / step;
        let key = |value: i64| (value * step + step - 1).to_string();
        fresh_and_flushed(&index, || {
            for (from, to) in [(0, with), (with - 1, with), (0, 1), (with / 2, with / 2 + 3)] {
                let expected: Vec<String> = (from..to.min(with)).rev().map(key).collect();
                assert_eq!(keys(&index, &Clause::range("n", from..to)), expected, "each {step}th");
            }
            assert_eq!(keys(&index, &Clause::exists("n")).len() as i64, with);
            assert_eq!(keys(&index, &Clause::range("n", with..)), [""; 0]);
            let without = Clause::Everything.and_not(Clause::range("n", 0..));
            assert_eq!(keys(&index, &without).len() as i64, ROWS - with);
        });
    }
}

/// All pages in the order of a field, one behind the other.
fn pages(index: &Index, k: usize, direction: Direction) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    let (mut found, mut search) = (Vec::new(), Search::by_field(k, "n", direction));
    loop {
        let hits = reader.search("*", search).unwrap();
        found.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { return found };
        search = Search::by_field(k, "n", direction).after(cursor.to_string().parse().unwrap());
    }
}

/// Of some segments no document has the field, and the rest share few values: no page leaves a document out or brings it twice.
#[test]
fn documents_without_a_value_have_their_pages_too() {
    for executors in [1, 3] {
        let index = tiny(executors, 8 << 20).field("n", FieldKind::Integer).open().unwrap();
        let mut expected = Vec::new();
        for number in 0..120i64 {
            let key = format!("k{number}");
            let value = (number % 40 < 20).then_some(number % 3);
            let document = Document::new().key(&key);
            let document = match value {
                Some(value) => document.field("n", value),
                None => document,
            };
            index.add(&document).unwrap();
            if number % 20 == 19 && number < 100 {
                index.flush().unwrap();
            }
            expected.push((value, number, key.clone()));
        }
        for direction in [Direction::Ascending, Direction::Descending] {
            expected.sort_by_key(|(value, number, _)| {
                let value = value.map(|n| if direction == Direction::Ascending { n } else { -n });
                (value.is_none(), value, -number)
            });
            let whole: Vec<&str> = expected.iter().map(|(.., key)| &**key).collect();
            for k in [1, 2, 7, 119, 200] {
                assert_eq!(pages(&index, k, direction), whole, "{executors}, {k}, {direction:?}");
            }
        }
    }
}

/// Who asks for no hit may ask how many there are, and gets the answer on every page.
#[test]
fn no_hit_is_wanted_and_all_are_counted() {
    for executors in [1, 3] {
        let index = tiny(executors, 8 << 20).field("n", FieldKind::Integer).open().unwrap();
        for number in 0..300 {
            index.add(Document::new().text("sea").field("n", number)).unwrap();
            if number == 200 {
                index.flush().unwrap();
            }
        }
        let mut reader = index.reader().unwrap();
        let by_field = Search::by_field(0, "n", Direction::Ascending);
        for search in [Search::newest(0), Search::best(0), by_field] {
            for (up_to, is_exact) in [(299, false), (300, true), (u64::MAX, true)] {
                let hits = reader.search("sea", search.clone().total(up_to)).unwrap();
                assert!(hits.is_empty() && hits.cursor().unwrap().is_none());
                let total = hits.total().unwrap();
                assert_eq!(total.is_exact(), is_exact, "{total:?} up to {up_to}");
                assert!(!is_exact || total == Total::Exact(300));
            }
        }
        let by_field = Search::by_field(70, "n", Direction::Descending);
        for search in [Search::newest(70), Search::best(70), by_field] {
            let mut page = search.clone().total(300);
            loop {
                let hits = reader.search("sea", page).unwrap();
                assert_eq!(hits.total(), Some(Total::Exact(300)), "{search:?}");
                let Some(cursor) = hits.cursor().unwrap() else { break };
                page = search.clone().total(300).after(cursor);
            }
        }
    }
}

/// Keys and scores of all matches, page by page, each cursor written down and read back.
fn scored(index: &Index, clause: &Clause, search: impl Fn() -> Search) -> Vec<(String, f32)> {
    let query = Query::in_schema(clause, &index.schema()).unwrap();
    let (mut reader, mut found, mut next) = (index.reader().unwrap(), Vec::new(), search());
    loop {
        let hits = reader.search(&query, next).unwrap();
        found.extend(
            hits.keys().unwrap().into_iter().zip(hits.iter().filter_map(|hit| hit.score())),
        );
        let Some(cursor) = hits.cursor().unwrap() else { return found };
        next = search().after(cursor.to_string().parse().unwrap());
    }
}

/// What is multiplied until no number is so large has a score and a place all the same.
#[test]
fn scores_that_are_too_large_are_scores() {
    let index = tiny(1, 8 << 20).analyzer(Analyzer::Simple).open().unwrap();
    for number in 0..500 {
        let text = ["sea", "sea sky", "sky reed reed", "sea sea reed"][number % 4];
        let rare = if number % 50 == 7 { " rare" } else { "" };
        index.add(&format!("{text}{rare}")).unwrap();
        if number % 200 == 199 {
            index.flush().unwrap();
        }
    }
    let [sea, sky, reed, rare] = ["sea", "sky", "reed", "rare"].map(Clause::term);
    let huge = |clause: &Clause| clause.clone().boost(f32::MAX).boost(f32::MAX);
    for clause in [
        huge(&sea),
        huge(&rare),
        huge(&huge(&sea)).boost(0.0),
        Clause::any([huge(&sea), huge(&sky), reed.clone()]),
        Clause::all([huge(&sea), huge(&reed)]),
        Clause::any([huge(&sea).boost(0.0), sky.clone()]),
        Clause::any([Clause::Everything.constant(f32::MAX), sky.clone().constant(f32::MAX), reed]),
        huge(&Clause::phrase(&["sea", "sky"])),
    ] {
        // By the last nothing is left of a share, and nothing times infinity is no number.
        for (k1, b) in [(1.2, 0.75), (f32::MAX, 1.0)] {
            let best = |k| Search::best(k).bm25(k1, b);
            let all = scored(&index, &clause, || best(10_000).exhaustive().windows());
            assert_eq!(all.len(), keys(&index, &clause).len(), "{clause}");
            assert!(all.iter().all(|(_, score)| *score >= 0.0), "{clause}");
            assert!(all.is_sorted_by(|a, b| a.1 >= b.1), "{clause}");
            for k in [7, 100] {
                assert_eq!(scored(&index, &clause, || best(k)), all, "{clause}");
            }
        }
    }
}

/// Parameters by which no score is a number are refused.
#[test]
fn parameters_are_numbers_that_scores_are_made_of() {
    let index = tiny(1, 8 << 20).open().unwrap();
    for text in ["sea", "sea and sky", "sea sea"] {
        index.add(text).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let by = |k1, b| Search::best(9).bm25(k1, b);
    let wrong = [
        (f32::NAN, 0.5),
        (f32::INFINITY, 0.5),
        (-0.1, 0.5),
        (1.2, f32::NAN),
        (1.2, -0.1),
        (1.2, 1.1),
    ];
    for (k1, b) in wrong {
        let refused = reader.search("sea", by(k1, b)).map(drop);
        assert_eq!(refused, Err(SearchError::Parameters), "{k1}, {b}");
        let refused = reader.explain("sea", &by(k1, b), "0").map(drop);
        assert_eq!(refused, Err(SearchError::Parameters), "{k1}, {b}");
    }
    for (k1, b) in [(0.0, 0.0), (0.0, 1.0), (f32::MAX, 1.0), (f32::MIN_POSITIVE, 1.0)] {
        let hits = reader.search("sea", by(k1, b)).unwrap();
        assert_eq!(hits.len(), 3, "{k1}, {b}");
        assert!(hits.iter().filter_map(|hit| hit.score()).all(|score| score >= 0.0));
    }
}
