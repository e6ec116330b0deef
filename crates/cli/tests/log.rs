//! The log of `spirit serve`: its lines, what is not in them, and that nobody waits for its reader.

mod common;
mod serving;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, spirit};
use rustix::process::Signal;
use serde_json::{Value, json};
use serving::Server;

/// A server that writes its log to a file.
fn logged(folder: &Folder, flags: &[&str], key: &str) -> (Server, String) {
    let path = folder.path("log");
    let log = File::create(&path).unwrap();
    (Server::start_logged(&folder.path("all"), flags, key, log), path)
}

/// The lines of a log of JSON.
fn lines(path: &str, log: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).expect(line));
    lines.filter(|line: &Value| line["log"] == log).collect()
}

#[test]
fn each_request_has_a_line() {
    let folder = Folder::new();
    let flags = ["--log-format", "json", "--access-log", "on"];
    let (server, path) = logged(&folder, &flags, "");
    server.put("/birds/_doc/secret-id", "{\"name\": \"secret-name\"}").is(201);
    let found = server.post("/birds/_search?q=secret-query", "", &[("X-Request-Id", "mine")]);
    server.get("/secret-path/with/much/more").is(400);
    server.get("/api/v1/nowhere/search?q=secret-query").is(404);
    assert_eq!(server.end(), 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let access = lines(&path, "access");
    let line = |route: &str| {
        let line = access.iter().find(|line| line["route"] == route);
        line.unwrap_or_else(|| panic!("{route} in {text}"))
    };
    let put = line("/{index}/_doc/{id}");
    assert_eq!((&put["method"], &put["index"]), (&json!("PUT"), &json!("birds")));
    assert_eq!((&put["status"], &put["level"]), (&json!(201), &json!("info")));
    assert_eq!((&put["client"], &put["key"]), (&json!("127.0.0.1"), &Value::Null));
    assert!(put["duration_ms"].as_f64().unwrap() > 0.0);
    let search = line("/{index}/_search");
    assert_eq!(search["bytes"], found.text.len());
    assert_eq!(search["request"], "mine");
    assert_eq!(line("/api/v1/{index}/search")["status"], 404);
    let unknown = access.iter().find(|line| line.get("route").is_none());
    assert_eq!(unknown.unwrap()["status"], 400);
    let life: Vec<_> = lines(&path, "server").iter().map(|line| line["msg"].clone()).collect();
    assert_eq!(life, ["the server listens", "made an index", "the server ends"]);
}

#[test]
fn a_client_that_hangs_up_has_a_line() {
    let folder = Folder::new();
    let flags = ["--log-format", "json", "--access-log", "on"];
    let (server, path) = logged(&folder, &flags, "");
    server.put("/api/v1/birds", "").is(201);
    // The body never comes.
    let mut stream = server.connect();
    let head = "POST /api/v1/birds/search HTTP/1.1\r\nHost: s\r\nContent-Length: 9\r\n\r\n{";
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    drop(stream);
    wait_for(|| {
        lines(&path, "access").iter().any(|line| line["status"] == 499 || line["status"] == 400)
    });
}

#[test]
fn slow_questions_have_lines() {
    let folder = Folder::new();
    let flags = ["--log-format", "json", "--slow-query", "1us"];
    let (server, path) = logged(&folder, &flags, "");
    server.put("/birds/_doc/1?refresh=true", "{\"name\": \"heron\"}").is(201);
    server.get("/api/v1/birds/search?q=name:heron").is(200);
    server.post("/birds/_search", "{\"query\":{\"match\":{\"name\":\"heron\"}}}", &[]).is(200);
    server.get("/birds/_doc/1").is(200);
    assert_eq!(server.end(), 0);
    let slow = lines(&path, "slow");
    assert_eq!(slow.len(), 2, "{slow:?}");
    for line in &slow {
        assert_eq!((&line["index"], &line["matches"]), (&json!("birds"), &json!(1)), "{line}");
        assert!(line["queue_ms"].as_f64().unwrap() <= line["duration_ms"].as_f64().unwrap());
        assert!(!line.to_string().contains("heron"), "{line}");
    }
    let (server, path) = logged(&folder, &[&flags[..], &["--slow-query-text", "yes"]].concat(), "");
    server.get("/api/v1/birds/search?q=name:heron").is(200);
    server.post("/birds/_search", "{\"query\":{\"match\":{\"name\":\"heron\"}}}", &[]).is(200);
    assert_eq!(server.end(), 0);
    let slow = lines(&path, "slow");
    assert_eq!(slow[0]["query"], "q=name:heron");
    assert_eq!(slow[1]["body"], "{\"query\":{\"match\":{\"name\":\"heron\"}}}");
}

#[test]
fn keys_that_are_refused_have_a_line_a_second() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let key = spirit(&["keys", "create", "-d", &directory, "--scope", "admin", "me"]).done();
    let listed = spirit(&["keys", "list", "-d", &directory, "--json"]).done();
    let listed: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let flags = ["--log-format", "json", "--access-log", "on"];
    let (server, path) = logged(&folder, &flags, key.trim());
    server.get("/_cat/indices").is(200);
    for _ in 0..30 {
        let wrong = [("Authorization", "Bearer spirit_secret")];
        assert_eq!(server.ask("GET /_search", &wrong, "").0, 401);
    }
    let refused = || -> Vec<Value> {
        let lines = lines(&path, "server").into_iter();
        lines.filter(|line| line["msg"] == "refused keys").collect()
    };
    let sum = || refused().iter().map(|line| line["requests"].as_u64().unwrap()).sum::<u64>();
    wait_for(|| sum() == 30);
    let refused = refused();
    assert!(refused.len() <= 4, "{refused:?}");
    assert_eq!(refused[0]["requests"], 1);
    assert_eq!(
        (&refused[0]["client"], &refused[0]["level"]),
        (&json!("127.0.0.1"), &json!("warn"))
    );
    let own = lines(&path, "access").into_iter().find(|line| line["route"] == "/_cat/indices");
    assert_eq!(own.unwrap()["key"], listed["id"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("spirit_"), "{text}");
}

#[test]
fn clients_cannot_forge_lines() {
    let folder = Folder::new();
    let (server, path) = logged(
        &folder,
        &["--access-log", "on", "--slow-query", "1us", "--slow-query-text", "yes"],
        "",
    );
    let forged = "time=2026-01-01T00:00:00Z level=error log=server msg=forged";
    let escaped = forged.replace(' ', "%20");
    server.ask(&format!("GET /a%0A{escaped}%1B[2J/_search?q=%0A{escaped}"), &[], "");
    server.ask(&format!("GET /api/v1/a%0D%0A{escaped}/search?q=x"), &[], "");
    server.ask("GET /birds/_search", &[], &format!("\n{forged}\n\u{1b}[2J\u{2028}{forged}"));
    server.ask("GET /_search", &[("X-Request-Id", &format!("a {forged}"))], "");
    assert_eq!(server.end(), 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\\nt"), "{text}");
    for line in text.lines() {
        assert!(line.starts_with("time=2") && !line.starts_with("time=2026-01-01"), "{line:?}");
        assert_eq!(line.matches(" log=").count() > 1, line.contains("forged"), "{line}");
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{2028}'), "{line:?}");
    }
    // The command reads what the server logs.
    let read = folder.path("read");
    spirit(&["ingest", "-d", &read, "--format", "logfmt", &path]).done();
    let count = spirit(&["count", "-d", &read, "*"]).done();
    assert_eq!(count.trim(), text.lines().count().to_string());
}

/// Starts a server whose standard error is a pipe.
fn piped(folder: &Folder, flags: &[&str]) -> (Child, String) {
    let directory = folder.path("all");
    let mut child = Command::new(env!("CARGO_BIN_EXE_spirit"))
        .args(["serve", "-d", &directory, "--listen", "127.0.0.1:0", "--access-log", "on"])
        .args(flags)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim_end().strip_prefix("listening on ").unwrap().to_owned())
}

fn get(url: &str) -> String {
    ureq::get(url).call().unwrap().body_mut().read_to_string().unwrap()
}

/// The lines that were lost, as `/metrics` has them.
fn lost(url: &str) -> u64 {
    let text = get(&format!("{url}/metrics"));
    let line = text.lines().find_map(|line| line.strip_prefix("spirit_log_lost_lines_total "));
    line.unwrap().parse().unwrap()
}

fn end(mut child: Child) {
    let started = Instant::now();
    common::signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn a_reader_that_takes_nothing_stops_nobody() {
    let folder = Folder::new();
    let (mut child, url) = piped(&folder, &["--log-format", "json"]);
    let err = child.stderr.take().unwrap();
    // The pipe and the queue fill.
    let live = format!("{url}/health/live");
    let agent = ureq::Agent::new_with_defaults();
    for _ in 0..12_000 {
        assert_eq!(agent.get(&live).call().unwrap().status(), 200);
    }
    assert!(lost(&url) > 0);
    // A late reader gets lines again, and how many are missing.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        BufReader::new(err).read_to_string(&mut text).unwrap();
        text
    });
    std::thread::sleep(Duration::from_millis(500));
    get(&live);
    end(child);
    let text = reader.join().unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let missing = lines.iter().filter_map(|line| line["lines"].as_u64()).sum::<u64>();
    let requests = lines.iter().filter(|line| line["log"] == "access").count() as u64;
    assert!(missing > 0 && requests + missing >= 12_002, "{requests} {missing}");
}

