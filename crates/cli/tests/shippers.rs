//! Real shippers send the lines of a file to a real server: rsyslog and syslog-ng. All lines arrive, also
//! across a kill of the server, and a time in which its index is full.
//!
//! Debian's packages are unpacked below the build's folder, once; nothing is installed.

mod common;
mod filled;
mod serving;
mod unpacked;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;
use serde_json::json;
use serving::Server;

/// The time in which lines arrive.
const PATIENCE: Duration = Duration::from_secs(60);
const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// A shipper that is killed when the test ends.
struct Shipper(Child);

impl Drop for Shipper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn rsyslog(root: &Path, folder: &Folder, port: &str) -> Shipper {
    let home = folder.path(".");
    let config = format!(
        r#"global(workDirectory="{home}")
module(load="imfile" mode="polling" pollingInterval="1")
module(load="omelasticsearch")
template(name="document" type="list" option.json="on") {{
  constant(value="{{\"message\":\"") property(name="msg") constant(value="\"}}")
}}
template(name="id" type="list") {{ property(name="msg" field.number="1" field.delimiter="32") }}
input(type="imfile" file="{home}/lines" tag="lines")
action(type="omelasticsearch" server="127.0.0.1" serverport="{port}" searchIndex="lines"
  searchType="" template="document" bulkmode="on" dynbulkid="on" bulkid="id"
  writeoperation="create" errorfile="{home}/refused"
  action.resumeretrycount="-1" action.resumeinterval="1")
"#
    );
    let config = folder.file("rsyslog.conf", config);
    let modules = root.join("usr/lib/x86_64-linux-gnu/rsyslog");
    let arguments = ["-n", "-f", &config, "-i", &folder.path("pid"), "-M"];
    start(unpacked::command(root, "usr/sbin/rsyslogd").args(arguments).arg(modules))
}

fn syslog_ng(root: &Path, folder: &Folder, port: &str) -> Shipper {
    let config = format!(
        r#"@version: 3.38
source lines {{ file("{}" follow-freq(0.2) flags(no-parse)); }};
destination server {{
  http(url("http://127.0.0.1:{port}/_bulk") method("POST")
    headers("Content-Type: application/x-ndjson")
    body("{{\"index\":{{\"_index\":\"lines\"}}}}\n$(format-json --scope none message=$MESSAGE)")
    body-suffix("\n") delimiter("\n") batch-lines(50) batch-timeout(300)
    retries(1000) time-reopen(1) response-action(429 => retry));
}};
log {{ source(lines); destination(server); flags(flow-control); }};
"#,
        folder.path("lines")
    );
    let config = folder.file("syslog-ng.conf", config);
    let files =
        ["-R", &folder.path("persist"), "-p", &folder.path("pid"), "-c", &folder.path("control")];
    let modules = root.join("usr/lib/syslog-ng/3.38");
    let modules = format!("--module-path={}", modules.display());
    start(
        unpacked::command(root, "usr/sbin/syslog-ng")
            .args(["-F", "-f", &config])
            .args(files)
            .arg(modules),
    )
}

fn start(command: &mut Command) -> Shipper {
    Shipper(command.stdin(Stdio::null()).spawn().unwrap())
}

fn append(folder: &Folder, from: usize, to: usize) {
    let lines: String =
        (from..to).map(|n| format!("line-{n} said \"heron\\wolf\" {n}\n")).collect();
    folder.append("lines", &lines);
}

