//! Switches for measurements and tests. They change how an answer is computed, and no answer.
//! Feature `lab`; it may change in any version.

use std::sync::Arc;

use spirit_index::form::older::FindOlder;
use spirit_index::memory::Memory;
use spirit_query::Query;

pub use spirit_door::trace::Trace;
pub use spirit_index::rows::lengths::Statistics;
pub use spirit_query::{Algorithm, Counts, Level};

pub use crate::config::clock::ManualClock;
use crate::index::Index;
use crate::index::builder::Builder;
use crate::search::error::SearchError;
use crate::search::into_query::IntoQuery;
pub use crate::search::query_pool::{Answer, Pending, PoolError, QueryPool};
use crate::search::{Hits, Reader, Search};

impl Builder {
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

    /// Iterates over the memory of each executor, for measurements.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.executors().iter().map(|executor| &executor.shared.memory)
    }
}

impl Search {
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
