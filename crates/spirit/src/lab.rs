//! Switches for measurements and tests. They change how an answer is computed, and no answer.
//! Feature `lab`; it may change in any version.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::form::FindOlder;
use spirit_index::ground::{Gauge, Position};
use spirit_index::memory::Memory;
use spirit_query::{Operator, Query};

pub use spirit_door::sim::{Random, SlowMedium};
pub use spirit_door::trace::Trace;
pub use spirit_index::ground::{PAGE, Parts, Postings};
pub use spirit_index::rows::Statistics;
pub use spirit_mem::disk_free;
pub use spirit_query::{
    Algorithm, ClausePlan, Counts, Evaluator, ExecutorPlan, Expansion,
    Explanation as ExplainedClause, Frequency, Level, Lists, Meetings, Occur, Parameters, Parser,
    PartPlan, Source, Worth,
};
pub use spirit_schema::{FieldId, format_time, parse_time};

pub use crate::config::clock::ManualClock;
use crate::config::error::WriteError;
pub use crate::config::media::{Media, Placement};
pub use crate::config::policies::{DictionaryTier, EngravePolicy, PointerUpdate};
use crate::engine::executor::Executor;
use crate::index::Index;
use crate::index::builder::Builder;
use crate::search::error::SearchError;
use crate::search::hit::Hit;
use crate::search::hit_error::HitError;
use crate::search::hits::Hits;
use crate::search::into_query::IntoQuery;
use crate::search::plan::{Explanation, QueryPlan};
pub use crate::search::query_pool::{Answer, Pending, PoolError, QueryPool};
use crate::search::reader::Reader;
use crate::search::request::Search;
pub use crate::search::stored::{StoredDocument, StoredValue};

/// What an executor's threads have worked at since the start, in seconds. The parts are those of
/// Akram's Psearchy (`docs/batch.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Keys looked up and entered, in bulk loads. Documents without keys take none.
    pub document_ids: f64,
    /// Texts cut, terms found, postings entered.
    pub hash: f64,
    /// Terms of segments sorted.
    pub sort: f64,
    /// Segments flushed, and copied into the file.
    pub flush: f64,
    /// Segments merged into the dictionary of the file.
    pub merge: f64,
    /// Waiting for room.
    pub waited: f64,
}

impl Times {
    fn of(memory: &Memory) -> Times {
        let time = |gauge| memory.gauge(gauge).load(Relaxed) as f64 / 1e9;
        let (document_ids, sort) = (time(Gauge::KeysTime), time(Gauge::SortedTime));
        Times {
            document_ids,
            hash: (time(Gauge::WrittenTime) - document_ids).max(0.0),
            sort,
            flush: (time(Gauge::FlushedTime) - sort).max(0.0) + time(Gauge::EngravedTime),
            merge: time(Gauge::MergedTime),
            waited: time(Gauge::WaitedTime),
        }
    }
}

impl Builder {
    /// Sets where structures lie. Default: in memory, and in the index's file by its mapping.
    pub fn media(mut self, media: Media) -> Self {
        self.options.media = media;
        self
    }

    /// Sets when segments are engraved: copied to the second tier. Default: as soon as they are
    /// flushed.
    pub fn engrave(mut self, policy: EngravePolicy) -> Self {
        self.options.engrave = policy;
        self
    }

    /// Sets when segments are committed: readers move to the copies. Default: when DRAM runs short.
    pub fn pointer_update(mut self, policy: PointerUpdate) -> Self {
        self.options.pointer_update = policy;
        self
    }

    /// Sets the number of threads of each executor behind the ingest role (paper §4.3): 1, or 2 for
    /// one that flushes and one that engraves and merges beside it. Default 1. Not persisted.
    pub fn stage_threads(mut self, threads: usize) -> Self {
        self.options.stage_threads = threads;
        self
    }

    /// Sets the sizes of the partitions of DRAM, for all executors together. Default: the short-term
    /// one has three segments, the dictionary a quarter of the DRAM, and the long-term one what is
    /// left. If only that one's size is set, the dictionary has what is left. Not persisted.
    pub fn dram_parts(mut self, parts: Parts) -> Self {
        self.options.dram_parts = parts;
        self
    }

    /// Sets the sizes of the partitions of the second tier, for all executors together. Default: the
    /// short-term one has a fifth, the dictionary an eighth, and the long-term one what is left. Those
    /// whose sizes are not set share what the others leave in these proportions.
    pub fn nvm_parts(mut self, parts: Parts) -> Self {
        self.options.nvm_parts = parts;
        self
    }

    /// Sets the tier in which queries read the dictionary of merged segments. Default: DRAM, as far
    /// as there is room.
    pub fn dictionary(mut self, tier: DictionaryTier) -> Self {
        self.options.dictionary = tier;
        self
    }

    /// Sets how posting lists are stored in the second tier: see [`packed`](Builder::packed).
    pub fn postings(mut self, postings: Postings) -> Self {
        self.options.postings = Some(postings);
        self
    }

    /// Packs no segment only because the merged dictionary may lack room for its terms, for comparison.
    pub fn keeps_raw(mut self, keeps: bool) -> Self {
        self.options.keeps_raw = keeps;
        self
    }

