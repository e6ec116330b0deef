//! What is asked besides the query: how many hits, in which order, from where on.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use spirit_index::lengths::Statistics;
use spirit_query::{
    Algorithm, Counts, EXPANSIONS_MAX, FacetError, Level, Limits as Spent, Parameters, ParseError,
    Settings, Stop,
};

/// The most hits of one search.
pub const HITS_MAX: usize = 10_000;
/// Longest query text, in bytes.
pub const QUERY_BYTES_MAX: usize = 1 << 20;

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Order {
    /// The newest document. The search ends when it has enough.
    Newest,
    /// The most relevant document by BM25; of two that are equally so the newer.
    Relevance(Parameters),
}

/// What is asked besides the query.
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) k: usize,
    pub(crate) order: Order,
    pub(crate) after: Option<Cursor>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) skips: bool,
    pub(crate) windows: bool,
    pub(crate) total: Option<u64>,
}

impl Search {
    /// The newest `k` matches; at most [`HITS_MAX`].
    pub fn newest(k: usize) -> Search {
        Search::in_order(k, Order::Newest)
    }

    /// The `k` most relevant matches; at most [`HITS_MAX`].
    pub fn best(k: usize) -> Search {
        Search::in_order(k, Order::Relevance(Parameters::default()))
    }

    /// The first `k` matches in this order; at most [`HITS_MAX`].
    pub fn in_order(k: usize, order: Order) -> Search {
        let k = k.min(HITS_MAX);
        Search { k, order, after: None, algorithm: None, skips: true, windows: false, total: None }
    }

    /// Go on after a hit of an earlier page. Documents that came since are not in the way: neither by themselves nor, where
    /// scores are asked for, by what they change in the others' scores.
    pub fn after(mut self, cursor: Cursor) -> Search {
        self.after = Some(cursor);
        self
    }

    /// Force an intersection algorithm; `None` leaves the choice to the planner.
    pub fn algorithm(mut self, algorithm: impl Into<Option<Algorithm>>) -> Search {
        self.algorithm = algorithm.into();
        self
    }

    /// Evaluate by windows, which are good for every query, also where its shape has a faster way of its own. The hits are the same; for
    /// measurements.
    pub fn windows(mut self) -> Search {
        self.windows = true;
        self
    }

    /// Score every match, and do not pass over blocks of postings whose bounds say that they hold none of the best. The hits
    /// are the same; for measurements.
    pub fn exhaustive(mut self) -> Search {
        self.skips = false;
        self
    }

    /// Say how many documents match as well, in [`Hits::total`](crate::Hits::total): exactly up to `up_to`, above that at least.
    /// They are those of the moment that the hits are of, on every page all of them. Without this nothing is counted.
    pub fn total(mut self, up_to: u64) -> Search {
        self.total = Some(up_to);
        self
    }

    pub(crate) fn settings<'q>(&self, level: Level, limits: Spent<'q>) -> Settings<'q> {
        let before = self.after.as_ref().map(|cursor| cursor.limit);
        Settings { level, algorithm: self.algorithm, windows: self.windows, before, limits }
    }
}

/// What each query of a reader may cost. One that would cost more is ended, and its answer is a [`SearchError`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long it may take. Default: as long as it takes.
    pub timeout: Option<Duration>,
    /// When another thread sets it, the query at hand ends, and so does each that follows until it is cleared.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// Terms that its prefixes, wildcards and fuzzy words may stand for, counted in each segment. Default: 1,048,576.
    pub expansions: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { timeout: None, cancelled: None, expansions: EXPANSIONS_MAX }
    }
}

impl Limits {
    /// Those of a query that begins now.
    pub(crate) fn begin(&self) -> Spent<'_> {
        Spent {
            deadline: self.timeout.map(|timeout| Instant::now() + timeout),
            cancelled: self.cancelled.as_deref(),
            expansions: self.expansions,
        }
    }
}

