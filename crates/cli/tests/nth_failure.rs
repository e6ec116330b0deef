//! The n-th call that may fail does: n = 1, 2, 3 and so on, in longer steps where there are many, until a run has no such call
//! left. Whichever it is, the real binary says what happened, and what it acknowledged is there afterwards; an index that could not be made leaves nothing.
//!
//! `strace` lets the calls fail; where it is missing, or may not trace, it says NOT MEASURED. Calls that the loader and
//! the allocator make as well (`mmap`, `openat`) are left out: their failures are not ours.

mod common;
#[path = "../../spirit/tests/support/disk.rs"]
mod disk;

use std::fmt::Write as _;
use std::iter::successors;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Folder, Run, ingest_into, number_of, spirit};
use disk::not_measured;

/// What the index's file and its directory are handled with, and what each says when it fails.
const CALLS: [(&str, &str); 11] = [
    ("statx", "EIO"),
    ("mkdir", "ENOSPC"),
    ("flock", "ENOLCK"),
    ("unlink", "EIO"),
    ("ftruncate", "EFBIG"),
    ("fstatfs", "EIO"),
    ("fallocate", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("fsync", "EIO"),
    ("rename", "ENOSPC"),
    ("msync", "EIO"),
];
const MADE: [&str; 10] = [
    "--dram",
    "4MiB",
    "--segment",
    "64KiB",
    "--nvm",
    "16MiB",
    "--on-full",
    "refuse",
    "--durability",
    "os",
];
const DOCUMENTS: usize = 12;
/// Each of the first calls of a name fails once. The calls after them write pages of zeros, and one in `STRIDE` of these fails.
/// `SPIRIT_FAILURES` says after how many.
const EACH: usize = 64;

/// Documents of this many terms that three of them fill a segment, a line each.
fn documents() -> String {
    (0..DOCUMENTS).fold(String::new(), |mut lines, number| {
        let words = (0..200).map(|word| format!(" t{}x{word}", number % 3));
        writeln!(lines, "all{}", words.collect::<String>()).unwrap();
        lines
    })
}

/// What a run left in which the calls of one name failed at one place.
struct Outcome {
    run: Run,
    /// What was traced.
    trace: String,
}

/// Ingests the documents into `directory` while call `number` of this name fails, in each thread; none if nothing can be traced.
fn ingest(
    folder: &Folder,
    directory: &str,
    call: &str,
    error: &str,
    number: usize,
) -> Option<Outcome> {
    let (trace, input) = (folder.path("trace"), folder.file("documents.txt", documents()));
    let inject = format!("inject={call}:error={error}:when={number}");
    let made: &[&str] = if Path::new(directory).exists() { &MADE[..2] } else { &MADE };
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", &trace, "-e"])
        .args([&format!("trace=fsync,msync,{call}"), "-e", &inject, env!("CARGO_BIN_EXE_spirit")])
        .args(["ingest", "--ack", "-d", directory])
        .args(made)
        .arg(&input)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let trace = std::fs::read_to_string(trace).ok().filter(|trace| !trace.is_empty())?;
    Some(Outcome { run: Run::of(output), trace })
}

/// Lets the calls of this name fail in turn, with `before` documents in the index at the beginning. Says how many did.
fn each(
    call: &str,
    error: &str,
    before: usize,
    begin: impl Fn(&Folder) -> String,
) -> Option<usize> {
    let first = number_of("SPIRIT_FAILURES").map_or(EACH, |number| number as usize);
    let numbers = successors(Some(1), |number| Some(number + 1 + number / first));
    for (failures, number) in numbers.enumerate() {
        let folder = Folder::new();
        let directory = begin(&folder);
        let Outcome { run, trace } = ingest(&folder, &directory, call, error, number)?;
        let context = format!("{call} {number}");
        let acknowledged = run.out.lines().filter(|line| line.starts_with("ack ")).count();
        let failed = trace.contains("(INJECTED)");
        if run.code == 0 {
            assert_eq!(acknowledged, DOCUMENTS, "{context}");
        } else {
            assert!(failed, "{context}: {}", run.err);
            run.failed(1);
        }
        check_not_tried_again(&trace, &context);
        check_left(&folder, &directory, before, acknowledged, &context);
        if !failed {
            return Some(failures);
        }
    }
    None
}

/// After a failed sync a thread syncs nothing more.
fn check_not_tried_again(trace: &str, context: &str) {
    let mut lines = trace.lines().skip_while(|line| !line.contains("(INJECTED)"));
    let Some(failed) = lines.next() else { return };
    let is_sync = |line: &str| line.contains(" msync(") || line.contains(" fsync(");
    let thread = |line: &str| line.split(' ').next().map(str::to_owned);
    if is_sync(failed) {
        let again = lines.find(|line| thread(line) == thread(failed) && is_sync(line));
        assert_eq!(again, None, "{context}: {failed}");
    }
}

/// Checks that the index has what was acknowledged and takes more; or that no part of an index is left.
fn check_left(folder: &Folder, directory: &str, before: usize, acknowledged: usize, context: &str) {
    if !Path::new(directory).join("heap").exists() {
        assert_eq!((before, acknowledged), (0, 0), "{context}");
        let left = std::fs::read_dir(directory).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{context}: {}", folder.path(""));
        return;
    }
    let checked = spirit(&["check", "-d", directory]);
    assert_eq!(checked.code, 0, "{context}: {}", checked.out);
    let count = |query: &str| -> usize {
        let counted = spirit(&["count", "-d", directory, "--dram", "4MiB", query]).done();
        counted.trim().parse().unwrap()
    };
    // The one that was refused may be in.
    let all = count("all");
    assert!((before + acknowledged..=before + acknowledged + 1).contains(&all), "{context}: {all}");
    assert_eq!((0..3).map(|word| count(&format!("t{word}x7"))).sum::<usize>(), all, "{context}");
    ingest_into(directory, &["--dram", "4MiB"], "all t0x7\n").done();
    assert_eq!(count("all"), all + 1, "{context}");
}

fn each_call(what: &str, before: usize, begin: impl Fn(&Folder) -> String) {
    for (call, error) in CALLS {
        let Some(count) = each(call, error, before, &begin) else {
            return not_measured(what, "strace cannot trace here");
        };
        println!("{what}: {call} failed {count} times");
    }
}

#[test]
fn while_an_index_is_made_and_filled() {
    each_call("calls that fail while an index is made", 0, |folder| folder.path("index"));
}

#[test]
fn while_an_index_is_opened_and_filled() {
    each_call("calls that fail while an index is opened", DOCUMENTS, |folder| {
        let directory = folder.path("index");
        ingest_into(&directory, &MADE, &documents()).done();
        directory
    });
}
