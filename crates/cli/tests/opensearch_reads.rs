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

/// Returns a server with three documents of the index `rf`.
fn herons(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    let first = json!({
        "title": "grey heron", "tags": ["b", "a", "b"], "n": [3, 1, 3], "f": 1.5, "b": true,
        "at": "2026-11-25T10:00:00Z", "when": ["2026-11-25T10:00:00.123Z", "2020-01-01"],
        "user": {"name": "ann", "age": 3}, "list": [{"k": "x", "v": 1}, {"k": "y"}], "e": [],
    });
    let second = json!({"title": "heron heron", "n": 2, "at": "2026-11-25T10:00:00Z"});
    let third = json!({"title": "heron", "n": 5, "at": "2026-11-26T10:00:00Z"});
    for (id, document) in [("1", first), ("2", second), ("3", third)] {
        assert_eq!(server.put(&format!("/rf/_doc/{id}"), &document.to_string()).status, 201);
    }
    server
}

/// Returns the answer to a search of `rf`, without sources.
fn search(server: &Server, body: &Value) -> serving::Answer {
    let mut body = body.clone();
    body["_source"] = json!(false);
    server.post("/rf/_search", body.to_string(), &JSON)
}

#[test]
fn hits_have_the_values_of_fields() {
    let folder = Folder::new();
    let server = herons(&folder);
    let ask = |name: &str, parts: Value| {
        let body = json!({"query": {"ids": {"values": ["1"]}}, name: parts});
        search(&server, &body)
    };
    for (name, parts, fields) in [
        (
            "fields",
            json!(["title", "n", "tags", "zz", "e", "user"]),
            json!({"title": ["grey heron"], "n": [3, 1, 3], "tags": ["b", "a", "b"]}),
        ),
        (
            "fields",
            json!([{"field": "at", "format": "epoch_millis"}, {"field": "when", "format": "yyyy/MM/dd"}]),
            json!({"at": ["1795600800000"], "when": ["2026/11/25", "2020/01/01"]}),
        ),
        (
            "fields",
            json!(["user*", "list.*", "f", "b", {"field": "w*", "format": "strict_date_optional_time_nanos"}]),
            json!({
                "user.age": [3], "user.name": ["ann"], "user.name.keyword": ["ann"],
                "list.k": ["x", "y"], "list.k.keyword": ["x", "y"], "list.v": [1], "f": [1.5],
                "b": [true], "when": ["2026-11-25T10:00:00.123Z", "2020-01-01T00:00:00.000Z"],
            }),
        ),
        (
            "docvalue_fields",
            json!(["n", "at", "when", "tags.keyword", "zz", {"field": "b", "format": "use_field_mapping"}]),
            json!({
                "n": [1, 3, 3], "at": ["2026-11-25T10:00:00.000Z"], "tags.keyword": ["a", "b"],
                "when": ["2020-01-01T00:00:00.000Z", "2026-11-25T10:00:00.123Z"], "b": [true],
            }),
        ),
    ] {
        let answer = ask(name, parts.clone()).is(200);
        assert_eq!(answer["hits"]["hits"][0]["fields"], fields, "{parts}");
    }
    let none = ask("fields", json!(["user"])).is(200);
    assert!(none["hits"]["hits"][0].get("fields").is_none(), "{none}");
    for (name, part, reason) in [
        (
            "fields",
            json!({"field": "n", "format": "yyyy"}),
            "Field [n] of type [long] doesn't support formats.",
        ),
        (
            "fields",
            json!({"field": "at", "format": "bogus"}),
            "Invalid format: [bogus]: Unknown pattern letter: b",
        ),
        (
            "fields",
            json!({"field": "n", "include_unmapped": true}),
            "[docvalues_field] unknown field [include_unmapped]",
        ),
        (
            "docvalue_fields",
            json!({"field": "b", "format": "yyyy"}),
            "Field [b] of type [boolean] does not support custom formats",
        ),
        ("docvalue_fields", json!("title"), "Text fields are not optimised"),
    ] {
        let refused = ask(name, json!([part])).is(400)["error"]["reason"].clone();
        assert!(refused.as_str().unwrap().starts_with(reason), "{refused}");
    }
    let bare = json!({"stored_fields": "_none_", "docvalue_fields": ["n"], "query": {"ids": {"values": ["1"]}}});
    let expected = json!({"_index": "rf", "_score": 1.0, "fields": {"n": [1, 3, 3]}});
    assert_eq!(search(&server, &bare).is(200)["hits"]["hits"], json!([expected]));
    let both = json!({"stored_fields": "_none_", "fields": ["n"]});
    assert_eq!(search(&server, &both).is(400)["error"]["type"], "search_exception");
}

