//! Scores in which the places of words and their closeness count: what comes first by them, and that they are those of the naive
//! formula in every form that segments have. Random queries are asked so by [the oracle](oracle.rs), long lists by
//! [the best](best.rs).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use spirit::lab::{Postings, Worth};
use spirit::query::{Bool, Word};
use spirit::schema::TimeUnit;
use spirit::{Analyzer, Builder, Clause, Document, FieldKind, Index, Query, Search, SearchError};
use spirit_oracle::{Oracle, Value};

use crate::support::directory::Directory;
use crate::support::proximity::collection;
use crate::support::{Chance, in_each_form, tiny};

const DOCUMENTS: u64 = 1500;

fn proximity(k: usize) -> Search {
    Search::best(k).proximity()
}

/// Documents of as many words each, in which only places differ.
fn index_of(texts: &[(&str, &str)]) -> Index {
    let index = tiny(1, 8 << 20).open().unwrap();
    for (key, text) in texts {
        index.put(key, *text).unwrap();
    }
    index
}

fn keys(index: &Index, query: &str, search: Search) -> Vec<String> {
    index.reader().unwrap().search(query, search).unwrap().keys().unwrap()
}

#[test]
fn early_words_come_first() {
    let texts =
        [("first", "a x x x x"), ("third", "x x a x x"), ("last", "x x x x a"), ("none", "x")];
    let index = index_of(&texts);
    assert_eq!(
        keys(&index, "a", Search::best(9)),
        ["last", "third", "first"],
        "of equals the newest"
    );
    assert_eq!(keys(&index, "a", proximity(9)), ["first", "third", "last"]);
    assert_eq!(keys(&index, "a", proximity(1)), ["first"]);
}

#[test]
fn close_words_come_first() {
    let texts = [("near", "x a b x x"), ("back", "x b x a x"), ("far", "x a x x b")];
    let index = index_of(&texts);
    for query in ["a b", "b a", "+a +b", "+a b", "(a b)~2", "a^2 b^3"] {
        assert_eq!(keys(&index, query, proximity(9)), ["near", "back", "far"], "{query}");
    }
    // Not beside each other in the query, or one word.
    let scores = |query: &str| -> Vec<f32> {
        let mut reader = index.reader().unwrap();
        let hits = reader.search(query, proximity(9)).unwrap();
        hits.iter().filter_map(|hit| hit.score()).collect()
    };
    assert!(scores("a b")[0] > scores("a zebra b")[0]);
}

#[test]
fn a_score_is_explained() {
    let index = index_of(&[("7", "x a c x b")]);
    let explain = |query: &str, search: &Search| {
        index.reader().unwrap().explain(query, search, "7").unwrap().unwrap()
    };
    let explained = explain("a b", &proximity(1));
    let found = explained.tree();
    let (plain, parts) = found.clauses.split_first().unwrap();
    assert_eq!((found.worth.clone(), plain.worth.clone()), (Worth::Places, Worth::Sum));
    let reasons: Vec<_> = parts.iter().map(|part| (&*part.clause, part.worth.clone())).collect();
    let expected = [
        ("a", Worth::Place { first: 1 }),
        ("b", Worth::Place { first: 4 }),
        ("a b", Worth::Closeness { distance: 3 }),
    ];
    assert_eq!(reasons, expected, "{explained}");
    let sum: f32 = parts.iter().map(|part| part.value).sum();
    assert!((found.value - plain.value - sum).abs() < 1e-6 && sum > 0.0, "{explained}");
    let text = explained.to_string();
    assert!(text.contains("first at 1") && text.contains("3 apart"), "{text}");
    let without = explain("a b", &Search::best(1));
    assert_eq!(without.score(), plain.value);
    let nothing = explain("zebra", &proximity(1));
    assert!(!nothing.matches() && nothing.score() == 0.0);
}

/// A cursor of one order fits no other, and pages are the whole.
#[test]
fn cursors_know_that_places_count() {
    let index = index_of(&[("near", "a b x"), ("far", "a x b"), ("one", "x a x")]);
    let mut reader = index.reader().unwrap();
    let mut cursor_of =
        |search: Search| reader.search("a b", search).unwrap().cursor().unwrap().unwrap();
    let [plain, placed] = [Search::best(1), proximity(1)].map(&mut cursor_of);
    let mut after = |search: Search| reader.search("a b", search).map(|hits| hits.keys().unwrap());
    assert_eq!(after(proximity(9).after(placed.clone())).unwrap(), ["far", "one"]);
    assert_eq!(after(proximity(9).after(plain)).unwrap_err(), SearchError::Cursor);
    assert_eq!(after(Search::best(9).after(placed)).unwrap_err(), SearchError::Cursor);
}

