//! Ctrl-C: what was read goes in, the index is closed, and the exit code says what happened.

mod common;

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::{Folder, Writer, ingest_into, spirit};

/// Small, so that making it is quick.
const SMALL: [&str; 4] = ["--dram", "8MiB", "--nvm", "32MiB"];

fn count(directory: &str, query: &str) -> String {
    spirit(&["count", "-d", directory, query]).done()
}

/// What was acknowledged was lost: nobody closed the index.
#[test]
fn who_is_interrupted_closes_the_index_and_says_what_is_in_it() {
    let folder = Folder::new();
    for (mode, signal, code) in [("graceful", "INT", 130), ("crash", "TERM", 143)] {
        let directory = folder.path(mode);
        ingest_into(&directory, &[&SMALL[..], &["--mode", mode]].concat(), "red\n").done();
        let mut writer = Writer::start(&directory, &SMALL[..2]);
        writer.add("red\n");
        writer.add("red\n");
        // Of a line that was not written to its end nothing is taken.
        writer.child.stdin.as_mut().unwrap().write_all(b"red and").unwrap();
        writer.signal(signal);
        assert_eq!(writer.child.wait().unwrap().code(), Some(code));
        let mut rest = String::new();
        writer.acks.read_to_string(&mut rest).unwrap();
        assert!(rest.starts_with("{\"documents\":2,\"refused\":0,"), "{rest}");
        assert_eq!(count(&directory, "red"), "3\n");
        assert_eq!(count(&directory, "and"), "0\n");
        let report = spirit(&["check", "-d", &directory]).done();
        assert!(report.ends_with(": sound\n"), "{report}");
    }
}

/// An add that waited for room in memory was deaf to the first signal.
#[test]
fn an_add_that_waits_for_room_ends_when_interrupted() {
    let folder = Folder::new();
    let lines: String = (0..200_000).map(|n| format!("own{n} red{n}\n")).collect();
    let file = folder.file("a.txt", &lines);
    for place in [&["--mode", "volatile"][..], &["-d", &folder.path("index"), "--nvm", "16MiB"]] {
        let full = ["ingest", "--dram", "8MiB", "--segment", "128KiB", "--on-full", "wait", &file];
        let mut writer = Writer::of(&[&full[..], place].concat());
        // Full long before, on any machine that is not standing still.
        sleep(Duration::from_secs(2));
        assert!(writer.child.try_wait().unwrap().is_none(), "{place:?}: nothing to wait for");
        writer.signal("TERM");
        assert_eq!(writer.child.wait().unwrap().code(), Some(143), "{place:?}");
    }
}

/// A command that waits for queries from a pipe without a writer ends at the second interrupt at the latest.
#[test]
fn who_waits_for_queries_ends_when_interrupted() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let file = folder.file("a.txt", "red\n");
    let args = [&["ingest", "-d", &directory, &file, "--queries", &pipe], &SMALL[..]].concat();
    let mut writer = Writer::of(&args);
    while !Path::new(&directory).join("heap").exists() {
        std::thread::yield_now();
    }
    let code = loop {
        if let Some(status) = writer.child.try_wait().unwrap() {
            break status.code();
        }
        writer.signal("INT");
        sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(130));
}
