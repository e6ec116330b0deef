//! Readers: each has a slot and memory of its own, for one thread.

use std::fmt;
use std::sync::Arc;

use spirit_query::{Aggregate, Algorithm, Facet, Highlight, Operator, ParseError, Query, Total};

use crate::cached::Outcome;
use crate::engine::readable::Readable;
use crate::search::desk::Desk;
use crate::search::error::SearchError;
use crate::search::highlighter::Highlighter;
use crate::search::hits::Hits;
use crate::search::into_query::IntoQuery;
use crate::search::plan::{Explanation, QueryPlan};
use crate::search::request::{Limits, Search};
use crate::search::{answer, explain, facets};

/// A reader, with which one thread at a time asks an index. [`Index::reader`](crate::Index::reader)
/// returns one.
///
/// It serves a thread that asks often: it keeps its slot and its memory, and its questions allocate
/// nothing. A [`Searcher`](crate::Searcher) can be shared.
pub struct Reader {
    pub(crate) desk: Box<Desk>,
    limits: Limits,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn new(index: Arc<Readable>) -> Result<Reader, SearchError> {
        Ok(Reader { desk: Box::new(Desk::new(index)?), limits: Limits::default() })
    }

    /// Returns a reader at a desk that a searcher left.
    pub(crate) fn at(mut desk: Box<Desk>) -> Reader {
        desk.default_operator(Operator::Or);
        Reader { desk, limits: Limits::default() }
    }

    /// Sets the meaning of two neighbouring words in a query text. Default [`Operator::Or`].
    pub fn default_operator(&mut self, operator: Operator) {
        self.desk.default_operator(operator);
    }

    /// Sets the limits of each of its questions.
    pub fn limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Returns the sequence number below which the last question saw all operations: see
    /// [`Hits::as_of`].
    pub fn as_of(&self) -> u64 {
        self.desk.seat.as_of()
    }

    /// Returns what became of the last question in the [result cache](crate::cache).
    pub fn cache_outcome(&self) -> Outcome {
        self.desk.memory.recall.outcome
    }

    /// Returns the errors that a [lenient](crate::Lenient) parser skipped in the last question.
    pub fn warnings(&self) -> &[ParseError] {
        &self.desk.warnings
    }

    /// Finds the first matches in the order of `search`. They stay readable until they are dropped
    /// or their lease ends.
    ///
    /// # Errors
    /// If the query is invalid or reaches a limit. If the index is closed or damaged.
    pub fn search<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: Search,
    ) -> Result<Hits<'r>, SearchError> {
        let given = self.desk.parse(query, search.after.as_ref())?;
        self.search_made(given, &search)
    }

    /// Searches for the given query, or else for the one parsed last. One function for all forms of
    /// a query keeps the code small.
    fn search_made<'r>(
        &'r mut self,
        given: Option<&'r Query>,
        search: &Search,
    ) -> Result<Hits<'r>, SearchError> {
        let (ask, lent) = self.desk.lend(given, &self.limits)?;
        answer::answer(ask, lent, search)?;
        Ok(Hits::lent(&self.desk, given))
    }

    /// Counts the matches, exactly.
    pub fn count<'r>(&'r mut self, query: impl IntoQuery<'r>) -> Result<u64, SearchError> {
        self.count_with(query, None)
    }

    /// Counts the matches, with an intersection algorithm of the caller's choice if any.
    pub(crate) fn count_with<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        algorithm: Option<Algorithm>,
    ) -> Result<u64, SearchError> {
        let (ask, lent) = self.desk.ask(query, None, &self.limits)?;
        answer::count(ask, lent, algorithm)
    }

    /// Counts the matches, exactly up to `up_to`, and stops as soon as there are more.
    pub fn count_up_to<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        up_to: u64,
    ) -> Result<Total, SearchError> {
        let (ask, lent) = self.desk.ask(query, None, &self.limits)?;
        answer::total(ask, lent, up_to)
    }

    /// Aggregates the values of fields over all documents that match. Returns one answer for each
    /// facet.
    ///
    /// At most [`Facet::COUNT_MAX`] facets. Matches are evaluated once. The
    /// tables of all facets take at most [`Limits::facet_bytes`].
    ///
    /// ```
    /// use spirit::{Document, FieldKind, Index};
    /// use spirit::facets::{Aggregate, Facet};
    ///
    /// let options = Index::builder().dram_bytes(64 << 20).field("by", FieldKind::Keyword);
    /// let index = options.open()?;
    /// for (text, by) in [("grey seas", "Ann"), ("the grey heron", "Bo"), ("a heron", "Ann")] {
    ///     index.add(Document::new().text(text).field("by", by))?;
    /// }
    /// let facets = [Facet::Terms { field: "by".into(), top: 10 }];
    /// let found = index.reader()?.aggregate("grey heron", &facets)?;
    /// let Aggregate::Terms(terms) = &found[0] else { unreachable!() };
    /// assert_eq!(terms.top, [("Ann".to_owned(), 2), ("Bo".to_owned(), 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aggregate<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        facets: &[Facet],
    ) -> Result<Vec<Aggregate>, SearchError> {
        let filters = self.desk.parse_filters(facets)?;
        let (ask, lent) = self.desk.ask(query, None, &self.limits)?;
        facets::aggregate(ask, lent, facets, &filters)
    }

    /// Describes how a search is evaluated in each executor. A plan has the evaluators that the
    /// planner chooses or `search` forces, and the results of the query's clauses.
    pub fn plan<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: &Search,
    ) -> Result<QueryPlan, SearchError> {
        let (ask, lent) = self.desk.ask(query, search.after.as_ref(), &self.limits)?;
        explain::plan(ask, lent, search).map(QueryPlan)
    }

    /// Explains the score of the document with this key, or why it does not match. Returns none if
    /// there is no such document.
    ///
    /// Scores are computed with the parameters of `search`. After a cursor, the first page's counts
    /// are used. A search in another order is explained with the default parameters.
    pub fn explain<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: &Search,
        key: &str,
    ) -> Result<Option<Explanation>, SearchError> {
        let (ask, lent) = self.desk.ask(query, search.after.as_ref(), &self.limits)?;
        Ok(explain::explain(ask, lent, search, key)?.map(Explanation))
    }

    /// Returns a highlighter of the matches of `query` in texts.
    pub fn highlighter<'q>(
        &mut self,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Ok(Highlighter::of_texts(&self.desk.index, &query, how))
    }

    /// Returns a highlighter of the matches of `query` in a field of text or keywords.
    ///
    /// # Errors
    /// [`SearchError::Unmarkable`] if there is no such field yet, or if it is of another kind.
    pub fn highlighter_in<'q>(
        &mut self,
        field: &str,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Highlighter::of_field(&self.desk.index, field, &query, how)
    }

    /// Makes a query from any of its forms, for callers who ask several questions with one query.
    pub fn parse<'q>(&mut self, query: impl IntoQuery<'q>) -> Result<Query, SearchError> {
        let given = self.desk.parse(query, None)?;
        Ok(given.unwrap_or(&self.desk.query).clone())
    }
}