#[test]
fn scores_with_places_fade() {
    let index =
        tiny(1, 8 << 20).field("at", FieldKind::Time(TimeUnit::Milliseconds)).open().unwrap();
    for (key, text, at) in [("old", "a b x", 0), ("new", "x a b", 5000)] {
        index.put(key, Document::new().text(text).field("at", at)).unwrap();
    }
    let fading = proximity(2).recency_as_of("at", Duration::from_secs(1), 5000);
    let mut reader = index.reader().unwrap();
    let mut scores = |search: Search| -> Vec<(String, f32)> {
        let hits = reader.search("a b", search).unwrap();
        hits.keys().unwrap().into_iter().zip(hits.iter().filter_map(|hit| hit.score())).collect()
    };
    let (still, faded) = (scores(proximity(2)), scores(fading));
    assert_eq!((&*still[0].0, &*still[1].0), ("old", "new"));
    assert_eq!(faded, [still[1].clone(), ("old".to_owned(), still[0].1 / 32.0)]);
}

#[test]
fn without_positions_it_is_refused() {
    let index = tiny(1, 8 << 20).positions(false).open().unwrap();
    index.put("7", "a b").unwrap();
    let mut reader = index.reader().unwrap();
    let refused = reader.search("a b", proximity(1)).map(drop).unwrap_err();
    assert_eq!(refused, SearchError::NoPositions);
    assert!(refused.to_string().contains("index the documents again with positions"), "{refused}");
    assert_eq!(reader.explain("a b", &proximity(1), "7").unwrap_err(), SearchError::NoPositions);
    // Without an order by scores it has no effect.
    let newest = Search::newest(1).proximity();
    assert_eq!(reader.search("a b", newest.clone()).unwrap().len(), 1);
    assert!(reader.explain("a b", &newest, "7").unwrap().unwrap().matches());
}

fn options() -> Builder {
    tiny(2, 16 << 20)
        .field("title", FieldKind::Text(Analyzer::Simple))
        .field("note", FieldKind::Text(Analyzer::Simple))
        .field("level", FieldKind::Keyword)
}

fn words(chance: &mut Chance, most: u64) -> String {
    let count = if chance.below(9) == 0 { most * 9 } else { chance.below(most + 1) };
    let word = |chance: &mut Chance| format!("w{} ", chance.below(20).min(chance.below(20)));
    (0..count).map(|_| word(chance)).collect()
}

/// Most have a title, some two, few notes, some no text, and some were replaced or deleted. A few have a word more often than a
/// posting says.
fn fill(index: &Index, oracle: &mut Oracle) {
    let mut chance = Chance::new(3);
    for number in 0..DOCUMENTS {
        let mut text = if number % 11 == 0 { String::new() } else { words(&mut chance, 24) };
        if number % 300 == 7 {
            text += &"w3 w4 w3 ".repeat(200);
        }
        let mut given = vec![("level", ["info", "error"][usize::from(number % 5 == 0)].to_owned())];
        for (name, every) in [("title", 2), ("title", 7), ("note", 3), ("note", 9)] {
            if number % every == 0 {
                given.push((name, words(&mut chance, 8)));
            }
        }
        let key = format!("k{}", number.saturating_sub(number % 13));
        let document = Document::new().key(&key).text(&text);
        let document = given.iter().fold(document, |all, (name, value)| all.field(name, &**value));
        index.add(&document).unwrap();
        let fields = given.iter().map(|(name, value)| match *name {
            "level" => ((*name).to_owned(), Value::Text(value.clone())),
            _ => ((*name).to_owned(), Value::Words(value.clone())),
        });
        oracle.add_document(Some(&key), &text, fields.collect());
        if number % 40 == 39 {
            let key = format!("k{}", number - 26);
            assert_eq!(index.delete(&key).unwrap(), oracle.delete(&key));
        }
        if number % 500 == 499 {
            index.flush().unwrap();
        }
    }
}

