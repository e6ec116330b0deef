//! Durations, counted in buckets, in words that every process of an index can read.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds. The last bucket has none.
pub const DURATION_BOUNDS: [u64; 15] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];
/// The number of buckets.
pub const DURATION_BUCKETS: usize = DURATION_BOUNDS.len() + 1;
/// Number of words: the buckets, and the sum in nanoseconds.
pub(crate) const DURATION_WORDS: usize = DURATION_BUCKETS + 1;

/// Durations. One thread at a time adds to them.
#[derive(Clone, Copy, Debug)]
pub struct Durations<'a>(&'a [AtomicU64; DURATION_WORDS]);

impl<'a> Durations<'a> {
    pub(crate) fn new(words: &'a [AtomicU64; DURATION_WORDS]) -> Durations<'a> {
        Durations(words)
    }

    /// Adds a duration.
    pub fn add(self, time: Duration) {
        let microseconds = time.as_nanos().div_ceil(1000);
        let bucket = DURATION_BOUNDS.partition_point(|bound| u128::from(*bound) < microseconds);
        // One thread adds, so no locked instruction is needed.
        let raise = |word: &AtomicU64, by| word.store(word.load(Relaxed) + by, Relaxed);
        raise(&self.0[bucket], 1);
        raise(&self.0[DURATION_BUCKETS], time.as_nanos() as u64);
    }

    /// Returns the number in each bucket, and the sum in nanoseconds.
    pub fn read(self) -> ([u64; DURATION_BUCKETS], u64) {
        let counts = std::array::from_fn(|bucket| self.0[bucket].load(Relaxed));
        (counts, self.0[DURATION_BUCKETS].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_the_bucket_of_their_bound() {
        let words = std::array::from_fn(|_| AtomicU64::new(0));
        let durations = Durations::new(&words);
        for nanoseconds in [1, 250_000, 250_001, 1_000_000, 20_000_000_000] {
            durations.add(Duration::from_nanos(nanoseconds));
        }
        let (counts, sum) = durations.read();
        let mut expected = [0; DURATION_BUCKETS];
        (expected[0], expected[1], expected[2], expected[15]) = (2, 1, 1, 1);
        assert_eq!((counts, sum), (expected, 20_001_500_002));
    }
}
