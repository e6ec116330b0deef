//! Reading an index while another process writes it: commands that ask, and processes that keep it open, beside an `ingest`
//! whose second tier is so small that the place of old segments is taken all the time. Either side is killed, or stopped.

mod common;
#[path = "../../spirit/tests/support/following.rs"]
mod following;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use common::{Folder, command, number_of, signal, spirit};
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
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
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

    /// Ends it; says what it said.
    fn end(self) -> String {
        let Writer { child, input, acks } = self;
        drop(input);
        drop(acks);
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success());
        String::from_utf8_lossy(&ended.stderr).into_owned()
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
fn newest_of_a_range(reader: &mut Reader) -> Option<u64> {
    let found = reader.search("all", Search::newest(10_000)).unwrap().keys().unwrap();
    let all: Vec<u64> = found.iter().map(|key| key.parse().unwrap()).collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1] + 1), "{all:?}");
    let found = reader.search("all AND m3", Search::newest(10_000)).unwrap().keys().unwrap();
    let of_seven: Vec<u64> = found.iter().map(|key| key.parse().unwrap()).collect();
    assert!(of_seven.windows(2).all(|pair| pair[0] == pair[1] + 7), "{of_seven:?}");
    assert!(of_seven.iter().all(|n| n % 7 == 3), "{of_seven:?}");
    all.first().copied()
}

/// Each key has one version, and the versions are the last ones of a prefix.
fn check_versions(reader: &mut Reader) {
    loop {
        let found = reader.search("all", Search::newest(10_000)).unwrap();
        // A writer that has started meanwhile takes them away.
        let (Ok(keys), Ok(sequences)) =
            (found.keys(), found.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>())
        else {
            continue;
        };
        let distinct = keys.iter().collect::<HashSet<_>>().len();
        assert_eq!((distinct, keys.len() as u64), (keys.len(), KEYS), "{keys:?} {sequences:?}");
        break;
    }
    assert_eq!(reader.count("all").unwrap(), KEYS);
    for key in ["k0", "k7"] {
        assert_eq!(reader.count(&format!("key:{key}")).unwrap(), 1);
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
fn beside(directory: &str, look: impl Fn(&mut Reader) + Sync, work: impl FnOnce()) {
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
                }
            });
        }
        work();
    });
}

#[test]
fn commands_that_ask_find_what_was_acknowledged() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    let ask = |args: &[&str]| {
        let run = spirit(&[args, &["-d", &directory]].concat());
        assert!(run.err.is_empty(), "{}", run.err);
        run
    };
    let count = || ask(&["count", "x0 OR all"]).done().trim().parse::<u64>().unwrap();
    for end in 1..20 {
        writer.add(numbered(end - 1..end));
        assert_eq!(count(), end);
    }
    writer.add(numbered(19..3000));
    let answer = ask(&["search", "--json", "-k", "3", "all"]).json().remove(0);
    assert_eq!(answer["hits"][0]["key"], "2999", "{answer}");
    assert!(answer["sequence"].as_u64().unwrap() >= 3000, "{answer}");
    let stats: Value = ask(&["stats", "--json"]).json().remove(0);
    assert_eq!(stats["documents"]["accepted"], 3000, "{stats}");
    assert!(stats["sequence"].as_u64().unwrap() >= 3000, "{stats}");
    assert_eq!(stats["mode"], "crash");
    for args in [&["ingest", "-d", &directory, "/dev/null"][..], &["delete", "-d", &directory, "0"]]
    {
        let line = spirit(args).failed(1);
        let expected = format!("spirit: {directory}/heap: another process has this index open");
        assert!(line.starts_with(&expected), "{line}");
    }
    writer.end();
    assert_eq!(ask(&["search", "--json", "-k", "1", "all"]).json()[0]["hits"][0]["key"], "2999");
}

