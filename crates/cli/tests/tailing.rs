//! `ingest --follow`: files are read as they grow, whatever happens to them.

mod common;

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use common::{Folder, Writer, spirit};

const MADE: [&str; 6] = ["--dram", "32MiB", "--segment", "256KiB", "--nvm", "256MiB"];
/// Longer than any step takes on a machine that is not standing still.
const PATIENCE: Duration = Duration::from_secs(60);

/// Logs, and an index that follows them.
struct Logs {
    folder: Folder,
    directory: String,
}

impl Logs {
    fn new() -> Logs {
        let folder = Folder::new();
        let directory = folder.path("index");
        Logs { folder, directory }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name)
    }

    fn append(&self, name: &str, text: &str) {
        self.folder.append(name, text);
    }

    fn follow(&self, names: &[&str], more: &[&str]) -> Writer {
        let files: Vec<String> = names.iter().map(|name| self.path(name)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let args = ["ingest", "-d", &self.directory, "--follow"];
        Writer::of(&[&args[..], &files[..], &MADE, more].concat())
    }

    fn count(&self, query: &str) -> u64 {
        let held = spirit(&["count", "-d", &self.directory, query]);
        // There is no index yet, or it is being made.
        if held.code == 0 { held.done().trim().parse().unwrap() } else { 0 }
    }

    /// Waits until this many documents match.
    fn wait_for(&self, query: &str, wanted: u64) {
        let start = Instant::now();
        loop {
            let found = self.count(query);
            if found == wanted {
                return;
            }
            assert!(found < wanted && start.elapsed() < PATIENCE, "{query}: {found}, not {wanted}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Interrupts it. Returns its summary.
fn interrupted(mut writer: Writer) -> serde_json::Value {
    writer.signal("INT");
    let mut summary = String::new();
    writer.acks.read_to_string(&mut summary).unwrap();
    assert_eq!(writer.child.wait().unwrap().code(), Some(130));
    serde_json::from_str(&summary).unwrap()
}

/// Lines were lost or came twice as reported of nxadm/tail 55, fluent-bit 375 and Vector 18341.
#[test]
fn lines_are_found_as_they_come_whatever_happens_to_the_file() {
    for more in [&[][..], &["--resume"]] {
        let logs = Logs::new();
        logs.append("a.log", "first one\nsecond\n");
        logs.append("b.jsonl", "");
        let writer = logs.follow(&["a.log", "b.jsonl"], more);
        logs.wait_for("*", 2);
        logs.append("b.jsonl", "{\"text\":\"of b\"}\n");
        logs.wait_for("*", 3);
        // A line that is being written waits for its end.
        logs.append("a.log", "third beg");
        logs.append("b.jsonl", "{\"text\":\"more of b\"}\n");
        logs.wait_for("*", 4);
        logs.append("a.log", "ins and ends\n");
        logs.wait_for("*", 5);
        assert_eq!((logs.count("beg"), logs.count("begins")), (0, 1));
        // Renamed. Its writer goes on for a moment, and the new one begins as the old one did.
        std::fs::rename(logs.path("a.log"), logs.path("a.log.1")).unwrap();
        logs.append("a.log.1", "late\n");
        logs.wait_for("late", 1);
        logs.append("a.log", "first one\n");
        logs.wait_for("first", 2);
        logs.append("a.log.1", "later\n");
        logs.wait_for("later", 1);
        // Copied and emptied, and the same line comes again.
        std::fs::copy(logs.path("a.log"), logs.path("a.log.2")).unwrap();
        File::create(logs.path("a.log")).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        logs.append("a.log", "first one\n");
        logs.wait_for("first", 3);
        // Emptied and filled in one moment: it is longer than before, and has other lines.
        std::fs::write(logs.path("a.log"), "another line that is longer\nand one\n").unwrap();
        logs.wait_for("another OR longer OR and", 2 + 1);
        // Removed, and made again later.
        std::fs::remove_file(logs.path("a.log")).unwrap();
        logs.append("b.jsonl", "{\"text\":\"last of b\"}\n");
        logs.wait_for("last", 1);
        logs.append("a.log", "after all\n");
        logs.wait_for("after", 1);
        let summary = interrupted(writer);
        assert_eq!(
            (summary["documents"].as_u64(), summary["refused"].as_u64()),
            (Some(13), Some(0))
        );
        assert_eq!(logs.count("*"), 13);
    }
}

#[test]
fn each_line_goes_in_exactly_once_however_often_it_is_killed() {
    let logs = Logs::new();
    let mut lines = 0;
    logs.append("a.log", "");
    for round in 0..12 {
        let mut writer = logs.follow(&["a.log"], &["--resume"]);
        for _ in 0..20 {
            // In two pieces: the second is the end of a line.
            logs.append("a.log", &format!("all own{lines}\nall own{}", lines + 1));
            std::thread::sleep(Duration::from_millis(3 + round));
            logs.append("a.log", "\n");
            lines += 2;
        }
        writer.child.kill().unwrap();
        writer.child.wait().unwrap();
        logs.append("a.log", &format!("all own{lines}\n"));
        lines += 1;
    }
    let writer = logs.follow(&["a.log"], &["--resume"]);
    logs.wait_for("all", lines);
    interrupted(writer);
    for own in 0..lines {
        assert_eq!(logs.count(&format!("own{own}")), 1, "own{own}");
    }
    // A run that does not follow goes on from there, too.
    logs.append("a.log", "all last\n");
    let args = ["ingest", "-d", &logs.directory, "--resume", &logs.path("a.log")];
    assert_eq!(spirit(&[&args[..], &MADE].concat()).json()[0]["documents"], 1);
}

#[test]
fn what_cannot_be_followed_says_why() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let file = folder.file("a.txt", "one\n");
    let follow = |files: &[&str]| {
        spirit(&[&["ingest", "-d", &directory, "--follow"], files, &MADE].concat())
    };
    let failed = follow(&["-"]).failed(2);
    assert!(failed.contains("- is no file; a pipe is read as it comes without"), "{failed}");
    let failed = follow(&[&folder.path("none.txt")]).failed(1);
    assert!(failed.contains("none.txt: No such file"), "{failed}");
    let run = follow(&[&file, "--queries", &file]);
    assert!(run.code == 2 && run.err.contains("'--follow' cannot be used with"), "{}", run.err);
}
