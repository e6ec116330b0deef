//! A log asked by one thread or more: each takes the next query when it is free.

use std::hint::black_box;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit::cache::Outcome;
use spirit::{Index, Query, Reader};

use crate::Fallible;
use crate::cores::{Cores, On};
use crate::timing::Latencies;

/// Asks a query, and returns the number of matches that were found.
pub(super) type Ask = fn(&mut Reader, &Query) -> usize;

/// Who asks.
#[derive(Clone, Copy)]
pub(super) struct Asking {
    pub(super) cores: Cores,
    pub(super) threads: usize,
    pub(super) ask: Ask,
}

/// What a log took.
#[derive(Clone, Copy)]
pub(super) struct Figures {
    pub(super) qps: f64,
    pub(super) p99_us: f64,
    pub(super) max_us: f64,
    /// Percent of the queries that found an entry.
    pub(super) hits: f64,
    /// Matches of a query, on average.
    pub(super) matches: f64,
}

/// What one thread asked.
struct Asked {
    latencies: Latencies,
    longest: Duration,
    hits: usize,
    matches: usize,
}

impl Asking {
    /// Asks the first half of the log to warm, and the second in the clock.
    pub(super) fn run(&self, index: &Index, log: &[Query]) -> Fallible<Figures> {
        let on = if self.threads > 1 { On::Both } else { On::Second };
        let _pinned = self.cores.pin(on);
        let mut readers =
            (0..self.threads).map(|_| index.reader()).collect::<Result<Vec<_>, _>>()?;
        let (warm, counted) = log.split_at(log.len() / 2);
        self.all(&mut readers, warm);
        let start = Instant::now();
        let asked = self.all(&mut readers, counted);
        let took = start.elapsed().as_secs_f64();
        let queries = counted.len() as f64;
        let sum = |of: fn(&Asked) -> usize| asked.iter().map(of).sum::<usize>() as f64;
        let (hits, matches) = (sum(|one| one.hits), sum(|one| one.matches));
        let longest = asked.iter().map(|one| one.longest).max().unwrap_or_default();
        let mut latencies = Latencies::with_capacity(counted.len());
        asked.into_iter().for_each(|one| latencies.take_in(one.latencies));
        Ok(Figures {
            qps: queries / took,
            p99_us: latencies.summary().p99(),
            max_us: longest.as_secs_f64() * 1e6,
            hits: hits * 100.0 / queries,
            matches: matches / queries,
        })
    }

    fn all(&self, readers: &mut [Reader], queries: &[Query]) -> Vec<Asked> {
        let next = &AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let started: Vec<_> = readers
                .iter_mut()
                .map(|reader| scope.spawn(move || self.one(reader, queries, next)))
                .collect();
            started.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    }

    fn one(&self, reader: &mut Reader, queries: &[Query], next: &AtomicUsize) -> Asked {
        let latencies = Latencies::with_capacity(queries.len());
        let mut asked = Asked { latencies, longest: Duration::ZERO, hits: 0, matches: 0 };
        // Each thread ends when no query is left.
        while let Some(query) = queries.get(next.fetch_add(1, Relaxed)) {
            let start = Instant::now();
            let matches = black_box((self.ask)(reader, query));
            let took = start.elapsed();
            asked.latencies.push(took);
            asked.longest = asked.longest.max(took);
            asked.matches += matches;
            let is_hit = matches!(reader.cache_outcome(), Outcome::Hit | Outcome::Joined);
            asked.hits += usize::from(is_hit);
        }
        asked
    }
}
