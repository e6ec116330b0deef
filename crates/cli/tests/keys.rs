//! Keys: every route with every kind of key, by every trick of a path, and keys that change meanwhile.

mod common;
mod serving;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Folder, spirit};
use serde_json::{Value, json};
use serving::Server;
use spirit_server::guard::{Need, RULES, Scope};

/// A word that no answer to a foreign key has.
const SECRET: &str = "cassowary";
/// The methods that are tried.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"];

/// Makes a key.
fn key(directory: &str, name: &str, scope: &str, more: &[&str]) -> String {
    let args = [&["keys", "create", "-d", directory, "--scope", scope, name], more].concat();
    spirit(&args).done().trim().to_owned()
}

fn bearer(key: &str) -> (&'static str, String) {
    ("Authorization", format!("Bearer {key}"))
}

/// A directory with keys, and a server with the indexes `alpha` and `beta`, one document each.
struct Guarded {
    folder: Folder,
    server: Server,
    expired: String,
    /// Of `beta` alone.
    other: [String; 3],
    /// Of `alpha`.
    search: String,
}

impl Guarded {
    fn start() -> Guarded {
        let folder = Folder::new();
        let directory = folder.path("all");
        let root = key(&directory, "root", "admin", &[]);
        let of_beta = ["--index", "beta"];
        let scopes = ["search", "write", "admin"];
        let other = scopes.map(|scope| key(&directory, &format!("b-{scope}"), scope, &of_beta));
        let search = key(&directory, "reader", "search", &["--index", "al*,gamma"]);
        let expired = key(&directory, "old", "admin", &["--expires", "0s"]);
        let server = Server::start_with_key(&directory, &[], &root);
        let guarded = Guarded { folder, server, expired, other, search };
        guarded.fill();
        guarded
    }

    fn fill(&self) {
        for (index, word) in [("alpha", SECRET), ("beta", "heron")] {
            let document = json!({"word": word}).to_string();
            let put = self.server.put(&format!("/{index}/_doc/1"), &document);
            assert!(put.status < 300, "{}", put.text);
        }
    }

    fn directory(&self) -> String {
        self.folder.path("all")
    }

    /// Checks that nothing has been made, changed or deleted.
    fn is_untouched(&self, what: &str) {
        let all = self.server.get("/api/v1").is(200);
        let all = all.as_array().unwrap().iter();
        let all: Vec<_> =
            all.map(|index| (index["index"].clone(), index["documents"].clone())).collect();
        assert_eq!(all, [(json!("alpha"), json!(1)), (json!("beta"), json!(1))], "{what}");
        let source = self.server.get("/alpha/_doc/1").is(200);
        assert_eq!(source["_version"], 1, "{what}");
    }
}

/// The path of a rule, for an index.
fn path_of(path: &str, index: &str) -> String {
    let path = path.replace("{index}", index).replace("{*key}", "1").replace("{id}", "1");
    let path = path.replace("{file}", "main.js");
    // An answer that ends: no place of a stream.
    if path.ends_with("/tail") { path + "?since=x" } else { path }
}

/// A body that is understood by a route.
fn body_of(path: &str, index: &str) -> String {
    match path.rsplit('/').next().unwrap_or_default() {
        "_bulk" => format!("{{\"index\":{{\"_index\":\"{index}\",\"_id\":\"2\"}}}}\n{{\"n\":1}}\n"),
        "_msearch" => format!("{{\"index\":\"{index}\"}}\n{{}}\n"),
        "_mget" => json!({"docs": [{"_index": index, "_id": "1"}]}).to_string(),
        "_search" | "_count" | "search" => String::new(),
        "{id}" if path.contains("_update") => json!({"doc": {"n": 1}}).to_string(),
        _ => json!({"n": 1}).to_string(),
    }
}

