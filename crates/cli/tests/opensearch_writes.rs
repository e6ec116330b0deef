//! Writes of many documents, and what administers indexes, as clients of OpenSearch ask for them.
//!
//! Expected answers are those of OpenSearch 2.19.

mod common;
mod serving;

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

fn post(server: &Server, path: &str, body: Value) -> Value {
    server.post(path, body.to_string(), &JSON).is(200)
}

/// The error of a request that is refused.
#[track_caller]
fn refused(server: &Server, path: &str, body: Value, status: u16) -> String {
    let error = server.post(path, body.to_string(), &JSON).is(status);
    error["error"]["reason"].as_str().unwrap().to_owned()
}

/// Puts documents `{"n": 0}`, `{"n": 1}`, … with their numbers as ids.
fn fill(server: &Server, index: &str, documents: usize) {
    for chunk in (0..documents).collect::<Vec<_>>().chunks(5000) {
        let lines = chunk.iter().map(|n| {
            format!(
                "{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n},\"t\":\"a b\",\"even\":{}}}\n",
                n % 2 == 0
            )
        });
        let body = lines.collect::<String>();
        let answer = server.post(&format!("/{index}/_bulk"), body, &JSON).is(200);
        assert_eq!(answer["errors"], false);
    }
}

fn ids(answer: &Value) -> Vec<String> {
    let hits = answer["hits"]["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["_id"].as_str().unwrap().to_owned()).collect()
}

/// The ids of all pages of a scroll, which it closes.
fn all_pages(server: &Server, first: Value) -> Vec<String> {
    let mut all = ids(&first);
    let id = first["_scroll_id"].clone();
    loop {
        let next = post(server, "/_search/scroll", json!({"scroll": "1m", "scroll_id": id}));
        assert_eq!(next["hits"]["total"], first["hits"]["total"]);
        let page = ids(&next);
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    let path = format!("/_search/scroll/{}", id.as_str().unwrap());
    assert_eq!(server.delete(&path).is(200), json!({"succeeded": true, "num_freed": 1}));
    all
}

#[test]
fn a_scroll_gives_what_was_there_at_its_start() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    fill(&server, "s", 7);
    let first = post(
        &server,
        "/s/_search?scroll=1m",
        json!({"size": 3, "sort": [{"n": "desc"}], "_source": ["n"], "aggs": {"m": {"max": {"field": "n"}}}}),
    );
    assert_eq!(ids(&first), ["6", "5", "4"]);
    assert_eq!(first["aggregations"]["m"]["value"], 6.0);
    assert_eq!(
        first["hits"]["hits"][0],
        json!({"_index": "s", "_id": "6", "_score": null, "_source": {"n": 6}, "sort": [6]})
    );
    // Changed, deleted and new documents change nothing.
    server.put("/s/_doc/3", r#"{"n": 99}"#).is(200);
    server.delete("/s/_doc/2").is(200);
    server.put("/s/_doc/8", r#"{"n": 2.5}"#).is(201);
    assert_eq!(all_pages(&server, first), ["6", "5", "4", "3", "2", "1", "0"]);
    // A scroll over several indexes merges their orders.
    fill(&server, "s2", 3);
    let first = post(
        &server,
        "/s,s2/_search?scroll=1m&size=2&sort=n:asc",
        json!({"query": {"range": {"n": {"lt": 2}}}}),
    );
    assert_eq!(first["_shards"]["total"], 2);
    assert_eq!(all_pages(&server, first).len(), 4);
    let best =
        post(&server, "/s/_search?scroll=1m&size=2", json!({"query": {"match": {"t": "a"}}}));
    assert_eq!(best["hits"]["max_score"], best["hits"]["hits"][0]["_score"]);
    // The shown page does not come again, and a closed scroll is not there.
    let gone = "/_search/scroll";
    assert_eq!(server.delete("/_search/scroll/_all").is(200)["num_freed"], 1);
    let id = best["_scroll_id"].clone();
    assert!(
        refused(&server, gone, json!({"scroll_id": id}), 404).contains("No search context found")
    );
    assert_eq!(refused(&server, gone, json!({"scroll_id": "abc"}), 400), "Cannot parse scroll id");
    assert!(refused(&server, gone, json!({}), 400).contains("scrollId is missing"));
    assert!(refused(&server, gone, json!({"bogus": 1}), 400).contains("Unknown parameter [bogus]"));
    for (time, body, reason) in [
        ("1m", json!({"size": 0}), "[size] cannot be [0] in a scroll context"),
        ("1m", json!({"from": 1}), "using [from] is not allowed in a scroll context"),
        ("1m", json!({"track_total_hits": false}), "disabling [track_total_hits]"),
        ("1m", json!({"sort": ["n"], "search_after": [1]}), "`search_after` cannot be used"),
        ("1m", json!({"size": 10001}), "must be less than or equal to: [10000]"),
        ("1m", json!({"slice": {"id": 2, "max": 2}}), "max must be greater than id"),
        ("1m", json!({"slice": {"id": 0, "max": 2, "field": "none"}}), "field none not found"),
        (
            "1m",
            json!({"slice": {"id": 0, "max": 2}, "aggs": {"a": {"avg": {"field": "n"}}}}),
            "[slice] with [aggs]",
        ),
        ("2d", json!({}), "is too large. It must be less than (1d)"),
    ] {
        let error = refused(&server, &format!("/s/_search?scroll={time}"), body, 400);
        assert!(error.contains(reason), "{error}");
    }
    let slice = json!({"slice": {"id": 0, "max": 2}});
    assert!(refused(&server, "/s/_search", slice, 400).contains("outside of a scroll context"));
    assert!(refused(&server, "/none/_search?scroll=1m", json!({}), 404).contains("no such index"));
}

#[test]
fn a_scroll_goes_through_more_than_one_search_can() {
    let folder = Folder::new();
    let server =
        Server::start(&folder.path("all"), &["--scrolls", "2", "--scroll-documents", "30000"]);
    fill(&server, "s", 21_000);
    for sort in ["_doc", "n:desc", "even:asc,n:asc", "_score"] {
        let path = format!("/s/_search?scroll=1m&size=10000&sort={sort}&_source=false");
        let mut all = all_pages(&server, post(&server, &path, json!({})));
        if sort == "n:desc" {
            assert_eq!((&*all[0], &*all[20_999]), ("20999", "0"));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 21_000, "{sort}");
    }
    // Each document is in one slice.
    for field in ["_id", "n"] {
        let mut all = Vec::new();
        for id in 0..3 {
            let slice = json!({"slice": {"field": field, "id": id, "max": 3}, "size": 5000});
            let first = post(&server, "/s/_search?scroll=1m", slice);
            let part = all_pages(&server, first);
            assert!((6000..8000).contains(&part.len()), "{}", part.len());
            all.extend(part);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 21_000, "{field}");
    }
    // Open scrolls are few, and end.
    let open = |time: &str, size: usize| {
        server.post(
            &format!("/s/_search?scroll={time}"),
            json!({"size": 1, "query": {"range": {"n": {"lt": size}}}}).to_string(),
            &JSON,
        )
    };
    open("1m", 20_000).is(200);
    let full = open("1m", 20_000).is(429);
    assert!(full["error"]["reason"].as_str().unwrap().contains("--scroll-documents"), "{full}");
    open("200ms", 5).is(200);
    let full = open("1m", 5).is(429);
    assert!(
        full["error"]["reason"].as_str().unwrap().contains("too many scroll contexts"),
        "{full}"
    );
    std::thread::sleep(std::time::Duration::from_millis(250));
    open("1m", 5).is(200);
    server.delete("/_search/scroll/_all").is(200);
    open("1m", 20_000).is(200);
    assert_eq!(server.end(), 0);
}

#[test]
fn documents_are_changed_by_query() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    fill(&server, "s", 12_000);
    let deleted = post(
        &server,
        "/s/_delete_by_query?refresh=true&slices=2&scroll_size=500",
        json!({"query": {"range": {"n": {"gte": 11_000}}}}),
    );
    assert!(deleted["took"].is_u64(), "{deleted}");
    let mut expected = json!({
        "took": deleted["took"], "timed_out": false, "total": 1000, "deleted": 1000, "batches": 2,
        "version_conflicts": 0, "noops": 0, "retries": {"bulk": 0, "search": 0},
        "throttled_millis": 0, "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": [],
    });
    assert_eq!(deleted, expected);
    assert_eq!(server.get("/s/_count").is(200)["count"], 11_000);
    // All documents are touched once, though each gets a newer state. Its version is one more.
    let updated = post(&server, "/s/_update_by_query?conflicts=proceed", json!({}));
    expected["took"] = updated["took"].clone();
    for (name, value) in [("total", 11_000), ("updated", 11_000), ("deleted", 0), ("batches", 11)] {
        expected[name] = json!(value);
    }
    assert_eq!(updated, expected);
    let document = server.get("/s/_doc/7").is(200);
    assert_eq!((&document["_version"], &document["_source"]["n"]), (&json!(2), &json!(7)));
    let some = post(&server, "/s/_delete_by_query?max_docs=3&q=even:true", json!({}));
    assert_eq!((&some["total"], &some["deleted"]), (&json!(3), &json!(3)));
    // A task is there until its end, and afterwards.
    let task =
        post(&server, "/s/_delete_by_query?wait_for_completion=false&q=n:[100+TO+199]", json!({}));
    let path = format!("/_tasks/{}", task["task"].as_str().unwrap());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let task = loop {
        let task = server.get(&path).is(200);
        if task["completed"] == true || std::time::Instant::now() > end {
            break task;
        }
    };
    assert_eq!(task["response"]["deleted"], 100, "{task}");
    assert_eq!(task["task"]["action"], "indices:data/write/delete/byquery");
    assert_eq!(task["task"]["status"]["deleted"], 100);
    assert_eq!(server.get("/_tasks").is(200)["nodes"]["spirit"]["tasks"], json!({}));
    let missing = server.get("/_tasks/spirit:99").is(404);
    assert_eq!(missing["error"]["type"], "resource_not_found_exception");
    assert_eq!(server.get("/_tasks/zz").is(400)["error"]["reason"], "malformed task id zz");
    let query = json!({"query": {"match_all": {}}});
    for (path, body, status, reason) in [
        ("/s/_delete_by_query", json!({}), 400, "query is missing"),
        ("/s/_delete_by_query?bogus=1", query.clone(), 400, "unrecognized parameter: [bogus]"),
        ("/s/_delete_by_query?max_docs=0", query.clone(), 400, "[max_docs] should be >= [slices]"),
        (
            "/s/_delete_by_query?conflicts=x",
            query.clone(),
            400,
            "\"proceed\" or \"abort\" but was [x]",
        ),
        ("/s/_delete_by_query?scroll_size=0", query.clone(), 400, "[size] cannot be [0]"),
        ("/none/_delete_by_query", query, 404, "no such index [none]"),
        (
            "/s/_update_by_query",
            json!({"script": {"source": "x"}}),
            400,
            "scripts are not supported",
        ),
        ("/s/_delete_by_query", json!({"query": {"bogus": {}}}), 400, "unknown query [bogus]"),
        (
            "/s/_delete_by_query?max_docs=2",
            json!({"query": {"match_all": {}}, "max_docs": 1}),
            400,
            "[max_docs] set to two different values [1] and [2]",
        ),
    ] {
        let error = refused(&server, path, body, status);
        assert!(error.contains(reason), "{error}");
    }
}

/// Documents that another writer changes meanwhile are conflicts, and stay as the other left them.
#[test]
fn work_by_query_meets_other_writers() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    fill(&server, "s", 20_000);
    let answer = std::thread::scope(|scope| {
        let work = scope.spawn(|| server.post("/s/_update_by_query?scroll_size=100", "", &JSON));
        let mut n = 0;
        while !work.is_finished() {
            // The oldest are read last.
            server.put(&format!("/s/_doc/{}", n % 1000), r#"{"n": -1}"#).is(200);
            n += 1;
        }
        work.join().unwrap()
    });
    let (status, answer) = (answer.status, answer.json());
    let conflicts = answer["version_conflicts"].as_u64().unwrap();
    assert!(conflicts > 0, "{answer}");
    assert_eq!(status, 409);
    let proceeds = std::thread::scope(|scope| {
        let path = "/s/_delete_by_query?conflicts=proceed&scroll_size=100&q=n:[0+TO+*]";
        let work = scope.spawn(|| server.post(path, "", &JSON).is(200));
        let mut n = 0;
        while !work.is_finished() {
            server.put(&format!("/s/_doc/{}", 1000 + n % 5000), r#"{"n": -1}"#);
            n += 1;
        }
        work.join().unwrap()
    });
    let number = |name: &str| proceeds[name].as_u64().unwrap();
    assert_eq!(number("total"), number("deleted") + number("version_conflicts"), "{proceeds}");
    assert_eq!(proceeds["failures"], json!([]));
    assert_eq!(server.get("/s/_count?q=n:[0+TO+*]").is(200)["count"], 0);
}

#[test]
fn aliases_are_names_of_indexes() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let acknowledged = json!({"acknowledged": true});
    fill(&server, "s", 3);
    let actions = |actions: Value| json!({ "actions": actions });
    assert_eq!(server.put("/s/_alias/al", "").is(200), acknowledged);
    assert_eq!(server.get("/s/_alias/al").is(200), json!({"s": {"aliases": {"al": {}}}}));
    assert_eq!(server.get("/_alias/a*").is(200), json!({"s": {"aliases": {"al": {}}}}));
    assert_eq!(server.get("/_alias/z*").is(200), json!({}));
    assert_eq!(
        server.get("/s/_alias/zz").is(404),
        json!({"error": "alias [zz] missing", "status": 404})
    );
    assert_eq!(server.get("/al/_count").is(200)["count"], 3);
    assert_eq!(server.get("/al").is(200)["s"]["aliases"], json!({"al": {}}));
    assert_eq!(server.get("/al/_doc/1").is(200)["_index"], "s");
    assert_eq!(server.put("/al/_doc/7", r#"{"n": 7}"#).is(201)["_index"], "s");
    assert_eq!(server.delete("/al/_doc/7").is(200)["result"], "deleted");
    // All steps of a change, or none.
    let wrong = actions(json!([
        {"add": {"index": "s", "alias": "b2"}}, {"remove": {"index": "s", "alias": "nope"}}
    ]));
    assert_eq!(refused(&server, "/_aliases", wrong, 404), "aliases [nope] missing");
    assert_eq!(server.get("/_alias/b2").status, 404);
    for (body, status, reason) in [
        (json!([{"add": {"index": "nono", "alias": "x"}}]), 404, "no such index [nono]"),
        (json!([{"bogus": {"index": "s", "alias": "x"}}]), 400, "unknown field [bogus]"),
        (json!([]), 400, "No action specified"),
        (json!([{"add": {"index": "s"}}]), 400, "One of [alias] or [aliases] is required"),
        (json!([{"add": {"alias": "s"}}]), 400, "One of [index] or [indices] is required"),
        (json!([{"add": {"index": "s", "alias": "f", "bogus": 1}}]), 400, "unknown field [bogus]"),
        (
            json!([{"add": {"index": "s", "alias": "f", "filter": {"term": {"n": 1}}}}]),
            400,
            "[filter] of an alias",
        ),
        (json!([{"add": {"index": "s", "alias": "s"}}]), 400, "an index exists with the same name"),
        (json!([{"add": {"index": "s", "alias": "b*d"}}]), 400, "Invalid alias name [b*d]"),
        (json!([{"add": {"index": "s", "alias": "_x"}}]), 400, "must not start with"),
        (json!([{"add": {"index": "al", "alias": "x"}}]), 400, "matches an alias"),
    ] {
        let error = refused(&server, "/_aliases", actions(body), status);
        assert!(error.contains(reason), "{error}");
    }
    // An alias of several indexes has one to write to, or none.
    server.put("/w1", r#"{"aliases": {"w": {}}}"#).is(200);
    server.put("/w2", r#"{"aliases": {"w": {}}}"#).is(200);
    assert!(
        refused(&server, "/w/_doc", json!({"a": 1}), 400)
            .contains("no write index is defined for alias [w]")
    );
    let several = server.get("/w/_doc/1").is(400)["error"]["reason"].as_str().unwrap().to_owned();
    assert!(several.contains("more than one index associated with it [w1, w2]"), "{several}");
    assert_eq!(post(&server, "/w/_search", json!({}))["_shards"]["total"], 2);
    let both = json!([
        {"add": {"index": "w1", "alias": "w", "is_write_index": true}},
        {"add": {"index": "w2", "alias": "w", "is_write_index": true}}
    ]);
    assert_eq!(
        refused(&server, "/_aliases", actions(both), 500),
        "alias [w] has more than one write index [w1,w2]"
    );
    let one = json!([{"add": {"index": "w1", "alias": "w", "is_write_index": true}}]);
    assert_eq!(post(&server, "/_aliases", actions(one)), acknowledged);
    let bulk = server.post("/w/_bulk", "{\"index\":{\"_id\":\"7\"}}\n{\"a\":1}\n", &JSON).is(200);
    assert_eq!(bulk["items"][0]["index"]["_index"], "w1");
    assert_eq!(
        server.get("/_cat/aliases/w?format=json&h=alias,index,is_write_index").is(200),
        json!([
            {"alias": "w", "index": "w1", "is_write_index": "true"},
            {"alias": "w", "index": "w2", "is_write_index": "-"}
        ])
    );
    let table = server.get("/_cat/aliases?v=true&h=a,idx,w&s=idx:desc").text;
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[..3], [["a", "idx", "w"], ["w", "w2", "-"], ["w", "w1", "true"]], "{table}");
    assert!(
        server.put("/w", "{}").is(400)["error"]["reason"]
            .as_str()
            .unwrap()
            .contains("already exists as alias")
    );
    assert!(
        server.delete("/w").is(400)["error"]["reason"]
            .as_str()
            .unwrap()
            .contains("matches an alias")
    );
    // An index is replaced by an alias of its name, in one step.
    let swap = json!([{"remove_index": {"index": "w2"}}, {"add": {"index": "w1", "alias": "w2"}}]);
    assert_eq!(post(&server, "/_aliases", actions(swap)), acknowledged);
    let all = json!({
        "s": {"aliases": {"al": {}}}, "w1": {"aliases": {"w": {"is_write_index": true}, "w2": {}}}
    });
    assert_eq!(server.get("/_alias").is(200), all);
    // They are kept.
    server.kill();
    let server = Server::start(&folder.path("all"), &[]);
    assert_eq!(server.get("/_alias").is(200), all);
    assert_eq!(server.delete("/w1/_alias/w,zz").is(200), acknowledged);
    assert_eq!(
        server.delete("/w1/_aliases/w").is(404)["error"]["type"],
        "aliases_not_found_exception"
    );
    server.delete("/w1").is(200);
    assert_eq!(server.get("/_alias").is(200), json!({"s": {"aliases": {"al": {}}}}));
}

#[test]
fn templates_say_how_indexes_are_made() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let acknowledged = json!({"acknowledged": true});
    let put = |path: &str, body: Value| server.put(path, &body.to_string());
    let template = json!({
        "index_patterns": ["lg-*"], "priority": 5, "version": 3, "_meta": {"x": 1},
        "template": {
            "settings": {"number_of_shards": 1},
            "mappings": {"properties": {"a": {"type": "keyword"}}},
            "aliases": {"al": {}}
        }
    });
    assert_eq!(put("/_index_template/t1", template.clone()).is(200), acknowledged);
    let mut shown = template;
    shown["template"]["settings"] = json!({"index": {"number_of_shards": "1"}});
    shown["composed_of"] = json!([]);
    assert_eq!(
        server.get("/_index_template/t1").is(200),
        json!({"index_templates": [{"name": "t1", "index_template": shown}]})
    );
    let missing = server.get("/_index_template/zz").is(404);
    assert_eq!(missing["error"]["reason"], "index template matching [zz] not found");
    assert_eq!(server.get("/_index_template/z*").is(200), json!({"index_templates": []}));
    let component = json!({"template": {"mappings": {"properties": {"b": {"type": "long"}, "c": {"type": "long"}}}}});
    put("/_component_template/c1", component).is(200);
    let composed = json!({
        "index_patterns": ["lg-*"], "priority": 6, "composed_of": ["c1"],
        "template": {"mappings": {"properties": {"c": {"type": "keyword"}}}}
    });
    assert_eq!(put("/_index_template/t2", composed).is(200), acknowledged);
    for (path, body, reason) in [
        (
            "t3",
            json!({"index_patterns": ["lg-1*"], "priority": 5}),
            "multiple index templates may not match",
        ),
        (
            "t3",
            json!({"index_patterns": ["x"], "composed_of": ["nope"]}),
            "component templates [nope] that do not exist",
        ),
        ("t3", json!({}), "Required [index_patterns]"),
        ("t3", json!({"index_patterns": []}), "There must be at least one pattern, zero given"),
        (
            "t3",
            json!({"index_patterns": ["x*"], "bogus": 1}),
            "[index_template] unknown field [bogus]",
        ),
        ("t1?create=true", json!({"index_patterns": ["y"]}), "index template [t1] already exists"),
        (
            "t3",
            json!({"index_patterns": ["x"], "template": {"settings": {"bogus": 1}}}),
            "unknown setting [index.bogus]",
        ),
        (
            "t3",
            json!({"index_patterns": ["x"], "template": {"mappings": {"properties": {"a": {"type": "geo_point"}}}}}),
            "No handler for type",
        ),
    ] {
        let error = put(&format!("/_index_template/{path}"), body).is(400);
        assert!(error["error"]["reason"].as_str().unwrap().contains(reason), "{error}");
    }
    let used = server.delete("/_component_template/c1").is(400);
    assert!(
        used["error"]["reason"].as_str().unwrap().contains("still in use by index templates [t2]"),
        "{used}"
    );
    // A request's own mapping is added. The highest priority alone counts.
    put("/lg-1", json!({"mappings": {"properties": {"d": {"type": "date"}}}})).is(200);
    let made = server.get("/lg-1").is(200)["lg-1"].clone();
    assert_eq!(
        made["mappings"]["properties"],
        json!({"b": {"type": "long"}, "c": {"type": "keyword"}, "d": {"type": "date"}})
    );
    assert_eq!(made["aliases"], json!({}));
    // They are kept, and a document makes an index by them.
    server.kill();
    let server = Server::start(&folder.path("all"), &[]);
    server.delete("/_index_template/t2").is(200);
    assert_eq!(
        server.delete("/_index_template/t2").is(404)["error"]["reason"],
        "index_template [t2] missing"
    );
    assert_eq!(server.delete("/_component_template/c1").is(200), acknowledged);
    server.put("/lg-2/_doc/1", r#"{"a": "A b", "z": 1}"#).is(201);
    let made = server.get("/lg-2").is(200)["lg-2"].clone();
    assert_eq!(made["mappings"]["properties"]["a"], json!({"type": "keyword"}));
    assert_eq!(made["aliases"], json!({"al": {}}));
    let legacy = |order: u32, kind: &str| {
        json!({
            "index_patterns": ["old-*"], "order": order, "settings": {"index.number_of_shards": 1},
            "mappings": {"properties": {"k": {"type": kind}, kind: {"type": "long"}}}
        })
    };
    server.put("/_template/l1", &legacy(1, "keyword").to_string()).is(200);
    server.put("/_template/l0", &legacy(0, "long").to_string()).is(200);
    let shown = server.get("/_template/l1").is(200);
    assert_eq!(shown["l1"]["settings"], json!({"index": {"number_of_shards": "1"}}));
    assert_eq!((&shown["l1"]["order"], &shown["l1"]["aliases"]), (&json!(1), &json!({})));
    server.put("/old-1/_doc/1", r#"{"k": "x"}"#).is(201);
    let properties =
        server.get("/old-1/_mapping").is(200)["old-1"]["mappings"]["properties"].clone();
    assert_eq!(
        properties,
        json!({"k": {"type": "keyword"}, "keyword": {"type": "long"}, "long": {"type": "long"}})
    );
    assert_eq!(server.get("/_template/zz").status, 404);
    assert_eq!(server.delete("/_template/l1").is(200), acknowledged);
    assert_eq!(
        server.get("/_ilm/policy/logs").is(404)["error"]["type"],
        "resource_not_found_exception"
    );
    assert_eq!(server.put("/_ilm/policy/logs", "{}").is(200), acknowledged);
}

#[test]
fn data_streams_take_new_documents() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let template = json!({
        "index_patterns": ["ds-*"], "data_stream": {},
        "template": {"mappings": {"properties": {"k": {"type": "keyword"}}}}
    });
    server.put("/_index_template/ds", &template.to_string()).is(200);
    let document = r#"{"@timestamp": "2026-11-25T10:00:00.000Z", "a": 1}"#;
    let failed = refused(&server, "/ds-a/_doc", json!({"a": 1}), 400);
    assert!(
        failed.contains("must contain a single-valued timestamp field '@timestamp'"),
        "{failed}"
    );
    let made = server.post("/ds-a/_doc", document, &JSON).is(201);
    assert_eq!((&made["_index"], &made["result"]), (&json!(".ds-ds-a-000001"), &json!("created")));
    let only = "only write ops with an op_type of create are allowed in data streams";
    assert_eq!(server.put("/ds-a/_doc/1", document).is(400)["error"]["reason"], only);
    server.put("/ds-a/_create/1", document).is(201);
    let bulk = format!("{{\"index\":{{}}}}\n{document}\n{{\"create\":{{}}}}\n{document}\n");
    let bulk = server.post("/ds-a/_bulk", bulk, &JSON).is(200);
    assert_eq!(bulk["items"][0]["index"]["error"]["reason"], only);
    assert_eq!(bulk["items"][0]["index"]["_index"], "ds-a");
    assert_eq!(bulk["items"][1]["create"]["_index"], ".ds-ds-a-000001");
    let shown = json!({"data_streams": [{
        "name": "ds-a", "timestamp_field": {"name": "@timestamp"},
        "indices": [{"index_name": ".ds-ds-a-000001", "index_uuid": ".ds-ds-a-000001"}],
        "generation": 1, "status": "GREEN", "template": "ds"
    }]});
    server.kill();
    let server = Server::start(&folder.path("all"), &[]);
    assert_eq!(server.get("/_data_stream").is(200), shown);
    assert_eq!(server.get("/ds-a/_count").is(200)["count"], 3);
    assert_eq!(server.get("/ds-*/_count").is(200)["count"], 3);
    let mapping = server.get("/ds-a/_mapping").is(200);
    let properties = &mapping[".ds-ds-a-000001"]["mappings"]["properties"];
    assert_eq!(properties["@timestamp"], json!({"type": "date"}));
    assert_eq!(properties["k"], json!({"type": "keyword"}));
    assert_eq!(server.get("/_data_stream/z*").is(200), json!({"data_streams": []}));
    assert_eq!(server.get("/_data_stream/zz").status, 404);
    let reason = |answer: serving::Answer, status| {
        answer.is(status)["error"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        reason(server.put("/_data_stream/zz", ""), 400),
        "no matching index template found for data stream [zz]"
    );
    server.put("/_data_stream/ds-b", "").is(200);
    assert_eq!(
        reason(server.put("/_data_stream/ds-b", ""), 400),
        "data_stream [ds-b] already exists"
    );
    assert!(reason(server.put("/ds-c", ""), 400).contains("creates data streams only"));
    assert_eq!(reason(server.delete("/ds-b"), 404), "no such index [ds-b]");
    assert!(
        reason(server.delete("/.ds-ds-a-000001"), 400)
            .contains("is the write index for data stream [ds-a]")
    );
    assert!(
        reason(server.delete("/_index_template/ds"), 400)
            .contains("in use by a data streams [ds-a, ds-b]")
    );
    let deleted = post(&server, "/ds-a/_delete_by_query", json!({"query": {"match_all": {}}}));
    assert_eq!(deleted["deleted"], 3);
    for stream in ["ds-a", "ds-b"] {
        server.delete(&format!("/_data_stream/{stream}")).is(200);
    }
    assert_eq!(server.get("/_data_stream").is(200), json!({"data_streams": []}));
    server.delete("/_index_template/ds").is(200);
    assert_eq!(server.get("/ds-a/_count").status, 404);
}

#[test]
fn a_deleted_document_goes_on_counting() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let version = |answer: serving::Answer, status| answer.is(status)["_version"].as_u64().unwrap();
    assert_eq!(version(server.put("/s/_doc/1", "{}"), 201), 1);
    assert_eq!(version(server.delete("/s/_doc/1"), 200), 2);
    assert_eq!(version(server.put("/s/_doc/1", "{}"), 201), 3);
    assert_eq!(version(server.get("/s/_doc/1"), 200), 3);
    assert_eq!(version(server.put("/s/_doc/2", "{}"), 201), 1);
}
