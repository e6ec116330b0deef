//! What a query may cost: whatever is asked, it ends in time.
//!
//! An evaluation takes many small steps, each with a bounded cost, and between them looks whether it may go on: at the clock and
//! at whether somebody cancelled it, every few of them; at how many terms its patterns stand for, each time.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Terms that the patterns of one query stand for at most, counted in each segment, unless set otherwise.
pub const EXPANSIONS_MAX: u32 = 1 << 20;
/// Bytes that all facets of one query take for what they tell apart, unless set otherwise.
pub const FACET_BYTES_MAX: usize = 256 << 20;
/// The most edits of a fuzzy word.
pub const DISTANCE_MAX: u8 = 2;
/// Steps between two looks at the clock.
const STEPS: u32 = 32;

/// How much a query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'q> {
    /// When it must have ended.
    pub deadline: Option<Instant>,
    /// It ends soon after this is set.
    pub cancelled: Option<&'q AtomicBool>,
    /// Terms that its patterns may stand for, counted in each segment.
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

/// Why a query was ended before it had its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Its time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// One of its facets tells more values or buckets apart than it may.
    Buckets {
        /// How many it may.
        max: usize,
    },
    /// What its facets tell apart takes more memory than it may.
    Memory {
        /// How many bytes it may take.
        max: usize,
    },
    /// Its patterns stand for more terms than they may.
    Expansions {
        /// How many they may.
        max: u32,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::TimedOut => f.write_str(
                "the query was not answered in its time: ask for less, or give it more time",
            ),
            Stop::Cancelled => f.write_str("the query was cancelled"),
            Stop::Buckets { max } => write!(
                f,
                "a facet tells more than {max} values or buckets apart: ask for fewer documents or a longer interval"
            ),
            Stop::Memory { max } => write!(
                f,
                "what the query's facets tell apart takes more than {max} bytes: ask for fewer facets at once, fewer documents or a longer interval"
            ),
            Stop::Expansions { max } => write!(
                f,
                "the query's prefixes, wildcards, fuzzy words and ranges of words stand for more than {max} terms: make them narrower"
            ),
        }
    }
}

impl std::error::Error for Stop {}

/// What an evaluation has cost.
#[derive(Debug)]
pub(crate) struct Meter<'q> {
    limits: Limits<'q>,
    steps: u32,
    expansions: u32,
    stop: Option<Stop>,
}

impl<'q> Meter<'q> {
    pub(crate) fn new(limits: Limits<'q>) -> Meter<'q> {
        // An evaluation that begins late does not begin.
        let mut meter = Meter { limits, steps: STEPS - 1, expansions: 0, stop: None };
        meter.step();
        meter
    }

    /// One step more; says whether it may be taken.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.steps(1)
    }

    /// This many at once: of what one step would be too little for.
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

    /// One more term that a pattern stands for; says whether it may.
    pub(crate) fn expand(&mut self) -> bool {
        self.expansions += 1;
        if self.expansions > self.limits.expansions {
            self.stop = Some(Stop::Expansions { max: self.limits.expansions });
        }
        self.step()
    }

    /// Whether the evaluation has to end.
    #[inline(always)]
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Why it had to, if it had.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop
    }
}
