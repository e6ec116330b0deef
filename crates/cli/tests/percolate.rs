//! `spirit serve`: named standing queries, and which of them a document matches.

mod common;
mod serving;

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];

/// A server with an index, one document, and three queries.
fn start(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    let first = json!({ "text": "one", "size": 1, "by": "ann" }).to_string();
    server.put("/api/v1/posts", "").is(201);
    server.put("/api/v1/posts/documents/1", &first).is(201);
    let many = json!({
        "herons": { "q": "text:heron AND NOT by:bot" },
        "large": { "q": "size:>100" },
    });
    let put = server.post("/api/v1/posts/queries", many.to_string(), JSON).is(200);
    assert_eq!(put, json!({ "created": 2, "replaced": 0 }));
    let lake = json!({ "q": "text:\"the lake\"" }).to_string();
    server.put("/api/v1/posts/queries/lake", &lake).is(201);
    server
}

fn percolate(server: &Server, document: &Value) -> Value {
    server.post("/api/v1/posts/percolate", document.to_string(), JSON).is(200)["queries"].clone()
}

#[test]
fn a_document_is_held_against_the_queries() {
    let folder = Folder::new();
    let server = start(&folder);
    for (document, names) in [
        (json!({ "text": "a heron at the lake", "size": 5 }), json!(["herons", "lake"])),
        (json!({ "text": "a heron at the lake", "by": "bot" }), json!(["lake"])),
        (
            json!({ "text": "lake the heron", "size": 101, "new": "field" }),
            json!(["herons", "large"]),
        ),
        (json!({ "text": "a gull", "size": 100.5 }), json!(["large"])),
        (json!({ "text": "a gull" }), json!([])),
    ] {
        assert_eq!(percolate(&server, &document), names, "{document}");
    }
    // Nothing was added.
    assert_eq!(server.get("/api/v1/posts/count").is(200)["count"], 1);
    assert!(server.get("/api/v1/posts/schema").text.contains("size"));
    assert!(!server.get("/api/v1/posts/schema").text.contains("new"));
}

#[test]
fn queries_change_and_survive_the_server() {
    let folder = Folder::new();
    let server = start(&folder);
    let heron = json!({ "text": "a heron at the lake", "mood": "calm" });
    assert_eq!(percolate(&server, &heron), json!(["herons", "lake"]));
    server.delete("/api/v1/posts/queries/lake").is(204);
    server.delete("/api/v1/posts/queries/lake").is(404);
    let put = server.put("/api/v1/posts/queries/herons", r#"{ "q": "text:gull" }"#).is(200);
    assert_eq!(put, json!({ "created": 0, "replaced": 1 }));
    assert_eq!(percolate(&server, &heron), json!([]));
    // A query about a field that is not there yet is refused; then it is there.
    let calm = r#"{ "q": "mood:calm" }"#;
    let refused = server.put("/api/v1/posts/queries/calm", calm).is(400);
    assert!(refused["detail"].as_str().unwrap().contains("calm"), "{refused}");
    server.put("/api/v1/posts/documents/2", &heron.to_string()).is(201);
    server.put("/api/v1/posts/queries/calm", calm).is(201);
    assert_eq!(percolate(&server, &heron), json!(["calm"]));
    server.end();
    let server = Server::start(&folder.path("all"), &[]);
    let listed = server.get("/api/v1/posts/queries").is(200);
    let calm: Value = serde_json::from_str(calm).unwrap();
    let expected =
        json!({ "calm": calm, "herons": { "q": "text:gull" }, "large": { "q": "size:>100" } });
    assert_eq!(listed["queries"], expected);
    assert_eq!(server.get("/api/v1/posts/queries/calm").is(200), calm);
    assert_eq!(percolate(&server, &heron), json!(["calm"]));
    // The queries of a deleted index are gone.
    server.delete("/api/v1/posts").is(204);
    server.put("/api/v1/posts", "").is(201);
    assert_eq!(server.get("/api/v1/posts/queries").is(200), json!({ "queries": {} }));
    assert_eq!(percolate(&server, &heron), json!([]));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let server = start(&folder);
    let long = "x".repeat(256);
    for (name, body, status, what) in [
        ("x", "{", 400, "EOF"),
        ("x", r#"{ "query": "a" }"#, 400, "query"),
        ("x", r#"{ "q": "text:(a" }"#, 400, "\"x\""),
        ("x", r#"{ "q": "nobody:a" }"#, 400, "no such field"),
        (&long, r#"{ "q": "text:a" }"#, 400, "255 bytes"),
        ("a%0Ab", r#"{ "q": "text:a" }"#, 400, "control"),
    ] {
        let answer = server.put(&format!("/api/v1/posts/queries/{name}"), body);
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(what), "{body}: {detail}");
    }
    let some = json!({ "good": { "q": "text:a" }, "bad": { "q": "text:(" } }).to_string();
    server.post("/api/v1/posts/queries", some, JSON).is(400);
    server.get("/api/v1/posts/queries/good").is(404);
    server.get("/api/v1/posts/queries/x").is(404);
    server.get("/api/v1/nobody/queries").is(404);
    server.post("/api/v1/posts/percolate", "[]", JSON).is(400);
    server.post("/api/v1/posts/percolate", r#"{ "size": "large" }"#, JSON).is(400);
    server.get("/api/v1/posts/tail?q=a&name=large").is(400);
    server.get("/api/v1/posts/tail?name=nobody").is(404);
    assert_eq!(percolate(&server, &json!({ "size": 200 })), json!(["large"]));
}
