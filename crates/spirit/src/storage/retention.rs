//! Retention by age: how long documents are kept, and by which clock.
//!
//! A segment is over when its newest document has been there for the time. So that a document is not kept for much longer than that,
//! a segment takes no more documents when a sixteenth of the time has passed since its first one.

use std::sync::Arc;

use spirit_index::ground::ids::Position;
use spirit_index::memory::Memory;
use spirit_index::snapshot::{Segment, Snapshot};

use crate::config::clock::Clock;
use crate::config::options::Options;

/// Segments in the time that documents are kept, at least.
const SEGMENTS: u64 = 16;

/// How long documents are kept.
#[derive(Clone, Debug)]
pub(crate) struct Retention {
    age_ms: u64,
    clock: Arc<Clock>,
}

impl Retention {
    /// None if documents are kept for as long as there is room.
    pub(crate) fn new(options: &Options, clock: &Arc<Clock>) -> Option<Retention> {
        let age_ms = options.retain?.as_millis() as u64;
        Some(Retention { age_ms, clock: clock.clone() })
    }

    /// Documents that arrived at this time or before are over; 0: none can be.
    #[inline]
    pub(crate) fn over_ms(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.age_ms)
    }

    /// The time now.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Documents that a start found arrived at `ms`.
    pub(crate) fn note_arrival(&self, ms: u64) {
        self.clock.note_arrival(ms);
    }

    /// True if the oldest segment in the window is to go.
    pub(crate) fn is_oldest_over(&self, memory: &Memory) -> bool {
        let window = memory.window();
        let over_ms = self.over_ms();
        over_ms > 0 && window.oldest < window.end && memory.arrived(window.oldest) <= over_ms
    }

    /// How long a segment takes documents.
    pub(crate) fn segment_ms(&self) -> u64 {
        (self.age_ms / SEGMENTS).max(1)
    }

    /// True if a document that arrives at `now_ms` needs another segment than one whose first arrived at `begun_ms`. Documents
    /// that are over already may share a segment.
    pub(crate) fn ends_segment(&self, begun_ms: u64, now_ms: u64) -> bool {
        now_ms.saturating_sub(begun_ms) >= self.segment_ms() && now_ms > self.over_ms()
    }
}

/// Documents that live in the segments of `all` that are at `from` or behind it, and that `left` leaves out.
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
