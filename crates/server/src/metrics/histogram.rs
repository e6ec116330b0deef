//! Durations, counted in buckets.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds.
pub(super) const BOUNDS: [u64; 15] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Durations, counted in buckets.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// The last one has what is beyond all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    pub(super) fn observe(&self, time: Duration) {
        let microseconds = time.as_nanos().div_ceil(1000);
        let bucket = BOUNDS.partition_point(|bound| u128::from(*bound) < microseconds);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Returns the numbers up to each bound, the last one of all, and the sum in seconds.
    pub(super) fn read(&self) -> ([u64; BOUNDS.len() + 1], f64) {
        let mut sum = 0;
        let counts = self.buckets.each_ref().map(|bucket| {
            sum += bucket.load(Relaxed);
            sum
        });
        (counts, self.nanoseconds.load(Relaxed) as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_the_bucket_of_their_bound() {
        let histogram = Histogram::default();
        for microseconds in [250, 251, 1_000, 20_000_000] {
            histogram.observe(Duration::from_micros(microseconds));
        }
        histogram.observe(Duration::from_nanos(250_001));
        let (counts, seconds) = histogram.read();
        assert_eq!((counts[0], counts[1], counts[2], counts[14], counts[15]), (1, 3, 4, 4, 5));
        assert!((seconds - 20.001751).abs() < 1e-6, "{seconds}");
    }
}
