//! Limits under attack: slow clients, many connections, deep and large bodies, huge headers.

mod common;
mod serving;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use common::Folder;
use serde_json::json;
use serving::Server;

const HEAD: &str = "Host: spirit\r\nContent-Type: application/json\r\n";

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn slow_clients_harm_no_other() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--body-timeout", "4s"]);
    server.put("/birds/_doc/1", "{\"n\": 1}").is(201);
    let head = format!("POST /birds/_doc HTTP/1.1\r\n{HEAD}Content-Length: 33554432\r\n\r\n");
    let mut slow: Vec<_> = (0..1_000).map(|_| connect(&server)).collect();
    for stream in &mut slow {
        stream.write_all(head.as_bytes()).unwrap();
    }
    let (started, mut slowest) = (Instant::now(), Duration::ZERO);
    while started.elapsed() < Duration::from_secs(3) {
        for stream in &mut slow {
            stream.write_all(b" ").unwrap();
        }
        let next = Instant::now() + Duration::from_secs(1);
        while Instant::now() < next {
            let asked = Instant::now();
            server.get("/birds/_search?q=n:1").is(200);
            server.put("/birds/_doc/2", "{\"n\": 2}");
            slowest = slowest.max(asked.elapsed());
        }
    }
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
    // Each of them is answered in the end, and nothing of it is taken.
    for stream in slow {
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    assert_eq!(server.get("/birds/_count").is(200)["count"], 2);
}

/// Thousands of clients that say nothing: others are answered, and nothing of them is left behind.
#[test]
fn ten_thousand_connections_are_held() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--header-timeout", "20s"]);
    server.put("/birds/_doc/1", "{\"n\": 1}").is(201);
    let before = descriptors(&server);
    let count = 10_000.min(most_descriptors() - 1_000);
    let mut held: Vec<_> = (0..count).map(|_| connect(&server)).collect();
    for stream in &mut held {
        stream.write_all(b"GET /health/live HTTP/1.1\r\n").unwrap();
    }
    for _ in 0..100 {
        server.get("/birds/_search?q=n:1").is(200);
    }
    assert!(descriptors(&server) >= before + count, "{} of {count}", descriptors(&server));
    // The last one is served as the first one is.
    for place in [count - 1, count / 2, 0] {
        let mut stream = held.remove(place);
        stream.write_all(format!("{HEAD}Connection: close\r\n\r\n").as_bytes()).unwrap();
        assert!(rest(stream).starts_with("HTTP/1.1 200"));
    }
    drop(held);
    let end = Instant::now() + Duration::from_secs(30);
    while descriptors(&server) > before + 10 {
        assert!(Instant::now() < end, "{} descriptors are left", descriptors(&server));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The descriptors that a server has open.
fn descriptors(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count()
}

/// Raises this process' limit of descriptors, and returns it.
fn most_descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    limit.maximum.map_or(usize::MAX, |most| most as usize)
}

/// A server that gets few descriptors takes fewer connections, says so, and goes on.
#[test]
fn few_descriptors_are_enough() {
    let folder = Folder::new();
    let program = env!("CARGO_BIN_EXE_spirit");
    let directory = folder.path("all");
    let serve = format!(
        "ulimit -n 120; exec {program} serve -d {directory} --listen 127.0.0.1:0 --header-timeout 3s"
    );
    let server = Server::start_by(std::process::Command::new("sh").args(["-c", &serve]));
    server.put("/birds/_doc/1", "{\"n\": 1}").is(201);
    let held: Vec<_> = (0..120).map(|_| connect(&server)).collect();
    // Those that are silent are closed, and then others have their turn.
    for n in 0..5 {
        server.put(&format!("/birds/_doc/{n}"), "{\"n\": 1}");
    }
    drop(held);
    assert_eq!(server.get("/birds/_count").is(200)["count"], 5);
}

