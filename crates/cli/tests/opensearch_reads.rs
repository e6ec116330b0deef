//! What clients of OpenSearch read beside hits, and what hits have beside sources. OpenSearch 2.19
//! answered the same for the same documents.

mod common;
mod serving;

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// Returns a server with two indexes, in which `n` has different types.
fn two(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    let document = json!({
        "title": "grey heron", "n": 1, "at": "2026-11-25T10:00:00Z", "f": 1.5, "b": true,
        "user": {"name": "ann"},
    });
    assert_eq!(server.put("/ra/_doc/1", &document.to_string()).status, 201);
    let properties =
        json!({"n": {"type": "keyword"}, "title": {"type": "text"}, "x": {"type": "long"}});
    let made = server.put("/rb", &json!({"mappings": {"properties": properties}}).to_string());
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(server.put("/rb/_doc/1", r#"{"n":"one","title":"a","x":3}"#).status, 201);
    server
}

fn can(kind: &str, searchable: bool, aggregatable: bool) -> Value {
    json!({"type": kind, "searchable": searchable, "aggregatable": aggregatable})
}

/// Returns what can be done with a field of some indexes only.
fn can_in(kind: &str, searchable: bool, aggregatable: bool, indices: &[&str]) -> Value {
    let mut can = can(kind, searchable, aggregatable);
    can["indices"] = json!(indices);
    can
}

#[test]
fn fields_have_their_types_in_each_index() {
    let folder = Folder::new();
    let server = two(&folder);
    let both = json!({
        "keyword": can_in("keyword", true, true, &["rb"]),
        "long": can_in("long", true, true, &["ra"]),
    });
    let answer = server.get("/ra,rb/_field_caps?fields=n,title").is(200);
    let expected = json!({
        "indices": ["ra", "rb"],
        "fields": {"n": both, "title": {"text": can("text", true, false)}},
    });
    assert_eq!(answer, expected);
    let answer = server.get("/r*/_field_caps?fields=n,x,title*,zz&include_unmapped=true").is(200);
    let none = |indices: &[&str]| can_in("unmapped", false, false, indices);
    let expected = json!({
        "n": both,
        "title": {"text": can("text", true, false)},
        "title.keyword": {
            "keyword": can_in("keyword", true, true, &["ra"]), "unmapped": none(&["rb"]),
        },
        "x": {"long": can_in("long", true, true, &["rb"]), "unmapped": none(&["ra"])},
    });
    assert_eq!(answer["fields"], expected);
    let all = server.get("/ra/_field_caps?fields=*").is(200);
    for (field, kind, searchable, aggregatable) in [
        ("b", "boolean", true, true),
        ("at", "date", true, true),
        ("n", "long", true, true),
        ("user", "object", false, false),
        ("user.name", "text", true, false),
        ("user.name.keyword", "keyword", true, true),
        ("_source", "_source", false, false),
    ] {
        assert_eq!(all["fields"][field], json!({kind: can(kind, searchable, aggregatable)}));
    }
    let of_body = server.post("/ra/_field_caps", r#"{"fields": ["us*"]}"#, &JSON).is(200);
    let names: Vec<&String> = of_body["fields"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["user", "user.name", "user.name.keyword"]);
    let missing = server.get("/none,ra/_field_caps?fields=n&ignore_unavailable=true").is(200);
    assert_eq!(missing["indices"], json!(["ra"]));
    assert_eq!(server.get("/none/_field_caps?fields=n").status, 404);
    assert_eq!(
        server.get("/zz*/_field_caps?fields=n").is(200),
        json!({"indices": [], "fields": {}})
    );
    for body in ["", r#"{"zz": 1}"#, r#"{"index_filter": {"term": {"n": 1}}, "fields": ["n"]}"#] {
        let refused = server.post("/ra/_field_caps", body, &JSON);
        assert_eq!(refused.status, 400, "{body} {}", refused.text);
    }
    let reason = server.get("/ra/_field_caps").is(400)["error"]["reason"].clone();
    assert_eq!(reason, "specified fields can't be null or empty");
}

#[test]
fn mappings_of_fields_and_settings_are_shown() {
    let folder = Folder::new();
    let server = two(&folder);
    let keyword = json!({"type": "keyword", "ignore_above": 256});
    let text = json!({"type": "text", "fields": {"keyword": keyword}});
    let field = |name: &str, last: &str, mapping: &Value| json!({name: {"full_name": name, "mapping": {last: mapping}}});
    assert_eq!(
        server.get("/ra/_mapping/field/user.name").is(200)["ra"]["mappings"],
        field("user.name", "name", &text)
    );
    assert_eq!(
        server.get("/r%2A/_mapping/field/*.keyword").is(200),
        json!({
            "ra": {"mappings": {
                "title.keyword": {"full_name": "title.keyword", "mapping": {"keyword": keyword}},
                "user.name.keyword":
                    {"full_name": "user.name.keyword", "mapping": {"keyword": keyword}},
            }},
            "rb": {"mappings": {}},
        })
    );
    let n = |kind: &str| json!({"mappings": field("n", "n", &json!({"type": kind}))});
    let expected = json!({"ra": n("long"), "rb": n("keyword")});
    assert_eq!(server.get("/_mapping/field/n").is(200), expected);
    assert_eq!(server.get("/none/_mapping/field/n").status, 404);

    let one = json!({"ra": {"settings": {"index": {"number_of_shards": "1"}}}});
    assert_eq!(server.get("/ra/_settings/index.number_of_shards").is(200), one);
    let flat = json!({"ra": {"settings": {"index.number_of_shards": "1"}}});
    let path = "/ra/_settings/index.number_of_shards?flat_settings=true";
    assert_eq!(server.get(path).is(200), flat);
    let all = server.get("/_settings").is(200);
    let index = &all["rb"]["settings"]["index"];
    assert_eq!(
        (&index["number_of_replicas"], &index["provided_name"]),
        (&json!("0"), &json!("rb"))
    );
    assert_eq!(index["version"]["created"], "8190099");
    let made: u64 = index["creation_date"].as_str().unwrap().parse().unwrap();
    assert!(made > 1_700_000_000_000, "{index}");
    assert_eq!(server.get("/ra").is(200)["ra"]["settings"], all["ra"]["settings"]);
    assert_eq!(server.get("/ra/_settings/zz").is(200), json!({}));
    assert_eq!(server.get("/none/_settings").status, 404);
}

#[test]
fn numbers_of_documents_and_bytes_are_real() {
    let folder = Folder::new();
    let server = two(&folder);
    assert_eq!(server.put("/ra/_doc/1", r#"{"title":"again"}"#).status, 200);
    let stats = server.get("/ra,rb/_stats/docs,store").is(200);
    let docs = |value: &Value| (value["docs"]["count"].clone(), value["docs"]["deleted"].clone());
    assert_eq!(docs(&stats["_all"]["primaries"]), (json!(2), json!(1)));
    assert_eq!(docs(&stats["indices"]["rb"]["total"]), (json!(1), json!(0)));
    let bytes =
        |stats: &Value| stats["indices"]["ra"]["primaries"]["store"]["size_in_bytes"].as_u64();
    let before = bytes(&stats).unwrap();
    let long = json!({"title": "word ".repeat(10_000)}).to_string();
    assert_eq!(server.put("/ra/_doc/2", &long).status, 201);
    let after = bytes(&server.get("/_stats").is(200)).unwrap();
    assert!(after > before + 50_000, "{before} {after}");
    assert!(server.get("/_stats?level=cluster").is(200)["indices"].is_null());
    let reason = server.get("/ra/_stats/zz").is(400)["error"]["reason"].clone();
    assert_eq!(reason, "request [/ra/_stats/zz] contains unrecognized metric: [zz]");
    assert_eq!(server.get("/ra/_stats/translog").status, 400);
    assert_eq!(server.get("/none/_stats").status, 404);
}

#[test]
fn tables_are_chosen_sorted_and_aligned() {
    let folder = Folder::new();
    let server = two(&folder);
    assert_eq!(server.put("/ra/_doc/2", "{}").status, 201);
    for (path, text) in [
        ("/_cat/count?h=count", "3\n"),
        ("/_cat/count/rb?h=dc&v", "dc\n 1\n"),
        ("/_cat/count?h=c,ep", "\n"),
        ("/_cat/indices?h=index,docs.count&s=index:desc", "rb 1\nra 2\n"),
        ("/_cat/indices/r*?h=i,dc&s=docs.count:desc&v", "i  dc\nra  2\nrb  1\n"),
        ("/_cat/indices/ra?h=i,dc,zz&v", "i  dc\nra  2\n"),
        ("/_cat/indices/ra?h=docs.*&v", "docs.count docs.deleted\n         2            0\n"),
        ("/_cat/indices?health=red", ""),
        ("/_cat/health?h=status,cluster&v", "status cluster\ngreen  spirit\n"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, &*answer.text), (200, text), "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=UTF-8");
    }
    let health = server.get("/_cat/health?format=json&ts=false").is(200);
    let expected = json!([{
        "cluster": "spirit", "status": "green", "node.total": "1", "node.data": "1",
        "discovered_cluster_manager": "true", "shards": "2", "pri": "2", "relo": "0", "init": "0",
        "unassign": "0", "pending_tasks": "0", "max_task_wait_time": "-",
        "active_shards_percent": "100.0%",
    }]);
    assert_eq!(health, expected);
    let count = server.get("/_cat/count/ra?format=json&h=count").is(200);
    assert_eq!(count, json!([{"count": "2"}]));
    let help = server.get("/_cat/count?help").text;
    assert!(help.starts_with("epoch     | t,time "), "{help}");
    let unknown = server.get("/_cat/indices?s=zz").is(500);
    assert_eq!(unknown["error"]["reason"], "Unable to sort by unknown sort key `zz`");
    assert_eq!(server.get("/_cat/indices?health=zz").status, 400);
    assert_eq!(server.get("/_cat/indices?format=yaml").status, 400);
    assert_eq!(server.get("/_cat/count/none").status, 404);
}
