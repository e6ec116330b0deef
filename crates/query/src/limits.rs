//! Limits of a query's cost: every query ends in time.
//!
//! An evaluation takes many small steps, each with a bounded cost. Every few steps it checks the
//! clock and the cancel flag. Each term that a pattern matches is checked against the limit of
//! expansions.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Terms that the patterns of one query match, at most, unless set otherwise. A term counts in each
/// segment.
pub const EXPANSIONS_MAX: u32 = 1 << 20;
/// Bytes that all facets of one query take for their values and buckets, at most, unless set
/// otherwise.
pub const FACET_BYTES_MAX: usize = 256 << 20;
/// Bytes of the texts of all regular expressions of one query, at most. Each byte may name a class of
/// 100,000 characters, which takes 0.1 ms.
pub(crate) const EXPRESSIONS_BYTES_MAX: usize = 4 << 10;
/// Bytes that the automata of the regular expressions of one query take, at most.
pub(crate) const AUTOMATA_BYTES_MAX: usize = 1 << 20;
/// Edits of a fuzzy word, at most.
pub const DISTANCE_MAX: u8 = 2;
/// Steps between two checks of the clock.
const STEPS: u32 = 32;

/// The limits of a query's cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'q> {
    /// The time at which the query ends at the latest.
    pub deadline: Option<Instant>,
    /// A flag that ends the query soon after it is set.
    pub cancelled: Option<&'q AtomicBool>,
    /// Terms that its patterns may match. A term counts in each segment.
    pub expansions: u32,
    /// Bytes that its facets may take.
    pub facet_bytes: usize,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            deadline: None,
            cancelled: None,
            expansions: EXPANSIONS_MAX,
            facet_bytes: FACET_BYTES_MAX,
        }
    }
}

/// The reason why a query ended without its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The deadline has passed.
    TimedOut,
    /// The query was cancelled.
    Cancelled,
    /// One of its facets has too many values or buckets.
    Buckets {
        /// The limit.
        max: usize,
    },
    /// Its facets take too much memory.
    Memory {
        /// The limit in bytes.
        max: usize,
    },
    /// Its patterns match too many terms.
    Expansions {
        /// The limit.
        max: u32,
    },
}

/// The cost of an evaluation so far.
#[derive(Debug)]
pub(crate) struct Meter<'q> {
    limits: Limits<'q>,
    steps: u32,
    expansions: u32,
    stop: Option<Stop>,
}

impl<'q> Meter<'q> {
    pub(crate) fn new(limits: Limits<'q>) -> Meter<'q> {
        // The first step checks the limits, so an evaluation that begins too late ends at once.
        let mut meter = Meter { limits, steps: STEPS - 1, expansions: 0, stop: None };
        meter.step();
        meter
    }

    /// Counts a step. Returns false if the evaluation must end.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.steps(1)
    }

    /// Counts several steps at once, for work that one step does not cover.
    #[inline]
    pub(crate) fn steps(&mut self, count: usize) -> bool {
        self.steps = self.steps.saturating_add(count as u32);
        if self.steps >= STEPS {
            self.look();
        }
        self.stop.is_none()
    }

    #[cold]
    fn look(&mut self) {
        self.steps = 0;
        if self.limits.cancelled.is_some_and(|flag| flag.load(Relaxed)) {
            self.stop = Some(Stop::Cancelled);
        } else if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop = Some(Stop::TimedOut);
        }
    }

    /// Counts a term that a pattern matches. Returns false if the evaluation must end.
    pub(crate) fn expand(&mut self) -> bool {
        self.expansions += 1;
        if self.expansions > self.limits.expansions {
            self.stop = Some(Stop::Expansions { max: self.limits.expansions });
        }
        self.step()
    }

    /// True if the evaluation must end.
    #[inline(always)]
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns the reason why it had to end, if it had.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop
    }
}
