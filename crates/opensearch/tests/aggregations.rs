//! Aggregations on a real index: answers like OpenSearch's, and errors in its words.

mod shelf;

use proptest::prelude::*;
use spirit::Index;
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::Context;

use shelf::aggregates::{AGGREGATES, REFUSED};
use shelf::missing::{self, MISSING};
use shelf::pipelines::{self, PIPELINES};
use shelf::{NOW, index};

/// Returns the answer of an aggregation over all documents.
fn answer(index: &Index, aggregation: &str, typed: bool) -> Result<String, Refusal> {
    let asked = Json::parse(format!(r#"{{"x":{aggregation}}}"#).as_bytes())?;
    let schema = index.schema();
    let aggregations = Aggregations::read(&asked, &Context { schema: &schema, now: NOW })?;
    let aggregates = index.searcher().aggregate("*", &aggregations.facets());
    let aggregates = aggregates.map_err(|error| Refusal::from(&error))?;
    Ok(aggregations.answer(&aggregates, typed)?.to_string())
}

#[test]
fn answers_are_opensearchs() {
    let index = index();
    let mut wrong = Vec::new();
    for (aggregation, expected) in AGGREGATES.iter().chain(MISSING).chain(PIPELINES) {
        let found = answer(&index, aggregation, false);
        if found != Ok(format!(r#"{{"x":{expected}}}"#)) {
            wrong.push(format!("{aggregation}\n   {expected}\n   {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_aggregations_are_refused_in_opensearchs_words() {
    let index = index();
    let own = [
        (
            r#"{"weighted_avg":{"field":"views"}}"#,
            "illegal_argument_exception",
            "the aggregation [weighted_avg] is not supported by this server",
        ),
        (
            r#"{"terms":{"field":"at"}}"#,
            "illegal_argument_exception",
            "[terms] of moments is not supported by this server",
        ),
        (
            r#"{"terms":{"field":"price","missing":10.25},"aggs":{"m":{"max":{"field":"views"}}}}"#,
            "illegal_argument_exception",
            "[missing] with a value that documents have, and aggregations within it is not supported by this server",
        ),
        (
            r#"{"terms":{"field":"tag","include":"a)|(b"}}"#,
            "illegal_argument_exception",
            "[a)|(b] is no regular expression, or too large",
        ),
        (
            r#"{"terms":{"field":"tag","exclude":{"partition":0,"num_partitions":2}}}"#,
            "illegal_argument_exception",
            "[terms] with [exclude] by partitions is not supported by this server",
        ),
    ];
    let mut wrong = Vec::new();
    let theirs = REFUSED.iter().chain(missing::REFUSED).chain(pipelines::REFUSED);
    for (aggregation, kind, reason) in theirs.chain(&own) {
        match answer(&index, aggregation, false) {
            Err(refusal) if (refusal.kind, &*refusal.reason) == (kind, reason) => {}
            found => wrong.push(format!("{aggregation}\n   {kind}: {reason}\n   {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A filter counts the documents that its query finds, or is refused.
#[test]
fn filters_count_what_their_queries_find() {
    let index = index();
    let mut refused = Vec::new();
    for (query, keys) in shelf::answers::ANSWERS {
        let count = keys.split_whitespace().count();
        match answer(&index, &format!(r#"{{"filter":{query}}}"#), false) {
            Ok(found) => {
                assert_eq!(found, format!(r#"{{"x":{{"doc_count":{count}}}}}"#), "{query}")
            }
            Err(_) => refused.push(*query),
        }
    }
    assert_eq!(
        refused,
        [
            r#"{"match": {"title": {"query": "ehron", "fuzziness": 1, "fuzzy_transpositions": false}}}"#,
            r#"{"match": {"title": {"query": "hereon", "fuzziness": 1, "prefix_length": 4}}}"#,
            r#"{"term": {"title": "Heron"}}"#,
            r#"{"fuzzy": {"title": {"value": "wlof", "fuzziness": 1, "prefix_length": 1}}}"#,
            r#"{"fuzzy": {"title": {"value": "wlof", "fuzziness": 1, "transpositions": false}}}"#,
        ]
    );
}

#[test]
fn names_may_have_their_types() {
    let index = index();
    for (aggregation, begin) in [
        (r#"{"terms":{"field":"tag"}}"#, r#"{"sterms#x":"#),
        (r#"{"terms":{"field":"views"}}"#, r#"{"lterms#x":"#),
        (r#"{"percentiles":{"field":"views"}}"#, r#"{"tdigest_percentiles#x":"#),
        (r#"{"missing":{"field":"views"}}"#, r#"{"missing#x":"#),
        (
            r#"{"filter":{"match_all":{}},"aggs":{"y":{"avg":{"field":"views"}}}}"#,
            r#"{"filter#x":{"doc_count":5,"avg#y":"#,
        ),
    ] {
        let found = answer(&index, aggregation, true).unwrap();
        assert!(found.starts_with(begin), "{found}");
    }
}

#[test]
fn buckets_are_limited() {
    let index = index();
    let far = r#"{"date_histogram":{"field":"at","fixed_interval":"1ms","min_doc_count":0,
        "extended_bounds":{"min":0,"max":1795341600000}}}"#;
    let kind = answer(&index, far, false).unwrap_err().kind;
    assert_eq!(kind, "too_many_buckets_exception");
    let far = r#"{"date_histogram":{"field":"at","fixed_interval":"1d",
        "extended_bounds":{"min":1e300,"max":1e300}}}"#;
    let kind = answer(&index, far, false).unwrap_err().kind;
    assert_eq!(kind, "illegal_argument_exception", "beyond the calendar");
    let far = r#"{"histogram":{"field":"views","interval":1,
        "extended_bounds":{"min":0,"max":1e300}}}"#;
    let kind = answer(&index, far, false).unwrap_err().kind;
    assert_eq!(kind, "too_many_buckets_exception");
}

const NAMES: [&str; 30] = [
    "derivative",
    "moving_fn",
    "bucket_script",
    "bucket_sort",
    "max_bucket",
    "buckets_path",
    "script",
    "window",
    "terms",
    "date_histogram",
    "histogram",
    "range",
    "date_range",
    "filters",
    "filter",
    "avg",
    "stats",
    "percentiles",
    "missing",
    "field",
    "size",
    "order",
    "interval",
    "ranges",
    "from",
    "to",
    "aggs",
    "percents",
    "extended_bounds",
    "min_doc_count",
];

fn values() -> impl Strategy<Value = Json> {
    let texts = [
        "views",
        "at",
        "tag",
        "price",
        "1d",
        "desc",
        "2026-11-22",
        "x",
        "month",
        "_count",
        "views>_count",
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        (-3i64..200).prop_map(|number| Json::Number(number.into())),
        prop::sample::select(texts.to_vec()).prop_map(|text| Json::String(text.to_owned())),
    ];
    leaf.prop_recursive(5, 32, 4, |inner| {
        let member = (prop::sample::select(NAMES.to_vec()), inner.clone());
        let named = |(name, value): (&str, Json)| (name.to_owned(), value);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Json::Array),
            prop::collection::vec(member, 0..4).prop_map(move |members| {
                Json::Object(members.into_iter().map(named).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any value is an aggregation that the engine answers, or is refused.
    #[test]
    fn no_aggregation_panics(name in prop::sample::select(NAMES.to_vec()), value in values()) {
        let aggregation = Json::Object(vec![(name.to_owned(), value)]);
        let _ = answer(shelf::shared(), &aggregation.to_string(), true);
    }
}
