//! Logs of queries for caches, as keys: which question each query is, and nothing else.

use std::collections::HashMap;

use spirit_door::sim::Random;

/// Frequent terms of the thesis' list (classes of luceneutil's `topTerms20120502.txt`).
pub(crate) const HIGH: usize = 108;
/// Medium ones.
pub(crate) const MEDIUM: usize = 1382;
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

    /// Returns a log of a third ANDs, ORs and single terms each, in any order.
    pub(crate) fn mixed(seed: u64) -> Log {
        let mut random = Random::named(seed, "mixed log");
        Log::of("AND, OR, SINGLE", || match random.index(3) {
            0 => pair(&mut random, Asked::And),
            1 => pair(&mut random, Asked::Or),
            _ => Asked::Single(random.index(HIGH + MEDIUM) as u32),
        })
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

    /// Returns a log of ANDs in which a share of `repetition` was asked before. Half of the repeated ones
    /// lie at most `0.5^recency` of the log so far back: 1 draws any query so far, more draws late ones.
    /// The others are new pairs of `terms` terms, as long as there are any.
    pub(crate) fn repeating(
        seed: u64,
        terms: usize,
        queries: usize,
        (repetition, recency): (f64, f64),
    ) -> Log {
        let mut random = Random::named(seed, "repeating log");
        let mut new: Vec<Asked> = (0..terms as u32)
            .flat_map(|a| (a + 1..terms as u32).map(move |b| Asked::And(a, b)))
            .collect();
        let mut log: Vec<Asked> = Vec::with_capacity(queries);
        while log.len() < queries && !(new.is_empty() && log.is_empty()) {
            let is_new = log.is_empty() || random.unit() >= repetition && !new.is_empty();
            let query = if is_new {
                new.swap_remove(random.index(new.len()))
            } else {
                let back = (log.len() as f64 * random.unit().powf(recency)) as usize;
                log[log.len() - 1 - back]
            };
            log.push(query);
        }
        Log { name: format!("AND, {:.0} % repeated", repetition * 100.0), queries: log }
    }

    /// Returns the share of the queries that were asked before, in percent.
    pub(crate) fn repetition(&self) -> f64 {
        100.0 - self.frequencies().len() as f64 * 100.0 / self.queries.len().max(1) as f64
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
        // 5,886 pairs of each operator, and 1,490 terms; of the equal pairs a few are not drawn.
        assert!((13_000..=13_262).contains(&distinct(&Log::mixed(1))));
        let repeating = Log::repeating(1, 100, 5000, (0.6, 3.0));
        assert!((57.0..63.0).contains(&repeating.repetition()), "{}", repeating.repetition());
        // All six pairs are asked, and then none is new.
        assert_eq!(distinct(&Log::repeating(1, 4, 100, (0.0, 1.0))), 6);
        assert!(Log::zipf(1, 10_000, 1.0).best_fixed(100) > 40.0);
    }
}
