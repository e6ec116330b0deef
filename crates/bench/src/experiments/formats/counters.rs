//! What the processor counts, by way of the program `perf`.
//!
//! `perf stat` attaches itself to this process and is interrupted at the end; its rows are separated by commas. Virtual machines seldom have
//! counters: then the reason is printed, and nothing is measured.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::Fallible;

const EVENTS: &str = "instructions,cycles,LLC-load-misses,branch-misses";
/// By then it is attached.
const ATTACHING: Duration = Duration::from_millis(300);

/// Counting, until it is stopped.
pub(super) struct Counters(Child);

impl Counters {
    /// Counts from now on; the error says why that cannot be.
    pub(super) fn start() -> Result<Counters, String> {
        let probe = Command::new("perf").args(["stat", "-x,", "-e", EVENTS, "true"]).output();
        let probe = probe.map_err(|error| format!("perf does not start: {error}"))?;
        if !probe.status.success() {
            let said = String::from_utf8_lossy(&probe.stderr);
            return Err(format!("perf: {}", said.lines().next().unwrap_or("refused")));
        }
        if counts(&String::from_utf8_lossy(&probe.stderr)).is_empty() {
            return Err(format!("this machine counts none of {EVENTS}"));
        }
        let process = std::process::id().to_string();
        let perf = Command::new("perf")
            .args(["stat", "-x,", "-e", EVENTS, "-p", &process])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        thread::sleep(ATTACHING);
        Ok(Counters(perf))
    }

    /// The events and how many of each there were.
    pub(super) fn stop(self) -> Fallible<Vec<(String, f64)>> {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, Signal::INT)?;
        let output = self.0.wait_with_output()?;
        Ok(counts(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// The rows with a number: `123,,instructions,...`.
fn counts(rows: &str) -> Vec<(String, f64)> {
    let row = |row: &str| {
        let mut cells = row.split(',');
        let count = cells.next()?.parse().ok()?;
        Some((cells.nth(1)?.to_owned(), count))
    };
    rows.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_number_are_left_out() {
        let rows = "# started\n12345,,instructions,100,100.00,1.2,insn per cycle\n\
            <not supported>,,cycles,0,100.00,,\n7,,LLC-load-misses,100,100.00,,\n";
        let expected = [("instructions".to_owned(), 12345.0), ("LLC-load-misses".to_owned(), 7.0)];
        assert_eq!(counts(rows), expected);
    }
}