    /// Uses fixed-sized posting blocks (FSB) in fresh segments, for comparison. Default:
    /// variable-sized.
    pub fn fixed_blocks(mut self, fixed: bool) -> Self {
        self.options.fixed_blocks = fixed;
        self
    }

    /// Sets the widest vector unit to use, for comparison. Default: the widest of the machine.
    pub fn vectors(mut self, level: Level) -> Self {
        self.options.vectors = level;
        self
    }

    /// Writes back cache lines and fences as persistent memory needs it, on any medium. For
    /// measurements.
    pub fn force_barriers(mut self, force: bool) -> Self {
        self.options.force_barriers = force;
        self
    }

    /// Slows the stores of the second tier to those of another medium, and its barriers if there are
    /// some or they are [forced](Builder::force_barriers). Loads are as fast as before. For measurements.
    pub fn slow_medium(mut self, medium: SlowMedium) -> Self {
        self.options.slow_medium = Some(medium);
        self
    }

    /// Records all stores to the second tier. For tests.
    pub fn trace(mut self, trace: Arc<Trace>) -> Self {
        self.options.trace = Some(trace);
        self
    }

    /// Uses clocks that a test sets, for an index that retains documents for a time.
    pub fn clock(mut self, clock: &ManualClock) -> Self {
        self.options.clock = Some(clock.clone());
        self
    }
}

impl Index {
    /// Starts `threads` threads that answer questions, each with a reader of its own. `queue`
    /// questions can wait before the next one blocks its caller.
    ///
    /// The paper scales in this way or with several executors (§4.10).
    pub fn query_pool(&self, threads: usize, queue: usize) -> Result<QueryPool, PoolError> {
        QueryPool::start(&self.readable, threads, queue)
    }

    /// Returns a parser of queries for this index's current fields.
    pub fn parser(&self, operator: Operator) -> Parser {
        self.readable.parser(operator)
    }

    /// Engraves all flushed segments, under any policy, and waits until it is done.
    ///
    /// # Errors
    /// If there is no room for them, or a stage has died.
    pub fn engrave(&self) -> Result<(), WriteError> {
        self.executors().iter().try_for_each(Executor::engrave_rest)
    }

    /// Merges all engraved segments, however few, and waits until it is done.
    ///
    /// # Errors
    /// If a stage has died.
    pub fn merge(&self) -> Result<(), WriteError> {
        self.executors().iter().try_for_each(Executor::merge_all)
    }

    /// Returns how long each executor's threads have worked since the start, at what.
    pub fn times(&self) -> Vec<Times> {
        self.memories().map(Times::of).collect()
    }

    /// Iterates over the memory of each executor, for measurements.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.executors().iter().map(|executor| &executor.shared.memory)
    }
}

impl Search {
    /// Searches for all matches, the newest first: the papers' workload. Unlike other searches it takes
    /// memory for its hits, if there are more of them than ever before.
    pub fn all() -> Search {
        Search::newest(0).unbounded()
    }

    /// Forces an intersection algorithm; `None` leaves the choice to the planner.
    pub fn algorithm(mut self, algorithm: impl Into<Option<Algorithm>>) -> Search {
        self.algorithm = algorithm.into();
        self
    }

    /// Evaluates by windows, which fit every query, even if the query's shape has a faster
    /// evaluator.
    pub fn windows(mut self) -> Search {
        self.windows = true;
        self
    }

    /// Scores every match, and skips no blocks of postings by their bounds.
    pub fn exhaustive(mut self) -> Search {
        self.skips = false;
        self
    }
}

impl QueryPlan {
    /// Returns the plan of each executor.
    pub fn executors(&self) -> &[ExecutorPlan] {
        &self.0.executors
    }
}

impl Explanation {
    /// Returns the tree of clauses with their parts of the score.
    pub fn tree(&self) -> &ExplainedClause {
        &self.0
    }
}

impl Hit<'_> {
    /// Returns the document as given: its text, and the values of its fields. It is read once.
    pub fn stored(&self) -> Result<&StoredDocument, HitError> {
        self.document()
    }
}

impl Reader {
    /// Counts the matches, with an intersection algorithm of the caller's choice if any.
    pub fn count_by<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        algorithm: Option<Algorithm>,
    ) -> Result<u64, SearchError> {
        self.count_with(query, algorithm)
    }

    /// Counts matches, with another way to find terms in segments that the DRAM dictionary does not
    /// cover. For an index with one executor.
    pub fn count_finding(&mut self, query: &Query, older: impl FindOlder + Copy) -> u64 {
        self.desk.count_finding(query, older)
    }

    /// Counts matches as [`Search::all`] finds them, but only in the segments from this position on.
    /// For an index with one executor.
    pub fn count_since(&mut self, query: &Query, oldest: Position) -> usize {
        self.desk.count_since(query, oldest)
    }
}

impl Hits<'_> {
    /// Iterates over the addresses of the documents: executor, segment and row of each hit. They
    /// are valid while the hits live.
    pub fn rows(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.addresses().iter().map(|hit| (hit.executor, hit.segment.0, hit.local))
    }

    /// Returns the counts that scores were computed from; none unless the search was for the best.
    pub fn counts(&self) -> Option<&Counts> {
        self.scored_from()
    }
}