/// A place in the order of hits, to go on from: good for the query and the order that it came from. It writes itself as a
/// short text, and is read back from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// Only documents with lower sequence numbers: of the newest hits, those behind the last one; of the best, those that were
    /// there when the first page was asked for.
    pub(crate) limit: u64,
    /// Of the best hits: the last one's place, and what its score was computed from.
    pub(crate) ranked: Option<Box<RankedCursor>>,
}

/// The place of a hit by relevance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankedCursor {
    pub(crate) score: f32,
    pub(crate) sequence: u64,
    pub(crate) counts: Counts,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.limit)?;
        let Some(ranked) = &self.ranked else { return Ok(()) };
        let RankedCursor { score, sequence, counts } = &**ranked;
        let Statistics { documents, tokens } = counts.statistics;
        write!(f, ".{:x}.{sequence}.{documents}.{tokens}", score.to_bits())?;
        counts.with_term.iter().try_for_each(|count| write!(f, ".{count}"))
    }
}

/// A text is no cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorError {
    /// The text.
    pub text: String,
}

impl fmt::Display for CursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        write!(f, "\"{text}\" is no cursor: take it as an earlier page gave it, or begin without")
    }
}

impl std::error::Error for CursorError {}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Cursor, CursorError> {
        let mut parts = text.split('.');
        let cursor = || {
            let mut number = || parts.next()?.parse::<u64>().ok();
            let limit = number()?;
            let Some(score) = parts.next() else { return Some(Cursor { limit, ranked: None }) };
            let score = f32::from_bits(u32::from_str_radix(score, 16).ok()?);
            let mut number = || parts.next()?.parse::<u64>().ok();
            let (sequence, documents, tokens) = (number()?, number()?, number()?);
            let with_term = parts.map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
            let statistics = Statistics { documents, tokens };
            let counts = Counts { statistics, with_term };
            let ranked = RankedCursor { score, sequence, counts };
            let sound = score.is_finite() && score.is_sign_positive();
            sound.then(|| Cursor { limit, ranked: Some(Box::new(ranked)) })
        };
        cursor().ok_or_else(|| CursorError { text: text.to_owned() })
    }
}

/// A search could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// The text is no query.
    Parse(ParseError),
    /// The cursor is another query's, or of another order.
    Cursor,
    /// The query cost more than it may.
    Stopped(Stop),
    /// A facet cannot be answered.
    Facet(FacetError),
    /// The query has a phrase, and the index was made without positions.
    NoPositions,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Parse(error) => error.fmt(f),
            SearchError::Stopped(stop) => stop.fmt(f),
            SearchError::Facet(error) => error.fmt(f),
            SearchError::Cursor => f.write_str(
                "the cursor is of another query or order: ask with those that it came from, or begin without it",
            ),
            SearchError::NoPositions => f.write_str(
                "the index was made without positions and cannot find phrases: index the documents anew with positions",
            ),
        }
    }
}

impl std::error::Error for SearchError {}

impl From<Stop> for SearchError {
    fn from(stop: Stop) -> SearchError {
        SearchError::Stopped(stop)
    }
}

impl From<FacetError> for SearchError {
    fn from(error: FacetError) -> SearchError {
        SearchError::Facet(error)
    }
}

impl From<ParseError> for SearchError {
    fn from(error: ParseError) -> SearchError {
        SearchError::Parse(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        let statistics = Statistics { documents: 7, tokens: 90 };
        let counts = Counts { statistics, with_term: vec![3, 0] };
        let ranked = RankedCursor { score: 1.25, sequence: 12, counts };
        for cursor in [
            Cursor { limit: 0, ranked: None },
            Cursor { limit: u64::MAX, ranked: None },
            Cursor { limit: 17, ranked: Some(Box::new(ranked)) },
        ] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in ["", "x", "1.", "1.zz.1.2.3", "1.3f800000.1", "1.7fc00000.1.2.3", "-1"] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
