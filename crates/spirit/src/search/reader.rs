//! A reader: one thread's way to ask, with a slot and memory of its own.

use std::fmt;
use std::sync::Arc;

use spirit_query::{
    Aggregate, Algorithm, Explanation, Facet, Highlight, Operator, ParseError, Query, QueryPlan,
    Total,
};

use crate::engine::readable::Readable;
use crate::search::desk::Desk;
use crate::search::error::SearchError;
use crate::search::error::TooManyReaders;
use crate::search::highlighter::Highlighter;
use crate::search::hits::Hits;
use crate::search::into_query::IntoQuery;
use crate::search::request::{Limits, Search};
use crate::search::{answer, explain, facets};

/// Asks an index, from one thread at a time. Made by [`Index::reader`](crate::Index::reader).
///
/// It is for a thread that asks again and again: it keeps its slot and its memory, and its questions allocate nothing. A
/// [`Searcher`](crate::Searcher) can be shared.
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
    pub(crate) fn new(index: Arc<Readable>) -> Result<Reader, TooManyReaders> {
        Ok(Reader { desk: Box::new(Desk::new(index)?), limits: Limits::default() })
    }

    /// A reader at a desk that a searcher left.
    pub(crate) fn at(mut desk: Box<Desk>) -> Reader {
        desk.default_operator(Operator::Or);
        Reader { desk, limits: Limits::default() }
    }

    /// Sets the meaning of two neighbouring words in a query text. Default: either.
    pub fn default_operator(&mut self, operator: Operator) {
        self.desk.default_operator(operator);
    }

    /// Sets what each of its questions may cost.
    pub fn limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Returns the sequence number that the last question saw, at least: see [`Hits::as_of`].
    pub fn as_of(&self) -> u64 {
        self.desk.seat.as_of()
    }

    /// What a [lenient](crate::Lenient) parser did not understand in the last question.
    pub fn warnings(&self) -> &[ParseError] {
        &self.desk.warnings
    }

    /// Finds the first matches in the order of `search`. What they lead to stays until they are dropped, or their lease
    /// is over.
    pub fn search<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: Search,
    ) -> Result<Hits<'r>, SearchError> {
        let given = self.desk.parse(query)?;
        self.search_made(given, &search)
    }

    /// Searches for a query that is given, or else for the one that was parsed last. One function for all forms of a query.
    fn search_made<'r>(
        &'r mut self,
        given: Option<&'r Query>,
        search: &Search,
    ) -> Result<Hits<'r>, SearchError> {
        let (ask, lent) = self.desk.lend(given, &self.limits)?;
        answer::answer(ask, lent, search)?;
        Ok(Hits::lent(&self.desk, given))
    }

    /// Counts the matches.
    pub fn count<'r>(&'r mut self, query: impl IntoQuery<'r>) -> Result<u64, SearchError> {
        self.count_with(query, None)
    }

    /// Counts the matches with an intersection algorithm of the caller's choice, if any.
    pub(crate) fn count_with<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        algorithm: Option<Algorithm>,
    ) -> Result<u64, SearchError> {
        let (ask, lent) = self.desk.ask(query, &self.limits)?;
        answer::count(ask, lent, algorithm)
    }

    /// Counts the matches exactly up to `up_to`, and ends as soon as there are more.
    pub fn count_up_to<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        up_to: u64,
    ) -> Result<Total, SearchError> {
        let (ask, lent) = self.desk.ask(query, &self.limits)?;
        answer::total(ask, lent, up_to)
    }

    /// Aggregates the values of fields over all documents that match: an answer for each facet, of which there are
    /// [`FACETS_MAX`](crate::facets::FACETS_MAX) at most. Matches are evaluated once. The tables of all facets take
    /// [`Limits::facet_bytes`] at most.
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
        let (ask, lent) = self.desk.ask(query, &self.limits)?;
        facets::aggregate(ask, lent, facets)
    }

    /// Describes how a search is evaluated in each executor: what the planner chooses or `search` forces, and what the
    /// query's clauses find there.
    pub fn plan<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: &Search,
    ) -> Result<QueryPlan, SearchError> {
        let (ask, lent) = self.desk.ask(query, &self.limits)?;
        explain::plan(ask, lent, search)
    }

    /// Explains the score that a search for the best gives to the document with this key, or why it does not match. Returns
    /// none if there is no such document. Scores are computed with the parameters of `search`, and after a cursor from the
    /// first page's counts. A search in another order is explained by the default parameters.
    pub fn explain<'r>(
        &'r mut self,
        query: impl IntoQuery<'r>,
        search: &Search,
        key: &str,
    ) -> Result<Option<Explanation>, SearchError> {
        let (ask, lent) = self.desk.ask(query, &self.limits)?;
        explain::explain(ask, lent, search, key)
    }

    /// Makes a highlighter of what a search for `query` finds in texts.
    pub fn highlighter<'q>(
        &mut self,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Ok(Highlighter::of_texts(&self.desk.index, &query, how))
    }

    /// Makes a highlighter of what a search for `query` finds in a field of text or keywords.
    ///
    /// # Errors
    /// [`SearchError::Unmarkable`] if there is no such field yet, or if it has other values.
    pub fn highlighter_in<'q>(
        &mut self,
        field: &str,
        query: impl IntoQuery<'q>,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let query = self.parse(query)?;
        Highlighter::of_field(&self.desk.index, field, &query, how)
    }

    /// Makes a query as the other methods do, for callers who ask several things of one query.
    pub fn parse<'q>(&mut self, query: impl IntoQuery<'q>) -> Result<Query, SearchError> {
        let given = self.desk.parse(query)?;
        Ok(given.unwrap_or(&self.desk.query).clone())
    }
}
