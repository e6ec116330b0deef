//! The real binary on a disk that is full: what it says, what it leaves, and that it goes on when there is space.
//! Needs root and loop devices; elsewhere it says NOT MEASURED.

mod common;
#[path = "../../spirit/tests/support/disk.rs"]
mod disk;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Run, command, ingest_into, signal, spirit};
use disk::{Disk, not_measured};

const DISK_BYTES: u64 = 64 << 20;
const SMALL: [&str; 6] = ["--dram", "4MiB", "--segment", "64KiB", "--nvm", "32MiB"];
/// More than DRAM and log hold, and fewer than the second tier does.
const DOCUMENTS: usize = 40_000;

/// A disk of each kind that the machine can have: on a loop device, and in memory.
fn disks(what: &str) -> impl Iterator<Item = Disk> {
    let disks = [Disk::new(DISK_BYTES), Disk::in_memory(DISK_BYTES)];
    let what = what.to_owned();
    disks.into_iter().filter_map(move |d| d.inspect_err(|why| not_measured(&what, why)).ok())
}

fn directory(disk: &Disk) -> String {
    disk.path().join("index").to_str().unwrap().to_owned()
}

/// Documents of few terms and many postings, a line each.
fn lines(count: usize) -> String {
    (0..count).fold(String::new(), |mut lines, number| {
        let words = (1..40).map(|factor| format!(" w{}", number * factor % 61));
        writeln!(lines, "all{}", words.collect::<String>()).unwrap();
        lines
    })
}

/// Feeds a file to an index that is there.
fn ingest(directory: &str, more: &[&str], lines: &str) -> Run {
    let folder = Folder::new();
    let file = folder.file("documents.txt", lines);
    spirit(&[&["ingest", "-d", directory, "--dram", "4MiB"], more, &[&file]].concat())
}

/// What was acknowledged on `out`: this many, from the first on.
fn acknowledged(out: &str) -> usize {
    let acks = out.lines().filter_map(|line| line.strip_prefix("ack "));
    let keys: Vec<usize> = acks.map(|key| key.parse().unwrap()).collect();
    assert!(keys.iter().copied().eq(0..keys.len()));
    keys.len()
}

#[track_caller]
fn check_count(directory: &str, documents: usize) {
    let dram = ["--dram", "4MiB"];
    let run = |query| spirit(&["count", "-d", directory, dram[0], dram[1], query]).done();
    assert_eq!(run("all"), format!("{documents}\n"));
    let with_word = (0..documents).filter(|n| (1..40).any(|factor| n * factor % 61 == 3));
    assert_eq!(run("w3"), format!("{}\n", with_word.count()));
}

#[test]
fn an_index_that_does_not_fit_is_named_and_leaves_nothing() {
    for disk in disks("an index larger than its disk") {
        let directory = directory(&disk);
        let free = disk.free();
        let args = ["ingest", "-d", &directory, "--nvm", "1GiB", "--reserve", "full", "-"];
        let said = spirit(&args).failed(1);
        let begins = format!("spirit: {directory}/heap.new: cannot reserve space for it: ");
        assert!(said.starts_with(&begins) && said.contains("No space left on device"), "{said}");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        assert!(disk.free() + (64 << 10) >= free);
    }
}

