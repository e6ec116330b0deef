//! Searches as dashboards send them, on a real index.

mod shelf;

use spirit::Index;
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::filter_path::FilterPath;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;

use shelf::{NOW, index};

/// Returns the keys of the hits, and the answers of the aggregations.
fn answer(index: &Index, body: &str) -> Result<(String, String), Refusal> {
    let body = SearchBody::parse(body.as_bytes())?;
    body.check()?;
    let schema = index.schema();
    let context = Context { schema: &schema, now: NOW };
    let refused = |error| Refusal::from(&error);
    let searcher = index.searcher();
    let hits =
        searcher.search(body.page_clause(&context)?, body.order(&schema)?).map_err(refused)?;
    let keys = hits.keys().map_err(|error| Refusal::new("exception", 500, error.to_string()))?;
    let Some(asked) = &body.aggregations else { return Ok((keys.join(" "), String::new())) };
    let asked = Aggregations::read(asked, &context)?;
    let aggregates =
        searcher.aggregate(body.clause(&context)?, &asked.facets()).map_err(refused)?;
    Ok((keys.join(" "), asked.answer(&aggregates, false)?.to_string()))
}

/// The range and the text that Grafana puts in each query.
fn filtered(text: &str) -> String {
    format!(
        r#""query":{{"bool":{{"filter":[{{"range":{{"at":{{"format":"epoch_millis","gte":1795341600000,"lte":1795392000000}}}}}},{{"query_string":{{"analyze_wildcard":true,"query":"{text}"}}}}]}}}}"#
    )
}

#[test]
fn grafanas_logs_and_their_histogram() {
    let query = filtered("*");
    let body = format!(
        r#"{{"aggs":{{"1":{{"date_histogram":{{"field":"at","interval":"1d","min_doc_count":0,"extended_bounds":{{"min":1795341600000,"max":1795392000000}},"format":"epoch_millis"}}}}}},"docvalue_fields":["at"],"fields":[{{"field":"at","format":"strict_date_optional_time_nanos"}}],{query},"size":500,"sort":[{{"at":{{"order":"desc","unmapped_type":"boolean"}}}}]}}"#
    );
    let (keys, aggregations) = answer(&index(), &body).unwrap();
    assert_eq!(keys, "3 2 1");
    assert_eq!(
        aggregations,
        concat!(
            r#"{"1":{"buckets":[{"key_as_string":"1795305600000","key":1795305600000,"doc_count":2},"#,
            r#"{"key_as_string":"1795392000000","key":1795392000000,"doc_count":1}]}}"#
        )
    );
}

#[test]
fn grafanas_terms_with_metrics_within() {
    let query = filtered("level:warn AND -tag:net AND views:>0");
    let body = format!(
        r#"{{"aggs":{{"2":{{"aggs":{{"1":{{"avg":{{"field":"views"}}}},"6":{{"aggs":{{"3":{{"percentiles":{{"field":"views","percents":["50","99"]}}}},"4":{{"cardinality":{{"field":"tag"}}}}}},"date_histogram":{{"field":"at","interval":"1d","min_doc_count":0,"format":"epoch_millis"}}}}}},"terms":{{"field":"level","size":10,"order":{{"1":"desc"}},"min_doc_count":1,"missing":"none"}}}}}},{query},"size":0}}"#
    );
    let (keys, aggregations) = answer(&index(), &body).unwrap();
    assert_eq!(keys, "");
    assert_eq!(
        aggregations,
        concat!(
            r#"{"2":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Warn","#,
            r#""doc_count":1,"1":{"value":3.0},"6":{"buckets":[{"key_as_string":"1795305600000","#,
            r#""key":1795305600000,"doc_count":1,"3":{"values":{"50.0":3.0,"99.0":3.0}},"#,
            r#""4":{"value":1}}]}}]}}"#
        )
    );
}

#[test]
fn grafanas_pipelines_are_answered() {
    let body = r#"{"aggs":{"3":{"aggs":{"1":{"sum":{"field":"views"}},"2":{"derivative":{"buckets_path":"1"}}},"date_histogram":{"field":"at","interval":"1m"}}},"size":0}"#;
    let (_, aggregations) = answer(&index(), body).unwrap();
    // Minutes without documents are gaps.
    let first = concat!(
        r#"{"3":{"buckets":[{"key_as_string":"2026-11-22T10:00:00.000Z","key":1795341600000,"doc_count":1,"1":{"value":3.0}},"#,
        r#"{"key_as_string":"2026-11-22T10:01:00.000Z","key":1795341660000,"doc_count":0,"1":{"value":0.0},"2":{"value":null}},"#
    );
    assert!(aggregations.starts_with(first), "{}", &aggregations[..600]);
    assert!(aggregations.ends_with(r#""doc_count":1,"1":{"value":10.0},"2":{"value":null}}]}}"#));
}

#[test]
fn logstashs_filter_path_of_a_bulk_answer() {
    let bulk = r#"{"took":3,"errors":true,"items":[{"create":{"_index":"a","_id":"1","status":201}},{"create":{"_index":"a","_id":"2","status":409,"error":{"type":"x","reason":"y"}}}]}"#;
    let paths = FilterPath::parse("errors,items.*.error,items.*.status");
    assert_eq!(
        paths.apply(bulk),
        r#"{"errors":true,"items":[{"create":{"status":201}},{"create":{"status":409,"error":{"type":"x","reason":"y"}}}]}"#
    );
}
