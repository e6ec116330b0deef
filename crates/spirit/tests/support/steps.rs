//! Random operations and questions, done to the engine and to the naive index at once, and held equal.
#![allow(dead_code, reason = "each test binary uses some of this")]

use proptest::prelude::*;
use spirit::{Algorithm, HITS_MAX, Index, Operator, Query, Search};
use spirit_oracle::{Asked, Oracle};

use crate::support::Chance;

/// What is done.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Add(String),
    Put(u8, String),
    Delete(u8),
    DeleteNumber(u16),
    Fill(u16),
    Flush,
    Ask(Asked),
}

/// Words with a skew: `w0` is in every second document, the last ones are rare.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        (0u32..4).prop_map(|n| format!("w{n}")),
        (0u32..40).prop_map(|n| format!("w{n}")),
        (0u32..2000).prop_map(|n| format!("w{n}")),
        (0u32..50).prop_map(|n| format!("averylongwordthatdoesnotfitinakey{n}")),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let words = || prop::collection::vec(word(), 0..14);
    prop_oneof![
        12 => words().prop_map(|words| words.join(" ")),
        1 => (words(), 0usize..20_000, any::<u64>()).prop_map(|(words, marks, seed)| {
            format!("{} {}", words.join(" "), filling(marks, seed))
        }),
    ]
}

/// Marks that are no words to an analyzer, so that a text is longer than its words; some can be compressed well, some not.
fn filling(marks: usize, seed: u64) -> String {
    let mut chance = Chance::new(seed);
    let kinds = [1, 4, 112][(seed % 3) as usize];
    let mark = |at: usize| char::from_u32(0x2190 + chance.below(kinds) as u32 + (at % 2) as u32);
    (0..marks / 3).filter_map(mark).collect()
}

pub(crate) fn asked() -> impl Strategy<Value = Asked> {
    let leaf = prop_oneof![
        8 => word().prop_map(Asked::Word),
        1 => (0u8..40).prop_map(|k| Asked::Key(format!("k{k}"))),
        1 => Just(Asked::Everything),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Asked::All),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Asked::Any),
            (inner.clone(), inner).prop_map(|(a, b)| Asked::Except(Box::new(a), Box::new(b))),
        ]
    })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => text().prop_map(Step::Add),
        3 => (0u8..40, text()).prop_map(|(k, t)| Step::Put(k, t)),
        1 => (0u8..40).prop_map(Step::Delete),
        1 => (0u16..3000).prop_map(Step::DeleteNumber),
        1 => (0u16..1500).prop_map(Step::Fill),
        1 => Just(Step::Flush),
        3 => asked().prop_map(Step::Ask),
    ]
}

/// Every way to ask gives what the oracle says.
pub(crate) fn check(index: &Index, oracle: &Oracle, asked: &Asked) {
    let expected = oracle.search(asked);
    let query = asked.text();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count_text(&query).unwrap(), expected.len() as u64, "count of {query}");
    let algorithms = [
        None,
        Some(Algorithm::Naive),
        Some(Algorithm::Binary),
        Some(Algorithm::Finger),
        Some(Algorithm::Simd),
    ];
    let mut parsed = Query::new();
    index.parser(Operator::Or).parse_into(&query, &mut parsed).unwrap();
    for algorithm in algorithms {
        let count = reader.count_by(&parsed, algorithm);
        assert_eq!(count, expected.len() as u64, "count of {query} with {algorithm:?}");
        for k in [1, 10, 10_000] {
            let search = Search::newest(k);
            let search = algorithm.map_or(search, |a| search.algorithm(a));
            let found = reader.search_text(&query, search).unwrap().keys().unwrap();
            let expected = &expected[..k.min(expected.len())];
            assert_eq!(found, expected, "{query} with {algorithm:?}, k = {k}");
        }
    }
    let mut paged = Vec::new();
    let mut search = Search::newest(7);
    loop {
        let hits = reader.search_text(&query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        match hits.cursor().unwrap() {
            Some(cursor) if hits.len() == 7 => search = Search::newest(7).after(cursor),
            _ => break,
        }
    }
    assert_eq!(paged, expected[..paged.len().min(expected.len())], "pages of {query}");
    assert_eq!(paged.len(), expected.len(), "pages of {query}");
    check_texts(index, oracle, asked);
}

/// An index that stores texts gives them back as they were given; another says that it does not.
fn check_texts(index: &Index, oracle: &Oracle, asked: &Asked) {
    let query = asked.text();
    let mut reader = index.reader().unwrap();
    let texts = reader.search_text(&query, Search::newest(HITS_MAX)).unwrap().texts();
    // There may be more documents than one search finds.
    let found = oracle.matches(asked).take(HITS_MAX);
    let mut expected = found.map(|document| document.text.as_str());
    if index.options().get_store() {
        let texts = texts.unwrap();
        assert!(texts.iter().map(String::as_str).eq(expected), "texts of {query}");
    } else {
        assert_eq!(texts.is_err(), expected.next().is_some(), "texts of {query}");
    }
}

/// Does a step to both.
pub(crate) fn apply(index: &Index, oracle: &mut Oracle, step: &Step) {
    match step {
        Step::Add(text) => {
            index.add(text).unwrap();
            oracle.add(None, text);
        }
        Step::Put(key, text) => {
            let key = format!("k{key}{}", if *key % 3 == 0 { "withalongkey" } else { "" });
            index.put(&key, text).unwrap();
            oracle.add(Some(&key), text);
        }
        Step::Delete(key) => {
            let key = format!("k{key}");
            assert_eq!(index.delete(&key).unwrap(), oracle.delete(&key));
        }
        Step::DeleteNumber(number) => {
            let key = number.to_string();
            assert_eq!(index.delete(&key).unwrap(), oracle.delete(&key), "delete {key}");
        }
        Step::Fill(count) => {
            let texts: Vec<String> =
                (0..*count).map(|n| format!("w{} w{} fill{}", n % 3, n % 50, n % 700)).collect();
            let added = index.add_all(texts.iter().map(|t| (None, t.as_str()))).unwrap();
            assert_eq!(added, *count as u64);
            for text in &texts {
                oracle.add(None, text);
            }
        }
        Step::Flush => index.flush().unwrap(),
        Step::Ask(asked) => check(index, oracle, asked),
    }
}
