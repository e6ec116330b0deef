//! Reading an index while another process writes it: commands that ask, and processes that keep it open, beside an `ingest`
//! whose second tier is so small that the place of old segments is taken all the time. Either side is killed.

mod common;
#[path = "../../spirit/tests/support/following.rs"]
mod following;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use common::{Folder, command, spirit};
use following::{follow, wait_until};
use serde_json::Value;
use spirit::{Reader, Search};

const OPTIONS: [&str; 10] = [
    "--dram",
    "4MiB",
    "--nvm",
    "6MiB",
    "--segment",
    "64KiB",
    "--analyzer",
    "simple",
    "--on-full",
    "drop",
];
/// Keys that are written over and over.
const KEYS: u64 = 50;

/// An `ingest` that is fed line by line.
struct Writer {
    child: Child,
    input: ChildStdin,
    acks: BufReader<ChildStdout>,
}

impl Writer {
    fn start(directory: &str, format: &str) -> Writer {
        let args = [&["ingest", "-d", directory, "--ack", "--format", format, "-"], &OPTIONS[..]];
        let mut command = command(&args.concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let acks = BufReader::new(child.stdout.take().unwrap());
        Writer { child, input, acks }
    }

    /// Adds documents, and waits until they are in.
    fn add(&mut self, lines: impl IntoIterator<Item = String>) {
        let lines: Vec<_> = lines.into_iter().collect();
        self.input.write_all(lines.concat().as_bytes()).unwrap();
        for _ in lines {
            let mut ack = String::new();
            self.acks.read_line(&mut ack).unwrap();
            assert!(ack.starts_with("ack "), "{ack}");
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Feeds it, and kills it while it works on that.
    fn kill_while_it_takes(mut self, lines: &str) {
        self.input.write_all(&lines.as_bytes()[..lines.len().min(32 << 10)]).unwrap();
        std::thread::sleep(Duration::from_millis(3));
        self.kill();
    }

    fn end(self) {
        let Writer { mut child, input, acks } = self;
        drop(input);
        drop(acks);
        assert!(child.wait().unwrap().success());
    }
}

/// Documents that are called by their number.
fn numbered(range: std::ops::Range<u64>) -> impl Iterator<Item = String> {
    range.map(|n| format!("all m{} x{n} some more words to fill segments\n", n % 7))
}

/// Operations on the same keys again and again.
fn replacing(range: std::ops::Range<u64>) -> impl Iterator<Item = String> {
    range.map(|n| format!("k{}\tall x{n} some more words to fill segments\n", n % KEYS))
}

/// The newest document, if what is found is a range of them, each once.
fn newest_of_a_range(reader: &mut Reader<'_>) -> Option<u64> {
    let found = reader.search_text("all", Search::newest(10_000)).unwrap().keys().unwrap();
    let all: Vec<u64> = found.iter().map(|key| key.parse().unwrap()).collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1] + 1), "{all:?}");
    let found = reader.search_text("all AND m3", Search::newest(10_000)).unwrap().keys().unwrap();
    let of_seven: Vec<u64> = found.iter().map(|key| key.parse().unwrap()).collect();
    assert!(of_seven.windows(2).all(|pair| pair[0] == pair[1] + 7), "{of_seven:?}");
    assert!(of_seven.iter().all(|n| n % 7 == 3), "{of_seven:?}");
    all.first().copied()
}

/// Each key has one version, and the versions are the last ones of a prefix.
fn check_versions(reader: &mut Reader<'_>) {
    let found = reader.search_text("all", Search::newest(10_000)).unwrap();
    let (keys, sequences) = (found.keys().unwrap(), found.sequences().unwrap());
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "{keys:?} {sequences:?}");
    assert_eq!(keys.len() as u64, KEYS, "{keys:?} {sequences:?}");
    drop(found);
    assert_eq!(reader.count_text("all").unwrap(), KEYS);
    for key in ["k0", "k7"] {
        assert_eq!(reader.count_text(&format!("key:{key}")).unwrap(), 1);
    }
}