#[test]
fn connections_beyond_the_limit_wait() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let server =
        Server::start_unready(&directory, &["--connections", "3", "--header-timeout", "3s"]);
    let mut held: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    for stream in &mut held {
        // An answer says that the connection was accepted.
        let request = format!("GET /health/live HTTP/1.1\r\n{HEAD}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        assert!(stream.read(&mut [0; 16]).unwrap() > 0);
    }
    let mut waiting = connect(&server);
    let request = format!("GET /health/live HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n");
    waiting.write_all(request.as_bytes()).unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert!(waiting.read(&mut [0; 16]).is_err(), "it is not accepted");
    held.pop();
    waiting.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert!(rest(waiting).starts_with("HTTP/1.1 200"));
    // Those that stay idle are closed after the time that a head has.
    let started = Instant::now();
    held.into_iter().for_each(|stream| drop(rest(stream)));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn deep_bodies_and_huge_heads_are_refused() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/birds/_doc/1", "{\"n\": 1}").is(201);
    let deep = 100_000;
    let arrays = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let objects = format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep));
    let clauses = format!(
        "{{\"query\":{}{{\"match_all\":{{}}}}{}}}",
        "{\"bool\":{\"must\":".repeat(deep),
        "}}".repeat(deep)
    );
    for body in [&arrays, &objects, &clauses] {
        let bulk = format!("{{\"index\":{{\"_index\":\"birds\"}}}}\n{body}\n");
        let started = Instant::now();
        for (path, body) in [
            ("/birds/_search", body),
            ("/birds/_count", body),
            ("/birds/_mget", body),
            ("/birds/_doc", body),
            ("/birds/_update/1", body),
            ("/_msearch", &format!("{{}}\n{body}\n")),
            ("/_bulk", &format!("{body}\n")),
            ("/api/v1/birds/search", body),
        ] {
            let answer = server.post(path, body, &[]);
            assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        }
        let made = server.put("/deep", body);
        assert_eq!(made.status, 400, "{}", made.text);
        let answer = server.post("/_bulk", bulk, &[]).is(200);
        assert_eq!(answer["items"][0]["index"]["status"], 400);
        let answer = server.post("/api/v1/birds/documents", body, &[]).is(200);
        assert_eq!((&answer["accepted"], &answer["refused"]), (&json!(0), &json!(1)));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(server.get("/birds/_count").is(200)["count"], 1);
    let huge = format!("GET / HTTP/1.1\r\n{HEAD}X-Huge: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\n{HEAD}{}\r\n", "X-Many: 1\r\n".repeat(200));
    let line = format!("GET /{} HTTP/1.1\r\n{HEAD}\r\n", "x".repeat(1 << 20));
    for attack in [huge, many, line] {
        let mut stream = connect(&server);
        // The server may close before it has read all.
        let _ = stream.write_all(attack.as_bytes());
        let answer = rest(stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(server.get("/health/live").status, 200);
}

/// The resident memory of a server, in bytes.
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn large_bodies_take_no_more_than_their_budget() {
    let folder = Folder::new();
    let flags = ["--body", "8MiB", "--bodies", "16MiB", "--hold", "1s", "--body-timeout", "20s"];
    let server = Server::start(&folder.path("all"), &flags);
    server.put("/birds/_doc/1", "{\"n\": 1}").is(201);
    let body = vec![b' '; (8 << 20) - 1];
    let head = format!(
        "POST /birds/_search HTTP/1.1\r\n{HEAD}Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len() + 1
    );
    let before = resident(&server);
    // Each sends all but the last byte, so that all would be in memory together: 192 MiB.
    let send = || {
        let mut stream = connect(&server);
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        stream
    };
    let (is_over, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let sent: Vec<TcpStream> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                peak.fetch_max(resident(&server), Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let sending: Vec<_> = (0..24).map(|_| scope.spawn(send)).collect();
        let sent: Vec<_> = sending.into_iter().map(|sending| sending.join()).collect();
        is_over.store(true, Relaxed);
        sent.into_iter().map(Result::unwrap).collect()
    });
    let grown = peak.into_inner() - before;
    assert!(grown < 64 << 20, "{grown}");
    let mut refused = 0;
    for mut stream in sent {
        stream.write_all(b" ").unwrap();
        let answer = rest(stream);
        assert!(
            answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 429"),
            "{answer}"
        );
        refused += usize::from(answer.starts_with("HTTP/1.1 429"));
    }
    assert!(refused >= 22, "{refused} of 24 are refused, and two have room");
    // The room is free again.
    server.post("/birds/_search", &body, &[]).is(200);
    // What is too long is refused before it is read, and what says no length once it is.
    let head = format!("POST /birds/_search HTTP/1.1\r\n{HEAD}Content-Length: 1073741824\r\n\r\n");
    assert!(server.raw(head.as_bytes()).starts_with("HTTP/1.1 413"));
    let mut stream = connect(&server);
    let head = format!("POST /birds/_search HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    while stream.write_all(chunk.as_bytes()).is_ok() {}
    assert_eq!(server.get("/birds/_count").is(200)["count"], 1);
}
