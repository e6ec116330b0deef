//! Runs the real binary on files of a test's own.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A number that says how long a test goes on, if the environment has it.
pub(crate) fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect(variable))
}

/// A folder that goes when the test ends, and stays if it fails.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder::within(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    pub(crate) fn within(base: &Path) -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("spirit-cli-{}-{number}", std::process::id());
        let path = base.join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file; gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        self.path(name)
    }

    /// Adds text to the end of a file. Makes the file if it does not exist.
    pub(crate) fn append(&self, name: &str, text: &str) {
        let file = std::fs::File::options().create(true).append(true).open(self.path(name));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what the test left is in {}", self.0.display());
        } else {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// What a run left.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        Run {
            code: output.status.code().expect("an exit code, not a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output, after a success.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// The JSON objects of standard output, after a success.
    #[track_caller]
    pub(crate) fn json(self) -> Vec<Value> {
        self.done().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The JSON objects of standard output, where documents were refused.
    #[track_caller]
    pub(crate) fn refused(self) -> Vec<Value> {
        assert_eq!(self.code, 3, "{}", self.err);
        Run { code: 0, ..self }.json()
    }

    /// Standard error, after a failure: one line, from `spirit`.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        let lines: Vec<_> = self.err.lines().filter(|line| line.starts_with("spirit: ")).collect();
        assert_eq!(lines.len(), 1, "{}", self.err);
        lines[0].to_owned()
    }
}

pub(crate) fn spirit(args: &[&str]) -> Run {
    Run::of(command(args).stdin(Stdio::null()).output().unwrap())
}

pub(crate) fn spirit_fed(args: &[&str], input: &[u8]) -> Run {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who refuses at once does not read it.
    let _ = child.stdin.take().unwrap().write_all(input);
    Run::of(child.wait_with_output().unwrap())
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirit"));
    command.args(args);
    command
}

/// `ingest --mode volatile` with more arguments.
pub(crate) fn ingest(args: &[&str]) -> Run {
    spirit(&[&["ingest", "--mode", "volatile"], args].concat())
}

/// `ingest -d directory` with more arguments, fed from standard input.
pub(crate) fn ingest_into(directory: &str, args: &[&str], input: &str) -> Run {
    spirit_fed(&[&["ingest", "-d", directory], args, &["-"]].concat(), input.as_bytes())
}

/// The keys of an answer.
pub(crate) fn keys(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["key"].as_str().unwrap()).collect()
}

/// An ingest that waits for its input.
pub(crate) struct Writer {
    pub(crate) child: Child,
    pub(crate) acks: BufReader<ChildStdout>,
}

impl Writer {
    pub(crate) fn start(directory: &str, more: &[&str]) -> Writer {
        Writer::of(&[&["ingest", "-d", directory, "--ack", "-"], more].concat())
    }

    pub(crate) fn of(args: &[&str]) -> Writer {
        let mut child = command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let acks = BufReader::new(child.stdout.take().unwrap());
        Writer { child, acks }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Adds a document, and waits until it is in.
    pub(crate) fn add(&mut self, line: &str) {
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let mut ack = String::new();
        self.acks.read_line(&mut ack).unwrap();
        assert!(ack.starts_with("ack "), "{ack}");
    }
}

/// Sends a process the signal of this name.
pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}
