//! Random operations and questions, done to the engine and to the naive index at once, and held equal.
#![allow(dead_code, reason = "each test binary uses some of this")]

use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

use spirit::lab::Algorithm;
use spirit::lab::Counts;
use spirit::lab::Parameters;
use spirit::lab::Postings;
use spirit::query::Bool;
use spirit::schema::Schema;
use spirit::search::Total;
use spirit::{Clause, FieldKind, Hits, Index, Operator, Query, Reader, Search, SearchError};
use spirit_oracle::{Collection, Oracle, terms_of};

use crate::support::Chance;
use crate::support::fields::{Fields, asked_of_field, document, fields};
use crate::support::proximity::check_proximity;
use crate::support::valued::{check_facets, check_sorted};

/// What is done.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Add(String, Fields),
    Put(u8, String, Fields),
    Delete(u8),
    DeleteNumber(u16),
    Fill(u16),
    Flush,
    Ask(Clause),
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
        1 => (words(), 4u32..8, 250usize..600).prop_map(|(words, often, times)| {
            format!("{}{}", format!("w{often} ").repeat(times), words.join(" "))
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

pub(crate) fn asked() -> impl Strategy<Value = Clause> {
    let leaf = prop_oneof![
        8 => word().prop_map(|word| Clause::term(&word)),
        3 => phrase(),
        2 => phrase_prefix(),
        2 => pattern(),
        3 => asked_of_field(),
        1 => (0u8..40).prop_map(|k| Clause::key(&format!("k{k}"))),
        1 => Just(Clause::Everything),
        1 => prop_oneof![Just(Clause::Nothing), Just(Clause::term(&"x".repeat(256)))],
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        let few = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            3 => several().prop_map(Clause::all),
            3 => several().prop_map(Clause::any),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and_not(b)),
            2 => (0u32..4, prop::collection::vec(inner.clone(), 1..6))
                .prop_map(|(minimum, clauses)| Clause::at_least(minimum, clauses)),
            1 => (few(), few(), few(), 0u32..3).prop_map(|(must, should, not, minimum)| {
                Clause::Bool(Bool { must, should, not, minimum })
            }),
            2 => (several(), 0u8..5)
                .prop_map(|(clauses, tie)| Clause::best(clauses, f32::from(tie) / 4.0)),
            1 => (inner.clone(), 0u8..4).prop_map(|(a, by)| a.boost(f32::from(by) / 2.0)),
        ]
    })
}

/// Terms one behind the other: those that are frequent, or hardly any document would have them so.
fn phrase() -> impl Strategy<Value = Clause> {
    let word = prop_oneof![
        6 => (0u32..4).prop_map(|n| Some(format!("w{n}"))),
        2 => word().prop_map(Some),
        1 => Just(None),
    ];
    (prop::collection::vec(word, 2..4), 0u32..4).prop_map(|(words, slop)| {
        let words = match words.iter().flatten().count() {
            0 => vec![Some("w0".to_owned()), Some("w0".to_owned())],
            _ => words,
        };
        Clause::Phrase { field: "text".to_owned(), words, slop }
    })
}

/// Frequent terms one behind the other, and one of which only the beginning is known: the first letter of most, or more of it.
fn phrase_prefix() -> impl Strategy<Value = Clause> {
    let word = prop_oneof![8 => (0u32..4).prop_map(|n| Some(format!("w{n}"))), 1 => Just(None)];
    let last = (self::word(), 1usize..4)
        .prop_map(|(word, letters)| word[..letters.min(word.len())].to_owned());
    (prop::collection::vec(word, 0..3), last).prop_map(|(words, prefix)| Clause::PhrasePrefix {
        field: "text".to_owned(),
        words,
        prefix,
    })
}

/// What stands for several terms.
fn pattern() -> impl Strategy<Value = Clause> {
    prop_oneof![
        word().prop_map(|word| Clause::prefix(&word[..word.len() - 1])),
        word().prop_map(|word| Clause::wildcard(&format!("{}?", &word[..word.len() - 1]))),
        word().prop_map(|word| Clause::wildcard(&format!("*{}", &word[1..]))),
        word().prop_map(|word| Clause::regex(&format!("{}[0-9]", &word[..word.len() - 1]))),
        word().prop_map(|word| Clause::regex(&format!("(w|{}).?[1-3]*", &word[..1]))),
        (word(), 0u8..=2).prop_map(|(word, distance)| Clause::fuzzy(&word, distance)),
    ]
}

