//! `spirit serve`: documents come to those who wait for them, as server-sent events.

mod common;
mod serving;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::Folder;
use serde_json::{Value, json};
use serving::Server;

const PATIENCE: Duration = Duration::from_secs(30);

/// An event.
#[derive(Debug, Default, PartialEq)]
struct Event {
    name: String,
    id: String,
    data: String,
}

/// A client that reads events.
struct Listener(BufReader<TcpStream>);

impl Listener {
    /// Asks for a path's events. The answer's head has come.
    fn new(server: &Server, path: &str, last_id: Option<&str>) -> Listener {
        let mut stream = server.connect();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let last = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n{last}\r\n").unwrap();
        let mut listener = Listener(BufReader::new(stream));
        let status = listener.line();
        assert_eq!(status, "HTTP/1.1 200 OK");
        let mut head = Vec::new();
        loop {
            match listener.line() {
                line if line.is_empty() => break,
                line => head.push(line.to_ascii_lowercase()),
            }
        }
        assert!(head.contains(&"content-type: text/event-stream".to_owned()), "{head:?}");
        listener
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an event in time");
        line.trim_end().to_owned()
    }

    /// Reads the next event. Lines of the chunked encoding have no colon.
    fn next(&mut self) -> Event {
        let (mut event, begun) = (Event::default(), Instant::now());
        loop {
            let line = self.line();
            // Comments come all the time.
            assert!(begun.elapsed() < PATIENCE, "no event comes");
            match line.split_once(": ") {
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("id", id)) => event.id = id.to_owned(),
                Some(("data", data)) if event.data.is_empty() => event.data = data.to_owned(),
                Some(("data", data)) => event.data = format!("{}\n{data}", event.data),
                _ if line.is_empty() && !event.data.is_empty() => return event,
                _ => {}
            }
        }
    }

    fn keys(&mut self, count: usize) -> Vec<(String, String)> {
        let of = |event: Event| {
            let hit: Value = serde_json::from_str(&event.data).expect(&event.data);
            (hit["key"].as_str().unwrap().to_owned(), event.id)
        };
        (0..count).map(|_| of(self.next())).collect()
    }
}

fn start(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/api/v1/posts", "").is(201);
    server
}

fn put(server: &Server, key: &str, text: &str) {
    let body = json!({ "text": text }).to_string();
    server.put(&format!("/api/v1/posts/documents/{key}"), &body).is(201);
}

#[test]
fn documents_come_as_they_arrive() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "before", "an old heron");
    let mut listener = Listener::new(&server, "/api/v1/posts/tail?q=text:heron", None);
    let begun = Instant::now();
    put(&server, "one", "a grey heron");
    let first = listener.next();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let hit: Value = serde_json::from_str(&first.data).unwrap();
    assert_eq!((&hit["key"], &hit["source"]["text"]), (&json!("one"), &json!("a grey heron")));
    put(&server, "two", "a gull");
    put(&server, "three", "two herons and a heron");
    let third = &listener.keys(1)[0];
    assert_eq!(third.0, "three");
    // The tag of the document is its sequence number, and so is the place.
    let tag = server.get("/api/v1/posts/documents/three").header("etag").to_owned();
    assert_eq!(tag, format!("\"{}\"", third.1));
}

#[test]
fn a_listener_that_comes_back_misses_nothing() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "0", "common");
    let mut seen: Vec<(String, String)> = Vec::new();
    let mut last = "0".to_owned();
    for round in 0..5 {
        let lines: String = (0..500)
            .map(|n| format!("{{\"text\":\"{}\"}}\n", ["common", "other"][n % 2]))
            .collect();
        let kind = [("content-type", "application/x-ndjson")];
        server.post("/api/v1/posts/documents", &lines, &kind).is(200);
        // Leaves in the middle of what is there, but in the last round.
        let count = if round < 4 { 120 } else { 5 * 250 - 4 * 120 };
        let path = "/api/v1/posts/tail?q=text:common&since=0";
        let last_id = Some(&*last).filter(|_| round > 0);
        seen.extend(Listener::new(&server, path, last_id).keys(count));
        last = seen.last().unwrap().1.clone();
    }
    let ids: Vec<u64> = seen.iter().map(|(_, id)| id.parse().unwrap()).collect();
    assert!(ids.windows(2).all(|two| two[0] < two[1]), "{ids:?}");
    assert_eq!(ids.len(), 1_250);
}

/// A client that reads nothing for a while: what it does not take waits in the index, and then comes whole.
#[test]
fn a_slow_client_gets_all_of_it() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "first", "first");
    let mut listener = Listener::new(&server, "/api/v1/posts/tail?q=text:common&since=start", None);
    let kind = [("content-type", "application/x-ndjson")];
    // More than the buffers between the two have room for.
    let padding = "word ".repeat(200);
    for round in 0..20 {
        let key = |n: usize| round * 1000 + n;
        let line = |n| format!("{{\"key\":\"{}\",\"text\":\"common {padding}\"}}\n", key(n));
        let lines: String = (0..1000).map(line).collect();
        server.post("/api/v1/posts/documents", &lines, &kind).is(200);
    }
    let keys = listener.keys(20_000);
    assert!(keys.iter().enumerate().all(|(n, (key, _))| *key == n.to_string()));
}

#[test]
fn a_source_of_many_lines_is_one_event() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "0", "first");
    let mut listener = Listener::new(&server, "/api/v1/posts/tail", None);
    server.put("/api/v1/posts/documents/1", "{\r\n  \"text\":\r\n    \"a b\"\n}").is(201);
    let hit: Value = serde_json::from_str(&listener.next().data).unwrap();
    assert_eq!(hit["source"], json!({ "text": "a b" }));
}

#[test]
fn an_end_is_said() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "0", "first");
    server.put("/api/v1/other", "").is(201);
    let mut listener = Listener::new(&server, "/api/v1/posts/tail", None);
    let mut other = Listener::new(&server, "/api/v1/other/tail", None);
    server.delete("/api/v1/posts").is(204);
    let end = listener.next();
    assert_eq!(end.name, "end", "{end:?}");
    let begun = Instant::now();
    let ended = std::thread::spawn(move || server.end());
    let end = other.next();
    assert!(end.name == "end" && end.data.contains("the last id"), "{end:?}");
    assert_eq!(ended.join().unwrap(), 0);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn what_cannot_be_listened_to_is_refused() {
    let folder = Folder::new();
    let server = start(&folder);
    put(&server, "0", "first");
    for (path, status, word) in [
        ("/api/v1/nobody/tail", 404, "no such index"),
        ("/api/v1/posts/tail?q=nobody:x", 400, "no such field"),
        ("/api/v1/posts/tail?q=(", 400, "expected"),
        ("/api/v1/posts/tail?since=x", 400, "place"),
        ("/api/v1/posts/tail?from=1", 400, "since"),
    ] {
        let problem = server.get(path).is(status);
        assert!(problem["detail"].as_str().unwrap().contains(word), "{path}: {problem}");
    }
}
