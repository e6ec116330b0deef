//! Requests: number of hits, order, and the place to begin at.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use spirit_query::{
    Algorithm, Direction, EXPANSIONS_MAX, FACET_BYTES_MAX, Limits as Spent, Parameters, Settings,
};

use crate::search::cursor::Cursor;
use crate::search::recency::Recency;

/// See [`Search::HITS_MAX`].
pub(crate) const HITS_MAX: usize = 10_000;
/// More matches than an executor has rows. Sums of it do not overflow.
#[cfg(feature = "lab")]
pub(crate) const ALL: usize = u32::MAX as usize;

/// The order of hits.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Newest document first. The search ends once it has enough.
    Newest,
    /// Most relevant document first, by BM25. Ties go to the newer document.
    Relevance(Parameters),
    /// Documents by the values of a field, and of further ones where those are equal. Shared, so
    /// that a copy of a request allocates nothing.
    Fields { first: Key, further: Option<Arc<Vec<Key>>> },
}

/// A key that hits are sorted by.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) field: Arc<str>,
    pub(crate) direction: Direction,
    /// True if documents without a value come first.
    pub(crate) missing_first: bool,
}

impl Key {
    fn new(field: &str, direction: Direction) -> Key {
        Key { field: field.into(), direction, missing_first: false }
    }
}

/// A request: everything about a search except the query.
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) k: usize,
    pub(crate) order: Order,
    pub(crate) after: Option<Cursor>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) skips: bool,
    pub(crate) recency: Option<Recency>,
    pub(crate) proximity: bool,
    pub(crate) windows: bool,
    pub(crate) total: Option<u64>,
}

impl Search {
    /// The most hits of one search.
    pub const HITS_MAX: usize = HITS_MAX;

    /// Returns a request for the newest `k` matches, newest first, at most
    /// [`HITS_MAX`](Search::HITS_MAX). The search ends once it has enough.
    pub fn newest(k: usize) -> Search {
        Search::in_order(k, Order::Newest)
    }

    /// Returns a request for the `k` most relevant matches by [BM25](Search::bm25), at most
    /// [`HITS_MAX`](Search::HITS_MAX). Ties go to the newer document.
    pub fn best(k: usize) -> Search {
        Search::in_order(k, Order::Relevance(Parameters::default()))
    }