/// A process that has read an acknowledgement finds the document with its next query.
#[test]
fn every_answer_has_what_was_acknowledged_while_segments_come_and_go() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..3000));
    // Written in groups while another thread asks, then one by one, each asked for as soon as it is acknowledged.
    let (documents, alone) = (60_000, number_of("SPIRIT_READ_YOUR_WRITES").unwrap_or(2_000));
    let acknowledged = AtomicU64::new(3000);
    let look = |reader: &mut Reader| {
        let before = acknowledged.load(Acquire);
        let newest = newest_of_a_range(reader).expect("there are some");
        assert!(newest + 1 >= before, "{newest} where {before} were acknowledged");
    };
    beside(&directory, look, || {
        for from in (3000..documents).step_by(50) {
            writer.add(numbered(from..from + 50));
            acknowledged.store(from + 50, Release);
        }
    });
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    for number in acknowledged.load(Relaxed)..acknowledged.load(Relaxed) + alone {
        writer.add(numbered(number..number + 1));
        assert_eq!(newest_of_a_range(&mut reader), Some(number));
    }
    let left = reader.count("all").unwrap();
    let all = documents + alone;
    assert!(left < all, "{left} are left, nothing was dropped: the test is not what it says");
    writer.end();
}

/// A writer of an index, and a file of queries that take seconds.
fn writer_and_long_queries(folder: &Folder) -> (Writer, String, String) {
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..4000));
    let queries = folder.file("queries.txt", "all AND m3\n".repeat(200_000));
    (writer, directory, queries)
}

/// A process that is stopped in the middle of a query keeps the writer waiting for a bounded time. What it answers when
/// it goes on is right.
#[test]
fn a_reader_that_is_stopped_is_let_go_of() {
    let folder = Folder::new();
    let (mut writer, directory, queries) = writer_and_long_queries(&folder);
    let mut next = 4000;
    // Most of its time it is inside a query, but it may be stopped between two: then nobody waits.
    let named = (0..20).find_map(|attempt| {
        let answers = folder.path(&format!("answers{attempt}"));
        let args = ["count", "-d", &directory, "--queries", &queries];
        let file = std::fs::File::create(&answers).unwrap();
        let mut reader = command(&args).stdout(file).spawn().unwrap();
        wait_until(|| std::fs::metadata(&answers).unwrap().len() > 0);
        signal(&reader, "STOP");
        let begun = Instant::now();
        // Ingest more documents than the index has room for.
        (next..next + 36_000).step_by(500).for_each(|n| writer.add(numbered(n..n + 500)));
        next += 36_000;
        let has_waited = begun.elapsed() > Duration::from_secs(20);
        signal(&reader, "CONT");
        assert!(reader.wait().unwrap().success());
        let counts = std::fs::read_to_string(&answers).unwrap();
        let counts: Vec<u64> = counts.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(counts.len(), 200_000);
        let all_are_right = counts.iter().all(|count| (100..10_000).contains(count));
        assert!(all_are_right, "{:?}", counts.iter().min());
        has_waited.then(|| format!("waiting for process {}", reader.id()))
    });
    let named = named.expect("one of them was stopped in the middle of a query");
    let said = writer.end();
    assert!(said.contains(&named), "{said}");
}

/// Seen through a mount that cannot be written, in another mount namespace.
#[test]
fn a_read_only_view_of_the_directory_is_enough() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "lines");
    writer.add(numbered(0..100));
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && ! touch \"$1/x\" 2>/dev/null \
        && \"$2\" count -d \"$1\" all";
    let elsewhere = |expected: &str| {
        let run = std::process::Command::new("unshare")
            .args(["-m", "sh", "-c", script, "sh", &directory, env!("CARGO_BIN_EXE_spirit")])
            .output();
        match run {
            Ok(run) if run.status.success() => {
                assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), expected);
            }
            other => println!("NOT MEASURED: no mount namespace can be made here: {other:?}"),
        }
    };
    elsewhere("100");
    writer.add(numbered(100..101));
    elsewhere("101");
    writer.end();
    elsewhere("101");
}

#[test]
fn each_key_has_one_version_while_writers_are_killed() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let mut writer = Writer::start(&directory, "tsv");
    writer.add(replacing(0..4000));
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    wait_until(|| reader.count("all").unwrap() == KEYS);
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
    let (mut writer, directory, queries) = writer_and_long_queries(&folder);
    for from in (4000..24_000).step_by(1000) {
        let args = ["count", "-d", &directory, "--queries", &queries];
        let mut reader =
            command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        writer.add(numbered(from..from + 500));
        // Most of its time it is inside a query.
        reader.kill().unwrap();
        reader.wait().unwrap();
        // The whole stream is larger than the second tier, so this ends only if the place of old segments comes back.
        writer.add(numbered(from + 500..from + 1000));
    }
    let follower = follow(&directory);
    let mut reader = follower.reader().unwrap();
    wait_until(|| newest_of_a_range(&mut reader).is_some_and(|newest| newest > 20_000));
    writer.end();
}
