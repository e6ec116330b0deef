//! One run: documents come, and after each step some of the log is asked with the cache and without it.

use std::time::{Duration, Instant};

use spirit::cache::{Cache, Outcome, Policy};
use spirit::search::Limits;
use spirit::stats::Stats;
use spirit::{Index, Query, Reader, Search};

use super::{Medium, Question, options};
use crate::Fallible;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::scratch::Scratch;

/// Segments that the corpus fills, about.
pub(super) const SEGMENTS: u64 = 200;
/// Steps in which the last fifth of the documents comes.
const STEPS: usize = 40;
/// Bytes for each entry that the cache may have: a list of matches takes 8 each, a count half a KiB.
const LIST_BYTES: u64 = 2048;
const COUNT_BYTES: u64 = 512;
/// The least cache that opens.
const CACHE_BYTES_MIN: u64 = 64 << 10;

/// What all runs share.
pub(super) struct Live<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) queries: &'a [Query],
    pub(super) cores: Cores,
}

/// A cache and what is asked.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) bytes: u64,
    pub(super) medium: Medium,
    pub(super) question: Question,
}

/// What a run found.
pub(super) struct Found {
    /// Queries a second without the cache and with it.
    pub(super) plain_qps: f64,
    pub(super) cached_qps: f64,
    /// Microseconds of a query that found an entry, and of one that did not.
    pub(super) hit_us: f64,
    pub(super) miss_us: f64,
    /// Percent of the queries that found an entry.
    pub(super) hits: f64,
    /// Percent of these queries' registered segments that were evaluated.
    pub(super) evaluated: f64,
    /// Registered segments that each of these queries evaluated, on average.
    pub(super) new_segments: f64,
    /// Percent of the answers that had all matches.
    pub(super) complete: f64,
    /// Matches of an answer, on average.
    pub(super) matches: f64,
    /// Entries that left for others.
    pub(super) evicted: u64,
    /// Entries at the end, and the most that there may be.
    pub(super) entries: (u32, u32),
    pub(super) segments: usize,
}

/// What one reader's turns found.
#[derive(Default)]
struct Turns {
    took: Duration,
    in_hits: Duration,
    found: usize,
    complete: usize,
    hits: usize,
}

impl Live<'_> {
    /// Returns the bytes of an index of all documents.
    pub(super) fn index_bytes(&self) -> Fallible<u64> {
        let scratch = Scratch::new()?;
        let index = self.open(&scratch, None)?;
        index.add_all(self.corpus.iter().map(|text| (None, text)))?;
        index.settle();
        Ok(index.stats()?.bytes.index())
    }

    fn open(&self, scratch: &Scratch, cache: Option<Cache>) -> Fallible<Index> {
        let _stages = self.cores.pin(On::First);
        let options = options(self.corpus)
            .directory(scratch.path())
            .nvm_bytes(engine::heap_bytes(self.corpus))
            // The pages of a cache are not touched for the first time while queries are timed.
            .prefault(true);
        Ok(cache.into_iter().fold(options, |options, cache| options.cache(cache)).open()?)
    }

    /// Fills an index and asks the log.
    pub(super) fn run(&self, run: Run) -> Fallible<Found> {
        let scratch = Scratch::new()?;
        let index = self.open(&scratch, Some(run.cache()))?;
        let documents = |from: usize, to: usize| (from..to).map(|n| (None, self.corpus.get(n)));
        let first = self.corpus.len() * 4 / 5;
        index.add_all(documents(0, first))?;
        index.settle();
        let _queries = self.cores.pin(On::Second);
        let mut cached = index.reader()?;
        let before = index.stats()?;
        let mut plain = index.reader()?;
        plain.limits(Limits { cache: false, ..Limits::default() });
        let (mut with, mut without) = (Turns::default(), Turns::default());
        for step in 0..STEPS {
            let part = |whole: usize, step: usize| whole * step / STEPS;
            let rest = self.corpus.len() - first;
            index.add_all(documents(first + part(rest, step), first + part(rest, step + 1)))?;
            index.settle();
            let (from, to) = (part(self.queries.len(), step), part(self.queries.len(), step + 1));
            let queries = &self.queries[from..to];
            let is_even = step.is_multiple_of(2);
            if is_even {
                without.ask(&mut plain, queries, run.question);
            }
            with.ask(&mut cached, queries, run.question);
            if !is_even {
                without.ask(&mut plain, queries, run.question);
            }
            if with.found != without.found {
                return Err("the cached answers are other ones".into());
            }
        }
        self.sum_up(&index, before, &with, &without)
    }

    fn sum_up(
        &self,
        index: &Index,
        before: Stats,
        with: &Turns,
        without: &Turns,
    ) -> Fallible<Found> {
        let stats = index.stats()?;
        let queries = self.queries.len() as f64;
        let taken = (stats.cached_segments - before.cached_segments) as f64;
        let evaluated = (stats.evaluated_segments - before.evaluated_segments) as f64;
        let cache = stats.cache.unwrap_or_default();
        Ok(Found {
            plain_qps: queries / without.took.as_secs_f64(),
            cached_qps: queries / with.took.as_secs_f64(),
            hit_us: micros(with.in_hits, with.hits),
            miss_us: micros(with.took - with.in_hits, self.queries.len() - with.hits),
            hits: with.hits as f64 * 100.0 / queries,
            evaluated: evaluated * 100.0 / (taken + evaluated).max(1.0),
            new_segments: evaluated / with.hits.max(1) as f64,
            complete: without.complete as f64 * 100.0 / queries,
            matches: without.found as f64 / queries,
            evicted: cache.evicted - before.cache.unwrap_or_default().evicted,
            entries: (cache.entries, cache.entries_max),
            segments: stats.segments.len(),
        })
    }
}

impl Run {
    fn cache(self) -> Cache {
        let bytes = self.bytes.max(CACHE_BYTES_MIN);
        let each = if self.question == Question::Count { COUNT_BYTES } else { LIST_BYTES };
        let cache = Cache::new(bytes)
            .policy(Policy::Lru)
            .cost_min(Duration::ZERO)
            .entries((bytes / each) as u32);
        if self.medium == Medium::SecondTier { cache.in_second_tier() } else { cache }
    }
}

impl Turns {
    /// Asks some queries, each in the clock.
    fn ask(&mut self, reader: &mut Reader, queries: &[Query], question: Question) {
        for query in queries {
            let start = Instant::now();
            let found = match question {
                Question::Matches => engine::hits(reader, query, Search::newest(Search::HITS_MAX)),
                Question::Count => engine::count(reader, query),
            };
            let took = start.elapsed();
            self.took += took;
            self.found += found;
            let is_complete = question == Question::Count || found < Search::HITS_MAX;
            self.complete += usize::from(is_complete);
            if matches!(reader.cache_outcome(), Outcome::Hit | Outcome::Joined) {
                self.hits += 1;
                self.in_hits += took;
            }
        }
    }
}

/// Returns the microseconds of each of some queries.
fn micros(took: Duration, queries: usize) -> f64 {
    took.as_secs_f64() * 1e6 / queries.max(1) as f64
}
