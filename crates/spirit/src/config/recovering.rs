//! Progress and report of a start.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The progress of a start. An executor replays the operations of its log that no segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovering {
    /// The number of the current executor. Those before it are done.
    pub executor: usize,
    /// The number of executors.
    pub executors: usize,
    /// The number of bytes of this executor's log that were replayed.
    pub done: u64,
    /// The number of bytes in this executor's log to replay.
    pub bytes: u64,
}

impl Recovering {
    /// Returns the progress of the whole start, in percent.
    pub fn percent(&self) -> u8 {
        let part = self.done as f64 / self.bytes.max(1) as f64;
        ((self.executor as f64 + part) * 100.0 / self.executors.max(1) as f64) as u8
    }
}

/// The report of a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartReport {
    /// The number of segments in the second tier.
    pub segments: u64,
    /// The number of operations in the log that no segment had, and that were replayed.
    pub replayed: u64,
    /// The number of bytes of the log that were read for that.
    pub log_bytes: u64,
    /// The number of documents that retention had dropped, or that had become too old to be found.
    pub expired: u64,
    /// The bytes of DRAM beyond [`dram_bytes`](crate::Builder::dram_bytes) that the replay needed:
    /// on a full disk, or for a large document.
    pub dram_beyond: u64,
    /// The time until documents could be added.
    pub time: Duration,
}

impl StartReport {
    pub(crate) fn add(&mut self, other: StartReport) {
        self.segments += other.segments;
        self.replayed += other.replayed;
        self.log_bytes += other.log_bytes;
        self.expired += other.expired;
    }
}

/// The callback for the progress of a start.
#[derive(Clone)]
pub(crate) struct Watcher(Arc<dyn Fn(Recovering) + Send + Sync>);

impl Watcher {
    pub(crate) fn new(watch: impl Fn(Recovering) + Send + Sync + 'static) -> Watcher {
        Watcher(Arc::new(watch))
    }

    pub(crate) fn tell(&self, recovering: Recovering) {
        (self.0)(recovering);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_counts_all_executors() {
        let at = |executor, done| Recovering { executor, executors: 4, done, bytes: 50 }.percent();
        assert_eq!([at(0, 0), at(0, 25), at(1, 0), at(3, 50)], [0, 12, 25, 100]);
        assert_eq!(Recovering { executor: 0, executors: 1, done: 0, bytes: 0 }.percent(), 0);
    }
}