/// Returns the ids of an answer's hits, and their total.
fn ids(answer: &Value) -> (String, u64) {
    let hits = answer["hits"]["hits"].as_array().unwrap();
    let ids: Vec<&str> = hits.iter().map(|hit| hit["_id"].as_str().unwrap()).collect();
    (ids.join(" "), answer["hits"]["total"]["value"].as_u64().unwrap())
}

#[test]
fn scores_limit_hits_and_go_with_other_orders() {
    let folder = Folder::new();
    let server = herons(&folder);
    let ask = |more: Value| {
        let mut body = json!({"query": {"match": {"title": "heron"}}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        search(&server, &body).is(200)
    };
    let all = ask(json!({}));
    assert_eq!(ids(&all), ("2 3 1".to_owned(), 3));
    let scores: Vec<f64> = all["hits"]["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["_score"].as_f64().unwrap())
        .collect();
    let between = (scores[1] + scores[2]) / 2.0;
    for (more, found, total) in [
        (json!({}), "2 3", 2),
        (json!({"sort": ["n"]}), "2 3", 2),
        (json!({"sort": [{"n": "desc"}], "size": 1}), "3", 2),
        (json!({"size": 1, "from": 1}), "3", 2),
        (json!({"size": 0}), "", 2),
    ] {
        let mut more = more;
        more["min_score"] = json!(between);
        assert_eq!(ids(&ask(more.clone())), (found.to_owned(), total), "{more}");
    }
    let everything = json!({"query": {"match_all": {}}, "min_score": 1.1});
    assert_eq!(ids(&search(&server, &everything).is(200)), (String::new(), 0));
    let tracked = ask(json!({"sort": [{"n": "desc"}], "track_scores": true, "size": 2}));
    assert_eq!(ids(&tracked), ("3 1".to_owned(), 3));
    assert_eq!(tracked["hits"]["max_score"], scores[0]);
    assert_eq!(tracked["hits"]["hits"][0]["_score"], scores[1]);
    assert_eq!(tracked["hits"]["hits"][1]["_score"], scores[2]);
    let refused = json!({"min_score": 1, "aggs": {"n": {"max": {"field": "n"}}}});
    assert_eq!(search(&server, &refused).status, 400);
}

#[test]
fn pages_continue_behind_a_document() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let document = |n: u64| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"level\":{}}}\n", n % 3);
    let bulk: String = (0..50).map(document).collect();
    assert_eq!(server.post("/rf/_bulk", bulk, &JSON).is(200)["errors"], false);
    for sort in [
        json!([{"level": "asc"}, {"_doc": "desc"}]),
        json!([{"level": "desc"}, "_doc"]),
        json!(["_doc"]),
    ] {
        let whole = ids(&search(&server, &json!({"sort": sort, "size": 50})).is(200));
        let mut pages: Vec<String> = Vec::new();
        let mut after = Value::Null;
        loop {
            let mut body = json!({"sort": sort, "size": 7});
            if !after.is_null() {
                body["search_after"] = after.clone();
            }
            let page = search(&server, &body).is(200);
            let (found, total) = ids(&page);
            assert_eq!(total, 50);
            let Some(last) = page["hits"]["hits"].as_array().unwrap().last() else { break };
            after = last["sort"].clone();
            pages.push(found);
        }
        assert_eq!(pages.join(" "), whole.0, "{sort}");
    }
    let body = json!({"sort": ["_doc"], "search_after": ["x"]});
    assert_eq!(search(&server, &body).status, 400);
    let formatted = json!({"sort": [{"level": "asc"}, "_doc"], "size": 1});
    assert_eq!(search(&server, &formatted).is(200)["hits"]["hits"][0]["sort"], json!([0, 48]));
}

#[test]
fn matches_are_highlighted() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let body = "A grey heron stands in the reed. It waits. Another heron came by the lake and stood \
                still for a long time without moving, until the fish were there. Then both herons \
                flew away over the dark forest and nobody saw the heron again that day.";
    let document = json!({
        "title": "The grey heron & the reed", "body": body, "tags": ["grey heron", "wolf", "heron"],
        "level": "heron", "n": 3,
    });
    assert_eq!(server.put("/rf/_doc/1", &document.to_string()).status, 201);
    let ask = |highlight: &Value, query: &Value| {
        let body = json!({"query": query, "highlight": highlight});
        let answer = search(&server, &body).is(200);
        answer["hits"]["hits"][0].get("highlight").cloned()
    };
    let title = json!({"match": {"title": "heron"}});
    let whole = body.replace("heron ", "<em>heron</em> ");
    for (highlight, query, expected) in [
        (
            json!({"fields": {"body": {"number_of_fragments": 0}, "tags": {"number_of_fragments": 0}}}),
            json!({"multi_match": {"query": "heron", "fields": ["body", "tags"]}}),
            Some(json!({"body": [whole], "tags": ["grey <em>heron</em>", "<em>heron</em>"]})),
        ),
        (
            json!({"pre_tags": ["<b>"], "post_tags": ["</b>"], "encoder": "html", "fields": {"t*": {}}}),
            title.clone(),
            Some(json!({"title": ["The grey <b>heron</b> &amp; the reed"]})),
        ),
        (json!({"fields": {"title": {}}}), json!({"match": {"body": "heron"}}), None),
        (json!({"fields": {"n": {}, "zz": {}}}), json!({"match": {"n": 3}}), None),
        (
            json!({"fields": {"body": {"no_match_size": 20}}}),
            title.clone(),
            Some(json!({"body": ["A grey heron stands in"]})),
        ),
        (
            json!({"fields": {"tags.keyword": {}, "tags": {}}}),
            json!({"term": {"tags.keyword": "heron"}}),
            Some(json!({"tags.keyword": ["<em>heron</em>"]})),
        ),
        (
            json!({"fields": {"*": {}}, "pre_tags": ["@"], "post_tags": ["/@"], "fragment_size": 2147483647}),
            json!({"bool": {"filter": [{"query_string": {"query": "title:heron AND level:heron"}}]}}),
            Some(json!({"title": ["The grey @heron/@ & the reed"], "level": ["@heron/@"]})),
        ),
        (
            json!({"fields": [{"title": {}}, {"t*": {"pre_tags": ["<x>"], "post_tags": ["</x>"]}}]}),
            json!({"match_phrase": {"title": "grey heron"}}),
            Some(json!({"title": ["The <x>grey</x> <x>heron</x> & the reed"]})),
        ),
        (
            json!({"fields": {"title": {}}}),
            json!({"prefix": {"title": "her"}}),
            Some(json!({"title": ["The grey <em>heron</em> & the reed"]})),
        ),
    ] {
        assert_eq!(ask(&highlight, &query), expected, "{highlight} {query}");
    }
    let short = ask(
        &json!({"fields": {"body": {"fragment_size": 30}}}),
        &json!({"match": {"body": "heron"}}),
    );
    let snippets = short.unwrap()["body"].as_array().unwrap().clone();
    assert_eq!(snippets.len(), 3, "{snippets:?}");
    for (highlight, reason) in [
        (json!({"fields": {"title": {}}, "require_field_match": false}), "require_field_match"),
        (json!({"fields": {"title": {}}, "order": "score"}), "in the order of scores"),
        (json!({"fields": {"title": {"number_of_fragments": 101}}}), "more than 100 fragments"),
        (json!({"fields": {"title": {"matched_fields": ["a"]}}}), "matched_fields"),
    ] {
        let body = json!({"query": title, "highlight": highlight});
        let refused = search(&server, &body).is(400)["error"]["reason"].clone();
        assert!(refused.as_str().unwrap().contains(reason), "{refused}");
    }
}