/// How lists are stored in the second tier.
pub(crate) fn postings() -> impl Strategy<Value = Postings> {
    prop_oneof![Just(Postings::Raw), Just(Postings::Packed)]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (text(), fields()).prop_map(|(text, fields)| Step::Add(text, fields)),
        3 => (0u8..40, text(), fields()).prop_map(|(k, t, fields)| Step::Put(k, t, fields)),
        1 => (0u8..40).prop_map(Step::Delete),
        1 => (0u16..3000).prop_map(Step::DeleteNumber),
        1 => (0u16..1500).prop_map(Step::Fill),
        1 => Just(Step::Flush),
        3 => asked().prop_map(Step::Ask),
    ]
}

fn query_of(index: &Index, asked: &Clause) -> Query {
    Query::in_schema(asked, &index.schema()).unwrap()
}

/// Every way to ask gives what the oracle says.
pub(crate) fn check(index: &Index, oracle: &Oracle, asked: &Clause) {
    let expected = oracle.search(asked);
    let query = format!("{asked:#}");
    let mut reader = index.reader().unwrap();
    let built = query_of(index, asked);
    if built.needs_positions() && !index.settings().positions {
        assert_eq!(reader.count(&query), Err(SearchError::NoPositions));
        return;
    }
    assert_eq!(reader.count(&query).unwrap(), expected.len() as u64, "count of {query}");
    let algorithms = [
        None,
        Some(Algorithm::Naive),
        Some(Algorithm::Binary),
        Some(Algorithm::Finger),
        Some(Algorithm::Simd),
    ];
    let mut parsed = Query::new();
    index.parser(Operator::Or).parse_into(&query, &mut parsed).unwrap();
    assert_eq!(reader.count(&built).unwrap(), expected.len() as u64, "count of {asked:?}");
    for algorithm in algorithms {
        let count = reader.count_by(&parsed, algorithm).unwrap();
        assert_eq!(count, expected.len() as u64, "count of {query} with {algorithm:?}");
        for k in [1, 10, 10_000] {
            let search = Search::newest(k).algorithm(algorithm);
            let found = reader.search(&query, search).unwrap().keys().unwrap();
            let expected = &expected[..k.min(expected.len())];
            assert_eq!(found, expected, "{query} with {algorithm:?}, k = {k}");
        }
    }
    let windows = reader.search(&query, Search::newest(10).windows()).unwrap();
    assert_eq!(windows.keys().unwrap(), expected[..10.min(expected.len())], "{query} by windows");
    drop(windows);
    let mut paged = Vec::new();
    let mut search = Search::newest(7);
    loop {
        let hits = reader.search(&query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        match hits.cursor().unwrap() {
            Some(cursor) if hits.len() == 7 => search = Search::newest(7).after(cursor),
            _ => break,
        }
    }
    assert_eq!(paged, expected[..paged.len().min(expected.len())], "pages of {query}");
    assert_eq!(paged.len(), expected.len(), "pages of {query}");
    check_totals(&mut reader, &built, expected.len() as u64);
    check_texts(index, oracle, asked);
    check_best(index, oracle, asked);
    check_proximity(index, oracle, &built, asked);
    check_parameters(&mut reader, &built, asked);
    check_sorted(index, oracle, &built, asked);
    check_facets(index, oracle, &built, asked);
}

/// Counts are exact up to any number, and above it they say that there are more.
fn check_totals(reader: &mut Reader, query: &Query, count: u64) {
    let sound = |up_to: u64, total: Total| match total {
        Total::Exact(exact) => exact == count && exact <= up_to,
        Total::AtLeast(least) => least > up_to && least <= count,
    };
    for up_to in [0, 1, 7, count.saturating_sub(1), count, u64::MAX] {
        let total = reader.count_up_to(query, up_to).unwrap();
        assert!(sound(up_to, total), "{total:?} of {count} up to {up_to}");
        for search in [Search::newest(3), Search::best(3)] {
            let alone = first_of(&reader.search(query, search.clone()).unwrap());
            let hits = reader.search(query, search.clone().total(up_to)).unwrap();
            assert_eq!(first_of(&hits), alone, "with a total up to {up_to}");
            let total = hits.total().unwrap();
            assert!(sound(up_to, total), "{total:?} of {count} up to {up_to}");
            let Some(cursor) = hits.cursor().unwrap() else { continue };
            drop(hits);
            let total = reader.search(query, search.after(cursor).total(up_to)).unwrap().total();
            assert!(total.is_some_and(|total| sound(up_to, total)), "{total:?} of {count}");
        }
    }
}

/// The keys of hits, with their scores to the last bit.
fn first_of(hits: &Hits<'_>) -> Vec<(String, Option<u32>)> {
    let keys = hits.keys().unwrap();
    keys.into_iter().zip(hits.iter().map(|hit| hit.score().map(f32::to_bits))).collect()
}

/// The best matches have the scores that the oracle gives them, and none that scores more is left out; passing over blocks
/// changes nothing, nor do pages.
fn check_best(index: &Index, oracle: &Oracle, asked: &Clause) {
    let mut reader = index.reader().unwrap();
    let query = query_of(index, asked);
    let mut best = |search: Search| {
        let hits = reader.search(&query, search).unwrap();
        let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
        let found: Vec<(String, f32)> = hits.keys().unwrap().into_iter().zip(scores).collect();
        (found, hits.counts().unwrap().clone(), hits.cursor().unwrap())
    };
    let (all, counts, _) = best(Search::best(Search::HITS_MAX).exhaustive());
    for k in [1, 10, Search::HITS_MAX] {
        let (usual, finger) = (Search::best(k), Search::best(k).algorithm(Algorithm::Finger));
        for search in [usual.clone(), usual.windows(), finger] {
            let (first, ..) = best(search.clone());
            assert_eq!(first, all[..k.min(all.len())], "the best {k} of {asked} by {search:?}");
        }
    }
    let (mut paged, mut search) = (Vec::new(), Search::best(7));
    loop {
        let (page, _, cursor) = best(search);
        paged.extend(page.iter().cloned());
        let Some(cursor) = cursor.filter(|_| page.len() == 7) else { break };
        search = Search::best(7).after(cursor);
    }
    assert_eq!(paged, all, "pages of the best of {asked}");
    check_explanations(index, oracle, asked, &all);
    check_scores(index, oracle, asked, &all, &counts);
}

/// Whatever scores are made of, passing over blocks changes nothing: not where all are equal either, or nearly so.
fn check_parameters(reader: &mut Reader, query: &Query, asked: &Clause) {
    for (k1, b) in [(0.0, 0.75), (1e-6, 0.5), (1.2, 1.0)] {
        let mut best = |k, skips: bool| {
            let search = Search::best(k).bm25(k1, b);
            let search = if skips { search } else { search.exhaustive() };
            let hits = reader.search(query, search).unwrap();
            let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
            hits.keys().unwrap().into_iter().zip(scores).collect::<Vec<_>>()
        };
        let all = best(20, false);
        for k in [3, 20] {
            let first = &all[..k.min(all.len())];
            assert_eq!(best(k, true), first, "the best {k} of {asked}, k1 = {k1}, b = {b}");
        }
    }
}

/// A document's explanation ends with the score that it has, to the bit; of one that does not match it says so.
fn check_explanations(index: &Index, oracle: &Oracle, asked: &Clause, all: &[(String, f32)]) {
    let (mut reader, query) = (index.reader().unwrap(), query_of(index, asked));
    let search = Search::best(1);
    let some = all.len().div_ceil(12).max(1);
    for (key, score) in all.iter().step_by(some) {
        let explained = reader.explain(&query, &search, key).unwrap().unwrap();
        assert!(explained.matches(), "{key} by {asked}:\n{explained}");
        assert_eq!(explained.score().to_bits(), score.to_bits(), "{key} by {asked}:\n{explained}");
    }
    let found: HashSet<&str> = oracle.matches(asked).map(|document| &*document.key).collect();
    for document in oracle.documents().step_by(some + 7) {
        let explained = reader.explain(&query, &search, &document.key).unwrap().unwrap();
        let expected = found.contains(&*document.key);
        assert_eq!(explained.matches(), expected, "{} by {asked}:\n{explained}", document.key);
        assert!(expected || explained.score() == 0.0);
    }
    assert!(reader.explain(&query, &search, "nobody").unwrap().is_none());
}

/// Documents and words of the text, and of the fields that scores are computed of, by name.
pub(crate) fn fields_of(schema: &Schema, counts: &Counts) -> HashMap<String, (u64, u64)> {
    let named = counts.fields.iter().map(|(id, statistics)| {
        (schema.get(*id).expect("a field of the schema").name.clone(), *statistics)
    });
    let text = ("text".to_owned(), counts.statistics);
    named.chain([text]).map(|(name, of)| (name, (of.documents, of.tokens))).collect()
}

fn check_scores(
    index: &Index,
    oracle: &Oracle,
    asked: &Clause,
    all: &[(String, f32)],
    counts: &Counts,
) {
    let schema = index.schema();
    let has_terms = |field: &str| {
        let kind = schema.by_name(field).map(|field| field.kind);
        kind.is_some_and(|kind| kind.is_text() || kind == FieldKind::Keyword)
    };
    let terms = terms_of(asked, &has_terms);
    assert_eq!(terms.len(), counts.with_term.len(), "{asked}");
    let collection = Collection {
        fields: fields_of(&schema, counts),
        with_term: terms.into_iter().zip(counts.with_term.iter().copied()).collect(),
        parameters: Parameters::default(),
        frequency_max: if index.settings().positions { usize::MAX } else { 255 },
    };
    let found: BTreeMap<&str, f32> =
        all.iter().map(|(key, score)| (key.as_str(), *score)).collect();
    let worst = if all.len() < Search::HITS_MAX { -1.0 } else { all[Search::HITS_MAX - 1].1 };
    for document in oracle.matches(asked) {
        let Some(expected) = collection.score(asked, document) else { continue };
        match found.get(document.key.as_str()) {
            Some(score) => {
                let near = (f64::from(*score) - expected).abs() <= 1e-4 * expected.max(1e-3);
                assert!(near, "{} scores {score}, not {expected}, by {asked}", document.key);
            }
            None => assert!(
                expected <= f64::from(worst) * 1.0001,
                "{} is not among the best",
                document.key
            ),
        }
    }
    let matches = oracle.matches(asked).count();
    assert_eq!(all.len(), matches.min(Search::HITS_MAX), "how many of the best of {asked}");
}

/// An index that stores texts gives them back as they were given; another says that it does not.
fn check_texts(index: &Index, oracle: &Oracle, asked: &Clause) {
    let query = format!("{asked:#}");
    let mut reader = index.reader().unwrap();
    let texts = reader.search(&query, Search::newest(Search::HITS_MAX)).unwrap().texts();
    // There may be more documents than one search finds.
    let found = oracle.matches(asked).take(Search::HITS_MAX);
    let mut expected = found.map(|document| document.text.as_str());
    if index.settings().store {
        let texts = texts.unwrap();
        assert!(texts.iter().map(String::as_str).eq(expected), "texts of {query}");
    } else {
        assert_eq!(texts.is_err(), expected.next().is_some(), "texts of {query}");
    }
}

/// Does a step to both.
pub(crate) fn apply(index: &Index, oracle: &mut Oracle, step: &Step) {
    match step {
        Step::Add(text, fields) => {
            index.add(document(text, fields)).unwrap();
            oracle.add_document(None, text, fields.clone());
        }
        Step::Put(key, text, fields) => {
            let key = format!("k{key}{}", if *key % 3 == 0 { "withalongkey" } else { "" });
            index.add(document(text, fields).key(&key)).unwrap();
            oracle.add_document(Some(&key), text, fields.clone());
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
