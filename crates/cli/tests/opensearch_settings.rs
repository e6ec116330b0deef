//! Settings of indexes that are there: changed, kept, shown, and refused in OpenSearch's words.

mod common;
mod serving;

use common::Folder;
use serde_json::json;
use serving::Server;

const UNKNOWN: &str = "please check that any required plugins are installed, or check the breaking \
                       changes documentation for removed settings";

fn two(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    for index in ["/set-a", "/set-b"] {
        server
            .put(
                index,
                r#"{"settings":{"number_of_shards":1,"index":{"codec":"best_compression"}}}"#,
            )
            .is(200);
    }
    server
}

#[test]
fn dynamic_settings_are_kept_and_shown() {
    let folder = Folder::new();
    let mut server = two(&folder);
    for (path, body) in [
        ("/set-a/_settings", r#"{"index":{"refresh_interval":"1s"}}"#),
        ("/set-a/_settings", r#"{"refresh_interval":"-1","number_of_replicas":"0"}"#),
        ("/set-a/_settings", r#"{"settings":{"index":{"refresh_interval":"2s"}}}"#),
        ("/set-a/_settings?preserve_existing=true", r#"{"refresh_interval":"9s","priority":3}"#),
        ("/set-a/_settings", r#"{"index.translog":{"durability":"async","sync_interval":"5s"}}"#),
        ("/set-a/_settings", r#"{"index.blocks.read_only_allow_delete":null}"#),
        ("/set-b/_settings", r#"{"index":{"query":{"default_field":["a"]},"hidden":true}}"#),
        ("/set-*/_settings", r#"{"index":{"number_of_replicas":2}}"#),
        ("/_settings", r#"{"index":{"mapping":{"total_fields":{"limit":2000}}}}"#),
    ] {
        assert_eq!(server.put(path, body).is(200), json!({"acknowledged": true}), "{body}");
    }
    for _ in 0..2 {
        let shown = |name: &str| {
            let path = format!("/{name}/_settings?flat_settings=true");
            let mut shown = server.get(&path).is(200)[name]["settings"].clone();
            for known in
                ["creation_date", "number_of_shards", "provided_name", "uuid", "version.created"]
            {
                shown.as_object_mut().unwrap().remove(&format!("index.{known}"));
            }
            shown
        };
        let first = json!({
            "index.codec": "best_compression", "index.mapping.total_fields.limit": "2000",
            "index.number_of_replicas": "2", "index.priority": "3", "index.refresh_interval": "2s",
            "index.translog.durability": "async", "index.translog.sync_interval": "5s",
        });
        assert_eq!(shown("set-a"), first);
        let nested = &server.get("/set-a/_settings/index.translog.*").is(200)["set-a"]["settings"];
        let translog =
            json!({"index": {"translog": {"durability": "async", "sync_interval": "5s"}}});
        assert_eq!(*nested, translog);
        assert_eq!(shown("set-b")["index.query.default_field"], json!(["a"]));
        assert_eq!(server.end(), 0);
        server = Server::start(&folder.path("all"), &[]);
    }
    server.put("/set-a/_settings", r#"{"index":{"refresh_interval":null}}"#).is(200);
    let left = server.get("/set-a/_settings/index.refresh_interval").is(200);
    assert_eq!(left, json!({}));
    // An index that is made anew has none of them.
    server.delete("/set-a").is(200);
    server.put("/set-a", "{}").is(200);
    assert_eq!(server.get("/set-a/_settings/index.priority").is(200), json!({}));
}

#[test]
fn other_settings_are_refused_in_opensearchs_words() {
    let folder = Folder::new();
    let server = two(&folder);
    let static_of = |names: &str| {
        format!("Can't update non dynamic settings [[{names}]] for open indices [[set-a/set-a]]")
    };
    let invalid = "Validation Failed: 1: no settings to update;".to_owned();
    let unsupported =
        |name: &str| format!("[index.{name}] of settings is not supported by this server");
    for (body, reason) in [
        (r#"{"index":{"number_of_shards":2}}"#, static_of("index.number_of_shards")),
        (
            r#"{"index":{"number_of_shards":2,"codec":"default","refresh_interval":"1s"}}"#,
            static_of("index.codec, index.number_of_shards"),
        ),
        (
            r#"{"index":{"analysis":{"analyzer":{"a":{"type":"standard"}}}}}"#,
            static_of("index.analysis.analyzer.a.type"),
        ),
        (r#"{"index":{"sort.field":"a"}}"#, static_of("index.sort.field")),
        (r#"{"index":{"store":{"type":"fs"}}}"#, static_of("index.store.type")),
        (r#"{"index":{"bogus":1,"number_of_shards":2}}"#, format!("unknown setting [index.bogus] {UNKNOWN}")),
        (r#"{"bogus":1}"#, format!("unknown setting [index.bogus] {UNKNOWN}")),
        (r#"{"index":{"uuid":"x"}}"#, format!("unknown setting [index.uuid] {UNKNOWN}")),
        (r#"{"index":{"provided_name":"x"}}"#, format!("unknown setting [index.provided_name] {UNKNOWN}")),
        (
            r#"{"index":{"refresh_interval":5}}"#,
            "failed to parse setting [index.refresh_interval] with value [5] as a time value: unit is \
             missing or unrecognized"
                .to_owned(),
        ),
        (
            r#"{"index":{"number_of_replicas":"x"}}"#,
            "Failed to parse value [x] for setting [index.number_of_replicas]".to_owned(),
        ),
        (
            r#"{"index":{"number_of_replicas":-1}}"#,
            "Failed to parse value [-1] for setting [index.number_of_replicas] must be >= 0".to_owned(),
        ),
        (
            r#"{"index":{"hidden":"x"}}"#,
            "Failed to parse value [x] as only [true] or [false] are allowed.".to_owned(),
        ),
        ("{}", invalid.clone()),
        ("[]", invalid.clone()),
        (r#""x""#, invalid),
        ("", "request body is required".to_owned()),
        (r#"{"index":{"max_result_window":20000}}"#, unsupported("max_result_window")),
        (r#"{"index":{"blocks":{"read_only":true}}}"#, unsupported("blocks.read_only")),
    ] {
        let refused = server.put("/set-a/_settings", body);
        assert_eq!(refused.status, 400, "{body} {}", refused.text);
        assert_eq!(refused.json()["error"]["reason"], *reason, "{body}");
    }
    let priority = r#"{"index":{"priority":5}}"#;
    for path in ["/none/_settings", "/none*/_settings", "/none/_settings?ignore_unavailable=true"] {
        let refused = server.put(path, priority);
        assert_eq!(refused.status, 404, "{path} {}", refused.text);
        assert_eq!(refused.json()["error"]["type"], "index_not_found_exception", "{path}");
    }
    let refused = server.put("/set-a/_settings?bogus=1", priority);
    let reason = "request [/set-a/_settings] contains unrecognized parameter: [bogus]";
    assert_eq!((refused.status, &refused.json()["error"]["reason"]), (400, &json!(reason)));
    assert_eq!(server.get("/set-a/_settings/index.priority").is(200), json!({}));
}
