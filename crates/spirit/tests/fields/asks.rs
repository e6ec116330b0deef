//! Ranges, sets, fields that documents have, and orders by fields: every way to ask gives what the naive index says.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use proptest::prelude::*;
use spirit::lab::StoredValue;
use spirit::query::{Problem, Word};
use spirit::schema::Schema;
use spirit::search::Direction;
use spirit::{Clause, Index, Operator, Query, Search};
use spirit_oracle::{Document, Oracle};

use crate::naive::stored;

/// What is asked, and the field that hits are sorted by.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    clause: Clause,
    sort: &'static str,
}

/// Fields that have values which are no texts, and the one that may be a keyword.
const FIELDS: [&str; 6] = ["views", "score", "@timestamp", "seen", "flag", "channel"];

fn value_of(field: &'static str) -> BoxedStrategy<String> {
    match field {
        "views" => prop_oneof![
            6 => prop_oneof![any::<i64>(), -9i64..9].prop_map(|n| n.to_string()),
            1 => (-18i64..18).prop_map(|n| (n as f64 / 2.0).to_string()),
            1 => prop::sample::select(&["9007199254740993", "9223372036854775807", "-1e19"][..])
                .prop_map(str::to_owned),
        ]
        .boxed(),
        "score" => prop_oneof![-1e9..1e9f64, (-9i64..9).prop_map(|n| n as f64)]
            .prop_map(|n| n.to_string())
            .boxed(),
        "@timestamp" => (0i64..9_000_000_000).prop_map(|n| n.to_string()).boxed(),
        "seen" => (0i64..9_000_000).prop_map(|n| n.to_string()).boxed(),
        "flag" => any::<bool>().prop_map(|yes| yes.to_string()).boxed(),
        _ => prop_oneof![(0u32..12).prop_map(|n| format!("w{n}")), "[a-z ]{0,2}"].boxed(),
    }
}

fn end(field: &'static str) -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        1 => Just(Bound::Unbounded),
        3 => value_of(field).prop_map(Bound::Included),
        2 => value_of(field).prop_map(Bound::Excluded),
    ]
}

fn leaf() -> impl Strategy<Value = Clause> {
    prop::sample::select(&FIELDS[..]).prop_flat_map(|field| {
        prop_oneof![
            6 => (end(field), end(field)).prop_map(move |(from, to)| {
                Clause::Range { field: field.to_owned(), from, to }
            }),
            2 => prop::collection::vec(value_of(field), 0..5)
                .prop_map(move |values| Clause::one_of(field, values)),
            2 => value_of(field).prop_map(move |value| Clause::value(field, value)),
            1 => Just(Clause::exists(field)),
            2 => (0u32..6).prop_map(|n| Clause::term(&format!("w{n}"))),
            1 => Just(Clause::Everything),
        ]
    })
}

pub(crate) fn ask() -> impl Strategy<Value = Ask> {
    let clause = leaf().prop_recursive(2, 6, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            2 => several().prop_map(Clause::all),
            1 => several().prop_map(Clause::any),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and_not(b)),
            1 => several().prop_map(|clauses| Clause::at_least(2, clauses)),
        ]
    });
    (clause, prop::sample::select(&FIELDS[..])).prop_map(|(clause, sort)| Ask { clause, sort })
}

/// Asks, if the index has the fields, and they are of a kind that can be asked so.
pub(crate) fn check(index: &Index, oracle: &Oracle, Ask { clause, sort }: &Ask) {
    let schema = index.schema();
    let Some(query) = query(index, &schema, clause) else { return };
    check_each_field(index, &schema);
    let mut reader = index.reader().unwrap();
    let expected = oracle.search(clause);
    assert_eq!(reader.count(&query).unwrap(), expected.len() as u64, "count of {clause}");
    let found = reader.search(&query, Search::newest(HITS)).unwrap().keys().unwrap();
    assert_eq!(found, expected[..expected.len().min(HITS)], "newest of {clause}");
    check_best(index, &query, clause, expected.len());
    check_faded(index, &schema, &query, clause);
    if schema.asked_whole(sort).is_some_and(|(_, kind)| !kind.is_text()) {
        for direction in [Direction::Ascending, Direction::Descending] {
            check_sorted(index, oracle, &query, clause, sort, direction);
        }
    }
}

/// Words without a field's name find what the best of all fields of text finds, with its scores.
fn check_each_field(index: &Index, schema: &Schema) {
    let texts = || schema.fields().iter().filter(|field| field.kind.is_text());
    let best = |of: &dyn Fn(String) -> Clause| {
        Clause::best(texts().map(|field| of(field.name.clone())), 0.0)
    };
    let word = |text: &str| {
        let text = text.to_owned();
        move |field| Word { field, text: text.clone() }
    };
    let asks = [
        ("w1", best(&|field| Clause::words_in(&field, "w1"))),
        ("w*", best(&|field| Clause::Prefix(word("w")(field)))),
        ("/w[12]/", best(&|field| Clause::Regex(word("w[12]")(field)))),
        (
            "w1 -w2",
            best(&|field| Clause::words_in(&field, "w1"))
                .and_not(best(&|field| Clause::words_in(&field, "w2"))),
        ),
        ("\"w1 w2\"", best(&|field| Clause::words_in(&field, "w1 w2"))),
    ];
    let mut reader = index.reader().unwrap();
    for (text, clause) in
        asks.iter().filter(|(text, _)| !text.starts_with('"') || index.settings().positions)
    {
        let mut found = |search: Search, is_text: bool| {
            let hits = match is_text {
                true => reader.search(*text, search),
                false => reader.search(clause, search),
            };
            let hits = hits.unwrap();
            let scores: Vec<Option<f32>> = hits.iter().map(|hit| hit.score()).collect();
            (hits.keys().unwrap(), scores)
        };
        for search in [Search::newest(HITS), Search::best(HITS)] {
            assert_eq!(found(search.clone(), true), found(search, false), "{text}");
        }
    }
}

