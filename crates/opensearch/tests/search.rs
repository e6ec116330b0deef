//! Bodies and URL parameters of `_search`, on a real index.

mod shelf;

use std::time::Duration;

use proptest::prelude::*;
use spirit::{Clause, Index, Search};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{SearchBody, TrackTotalHits};

use shelf::{NOW, index};

/// Returns the keys of the hits of a body, in their order.
fn hits(index: &Index, body: &str) -> Result<String, Refusal> {
    let body = SearchBody::parse(body.as_bytes())?;
    body.check()?;
    let schema = index.schema();
    let context = Context { schema: &schema, now: NOW };
    let searcher = index.searcher();
    let keys = |clause: Clause, search: Search| -> Result<Vec<String>, Refusal> {
        let hits = searcher.search(clause, search).map_err(|error| Refusal::from(&error))?;
        Ok(hits.keys().unwrap())
    };
    let mut found: Vec<String> = Vec::new();
    if let (Some(ties), Some(after)) = (body.ties_clause(&context)?, body.after_document()) {
        let search = Search::newest(body.size).after(after.sequence.to_string().parse().unwrap());
        found.extend(keys(ties, search)?);
    }
    found.extend(keys(body.page_clause(&context)?, body.order(&schema)?)?);
    let page: Vec<String> = found.into_iter().skip(body.from).take(body.size).collect();
    Ok(page.join(" "))
}

