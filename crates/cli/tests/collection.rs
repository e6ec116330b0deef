//! `spirit index`: a collection that is killed at any moment on its way in, and is then as if nothing had happened.

mod common;

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Folder, command, number_of, signal, spirit};
use serde_json::Value;

/// Kills in all, unless `SPIRIT_INDEX_KILLS` says otherwise.
const KILLS: u64 = 8;
/// Documents of the collection, with those that others replace.
const DOCUMENTS: u64 = 251_001;
const MADE: [&str; 9] =
    ["--dram", "32MiB", "--segment", "256KiB", "--nvm", "512MiB", "--executors", "2", "--progress"];
const QUERIES: [&str; 6] =
    ["all", "ten7", "all AND ten11", "\"all ten5\"", "page OR last", "alone AND ten9"];

/// Objects of which every third has a key; each of these keys comes several times.
fn objects(name: &str, count: usize) -> String {
    (0..count).fold(String::new(), |mut lines, number| {
        let key = match number % 3 {
            0 => format!("\"key\":\"k{}\",", number % 4001),
            _ => String::new(),
        };
        let text = format!("all ten{} own{name}{number} {}", number % 100, number * 7919);
        writeln!(lines, "{{{key}\"text\":\"{text}\",\"n\":{number}}}").unwrap();
        lines
    })
}