const HITS: usize = 2000;

/// What is written down is parsed into a query that finds as much as the one that is built; neither is if a field is missing, is
/// of words that are cut, or holds other values.
fn query(index: &Index, schema: &Schema, clause: &Clause) -> Option<Query> {
    let text = format!("{clause:#}");
    let cut = schema.by_name("channel").is_none_or(|field| field.kind.is_text());
    if cut && text.contains("channel:") {
        return None;
    }
    let parsed = index.parser(Operator::Or).parse(&text);
    let built = Query::in_schema(clause, schema);
    if matches!(built, Err(Problem::UnknownField)) {
        return None;
    }
    assert_eq!(parsed.is_ok(), built.is_ok(), "{text}: {:?}", parsed.err());
    let mut reader = index.reader().unwrap();
    let (parsed, built) = (parsed.ok()?, built.ok()?);
    assert_eq!(reader.count(&parsed).unwrap(), reader.count(&built).unwrap(), "{text}");
    Some(built)
}

/// Passing over blocks changes nothing, and as many are found.
fn check_best(index: &Index, query: &Query, clause: &Clause, matches: usize) {
    let mut reader = index.reader().unwrap();
    let mut best = |search| reader.search(query, search).unwrap().keys().unwrap();
    let all = best(Search::best(HITS).exhaustive());
    assert_eq!(all.len(), matches.min(HITS), "best of {clause}");
    assert_eq!(best(Search::best(HITS)), all, "best of {clause}");
}

/// Scores that fade are those of documents that do not, less what their age takes; passing over blocks changes nothing.
fn check_faded(index: &Index, schema: &Schema, query: &Query, clause: &Clause) {
    if schema.by_name("@timestamp").is_none() {
        return;
    }
    let mut reader = index.reader().unwrap();
    let half_life = Duration::from_secs(1_000_000);
    let faded = |k| Search::best(k).recency_as_of("@timestamp", half_life, 9_000_000_000);
    let mut best = |search: Search| {
        let hits = reader.search(query, search).unwrap();
        let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
        hits.keys().unwrap().into_iter().zip(scores).collect::<Vec<_>>()
    };
    let all = best(faded(HITS).exhaustive());
    assert!(all.is_sorted_by(|a, b| a.1 >= b.1), "{clause}");
    for k in [5, HITS] {
        let found = best(faded(k));
        assert_eq!(found, all[..all.len().min(k)], "the best {k} of {clause}, faded");
    }
    let plain: BTreeMap<String, f32> = best(Search::best(HITS)).into_iter().collect();
    for (key, score) in all.iter().filter(|_| plain.len() < HITS) {
        assert!(*score <= plain[key], "{key} by {clause}");
    }
}

fn check_sorted(
    index: &Index,
    oracle: &Oracle,
    query: &Query,
    clause: &Clause,
    field: &str,
    direction: Direction,
) {
    let expected = oracle.sorted(clause, field, direction == Direction::Descending);
    let keys: Vec<&str> = expected.iter().map(|document| &*document.key).collect();
    let mut reader = index.reader().unwrap();
    let (mut paged, mut search) = (Vec::new(), Search::by_field(7, field, direction));
    let pages = 5;
    for _ in 0..pages {
        let hits = reader.search(query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { break };
        let cursor = cursor.to_string().parse().unwrap();
        search = Search::by_field(7, field, direction).after(cursor);
    }
    let count = keys.len().min(7 * pages);
    assert_eq!(paged, keys[..count], "pages of {clause} by {field}, {direction:?}");
    for k in [1, HITS] {
        let hits = reader.search(query, Search::by_field(k, field, direction)).unwrap();
        let count = keys.len().min(k);
        assert_eq!(
            hits.keys().unwrap(),
            keys[..count],
            "{k} of {clause} by {field}, {direction:?}"
        );
        check_values(
            index,
            &hits.iter().map(|hit| hit.sort_value().and_then(StoredValue::of)).collect::<Vec<_>>(),
            &expected,
            field,
        );
    }
}

/// Each hit is sorted by a value that its document has, or has none.
fn check_values(index: &Index, found: &[Option<StoredValue>], expected: &[&Document], field: &str) {
    let schema = index.schema();
    for (value, document) in found.iter().zip(expected) {
        let given = document.fields.iter().filter(|(name, _)| name == field);
        let given = given.map(|(name, value)| stored(&schema, name, value));
        let mut given = given;
        match value {
            Some(value) => assert!(given.any(|given| given == *value), "{value:?} of {document:?}"),
            None => assert_eq!(given.next(), None, "{document:?}"),
        }
    }
}
