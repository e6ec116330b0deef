//! How far the work is, on standard error once a second.
//!
//! Plain text without colours or escapes: on a terminal each line is written over the last.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::load::Read;
use crate::output::{grouped, rate};
use crate::totals::Totals;

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    wanted: bool,
    terminal: bool,
    started: Instant,
    next: Instant,
    /// How much there is to read, if that is known.
    read: Option<Read>,
}

impl Progress {
    /// Shown if `forced`, or if somebody watches.
    pub(crate) fn new(forced: bool) -> Progress {
        let terminal = io::stderr().is_terminal();
        let started = Instant::now();
        let wanted = forced || terminal;
        Progress { wanted, terminal, started, next: started + PERIOD, read: None }
    }

    /// Shows also how much is left of what is to be read.
    pub(crate) fn of(self, read: Read) -> Progress {
        Progress { read: Some(read), ..self }
    }

    /// Nothing is ever shown.
    pub(crate) fn silent() -> Progress {
        Progress { wanted: false, ..Progress::new(false) }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows `totals` if it is time.
    pub(crate) fn tick(&mut self, totals: &Totals) {
        if self.wanted && Instant::now() >= self.next {
            self.next = Instant::now() + PERIOD;
            self.show(totals);
        }
    }

    /// Shows the last state.
    pub(crate) fn finish(&self, totals: &Totals) {
        if self.wanted {
            self.show(totals);
            if self.terminal {
                let _ = writeln!(io::stderr().lock());
            }
        }
    }

    fn show(&self, totals: &Totals) {
        let time = self.elapsed();
        let line = format!(
            "{} documents, {} documents/s, {:.1} MB/s{}",
            grouped(totals.documents),
            grouped(rate(totals.documents, time) as u64),
            rate(totals.bytes, time) / 1e6,
            self.left(time)
        );
        write_over(&line, self.terminal);
    }

    /// How much is read, and the time that the rest will take.
    fn left(&self, time: Duration) -> String {
        let Some(Read { read, bytes }) = &self.read else { return String::new() };
        let bytes = bytes.load(Relaxed);
        let read = read.load(Relaxed).min(bytes);
        let percent = read * 100 / bytes.max(1);
        let seconds = (time.as_secs_f64() * (bytes - read) as f64 / read.max(1) as f64) as u64;
        match (read, seconds) {
            (0, _) => String::new(),
            (_, 0) => format!(", {percent} % read"),
            _ => format!(", {percent} % read, {} left", clock(seconds)),
        }
    }
}

/// A time as minutes and seconds, with hours if there are any.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Shows a line; on a terminal in place of the last one.
fn write_over(line: &str, terminal: bool) {
    let mut error = io::stderr().lock();
    // If standard error is closed there is nobody left to tell.
    let _ = match terminal {
        true => write!(error, "\r{line:<72}").and_then(|()| error.flush()),
        false => writeln!(error, "{line}"),
    };
}

/// How much of a known number of bytes is done.
pub(crate) struct BytesProgress {
    wanted: bool,
    terminal: bool,
    next: Instant,
    /// What is done to them.
    done: &'static str,
    shown: bool,
}

impl BytesProgress {
    /// Shown if `forced`, or if somebody watches.
    pub(crate) fn new(forced: bool, done: &'static str) -> BytesProgress {
        let terminal = io::stderr().is_terminal();
        let next = Instant::now() + PERIOD;
        BytesProgress { wanted: forced || terminal, terminal, next, done, shown: false }
    }

    /// Shows how much is done if it is time, or if it is all.
    pub(crate) fn tick(&mut self, done: u64, total: u64) {
        if self.wanted && (Instant::now() >= self.next || done == total) {
            self.next = Instant::now() + PERIOD;
            self.shown = true;
            let percent = done * 100 / total.max(1);
            let line = format!("{:.1} of {:.1} MB {}, {percent} %", mb(done), mb(total), self.done);
            write_over(&line, self.terminal);
        }
    }

    /// Nothing more is shown.
    pub(crate) fn finish(&self) {
        if self.shown && self.terminal {
            let _ = writeln!(io::stderr().lock());
        }
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
