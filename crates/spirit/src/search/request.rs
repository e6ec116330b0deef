//! What is asked besides the query: how many hits, in which order, from where on.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use spirit_query::{
    Algorithm, Direction, EXPANSIONS_MAX, FACET_BYTES_MAX, Limits as Spent, Parameters, Settings,
};

use crate::search::cursor::Cursor;
use crate::search::recency::Recency;

/// The most hits of one search.
pub const HITS_MAX: usize = 10_000;

/// What comes first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Order {
    /// The newest document. The search ends when it has enough.
    Newest,
    /// The most relevant document by BM25; of two that are equally so the newer.
    Relevance(Parameters),
    /// The document with the least or the greatest value of a field: numbers, moments or truth. Of two with the same value the newer, and
    /// those without last. One with several values counts by that which comes first.
    Field {
        /// The field's name.
        field: Arc<str>,
        /// Whether the least or the greatest value comes first.
        direction: Direction,
    },
}

/// What is asked besides the query.
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) k: usize,
    pub(crate) order: Order,
    pub(crate) after: Option<Cursor>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) skips: bool,
    pub(crate) recency: Option<Recency>,
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

    /// The first `k` matches in the order of a field's values, as [`Order::Field`] says; at most [`HITS_MAX`].
    ///
    /// ```
    /// use spirit::{Document, Index, Search};
    /// use spirit::search::Direction;
    ///
    /// let index = Index::builder().dram_bytes(64 << 20).open()?;
    /// for (key, views) in [("a", 3), ("b", 40), ("c", -7)] {
    ///     index.add(Document::new().key(key).field("views", views))?;
    /// }
    /// let most = Search::by_field(10, "views", Direction::Descending);
    /// assert_eq!(index.searcher().search("views:>=0", most)?.keys()?, ["b", "a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_field(k: usize, field: &str, direction: Direction) -> Search {
        Search::in_order(k, Order::Field { field: field.into(), direction })
    }

    /// The first `k` matches in this order; at most [`HITS_MAX`].
    pub fn in_order(k: usize, order: Order) -> Search {
        let k = k.min(HITS_MAX);
        Search {
            k,
            order,
            after: None,
            algorithm: None,
            skips: true,
            recency: None,
            windows: false,
            total: None,
        }
    }

    /// Let scores fade with age, where the order is by relevance.
    pub fn recency(mut self, recency: Recency) -> Search {
        self.recency = Some(recency);
        self
    }

    /// Go on after a hit of an earlier page: of the same query in the same order, else it is refused. (What is newest goes on after
    /// any hit of the newest.) Documents that came since are not in the way: neither by themselves nor, where
    /// scores are asked for, by what they change in the others' scores.
    pub fn after(mut self, cursor: Cursor) -> Search {
        self.after = Some(cursor);
        self
    }

    /// Say how many documents match as well, in [`Hits::total`](crate::Hits::total): exactly up to `up_to`, above that at least.
    /// They are those of the moment that the hits are of, on every page all of them. Without this nothing is counted.
    pub fn total(mut self, up_to: u64) -> Search {
        self.total = Some(up_to);
        self
    }
}

/// What each query of a reader may cost. One that would cost more is ended, and its answer is a [`SearchError`](crate::SearchError).
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long it may take. Default: as long as it takes.
    pub timeout: Option<Duration>,
    /// When another thread sets it, the current query ends, and so does each that follows until it is cleared.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// Terms that its prefixes, wildcards, fuzzy words and ranges of words may stand for, counted in each segment. Default: 1,048,576.
    pub expansions: u32,
    /// Bytes that all facets of a query may take for what they tell apart: values, buckets, and counts of them. Default: 256 MiB. It is what
    /// tables have room for; while one of them grows, and when values are named at the end, up to twice as much is taken for a moment.
    pub facet_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: None,
            cancelled: None,
            expansions: EXPANSIONS_MAX,
            facet_bytes: FACET_BYTES_MAX,
        }
    }
}

impl Limits {
    /// Those of a query that begins now.
    pub(crate) fn begin(&self) -> Spent<'_> {
        Spent {
            // What ends after the clock does has all the time there is.
            deadline: self.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            cancelled: self.cancelled.as_deref(),
            expansions: self.expansions,
            facet_bytes: self.facet_bytes,
        }
    }
}

/// Without regard to a cursor.
pub(crate) fn of_all(settings: Settings<'_>) -> Settings<'_> {
    Settings { before: None, ..settings }
}
