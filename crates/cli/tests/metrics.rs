//! `/metrics`: its form, its figures, and what is made of them in `deploy`. The service manager's socket.

mod common;
mod serving;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use common::{Folder, command, spirit};
use regex::Regex;
use serde_json::json;
use serving::Server;

/// The samples by name and labels, and the kind of each name.
struct Read {
    samples: BTreeMap<String, f64>,
    kinds: BTreeMap<String, String>,
}

/// Reads Prometheus' text form, strictly.
fn read(text: &str) -> Read {
    let sample = Regex::new(
        r#"^([a-z][a-z0-9_]*)(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? ([0-9.e+-]+)$"#,
    );
    let sample = sample.unwrap();
    let (mut read, mut current) = (Read { samples: BTreeMap::new(), kinds: BTreeMap::new() }, "");
    assert!(text.ends_with('\n'));
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("# HELP ") {
            let (name, help) = head.split_once(' ').unwrap();
            assert!(!help.is_empty());
            let kind = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
            let (again, kind) = kind.split_once(' ').unwrap();
            assert_eq!(again, name);
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
            let is_new = read.kinds.insert(name.to_owned(), kind.to_owned()).is_none();
            assert!(is_new, "{name} twice");
            current = name;
            continue;
        }
        let parts = sample.captures(line).unwrap_or_else(|| panic!("{line}"));
        let own = parts[1].strip_prefix(current).unwrap_or_else(|| panic!("{line} in {current}"));
        match read.kinds[current].as_str() {
            "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&own), "{line}"),
            _ => assert_eq!(own, "", "{line}"),
        }
        let labels = parts.get(2).map_or("", |labels| labels.as_str());
        let name = format!("{}{labels}", &parts[1]);
        assert!(read.samples.insert(name, parts[3].parse().unwrap()).is_none(), "{line} twice");
    }
    read
}

impl Read {
    fn value(&self, name: &str) -> f64 {
        *self.samples.get(name).unwrap_or_else(|| panic!("no {name} in {:#?}", self.samples))
    }

    /// The samples of a histogram with one label, in the order of their bounds.
    fn buckets(&self, start: &str) -> Vec<f64> {
        let own = self.samples.iter().filter(|(name, _)| name.starts_with(start));
        let bound = |name: &str| {
            let bound = name.split("le=\"").nth(1).unwrap().split('"').next().unwrap();
            bound.replace("+Inf", "inf").parse::<f64>().unwrap()
        };
        let mut own: Vec<_> = own.map(|(name, value)| (bound(name), *value)).collect();
        own.sort_by(|one, other| one.0.total_cmp(&other.0));
        own.into_iter().map(|(_, value)| value).collect()
    }
}

fn metrics(server: &Server) -> Read {
    let answer = server.get("/metrics");
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(answer.status, 200, "{}", answer.text);
    read(&answer.text)
}

