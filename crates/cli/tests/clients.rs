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
