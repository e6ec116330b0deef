//! A medium that is as slow as another, for measurements on a machine that lacks it.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// What is owed before a thread waits: less is not worth two readings of the clock.
const OWED_MIN: Duration = Duration::from_micros(2);

/// The stores and barriers of a medium. Loads are those of the memory that stands in for it: no
/// program can slow them. Syncs are those of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowMedium {
    /// The bytes that it stores in a second; 0 counts as 1.
    pub bytes_per_second: u64,
    /// The least time of a barrier.
    pub barrier: Duration,
}

/// Lets the threads of a door wait as long as a medium would.
pub(crate) struct Brake {
    medium: SlowMedium,
    /// Bytes that were stored and that nobody has waited for yet.
    owed: AtomicU64,
}

impl Brake {
    pub(crate) fn new(medium: SlowMedium) -> Brake {
        Brake { medium, owed: AtomicU64::new(0) }
    }

    /// After `bytes` bytes were stored.
    pub(crate) fn stored(&self, bytes: u64) {
        let owed = self.owed.fetch_add(bytes, Relaxed) + bytes;
        if self.time_of(owed) >= OWED_MIN {
            self.pay();
        }
    }

    /// Before a barrier ends: what was stored is on its way, and must arrive.
    pub(crate) fn fenced(&self) {
        self.pay();
        wait(self.medium.barrier);
    }

    fn time_of(&self, bytes: u64) -> Duration {
        let nanoseconds = u128::from(bytes) * 1_000_000_000;
        let nanoseconds = nanoseconds / u128::from(self.medium.bytes_per_second.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    fn pay(&self) {
        wait(self.time_of(self.owed.swap(0, Relaxed)));
    }
}

/// Waits without sleeping: a sleep takes longer than any store.
fn wait(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl fmt::Debug for Brake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.medium.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A medium of 10 MB a second, whose barriers take a millisecond.
    const SLOW: SlowMedium =
        SlowMedium { bytes_per_second: 10_000_000, barrier: Duration::from_millis(1) };

    #[test]
    fn stores_take_as_long_as_on_the_medium_in_one_piece_or_many() {
        for (pieces, bytes) in [(1, 100_000), (12_500, 8)] {
            let (brake, start) = (Brake::new(SLOW), Instant::now());
            (0..pieces).for_each(|_| brake.stored(bytes));
            assert!(start.elapsed() > Duration::from_millis(9), "{pieces} pieces");
        }
    }

    #[test]
    fn a_barrier_waits_for_what_was_stored() {
        let (brake, start) = (Brake::new(SLOW), Instant::now());
        brake.stored(8);
        brake.fenced();
        assert!(start.elapsed() >= Duration::from_millis(1));
        assert_eq!(brake.owed.load(Relaxed), 0);
    }
}