#[test]
fn a_full_pipe_does_not_keep_the_server_from_ending() {
    let folder = Folder::new();
    let (mut child, url) = piped(&folder, &[]);
    let _err = child.stderr.take().unwrap();
    let agent = ureq::Agent::new_with_defaults();
    for _ in 0..2000 {
        agent.get(&format!("{url}/health/live")).call().unwrap();
    }
    end(child);
}

#[test]
fn a_closed_pipe_stops_nobody() {
    let folder = Folder::new();
    let (mut child, url) = piped(&folder, &[]);
    drop(child.stderr.take());
    for _ in 0..10 {
        get(&format!("{url}/health/live"));
    }
    wait_for(|| lost(&url) >= 10);
    let made = ureq::put(format!("{url}/birds/_doc/1")).send("{\"a\": 1}").unwrap();
    assert_eq!(made.status(), 201);
    end(child);
}

#[test]
fn a_full_disk_stops_nobody() {
    let folder = Folder::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let server = Server::start_logged(&folder.path("all"), &["--access-log", "on"], "", full);
    server.put("/birds/_doc/1", "{\"a\": 1}").is(201);
    wait_for(|| lost(&server.url("")) > 0);
    assert_eq!(server.end(), 0);
}

#[test]
fn levels_say_what_is_written() {
    let folder = Folder::new();
    let flags = ["--log-level", "warn", "--log-format", "json", "--access-log", "on"];
    let (server, path) = logged(&folder, &flags, "");
    assert_eq!(server.get("/health/live").status, 200);
    server.signal(Signal::HUP);
    assert_eq!(server.end(), 0);
    assert_eq!(lines(&path, "server"), Vec::<Value>::new());
    assert!(!lines(&path, "access").is_empty());
    for (flag, value, expected) in [
        ("--log-level", "loud", "--log-level: expected error, warn, info or debug, found \"loud\""),
        ("--log-format", "xml", "--log-format: expected text or json, found \"xml\""),
        ("--access-log", "maybe", "--access-log: expected on or off, found \"maybe\""),
        (
            "--slow-query",
            "soon",
            "--slow-query: expected a time, as in 500ms or 2s, found \"soon\"",
        ),
    ] {
        let run = spirit(&["serve", "-d", &folder.path("all"), flag, value]);
        assert!(run.code == 2 && run.err.contains(expected), "{}", run.err);
    }
}

fn wait_for(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}
