//! Arrivals of an executor's documents, if documents are kept for a time.

use spirit_index::ground::Position;
use spirit_index::memory::Memory;

use crate::storage::retention::Retention;

/// The arrivals of the segment being filled, and of those before it, in milliseconds since 1970.
pub(crate) struct Arrivals {
    retention: Retention,
    /// The arrival of the newest document.
    newest_ms: u64,
    /// The arrival of the first document in the segment being filled.
    begun_ms: Option<u64>,
    /// The arrival of documents that are replayed.
    replayed_ms: Option<u64>,
}

impl Arrivals {
    /// Returns the arrivals of an executor whose newest document arrived at `newest_ms`.
    pub(super) fn new(retention: &Retention, newest_ms: u64) -> Arrivals {
        let retention = retention.clone();
        Arrivals { retention, newest_ms, begun_ms: None, replayed_ms: None }
    }

    /// Sets the arrival of later documents; none: the time of their append.
    pub(super) fn replay(&mut self, ms: Option<u64>) {
        self.replayed_ms = ms;
    }

    /// Returns the arrival of a document that is appended now. It never falls.
    pub(super) fn now_ms(&self) -> u64 {
        self.replayed_ms.unwrap_or_else(|| self.retention.now_ms()).max(self.newest_ms)
    }

    /// Returns the arrival of the newest document.
    pub(super) fn newest_ms(&self) -> u64 {
        self.newest_ms
    }

    /// True if a document that arrives now needs another segment.
    pub(super) fn end_segment(&self) -> bool {
        self.begun_ms.is_some_and(|begun| self.retention.ends_segment(begun, self.now_ms()))
    }

    /// Begins the segment at `position`.
    pub(super) fn begin_segment(&mut self, memory: &Memory, position: Position) {
        self.begun_ms = None;
        memory.set_arrived(position, self.newest_ms);
    }

    /// Notes that documents of the segment at `position`, not visible yet, arrived at `ms`.
    pub(super) fn note(&mut self, memory: &Memory, position: Position, ms: u64) {
        self.newest_ms = ms;
        self.begun_ms.get_or_insert(ms);
        memory.set_arrived(position, ms);
    }
}
