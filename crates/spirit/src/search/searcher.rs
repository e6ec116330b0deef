//! Searchers, which ask an index from any thread.

use std::fmt;
use std::sync::Arc;

use spirit_query::{Aggregate, Facet, Highlight, Operator, Query, Total};

use crate::config::options::QUERY_BYTES_MAX;
use crate::search::error::SearchError;
use crate::search::highlighter::Highlighter;
use crate::search::hits::Hits;
use crate::search::into_query::IntoQuery;
use crate::search::plan::{Explanation, QueryPlan};
use crate::search::pool::{Pool, Pooled};
use crate::search::request::{Limits, Search};
use crate::search::{answer, explain, facets};

/// A searcher, with which any number of threads ask an index.
/// [`Index::searcher`](crate::Index::searcher) returns one.
///
/// Each question takes one of the index's [readers](crate::Builder::readers_max) and returns it. A
/// search returns it when its hits are dropped. Questions do not wait for each other. If no reader
/// is free for about 100 µs, a question ends with [`SearchError::Readers`]. Once the index is
/// closed or dropped, questions end with [`SearchError::Closed`].
///
/// ```
/// use spirit::{Index, Search};
///
/// let index = Index::in_memory()?;
/// index.add("a grey heron")?;
/// let searcher = index.searcher();
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| assert_eq!(searcher.count("heron").unwrap(), 1));
///     }
/// });
/// for hit in searcher.search("heron", Search::newest(10))? {
///     println!("{}", hit.key()?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Searcher {
    pool: Arc<Pool>,
    operator: Operator,
    limits: Limits,
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Searcher { operator, limits, .. } = self;
        let mut searcher = f.debug_struct("Searcher");
        searcher.field("operator", operator).field("limits", limits).finish_non_exhaustive()
    }
}

impl Searcher {
    /// The most bytes of a query text. A longer one fails with
    /// [`Problem::TooLarge`](crate::query::Problem::TooLarge).
    pub const QUERY_BYTES_MAX: usize = QUERY_BYTES_MAX;

    pub(crate) fn new(pool: Arc<Pool>) -> Searcher {
        Searcher { pool, operator: Operator::Or, limits: Limits::default() }
    }

    /// Sets the meaning of two neighbouring words in a query text. Default [`Operator::Or`].
    pub fn default_operator(mut self, operator: Operator) -> Searcher {
        self.operator = operator;
        self
    }

    /// Sets the limits of each of its questions. Default: those of [`Limits`], without a timeout.
    pub fn limits(mut self, limits: Limits) -> Searcher {
        self.limits = limits;
        self
    }

    /// Finds the first matches in the order of `search`. They stay readable until they are dropped
    /// or their lease ends.
    ///
    /// # Errors
    /// If the query is invalid or reaches a limit. If no reader is free. If the index is closed or
    /// damaged.
    pub fn search<'q>(
        &self,
        query: impl IntoQuery<'q>,
        search: Search,
    ) -> Result<Hits<'static>, SearchError> {
        let mut desk = self.desk()?;
        desk.parse_own(query, search.after.as_ref())?;
        self.search_made(desk, &search)
    }

    /// Searches for the query that was parsed last.
    fn search_made(&self, mut desk: Pooled, search: &Search) -> Result<Hits<'static>, SearchError> {
        let (ask, lent) = desk.lend(None, &self.limits)?;
        answer::answer(ask, lent, search)?;
        Ok(Hits::pooled(desk))
    }

    /// Counts the matches, exactly.
    pub fn count<'q>(&self, query: impl IntoQuery<'q>) -> Result<u64, SearchError> {
        let mut desk = self.desk()?;
        let (ask, lent) = desk.ask(query, None, &self.limits)?;
        answer::count(ask, lent, None)
    }

    /// Counts the matches, exactly up to `up_to`, and stops as soon as there are more.
    pub fn count_up_to<'q>(
        &self,
        query: impl IntoQuery<'q>,
        up_to: u64,
    ) -> Result<Total, SearchError> {
        let mut desk = self.desk()?;
        let (ask, lent) = desk.ask(query, None, &self.limits)?;
        answer::total(ask, lent, up_to)
    }

    /// Aggregates the values of fields over all documents that match: see
    /// [`Reader::aggregate`](crate::Reader::aggregate).
    pub fn aggregate<'q>(
        &self,
        query: impl IntoQuery<'q>,
        facets: &[Facet],
    ) -> Result<Vec<Aggregate>, SearchError> {
        let mut desk = self.desk()?;
        let filters = desk.parse_filters(facets)?;
        let (ask, lent) = desk.ask(query, None, &self.limits)?;
        facets::aggregate(ask, lent, facets, &filters)
    }

    /// Describes how a search is evaluated: see [`Reader::plan`](crate::Reader::plan).
    pub fn plan<'q>(
        &self,
        query: impl IntoQuery<'q>,
        search: &Search,
    ) -> Result<QueryPlan, SearchError> {
        let mut desk = self.desk()?;
        let (ask, lent) = desk.ask(query, search.after.as_ref(), &self.limits)?;
        explain::plan(ask, lent, search).map(QueryPlan)
    }

    /// Explains the score of the document with this key: see
    /// [`Reader::explain`](crate::Reader::explain).
    pub fn explain<'q>(
        &self,
        query: impl IntoQuery<'q>,
        search: &Search,
        key: &str,
    ) -> Result<Option<Explanation>, SearchError> {
        let mut desk = self.desk()?;
        let (ask, lent) = desk.ask(query, search.after.as_ref(), &self.limits)?;
        Ok(explain::explain(ask, lent, search, key)?.map(Explanation))
    }

    /// Returns a highlighter of the matches of `query` in texts.
    pub fn highlighter<'q>(
        &self,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Ok(Highlighter::of_texts(self.pool.index(), &query, how))
    }

    /// Returns a highlighter of the matches of `query` in a field of text or keywords.
    ///
    /// ```
    /// use spirit::{Analyzer, Document, FieldKind, Index, Search};
    /// use spirit::search::Highlight;
    ///
    /// let title = FieldKind::Text(Analyzer::English);
    /// let index = Index::builder().dram_bytes(64 << 20).store(true).field("title", title).open()?;
    /// index.add(Document::new().text("They stand.").field("title", "Grey Herons"))?;
    /// let searcher = index.searcher();
    /// let mut highlighter = searcher.highlighter_in("title", "title:heron", Highlight::default())?;
    /// for hit in searcher.search("title:heron", Search::newest(10))? {
    ///     assert_eq!(hit.snippets(&mut highlighter)?[0].marked("[", "]"), "Grey [Herons]");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SearchError::Unmarkable`] if there is no such field yet, or if it is of another kind.
    pub fn highlighter_in<'q>(
        &self,
        field: &str,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Highlighter::of_field(self.pool.index(), field, &query, how)
    }

    /// Makes a query from any of its forms, for callers who ask several questions with one query.
    pub fn parse<'q>(&self, query: impl IntoQuery<'q>) -> Result<Query, SearchError> {
        let mut desk = self.desk()?;
        let given = desk.parse(query, None)?;
        Ok(given.unwrap_or(&desk.query).clone())
    }

    fn desk(&self) -> Result<Pooled, SearchError> {
        let mut desk = self.pool.take()?;
        desk.default_operator(self.operator);
        Ok(desk)
    }
}
