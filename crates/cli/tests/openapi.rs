//! `/api/v1/openapi.json`: it has each route and no other, and describes what the server answers.

mod common;
mod serving;

use std::collections::BTreeSet;

use common::Folder;
use serde_json::{Value, json};
use serving::Server;
use spirit_server::guard::RULES;

fn document(server: &Server) -> Value {
    server.get("/api/v1/openapi.json").is(200)
}

#[test]
fn each_route_is_described() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let document = document(&server);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut described = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((path.clone(), method.to_uppercase()));
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            // Each parameter of the path is named.
            for name in path.split('{').skip(1).map(|part| part.split('}').next().unwrap()) {
                let parameters = operation["parameters"].as_array().unwrap();
                let is_it = |one: &Value| one["name"] == name && one["in"] == "path";
                assert!(parameters.iter().any(is_it), "{path}: {name}");
            }
        }
    }
    let is_own = |path: &str| {
        path.starts_with("/api/") || path.starts_with("/health/") || path == "/metrics"
    };
    let own = RULES.iter().filter(|rule| is_own(rule.path));
    let routes: BTreeSet<_> = own
        .flat_map(|rule| {
            let path = rule.path.replace("{*", "{");
            rule.methods.split(' ').map(move |method| (path.clone(), method.to_owned()))
        })
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn answers_are_as_they_are_described() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--backups", &folder.path("backups")]);
    let document = document(&server);
    check_references(&document, &document);
    let is = |name: &str, value: &Value| {
        check(&document, &document["components"]["schemas"][name], value, name)
    };
    let birds = "/api/v1/birds";
    let making = json!({"fields": {"level": "keyword"}, "dram": "32MiB"});
    is("Making", &making);
    is("Index", &server.put(birds, &making.to_string()).is(201));
    is("Index", &server.get("/api/v1").is(200)[0]);
    is("Version", &server.get("/api/v1/version").is(200));
    is("Ready", &server.get("/health/ready").is(200));
    let lines = "{\"key\":\"a\",\"text\":\"heron\",\"level\":\"warn\"}\n{\"key\":\"b\",\"text\":\"heron\"}\nnothing\n";
    let written = server.post("/api/v1/birds/documents", lines, &[]).is(200);
    assert_eq!(written["errors"].as_array().unwrap().len(), 1);
    is("Written", &written);
    is("Changed", &server.put("/api/v1/birds/documents/c", "{\"n\": 1}").is(201));
    is("Document", &server.get("/api/v1/birds/documents/a").is(200));
    let question = json!({"q": "text:heron OR", "lenient": true, "limit": 1, "order": "best", "explain": true,
        "highlight": "yes", "highlight_field": "text", "facet": ["terms:level"]});
    is("Question", &question);
    let answer = server.post("/api/v1/birds/search", question.to_string(), &[]).is(200);
    for member in ["cursor", "plan", "facets", "warnings"] {
        assert!(answer.get(member).is_some(), "{member} in {answer}");
    }
    is("Answer", &answer);
    is("Answer", &server.get("/api/v1/birds/search?q=heron&order=level:asc&fields=level").is(200));
    let by_proximity = "/api/v1/birds/search?q=heron&order=proximity&k1=1&explain=yes";
    let hit = &server.get(by_proximity).is(200)["hits"][0];
    assert_eq!(hit["explanation"]["clauses"][1]["first"], 0, "{hit}");
    is("Counted", &server.get("/api/v1/birds/count?q=heron").is(200));
    is("Stats", &server.get("/api/v1/birds/stats").is(200));
    is("Stats", &server.get("/api/v1/birds/stats?heap=yes").is(200));
    is("Schema", &server.get("/api/v1/birds/schema").is(200));
    let herons = json!({"q": "text:heron"}).to_string();
    is("Kept", &server.put("/api/v1/birds/queries/herons", &herons).is(201));
    is("StandingQuery", &server.get("/api/v1/birds/queries/herons").is(200));
    is("Queries", &server.get("/api/v1/birds/queries").is(200));
    is("Matching", &server.post("/api/v1/birds/percolate", "{\"text\": \"heron\"}", &[]).is(200));
    is("Backup", &server.post("/api/v1/birds/backup", "", &[]).is(201));
    is("Grown", &server.post("/api/v1/birds/grow", "{\"dram\": \"40MiB\"}", &[]).is(200));
    is("Problem", &server.get("/api/v1/birds/search?q=(").is(400));
    is(
        "Problem",
        &server.put_if("/api/v1/birds/documents/a", "{}", &[("If-None-Match", "*")]).is(412),
    );
}

/// Each member of a question is described, and no other.
#[test]
fn questions_are_described() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let document = document(&server);
    server.put("/api/v1/birds", "").is(201);
    let refused = server.get("/api/v1/birds/search?bogus=1").is(400);
    let detail = refused["detail"].as_str().unwrap();
    let members: BTreeSet<_> = detail.rsplit_once("choose of ").unwrap().1.split(", ").collect();
    let described = document["components"]["schemas"]["Question"]["properties"].as_object();
    assert_eq!(described.unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>(), members);
    let parameters = document["paths"]["/api/v1/{index}/search"]["get"]["parameters"].as_array();
    let query = parameters.unwrap().iter().filter(|one| one["in"] == "query");
    assert_eq!(query.map(|one| one["name"].as_str().unwrap()).collect::<BTreeSet<_>>(), members);
}

fn resolved<'v>(document: &'v Value, schema: &'v Value) -> &'v Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(place) => document.pointer(&place[1..]).unwrap_or_else(|| panic!("{place}")),
        None => schema,
    }
}

/// Each reference leads somewhere.
fn check_references(document: &Value, value: &Value) {
    match value {
        Value::Object(members) => {
            resolved(document, value);
            members.values().for_each(|value| check_references(document, value));
        }
        Value::Array(values) => values.iter().for_each(|value| check_references(document, value)),
        _ => {}
    }
}

/// Checks a value against the parts of JSON Schema that the document uses.
fn check(document: &Value, schema: &Value, value: &Value, place: &str) {
    let schema = resolved(document, schema);
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
        _ => return,
    };
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = types.contains(&own) || (own == "integer" && types.contains(&"number"));
    assert!(fits, "{place}: {value} is not of {types:?}");
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{place}: {value}");
    }
    if let Some(values) = value.as_array() {
        values.iter().for_each(|value| check(document, &schema["items"], value, place));
    }
    let Some(members) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            members.contains_key(name.as_str().unwrap()),
            "{place}: {name} is missing in {value}"
        );
    }
    for (name, value) in members {
        let place = format!("{place}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => check(document, schema, value, &place),
            (None, Value::Bool(true)) => {}
            (None, schema @ Value::Object(_)) => check(document, schema, value, &place),
            (None, Value::Null) if schema["properties"].is_null() => {}
            (None, _) => panic!("{place} is not described"),
        }
    }
}
