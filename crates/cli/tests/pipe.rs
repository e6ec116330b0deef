//! Input that trickles in through a pipe: each line is in the index as soon as it was read, with every option.

mod common;

use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{Folder, signal, spirit};

const SMALL: [&str; 6] = ["--dram", "8MiB", "--segment", "128KiB", "--nvm", "32MiB"];
/// Long after a line was written, and long before the next.
const SOON: Duration = Duration::from_millis(250);

/// Starts it so that no signal is ignored, though these tests may run under `nohup`.
fn start(args: &[&str]) -> Child {
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_spirit")]).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn count(directory: &str, query: &str) -> String {
    spirit(&["count", "-d", directory, "--dram", "8MiB", query]).done()
}

/// Waits until the index is made, so that what is written then is read at once.
fn wait_for(directory: &str) {
    while !std::path::Path::new(directory).join("heap").exists() {
        sleep(Duration::from_millis(5));
    }
    sleep(SOON);
}

/// Writes line after line, kills the process a moment after the last, and counts what is there.
fn check_killed(directory: &str, mut child: Child, mut input: impl Write, lines: &[&[u8]]) {
    wait_for(directory);
    for line in lines {
        input.write_all(line).unwrap();
        input.flush().unwrap();
        sleep(Duration::from_millis(20));
    }
    sleep(SOON);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(count(directory, "red"), format!("{}\n", lines.len()));
}

#[test]
fn lines_that_trickle_in_are_kept_at_once() {
    let folder = Folder::new();
    let text: [&[u8]; 5] = [b"red 1\n", b"red 2\n", b"red 3\n", b"red 4\n", b"red 5\n"];
    for (name, more) in
        [("plain", &[][..]), ("strict", &["--strict"]), ("os", &["--durability", "os"])]
    {
        let directory = folder.path(name);
        let mut child = start(&[&["ingest", "-d", &directory, "-"], &SMALL[..], more].concat());
        let input = child.stdin.take().unwrap();
        check_killed(&directory, child, input, &text);
    }
    let objects: [&[u8]; 2] =
        [b"{\"text\": \"red\", \"n\": 1}\n", b"{\"text\": \"red\", \"n\": 2}\n"];
    let directory = folder.path("objects");
    let jsonl = ["ingest", "-d", &directory, "--format", "jsonl", "-"];
    let mut child = start(&[&jsonl[..], &SMALL].concat());
    let input = child.stdin.take().unwrap();
    check_killed(&directory, child, input, &objects);
}

/// A pipe that has a name, of compressed lines too.
#[test]
fn lines_that_trickle_in_by_a_named_pipe_are_kept_at_once() {
    let folder = Folder::new();
    for name in ["lines.txt", "lines.txt.zst"] {
        let (directory, pipe) = (folder.path(&format!("index-{name}")), folder.path(name));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let child = start(&[&["ingest", "-d", &directory, &pipe], &SMALL[..]].concat());
        let plain: [&[u8]; 3] = [b"red 1\n", b"red 2\n", b"red 3\n"];
        let compressed = plain.map(|line| zstd::encode_all(line, 0).unwrap());
        let lines = match name.ends_with("zst") {
            true => compressed.each_ref().map(Vec::as_slice),
            false => plain,
        };
        let input = File::options().write(true).open(&pipe).unwrap();
        check_killed(&directory, child, input, &lines);
    }
}

#[test]
fn who_waits_for_a_pipe_ends_at_the_first_signal() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // Nobody ever opens the one, and nothing comes from the other.
        for input in [&pipe, "-"] {
            let directory = folder.path(&format!("{name}-{}", input.len()));
            let mut child = start(&[&["ingest", "-d", &directory, input], &SMALL[..]].concat());
            wait_for(&directory);
            signal(&child, name);
            assert_eq!(child.wait().unwrap().code(), Some(code), "{name} {input}");
            let report = spirit(&["check", "-d", &directory]).done();
            assert!(report.ends_with(": sound\n"), "{report}");
        }
    }
}

/// As `nohup` starts it.
#[test]
fn who_is_not_to_mind_a_hangup_goes_on() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let spirit = env!("CARGO_BIN_EXE_spirit");
    let shell = format!("trap '' HUP; exec {spirit} ingest -d {directory} {} -", SMALL.join(" "));
    let mut child = Command::new("sh").args(["-c", &shell]).stdin(Stdio::piped()).spawn().unwrap();
    wait_for(&directory);
    signal(&child, "HUP");
    sleep(SOON);
    child.stdin.take().unwrap().write_all(b"red\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(count(&directory, "red"), "1\n");
}
