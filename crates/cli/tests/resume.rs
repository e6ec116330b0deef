//! `ingest --resume`: killed at any moment and started again, it puts each line in exactly once.

mod common;

use std::fmt::Write as _;
use std::io::Read as _;
use std::process::Stdio;
use std::time::Duration;

use common::{Folder, command, spirit};

const LINES: usize = 60_000;
const MADE: [&str; 6] = ["--dram", "32MiB", "--segment", "256KiB", "--nvm", "256MiB"];

/// Lines of one word that all have, one that ten have and one of their own.
fn lines(name: &str) -> String {
    (0..LINES).fold(String::new(), |mut lines, number| {
        writeln!(lines, "all ten{name}{} own{name}{number}", number / 10).unwrap();
        lines
    })
}

fn count(directory: &str, query: &str) -> u64 {
    spirit(&["count", "-d", directory, query]).done().trim().parse().unwrap()
}

#[test]
fn each_line_goes_in_exactly_once_however_often_it_is_killed() {
    ["1", "3"].into_iter().for_each(exactly_once);
}

fn exactly_once(executors: &str) {
    let folder = Folder::new();
    let (directory, first) = (folder.path("index"), folder.file("first.txt", lines("a")));
    let second = folder.file("second.txt", lines("b"));
    let args = ["ingest", "-d", &directory, "--resume", "--executors", executors, &first, &second];
    let args = [&args[..], &MADE].concat();
    let (mut kills, mut within, mut before) = (0, 0, 0);
    let mut patience = Duration::from_millis(20);
    loop {
        let mut child =
            command(&args).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        std::thread::sleep(patience + Duration::from_millis(7 * (kills % 10)));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let held = count_if_there(&directory);
        assert!(held >= before, "{held} after {before}");
        within += u64::from(held > before && held < 2 * LINES as u64);
        // On a slow machine a start may take all of the time.
        patience += Duration::from_millis(if held == before { 20 } else { 0 });
        before = held;
    }
    assert!(within > 0, "of {kills} kills none came while documents went in");
    assert_eq!(count(&directory, "all"), 2 * LINES as u64);
    for number in (0..LINES).step_by(LINES / 7) {
        for name in ["a", "b"] {
            assert_eq!(count(&directory, &format!("own{name}{number}")), 1);
            assert_eq!(count(&directory, &format!("ten{name}{}", number / 10)), 10);
        }
    }
    // Once more there is nothing left to do.
    let again = spirit(&args).json();
    assert_eq!(
        (again[0]["documents"].as_u64(), count(&directory, "all")),
        (Some(0), 2 * LINES as u64)
    );
    // More lines are.
    std::fs::write(&second, lines("b") + "all last").unwrap();
    assert_eq!(spirit(&args).json()[0]["documents"], 1);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let folder = Folder::new();
    let (directory, file) = (folder.path("index"), folder.file("a.txt", "one\ntwo\n"));
    let resume = |file: &str, more: &[&str]| {
        spirit(&[&["ingest", "-d", &directory, "--resume", file][..], &MADE, more].concat())
    };
    assert_eq!(resume(&file, &[]).json()[0]["documents"], 2);
    let failed = resume("-", &[]).failed(2);
    assert!(failed.contains("- is no file: what was read of it cannot be found again"), "{failed}");
    let files = vec![&*file; 25];
    let failed =
        spirit(&[&["ingest", "-d", &directory, "--resume"], &files[..]].concat()).failed(2);
    assert!(failed.contains("25 files, of which an index remembers 24"), "{failed}");
    let directory = folder.path("graceful");
    let args = ["ingest", "-d", &directory, "--resume", &file, "--mode", "graceful"];
    let failed = spirit(&[&args[..], &MADE].concat()).failed(1);
    assert!(failed.contains("a.txt:1: only mode crash keeps an offset"), "{failed}");
}

#[test]
fn a_line_that_is_refused_is_passed_over_and_large_groups_are_split() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let long = "word ".repeat(60_000);
    let text = format!("{}{long}\n{}", "before it\n".repeat(1500), "behind it\n".repeat(1500));
    let file = folder.file("a.txt", text);
    let made = ["--dram", "8MiB", "--segment", "64KiB", "--nvm", "32MiB"];
    let args = [&["ingest", "-d", &directory, "--resume", &file][..], &made].concat();
    let run = spirit(&args);
    assert!(run.err.contains("a.txt:1501: "), "{}", run.err);
    let summary = &run.refused()[0];
    assert_eq!((summary["documents"].as_u64(), summary["refused"].as_u64()), (Some(3000), Some(1)));
    assert_eq!((count(&directory, "before"), count(&directory, "behind")), (1500, 1500));
}

