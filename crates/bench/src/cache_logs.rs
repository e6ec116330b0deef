//! Logs of queries for caches, as keys: which question each query is, and nothing else.

use std::collections::HashMap;

use spirit_door::sim::Random;

/// Frequent terms of the thesis' list (classes of luceneutil's `topTerms20120502.txt`).
pub(crate) const HIGH: usize = 108;
/// Medium ones.
const MEDIUM: usize = 1382;
/// Queries of a log.
pub(crate) const QUERIES: usize = 100_000;

/// A query: an operator and its terms, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    /// Both terms, the lower number first.
    And(u32, u32),
    /// Either term, likewise.
    Or(u32, u32),
    /// One term.
    Single(u32),
}

/// A log.
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) queries: Vec<Asked>,
}

impl Log {
    /// Returns the thesis' log of ANDs: both terms are drawn uniformly, with replacement.
    pub(crate) fn and(seed: u64) -> Log {
        let mut random = Random::named(seed, "log of ANDs");
        Log::of("AND", || pair(&mut random, Asked::And))
    }

    /// Returns the thesis' log of ORs, drawn like that of ANDs.
    pub(crate) fn or(seed: u64) -> Log {
        let mut random = Random::named(seed, "log of ORs");
        Log::of("OR", || pair(&mut random, Asked::Or))
    }

    /// Returns the thesis' log of single terms, frequent and medium ones.
    pub(crate) fn single(seed: u64) -> Log {
        let mut random = Random::named(seed, "log of single terms");
        Log::of("SINGLE", || Asked::Single(random.index(HIGH + MEDIUM) as u32))
    }

    /// Returns a log in which the n-th most frequent of `distinct` queries comes in proportion to
    /// `1 / n^exponent`.
    pub(crate) fn zipf(seed: u64, distinct: usize, exponent: f64) -> Log {
        let weights = (1..=distinct).scan(0.0, |sum, rank| {
            *sum += (rank as f64).powf(-exponent);
            Some(*sum)
        });
        let sums: Vec<f64> = weights.collect();
        let all = sums.last().copied().unwrap_or(0.0);
        let mut random = Random::named(seed, "Zipf log");
        Log::of(format!("Zipf {exponent}"), || {
            let at = random.unit() * all;
            Asked::Single(sums.partition_point(|sum| *sum < at) as u32)
        })
    }

    fn of(name: impl Into<String>, mut draw: impl FnMut() -> Asked) -> Log {
        Log { name: name.into(), queries: (0..QUERIES).map(|_| draw()).collect() }
    }

    /// Returns how often each query comes, the most frequent first.
    pub(crate) fn frequencies(&self) -> Vec<u64> {
        let mut counts: HashMap<Asked, u64> = HashMap::new();
        self.queries.iter().for_each(|query| *counts.entry(*query).or_default() += 1);
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    /// Returns the hit rate in percent of a cache that has the most frequent queries all the time.
    pub(crate) fn best_fixed(&self, entries: usize) -> f64 {
        let kept: u64 = self.frequencies().iter().take(entries).sum();
        kept as f64 * 100.0 / self.queries.len() as f64
    }
}

fn pair(random: &mut Random, make: fn(u32, u32) -> Asked) -> Asked {
    let [a, b] = [random.index(HIGH) as u32, random.index(HIGH) as u32];
    make(a.min(b), a.max(b))
}

impl Asked {
    /// Returns the words of its key.
    pub(crate) fn key(self) -> [u64; 3] {
        match self {
            Asked::And(a, b) => [u64::from(b'^'), a.into(), b.into()],
            Asked::Or(a, b) => [u64::from(b'|'), a.into(), b.into()],
            Asked::Single(a) => [u64::from(b'0'), a.into(), u64::MAX],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_the_thesis_numbers_of_queries() {
        let distinct = |log: &Log| log.frequencies().len();
        // Of 5,886 pairs hardly one is missing among 100,000; of the equal pairs some come seldom.
        assert!((5880..=5886).contains(&distinct(&Log::and(1))));
        assert!((5880..=5886).contains(&distinct(&Log::or(1))));
        assert_eq!(distinct(&Log::single(1)), 1490);
        let best = Log::and(1).best_fixed(2000);
        assert!((42.0..45.0).contains(&best), "{best}");
        assert!(Log::zipf(1, 10_000, 1.0).best_fixed(100) > 40.0);
    }
}
