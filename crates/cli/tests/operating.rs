//! What operators ask a running server for: backups, and more memory for an index.

mod common;
mod serving;

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use common::{Folder, spirit};
use serde_json::json;
use serving::Server;

fn fill(server: &Server, from: usize, to: usize) {
    let line = |number: usize| format!("{{\"key\":\"k{number}\",\"text\":\"heron {number}\"}}\n");
    let lines: String = (from..to).map(line).collect();
    let written = server.post("/api/v1/birds/documents", lines, &[]).is(200);
    assert_eq!(written["accepted"], to - from);
}

#[test]
fn backups_are_made_below_their_directory() {
    let folder = Folder::new();
    let backups = folder.path("backups");
    let server = Server::start(&folder.path("all"), &["--backups", &backups]);
    server.put("/api/v1/birds", "").is(201);
    fill(&server, 0, 3000);
    let path = "/api/v1/birds/backup";
    let made = server.post(path, "", &[]).is(201);
    let file = made["file"].as_str().unwrap();
    let name = file.strip_prefix(&format!("{backups}/birds-2")).unwrap();
    assert!(name.ends_with("Z.backup"), "{file}");
    assert_eq!(made["bytes"], std::fs::metadata(file).unwrap().len());
    fill(&server, 3000, 3100);
    let named = server.post(path, r#"{"name": "second"}"#, &[]).is(201);
    assert_eq!(named["file"], format!("{backups}/second"));
    // Each is whole, and has what was there.
    for (backup, documents) in [(file, "3000"), (&*format!("{backups}/second"), "3100")] {
        spirit(&["verify", backup]).done();
        let restored = folder.path(documents);
        spirit(&["restore", backup, "-d", &restored]).done();
        assert_eq!(spirit(&["count", "-d", &restored, "*"]).done().trim(), documents);
    }
    let again = server.post(path, r#"{"name": "second"}"#, &[]).is(409);
    assert_eq!(again["type"], "backup-exists");
    let long = "a".repeat(201);
    for name in
        ["../out", "/tmp/out", "a/b", ".hidden", "", "a b", "a\\u0000", "a.new", "_a", &long]
    {
        let answer = server.post(path, format!("{{\"name\": \"{name}\"}}"), &[]).is(400);
        assert!(answer["detail"].as_str().unwrap().starts_with("name: expected"), "{answer}");
    }
    server.post(path, r#"{"file": "a"}"#, &[]).is(400);
    server.post("/api/v1/fish/backup", "", &[]).is(404);
    assert_eq!(std::fs::read_dir(&backups).unwrap().count(), 2);
    assert!(!Path::new(&folder.path("out")).exists());
}

#[test]
fn a_backup_goes_on_without_its_client() {
    let folder = Folder::new();
    let backups = folder.path("backups");
    let server = Server::start(&folder.path("all"), &["--backups", &backups]);
    server.put("/api/v1/birds", "").is(201);
    fill(&server, 0, 30_000);
    let head = "POST /api/v1/birds/backup HTTP/1.1\r\nHost: s\r\nContent-Length: 16\r\n\r\n";
    let mut stream = server.connect();
    stream.write_all(format!("{head}{{\"name\": \"left\"}}").as_bytes()).unwrap();
    let file = format!("{backups}/left");
    let unfinished = format!("{file}.new");
    let end = Instant::now() + Duration::from_secs(30);
    while !Path::new(&unfinished).exists() && !Path::new(&file).exists() {
        assert!(Instant::now() < end);
    }
    drop(stream);
    while !Path::new(&file).exists() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
    spirit(&["verify", &file]).done();
}

#[test]
fn backups_need_a_setting_and_a_key() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let server = Server::start(&directory, &[]);
    server.put("/api/v1/birds", "").is(201);
    let refused = server.post("/api/v1/birds/backup", "", &[]).is(409);
    assert!(refused["detail"].as_str().unwrap().contains("--backups DIR"), "{refused}");
    assert_eq!(server.end(), 0);
    let key = |args: &[&str]| {
        let args = [&["keys", "create", "-d", &*directory], args].concat();
        spirit(&args).done().trim().to_owned()
    };
    let right = key(&["--scope", "admin", "--index", "birds", "a"]);
    let wrong =
        [key(&["--scope", "write", "b"]), key(&["--scope", "admin", "--index", "fish", "c"])];
    let server =
        Server::start_with_key(&directory, &["--backups", &folder.path("backups")], &right);
    server.post("/api/v1/birds/backup", "", &[]).is(201);
    server.post("/api/v1/birds/grow", r#"{"dram": "65MiB"}"#, &[]).is(200);
    for key in &wrong {
        for action in ["backup", "grow"] {
            let line = format!("POST /api/v1/birds/{action}");
            let key = [("Authorization", &*format!("Bearer {key}"))];
            assert_eq!(server.ask(&line, &key, r#"{"dram": "65MiB"}"#).0, 403);
        }
    }
}

#[test]
fn an_index_grows_while_it_is_used() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let server = Server::start(&directory, &["--dram", "256MiB"]);
    server.put("/api/v1/birds", r#"{"dram": "32MiB"}"#).is(201);
    server.put("/api/v1/fish", r#"{"dram": "32MiB"}"#).is(201);
    fill(&server, 0, 1000);
    let (path, ended) = ("/api/v1/birds/grow", AtomicBool::new(false));
    let written = std::thread::scope(|scope| {
        let writers = [0, 1].map(|writer| {
            let (server, ended) = (&server, &ended);
            scope.spawn(move || {
                let mut number = 0;
                while !ended.load(Relaxed) {
                    server.put(&format!("/birds/_doc/w{writer}-{number}"), "{}").is(201);
                    number += 1;
                }
                number
            })
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !ended.load(Relaxed) {
                    assert_eq!(server.get("/api/v1/birds/count?q=key:k7").is(200)["count"], 1);
                    server.get("/birds/_search?size=1").is(200);
                    server.get("/_search?size=1").is(200);
                }
            });
        }
        for mebibytes in [64, 96, 128] {
            std::thread::sleep(Duration::from_millis(100));
            let asked = format!("{{\"dram\": \"{mebibytes}MiB\"}}");
            let grown = server.post(path, asked, &[]).is(200);
            assert_eq!(grown["dram"], mebibytes << 20);
        }
        ended.store(true, Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum::<usize>()
    });
    assert!(written > 10, "{written}");
    assert_eq!(server.get("/api/v1/birds").is(200)["documents"], 1000 + written);
    let beyond = server.post(path, r#"{"dram": "240MiB"}"#, &[]).is(507);
    assert_eq!(beyond["type"], "beyond-budget");
    assert!(beyond["detail"].as_str().unwrap().contains("larger --dram"), "{beyond}");
    for (asked, what) in [
        (r#"{"dram": "64MiB"}"#, "the index has 128 MiB, and grows only"),
        (r#"{"dram": "much"}"#, "dram: `much` is not a size"),
        (r#"{"nvm": "64GiB"}"#, "fixed when an index is made"),
        (r#"{"ram": "1GiB"}"#, "unknown field `ram`"),
        ("{}", "expected `dram`"),
        ("", "EOF"),
    ] {
        let answer = server.post(path, asked, &[]).is(400);
        assert!(answer["detail"].as_str().unwrap().contains(what), "{answer}");
    }
    server.post("/api/v1/nowhere/grow", r#"{"dram": "64MiB"}"#, &[]).is(404);
    // What it has already changes nothing.
    let same = server.post(path, r#"{"dram": "128MiB"}"#, &[]).is(200);
    assert_eq!(same["duration_ms"], json!(0));
    assert_eq!(server.end(), 0);
    let server = Server::start(&directory, &["--dram", "256MiB"]);
    let shown = server.get("/api/v1/birds").is(200);
    assert_eq!((&shown["dram"], &shown["documents"]), (&json!(128 << 20), &json!(1000 + written)));
}

/// A tail keeps no index open. Its client comes back, and misses nothing.
#[test]
fn an_index_grows_beside_a_tail() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/api/v1/birds", r#"{"dram": "32MiB"}"#).is(201);
    let mut stream = server.connect();
    stream.write_all(b"GET /api/v1/birds/tail?q=* HTTP/1.1\r\nHost: s\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.post("/api/v1/birds/grow", r#"{"dram": "64MiB"}"#, &[]).is(200);
    fill(&server, 0, 10);
    assert_eq!(server.get("/api/v1/birds/count?q=*").is(200)["count"], 10);
    assert_eq!(server.end(), 0);
}