/// Lines behind the one at which a run stopped were passed over by the next run.
#[test]
fn a_run_that_stops_within_a_group_leaves_no_line_out() {
    let folder = Folder::new();
    let (directory, long) = (folder.path("index"), "word ".repeat(60_000));
    let text = format!("{}{long}\n{}", "before it\n".repeat(500), "behind it\n".repeat(2000));
    let file = folder.file("a.txt", text);
    let made = ["--dram", "8MiB", "--segment", "64KiB", "--nvm", "32MiB"];
    let args = [&["ingest", "-d", &directory, "--resume", &file][..], &made].concat();
    let failed = spirit(&[&args[..], &["--strict"]].concat()).failed(1);
    assert!(failed.contains("a.txt:501: "), "{failed}");
    assert_eq!(count(&directory, "before"), 500);
    let summary = &spirit(&args).refused()[0];
    assert_eq!((summary["documents"].as_u64(), summary["refused"].as_u64()), (Some(2000), Some(1)));
    assert_eq!(count(&directory, "behind"), 2000);
    assert_eq!(spirit(&args).json()[0]["documents"], 0);
}

/// An index whose files are resumed.
struct Resumed {
    folder: Folder,
    directory: String,
}

impl Resumed {
    fn new() -> Resumed {
        let folder = Folder::new();
        let directory = folder.path("index");
        Resumed { folder, directory }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name)
    }

    fn append(&self, name: &str, text: &str) {
        self.folder.append(name, text);
    }

    /// How many documents came, and how many there are then.
    fn ingest(&self, names: &[&str]) -> (u64, u64) {
        let files: Vec<String> = names.iter().map(|name| self.path(name)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let args = [&["ingest", "-d", &self.directory, "--resume"], &files[..], &MADE].concat();
        let came = spirit(&args).json()[0]["documents"].as_u64().unwrap();
        (came, count(&self.directory, "*"))
    }
}

/// Loss and doubling as reported of nxadm/tail 55, fluent-bit 375, opentelemetry-collector-contrib 43693.
#[test]
fn a_file_is_known_by_its_bytes_whatever_happens_to_its_name() {
    let log = Resumed::new();
    log.append("a.log", "first one\nsecond\n");
    assert_eq!(log.ingest(&["a.log"]), (2, 2));
    // Renamed, and a new one that begins as the last one began.
    std::fs::rename(log.path("a.log"), log.path("a.log.1")).unwrap();
    log.append("a.log.1", "late\n");
    log.append("a.log", "first one\nfifth\n");
    assert_eq!(log.ingest(&["a.log.1", "a.log"]), (3, 5));
    // Copied and emptied, and the copy compressed.
    std::fs::copy(log.path("a.log"), log.path("a.log.2")).unwrap();
    std::fs::write(log.path("a.log"), "first one\nsixth, of a longer file than before\n").unwrap();
    assert_eq!(log.ingest(&["a.log.2", "a.log"]), (2, 7));
    let packed = zstd::encode_all(&b"first one\nfifth\n"[..], 0).unwrap();
    std::fs::write(log.path("a.log.2.zst"), packed).unwrap();
    std::fs::remove_file(log.path("a.log.2")).unwrap();
    assert_eq!(log.ingest(&["a.log.2.zst", "a.log"]), (0, 7));
    // Shorter than it was.
    std::fs::write(log.path("a.log"), "seventh\n").unwrap();
    assert_eq!(log.ingest(&["a.log"]), (1, 8));
    assert_eq!(log.ingest(&["a.log.1", "a.log.2.zst", "a.log"]), (0, 8));
    assert_eq!(count(&log.directory, "first"), 3);
}

