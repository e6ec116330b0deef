//! People who look at dashboards: searches, aggregations, and what a monitor asks for.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use spirit::lab::Random;

use super::caller::Caller;

/// Paths that a monitor asks for.
const MONITOR: [&str; 7] = [
    "/metrics",
    "/_cat/indices?format=json",
    "/_cluster/health",
    "/_stats",
    "/api/v1",
    "/health/ready",
    "/_mapping",
];
const LOGS: &str = "/log-*/_search?ignore_unavailable=true";

/// Looks until that is enough, or the server has gone. Returns the number of searches.
pub(crate) fn look(caller: &Caller<'_>, mut random: Random) -> u64 {
    let mut searches = 0;
    while !caller.signals.is_enough() {
        let asked = if random.one_in(4) {
            caller.ask("GET", random.pick(&MONITOR), "").map(|(status, text)| {
                assert_eq!(status, 200, "{text}");
            })
        } else {
            search(caller, &mut random)
        };
        if asked.is_none() {
            break;
        }
        searches += 1;
    }
    searches
}

fn search(caller: &Caller<'_>, random: &mut Random) -> Option<()> {
    let number = random.below(1000);
    // An index that was just made has no field yet.
    let by_n = json!([{"n": {"order": "desc", "unmapped_type": "double"}}]);
    let bodies = [
        json!({"query": {"match": {"text": "heron"}}, "size": 20}),
        json!({"query": {"range": {"n": {"gte": number}}}, "sort": by_n, "size": 10}),
        json!({"size": 0, "aggs": {"of": {"stats": {"field": "n"}}}, "track_total_hits": true}),
        json!({"size": 0, "aggs": {"of": {"histogram": {"field": "n", "interval": 100}}}}),
        json!({
            "query": {"bool": {"must": [{"match": {"text": "wölf heron"}}],
                "filter": [{"range": {"n": {"lt": number}}}]}},
            "highlight": {"fields": {"text": {}}}, "size": 5
        }),
    ];
    let body = &bodies[random.index(bodies.len())];
    let answer = caller.json("POST", LOGS, &body.to_string())?;
    check(&answer);
    Some(())
}

/// Checks what holds for any answer: no document is in it twice.
fn check(answer: &Value) {
    assert_eq!(answer["_shards"]["failed"], 0, "{answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap();
    let name = |hit: &Value| format!("{} {}", hit["_index"], hit["_id"]);
    let names: BTreeSet<String> = hits.iter().map(name).collect();
    assert_eq!(names.len(), hits.len(), "a document twice: {answer}");
    assert!(answer["hits"]["total"]["value"].as_u64().unwrap() >= hits.len() as u64);
}