#[test]
fn every_route_has_a_rule() {
    let (folder, mut routes) = (Folder::new(), BTreeSet::new());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src");
    let mut folders = vec![sources];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(path).unwrap();
                let parts = text.split(".route(\"").skip(1).chain(text.split(".route(\n").skip(1));
                routes.extend(parts.map(|part| {
                    part.trim_start().trim_start_matches('"').split('"').next().unwrap().to_owned()
                }));
            }
        }
    }
    assert!(routes.len() > 30, "{routes:?}");
    let ruled: BTreeSet<_> = RULES.iter().map(|rule| rule.path.to_owned()).collect();
    assert_eq!(routes, ruled, "each route has a rule in guard/rules.rs, and each rule a route");
    // A method that a route takes has a rule, and no other.
    let server = Server::start(&folder.path("all"), &[]);
    for route in &routes {
        for method in METHODS {
            let path = path_of(route, "x");
            let (status, answer) = server.ask(&format!("{method} {path}"), &[], "");
            let wanted = if method == "HEAD" { "GET" } else { method };
            let mut rules = RULES.iter().filter(|rule| rule.path == *route);
            let has_rule = rules.any(|rule| rule.methods.split(' ').any(|known| known == wanted));
            assert_eq!(status != 405, has_rule, "{method} {route}: {answer}");
        }
    }
}

#[test]
fn every_route_refuses_what_its_rule_does_not_allow() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    for rule in RULES {
        for method in rule.methods.split(' ') {
            let line = format!("{method} {}", path_of(rule.path, "alpha"));
            let ask =
                |headers: &[(&str, &str)]| server.ask(&line, headers, &body_of(rule.path, "alpha"));
            let with = |key: &str| {
                let (name, value) = bearer(key);
                ask(&[(name, &value)])
            };
            let own = ["/api", "/health", "/metrics"];
            let is_own = own.iter().any(|own| rule.path.starts_with(own));
            if rule.need == Need::Open {
                assert_eq!(ask(&[]).0, 200, "{line}");
                continue;
            }
            let long = format!("spirit_{}", "x".repeat(43));
            for answer in [ask(&[]), with(&long), with(""), with(&guarded.expired)] {
                let (status, answer) = answer;
                assert_eq!(status, 401, "{line}: {answer}");
                assert!(answer.contains("www-authenticate: ApiKey"), "{line}: {answer}");
                let form = if is_own { "problem+json" } else { "\"type\":\"security_exception\"" };
                assert!(answer.contains(form), "{line}: {answer}");
            }
            for other in &guarded.other {
                let (status, answer) = with(other);
                assert!(!answer.contains(SECRET), "{line}: {answer}");
                if rule.path.contains("{index}") {
                    assert_eq!(status, 403, "{line}: {answer}");
                }
            }
            let (status, answer) = with(&guarded.search);
            let is_allowed = matches!(rule.need, Need::AnyKey | Need::Scope(Scope::Search));
            assert_eq!(status != 403, is_allowed, "{line}: {answer}");
            assert_ne!(status, 401, "{line}: {answer}");
            guarded.is_untouched(&line);
        }
    }
}

#[test]
fn every_route_lets_in_what_its_rule_allows() {
    let guarded = Guarded::start();
    let root = spirit(&["keys", "create", "-d", &guarded.directory(), "--scope", "admin", "two"]);
    let (name, value) = bearer(root.done().trim());
    wait_for("the new key", || guarded.server.ask("GET /", &[(name, &value)], "").0 == 200);
    for rule in RULES {
        for method in rule.methods.split(' ') {
            let line = format!("{method} {}", path_of(rule.path, "alpha"));
            let body = body_of(rule.path, "alpha");
            let (status, answer) = guarded.server.ask(&line, &[(name, &value)], &body);
            assert!(!matches!(status, 401 | 403 | 405 | 500), "{line}: {answer}");
        }
    }
}

