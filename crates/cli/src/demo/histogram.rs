//! Latencies that one thread records and others read: logarithmic buckets, at most 2 % wide.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Buckets to the power of two: 2^6, so that a bucket is 1/64 of its octave.
const SHIFT: u32 = 6;
const BUCKETS: usize = (64 - SHIFT as usize + 1) << SHIFT;

/// Nanoseconds. Counters are read while they are written (relaxed): a percentile may miss the newest few.
pub(crate) struct Histogram {
    buckets: Box<[AtomicU64]>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Histogram {
    pub(crate) fn record(&self, ns: u64) {
        self.buckets[bucket(ns)].fetch_add(1, Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    /// The least recorded value that `per_mille` of all do not exceed. `None` if there are none.
    pub(crate) fn percentile(&self, per_mille: u64) -> Option<u64> {
        let wanted = (self.count() * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        self.buckets.iter().enumerate().find_map(|(index, bucket)| {
            seen += bucket.load(Relaxed);
            (seen >= wanted).then(|| least(index))
        })
    }

    /// Adds all that `other` recorded.
    pub(crate) fn add(&self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter().zip(&other.buckets) {
            mine.fetch_add(theirs.load(Relaxed), Relaxed);
        }
    }
}

/// Values below 2^SHIFT have a bucket each; above, an octave has 2^SHIFT buckets.
fn bucket(ns: u64) -> usize {
    let octave = (ns >> SHIFT).checked_ilog2().map_or(0, |log| log + 1);
    let within = ns >> octave.saturating_sub(1) & ((1 << SHIFT) - 1);
    ((octave as usize) << SHIFT) + within as usize
}

/// The least value of a bucket.
fn least(bucket: usize) -> u64 {
    let (octave, within) = (bucket >> SHIFT, (bucket & ((1 << SHIFT) - 1)) as u64);
    match octave {
        0 => within,
        _ => (within + (1 << SHIFT)) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_narrow() {
        for value in (0..5000).chain([1 << 20, 123_456_789, u64::MAX]) {
            let bucket = bucket(value);
            assert!(bucket < BUCKETS);
            assert!(least(bucket) <= value, "{value}");
            assert!(value - least(bucket) <= value >> SHIFT, "{value}");
        }
    }

    #[test]
    fn percentiles_are_of_what_was_recorded() {
        let histogram = Histogram::default();
        assert_eq!(histogram.percentile(500), None);
        (1..=60).for_each(|ns| histogram.record(ns));
        assert_eq!(histogram.percentile(0), Some(1));
        assert_eq!(histogram.percentile(500), Some(30));
        assert_eq!(histogram.percentile(1000), Some(60));
        assert_eq!(histogram.count(), 60);
    }
}