#[test]
fn figures_are_those_of_the_requests() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    read(&server.get("/metrics").text);
    for number in 0..7 {
        server.put(&format!("/birds/_doc/{number}"), "{\"name\": \"heron\"}").is(201);
    }
    server.delete("/birds/_doc/3").is(200);
    for _ in 0..5 {
        server.get("/birds/_search?q=heron").is(200);
    }
    server.get("/nowhere/_search").is(404);
    server.get("/birds/_doc/1").is(200);
    server.get("/nowhere/at/all/there").is(400);
    let read = metrics(&server);
    let status = |route: &str, status: u16| {
        let name = format!("spirit_http_requests_total{{route=\"{route}\",status=\"{status}\"}}");
        read.value(&name)
    };
    assert_eq!((status("write", 201), status("write", 200)), (7.0, 1.0));
    assert_eq!((status("search", 200), status("search", 404)), (5.0, 1.0));
    assert_eq!((status("get", 200), status("unknown", 400)), (1.0, 1.0));
    assert_eq!(read.value("spirit_search_duration_seconds_count{kind=\"search\"}"), 6.0);
    assert_eq!(read.value("spirit_ingest_duration_seconds_count"), 8.0);
    for start in [
        "spirit_ingest_duration_seconds_bucket",
        "spirit_search_duration_seconds_bucket{kind=\"search\"",
    ] {
        let buckets = read.buckets(start);
        assert!(buckets.len() == 16 && buckets.is_sorted(), "{buckets:?}");
    }
    let sum = read.value("spirit_ingest_duration_seconds_sum");
    assert!(sum > 0.0 && sum < 60.0, "{sum}");
    let of = |name: &str| read.value(&format!("{name}{{index=\"birds\"}}"));
    assert_eq!((of("spirit_documents"), of("spirit_queries_total")), (6.0, 6.0));
    let op =
        |op: &str| read.value(&format!("spirit_documents_total{{index=\"birds\",op=\"{op}\"}}"));
    assert_eq!((op("accept"), op("delete"), op("expire")), (7.0, 1.0, 0.0));
    assert_eq!(read.value("spirit_indexes{state=\"serving\"}"), 1.0);
    let heap = |state: &str| {
        let labels = format!("index=\"birds\",heap=\"dram\",state=\"{state}\"");
        read.value(&format!("spirit_heap_bytes{{{labels}}}"))
    };
    assert!(heap("used") > 0.0 && heap("used") + heap("free") <= f64::from(64 << 20));
    let budget = |heap: &str, state: &str| {
        read.value(&format!("spirit_budget_bytes{{heap=\"{heap}\",state=\"{state}\"}}"))
    };
    assert_eq!(budget("dram", "reserved"), f64::from(64 << 20));
    assert_eq!(budget("dram", "reserved") + budget("dram", "free"), f64::from(1 << 30));
    assert_eq!(of("spirit_durable_lag_documents"), 8.0);
    assert!(of("spirit_durability_flushes_total") >= 8.0);
    assert_eq!(of("spirit_epoch_lag"), 0.0);
    let largest = |heap: &str, partition: &str| {
        let labels = format!("index=\"birds\",heap=\"{heap}\",partition=\"{partition}\"");
        read.value(&format!("spirit_heap_largest_free_bytes{{{labels}}}"))
    };
    for (which, partition) in [
        ("dram", "short-term"),
        ("dram", "long-term"),
        ("dram", "dictionary"),
        ("nvm", "long-term"),
    ] {
        let free = read.value(&format!(
            "spirit_heap_bytes{{index=\"birds\",heap=\"{which}\",state=\"free\"}}"
        ));
        let largest = largest(which, partition);
        assert!(largest > 0.0 && largest <= free, "{which} {partition}: {largest} of {free}");
    }
    // Nothing waits for the disk.
    assert_eq!(of("spirit_durability_flush_duration_seconds_count"), 0.0);
    assert!(of("spirit_recovery_duration_seconds") > 0.0);
    assert_eq!(read.value("spirit_waiting_questions"), 0.0);
    assert!(read.value("process_resident_memory_bytes") > 1e6);
    assert!(read.value("process_open_fds") > 3.0);
    assert!(read.value("spirit_uptime_seconds") > 0.0);
}

#[test]
fn flushes_to_the_disk_are_timed() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--durability", "os"]);
    for number in 0..7 {
        server.put(&format!("/birds/_doc/{number}"), "{\"name\": \"heron\"}").is(201);
    }
    let read = metrics(&server);
    let name = "spirit_durability_flush_duration_seconds";
    let of = |part: &str| read.value(&format!("{name}_{part}{{index=\"birds\"}}"));
    let flushes = read.value("spirit_durability_flushes_total{index=\"birds\"}");
    assert!(flushes >= 7.0 && of("count") == flushes, "{} of {flushes}", of("count"));
    assert!(of("sum") > 0.0 && of("sum") < 60.0, "{}", of("sum"));
    let buckets = read.buckets(&format!("{name}_bucket{{index=\"birds\""));
    assert!(buckets.len() == 16 && buckets.is_sorted() && buckets[15] == flushes, "{buckets:?}");
}