#[test]
fn bodies_find_hits_in_their_order() {
    let index = index();
    for (body, keys) in [
        ("", "5 4 3 2 1"),
        (r#"{"size": 2}"#, "5 4"),
        (r#"{"from": 3, "size": "5"}"#, "2 1"),
        (r#"{"size": 0}"#, ""),
        (r#"{"sort": "views"}"#, "3 1 5 4 2"),
        (r#"{"sort": ["views", "_doc"]}"#, "3 1 5 4 2"),
        (r#"{"sort": {"views": "desc"}}"#, "2 5 4 1 3"),
        (r#"{"sort": [{"views": {"order": "desc", "mode": "max"}}, {"at": "asc"}]}"#, "2 4 5 1 3"),
        (r#"{"sort": [{"price": {"order": "desc"}}]}"#, "4 2 1 5 3"),
        (r#"{"sort": [{"price": {"missing": "_first"}}, {"tag": "asc"}]}"#, "3 5 1 2 4"),
        (r#"{"sort": [{"level": "asc"}]}"#, "4 2 1 3 5"),
        (r#"{"sort": [{"level.keyword": "desc"}]}"#, "3 1 2 4 5"),
        (r#"{"sort": [{"nowhere": {"unmapped_type": "long"}}, "tag"]}"#, "2 4 3 1 5"),
        (r#"{"sort": [{"nowhere": {"unmapped_type": "long"}}]}"#, "5 4 3 2 1"),
        (r#"{"sort": ["_doc"]}"#, "5 4 3 2 1"),
        (r#"{"query": {"match": {"title": "wolf heron"}}, "sort": ["_score", "_doc"]}"#, "2 4 1"),
        (r#"{"query": {"term": {"tag": "bird"}}, "post_filter": {"term": {"views": 3}}}"#, "1"),
        (r#"{"sort": ["views"], "search_after": [3]}"#, "5 4 2"),
        (r#"{"sort": [{"views": "desc"}], "search_after": [10]}"#, "1 3"),
        (r#"{"sort": [{"views": "desc"}, "tag"], "search_after": [10, "beast"]}"#, "5 1 3"),
        (r#"{"sort": [{"views": "desc"}, "_doc"], "search_after": [10, 4]}"#, "4 1 3"),
        (r#"{"sort": [{"views": "desc"}, "_doc"], "search_after": [10, 9]}"#, "5 4 1 3"),
        (r#"{"sort": ["_doc"], "search_after": [3], "size": 2}"#, "3 2"),
        (r#"{"sort": [{"at": "desc"}], "search_after": [1795391999999]}"#, "1 5"),
        (r#"{"sort": [{"at": "desc"}], "search_after": ["2026-11-23"]}"#, "2 1 5"),
        (r#"{"sort": ["price"], "search_after": [10.25]}"#, "5 3"),
        (r#"{"sort": ["price", "tag"], "search_after": [null, "bird"]}"#, "5"),
        (r#"{"sort": [{"price": {"missing": "_first"}}], "search_after": [null]}"#, "1 2 4"),
        (r#"{"sort": ["level"], "search_after": ["Info"]}"#, "1 3 5"),
    ] {
        assert_eq!(hits(&index, body), Ok(keys.to_owned()), "{body}");
    }
}

#[test]
fn wrong_bodies_are_refused() {
    let index = index();
    let window = "Result window is too large, from + size must be less than or equal to: [10000] but \
                  was [10001]. See the scroll api for a more efficient way to request large data \
                  sets. This limit can be set by changing the [index.max_result_window] index level \
                  setting.";
    let time = |value: &str| {
        format!(
            "failed to parse setting [timeout] with value [{value}] as a time value: unit is \
             missing or unrecognized"
        )
    };
    for (body, kind, reason) in [
        (r#"{"foo":1}"#, "parsing_exception", "Unknown key for a VALUE_NUMBER in [foo]."),
        (r#"[]"#, "parsing_exception", "Expected [START_OBJECT] but found [START_ARRAY]"),
        (r#"{"query":null}"#, "parsing_exception", "Unknown key for a VALUE_NULL in [query]."),
        (r#"{"query":[]}"#, "parsing_exception", "Unknown key for a START_ARRAY in [query]."),
        (r#"{"aggs":1}"#, "parsing_exception", "Unknown key for a VALUE_NUMBER in [aggs]."),
        (
            r#"{"from":-1}"#,
            "illegal_argument_exception",
            "[from] parameter cannot be negative, found [-1]",
        ),
        (r#"{"size":"x"}"#, "number_format_exception", "For input string: \"x\""),
        (r#"{"from":9999,"size":2}"#, "illegal_argument_exception", window),
        (
            r#"{"sort":"nope"}"#,
            "query_shard_exception",
            "No mapping found for [nope] in order to sort on",
        ),
        (
            r#"{"sort":[{"views":"up"}]}"#,
            "illegal_argument_exception",
            "No enum constant org.opensearch.search.sort.SortOrder.UP",
        ),
        (
            r#"{"sort":[{"views":{"foo":"up"}}]}"#,
            "x_content_parse_exception",
            "[field_sort] unknown field [foo]",
        ),
        (
            r#"{"sort":[{"_score":{"missing":"x"}}]}"#,
            "x_content_parse_exception",
            "[_score] unknown field [missing]",
        ),
        (
            r#"{"sort":[1]}"#,
            "illegal_argument_exception",
            "malformed sort format, within the sort array, an object, or an actual string are allowed",
        ),
        (
            r#"{"sort":[{"_script":{}}]}"#,
            "illegal_argument_exception",
            "[sort] by [_script] is not supported by this server",
        ),
        (
            r#"{"sort":[{"views":{"mode":"avg"}}]}"#,
            "illegal_argument_exception",
            "[sort] with the mode [avg] is not supported by this server",
        ),
        (
            r#"{"sort":["views",{"_score":"desc"}]}"#,
            "illegal_argument_exception",
            "[sort] with [_score] behind fields is not supported by this server",
        ),
        (
            r#"{"search_after":[1]}"#,
            "illegal_argument_exception",
            "Sort must contain at least one field.",
        ),
        (
            r#"{"search_after":[1],"sort":["views","at"]}"#,
            "illegal_argument_exception",
            "search_after has 1 value(s) but sort has 2.",
        ),
        (
            r#"{"search_after":[],"sort":["views"]}"#,
            "illegal_argument_exception",
            "Values must contains at least one value.",
        ),
        (
            r#"{"search_after":[1],"sort":["views"],"from":1}"#,
            "illegal_argument_exception",
            "`from` parameter must be set to 0 when `search_after` is used.",
        ),
        (
            r#"{"search_after":["x"],"sort":["views"]}"#,
            "query_shard_exception",
            "failed to create query: For input string: \"x\"",
        ),
        (r#"{"track_total_hits":"x"}"#, "number_format_exception", "For input string: \"x\""),
        (
            r#"{"track_total_hits":-2}"#,
            "illegal_argument_exception",
            "totalHitsThreshold must be >= 0, got -2",
        ),
        (
            r#"{"fields":"title"}"#,
            "parsing_exception",
            "Unknown key for a VALUE_STRING in [fields].",
        ),
        (
            r#"{"fields":[{"foo":"at"}]}"#,
            "x_content_parse_exception",
            "[docvalues_field] unknown field [foo]",
        ),
        (
            r#"{"highlight":{"foo":1}}"#,
            "x_content_parse_exception",
            "[highlight] unknown field [foo]",
        ),
        (
            r#"{"highlight":{"fields":{"title":{"foo":1}}}}"#,
            "x_content_parse_exception",
            "[highlight_field] unknown field [foo]",
        ),
        (
            r#"{"highlight":{"fields":{"title":{"type":"nope"}}}}"#,
            "illegal_argument_exception",
            "unknown highlighter type [nope] for the field [title]",
        ),
        (
            r#"{"highlight":{"fields":"x"}}"#,
            "x_content_parse_exception",
            "[highlight] fields doesn't support values of type: VALUE_STRING",
        ),
        (
            r#"{"highlight":{"pre_tags":["<a>"],"fields":{"title":{}}}}"#,
            "parsing_exception",
            "pre_tags are set but post_tags are not set",
        ),
        (r#"{"timeout":"1x"}"#, "illegal_argument_exception", &time("1x")),
        (r#"{"timeout":5}"#, "illegal_argument_exception", &time("5")),
        (r#"{"min_score":"x"}"#, "number_format_exception", "For input string: \"x\""),
        (
            r#"{"version":"x"}"#,
            "illegal_argument_exception",
            "Failed to parse value [x] as only [true] or [false] are allowed.",
        ),
        (
            r#"{"explain":true}"#,
            "illegal_argument_exception",
            "[explain] of a search is not supported by this server",
        ),
        (
            r#"{"collapse":{"field":"tag"}}"#,
            "illegal_argument_exception",
            "[collapse] of a search is not supported by this server",
        ),
        (r#"{"query":{"foo":{}}}"#, "parsing_exception", "unknown query [foo]"),
    ] {
        let refusal = hits(&index, body).expect_err(body);
        assert_eq!((refusal.kind, &*refusal.reason), (kind, reason), "{body}");
    }
}

#[test]
fn members_are_read() {
    let body = SearchBody::parse(
        br#"{"track_total_hits": true, "timeout": "30s", "terminate_after": 5, "min_score": 0.5,
            "fields": ["title", {"field": "at", "format": "epoch_millis"}],
            "docvalue_fields": ["views"], "stored_fields": "_none_", "stats": ["a"],
            "aggs": {"z": {"terms": {"field": "tag"}}, "a": {}}, "version": true, "profile": false,
            "highlight": {"fields": {"*": {"fragment_size": 50}, "title": {}}, "pre_tags": ["<b>"],
            "post_tags": ["</b>"], "number_of_fragments": 0, "encoder": "html"}}"#,
    )
    .unwrap();
    assert_eq!(body.track_total_hits, TrackTotalHits::Exactly);
    assert_eq!(body.timeout, Some(Duration::from_secs(30)));
    assert_eq!((body.terminate_after, body.min_score), (Some(5), Some(0.5)));
    assert_eq!(body.fields[1].format.as_deref(), Some("epoch_millis"));
    assert_eq!(body.docvalue_fields[0].field, "views");
    assert!(body.is_bare && body.source.is_off && body.version && body.is_by_score());
    let aggregations = body.aggregations.unwrap().to_string();
    assert_eq!(aggregations, r#"{"z":{"terms":{"field":"tag"}},"a":{}}"#);
    let marked = body.highlight.unwrap().fields;
    let shown = |at: usize| (&*marked[at].name, &*marked[at].pre_tag, marked[at].fragment_size);
    assert_eq!((shown(0), shown(1)), (("*", "<b>", 50), ("title", "<b>", 100)));
    assert!(marked[0].is_html && marked[1].number_of_fragments == 0);
}

/// Returns a search with the parameters of a URL.
fn of_url(url: &str) -> Result<SearchBody, Refusal> {
    let mut body = SearchBody::default();
    for pair in url.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !body.parameter(name, value)? {
            return Err(Refusal::unrecognized_parameter("/t/_search", name));
        }
    }
    body.check()?;
    Ok(body)
}

#[test]
fn parameters_are_read() {
    let index = index();
    let schema = index.schema();
    let context = Context { schema: &schema, now: NOW };
    let found = |url: &str| {
        let body = of_url(url).unwrap();
        let clause = body.clause(&context).unwrap();
        index.searcher().search(clause, body.order(&schema).unwrap()).unwrap().keys().unwrap()
    };
    assert_eq!(found("q=title:heron&sort=views:desc"), ["2", "1"]);
    assert_eq!(found("q=grey heron&df=title&default_operator=AND&size=1&sort=views"), ["1"]);
    assert_eq!(
        found("q=views:3&rest_total_hits_as_int=true&preference=x&search_type=query_then_fetch"),
        ["1"]
    );
    let body = of_url("_source=a,b*&track_total_hits=100&scroll=1m&typed_keys&timeout=-1").unwrap();
    assert_eq!(body.source.includes, ["a", "b*"]);
    assert_eq!(body.track_total_hits, TrackTotalHits::UpTo(100));
    assert_eq!((body.scroll, body.timeout), (Some(Duration::from_secs(60)), None));
    assert!(body.typed_keys && of_url("_source=false").unwrap().source.is_off);
}

#[test]
fn wrong_parameters_are_refused() {
    for (url, reason) in [
        ("foo=1", "request [/t/_search] contains unrecognized parameter: [foo]"),
        ("size=x", "Failed to parse int parameter [size] with value [x]"),
        ("from=-1", "[from] parameter cannot be negative, found [-1]"),
        ("track_total_hits=x", "Failed to parse int parameter [track_total_hits] with value [x]"),
        ("default_operator=nor", "No enum constant org.opensearch.index.query.Operator.NOR"),
        ("search_type=foo", "No search type for [foo]"),
        (
            "rest_total_hits_as_int=x",
            "Failed to parse value [x] as only [true] or [false] are allowed.",
        ),
        (
            "rest_total_hits_as_int=true&track_total_hits=10",
            "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, \
             got 10",
        ),
    ] {
        assert_eq!(of_url(url).unwrap_err().reason, reason, "{url}");
    }
}

const NAMES: [&str; 20] = [
    "query",
    "sort",
    "search_after",
    "_source",
    "fields",
    "highlight",
    "size",
    "from",
    "order",
    "missing",
    "includes",
    "views",
    "at",
    "title",
    "format",
    "field",
    "timeout",
    "pre_tags",
    "post_tags",
    "number_of_fragments",
];

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-3i64..20).prop_map(|number| Json::Number(number.into())),
        prop::sample::select(NAMES.to_vec()).prop_map(|name| Json::String(name.to_owned())),
        "[a-z0-9_:-]{0,6}".prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let member = (prop::sample::select(NAMES.to_vec()), inner.clone());
        let named = |(name, value): (&str, Json)| (name.to_owned(), value);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Json::Array),
            prop::collection::vec(member, 0..4).prop_map(move |members| {
                Json::Object(members.into_iter().map(named).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any value is a body that can be searched with, or is refused.
    #[test]
    fn no_body_panics(members in prop::collection::vec((prop::sample::select(NAMES.to_vec()), values()), 0..4)) {
        let named = |(name, value): (&str, Json)| (name.to_owned(), value);
        let body = Json::Object(members.into_iter().map(named).collect());
        let _ = hits(shelf::shared(), &body.to_string());
    }

    #[test]
    fn no_parameter_panics(name in prop::sample::select(NAMES.to_vec()), value in ".{0,8}") {
        let _ = SearchBody::default().parameter(name, &value);
    }
}
