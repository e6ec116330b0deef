//! The index's own time, which dates arrivals and ages documents.
//!
//! While an index is open, its time follows the machine's monotonic clock. So setting the wall
//! clock has no effect. While it is closed, its time follows the wall clock, unless that goes back.
//! It never begins before the newest arrival that a start finds.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The drift between wall clock and index time, in milliseconds, from which the wall clock counts
/// as set. The root then records a new reading.
const STEP_MS: u64 = 1000;

/// The time of an index that is open, in milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct Clock {
    machine: Machine,
    /// The index's time when the machine's clock was first read, in milliseconds since 1970.
    begun_ms: AtomicU64,
}

/// The clocks of the machine.
#[derive(Debug)]
enum Machine {
    Own(Instant),
    Manual { clock: ManualClock, begun_ms: u64 },
}

/// The index's time, and the wall clock at that time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockReading {
    pub(crate) time_ms: u64,
    pub(crate) wall_ms: u64,
}

impl ClockReading {
    /// Returns how far the time is ahead of the wall clock, in milliseconds.
    fn ahead_ms(self) -> i64 {
        self.time_ms.wrapping_sub(self.wall_ms).cast_signed()
    }
}

/// A monotonic clock and a wall clock that tests set.
#[cfg_attr(not(feature = "lab"), expect(unreachable_pub, reason = "the laboratory shows it"))]
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<ManualTimes>);

#[derive(Debug, Default)]
struct ManualTimes {
    elapsed_ms: AtomicU64,
    wall_ms: AtomicU64,
}

#[cfg(feature = "lab")]
impl ManualClock {
    /// Returns clocks of a machine whose wall clock shows `wall_ms`.
    pub fn new(wall_ms: u64) -> ManualClock {
        let clock = ManualClock::default();
        clock.set(wall_ms);
        clock
    }

    /// Advances both clocks.
    pub fn pass(&self, ms: u64) {
        self.0.elapsed_ms.fetch_add(ms, Relaxed);
        self.0.wall_ms.fetch_add(ms, Relaxed);
    }

    /// Sets the wall clock.
    pub fn set(&self, wall_ms: u64) {
        self.0.wall_ms.store(wall_ms, Relaxed);
    }
}

impl ManualClock {
    /// Returns the wall clock.
    #[cfg_attr(not(feature = "lab"), expect(unreachable_pub, reason = "as above"))]
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
            Some(clock) => Machine::Manual { clock: clock.clone(), begun_ms: clock.elapsed_ms() },
        }
    }

    /// Returns the time since the clock was first read.
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
    /// Continues the time of a closed index. A new index, whose reading is 0, begins with the wall
    /// clock.
    pub(crate) fn since(reading: ClockReading, manual: Option<&ManualClock>) -> Clock {
        let machine = Machine::new(manual);
        let closed_ms = machine.wall_ms().saturating_sub(reading.wall_ms);
        let begun_ms = reading.time_ms.saturating_add(closed_ms).into();
        Clock { machine, begun_ms }
    }

    /// Begins with `ms`, the time of another process.
    pub(crate) fn at(ms: u64, manual: Option<&ManualClock>) -> Clock {
        Clock { machine: Machine::new(manual), begun_ms: ms.into() }
    }

    /// Returns the time. It never falls.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        self.begun_ms.load(Relaxed).saturating_add(self.machine.elapsed_ms())
    }

    /// Advances the time to `ms`, at which a document arrived.
    pub(crate) fn note_arrival(&self, ms: u64) {
        self.begun_ms.fetch_max(ms.saturating_sub(self.machine.elapsed_ms()), Relaxed);
    }

    /// Returns the time and the wall clock, to be stored.
    pub(crate) fn read(&self) -> ClockReading {
        ClockReading { time_ms: self.now_ms(), wall_ms: self.machine.wall_ms() }
    }

    /// True if the wall clock was set since this reading.
    pub(crate) fn was_set_since(&self, reading: ClockReading) -> bool {
        self.read().ahead_ms().abs_diff(reading.ahead_ms()) >= STEP_MS
    }
}

/// Returns the machine's wall clock, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_changes_nothing() {
        let manual = ManualClock::new(10_000);
        let clock = Clock::since(ClockReading { time_ms: 6000, wall_ms: 9000 }, Some(&manual));
        let reading = clock.read();
        assert_eq!((reading.time_ms, reading.wall_ms), (7000, 10_000));
        manual.pass(500);
        for wall_ms in [0, 90_000, 10_500] {
            manual.set(wall_ms);
            assert_eq!((clock.now_ms(), clock.read().wall_ms), (7500, wall_ms));
            assert_eq!(clock.was_set_since(reading), wall_ms != 10_500);
        }
    }

    #[test]
    fn a_wall_clock_that_was_set_back_takes_nothing_away() {
        let manual = ManualClock::new(10_000);
        let began = |reading| Clock::since(reading, Some(&manual)).now_ms();
        assert_eq!(began(ClockReading::default()), 10_000);
        assert_eq!(began(ClockReading { time_ms: 50_000, wall_ms: 60_000 }), 50_000);
        assert_eq!(began(ClockReading { time_ms: 50_000, wall_ms: 9900 }), 50_100);
    }

    #[test]
    fn it_is_never_before_an_arrival() {
        let manual = ManualClock::new(10_000);
        let clock = Clock::at(10_000, Some(&manual));
        manual.pass(100);
        clock.note_arrival(9000);
        assert_eq!(clock.now_ms(), 10_100);
        clock.note_arrival(30_000);
        assert_eq!(clock.now_ms(), 30_000);
        manual.pass(50);
        let other = Clock::at(clock.now_ms(), Some(&manual));
        manual.pass(50);
        assert_eq!((clock.now_ms(), other.now_ms()), (30_100, 30_100));
    }
}