/// Records of a web archive.
fn archive(count: usize) -> String {
    (0..count).fold(String::new(), |mut records, number| {
        let body = format!("all page ten{}", number % 100);
        write!(
            records,
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.example/{number}\r\n\
             WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
        .unwrap();
        records
    })
}

/// Objects whose text is in a member that others have beside their text: for these it is a field.
fn texts_of_bodies() -> String {
    let beside =
        (0..9_000).map(|n| format!("{{\"text\":\"all beside ten{}\",\"body\":\"b\"}}\n", n % 9));
    let alone = (0..9_000).map(|n| format!("{{\"body\":\"all alone ten{}\"}}\n", n % 10));
    beside.chain(alone).collect()
}

/// A collection of several formats; the last file has a last line without an ending.
fn collection(folder: &Folder) -> String {
    let packed = zstd::encode_all(objects("b", 60_000).as_bytes(), 1).unwrap();
    folder.file("crawl/a.jsonl", objects("a", 120_000));
    folder.file("crawl/b.jsonl.zst", packed);
    folder.file("crawl/c.warc", archive(5_000));
    folder.file("crawl/0.jsonl", texts_of_bodies().repeat(2));
    folder.file("crawl/d.jsonl", format!("{}{{\"text\":\"all last\"}}", objects("d", 30_000)));
    folder.path("crawl")
}

fn index<'a>(directory: &'a str, crawl: &'a str) -> Vec<&'a str> {
    [&["index", "-d", directory, crawl, "--store", "yes"], &MADE[..]].concat()
}

/// What a few queries answer.
fn answers(directory: &str) -> Vec<String> {
    let ask = |query: &&str| {
        ["newest", "best"].map(|order| {
            let asked = ["search", "-d", directory, "--json", "-k", "40", "--order", order, query];
            let mut answer = spirit(&asked).json().remove(0);
            answer.as_object_mut().unwrap().retain(|name, _| !name.contains("us"));
            answer.to_string()
        })
    };
    QUERIES.iter().flat_map(ask).collect()
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let folder = Folder::new();
    let crawl = collection(&folder);
    let whole = folder.path("whole");
    let begun = Instant::now();
    let summary = spirit(&index(&whole, &crawl)).json().remove(0);
    let taken = begun.elapsed();
    assert_eq!(
        (&summary["documents"], &summary["files"]),
        (&DOCUMENTS.into(), &5.into()),
        "{summary}"
    );
    let expected = answers(&whole);
    let documents: u64 = spirit(&["count", "-d", &whole, "*"]).done().trim().parse().unwrap();
    assert!(expected.iter().all(|answer| !answer.contains("\"hits\":[]")), "{expected:?}");
    let wanted = number_of("SPIRIT_INDEX_KILLS").unwrap_or(KILLS);
    let (mut kills, mut within, mut rounds) = (0, 0, 0);
    while kills < wanted {
        let directory = folder.path(&format!("killed{rounds}"));
        rounds += 1;
        loop {
            let mut child = command(&index(&directory, &crawl));
            let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Anywhere between the start and, mostly, the end.
            let parts = (kills * 7 + rounds * 3) % 19;
            std::thread::sleep(taken * parts as u32 / 18);
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            let held = spirit(&["count", "-d", &directory, "*"]).out.trim().parse().unwrap_or(0);
            within += u64::from(held > 0 && held < documents);
        }
        assert_eq!(answers(&directory), expected, "after {kills} kills, in {directory}");
        spirit(&["check", "-d", &directory]).done();
    }
    assert!(within > 0, "of {kills} kills none came while the collection went in");
}

#[test]
fn an_interrupt_ends_it_for_now_and_others_are_refused() {
    let folder = Folder::new();
    let crawl = collection(&folder);
    let directory = folder.path("index");
    let mut patience = Duration::from_millis(20);
    let interrupted = loop {
        let mut child = command(&index(&directory, &crawl));
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(patience);
        signal(&child, "INT");
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let held = spirit(&["count", "-d", &directory, "*"]).out;
        if said.contains("unfinished") && held.trim().parse().unwrap_or(0) > 100_000 {
            break said;
        }
        assert!(!output.status.success(), "it was not interrupted");
        // Nothing much was in yet.
        patience += Duration::from_millis(20);
    };
    assert!(interrupted.contains("the same command goes on"), "{interrupted}");
    let held = spirit(&["count", "-d", &directory, "*"]).done();
    let refused = spirit(&["ingest", "-d", &directory, &crawl]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("`spirit index --give-up`"), "{}", refused.err);
    // Another collection, or the same one after a change, is not this one.
    let other = folder.file("other.txt", "another line\n");
    let wrong = spirit(&index(&directory, &other)).failed(2);
    assert!(wrong.contains("--give-up"), "{wrong}");
    assert_eq!(spirit(&["count", "-d", &directory, "*"]).done(), held);
    let summary = spirit(&index(&directory, &crawl)).json().remove(0);
    assert_eq!(summary["documents"], DOCUMENTS);
    assert!(summary["read"].as_u64() < Some(DOCUMENTS), "{summary}");
    assert_eq!(spirit(&["ingest", "-d", &directory, &other]).json()[0]["documents"], 1);
}

#[test]
fn what_was_given_up_takes_other_documents() {
    let folder = Folder::new();
    let (directory, crawl) = (folder.path("index"), collection(&folder));
    spirit(&["index", "-d", &directory, "--give-up"]).failed(1);
    let mut child = command(&index(&directory, &crawl));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while spirit(&["count", "-d", &directory, "all"]).out.trim().parse::<u64>().unwrap_or(0) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    spirit(&["index", "-d", &directory, "--give-up"]).done();
    let line = folder.file("line.txt", "one more\n");
    spirit(&["ingest", "-d", &directory, &line]).done();
    // A collection that was given up may be begun anew. One that is in is not indexed twice.
    for (again, count) in [(&[][..], 2), (&[][..], 2), (&["--again"][..], 3)] {
        let args = [&["index", "-d", &directory, &line], again].concat();
        assert_eq!(spirit(&args).json()[0]["documents"], 1);
        let found = spirit(&["count", "-d", &directory, "one more"]).done();
        assert_eq!(found.trim(), count.to_string());
    }
    let nothing = spirit(&["index", "-d", &directory, "--give-up"]);
    assert_eq!(nothing.code, 0);
    assert!(nothing.err.contains("no collection is unfinished"), "{}", nothing.err);
}

#[test]
fn it_says_what_it_did_and_what_it_cannot_read() {
    let folder = Folder::new();
    let (directory, file) = (folder.path("index"), folder.file("a.jsonl", objects("a", 3000)));
    let bad = folder.file("b.jsonl", "{\"text\":\"good\"}\nno object\n{\"text\":\"good too\"}\n");
    let rejects = folder.path("rejects");
    let args = ["index", "-d", &directory, "--format", "jsonl", "--rejects", &rejects, &file, &bad];
    let summary = spirit(&args).refused().remove(0);
    assert_eq!(
        (&summary["documents"], &summary["refused"]),
        (&3002.into(), &1.into()),
        "{summary}"
    );
    let executors = summary["executors"].as_array().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(executors.len(), cores);
    for part in ["document_ids", "hash", "sort", "flush", "merge", "idle"] {
        assert!(executors.iter().all(|one| one[part].is_number()), "{part}: {summary}");
    }
    let hash: f64 = executors.iter().map(|one| one["hash"].as_f64().unwrap()).sum();
    assert!(hash > 0.0, "{summary}");
    assert_eq!(std::fs::read_to_string(&rejects).unwrap(), "no object\n");
    let not_there = spirit(&["index", "-d", &directory, &folder.path("no.txt")]).failed(1);
    assert!(not_there.contains("no.txt"), "{not_there}");
    let pipe = spirit(&["index", "-d", &directory, "/dev/stdin"]).failed(2);
    assert!(pipe.contains("spirit ingest"), "{pipe}");
    let input = spirit(&["index", "-d", &directory, "-"]).failed(2);
    assert!(input.contains("spirit ingest"), "{input}");
    let volatile = spirit(&["index", "-d", &directory, "--mode", "volatile", &file]).failed(2);
    assert!(volatile.contains("graceful or crash"), "{volatile}");
    assert!(spirit(&["index", "-d", &directory]).code == 2, "no files");
    let count: Value = spirit(&["count", "-d", &directory, "--json", "good"]).json().remove(0);
    assert_eq!(count["count"], 2);
}

#[test]
fn placements_answer_alike() {
    let folder = Folder::new();
    let crawl = folder.path("crawl");
    folder.file("crawl/a.jsonl", objects("a", 20_000));
    let pm = folder.path("pm");
    std::fs::create_dir(&pm).unwrap();
    let whole = folder.path("plain");
    spirit(&index(&whole, &crawl)).done();
    let expected = answers(&whole);
    for name in ["stock", "table-pm", "pm-only", "flush-pm", "hybrid", "hybrid+", "cc-hybrid"] {
        let directory = folder.path(name);
        let placed = ["--placement", name, "--pm", &pm];
        spirit(&[&index(&directory, &crawl)[..], &placed].concat()).done();
        assert_eq!(answers(&directory), expected, "{name}");
        let mode = if name == "cc-hybrid" { "crash" } else { "graceful" };
        let stats = spirit(&["stats", "-d", &directory, "--json"]).done();
        assert!(stats.contains(mode), "{stats}");
    }
    let directory = folder.path("other");
    let wrong =
        spirit(&[&index(&directory, &crawl)[..], &["--placement", "x", "--pm", &pm]].concat());
    assert!(wrong.err.contains("stock, table-pm, pm-only"), "{}", wrong.err);
    let gone = folder.path("gone");
    let nowhere =
        spirit(&[&index(&directory, &crawl)[..], &["--table-in", &gone]].concat()).failed(1);
    assert!(nowhere.contains(&format!("{gone}: cannot take")), "{nowhere}");
}
