//! Retention by age: when the documents of each segment arrived, and which segment is to go.
//!
//! A segment goes when its last document has been there for the time; so that the others go soon after theirs, a segment is
//! ended when a sixteenth of the time has passed since its first document, however little is in it.

use std::collections::VecDeque;

use spirit_index::descriptor::Position;
use spirit_index::memory::Memory;
use spirit_index::nvm::slot::Slots;

use crate::options::Options;

/// A segment covers one in so many of the time that documents are kept.
const SEGMENTS: u64 = 16;

/// When the last documents of segments arrived.
#[derive(Debug)]
pub(crate) struct Arrivals {
    age_ms: u64,
    /// Oldest first, in milliseconds since 1970.
    segments: VecDeque<(Position, u64)>,
}

impl Arrivals {
    /// Those of the segments that a start found, if documents are kept for a time.
    pub(crate) fn new(options: &Options, memory: &Memory) -> Option<Arrivals> {
        let age_ms = options.retain?.as_millis() as u64;
        let window = memory.window();
        let arrived = |position| {
            let slots = Slots::new(memory.region(), memory.nvm()?.layout());
            slots.entry(position).ok().map(|entry| (position, entry.arrived_ms))
        };
        let segments = (window.oldest..window.end).filter_map(arrived).collect();
        Some(Arrivals { age_ms, segments })
    }

    /// A segment is full, and its last document arrived at `ms`.
    pub(crate) fn push(&mut self, position: Position, ms: u64) {
        self.segments.push_back((position, ms));
    }

    /// Whether the segment at `oldest` is to go at `now_ms`.
    pub(crate) fn is_over(&mut self, oldest: Position, now_ms: u64) -> bool {
        while self.segments.pop_front_if(|(position, _)| *position < oldest).is_some() {}
        let first = self.segments.front();
        first.is_some_and(|(at, ms)| *at == oldest && ms.saturating_add(self.age_ms) <= now_ms)
    }

    /// How old the first document of a segment is at most when the segment is ended.
    pub(crate) fn segment_ms(&self) -> u64 {
        (self.age_ms / SEGMENTS).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_over_when_its_time_has_passed() {
        let segments = VecDeque::from([(3, 100), (4, 200)]);
        let mut arrivals = Arrivals { age_ms: 50, segments };
        assert!(!arrivals.is_over(3, 149) && arrivals.is_over(3, 150));
        // It went; so did a clock that was set back.
        assert!(!arrivals.is_over(4, 150) && !arrivals.is_over(4, 90));
        arrivals.push(5, 201);
        // 4 was dropped for want of room, and nothing is known of what a rewrite put in the place of 6.
        assert!(!arrivals.is_over(5, 250) && arrivals.is_over(5, 251) && !arrivals.is_over(6, 900));
    }
}
