//! The report of a start, and the callback for its progress.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::progress::Progress;

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
pub(crate) struct Watcher(Arc<dyn Fn(Progress) + Send + Sync>);

impl Watcher {
    pub(crate) fn new(watch: impl Fn(Progress) + Send + Sync + 'static) -> Watcher {
        Watcher(Arc::new(watch))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}