    /// Returns a request for the first `k` matches in the order of a field's values, at most
    /// [`HITS_MAX`](Search::HITS_MAX): keywords, numbers, moments or booleans.
    ///
    /// Ties go to the newer document. Documents without a value come last. If a document has
    /// several values, the one that comes first counts.
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
        Search::in_order(k, Order::Fields { first: Key::new(field, direction), further: None })
    }

    /// Sorts equal documents by a further field. At most 3 keys count in all; the search fails with
    /// [`SearchError::TooManyKeys`](crate::SearchError::TooManyKeys) beyond that. In another order
    /// than that of fields it has no effect.
    ///
    /// ```
    /// use spirit::Search;
    /// use spirit::search::Direction::{Ascending, Descending};
    ///
    /// let first = Search::by_field(10, "level", Ascending).missing_first();
    /// let search = first.then_by("views", Descending);
    /// ```
    pub fn then_by(mut self, field: &str, direction: Direction) -> Search {
        if let Order::Fields { further, .. } = &mut self.order {
            Arc::make_mut(further.get_or_insert_default()).push(Key::new(field, direction));
        }
        self
    }

    /// Puts documents without a value in the last key's field first. Otherwise they come last. In
    /// another order than that of fields it has no effect.
    pub fn missing_first(mut self) -> Search {
        if let Order::Fields { first, further } = &mut self.order {
            let last = further.as_mut().and_then(|further| Arc::make_mut(further).last_mut());
            last.unwrap_or(first).missing_first = true;
        }
        self
    }

    /// This search for all matches, however many there are.
    #[cfg(feature = "lab")]
    pub(crate) fn unbounded(self) -> Search {
        Search { k: ALL, ..self }
    }

    fn in_order(k: usize, order: Order) -> Search {
        let k = k.min(HITS_MAX);
        Search {
            k,
            order,
            after: None,
            algorithm: None,
            skips: true,
            recency: None,
            proximity: false,
            windows: false,
            total: None,
        }
    }

    /// Sets the parameters of BM25 for the most relevant matches. `k1` ≥ 0 limits the weight of a
    /// term's frequency, `b` in 0 to 1 that of the document's length. Default 1.2 and 0.75. The
    /// search fails with [`SearchError::Parameters`](crate::SearchError::Parameters) if they are out of
    /// range. In another order they have no effect.
    pub fn bm25(mut self, k1: f32, b: f32) -> Search {
        if let Order::Relevance(parameters) = &mut self.order {
            *parameters = Parameters { k1, b };
        }
        self
    }

    /// Lets places and closeness of terms count besides BM25: a term counts for more if it stands
    /// early in a document, and so do two neighbouring terms of the query that stand close to each
    /// other. In another order than relevance it has no effect.
    ///
    /// The search fails with [`SearchError::NoPositions`](crate::SearchError::NoPositions) if the
    /// index has no positions.
    ///
    /// ```
    /// use spirit::{Index, Search};
    ///
    /// let index = Index::in_memory()?;
    /// index.put("near", "the sea below us and the grey heron")?;
    /// index.put("far", "the grey sea below us and the heron")?;
    /// let searcher = index.searcher();
    /// let best = searcher.search("grey heron", Search::best(1).proximity())?;
    /// assert_eq!(best.keys()?, ["near"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn proximity(mut self) -> Search {
        self.proximity = true;
        self
    }

    /// Makes scores fade with age: each half-life halves them. In another order than
    /// relevance it has no effect.
    ///
    /// A document's age counts from its newest moment in a field. A moment in the future has age
    /// zero. A document without a moment scores 0. The search fails with
    /// [`SearchError::NoMoments`](crate::SearchError::NoMoments) if the field has no moments.
    pub fn recency(self, field: &str, half_life: Duration) -> Search {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.recency_as_of(field, half_life, i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Like [`recency`](Search::recency), as of a moment in milliseconds since 1970. Further pages
    /// use the first page's moment.
    pub fn recency_as_of(mut self, field: &str, half_life: Duration, now: i64) -> Search {
        self.recency = Some(Recency { field: field.into(), half_life, now });
        self
    }

    /// Continues after a hit of an earlier page.
    ///
    /// Query and order must be those of the earlier page, or the search fails. For the newest
    /// matches, any cursor of that order fits. Documents added since are not in the page,
    /// and do not change its scores.
    pub fn after(mut self, cursor: Cursor) -> Search {
        self.after = Some(cursor);
        self
    }

    /// Counts all documents that match, for [`Hits::total`](crate::Hits::total): exactly up to
    /// `up_to`, or a lower bound above that.
    ///
    /// The count is of the moment of the hits, and includes the matches of all pages. Without this
    /// call nothing is counted.
    pub fn total(mut self, up_to: u64) -> Search {
        self.total = Some(up_to);
        self
    }
}

/// The limits of each query. A query that reaches one ends with a
/// [`SearchError`](crate::SearchError).
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest time. Default: none.
    pub timeout: Option<Duration>,
    /// A flag with which another thread ends the current query. Each later query ends too, until
    /// the flag is cleared.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// The most terms that prefixes, wildcards, fuzzy words and ranges of words expand to, counted
    /// in each segment. Default: 1,048,576.
    pub expansions: u32,
    /// The most bytes of the tables of all facets of a query: values, buckets and their counts.
    /// Default: 256 MiB.
    ///
    /// It limits the tables' capacity. A growing table, and the naming of values at the end, may
    /// briefly take up to twice as much.
    pub facet_bytes: usize,
    /// True to use the index's result cache, if it has one. Default: true.
    pub cache: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: None,
            cancelled: None,
            expansions: EXPANSIONS_MAX,
            facet_bytes: FACET_BYTES_MAX,
            cache: true,
        }
    }
}

impl Limits {
    /// Returns the limits of a query that begins now.
    pub(crate) fn begin(&self) -> Spent<'_> {
        Spent {
            // A deadline beyond the clock's range counts as no deadline.
            deadline: self.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            cancelled: self.cancelled.as_deref(),
            expansions: self.expansions,
            facet_bytes: self.facet_bytes,
        }
    }
}

/// Returns the settings without the cursor's bound.
pub(crate) fn of_all(settings: Settings<'_>) -> Settings<'_> {
    Settings { before: None, ..settings }
}
