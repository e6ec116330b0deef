//! Durations of single operations: percentiles of a round, medians over rounds.
//!
//! Percentiles are nearest ranks, and the value of a metric is the median over rounds, as the peer programs
//! compute theirs. The clock's own cost is inside every duration; [`clock_overhead_ns`] says how much that is.

use std::time::{Duration, Instant};

/// Names of what a round is summed up to, in the order of [`Summary::values`].
pub(crate) const METRICS: [&str; 4] = ["p50_us", "p95_us", "p99_us", "mean_us"];

/// Durations of one round, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Vec<u64>);

impl Latencies {
    /// Room for this many, so that no measured operation waits for memory.
    pub(crate) fn with_capacity(operations: usize) -> Latencies {
        Latencies(Vec::with_capacity(operations))
    }

    #[inline]
    pub(crate) fn push(&mut self, duration: Duration) {
        self.0.push(duration.as_nanos() as u64);
    }

    pub(crate) fn push_ns(&mut self, nanoseconds: u64) {
        self.0.push(nanoseconds);
    }

    /// Adds those of another thread.
    pub(crate) fn take_in(&mut self, other: Latencies) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() == self.0.capacity()
    }

    /// Forgets the durations, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sums the round up; there must be a duration.
    pub(crate) fn summary(&mut self) -> Summary {
        self.0.sort_unstable();
        let at = |share| percentile(&self.0, share) as f64 / 1e3;
        let mean = self.0.iter().sum::<u64>() as f64 / self.0.len() as f64 / 1e3;
        Summary { values: [at(0.50), at(0.95), at(0.99), mean] }
    }
}

/// P50, P95, P99 and mean of one round, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) values: [f64; 4],
}

impl Summary {
    pub(crate) fn p50(&self) -> f64 {
        self.values[0]
    }

    pub(crate) fn p95(&self) -> f64 {
        self.values[1]
    }

    pub(crate) fn p99(&self) -> f64 {
        self.values[2]
    }
}

/// The values of each metric, one a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) columns: [Vec<f64>; 4],
}

impl Rounds {
    pub(crate) fn push(&mut self, summary: Summary) {
        for (column, value) in self.columns.iter_mut().zip(summary.values) {
            column.push(value);
        }
    }

    /// The median of each metric over the rounds; there must be a round.
    pub(crate) fn median(&self) -> Summary {
        Summary { values: std::array::from_fn(|metric| median(&self.columns[metric])) }
    }
}

/// The smallest value that at least `share` of the values do not exceed (nearest rank).
pub(crate) fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The middle value, or the mean of the two in the middle; `values` must not be empty.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted[middle];
    }
    (sorted[middle - 1] + sorted[middle]) / 2.0
}

/// What timing nothing yields, in nanoseconds: the median of many tries.
pub(crate) fn clock_overhead_ns() -> u64 {
    let mut tries = Latencies::with_capacity(10_000);
    for _ in 0..10_000 {
        let start = Instant::now();
        tries.push(start.elapsed());
    }
    tries.0.sort_unstable();
    percentile(&tries.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sorted: Vec<u64> = (1..=1000).collect();
        assert_eq!(percentile(&sorted, 0.50), 500);
        assert_eq!(percentile(&sorted, 0.95), 950);
        assert_eq!(percentile(&sorted, 0.99), 990);
        assert_eq!(percentile(&sorted, 1.0), 1000);
        assert_eq!(percentile(&[7], 0.99), 7);
        assert_eq!(percentile(&[3, 9], 0.50), 3);
        assert_eq!(percentile(&[3, 9], 0.51), 9);
    }

    #[test]
    fn a_round_is_summed_up_in_microseconds_whatever_its_order() {
        let mut round = Latencies::default();
        for ns in [4000, 1000, 3000, 2000] {
            round.push_ns(ns);
        }
        assert_eq!(round.summary().values, [2.0, 4.0, 4.0, 2.5]);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