#[test]
fn an_index_in_memory_that_is_refused_level_os_leaves_nothing() {
    let Some(disk) = disks("what a refused index leaves").last() else { return };
    let directory = directory(&disk);
    let args = ["ingest", "-d", &directory, "--durability", "os", "-"];
    let said = spirit(&[&args[..], &SMALL].concat()).failed(1);
    assert!(said.contains("level os is not available on tmpfs"), "{said}");
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn who_is_told_nothing_refuses_says_why_and_takes_more_when_there_is_space() {
    for disk in disks("refusing on a full disk") {
        let directory = directory(&disk);
        ingest_into(&directory, &SMALL, "").done();
        let filler = disk.fill(1 << 20);
        let run = ingest(&directory, &["--ack"], &lines(DOCUMENTS));
        let taken = acknowledged(&run.out);
        assert!(taken > 0 && taken < DOCUMENTS, "{taken}");
        let said = run.failed(1);
        let why = format!("documents.txt:{}: the disk of {directory} is full, ", taken + 1);
        assert!(said.contains(&why), "{said}");
        check_count(&directory, taken);
        std::fs::remove_file(filler).unwrap();
        let lines = lines(DOCUMENTS);
        let rest = lines.split_inclusive('\n').skip(taken).collect::<String>();
        ingest(&directory, &[], &rest).done();
        check_count(&directory, DOCUMENTS);
    }
}

#[test]
fn a_volatile_index_on_a_full_disk_says_that_nothing_stays() {
    for disk in disks("a volatile index on a full disk") {
        let directory = directory(&disk);
        let _filler = disk.fill(6 << 20);
        let said = ingest(&directory, &["--mode", "volatile"], &lines(DOCUMENTS)).failed(1);
        assert!(said.contains(&format!("the disk of {directory} is full, ")), "{said}");
        assert!(said.contains("ingest everything again; a volatile index ends with"), "{said}");
    }
}

/// Documents with fields, and with words that are as rare as those of a language: a line each.
fn posts(count: u64) -> String {
    let mut state = 7u64;
    let mut word = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let share = (state >> 40) as f64 / (1u64 << 24) as f64;
        format!("w{}", (share * 30_000f64.ln()).exp() as u64)
    };
    (0..count).fold(String::new(), |mut lines, n| {
        let words: Vec<String> = (0..12).map(|_| word()).collect();
        let (text, level, rest) = (words.join(" "), n % 50, n % 77);
        let post =
            format!(r#"{{"key":"k{n:x}","text":"{text}","level":"c{level}","n":{n},"m":{rest}}}"#);
        writeln!(lines, "{post}").unwrap();
        lines
    })
}

/// Terms leave the dictionary, to make room for others, when the disk becomes full: at one of these sizes or another.
#[test]
fn a_disk_that_is_full_while_terms_leave_refuses() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let folder = Folder::new();
    let file = folder.file("posts.jsonl", posts(90_000));
    for megabytes in 26..32 {
        let disk = match Disk::in_memory(megabytes << 20) {
            Ok(disk) => disk,
            Err(why) => return not_measured("a disk that is full while terms leave", &why),
        };
        let directory = directory(&disk);
        let args = ["ingest", "-d", &directory, "--dram", "16MiB", "--store", "yes", &file];
        let mut child =
            command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if since.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{megabytes} MiB: it waits for what nobody makes");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let left = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&left.stderr);
        assert_eq!(status.code(), Some(1), "{megabytes} MiB: {said}");
        assert!(said.contains(&format!("the disk of {directory} is full, ")), "{said}");
        let count = spirit(&["count", "-d", &directory, "--dram", "16MiB", "*"]).done();
        let held: u64 = count.trim().parse().unwrap();
        assert!(said.contains(&format!("posts.jsonl:{}: ", held + 1)), "{held} held: {said}");
    }
}

#[test]
fn who_drops_the_oldest_goes_on() {
    for disk in disks("dropping on a full disk") {
        let directory = directory(&disk);
        ingest_into(&directory, &[&SMALL[..], &["--on-full", "drop"]].concat(), "").done();
        let first = 5000;
        ingest(&directory, &[], &lines(first)).done();
        disk.fill(1 << 20);
        ingest(&directory, &[], &lines(DOCUMENTS)).done();
        let held = spirit(&["count", "-d", &directory, "--dram", "4MiB", "all"]).done();
        let held: usize = held.trim().parse().unwrap();
        assert!(held > 0 && held < DOCUMENTS, "{held}");
        let newest = format!("key:{}", first + DOCUMENTS - 1);
        assert_eq!(spirit(&["count", "-d", &directory, "--dram", "4MiB", &newest]).done(), "1\n");
    }
}

/// Starts an ingest that has to wait for room; returns it and the line that it reports.
fn waiting(directory: &str, file: &str) -> (Child, String) {
    let args = ["ingest", "-d", directory, "--dram", "4MiB", "--on-full", "wait", file];
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    (child, said)
}

#[test]
fn a_waiting_ingest_reports_it_and_ends_by_a_signal_or_goes_on_with_space() {
    for disk in disks("waiting on a full disk") {
        let directory = directory(&disk);
        ingest_into(&directory, &[&SMALL[..], &["--on-full", "wait"]].concat(), "").done();
        let filler = disk.fill(1 << 20);
        let folder = Folder::new();
        let file = folder.file("documents.txt", lines(DOCUMENTS));
        let why = format!("spirit: waiting: the disk of {directory} is full, ");

        let (mut child, said) = waiting(&directory, &file);
        assert!(said.starts_with(&why) && said.contains("make room on it"), "{said}");
        let since = Instant::now();
        signal(&child, "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(143));
        assert!(since.elapsed() < Duration::from_secs(20), "deaf to the signal");
        let held = spirit(&["count", "-d", &directory, "--dram", "4MiB", "all"]).done();
        let held: usize = held.trim().parse().unwrap();
        assert!(held > 0 && held < DOCUMENTS, "{held}");

        let (child, said) = waiting(&directory, &file);
        assert!(said.starts_with(&why), "{said}");
        std::fs::remove_file(filler).unwrap();
        let left = child.wait_with_output().unwrap();
        assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
        let count = spirit(&["count", "-d", &directory, "--dram", "4MiB", "all"]).done();
        assert_eq!(count, format!("{}\n", held + DOCUMENTS));
    }
}
