//! How far the work is, on standard error once a second.
//!
//! Plain text without colours or escapes: on a terminal each line is written over the last.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::load::Totals;
use crate::output::{grouped, rate};

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    wanted: bool,
    terminal: bool,
    started: Instant,
    next: Instant,
}

impl Progress {
    /// Shown if `forced`, or if somebody watches.
    pub(crate) fn new(forced: bool) -> Progress {
        let terminal = io::stderr().is_terminal();
        let started = Instant::now();
        Progress { wanted: forced || terminal, terminal, started, next: started + PERIOD }
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
            "{} documents, {} documents/s, {:.1} MB/s",
            grouped(totals.documents),
            grouped(rate(totals.documents, time) as u64),
            rate(totals.bytes, time) / 1e6
        );
        let mut error = io::stderr().lock();
        let _ = match self.terminal {
            true => write!(error, "\r{line:<72}").and_then(|()| error.flush()),
            false => writeln!(error, "{line}"),
        };
    }
}
