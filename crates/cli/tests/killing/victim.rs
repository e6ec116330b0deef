//! A process that is fed documents and killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::command;

const SIGKILL: i32 = 9;

/// When a process is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// So long after it was started.
    Start(Duration),
    /// So long after so many documents were acknowledged.
    Acknowledged(usize, Duration),
}

/// What is known of a process that is no more.
pub(crate) struct Victim {
    /// Whether it was killed; else it came to its end before.
    pub(crate) killed: bool,
    /// The keys it acknowledged.
    pub(crate) acknowledged: Vec<String>,
}

/// Runs `spirit` with `args`, feeds it `input`, and kills it. If it comes to its end before, that must be a good one.
pub(crate) fn kill(args: &[&str], input: String, moment: Moment) -> Victim {
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
    child.kill().unwrap();
    let killed = end(child, args);
    feeder.join().unwrap();
    Victim { killed, acknowledged: reader.join().unwrap() }
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

/// Whether it was killed.
fn end(mut child: Child, args: &[&str]) -> bool {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(said, "", "{args:?}");
    assert!(status.success() || status.signal() == Some(SIGKILL), "{args:?}: {status}");
    !status.success()
}