/// Says that all is done, whatever happened.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Does `work` while readers of two followers `look`, three each.
fn beside(directory: &str, look: impl Fn(&mut Reader<'_>) + Sync, work: impl FnOnce()) {
    let followers = [follow(directory), follow(directory)];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = AtEnd(&done);
        for number in 0..6 {
            let (follower, done, look) = (&followers[number % 2], &done, &look);
            scope.spawn(move || {
                let mut reader = follower.reader().unwrap();
                while !done.load(Relaxed) {
                    look(&mut reader);
                    assert!(follower.damage().is_none());
                }
            });
        }
        work();
    });
}

#[test]
fn commands_that_ask_answer_beside_one_that_writes() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..5000));
    let ask = |args: &[&str]| {
        let run = spirit(&[args, &["-d", &directory]].concat());
        assert!(run.err.contains("another process writes this index"), "{}", run.err);
        run
    };
    // The last segments may still be on their way.
    wait_until(|| ask(&["count", "all"]).done().trim().parse::<u64>().unwrap() > 1000);
    let answer = ask(&["search", "--json", "-k", "3", "all"]).json().remove(0);
    let newest: u64 = answer["hits"][0]["key"].as_str().unwrap().parse().unwrap();
    assert!((1000..5000).contains(&newest), "{answer}");
    let stats: Value = ask(&["stats", "--json"]).json().remove(0);
    assert!(stats["documents"]["live"].as_u64().unwrap() > 1000, "{stats}");
    assert_eq!(stats["mode"], "crash");
    for args in [&["ingest", "-d", &directory, "/dev/null"][..], &["delete", "-d", &directory, "0"]]
    {
        let line = spirit(args).failed(1);
        let expected = format!("spirit: {directory}/heap: another process has this index open");
        assert!(line.starts_with(&expected), "{line}");
    }
    writer.end();
    let run = spirit(&["count", "-d", &directory, "all"]);
    assert!(run.err.is_empty(), "{}", run.err);
    assert!(run.done().trim().parse::<u64>().unwrap() > 1000);
}

#[test]
fn every_answer_is_a_prefix_while_segments_come_and_go() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..3000));
    let look = |reader: &mut Reader<'_>| {
        newest_of_a_range(reader);
    };
    beside(&directory, look, || {
        for from in (3000..40_000).step_by(1000) {
            writer.add(numbered(from..from + 1000));
        }
    });
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    wait_until(|| newest_of_a_range(&mut reader).is_some_and(|newest| newest > 35_000));
    let dropped = reader.search_text("all", Search::newest(10_000)).unwrap().len() < 10_000;
    assert!(dropped, "nothing was dropped: the test is not what it says");
    writer.end();
}

#[test]
fn each_key_has_one_version_while_writers_are_killed() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "tsv");
    writer.add(replacing(0..4000));
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    wait_until(|| reader.count_text("all").unwrap() == KEYS);
    drop(reader);
    let mut writer = Some(writer);
    beside(&directory, check_versions, || {
        for round in 1..12 {
            let from = 4000 + round * 7;
            writer.as_mut().expect("there is one").add(replacing(from..from + 1500));
            // Some more are on their way when it is killed.
            let more: String = replacing(from + 1500..from + 2500).collect();
            let killed = writer.take().expect("there is one");
            killed.kill_while_it_takes(&more);
            writer = Some(Writer::start(&directory, "tsv"));
        }
    });
    writer.expect("there is one").kill();
    // Nobody writes now.
    check_versions(&mut follow(&directory).reader().unwrap());
}

#[test]
fn a_reader_that_is_killed_keeps_nothing() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..4000));
    let queries = folder.file("queries.txt", "all AND m3\n".repeat(200_000));
    for from in (4000..24_000).step_by(1000) {
        let args = ["count", "-d", &directory, "--queries", &queries];
        let mut reader =
            command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        writer.add(numbered(from..from + 500));
        // Most of its time it is inside a query.
        reader.kill().unwrap();
        reader.wait().unwrap();
        // More than the second tier has room for goes by in all, so this ends only if the place of old segments comes back.
        writer.add(numbered(from + 500..from + 1000));
    }
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    wait_until(|| newest_of_a_range(&mut reader).is_some_and(|newest| newest > 20_000));
    writer.end();
}