#[test]
fn queries_are_validated_and_scores_explained() {
    let folder = Folder::new();
    let server = herons(&folder);
    assert_eq!(server.put("/rg", "").status, 200);
    let validate = |path: &str, body: &str| server.post(path, body, &JSON).is(200);
    let good = r#"{"query": {"match": {"title": "grey heron"}}}"#;
    let shards = json!({"total": 1, "successful": 1, "failed": 0});
    let valid = json!({"_shards": shards, "valid": true});
    assert_eq!(validate("/rf/_validate/query", good), valid);
    assert_eq!(validate("/rf/_validate/query", ""), valid);
    let explained = validate("/rf/_validate/query?explain=true", good);
    let one = &explained["explanations"][0];
    assert_eq!((&one["index"], &one["valid"]), (&json!("rf"), &json!(true)));
    let text = one["explanation"].as_str().unwrap();
    assert!(text.contains("title:grey") && text.contains("title:heron"), "{text}");
    for body in [r#"{"size": 1}"#, r#"{"query":"#] {
        assert_eq!(validate("/rf/_validate/query", body), json!({"valid": false}));
    }
    let wrong = r#"{"query": {"range": {"n": {"gte": "x"}}}}"#;
    let not_valid = json!({"_shards": shards, "valid": false});
    assert_eq!(validate("/rf/_validate/query", wrong), not_valid);
    let both = validate("/rf,rg/_validate/query?explain=true&all_shards=true", wrong);
    let of = |place: usize| &both["explanations"][place];
    assert!(of(0)["error"].as_str().unwrap().contains("For input string: \"x\""), "{both}");
    assert_eq!((&of(1)["valid"], &of(1)["shard"]), (&json!(true), &json!(0)));
    assert_eq!(server.get("/rf/_validate/query?q=title:heron").is(200)["valid"], true);
    assert_eq!(server.get("/none/_validate/query").status, 404);

    let explain = |id: &str, body: &str| server.post(&format!("/rf/_explain/{id}"), body, &JSON);
    let found = explain("1", good).is(200);
    let score = search(&server, &serde_json::from_str(good).unwrap()).is(200);
    let hits = score["hits"]["hits"].as_array().unwrap();
    let hit = hits.iter().find(|hit| hit["_id"] == "1").unwrap();
    assert_eq!((&found["matched"], &found["_id"]), (&json!(true), &json!("1")));
    let explanation = &found["explanation"];
    assert_eq!(explanation["value"], hit["_score"]);
    assert_eq!(explanation["description"], "sum of:");
    let weight = &explanation["details"][0];
    let part = |name: &str| {
        let parts = weight["details"].as_array().unwrap().iter();
        let mut parts =
            parts.filter(|part| part["description"].as_str().unwrap().starts_with(name));
        parts.next().unwrap()["value"].as_f64().unwrap()
    };
    let product = part("boost") * part("idf") * part("tf");
    assert!((product - weight["value"].as_f64().unwrap()).abs() < 1e-6, "{weight}");
    // OpenSearch has the same inverse document frequency and the same tf.
    assert!((part("idf") - 0.98082924).abs() < 1e-6 && (part("tf") - 0.42016804).abs() < 1e-6);
    let grey = r#"{"query": {"match": {"title": "grey"}}}"#;
    let other = explain("2", grey).is(200);
    assert_eq!((&other["matched"], &other["explanation"]["value"]), (&json!(false), &json!(0.0)));
    let expected = json!({"_index": "rf", "_id": "9", "matched": false});
    assert_eq!(explain("9", grey).is(404), expected);
    assert_eq!(server.get("/rf/_explain/1?q=title:heron").is(200)["matched"], true);
    for (body, reason) in [
        ("", "Validation Failed: 1: query is missing;"),
        (r#"{"size": 1}"#, "request does not support [size]"),
        (r#"{"query": {"foo": {}}}"#, "unknown query [foo]"),
    ] {
        assert_eq!(explain("1", body).is(400)["error"]["reason"], reason);
    }
    assert_eq!(server.post("/none/_explain/1", grey, &JSON).status, 404);
}

/// Aggregations over several indexes are those of one index with all documents.
#[test]
fn aggregations_of_several_indexes_are_merged() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let mut bulk = String::new();
    for n in 0..90_u64 {
        // Two days apart, so that empty ones lie between those of different indexes.
        let (index, day) = (["ma", "mb", "mc"][(n / 30) as usize], 1 + n / 30 * 3);
        let mut document = json!({
            "at": format!("2026-11-{day:02}T{:02}:00:00Z", n % 24),
            "n": n % 7, "tag": format!("t{}", n % 11), "f": n as f64 / 4.0, "b": n % 2 == 0,
        });
        if index == "mc" {
            document.as_object_mut().unwrap().remove("f");
        }
        for index in [index, "all"] {
            bulk += &format!("{{\"index\":{{\"_index\":\"{index}\"}}}}\n{document}\n");
        }
    }
    assert_eq!(server.post("/_bulk", bulk, &JSON).is(200)["errors"], false);
    let ask = |index: &str, aggs: &Value| {
        let body = json!({"size": 0, "aggs": aggs}).to_string();
        server.post(&format!("/{index}/_search"), body, &JSON)
    };
    let metrics = json!({
        "avg": {"avg": {"field": "f"}}, "stats": {"stats": {"field": "n"}},
        "count": {"value_count": {"field": "tag.keyword"}}, "last": {"max": {"field": "at"}},
        "tags": {"cardinality": {"field": "tag.keyword"}},
    });
    for aggs in [
        metrics.clone(),
        json!({"t": {"terms": {"field": "tag.keyword", "size": 3}}}),
        json!({"t": {"terms": {"field": "tag.keyword", "size": 4, "order": {"stats.sum": "asc"}}, "aggs": metrics}}),
        json!({"t": {"terms": {"field": "n"}, "aggs": {"f": {"terms": {"field": "f", "size": 30}}}}}),
        json!({"b": {"terms": {"field": "b"}}}),
        json!({"d": {"date_histogram": {"field": "at", "calendar_interval": "day"}, "aggs": metrics}}),
        json!({"d": {"date_histogram": {"field": "at", "fixed_interval": "6h", "min_doc_count": 1}}}),
        json!({"d": {"date_histogram": {"field": "at", "fixed_interval": "12h"}}}),
        json!({"h": {"histogram": {"field": "f", "interval": 5}, "aggs": {"n": {"sum": {"field": "n"}}}}}),
        json!({"h": {"histogram": {"field": "n", "interval": 2, "min_doc_count": 1}}}),
        json!({"r": {"range": {"field": "n", "ranges": [{"to": 3}, {"from": 3}]}, "aggs": metrics}}),
        json!({"q": {"filters": {"filters": {"x": {"term": {"n": 1}}, "y": {"match_all": {}}}}, "aggs": {
            "d": {"date_histogram": {"field": "at", "calendar_interval": "day"}}}}}),
        json!({"m": {"missing": {"field": "f"}}, "z": {"terms": {"field": "zz"}}}),
    ] {
        let [merged, one] = ["m*", "all"].map(|index| {
            let answer = ask(index, &aggs);
            assert_eq!(answer.status, 200, "{aggs} {}", answer.text);
            answer.json()["aggregations"].clone()
        });
        assert_eq!(merged, one, "{aggs}");
    }
    let percentiles = json!({"p": {"percentiles": {"field": "n"}}});
    let refused = ask("m*", &percentiles).is(400)["error"]["reason"].clone();
    assert!(refused.as_str().unwrap().contains("[percentiles] [p] over several"), "{refused}");
    assert_eq!(
        server.put("/other", r#"{"mappings":{"properties":{"n":{"type":"keyword"}}}}"#).status,
        200
    );
    let kinds = ask("ma,other", &json!({"t": {"terms": {"field": "n"}}})).is(400);
    assert!(kinds["error"]["reason"].as_str().unwrap().contains("several types"), "{kinds}");
}

/// True if a number is the one expected, but for the last digits, which reading JSON may change.
fn is_near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-12 * expected.abs().max(1.0))
}

