//! Durations, counted in buckets.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds.
const BOUNDS: [u64; 15] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Durations that were counted.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Upper bounds in seconds, the last one infinite, each with the number up to it.
    pub(crate) counts: Vec<(f64, u64)>,
    pub(crate) seconds: f64,
}

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

    /// Returns what was counted so far.
    pub(super) fn read(&self) -> Counted {
        let bounds = BOUNDS.iter().map(|bound| *bound as f64 / 1e6).chain([f64::INFINITY]);
        let mut sum = 0;
        let counts = bounds.zip(&self.buckets).map(|(bound, bucket)| {
            sum += bucket.load(Relaxed);
            (bound, sum)
        });
        Counted { counts: counts.collect(), seconds: self.nanoseconds.load(Relaxed) as f64 / 1e9 }
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
        let Counted { counts, seconds } = histogram.read();
        let numbers = [0, 1, 2, 14, 15].map(|bucket: usize| counts[bucket].1);
        assert_eq!((numbers, counts.len()), ([1, 3, 4, 4, 5], 16));
        assert_eq!((counts[0].0, counts[15].0), (0.00025, f64::INFINITY));
        assert!((seconds - 20.001751).abs() < 1e-6, "{seconds}");
    }
}
