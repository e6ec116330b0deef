//! How far a start is, and what it did: for anyone who waits for it, and for anyone who asks afterwards.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A start under way: an executor ingests again what no segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovering {
    /// The executor; those before it are done.
    pub executor: usize,
    /// How many there are.
    pub executors: usize,
    /// Bytes of its log that were ingested.
    pub done: u64,
    /// Bytes of its log.
    pub bytes: u64,
}

impl Recovering {
    /// How much of the whole start is done, in percent.
    pub fn percent(&self) -> u8 {
        let part = self.done as f64 / self.bytes.max(1) as f64;
        ((self.executor as f64 + part) * 100.0 / self.executors.max(1) as f64) as u8
    }
}

/// What a start found, and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartReport {
    /// Segments in the second tier.
    pub segments: u64,
    /// Operations in the log that no segment had, and that were done again.
    pub replayed: u64,
    /// Bytes of the log that were read for it.
    pub log_bytes: u64,
    /// Documents that retention had dropped before, or that had become too old to be found.
    pub expired: u64,
    /// Bytes of DRAM beyond the option: the replayed log needs them, on a full disk or for a large document.
    pub dram_beyond: u64,
    /// How long all of it took, until documents could be added.
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
