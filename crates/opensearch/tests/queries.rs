//! Queries on a real index: documents that OpenSearch finds too, and errors in its words.

mod shelf;

use proptest::prelude::*;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::{self, CLAUSES_MAX, Context, DEPTH_MAX};

use shelf::answers::ANSWERS;
use shelf::refusals::{REFUSED_HERE, REFUSED_THERE};
use shelf::{NOW, clause, found, index};

#[test]
fn queries_find_what_opensearch_finds() {
    let index = index();
    let wrong: Vec<String> = ANSWERS
        .iter()
        .filter(|(query, keys)| found(&index, query) != Ok((*keys).to_owned()))
        .map(|(query, keys)| format!("{query}: {keys:?}, not {:?}", found(&index, query)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_queries_are_refused_in_opensearchs_words() {
    let index = index();
    let mut wrong = Vec::new();
    for (query, kind, reason) in REFUSED_THERE.iter().chain(REFUSED_HERE) {
        match found(&index, query) {
            Err(refusal) if (refusal.kind, &*refusal.reason) == (kind, reason) => {}
            Err(refusal) => wrong.push(format!("{query}\n   {kind}: {reason}\n   {refusal}")),
            Ok(_) => wrong.push(format!("{query}\n   {kind}: {reason}\n   accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a query within `depth` others.
fn nested(depth: usize) -> String {
    let (open, close) = (r#"{"bool":{"should":[{"match_none":{}},"#, "]}}");
    format!("{}{{\"match_all\":{{}}}}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn depth_and_size_are_limited() {
    let index = index();
    let kind = |query: &str| clause(&index, query).map(drop).map_err(|refusal| refusal.kind);
    assert_eq!(kind(&nested(DEPTH_MAX - 2)), Ok(()));
    assert_eq!(kind(&nested(DEPTH_MAX)), Err("illegal_argument_exception"));
    assert_eq!(kind(&nested(40)), Err("illegal_argument_exception"));
    assert_eq!(kind(&nested(100_000)), Err("json_parse_exception"));
    let deep = format!(r#"{{"query_string":{{"query":"{}x"}}}}"#, "(".repeat(30_000));
    assert_eq!(kind(&deep), Err("illegal_argument_exception"));
    let deep = format!(r#"{{"simple_query_string":{{"query":"{}x"}}}}"#, "(".repeat(30_000));
    assert_eq!(kind(&deep), Err("illegal_argument_exception"));
    let blank = format!(r#"{{"query_string":{{"query":"{}"}}}}"#, ", ".repeat(2000));
    assert_eq!(kind(&blank), Err("too_many_clauses"));
    let long = format!(r#"{{"query_string":{{"query":"{}"}}}}"#, "a".repeat(32_001));
    assert_eq!(kind(&long), Err("query_shard_exception"));
    let ids = |count: usize| format!(r#"{{"ids":{{"values":[{}]}}}}"#, vec!["1"; count].join(","));
    assert_eq!(kind(&ids(CLAUSES_MAX - 1)), Ok(()));
    assert_eq!(kind(&ids(CLAUSES_MAX)), Err("too_many_clauses"));
    let words = format!(r#"{{"match":{{"title":"{}"}}}}"#, "a ".repeat(2000));
    assert_eq!(kind(&words), Err("too_many_clauses"));
}

/// Names and values that queries have, so that random ones get far.
const NAMES: [&str; 40] = [
    "match",
    "match_phrase",
    "match_phrase_prefix",
    "match_bool_prefix",
    "multi_match",
    "term",
    "terms",
    "range",
    "exists",
    "prefix",
    "wildcard",
    "regexp",
    "fuzzy",
    "ids",
    "bool",
    "boosting",
    "constant_score",
    "dis_max",
    "nested",
    "query_string",
    "simple_query_string",
    "match_all",
    "title",
    "views",
    "at",
    "tag",
    "query",
    "value",
    "fields",
    "gte",
    "lte",
    "must",
    "should",
    "filter",
    "must_not",
    "values",
    "field",
    "path",
    "fuzziness",
    "minimum_should_match",
];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        ".{0,12}",
        "[a-z(){}\\[\\]\"~^*?:/+|! \\\\-]{0,16}",
        "(now|2026-11-22\\|\\|)[+-/]?[0-9]{0,3}[yMwdhms/é]{0,2}",
        "[0-9<%. -]{1,8}",
    ]
}

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|number| Json::Number(number.into())),
        texts().prop_map(Json::String),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner), 0..4).prop_map(
                |members| {
                    let named = |(name, value): (&str, Json)| (name.to_owned(), value);
                    Json::Object(members.into_iter().map(named).collect())
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any value is a query that the engine answers or refuses, or is refused.
    #[test]
    fn no_value_panics(value in values(), name in prop::sample::select(NAMES.to_vec())) {
        let schema = shelf::shared().schema();
        let context = Context { schema: &schema, now: NOW };
        let query = Json::Object(vec![(name.to_owned(), value)]);
        if let Ok(clause) = query::clause(&query, &context) {
            let _ = shelf::shared().searcher().count(clause);
        }
    }

    /// Any text is a query in Lucene's syntax, or is refused.
    #[test]
    fn no_text_panics(text in texts(), begin in texts()) {
        let schema = shelf::shared().schema();
        let context = Context { schema: &schema, now: NOW };
        let text = format!("{begin}{text}");
        if let Ok(clause) = query::of_text(&text, Vec::new(), &context) {
            let _ = shelf::shared().searcher().count(clause);
        }
        let simple = format!(r#"{{"simple_query_string":{{"query":{}}}}}"#, Json::String(text));
        let simple = Json::parse(simple.as_bytes()).unwrap();
        if let Ok(clause) = query::clause(&simple, &context) {
            let _ = shelf::shared().searcher().count(clause);
        }
    }
}