/// A log whose last line is being written, and a file whose last line never gets an ending.
#[test]
fn a_last_line_without_an_ending_is_there_once_and_whole() {
    let log = Resumed::new();
    log.append("a.log", "first\nsecond beg");
    assert_eq!(log.ingest(&["a.log"]), (2, 2));
    assert_eq!(log.ingest(&["a.log"]), (0, 2));
    log.append("a.log", "ins");
    assert_eq!(log.ingest(&["a.log"]), (1, 2));
    log.append("a.log", " and ends\n\nthird");
    assert_eq!(log.ingest(&["a.log"]), (3, 4));
    assert_eq!(count(&log.directory, "\"second begins and ends\""), 1);
    assert_eq!(count(&log.directory, "beg OR begins"), 1);
    // Only the ending was missing.
    log.append("a.log", "\n");
    assert_eq!(log.ingest(&["a.log"]), (0, 4));
    log.append("b.jsonl", "{\"text\":\"one\"}\n\n{\"text\":\"tw");
    assert_eq!(log.ingest(&["b.jsonl"]), (1, 5));
    log.append("b.jsonl", "o\"}\n\n{\"key\":\"k\",\"text\":\"three\"}");
    assert_eq!(log.ingest(&["b.jsonl"]), (2, 7));
    log.append("b.jsonl", "\n\n");
    assert_eq!(log.ingest(&["b.jsonl"]), (0, 7));
    // Longer than what is kept of a line.
    log.append(
        "c.jsonl",
        &format!("{{\"text\":\"one\"}}\n{{\"text\":\"{}", "wide ".repeat(30_000)),
    );
    assert_eq!(log.ingest(&["c.jsonl"]), (1, 8));
    log.append("c.jsonl", "and done\"}\n");
    assert_eq!(log.ingest(&["c.jsonl"]), (1, 9));
    assert_eq!(count(&log.directory, "wide AND done"), 1);
    log.append("t.csv", "n,text\n1,one\n\n2,two");
    assert_eq!(log.ingest(&["t.csv"]), (2, 11));
    log.append("t.csv", "\n\n3,three\n\n4,\"fo");
    assert_eq!(log.ingest(&["t.csv"]), (1, 12), "a quotation mark is open");
    log.append("t.csv", "ur\nlines\"");
    assert_eq!(log.ingest(&["t.csv"]), (1, 13));
    log.append("t.csv", "\n");
    assert_eq!(log.ingest(&["t.csv", "b.jsonl", "a.log"]), (0, 13));
    // The same beginning and as many rows, and all others are new.
    std::fs::write(log.path("t.csv"), "n,text\n1,one\n\n5,five\n6,six\n7,seven").unwrap();
    assert_eq!(log.ingest(&["t.csv"]), (4, 17));
}

/// A stack trace that is being written: each line of it belongs to one record.
#[test]
fn a_record_of_several_lines_goes_on_where_the_file_goes_on() {
    let log = Resumed::new();
    let ingest = || {
        let (path, pattern) = (log.path("a.log"), "^\\d");
        let args = ["ingest", "-d", &log.directory, "--resume", "--record-start", pattern, &path];
        let came = spirit(&[&args[..], &MADE].concat()).json()[0]["documents"].as_u64().unwrap();
        (came, count(&log.directory, "*"))
    };
    log.append("a.log", "1 first\n  at one\n2 second\n  at tw");
    assert_eq!(ingest(), (2, 2));
    assert_eq!(ingest(), (0, 2));
    log.append("a.log", "o\n  at three\n\n");
    assert_eq!(ingest(), (1, 2));
    log.append("a.log", "  at four\n3 third\n");
    assert_eq!(ingest(), (2, 3));
    log.append("a.log", "4 fourth\n");
    assert_eq!(ingest(), (1, 4));
    assert_eq!(count(&log.directory, "second AND two AND three AND four"), 1);
    assert_eq!(count(&log.directory, "tw"), 0);
}

/// A run that was asked to end has read a record that it did not take.
#[test]
fn each_line_goes_in_exactly_once_however_often_it_is_interrupted() {
    let log = Resumed::new();
    log.append("a.txt", &lines("a"));
    let path = log.path("a.txt");
    let args = [&["ingest", "-d", &log.directory, "--resume", &path][..], &MADE].concat();
    let (mut interrupts, mut within) = (0, 0);
    loop {
        let mut child =
            command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(15 + 9 * (interrupts % 8)));
        common::signal(&child, "INT");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(!said.contains("other lines"), "{said}");
        if child.wait().unwrap().success() {
            break;
        }
        interrupts += 1;
        within += u64::from((1..LINES as u64).contains(&count_if_there(&log.directory)));
        assert!(interrupts < 500, "it gets nowhere");
    }
    assert!(within > 0, "of {interrupts} interrupts none came while documents went in");
    assert_eq!(count(&log.directory, "all"), LINES as u64);
    assert_eq!(count(&log.directory, "owna1 OR owna59999"), 2);
}

/// How many documents there are, or 0 if there is no index yet.
fn count_if_there(directory: &str) -> u64 {
    let held = spirit(&["count", "-d", directory, "all"]);
    if held.code == 0 { held.done().trim().parse().unwrap() } else { 0 }
}
