//! Templates that are simulated. Expected answers are those of OpenSearch 2.19.

mod common;
mod serving;

use common::Folder;
use serde_json::{Value, json};
use serving::{Answer, Server};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

fn simulate(server: &Server, path: &str, body: &str) -> Answer {
    server.post(&format!("/_index_template/{path}"), body, &JSON)
}

fn overlapping(name: &str, patterns: &[&str]) -> Value {
    json!({"name": name, "index_patterns": patterns})
}

/// Returns a server with a component template, and two index templates that overlap.
fn two(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    let component = r#"{"template":{"settings":{"index.priority":3},
        "mappings":{"properties":{"c":{"type":"keyword"}}}}}"#;
    server.put("/_component_template/simc", component).is(200);
    let one = r#"{"index_patterns":["sim-*"],"priority":5,"composed_of":["simc"],"template":{
        "settings":{"number_of_shards":1,"refresh_interval":"5s"},
        "mappings":{"properties":{"a":{"type":"long"}}},"aliases":{"simal":{}}}}"#;
    server.put("/_index_template/sim1", one).is(200);
    let two = r#"{"index_patterns":["sim-a*","sim-b*"],"priority":2,
        "template":{"settings":{"number_of_shards":2}}}"#;
    server.put("/_index_template/sim2", two).is(200);
    server
}

#[test]
fn templates_are_simulated() {
    let folder = Folder::new();
    let server = two(&folder);
    let sim2 = overlapping("sim2", &["sim-a*", "sim-b*"]);
    let sim1 = overlapping("sim1", &["sim-*"]);
    let first = json!({
        "template": {
            "settings": {"index": {
                "number_of_shards": "1", "priority": "3", "refresh_interval": "5s"
            }},
            "mappings": {"properties": {"a": {"type": "long"}, "c": {"type": "keyword"}}},
            "aliases": {"simal": {}},
        },
        "overlapping": [sim2],
    });
    let of = |settings: Value, overlapping: Value| json!({"template": {"settings": settings, "aliases": {}}, "overlapping": overlapping});
    let own =
        r#"{"index_patterns":["sim-a1"],"priority":9,"template":{"settings":{"priority":8}}}"#;
    let other = r#"{"index_patterns":["zzz"],"priority":9}"#;
    let new = r#"{"index_patterns":["sim-q*"],"priority":9,
        "template":{"settings":{"number_of_shards":1}}}"#;
    let instead = r#"{"index_patterns":["sim-q*"],"priority":7,
        "template":{"mappings":{"properties":{"z":{"type":"date"}}}}}"#;
    let with_z = json!({
        "template": {
            "settings": {}, "mappings": {"properties": {"z": {"type": "date"}}}, "aliases": {}
        },
        "overlapping": [sim1],
    });
    let shards = json!({"index": {"number_of_shards": "1"}});
    for (path, body, expected) in [
        ("_simulate_index/sim-a1", "", first.clone()),
        ("_simulate_index/other", "", json!({})),
        (
            "_simulate_index/sim-a1",
            own,
            of(json!({"index": {"priority": "8"}}), json!([sim1, sim2])),
        ),
        ("_simulate_index/sim-a1", other, first.clone()),
        ("_simulate_index/SIM", "", json!({})),
        ("_simulate/sim1", "", first),
        ("_simulate", new, of(shards.clone(), json!([sim1]))),
        ("_simulate/sim2", instead, with_z),
    ] {
        assert_eq!(simulate(&server, path, body).is(200), expected, "{path} {body}");
    }
    let stream = r#"{"index_patterns":["simd-*"],"data_stream":{},
        "template":{"settings":{"number_of_shards":1}}}"#;
    server.put("/_index_template/sim3", stream).is(200);
    let found = simulate(&server, "_simulate_index/simd-1", "").is(200);
    assert_eq!(found, of(shards, json!([])));
    // Nothing was put.
    assert_eq!(
        server.get("/_index_template").is(200)["index_templates"].as_array().unwrap().len(),
        3
    );
}

#[test]
fn wrong_simulations_are_refused_in_opensearchs_words() {
    let folder = Folder::new();
    let server = two(&folder);
    let same = r#"{"index_patterns":["sim-q*"],"priority":5}"#;
    for (path, body, reason) in [
        ("_simulate/none", "", "unable to simulate template [none] that does not exist"),
        (
            "_simulate",
            "",
            "Validation Failed: 1: either index name or index template body must be specified for \
             simulation;",
        ),
        ("_simulate", r#"{"bogus":1}"#, "[index_template] unknown field [bogus]"),
        (
            "_simulate/new",
            same,
            "index template [new] has index patterns [sim-q*] matching patterns from existing \
             templates [sim1] with patterns (sim1 => [sim-*]) that have the same priority [5], \
             multiple index templates may not match during index creation, please use a different \
             priority",
        ),
        (
            "_simulate_index/sim-a1?bogus=1",
            "",
            "request [/_index_template/_simulate_index/sim-a1] contains unrecognized parameter: \
             [bogus]",
        ),
    ] {
        let refused = simulate(&server, path, body).is(400);
        assert_eq!(refused["error"]["reason"], *reason, "{path}");
    }
    assert_eq!(server.get("/_index_template/_simulate_index/sim-a1").status, 405);
}