#[test]
fn no_path_leads_around_the_rules() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let (name, value) = bearer(&guarded.other[2]);
    let foreign = [(name, &*value), ("X-HTTP-Method-Override", "GET"), ("X-Original-URL", "/")];
    for rule in RULES.iter().filter(|rule| rule.need != Need::Open) {
        let path = path_of(rule.path, "alpha");
        let tricks = [
            format!("/{path}"),
            format!("{path}/"),
            format!("//{path}"),
            format!("/.{path}"),
            format!("/beta/..{path}"),
            format!("/beta/%2e%2e{path}"),
            format!("/beta%2F..{path}"),
            format!("/health/live/..{path}"),
            format!("/health/live/%2e%2e{path}"),
            format!("/health/live;{path}"),
            format!("{path};/health/live"),
            format!("{path}?/health/live"),
            format!("{path}%00"),
            format!("{path}%2F"),
            path.replace("alpha", "%61lpha"),
            path.replace("alpha", "beta,alpha"),
            path.replace("alpha", "beta%2Calpha"),
            path.replace("alpha", "alpha,"),
            path.replace("alpha", "alph*"),
            path.replace("alpha", "*"),
            path.replace("alpha", "_all"),
            path.replace("alpha", "-beta"),
            path.replace("alpha", "*,-beta"),
            path.replace("alpha", "ALPHA"),
            path.to_uppercase(),
            path.replacen('/', "/%2e/", 1),
            path.replacen('/', "%2F", 1),
            path.replacen('/', "\\", 1),
            format!("http://spirit{path}"),
        ];
        for method in rule.methods.split(' ') {
            for trick in &tricks {
                // A key for `beta` may delete that one by a pattern.
                let is_pattern = trick.contains("*") || trick.contains("_all");
                if method == "DELETE" && is_pattern && path == "/alpha" {
                    continue;
                }
                let line = format!("{method} {trick}");
                let body = body_of(rule.path, "alpha");
                let (status, answer) = server.ask(&line, &[], &body);
                assert!(matches!(status, 400 | 401), "{line}: {answer}");
                let (_, answer) = server.ask(&line, &foreign, &body);
                assert!(!answer.contains(SECRET), "{line}: {answer}");
            }
            guarded.is_untouched(rule.path);
        }
    }
}

#[test]
fn names_within_requests_are_those_of_the_key() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let [search, write, admin] = &guarded.other;
    let ask = |key: &str, line: &str, body: &str| -> (u16, Value) {
        let (name, value) = bearer(key);
        let (status, answer) = server.ask(line, &[(name, &value)], body);
        let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        (status, serde_json::from_str(body).unwrap_or_default())
    };
    let bulk = "{\"index\":{\"_index\":\"alpha\"}}\n{\"n\":1}\n{\"index\":{\"_index\":\"beta\"}}\n{\"n\":1}\n{\"index\":{\"_index\":\"new\"}}\n{\"n\":1}\n{\"delete\":{\"_index\":\"alpha\",\"_id\":\"1\"}}\n";
    let (status, answer) = ask(write, "POST /_bulk", bulk);
    let items = answer["items"].as_array().unwrap();
    let statuses = items.iter().map(|item| item.as_object().unwrap().values().next());
    let statuses: Vec<_> = statuses.map(|item| item.unwrap()["status"].clone()).collect();
    assert_eq!((status, statuses), (200, vec![json!(403), json!(201), json!(403), json!(403)]));
    assert_eq!(items[0]["index"]["error"]["type"], "security_exception");
    let two =
        "{\"index\":\"alpha\"}\n{}\n{\"index\":[\"beta\",\"alpha\"]}\n{}\n{\"index\":\"*\"}\n{}\n";
    let (status, answer) = ask(search, "POST /_msearch", two);
    let responses = answer["responses"].as_array().unwrap().iter();
    let statuses: Vec<_> = responses.map(|response| &response["status"]).collect();
    assert_eq!((status, statuses), (200, vec![&json!(403), &json!(403), &json!(200)]));
    let docs = json!({"docs": [{"_index": "alpha", "_id": "1"}, {"_index": "beta", "_id": "1"}]});
    let (_, answer) = ask(search, "POST /_mget", &docs.to_string());
    assert_eq!(answer["docs"][0]["error"]["type"], "security_exception", "{answer}");
    assert_eq!(answer["docs"][1]["found"], true, "{answer}");
    // Patterns stand for the key's own. An index that is named is refused, also one that is not there.
    let total = |line: &str| ask(search, line, "").1["hits"]["total"]["value"].clone();
    assert_eq!((total("GET /_search"), total("GET /*/_search")), (json!(2), json!(2)));
    assert_eq!(total("GET /alp*/_search"), json!(0));
    for list in ["beta,alpha", "alpha", "nowhere", "alpha,-alpha"] {
        let (status, answer) =
            ask(search, &format!("GET /{list}/_search?ignore_unavailable=true"), "");
        let kind = &answer["error"]["type"];
        assert_eq!((status, kind), (403, &json!("security_exception")), "{list}: {answer}");
    }
    let (_, listed) = ask(search, "GET /api/v1", "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let (_, listed) = ask(search, "GET /_cat/indices?format=json", "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(ask(admin, "PUT /api/v1/gamma", "").0, 403);
    assert_eq!(ask(admin, "PUT /gamma", "").0, 403);
    assert_eq!(ask(admin, "DELETE /*", "").0, 200);
    let left = server.get("/api/v1").is(200);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["index"]), (1, &json!("alpha")));
}