fn queries() -> Vec<Clause> {
    let of = |field: &str, word: &str| {
        Clause::Term(Word { field: field.to_owned(), text: word.to_owned() })
    };
    let text = |word: &str| of("text", word);
    let [a, b, c, d] = ["w0", "w1", "w7", "w12"].map(text);
    let either = |word: &str, tie| {
        Clause::best([of("title", word), of("text", word), of("note", word)], tie)
    };
    let both = Clause::all([b.clone(), c.clone()]);
    let many = |count: usize| (0..count).map(|number| text(&format!("w{}", number % 23)));
    vec![
        a.clone(),
        of("title", "w2"),
        of("note", "w2"),
        text("w3"),
        Clause::any([a.clone(), b.clone()]),
        Clause::any([text("w4"), text("w3")]),
        Clause::all([a.clone(), b.clone(), d.clone()]),
        Clause::all([of("title", "w1"), a.clone(), of("title", "w0"), b.clone(), of("note", "w5")]),
        Clause::any([a.clone().boost(3.0), c.clone().boost(0.25), d.clone()]),
        Clause::any([b.clone(), a.clone(), b.clone(), c.clone()]),
        Clause::all([Clause::any([a.clone(), b.clone()]), Clause::any([b.clone(), d.clone()])]),
        either("w1", 0.0),
        Clause::any([either("w1", 0.0), either("w6", 0.0)]),
        Clause::all([either("w0", 0.25), either("w2", 0.25)]),
        Clause::any([both.clone(), a.clone()]),
        Clause::all([both.clone(), a.clone()]),
        Clause::at_least(2, [a.clone(), c.clone(), d.clone()]),
        Clause::any([Clause::at_least(2, [a.clone(), c.clone(), d.clone()]), b.clone()]),
        a.clone().and_not(d.clone()),
        Clause::any([Clause::any([a.clone(), c.clone()]).and_not(d.clone()), b.clone()]),
        Clause::Bool(Bool {
            must: vec![a.clone()],
            should: vec![b.clone(), Clause::any([c.clone(), of("level", "error")])],
            not: vec![d.clone()],
            minimum: 1,
        }),
        Clause::any([Clause::phrase(&["w0", "w1"]), c.clone(), a.clone()]),
        Clause::all([Clause::phrase(&["w0", "w1"]), b.clone()]),
        Clause::any([a.clone(), Clause::Constant(Box::new(b.clone()), 2.0), c.clone()]),
        Clause::all([of("level", "info"), a.clone(), Clause::prefix("w1"), b.clone()]),
        Clause::any([Clause::all([of("level", "info")]), Clause::Everything]),
        Clause::any(many(63)),
        Clause::any(many(70)),
        Clause::all([Clause::any([a, b, c]), Clause::any(many(5)), d]),
    ]
}

fn check(index: &Index, oracle: &Oracle) {
    let mut reader = index.reader().unwrap();
    for asked in queries() {
        let query = Query::in_schema(&asked, &index.schema()).unwrap();
        let mut best = |search: Search| {
            let hits = reader.search(&query, search).unwrap();
            let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
            let found: Vec<(String, f32)> = hits.keys().unwrap().into_iter().zip(scores).collect();
            (found, hits.counts().unwrap().clone())
        };
        let (all, counts) = best(proximity(Search::HITS_MAX).exhaustive());
        assert_eq!(all.len(), oracle.matches(&asked).count(), "{asked}");
        let collection = collection(index, &asked, &counts);
        let mut placed = 0;
        for document in oracle.matches(&asked) {
            let (_, score) = all.iter().find(|(key, _)| *key == document.key).unwrap();
            let (score, fields) = (f64::from(*score), ["title", "note"]);
            let expected = collection.score_by_proximity(&asked, document, &fields).unwrap();
            let near = (score - expected).abs() <= 1e-4 * expected.max(1e-3);
            assert!(near, "{} scores {score}, not {expected}, by {asked}", document.key);
            placed += usize::from(expected > collection.score(&asked, document).unwrap() * 1.01);
        }
        let has_words =
            !matches!(&asked, Clause::Bool(all) if all.should.ends_with(&[Clause::Everything]));
        assert_eq!(placed > 0, has_words, "places count for {asked}");
        for k in [1, 10, 100] {
            for search in [proximity(k), proximity(k).windows()] {
                assert_eq!(best(search).0, all[..k.min(all.len())], "the best {k} of {asked}");
            }
        }
        for (key, score) in all.iter().step_by(200) {
            let explained = reader.explain(&query, &proximity(1), key).unwrap().unwrap();
            assert_eq!(explained.score(), *score, "{key} by {asked}:\n{explained}");
        }
    }
}

#[test]
fn scores_are_those_of_the_formula_in_each_form() {
    for postings in [Postings::Raw, Postings::Packed] {
        let directory = Directory::new();
        let options = || {
            let options = options().directory(directory.path()).nvm_bytes(64 << 20);
            options.log_bytes(4 << 20).merge_after(2).postings(postings)
        };
        let (index, mut oracle) = (options().open().unwrap(), Oracle::default());
        fill(&index, &mut oracle);
        let states = RefCell::new(BTreeSet::new());
        let index = in_each_form(index, options, |index| {
            let segments = index.stats().unwrap().segments;
            states.borrow_mut().extend(segments.into_iter().map(|segment| segment.state));
            check(index, &oracle);
        });
        assert_eq!(index.settings().packed, postings == Postings::Packed);
        let states = states.into_inner();
        assert!(["ingested", "merged"].iter().all(|state| states.contains(*state)), "{states:?}");
    }
}
