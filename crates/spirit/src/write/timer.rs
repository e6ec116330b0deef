//! Timers of the ingest role's work.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit_index::ground::Gauge;

use crate::storage::shared::Shared;

/// One piece of work in this number is timed if it is as short as a document's. Two looks at the clock
/// would take a twentieth of it.
const EVERY: u32 = 32;

/// A timer of a piece of work, without its waits for room.
pub(crate) struct Timer {
    begun: Instant,
    /// The nanoseconds that the role had waited before. Nobody else adds to them.
    waited: u64,
    /// The number of pieces that this one stands for.
    pieces: u32,
}

impl Timer {
    /// Begins to time a long piece of work.
    pub(crate) fn begin(shared: &Shared) -> Timer {
        Timer { begun: Instant::now(), waited: waited(shared), pieces: 1 }
    }

    /// Counts the time.
    pub(crate) fn end(self, shared: &Shared) {
        let Timer { begun, waited: before, pieces } = self;
        let waits = Duration::from_nanos(waited(shared) - before);
        shared.add_time(Gauge::WrittenTime, begun.elapsed().saturating_sub(waits) * pieces);
    }
}

fn waited(shared: &Shared) -> u64 {
    shared.memory.gauge(Gauge::WaitedTime).load(Relaxed)
}

/// The choice of short pieces of work, of one kind, that are timed.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    turn: u32,
}

impl Samples {
    /// Begins to time a short piece of work, if it is its turn.
    #[inline(always)]
    pub(crate) fn begin(&mut self, shared: &Shared) -> Option<Timer> {
        self.turn = self.turn.wrapping_add(1);
        self.turn.is_multiple_of(EVERY).then(|| Timer { pieces: EVERY, ..Timer::begin(shared) })
    }
}