/// A stream ends once its key is revoked.
#[test]
fn a_tail_ends_with_its_key() {
    let guarded = Guarded::start();
    let mut stream = guarded.server.connect();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (name, value) = bearer(&guarded.search);
    write!(stream, "GET /api/v1/alpha/tail HTTP/1.1\r\nHost: here\r\n{name}: {value}\r\n\r\n")
        .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "HTTP/1.1 200 OK");
    let put = guarded.server.put("/alpha/_doc/2", &json!({"word": "second"}).to_string());
    assert_eq!(put.status, 201, "{}", put.text);
    assert!(lines.any(|line| line.contains("second")));
    spirit(&["keys", "revoke", "-d", &guarded.directory(), "reader"]).done();
    assert!(lines.any(|line| line == "event: end"));
    let end = lines.next().unwrap();
    assert!(end.contains("the key was revoked"), "{end}");
}

/// Other names of an index, changes by query and open scrolls lead to no other index.
#[test]
fn aliases_and_scrolls_lead_around_no_key() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let directory = guarded.directory();
    let keys = ["search", "write", "admin"]
        .map(|scope| key(&directory, &format!("b-all-{scope}"), scope, &["--index", "beta,b-*"]));
    let [search, write, admin] = &keys;
    let ask = |key: &str, line: &str, body: &str| -> (u16, String) {
        let (name, value) = bearer(key);
        server.ask(line, &[(name, &value)], body)
    };
    wait_for("the new keys", || ask(admin, "GET /", "").0 == 200);
    let foreign = json!({"actions": [
        {"add": {"index": "alpha", "alias": "b-secret"}},
        {"add": {"index": "beta", "alias": "b-both"}}, {"add": {"index": "alpha", "alias": "b-both"}}
    ]});
    assert_eq!(ask(admin, "POST /_aliases", &foreign.to_string()).0, 403);
    let remove = json!({"actions": [{"remove_index": {"index": "alpha"}}]});
    assert_eq!(ask(admin, "POST /_aliases", &remove.to_string()).0, 403);
    assert_eq!(ask(admin, "PUT /alpha/_alias/b-secret", "").0, 403);
    guarded.is_untouched("aliases");
    // Names that the key may use, made by somebody who may, of an index that it may not.
    server.post("/_aliases", foreign.to_string(), &[]).is(200);
    let all = json!({"query": {"match_all": {}}}).to_string();
    for (key, line) in [
        (search, "GET /b-secret/_search"),
        (search, "GET /b-both/_search"),
        (search, "GET /b-secret/_doc/1"),
        (search, "POST /b-secret/_search?scroll=1m"),
        (search, "GET /b-secret/_explain/1"),
        (search, "GET /b-secret/_field_caps?fields=*"),
        (write, "POST /b-secret/_delete_by_query"),
        (write, "POST /b-secret/_update_by_query"),
        (write, "POST /b-secret/_doc"),
    ] {
        let body = if line.contains("_field_caps") { "" } else { &*all };
        let (status, answer) = ask(key, line, body);
        assert_eq!((status, answer.contains(SECRET)), (403, false), "{line}: {answer}");
    }
    let (status, answer) = ask(search, "GET /b-*/_search", "");
    assert_eq!((status, answer.contains(SECRET)), (200, false), "{answer}");
    guarded.is_untouched("names of a foreign index");
    let opened = server.post("/alpha/_search?scroll=1m", &all, &[]).is(200);
    assert_eq!(ask(search, "DELETE /_search/scroll/_all", "").0, 403);
    let next = json!({"scroll": "1m", "scroll_id": opened["_scroll_id"]}).to_string();
    assert_eq!(server.post("/_search/scroll", next, &[]).status, 200, "it is open still");
    assert_eq!(server.delete("/_search/scroll/_all").status, 200);
    // A point in time is for those who may search all of its indexes.
    let path = "/alpha,beta/_search/point_in_time?keep_alive=1m";
    let opened = server.post(path, "", &[]).is(200)["pit_id"].clone();
    let foreign = json!({"pit": {"id": opened}, "query": {"match_all": {}}}).to_string();
    let (status, answer) = ask(search, "POST /_search", &foreign);
    assert_eq!((status, answer.contains(SECRET)), (403, false), "{answer}");
    let delete = json!({"pit_id": opened}).to_string();
    assert_eq!(ask(search, "DELETE /_search/point_in_time", &delete).0, 403);
    assert_eq!(ask(search, "DELETE /_search/point_in_time/_all", "").0, 403);
    let (status, answer) = ask(search, "GET /_search/point_in_time/_all", "");
    assert!(status == 200 && answer.ends_with(r#"{"pits":[]}"#), "{answer}");
    for line in ["POST /alpha/_pit?keep_alive=1m", "POST /b-secret/_pit?keep_alive=1m"] {
        assert_eq!(ask(search, line, "").0, 403, "{line}");
    }
    let (status, own) = ask(search, "POST /b*/_search/point_in_time?keep_alive=1m", "");
    assert_eq!((status, own.contains(r#""total":1"#)), (200, true), "{own}");
    assert_eq!(
        server.post("/_search", foreign, &[("Content-Type", "application/json")]).status,
        200
    );
}

#[test]
fn keys_come_as_clients_send_them() {
    let guarded = Guarded::start();
    let packed = |text: &str| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(text)
    };
    let key = &guarded.search;
    let pair = packed(&format!("elastic:{key}"));
    let right = [
        format!("Bearer {key}"),
        format!("ApiKey {key}"),
        format!("ApiKey {pair}"),
        format!("Basic {pair}"),
        format!("basic {pair}"),
    ];
    for value in &right {
        let (status, answer) =
            guarded.server.ask("GET /alpha/_doc/1", &[("Authorization", value)], "");
        assert_eq!((status, answer.contains(SECRET)), (200, true), "{value}");
    }
    let wrong = [key.clone(), format!("Bearer {key}x"), format!("Basic {}", packed(key))];
    for value in &wrong {
        assert_eq!(guarded.server.ask("GET /", &[("Authorization", value)], "").0, 401, "{value}");
    }
    let two = [("Authorization", &*right[0]), ("Authorization", &*right[0])];
    assert_eq!(guarded.server.ask("GET /", &two, "").0, 401);
    assert_eq!(guarded.server.ask(&format!("GET /?api_key={key}"), &[], "").0, 401);
}

/// Waits until something holds.
#[track_caller]
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn keys_change_while_the_server_runs() {
    let guarded = Guarded::start();
    let (server, directory) = (&guarded.server, guarded.directory());
    let file = guarded.folder.path("all/_keys.json");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&guarded.search) && !text.contains(&guarded.search[7..]));
    let listed = spirit(&["keys", "list", "-d", &directory, "--json"]).json();
    assert_eq!(listed.len(), 6);
    assert_eq!(
        (&listed[4]["name"], &listed[4]["indexes"]),
        (&json!("reader"), &json!(["al*", "gamma"]))
    );
    assert_eq!((&listed[5]["expired"], &listed[0]["expires"]), (&json!(true), &Value::Null));
    let status = || {
        let (name, value) = bearer(&guarded.search);
        server.ask("GET /alpha/_search", &[(name, &value)], "").0
    };
    assert_eq!(status(), 200);
    let twice = spirit(&["keys", "create", "-d", &directory, "--scope", "search", "reader"]);
    assert!(twice.failed(2).contains("there is a key with the name \"reader\""));
    let unknown = spirit(&["keys", "revoke", "-d", &directory, "reader", "nobody"]);
    assert!(unknown.failed(1).contains("nobody: none is revoked"));
    spirit(&["keys", "revoke", "-d", &directory, "reader"]).done();
    wait_for("the key is refused", || status() == 401);
    assert_eq!(mode(), 0o600);
    // A file that cannot be read, or is gone, opens nothing and closes nothing.
    let text = std::fs::read_to_string(&file).unwrap();
    for broken in ["nonsense", ""] {
        guarded.folder.file("all/_keys.json", broken);
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!((server.get("/alpha/_search").status, status()), (200, 401));
    }
    std::fs::remove_file(&file).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!((server.get("/alpha/_search").status, status()), (200, 401));
    guarded.folder.file("all/_keys.json", text);
    let refused = spirit(&["keys", "list", "-d", &directory]);
    assert!(refused.failed(1).contains("chmod 600"));
}

#[test]
fn keys_that_are_made_at_once_are_all_there() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let made = |number: usize| key(&directory, &format!("key-{number}"), "search", &[]);
    let made = &made;
    std::thread::scope(|scope| (0..8).for_each(|number| _ = scope.spawn(move || made(number))));
    assert_eq!(spirit(&["keys", "list", "-d", &directory, "--json"]).json().len(), 8);
    for (wrong, what) in [
        (vec!["--scope", "all", "a"], "expected search, write, admin or metrics"),
        (vec!["--scope", "search", "--index", "A*", "a"], "lower case"),
        (vec!["--scope", "search", "--index", "a/b", "a"], "must not have '/'"),
        (vec!["--scope", "metrics", "--index", "a", "a"], "leave out the indexes"),
        (vec!["--scope", "search", ""], "a name has 1 to 100 bytes"),
    ] {
        let run = spirit(&[vec!["keys", "create", "-d", &directory], wrong].concat());
        assert!(run.code == 2 && run.err.contains(what), "{}", run.err);
    }
    let all: Vec<_> = (0..8).map(|number| format!("key-{number}")).collect();
    let all: Vec<_> = all.iter().map(|name| &**name).collect();
    spirit(&[vec!["keys", "revoke", "-d", &directory], all].concat()).done();
    let listed = spirit(&["keys", "list", "-d", &directory]);
    assert!(listed.err.contains("the server answers nobody"), "{}", listed.err);
}

#[test]
fn others_reach_no_server_that_is_open() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let serve = || spirit(&["serve", "-d", &directory, "--listen", "0.0.0.0:0"]);
    assert!(serve().failed(2).contains("spirit keys create"));
    key(&directory, "root", "admin", &[]);
    assert!(serve().failed(2).contains("--tls-cert"));
    let guarded = Server::start_with_key(&directory, &[], "spirit_wrong");
    assert_eq!(guarded.ask("GET /health/live", &[], "").0, 200);
}