#[test]
fn deviations_are_those_of_all_values() {
    let folder = Folder::new();
    let server = herons(&folder);
    let ask = |body: Value| search(&server, &body).is(200)["aggregations"]["e"].clone();
    let of =
        |field: &str| ask(json!({"size": 0, "aggs": {"e": {"extended_stats": {"field": field}}}}));
    let n = of("n");
    for (name, value) in [
        ("sum", 14.0),
        ("sum_of_squares", 48.0),
        ("variance", 1.7599999999999993),
        ("variance_population", 1.7599999999999993),
        ("variance_sampling", 2.1999999999999993),
        ("std_deviation", 1.3266499161421597),
        ("std_deviation_sampling", 1.4832396974191324),
    ] {
        assert!(is_near(&n[name], value), "{name} {n}");
    }
    for (name, value) in [
        ("upper", 5.453299832284319),
        ("lower", 0.1467001677156805),
        ("upper_population", 5.453299832284319),
        ("lower_population", 0.1467001677156805),
        ("upper_sampling", 5.766479394838265),
        ("lower_sampling", -0.16647939483826502),
    ] {
        assert!(is_near(&n["std_deviation_bounds"][name], value), "{name} {n}");
    }
    let f = of("f");
    assert_eq!((&f["sum_of_squares"], &f["variance"]), (&json!(2.25), &json!(0.0)));
    assert_eq!(f["variance_sampling"], "NaN");
    let none = of("zz");
    assert_eq!((&none["count"], &none["sum"]), (&json!(0), &json!(0.0)));
    assert!(none["sum_of_squares"].is_null() && none["std_deviation_bounds"]["upper"].is_null());
    let wide =
        ask(json!({"size": 0, "aggs": {"e": {"extended_stats": {"field": "n", "sigma": 3}}}}));
    assert!(is_near(&wide["std_deviation_bounds"]["upper"], 6.779949748426478), "{wide}");
    let order = json!({"e": {"terms": {"field": "at", "order": {"x.std_upper": "asc"}}}});
    assert_eq!(search(&server, &json!({"aggs": order})).status, 400);
    let moments = json!({"aggs": {"e": {"extended_stats": {"field": "at"}}}});
    assert_eq!(search(&server, &moments).status, 400);
}