/// Waits until each line so far is there.
fn wait(server: &Server, lines: usize) {
    let end = Instant::now() + PATIENCE;
    let lines_only = json!({"exists": {"field": "message"}});
    let asked = json!({"query": lines_only, "size": 10_000, "_source": ["message"]}).to_string();
    let line = |n| json!(format!("line-{n} said \"heron\\wolf\" {n}")).to_string();
    let expected: BTreeSet<String> = (0..lines).map(line).collect();
    loop {
        let answer = server.post("/lines/_search?ignore_unavailable=true", &asked, &JSON).is(200);
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let found: BTreeSet<_> =
            hits.iter().map(|hit| hit["_source"]["message"].to_string()).collect();
        if found == expected {
            return;
        }
        let missing: Vec<_> = expected.difference(&found).take(3).collect();
        assert!(Instant::now() < end, "{} lines; missing are {missing:?}", found.len());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn ship(start: fn(&Path, &Folder, &str) -> Shipper) -> (Folder, Server) {
    let (folder, root) = (Folder::new(), unpacked::root());
    let directory = folder.path("all");
    let server = Server::start(&directory, &[]);
    let address = server.address().to_owned();
    append(&folder, 0, 200);
    let shipper = start(&root, &folder, address.rsplit(':').next().unwrap());
    wait(&server, 200);
    // The server goes while lines are on the way, and more come meanwhile.
    append(&folder, 200, 300);
    std::thread::sleep(Duration::from_millis(20));
    server.kill();
    append(&folder, 300, 400);
    std::thread::sleep(Duration::from_secs(1));
    let server = Server::start(&directory, &["--listen", &address]);
    append(&folder, 400, 500);
    wait(&server, 500);
    drop(shipper);
    (folder, server)
}

#[test]
fn all_lines_of_rsyslog_arrive_once() {
    let (folder, server) = ship(rsyslog);
    assert_eq!(server.get("/lines/_count").is(200)["count"], 500);
    // Lines that were sent again are refused as there already, and nothing else is.
    let refused = std::fs::read_to_string(folder.path("refused")).unwrap_or_default();
    assert!(!refused.contains("parsing_exception"), "{refused}");
}

/// It has no ids for lines, so what was sent again is there twice.
#[test]
fn all_lines_of_syslog_ng_arrive() {
    ship(syslog_ng);
}

/// How many requests found no room.
fn refused(server: &Server) -> f64 {
    let metrics = server.get("/metrics").text;
    let name = "spirit_rejected_requests_total{reason=\"no_room_or_no_turn\"} ";
    let line = metrics.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0.0, |value| value.parse().unwrap())
}

/// Waits until the shipper was refused so often.
fn wait_for_refusals(server: &Server, count: f64) {
    let end = Instant::now() + PATIENCE;
    while refused(server) < count {
        assert!(Instant::now() < end, "the shipper was refused {} times", refused(server));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ships 300 lines, of which 200 find no room at first. Then the index grows.
fn ship_to_a_full_index(
    start: fn(&Path, &Folder, &str) -> Shipper,
    refusals: f64,
) -> (Folder, Server, Shipper) {
    let (folder, root) = (Folder::new(), unpacked::root());
    // What waits is refused soon.
    let server = Server::start(&folder.path("all"), &["--hold", "100ms"]);
    filled::make(&server, "lines");
    filled::fill(&server, "lines", 20);
    let before = refused(&server);
    append(&folder, 0, 200);
    let shipper = start(&root, &folder, server.address().rsplit(':').next().unwrap());
    wait_for_refusals(&server, before + refusals);
    server.post("/api/v1/lines/grow", r#"{"dram": "64MiB"}"#, &JSON).is(200);
    append(&folder, 200, 300);
    (folder, server, shipper)
}

/// It asks again as often as the server refuses.
#[test]
fn all_lines_of_syslog_ng_arrive_once_there_is_room() {
    let (_folder, server, _shipper) = ship_to_a_full_index(syslog_ng, 3.0);
    wait(&server, 300);
    let lines = r#"{"query": {"exists": {"field": "message"}}}"#;
    assert_eq!(server.post("/lines/_count", lines, &JSON).is(200)["count"], 300);
}

/// It never asks again, whatever the status, but keeps what was refused in a file.
#[test]
fn refused_lines_of_rsyslog_are_in_its_error_file() {
    let (folder, server, _shipper) = ship_to_a_full_index(rsyslog, 1.0);
    let end = Instant::now() + PATIENCE;
    let lines = r#"{"query": {"exists": {"field": "message"}}}"#;
    let there = || server.post("/lines/_count", lines, &JSON).is(200)["count"].as_u64().unwrap();
    while there() < 100 {
        assert!(Instant::now() < end, "the lines after the growth do not arrive: {}", there());
        std::thread::sleep(Duration::from_millis(50));
    }
    // An operator sends them again. They have ids, so those that are there stay as they are.
    let refused = std::fs::read_to_string(folder.path("refused")).unwrap();
    for line in refused.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect(line);
        let bulk = record["request"]["postdata"].as_str().expect(line);
        server.post("/_bulk", bulk, &JSON).is(200);
    }
    wait(&server, 300);
    assert_eq!(there(), 300);
}