#[test]
fn rules_and_boards_name_figures_that_are_there() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/birds/_doc/1", "{}").is(201);
    let kinds = metrics(&server).kinds;
    let name = Regex::new(r"\b(?:spirit|process)_[a-z_]+").unwrap();
    for file in ["alerts.yml", "grafana.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let names: BTreeSet<_> = name.find_iter(&text).map(|found| found.as_str()).collect();
        assert!(names.len() > 4, "{names:?}");
        for name in names {
            let family = name.strip_suffix("_bucket").unwrap_or(name);
            let is_histogram = kinds.get(family).is_some_and(|kind| kind == "histogram");
            assert!(kinds.contains_key(family), "{file}: {name}");
            assert_eq!(family != name, is_histogram, "{file}: {name}");
        }
    }
}

#[test]
fn figures_are_for_keys_of_their_own() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let key = |name: &str, more: &[&str]| {
        let args = [&["keys", "create", "-d", &directory, name], more].concat();
        spirit(&args).done().trim().to_owned()
    };
    let right = [key("a", &["--scope", "metrics"]), key("b", &["--scope", "admin"])];
    let wrong =
        [key("c", &["--scope", "write"]), key("d", &["--scope", "admin", "--index", "logs-*"])];
    let server = Server::start_with_key(&directory, &[], &right[1]);
    server.put("/birds/_doc/1", "{}").is(201);
    let ask = |line: &str, key: &str| {
        server.ask(line, &[("Authorization", &format!("Bearer {key}"))], "")
    };
    for key in &right {
        assert_eq!(ask("GET /metrics", key).0, 200);
    }
    for key in &wrong {
        let (status, answer) = ask("GET /metrics", key);
        assert!(status == 403 && answer.contains("problem+json"), "{answer}");
    }
    assert_eq!(server.ask("GET /metrics", &[], "").0, 401);
    // A key for figures reads no document, and does not see which indexes there are.
    for line in ["GET /birds/_doc/1", "GET /_search", "GET /api/v1", "PUT /birds/_doc/2"] {
        assert_eq!(ask(line, &right[0]).0, 403, "{line}");
    }
    assert_eq!(ask("GET /health/ready", &right[0]).0, 200);
    let read = metrics(&server);
    assert_eq!(read.value("spirit_rejected_requests_total{reason=\"unauthorized\"}"), 1.0);
    assert_eq!(read.value("spirit_rejected_requests_total{reason=\"forbidden\"}"), 6.0);
}

#[test]
fn answers_have_the_ids_of_their_requests() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let get = |headers: &[(&str, &str)]| server.post("/_search", "", headers);
    let (one, two) = (get(&[]), get(&[]));
    let id = one.header("x-request-id");
    assert!(!id.is_empty() && id != two.header("x-request-id"));
    let long = "x".repeat(129);
    let own = get(&[("X-Request-Id", "a-1/b"), ("X-Opaque-Id", "mine")]);
    assert_eq!((own.header("x-request-id"), own.header("x-opaque-id")), ("a-1/b", "mine"));
    for bad in ["two words", &*long] {
        let answer = get(&[("X-Request-Id", bad), ("X-Opaque-Id", bad)]);
        assert!(answer.header("x-request-id") != bad && !answer.header("x-request-id").is_empty());
        assert_eq!(answer.header("x-opaque-id"), "");
    }
    let unknown = server.get("/no/such/path/here");
    assert!(unknown.status == 400 && !unknown.header("x-request-id").is_empty());
    assert_eq!(json!(unknown.status), unknown.json()["status"]);
}

#[test]
fn the_service_manager_hears_of_the_start_and_the_end() {
    let folder = Folder::new();
    let path = format!("/tmp/spirit-notify-{}.sock", std::process::id());
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut heard = || {
        let mut bytes = [0; 64];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let directory = folder.path("all");
    let mut child = command(&["serve", "-d", &directory, "--listen", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ready = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut heard));
    common::signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    std::fs::remove_file(&path).unwrap();
    assert_eq!((ready.unwrap(), heard()), ("READY=1".to_owned(), "STOPPING=1".to_owned()));
}
