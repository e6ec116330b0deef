//! Points in time: searches of indexes as they were. Expected answers are those of OpenSearch 2.19.

mod common;
mod serving;

use std::time::{Duration, Instant};

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// Returns a server with an index of two documents, and one with a third.
fn three(folder: &Folder, flags: &[&str]) -> Server {
    let server = Server::start(&folder.path("all"), flags);
    for (path, n) in [("/pa/_doc/1", 1), ("/pa/_doc/2", 2), ("/pb/_doc/3", 3)] {
        server.put(path, &json!({"n": n, "t": format!("word{n}")}).to_string()).is(201);
    }
    server
}

fn open(server: &Server, indexes: &str, keep_alive: &str) -> Value {
    let path = format!("/{indexes}/_search/point_in_time?keep_alive={keep_alive}");
    server.post(&path, "", &[]).is(200)
}

fn search(server: &Server, body: &Value) -> serving::Answer {
    server.post("/_search", body.to_string(), &JSON)
}

/// Sends `DELETE` with a body.
fn delete(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = server.ask(&format!("DELETE {path}"), &JSON, &body.to_string());
    let json = answer.split("\r\n\r\n").nth(1).unwrap();
    (status, serde_json::from_str(json).expect(&answer))
}

#[test]
fn a_point_in_time_has_what_was_there() {
    let folder = Folder::new();
    let server = three(&folder, &[]);
    let before =
        search(&server, &json!({"sort": ["n"], "seq_no_primary_term": true, "version": true}));
    let before = before.is(200)["hits"].clone();
    let made = open(&server, "pa,pb", "1m");
    assert_eq!(made["_shards"], json!({"total": 2, "successful": 2, "skipped": 0, "failed": 0}));
    assert!(made["creation_time"].as_u64() > Some(1_700_000_000_000), "{made}");
    let pit = &made["pit_id"];
    // Added, replaced, deleted; and fields that nobody knew.
    server.put("/pa/_doc/9", r#"{"n":9,"t":"word9","new":1}"#).is(201);
    server.put("/pa/_doc/2", r#"{"n":20,"t":"word20"}"#).is(200);
    server.delete("/pa/_doc/1").is(200);
    let of_point = |more: Value| {
        let mut body = json!({"pit": {"id": pit}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        search(&server, &body)
    };
    let all = json!({"sort": ["n"], "seq_no_primary_term": true, "version": true});
    for _ in 0..2 {
        let now = of_point(all.clone()).is(200);
        assert_eq!((&now["hits"], &now["pit_id"]), (&before, pit));
    }
    let count = |query: Value| {
        of_point(json!({"query": query})).is(200)["hits"]["total"]["value"].as_u64().unwrap()
    };
    assert_eq!(count(json!({"match": {"t": "word2"}})), 1);
    assert_eq!(count(json!({"match": {"t": "word20"}})), 0);
    assert_eq!(count(json!({"exists": {"field": "new"}})), 0);
    assert_eq!(count(json!({"range": {"n": {"gte": 1, "lte": 9}}})), 3);
    let sum = of_point(json!({"size": 0, "aggs": {"s": {"sum": {"field": "n"}}}})).is(200);
    assert_eq!(sum["aggregations"]["s"]["value"], 6.0);
    let page = of_point(json!({"size": 1, "sort": ["n"], "search_after": [1]})).is(200);
    assert_eq!(page["hits"]["hits"][0]["_source"], json!({"n": 2, "t": "word2"}));
    let one = open(&server, "pa", "1m");
    let places = json!({
        "pit": {"id": one["pit_id"], "keep_alive": "1m"}, "size": 1, "sort": [{"_shard_doc": "asc"}]
    });
    let first = search(&server, &places).is(200)["hits"]["hits"][0].clone();
    let mut places = places;
    places["search_after"] = first["sort"].clone();
    let second = search(&server, &places).is(200)["hits"]["hits"][0].clone();
    assert_eq!((&first["_id"], &second["_id"]), (&json!("2"), &json!("9")));
    let many = format!("{{}}\n{}\n", json!({"size": 0, "pit": {"id": pit}}));
    let many = server.post("/_msearch", many, &JSON).is(200);
    assert_eq!(many["responses"][0]["hits"]["total"]["value"], 3);
    // One point in time is not in the way of another, nor of a start.
    let now = open(&server, "pa", "1m");
    let now = search(&server, &json!({"pit": {"id": now["pit_id"]}, "sort": ["n"]})).is(200);
    assert_eq!(now["hits"]["total"]["value"], 2);
    assert_eq!(server.end(), 0);
    let server = Server::start(&folder.path("all"), &[]);
    assert_eq!(search(&server, &json!({"pit": {"id": pit}})).status, 404);
    assert_eq!(directories(&folder), ["pa", "pb"]);
}

/// The directories below the server's.
fn directories(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("all")).unwrap().map(Result::unwrap);
    let entries = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_point_in_time_is_shown_and_closed() {
    let folder = Folder::new();
    let server = three(&folder, &[]);
    let (one, two) = (open(&server, "pa", "1m"), open(&server, "p*", "2m"));
    let shown = server.get("/_search/point_in_time/_all").is(200)["pits"].clone();
    let of = |pit: &Value| {
        let mut all = shown.as_array().unwrap().iter();
        all.find(|shown| shown["pit_id"] == pit["pit_id"]).unwrap().clone()
    };
    let expected = json!({
        "pit_id": two["pit_id"], "creation_time": two["creation_time"], "keep_alive": 120_000
    });
    assert_eq!((of(&two), &of(&one)["keep_alive"]), (expected, &json!(60_000)));
    // A search lengthens the time, and never shortens it.
    for (keep_alive, after) in [("40s", 60_000), ("90s", 90_000)] {
        let body = json!({"size": 0, "pit": {"id": one["pit_id"], "keep_alive": keep_alive}});
        search(&server, &body).is(200);
        let shown = server.get("/_search/point_in_time/_all").is(200)["pits"].clone();
        let mut shown = shown.as_array().unwrap().iter();
        assert!(shown.any(|s| s["pit_id"] == one["pit_id"] && s["keep_alive"] == after), "{after}");
    }
    let deleted = json!({"pits": [{"successful": true, "pit_id": one["pit_id"]}]});
    let body = json!({"pit_id": [one["pit_id"]]});
    for _ in 0..2 {
        assert_eq!(delete(&server, "/_search/point_in_time", &body), (200, deleted.clone()));
    }
    let gone = search(&server, &json!({"pit": {"id": one["pit_id"]}})).is(404);
    assert_eq!(gone["error"]["root_cause"][0]["type"], "search_context_missing_exception");
    // An index that is deleted takes its points in time along.
    server.delete("/pb").is(200);
    let gone = search(&server, &json!({"pit": {"id": two["pit_id"]}})).is(404);
    assert_eq!(gone["error"]["reason"], "no such index [pb]");
    let all = server.delete("/_search/point_in_time/_all").is(200);
    assert_eq!(all, json!({"pits": [{"successful": true, "pit_id": two["pit_id"]}]}));
    assert_eq!(server.delete("/_search/point_in_time/_all").is(200), json!({"pits": []}));
    // As Elasticsearch's clients say it.
    let made = server.post("/pa/_pit?keep_alive=1m", "", &JSON).is(200);
    let body = json!({"id": made["id"]});
    search(&server, &json!({"pit": body})).is(200);
    let freed = json!({"succeeded": true, "num_freed": 1});
    assert_eq!(delete(&server, "/_pit", &body), (200, freed));
    assert_eq!(delete(&server, "/_pit", &body).0, 404);
}

#[test]
fn a_point_in_time_ends_and_is_limited() {
    let folder = Folder::new();
    let server = three(&folder, &["--pits", "2"]);
    let pit = open(&server, "pa", "300ms")["pit_id"].clone();
    search(&server, &json!({"pit": {"id": pit}})).is(200);
    open(&server, "pa", "1m");
    let refused = server.post("/pa/_search/point_in_time?keep_alive=1m", "", &[]).is(429);
    let reason = refused["error"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("Trying to create too many Point In Time contexts."), "{reason}");
    let end = Instant::now() + Duration::from_secs(20);
    while search(&server, &json!({"pit": {"id": pit}, "size": 0})).status == 200 {
        assert!(Instant::now() < end, "it does not end");
        // A search renews it.
        std::thread::sleep(Duration::from_millis(400));
    }
    let points = || {
        let names = directories(&folder).into_iter();
        let own = names.filter(|name| name.starts_with("_points-")).collect::<Vec<_>>();
        assert_eq!(own.len(), 1, "{own:?}");
        std::fs::read_dir(folder.path("all") + "/" + &own[0]).unwrap().count()
    };
    while points() != 1 {
        assert!(Instant::now() < end, "the copy is not removed");
        std::thread::sleep(Duration::from_millis(10));
    }
    open(&server, "pa", "1m");
    // What a process leaves that was killed is removed at the next start.
    server.kill();
    let server = Server::start(&folder.path("all"), &["--pit-bytes", "64KiB"]);
    assert_eq!(directories(&folder), ["pa", "pb"]);
    let refused = server.post("/pa/_search/point_in_time?keep_alive=1m", "", &[]).is(429);
    assert!(refused["error"]["reason"].as_str().unwrap().contains("--pit-bytes"), "{refused}");
    drop(server);
    let server = Server::start(&folder.path("all"), &["--pit-dram", "1MiB"]);
    let refused = server.post("/pa/_search/point_in_time?keep_alive=1m", "", &[]).is(429);
    assert!(refused["error"]["reason"].as_str().unwrap().contains("--pit-dram"), "{refused}");
}

#[test]
fn what_a_point_in_time_cannot_have_is_refused() {
    let folder = Folder::new();
    let server = three(&folder, &[]);
    let invalid = |what: &str| format!("Validation Failed: 1: {what};");
    for (path, status, reason) in [
        ("pa/_search/point_in_time", 400, invalid("keep alive not specified")),
        ("none/_search/point_in_time?keep_alive=1m", 404, "no such index [none]".to_owned()),
        (
            "pa/_search/point_in_time?keep_alive=2d",
            400,
            "Keep alive for request (2d) is too large. It must be less than (1d). This limit can be \
             set by changing the [point_in_time.max_keep_alive] cluster level setting."
                .to_owned(),
        ),
        (
            "pa/_search/point_in_time?keep_alive=x",
            400,
            "failed to parse setting [keep_alive] with value [x] as a time value: unit is missing or \
             unrecognized"
                .to_owned(),
        ),
        (
            "pa/_search/point_in_time?keep_alive=1m&bogus=1",
            400,
            "request [/pa/_search/point_in_time] contains unrecognized parameter: [bogus]".to_owned(),
        ),
    ] {
        let refused = server.post(&format!("/{path}"), "", &[]).is(status);
        assert_eq!(refused["error"]["reason"], reason, "{path}");
    }
    let pit = open(&server, "pa", "1m")["pit_id"].clone();
    let id = json!({"id": pit});
    let with = |name: &str, value: Value| {
        let mut pit = id.clone();
        pit[name] = value;
        json!({ "pit": pit })
    };
    for (path, body, reason) in [
        ("pa/_search", json!({"pit": id}), invalid("[indices] cannot be used with point in time")),
        (
            "_search?routing=a",
            json!({"pit": id}),
            invalid("[routing] cannot be used with point in time"),
        ),
        (
            "_search?ignore_unavailable=true",
            json!({"pit": id}),
            invalid("[indicesOptions] cannot be used with point in time"),
        ),
        (
            "_search?scroll=1m",
            json!({"pit": id}),
            invalid("using [point in time] is not allowed in a scroll context"),
        ),
        ("_search", json!({"pit": {}}), "point int time id is not provided".to_owned()),
        ("_search", json!({"pit": {"id": "abc"}}), "invalid id: [abc]".to_owned()),
        ("_search", json!({"pit": 3}), "Unknown key for a VALUE_NUMBER in [pit].".to_owned()),
        ("_search", with("bogus", json!(1)), "[pit] unknown field [bogus]".to_owned()),
        (
            "_search",
            with("keep_alive", json!("x")),
            "[pit] failed to parse field [keep_alive]".to_owned(),
        ),
        (
            "_search",
            json!({"pit": id, "slice": {"id": 0, "max": 2}, "aggs": {"a": {"avg": {"field": "n"}}}}),
            "[slice] with [aggs] is not supported by this server".to_owned(),
        ),
        (
            "_search",
            json!({"pit": id, "slice": {"id": 0, "max": 2, "field": "none"}}),
            "field none not found".to_owned(),
        ),
        ("_count", json!({"pit": id}), "request does not support [pit]".to_owned()),
    ] {
        let refused = server.post(&format!("/{path}"), body.to_string(), &JSON).is(400);
        assert_eq!(refused["error"]["reason"], reason, "{path} {body}");
    }
    for body in [json!({}), json!({"pit_id": []})] {
        let (status, refused) = delete(&server, "/_search/point_in_time", &body);
        let reason = invalid("no pit ids specified");
        assert_eq!((status, &refused["error"]["reason"]), (400, &json!(reason)), "{body}");
    }
    let (_, refused) = delete(&server, "/_search/point_in_time", &json!({"pit_id": "abc"}));
    assert_eq!(refused["error"]["reason"], "invalid id: [abc]");
    search(&server, &json!({"pit": id})).is(200);
}

/// Returns a server with documents in several indexes, some of which have no `even`.
fn many(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    let mut lines = String::new();
    for n in 0..90 {
        let index = ["pa", "pb", "pc"][n % 3];
        lines.push_str(&format!("{{\"index\":{{\"_index\":\"{index}\",\"_id\":\"{n}\"}}}}\n"));
        let document = match n % 5 {
            0 => json!({"n": n}),
            _ => json!({"n": n, "even": n % 2 == 0, "price": n as f64 / 4.0, "tens": n / 10}),
        };
        lines.push_str(&format!("{document}\n"));
    }
    assert_eq!(server.post("/_bulk", lines, &JSON).is(200)["errors"], false);
    server
}

/// Returns the ids of all pages of a search, each of which begins behind the one before.
fn pages(server: &Server, path: &str, mut body: Value) -> Vec<String> {
    let mut ids = Vec::new();
    // Terminates: a page that has no hits is the last one.
    loop {
        let answer = server.post(path, body.to_string(), &JSON).is(200);
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let Some(last) = hits.last() else { return ids };
        ids.extend(hits.iter().map(|hit| hit["_id"].as_str().unwrap().to_owned()));
        body["search_after"] = last["sort"].clone();
    }
}

fn each_once(mut ids: Vec<String>) {
    ids.sort_by_key(|id| id.parse::<usize>().unwrap());
    assert_eq!(ids, (0..90).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn each_document_is_in_one_slice() {
    let folder = Folder::new();
    let server = many(&folder);
    let made = open(&server, "pa,pb,pc", "1m");
    let pit = json!({"id": made["pit_id"]});
    for (field, sort) in [
        (None, json!(["_shard_doc"])),
        (Some("_id"), json!([{"n": "desc"}])),
        (Some("n"), json!(["n"])),
        (Some("price"), json!([{"tens": "desc"}, "_shard_doc"])),
        (Some("even"), json!(["n"])),
    ] {
        let (mut all, mut totals) = (Vec::new(), 0);
        for id in 0..3 {
            let mut slice = json!({"id": id, "max": 3});
            if let Some(field) = field {
                slice["field"] = json!(field);
            }
            let body = json!({"pit": pit, "size": 7, "slice": slice, "sort": sort});
            let total = search(&server, &body).is(200)["hits"]["total"].clone();
            assert_eq!(total["relation"], "eq");
            let own = pages(&server, "/_search", body);
            assert_eq!(total["value"].as_u64(), Some(own.len() as u64), "{field:?} {id}");
            totals += own.len();
            all.extend(own);
        }
        assert_eq!(totals, 90, "{field:?}");
        each_once(all);
    }
    let narrow = json!({
        "pit": pit, "slice": {"id": 0, "max": 2}, "query": {"range": {"n": {"lt": 40}}},
        "from": 3, "size": 100, "track_total_hits": 5,
    });
    let found = search(&server, &narrow).is(200);
    assert_eq!(found["hits"]["total"], json!({"value": 5, "relation": "gte"}));
    let ids = found["hits"]["hits"].as_array().unwrap();
    assert!(ids.iter().all(|hit| hit["_source"]["n"].as_u64() < Some(40)) && ids.len() > 5);
}

#[test]
fn pages_go_through_documents_of_several_indexes() {
    let folder = Folder::new();
    let server = many(&folder);
    let made = open(&server, "p*", "1m");
    for sort in [
        json!(["_doc"]),
        json!([{"_doc": "desc"}]),
        json!([{"even": "asc"}, "_doc"]),
        json!([{"tens": {"order": "desc", "missing": "_first"}}, "_doc"]),
    ] {
        let body = json!({"size": 7, "sort": sort, "_source": false});
        let ids = pages(&server, "/pa,pb,pc/_search", body.clone());
        let whole = json!({"size": 100, "sort": sort, "_source": false}).to_string();
        let whole = server.post("/pa,pb,pc/_search", whole, &JSON).is(200)["hits"]["hits"].clone();
        let whole = whole.as_array().unwrap().iter().map(|hit| hit["_id"].as_str().unwrap());
        assert_eq!(ids, whole.collect::<Vec<_>>(), "{sort}");
        each_once(ids);
        let mut of_point = body;
        of_point["pit"] = json!({"id": made["pit_id"]});
        of_point["sort"] = sort.to_string().replace("_doc", "_shard_doc").parse().unwrap();
        each_once(pages(&server, "/_search", of_point));
    }
}
