//! What administration asks of the node, as clients of OpenSearch ask for it.
//!
//! Expected answers are those of OpenSearch 2.19, with one node and one shard.

mod common;
mod serving;

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

#[test]
fn the_node_shows_itself_and_its_indexes() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/r1", r#"{"aliases": {"ra": {}}}"#).is(200);
    server.put("/r1/_doc/1", r#"{"t": "Grey Herons"}"#).is(201);
    let merged = server.post("/r1/_forcemerge?max_num_segments=1", "", &JSON).is(200);
    assert_eq!(merged, json!({"_shards": {"total": 1, "successful": 1, "failed": 0}}));
    assert_eq!(server.post("/none/_forcemerge", "", &JSON).status, 404);
    assert_eq!(
        server.get("/_cluster/settings").is(200),
        json!({"persistent": {}, "transient": {}})
    );
    let refused = |body: Value| {
        let error = server.put("/_cluster/settings", &body.to_string()).is(400);
        error["error"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        refused(json!({"persistent": {"bogus": 1}})),
        "persistent setting [bogus], not recognized"
    );
    assert_eq!(refused(json!({})), "Validation Failed: 1: no settings to update;");
    let stats = server.get("/_cluster/stats").is(200);
    assert_eq!(
        (&stats["indices"]["count"], &stats["indices"]["docs"]["count"]),
        (&json!(1), &json!(1))
    );
    assert!(stats["indices"]["store"]["size_in_bytes"].as_u64() > Some(0), "{stats}");
    let node = server.get("/_nodes/http").is(200)["nodes"]["spirit"].clone();
    let address = server.url("").replace("http://", "");
    assert_eq!(node["http"]["publish_address"], address.trim_end_matches('/'));
    let node = server.get("/_nodes/stats").is(200)["nodes"]["spirit"].clone();
    assert_eq!(node["indices"]["docs"]["count"], 1);
    assert_eq!(
        server.get("/_resolve/index/r*").is(200),
        json!({
            "indices": [{"name": "r1", "aliases": ["ra"], "attributes": ["open"]}],
            "aliases": [{"name": "ra", "indices": ["r1"]}], "data_streams": []
        })
    );
    let shards = server.get("/ra/_search_shards").is(200);
    assert_eq!(shards["shards"][0][0]["index"], "r1");
    assert_eq!(shards["indices"], json!({"r1": {}}));
}

#[test]
fn texts_are_analyzed() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let mappings = json!({"mappings": {"properties": {
        "t": {"type": "text", "analyzer": "english"}, "k": {"type": "keyword"}, "n": {"type": "long"}
    }}});
    server.put("/a", &mappings.to_string()).is(200);
    let ask = |path: &str, body: Value| server.post(path, body.to_string(), &JSON);
    let standard =
        ask("/_analyze", json!({"analyzer": "standard", "text": "The QUICK foxes"})).is(200);
    let token = |text: &str, start: u64, position: u64| {
        json!({
            "token": text, "start_offset": start, "end_offset": start + text.len() as u64,
            "type": "<ALPHANUM>", "position": position
        })
    };
    let all = json!({"tokens": [token("the", 0, 0), token("quick", 4, 1), token("foxes", 10, 2)]});
    assert_eq!(standard, all);
    let tokens = |body: Value| {
        let answer = ask("/a/_analyze", body).is(200);
        let tokens = answer["tokens"].as_array().unwrap().clone();
        tokens.iter().map(|token| token["token"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tokens(json!({"field": "t", "text": "The foxes"})), ["fox"]);
    assert_eq!(tokens(json!({"field": "k", "text": "A B"})), ["A B"]);
    assert_eq!(tokens(json!({"field": "zz", "text": ["A b", "C"]})), ["a", "b", "c"]);
    for (body, reason) in [
        (json!({"analyzer": "klingon", "text": "x"}), "failed to find global analyzer [klingon]"),
        (json!({"analyzer": "standard"}), "text is missing"),
        (json!({"field": "n", "text": "x"}), "only supported on tokenized fields"),
        (json!({"tokenizer": "keyword", "text": "x"}), "[tokenizer] of _analyze"),
        (json!({"text": "x", "bogus": 1}), "[analyze_request] unknown field [bogus]"),
    ] {
        let error = ask("/a/_analyze", body).is(400);
        assert!(error["error"]["reason"].as_str().unwrap().contains(reason), "{error}");
    }
}

#[test]
fn work_on_matches_is_cancelled() {
    const DOCUMENTS: u64 = 20_000;
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let line = |n| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n}}}\n");
    let bulk: String = (0..DOCUMENTS).map(line).collect();
    assert_eq!(server.post("/r/_bulk", bulk, &JSON).is(200)["errors"], false);
    let path = "/r/_delete_by_query?wait_for_completion=false&scroll_size=1";
    let task = server.post(path, r#"{"query":{"match_all":{}}}"#, &JSON).is(200)["task"].clone();
    let task = task.as_str().unwrap();
    let none = server.post("/_tasks/_cancel?actions=*search", "", &JSON).is(200);
    assert_eq!(none, json!({"nodes": {}}));
    let cancelled = server.post(&format!("/_tasks/{task}/_cancel"), "", &JSON).is(200);
    let shown = &cancelled["nodes"]["spirit"]["tasks"][task];
    assert_eq!((&shown["cancellable"], &shown["cancelled"]), (&json!(true), &json!(true)));
    let done = loop {
        let done = server.get(&format!("/_tasks/{task}")).is(200);
        if done["completed"] == true {
            break done;
        }
    };
    let response = &done["response"];
    assert_eq!(
        (&response["canceled"], &done["task"]["cancelled"]),
        (&json!("by user request"), &json!(true))
    );
    let deleted = response["deleted"].as_u64().unwrap();
    assert!(deleted < DOCUMENTS, "{done}");
    assert_eq!(server.get("/r/_count").is(200)["count"], DOCUMENTS - deleted);
    // One that has ended, one that never was, and one of another node.
    let failure = |id: &str| {
        let answer = server.post(&format!("/_tasks/{id}/_cancel"), "", &JSON).is(200);
        answer["node_failures"][0]["caused_by"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(failure(task), format!("task [{task}] is not found"));
    assert_eq!(failure("spirit:99999"), "task [spirit:99999] is not found");
    assert_eq!(failure("other:1"), "No such node [other]");
    let malformed = server.post("/_tasks/abc/_cancel", "", &JSON).is(400);
    assert_eq!(malformed["error"]["reason"], "malformed task id abc");
    // All at once.
    server.post(path, r#"{"query":{"match_all":{}}}"#, &JSON).is(200);
    let all = server.post("/_tasks/_cancel?actions=*byquery", "", &JSON).is(200);
    assert_eq!(all["nodes"]["spirit"]["tasks"].as_object().unwrap().len(), 1, "{all}");
}
