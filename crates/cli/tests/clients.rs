//! Real clients of OpenSearch and Elasticsearch, and bytes as shippers send them.
//!
//! The clients of `ci/clients/requirements.txt` are installed below the build's folder, once.

mod common;
mod serving;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use serde_json::json;
use serving::Server;

/// The folder with the clients' steps.
fn steps() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/clients")
}

/// Returns a Python that has the clients.
fn python() -> PathBuf {
    let wanted = steps().join("requirements.txt");
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let (python, mark) = (home.join("bin/python"), home.join("requirements.txt"));
    let has = |path: &Path| std::fs::read(path).unwrap_or_default();
    if has(&mark) != has(&wanted) {
        let run =
            |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        run(Command::new(&python).args(install).arg(&wanted));
        std::fs::copy(wanted, mark).unwrap();
    }
    python
}

#[test]
fn official_clients_do_what_programs_do() {
    let (folder, python) = (Folder::new(), python());
    let server = Server::start(&folder.path("all"), &[]);
    for client in ["opensearch", "elasticsearch"] {
        let run = Command::new(&python)
            .arg(steps().join("steps.py"))
            .args([&server.url(""), client])
            .output();
        let run = run.unwrap();
        assert!(run.status.success(), "{client}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn shippers_find_the_bytes_that_they_look_for() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let ndjson = [("Content-Type", "application/x-ndjson")];
    let fluent = "{\"create\":{\"_index\":\"fluent-bit\",\"_type\":\"_doc\"}}\n{\"@timestamp\":\"2026-11-25T10:00:00.000Z\",\"log\":\"a line\"}\n";
    let answer = server.post("/_bulk", fluent, &ndjson);
    assert_eq!((answer.status, answer.header("x-elastic-product")), (200, "Elasticsearch"));
    let (took, rest) = answer.text.split_once(',').unwrap();
    assert!(took.starts_with("{\"took\":"));
    assert!(
        rest.starts_with("\"errors\":false,\"items\":[{\"create\":{\"_index\":\"fluent-bit\","),
        "{rest}"
    );
    let logstash = "/_bulk?filter_path=errors,items.*.error,items.*.status";
    let body = "{\"index\":{\"_index\":\"l\",\"_id\":\"1\",\"routing\":null}}\n{\"n\":1}\n{\"index\":{\"_index\":\"l\",\"_id\":\"2\"}}\nnonsense\n";
    let answer = server.post(logstash, body, &ndjson).is(200);
    assert_eq!((&answer["errors"], answer["items"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(
        (&answer["items"][0]["index"]["status"], &answer["items"][1]["index"]["status"]),
        (&json!(201), &json!(400))
    );
    assert!(answer["took"].is_null() && answer["items"][0]["index"]["_id"].is_null());
    // As many changes of one document as are asked for, in order.
    let update = |n: usize| {
        format!(
            "{{\"update\":{{\"_index\":\"l\",\"_id\":\"9\"}}}}\n{{\"doc\":{{\"n\":{n}}},\"doc_as_upsert\":true}}\n"
        )
    };
    let answer = server.post("/_bulk", (0..300).map(update).collect::<String>(), &ndjson).is(200);
    let versions =
        answer["items"].as_array().unwrap().iter().map(|item| item["update"]["_version"].as_u64());
    assert!(versions.eq((1..=300).map(Some)), "{answer}");
    // A source comes back byte for byte.
    let source = "{\"b\":  1.50,\"a\":[ ]}";
    assert_eq!(server.put("/l/_doc/3", source).status, 201);
    assert_eq!(server.get("/l/_source/3").text, source);
    let refused = |answer: serving::Answer, status: u16, reason: &str| {
        assert_eq!(answer.header("x-elastic-product"), "Elasticsearch", "{}", answer.text);
        let error = answer.is(status);
        assert!(error["error"]["reason"].as_str().unwrap().contains(reason), "{error}");
        assert_eq!(error["status"], status);
    };
    refused(server.post("/_bulk", "", &ndjson), 400, "request body is required");
    refused(
        server.post("/_bulk", "{\"index\":{\"_index\":\"l\"}}\n{}", &ndjson),
        400,
        "terminated by a newline",
    );
    refused(
        server.post("/_bulk", "{\"nope\":{}}\n", &ndjson),
        400,
        "expected one of [create, delete, index, update] but found [nope]",
    );
    refused(server.get("/l/_search?bogus=1"), 400, "contains unrecognized parameter: [bogus]");
    refused(server.get("/none/_search"), 404, "no such index [none]");
    refused(server.put("/UPPER", ""), 400, "Invalid index name [UPPER]");
    refused(server.put("/l/_doc/4", "{\"_id\":\"4\"}"), 400, "metadata field");
    assert_eq!(server.get("/_ilm/policy/logstash-policy").status, 404);
    assert_eq!(server.get("/_index_template/logs").status, 404);
    let unknown = server.get("/_nothing/of/this");
    assert_eq!((unknown.status, unknown.header("x-elastic-product")), (400, "Elasticsearch"));
    assert!(unknown.text.contains("no handler found for uri"), "{}", unknown.text);
    assert_eq!(server.put("/_search", "{}").is(405)["status"], 405);
    assert_eq!(server.get("/_license").is(200)["license"]["status"], "active");
    assert_eq!(server.end(), 0);
}

/// A mapping that would be ignored is refused; others make fields of their kinds.
#[test]
fn mappings_are_kept_or_refused() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let make = |name: &str, mappings: serde_json::Value| {
        server.put(
            &format!("/{name}"),
            &json!({"mappings": mappings, "settings": {"number_of_shards": 1}}).to_string(),
        )
    };
    let properties = json!({
        "id": {"type": "keyword"},
        "title": {"type": "text", "analyzer": "english"},
        "body": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
        "at": {"type": "date", "format": "epoch_second"},
        "geo": {"properties": {"city": {"type": "keyword"}}},
    });
    make("kept", json!({"properties": properties, "dynamic": "strict"})).is(200);
    let document =
        r#"{"id": "a", "title": "running herons", "at": 1764583200, "geo": {"city": "Rome"}}"#;
    assert_eq!(server.put("/kept/_doc/1", document).status, 201);
    let refused = server.put("/kept/_doc/2", r#"{"other": 1}"#).is(400);
    assert_eq!(refused["error"]["type"], "mapper_parsing_exception", "{refused}");
    let ask = |query: serde_json::Value| {
        let body = json!({"query": query}).to_string();
        server.post("/kept/_count", body, &[("Content-Type", "application/json")]).is(200)["count"]
            .clone()
    };
    assert_eq!(ask(json!({"match": {"title": "run"}})), 1);
    assert_eq!(ask(json!({"term": {"id": "a"}})), 1);
    assert_eq!(ask(json!({"term": {"geo.city": "Rome"}})), 1);
    assert_eq!(
        ask(
            json!({"range": {"at": {"gte": "2025-12-01T00:00:00Z", "lt": "2025-12-02T00:00:00Z"}}})
        ),
        1
    );
    let shown = server.get("/kept/_mapping").is(200);
    assert_eq!(
        shown["kept"]["mappings"]["properties"]["geo"]["properties"]["city"]["type"],
        "keyword"
    );
    for (mappings, reason) in [
        (json!({"properties": {"a": {"type": "geo_point"}}}), "No handler for type [geo_point]"),
        (
            json!({"properties": {"a": {"type": "text", "index": false}}}),
            "[index: false] of field [a]",
        ),
        (
            json!({"properties": {"a": {"type": "text", "analyzer": "klingon"}}}),
            "analyzer [klingon]",
        ),
        (
            json!({"properties": {"a": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}),
            "field [raw] within [a]",
        ),
        (
            json!({"properties": {"a": {"type": "date", "format": "dd.MM.yyyy"}}}),
            "format [dd.MM.yyyy]",
        ),
        (json!({"dynamic": false}), "[dynamic: false]"),
        (json!({"bogus": 1}), "unsupported parameters:  [bogus]"),
    ] {
        let error = make("refused", mappings).is(400);
        assert!(error["error"]["reason"].as_str().unwrap().contains(reason), "{error}");
    }
    assert_eq!(server.get("/refused").status, 404);
    let json = [("Content-Type", "application/json")];
    for (path, body) in [
        ("/kept/_search", r#"{"collapse": {"field": "id"}}"#),
        ("/kept/_search", r#"{"sort": ["_doc", "at"], "search_after": [1, 2]}"#),
        ("/kept/_count", r#"{"size": 1}"#),
        ("/kept/_update/1", r#"{"doc": {}, "_source": true}"#),
    ] {
        assert_eq!(server.post(path, body, &json).status, 400, "{path} {body}");
    }
}
