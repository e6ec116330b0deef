//! Retention by age: how long documents are kept, and by which clock.
//!
//! A segment expires when its newest document is older than the retention time. A segment takes no
//! more documents once a sixteenth of that time has passed since its first one. So no document is
//! kept for much longer.

use std::sync::Arc;

use spirit_index::ground::Position;
use spirit_index::memory::Memory;
use spirit_index::snapshot::{Segment, Snapshot};

use crate::config::clock::Clock;
use crate::config::options::Options;

/// The least number of segments in the retention time.
const SEGMENTS: u64 = 16;

/// The retention time and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Retention {
    age_ms: u64,
    clock: Arc<Clock>,
}

impl Retention {
    /// Returns the retention of `options`; none if documents are kept as long as there is room.
    pub(crate) fn new(options: &Options, clock: &Arc<Clock>) -> Option<Retention> {
        let age_ms = options.retain?.as_millis() as u64;
        Some(Retention { age_ms, clock: clock.clone() })
    }

    /// Returns the arrival at which, or before which, documents have expired, in milliseconds since
    /// 1970. Returns 0 if none can have.
    #[inline]
    pub(crate) fn over_ms(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.age_ms)
    }

    /// Returns the index's time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Advances the clock to `ms`, the arrival of documents that a start found.
    pub(crate) fn note_arrival(&self, ms: u64) {
        self.clock.note_arrival(ms);
    }

    /// True if the oldest segment in the window has expired.
    pub(crate) fn is_oldest_over(&self, memory: &Memory) -> bool {
        let window = memory.window();
        let over_ms = self.over_ms();
        over_ms > 0 && window.oldest < window.end && memory.arrived(window.oldest) <= over_ms
    }

    /// Returns how long a segment takes documents, in milliseconds.
    pub(crate) fn segment_ms(&self) -> u64 {
        (self.age_ms / SEGMENTS).max(1)
    }

    /// True if a document that arrives at `now_ms` needs another segment than one that began at
    /// `begun_ms`. Documents that have already expired may share a segment.
    pub(crate) fn ends_segment(&self, begun_ms: u64, now_ms: u64) -> bool {
        now_ms.saturating_sub(begun_ms) >= self.segment_ms() && now_ms > self.over_ms()
    }
}

/// Returns the number of living documents in the segments of `all` from `from` on that are not in
/// `left`.
pub(crate) fn living_between(from: Position, all: &Snapshot<'_>, left: &Snapshot<'_>) -> u64 {
    let is_out = |segment: &Segment<'_>| (from..left.oldest()).contains(&segment.id().position());
    let living = |segment: Segment<'_>| {
        u64::from(segment.rows()).saturating_sub(segment.descriptor().dead())
    };
    all.segments().filter(is_out).map(living).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::clock::ManualClock;

    #[test]
    fn a_segment_takes_documents_of_a_sixteenth_of_the_time_or_such_as_are_over() {
        let manual = ManualClock::new(10_000);
        let clock = Arc::new(Clock::at(10_000, Some(&manual)));
        let retention = Retention { age_ms: 1600, clock };
        assert_eq!((retention.over_ms(), retention.segment_ms()), (8400, 100));
        assert!(!retention.ends_segment(9950, 10_000) && retention.ends_segment(9900, 10_000));
        assert!(!retention.ends_segment(1000, 8400) && retention.ends_segment(1000, 8401));
    }
}
