//! The index's own time, by which documents arrive and grow old.
//!
//! While an index is open its time goes on by the machine's monotonic clock, so a wall clock that is set has no effect. In
//! between it goes by the wall clock, and by how far it was ahead of that, which the root says. A start never begins before the newest
//! arrival that it finds.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use crate::store::now_ms;

/// A wall clock that goes apart from the index's time by this much was set: the root is to say so.
const STEP_MS: u64 = 1000;

/// The time of an index that is open, in milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct Clock {
    machine: Machine,
    /// The time when the machine's clock was looked at first.
    begun_ms: AtomicU64,
}

/// The clocks of the machine.
#[derive(Debug)]
enum Machine {
    Own(Instant),
    Manual { clock: ManualClock, begun_ms: u64 },
}

/// Clocks that tests set: a monotonic one and a wall clock.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<ManualTimes>);

#[derive(Debug, Default)]
struct ManualTimes {
    elapsed_ms: AtomicU64,
    wall_ms: AtomicU64,
}

impl ManualClock {
    /// Clocks of a machine whose wall clock says `wall_ms`.
    pub fn new(wall_ms: u64) -> ManualClock {
        let clock = ManualClock::default();
        clock.set(wall_ms);
        clock
    }

    /// Time passes.
    pub fn pass(&self, ms: u64) {
        self.0.elapsed_ms.fetch_add(ms, Relaxed);
        self.0.wall_ms.fetch_add(ms, Relaxed);
    }

    /// The wall clock is set.
    pub fn set(&self, wall_ms: u64) {
        self.0.wall_ms.store(wall_ms, Relaxed);
    }

    /// What the wall clock says.
    pub fn wall_ms(&self) -> u64 {
        self.0.wall_ms.load(Relaxed)
    }

    fn elapsed_ms(&self) -> u64 {
        self.0.elapsed_ms.load(Relaxed)
    }
}

impl Machine {
    fn new(manual: Option<&ManualClock>) -> Machine {
        match manual {
            None => Machine::Own(Instant::now()),
            Some(clock) => {
                Machine::Manual { clock: clock.clone(), begun_ms: clock.elapsed_ms() }
            }
        }
    }

    /// Since it was looked at first.
    #[inline]
    fn elapsed_ms(&self) -> u64 {
        match self {
            Machine::Own(begun) => begun.elapsed().as_millis() as u64,
            Machine::Manual { clock, begun_ms } => clock.elapsed_ms() - begun_ms,
        }
    }

    fn wall_ms(&self) -> u64 {
        match self {
            Machine::Own(_) => now_ms(),
            Machine::Manual { clock, .. } => clock.wall_ms(),
        }
    }
}

impl Clock {
    /// Begins with a time that is by `ahead_ms` ahead of the wall clock.
    pub(crate) fn ahead_of_wall(ahead_ms: i64, manual: Option<&ManualClock>) -> Clock {
        let machine = Machine::new(manual);
        let begun_ms = machine.wall_ms().saturating_add_signed(ahead_ms).into();
        Clock { machine, begun_ms }
    }

    /// Begins with this time, which another process told.
    pub(crate) fn at(ms: u64, manual: Option<&ManualClock>) -> Clock {
        Clock { machine: Machine::new(manual), begun_ms: ms.into() }
    }

    /// The time. It never falls.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        self.begun_ms.load(Relaxed).saturating_add(self.machine.elapsed_ms())
    }

    /// A document arrived at `ms`, so it is not earlier now.
    pub(crate) fn note_arrival(&self, ms: u64) {
        self.begun_ms.fetch_max(ms.saturating_sub(self.machine.elapsed_ms()), Relaxed);
    }

    /// By how much it is ahead of the wall clock.
    pub(crate) fn ahead_ms(&self) -> i64 {
        self.now_ms().wrapping_sub(self.machine.wall_ms()).cast_signed()
    }

    /// Whether the wall clock was set since the time was `ahead_ms` ahead of it.
    pub(crate) fn was_set_since(&self, ahead_ms: i64) -> bool {
        self.ahead_ms().abs_diff(ahead_ms) >= STEP_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_changes_nothing() {
        let manual = ManualClock::new(10_000);
        let clock = Clock::ahead_of_wall(-3000, Some(&manual));
        assert_eq!((clock.now_ms(), clock.ahead_ms()), (7000, -3000));
        manual.pass(500);
        for wall_ms in [0, 90_000, 10_500] {
            manual.set(wall_ms);
            assert_eq!(clock.now_ms(), 7500);
            assert_eq!(clock.ahead_ms(), 7500 - wall_ms as i64);
            assert_eq!(clock.was_set_since(-3000), wall_ms != 10_500);
        }
    }

    #[test]
    fn it_is_never_before_an_arrival() {
        let manual = ManualClock::new(10_000);
        let clock = Clock::ahead_of_wall(0, Some(&manual));
        manual.pass(100);
        clock.note_arrival(9000);
        assert_eq!(clock.now_ms(), 10_100);
        clock.note_arrival(30_000);
        assert_eq!(clock.now_ms(), 30_000);
        manual.pass(50);
        assert_eq!(clock.now_ms(), 30_050);
        let other = Clock::at(clock.now_ms(), Some(&manual));
        manual.pass(50);
        assert_eq!((clock.now_ms(), other.now_ms()), (30_100, 30_100));
    }
}
