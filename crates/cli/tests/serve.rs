//! `spirit serve`: a real server, asked over HTTP, killed, restarted, and given what it should refuse.

mod common;
mod serving;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Folder, spirit};
use serde_json::json;
use serving::Server;

fn lines(from: usize, to: usize) -> String {
    let line = |number: usize| {
        format!("{{\"key\":\"k{number}\",  \"text\": \"heron {number}\", \"n\": {number}}}\n")
    };
    (from..to).map(line).collect()
}

#[test]
fn documents_come_back_as_they_came() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let made = server.put("/api/v1/birds", "").is(201);
    assert_eq!((&made["index"], &made["documents"]), (&json!("birds"), &json!(0)));
    let written = server.post("/api/v1/birds/documents", lines(0, 100), &[]).is(200);
    assert_eq!(written, json!({"accepted": 100, "refused": 0, "durable": "process", "errors": []}));
    let got = server.get("/api/v1/birds/documents/k7");
    assert!(
        got.text.contains(r#""source":{"key":"k7",  "text": "heron 7", "n": 7}"#),
        "{}",
        got.text
    );
    assert_eq!(got.header("etag"), "\"7\"");
    let found = server.get("/api/v1/birds/search?q=heron+AND+n:%3E=98&order=n:asc").is(200);
    assert_eq!((&found["count"], &found["hits"][0]["key"]), (&json!(2), &json!("k98")));
    assert_eq!(found["hits"][1]["source"], json!({"key": "k99", "text": "heron 99", "n": 99}));
    let asked = json!({"q": "heron", "limit": 1, "facet": ["stats:n", "histogram:n:50"]});
    let posted = server.post("/api/v1/birds/search", asked.to_string(), &[]).is(200);
    assert_eq!(posted["facets"].as_array().unwrap().len(), 2);
    let next = posted["cursor"].as_str().unwrap();
    let second = server.get(&format!("/api/v1/birds/search?q=heron&limit=1&after={next}")).is(200);
    assert_eq!(second["hits"][0]["key"], "k98");
    assert_eq!(server.get("/api/v1/birds/count?q=n:%3C10").is(200)["count"], 10);
    assert_eq!(
        server.get("/api/v1/birds/schema").is(200),
        json!({"text": "text(standard)", "n": "integer"})
    );
    assert_eq!(server.get("/api/v1/birds/stats").is(200)["documents"], 100);
    assert_eq!(server.get("/api/v1").is(200)[0]["documents"], 100);
    // Another process reads beside it.
    let beside = spirit(&["count", "-d", &folder.path("all/birds"), "text:heron"]).done();
    assert_eq!(beside.trim(), "100");
    let line = spirit(&["get", "-d", &folder.path("all/birds"), "k7", "--json"]).done();
    assert!(line.contains(r#""source":{"key":"k7",  "text": "heron 7", "n": 7}"#), "{line}");
    let shown = spirit(&["search", "-d", &folder.path("all/birds"), "n:7"]).done();
    assert!(shown.contains(r#""text": "heron 7""#), "{shown}");
    assert_eq!(server.end(), 0);
    // The command would store texts that nobody finds.
    let (directory, file) = (folder.path("all/birds"), folder.file("a.txt", "a line\n"));
    let refused = spirit(&["ingest", "-d", &directory, &file]);
    assert!(refused.code == 2 && refused.err.contains("spirit serve"), "{}", refused.err);
}

#[test]
fn writes_with_a_condition_are_decided_once() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/api/v1/shop", "").is(201);
    let path = "/api/v1/shop/documents/stock";
    let put = |body: &str, header: &[(&str, &str)]| server.put_if(path, body, header);
    let made = put(r#"{"left": 7}"#, &[("If-None-Match", "*")]);
    assert_eq!((made.status, made.header("location")), (201, path));
    let tag = made.header("etag").to_owned();
    let again = put(r#"{"left": 9}"#, &[("If-None-Match", "*")]).is(412);
    assert_eq!((&again["type"], &again["current"]), (&json!("conflict"), &json!(0)));
    assert_eq!(put(r#"{"left": 6}"#, &[("If-Match", &tag)]).is(200)["result"], "replaced");
    assert_eq!(put(r#"{"left": 5}"#, &[("If-Match", &tag)]).is(412)["current"], 1);
    assert_eq!(server.get(path).is(200)["source"]["left"], 6);
    put("{}", &[("If-Match", "7 left")]).is(400);
    server.delete(path).is(200);
    assert_eq!(server.delete(path).is(404)["type"], "document-not-found");
    // Each of several clients counts up, and no step is lost.
    put(r#"{"left": 0}"#, &[]).is(201);
    let count_up = || {
        for _ in 0..25 {
            loop {
                let now = server.get(path);
                let next = json!({"left": now.json()["source"]["left"].as_u64().unwrap() + 1});
                if put(&next.to_string(), &[("If-Match", now.header("etag"))]).status == 200 {
                    break;
                }
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(count_up)));
    assert_eq!(server.get(path).is(200)["source"]["left"], 100);
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let mut acknowledged = 0;
    for round in 0..6 {
        let server = Server::start(&directory, &[]);
        if round == 0 {
            server.put("/api/v1/log", "").is(201);
        }
        let count = server.get("/api/v1/log/count").is(200)["count"].as_u64().unwrap();
        assert_eq!(count, acknowledged as u64);
        let end = Instant::now() + Duration::from_millis(300);
        while Instant::now() < end {
            let body = lines(acknowledged, acknowledged + 50);
            server.post("/api/v1/log/documents", body, &[]).is(200);
            acknowledged += 50;
        }
        if round % 2 == 0 { server.kill() } else { assert_eq!(server.end(), 0) }
    }
    assert!(acknowledged > 600);
}

#[test]
fn what_cannot_be_is_refused_by_its_name() {
    let folder = Folder::new();
    let flags = ["--dram", "160MiB", "--body", "64KiB", "--header-timeout", "300ms"];
    let server = Server::start(&folder.path("all"), &flags);
    server.put("/api/v1/a", "").is(201);
    server.put("/api/v1/b", "").is(201);
    let problem = |answer: serving::Answer, status: u16, what: &str| {
        assert_eq!(answer.header("content-type"), "application/problem+json", "{}", answer.text);
        let problem = answer.is(status);
        assert!(problem["detail"].as_str().unwrap().contains(what), "{problem}");
        assert_eq!(problem["status"], status);
    };
    problem(server.put("/api/v1/c", ""), 507, "larger --dram");
    problem(server.put("/api/v1/a", ""), 409, "an index of this name");
    problem(server.put("/api/v1/A", ""), 400, "lower case");
    problem(server.put("/api/v1/..%2fx", ""), 400, "must not have '/'");
    problem(server.put("/api/v1/d", r#"{"dram": "much"}"#), 400, "dram: `much` is not a size");
    problem(server.put("/api/v1/d", r#"{"drum": "1MiB"}"#), 400, "drum");
    problem(server.get("/api/v1/none/search"), 404, "no such index");
    problem(server.get("/api/v1/a/search?q=heron&lmit=3"), 400, "lmit: there is no such member");
    problem(server.get("/api/v1/a/search?limit=10001"), 400, "from 0 to 10000");
    let parsed = server.get("/api/v1/a/search?q=heron+AND+(").is(400);
    assert_eq!(
        (&parsed["type"], parsed["offset"].is_u64()),
        (&json!("bad-query"), true),
        "{parsed}"
    );
    problem(server.get("/api/v1/a/b/c"), 404, "no path of this server");
    problem(server.delete("/api/v1/a/search"), 405, "does not take DELETE");
    problem(server.put("/api/v1/a/documents/7", "[1]"), 400, "expected an object");
    problem(server.put("/api/v1/a/documents/7", r#"{"key": "8"}"#), 400, "the path \"7\"");
    problem(server.post("/api/v1/a/documents", vec![b' '; 65_537], &[]), 413, "at most 64 KiB");
    let packed = packed(&vec![b' '; 1 << 20]);
    problem(
        server.post("/api/v1/a/documents", &packed, &[("Content-Encoding", "gzip")]),
        413,
        "64 KiB",
    );
    problem(
        server.post("/api/v1/a/documents", "x", &[("Content-Encoding", "gzip")]),
        400,
        "unpacked",
    );
    problem(server.post("/api/v1/a/documents", b"\xff", &[]), 400, "no UTF-8 at byte 0");
    // A document that is refused does not take its neighbours along.
    let some = "{\"key\":\"1\",\"n\":1}\nnonsense\n\n{\"key\":\"2\",\"n\":\"two\"}\n{\"n\":3}\n";
    let written = server.post("/api/v1/a/documents", some, &[]).is(200);
    assert_eq!((&written["accepted"], &written["refused"]), (&json!(2), &json!(2)), "{written}");
    let places: Vec<_> =
        written["errors"].as_array().unwrap().iter().map(|e| &e["place"]).collect();
    assert_eq!(places, [2, 4]);
    let gzip = [("Content-Encoding", "gzip")];
    let written = server.post("/api/v1/a/documents", self::packed(b"{\"n\":4}"), &gzip).is(200);
    assert_eq!(written["accepted"], 1);
    let json = [("Content-Type", "application/json; charset=utf-8")];
    let array = "[{\"n\": 5},\n {\"n\": 6}]";
    assert_eq!(server.post("/api/v1/a/documents", array, &json).is(200)["accepted"], 2);
    // Headers that never end, and what is no HTTP.
    let started = Instant::now();
    server.raw(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(server.raw(b"\x16\x03\x01 nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert_eq!(server.get("/health/live").status, 200);
    server.delete("/api/v1/b").is(204);
    server.put("/api/v1/c", "").is(201);
    assert_eq!(server.end(), 0);
    // Indexes have the same memory again, and the budget is as it was.
    let server = Server::start(&folder.path("all"), &flags);
    let sizes = |index: &str| server.get(&format!("/api/v1/{index}")).is(200)["dram"].clone();
    assert_eq!((sizes("a"), sizes("c")), (json!(64 << 20), json!(64 << 20)));
    problem(server.put("/api/v1/b", ""), 507, "larger --dram");
    server.delete("/api/v1/a").is(204);
    server.put("/api/v1/b", "").is(201);
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_broken_index_harms_no_other() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    for index in ["good", "broken"] {
        server.put(&format!("/api/v1/{index}"), "").is(201);
        server.post(&format!("/api/v1/{index}/documents"), lines(0, 10), &[]).is(200);
    }
    assert_eq!(server.end(), 0);
    folder.file("all/broken/heap", "this is no index");
    let server = Server::start(&folder.path("all"), &[]);
    let ready = server.get("/health/ready").is(200);
    assert_eq!((&ready["serving"], &ready["failed"][0]["index"]), (&json!(1), &json!("broken")));
    assert_eq!(server.get("/api/v1/good/count").is(200)["count"], 10);
    let broken = server.get("/api/v1/broken/count").is(503);
    assert!(broken["detail"].as_str().unwrap().contains("or is not an index"), "{broken}");
}

#[test]
fn settings_are_read_shown_and_refused() {
    let folder = Folder::new();
    let file = folder.file("spirit.toml", "listen = \"127.0.0.1:0\"\nquery-timeout = \"3s\"\n");
    let shown = spirit(&["config", "--config", &file, "--body", "1MiB"]).done();
    let line = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(
        line("query-timeout").contains("3s") && line("query-timeout").ends_with("spirit.toml"),
        "{shown}"
    );
    assert!(line("body").contains("1 MiB") && line("body").ends_with("command line"), "{shown}");
    assert!(line("hold").ends_with("default"), "{shown}");
    let wrong = folder.file("wrong.toml", "bogus = 1\n");
    let refused = spirit(&["serve", "-d", &folder.path("all"), "--config", &wrong]);
    assert!(refused.code == 2 && refused.err.contains("`bogus` is no setting"), "{}", refused.err);
    let exposed = spirit(&["serve", "-d", &folder.path("all"), "--listen", "0.0.0.0:0"]);
    assert!(exposed.code == 2 && exposed.err.contains("--insecure yes"), "{}", exposed.err);
}
