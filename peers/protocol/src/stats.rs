//! Percentiles of one round, medians over rounds.

use std::time::Duration;

/// Durations of single operations, in the order they happened.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    nanoseconds: Vec<u64>,
}

impl Latencies {
    /// Room for this many without growing.
    pub fn with_capacity(operations: usize) -> Latencies {
        Latencies { nanoseconds: Vec::with_capacity(operations) }
    }

    /// Adds one duration.
    pub fn push(&mut self, duration: Duration) {
        self.nanoseconds.push(duration.as_nanos() as u64);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nanoseconds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nanoseconds.is_empty()
    }

    fn mean_us(&self) -> f64 {
        self.nanoseconds.iter().sum::<u64>() as f64 / self.len() as f64 / 1e3
    }
}

/// The summary of each round; every field has one value a round.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Name of the metric and its values.
    pub columns: [(&'static str, Vec<f64>); 4],
}

impl Rounds {
    /// No rounds yet.
    pub fn new() -> Rounds {
        Rounds { columns: ["p50_us", "p95_us", "p99_us", "mean_us"].map(|name| (name, vec![])) }
    }

    /// Adds the summary of one round, which must hold at least one duration.
    pub fn push(&mut self, round: &Latencies) {
        let mut sorted = round.nanoseconds.clone();
        sorted.sort_unstable();
        let at = |share: f64| percentile(&sorted, share) as f64 / 1e3;
        let values = [at(0.50), at(0.95), at(0.99), round.mean_us()];
        for ((_, column), value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// Operations a second, one value a round: one over the mean.
    pub fn per_second(&self) -> Vec<f64> {
        self.columns[3].1.iter().map(|mean_us| 1e6 / mean_us).collect()
    }
}

/// The smallest value that at least `share` of the values do not exceed (nearest rank).
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The middle value, or the mean of the two in the middle; `values` must not be empty.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted[middle];
    }
    (sorted[middle - 1] + sorted[middle]) / 2.0
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
        assert_eq!(percentile(&[7], 0.99), 7);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
