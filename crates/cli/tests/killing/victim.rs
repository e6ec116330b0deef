//! A process that is fed documents and killed, or whose disk loses power.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::disk::Disk;
use crate::common::command;

const SIGKILL: i32 = 9;

/// When a process comes to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// So long after it was started.
    Start(Duration),
    /// So long after this many documents were acknowledged.
    Acknowledged(usize, Duration),
}

/// What a process comes to its end by.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    /// It is killed.
    Kill,
    /// Its disk loses power. After so long it is killed; if no time is given, it has to end on its own.
    PowerCut(&'a Disk, Option<Duration>),
}

/// What is known of a process that is no more.
pub(crate) struct Victim {
    /// Whether it came to its end by what was done to it; else it did before.
    pub(crate) hit: bool,
    /// The keys it acknowledged.
    pub(crate) acknowledged: Vec<String>,
    /// What it complained of.
    pub(crate) said: String,
}

/// How long a process may take to see that its disk has failed: hundreds of times what it needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `spirit` with `args`, feeds it `input`, and ends it. If it comes to its end before, that must be a good one.
pub(crate) fn run(args: &[&str], input: String, moment: Moment, end: End<'_>) -> Victim {
    let started = Instant::now();
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let stdout = child.stdout.take().unwrap();
    let (acknowledge, acknowledged) = channel();
    let feeder = thread::spawn(move || feed(stdin, &input));
    let reader = thread::spawn(move || read_acks(stdout, &acknowledge));
    wait_for(moment, started, &acknowledged);
    let hit = child.try_wait().unwrap().is_none();
    if let End::PowerCut(disk, delay) = end {
        disk.cut();
        match delay {
            Some(delay) => thread::sleep(delay),
            None => wait_for_end(&mut child),
        }
    }
    child.kill().unwrap();
    let (killed, said) = left(child, args, matches!(end, End::PowerCut(..)) && hit);
    feeder.join().unwrap();
    Victim { hit: killed || !said.is_empty(), acknowledged: reader.join().unwrap(), said }
}

fn wait_for_end(child: &mut Child) {
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < PATIENCE, "it does not see that its disk has failed");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The process reads to the end, or is killed: then nobody reads any more.
fn feed(mut stdin: ChildStdin, input: &str) {
    let _ = stdin.write_all(input.as_bytes());
}

fn read_acks(stdout: ChildStdout, acknowledge: &Sender<()>) -> Vec<String> {
    let mut acks = Vec::new();
    for line in BufReader::new(stdout).lines() {
        if let Some(key) = line.unwrap().strip_prefix("ack ") {
            acks.push(key.to_owned());
            // Nobody counts any more: it is being killed.
            let _ = acknowledge.send(());
        }
    }
    acks
}

fn wait_for(moment: Moment, started: Instant, acknowledged: &Receiver<()>) {
    match moment {
        Moment::Start(delay) => thread::sleep(delay.saturating_sub(started.elapsed())),
        Moment::Acknowledged(count, delay) => {
            // It may come to its end before.
            if (0..count).all(|_| acknowledged.recv().is_ok()) {
                let seen = Instant::now();
                while seen.elapsed() < delay {
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// Whether it was killed, and what it complained of, which only one may do whose disk `failed`.
fn left(mut child: Child, args: &[&str], failed: bool) -> (bool, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    // A process that drops the oldest says how many it dropped.
    let is_count = |line: &&str| line.contains(" documents were dropped, ");
    let said: String = said.lines().filter(|line| !is_count(line)).collect::<Vec<_>>().join("\n");
    let status = child.wait().unwrap();
    let killed = status.signal() == Some(SIGKILL);
    let complained = failed && status.code() == Some(1);
    assert!(status.success() || killed || complained, "{args:?}: {status}: {said}");
    assert!(said.is_empty() || failed, "{args:?}: {said}");
    assert!(said.lines().all(|line| line.starts_with("spirit: ")), "{args:?}: {said}");
    assert!(!complained || said.lines().count() == 1, "{args:?}: {said}");
    (killed, said)
}
