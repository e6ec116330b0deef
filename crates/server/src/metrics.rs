//! Figures for operators, in Prometheus' text form.
//!
//! A request adds to atomic counters and takes no lock. What the indexes know of themselves is read when
//! somebody asks.

mod histogram;
mod process;
mod requests;
mod text;

pub(crate) use histogram::Counted;
pub(crate) use requests::{Class, Requests};
pub(crate) use text::Text;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::log;

/// The figures of a server since its start.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) requests: Requests,
    started: Instant,
    started_at: f64,
}

impl Metrics {
    /// Begins to count.
    pub(crate) fn new() -> Metrics {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let started_at = now.map_or(0.0, |time| time.as_secs_f64());
        Metrics { requests: Requests::default(), started: Instant::now(), started_at }
    }

    /// Writes what is of no index.
    pub(crate) fn write(&self, text: &mut Text) {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        text.gauge(
            "spirit_build_info",
            "The version of the server; the value is 1",
            &[(&version, 1.0)],
        );
        let uptime = self.started.elapsed().as_secs_f64();
        text.gauge("spirit_uptime_seconds", "Time since the server started", &[(&[], uptime)]);
        let lost = log::lost() as f64;
        let help = "Lines of the log that were lost, as nobody read them in time";
        text.counter("spirit_log_lost_lines_total", help, &[(&[], lost)]);
        self.requests.write(text);
        process::write(text, self.started_at);
    }
}
