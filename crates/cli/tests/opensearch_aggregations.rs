//! Aggregations over two indexes: hits of buckets, and pipelines over merged buckets.

mod common;
mod serving;
mod shelves;

use common::Folder;
use serde_json::Value;
use serving::Server;
use shelves::{ANSWERS, DOCUMENTS, MAPPING, REFUSED};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const PATH: &str = "/shelf-a,shelf-b/_search?size=0";

fn two(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    for index in ["/shelf-a", "/shelf-b"] {
        server.put(index, MAPPING).is(200);
    }
    for (index, id, source) in DOCUMENTS {
        server.put(&format!("/{index}/_doc/{id}"), source).is(201);
    }
    server
}

fn body(aggregation: &str) -> String {
    format!(r#"{{"aggs":{{"x":{aggregation}}}}}"#)
}

#[test]
fn answers_over_two_indexes_are_opensearchs() {
    let folder = Folder::new();
    let server = two(&folder);
    let mut wrong = Vec::new();
    for (aggregation, expected) in ANSWERS {
        let found = server.post(PATH, body(aggregation), &JSON);
        let expected: Value = serde_json::from_str(expected).unwrap();
        if found.status != 200 || found.json()["aggregations"]["x"] != expected {
            wrong.push(format!("{aggregation}\n   {expected}\n   {}", found.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Sources come back as they came.
    let best = r#"{"top_hits":{"size":1,"sort":[{"price":"desc"},{"views":"desc"}]}}"#;
    let found = server.post("/shelf-b/_search?size=0&typed_keys=true", body(best), &JSON);
    assert!(found.text.contains(r#""price":1e1,"#), "{}", found.text);
    assert!(found.text.contains(r#""top_hits#x":{"hits":"#), "{}", found.text);
}

#[test]
fn wrong_hits_of_buckets_are_refused() {
    let folder = Folder::new();
    let server = two(&folder);
    let own = [
        (
            r#"{"histogram":{"field":"price","interval":0.5},"aggs":{"t":{"top_hits":{}}}}"#,
            "[top_hits] in a [histogram] with an interval that is not whole is not supported by this \
             server",
        ),
        (
            r#"{"date_histogram":{"field":"at","fixed_interval":"6h","time_zone":"Europe/Berlin"},"aggs":{"t":{"top_hits":{}}}}"#,
            "[top_hits] in a [date_histogram] of fixed intervals in a named zone is not supported by \
             this server",
        ),
    ];
    for (aggregation, reason) in REFUSED.iter().chain(&own) {
        let refused = server.post(PATH, body(aggregation), &JSON);
        assert!(refused.status >= 400, "{aggregation} {}", refused.text);
        assert_eq!(refused.json()["error"]["reason"], *reason, "{aggregation}");
    }
}
