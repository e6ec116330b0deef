//! The forms of a question: a text, a query, a clause.

use spirit_query::{Clause, ParseError, Parser, Query};

use crate::search::error::SearchError;

/// A query in one of its forms: a text in the [query language](Parser), a user's text
/// ([`Lenient`]), a [`Clause`], or a finished [`Query`].
pub trait IntoQuery<'q> {
    /// Returns the query if it needs no parsing, or writes it to `into`.
    ///
    /// # Errors
    /// If it is no valid query for an index with these fields.
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError>;
}

/// The parser and the buffers with which a reader makes its query.
pub struct Parsing<'r> {
    pub(crate) parser: &'r mut Parser,
    pub(crate) query: &'r mut Query,
    pub(crate) warnings: &'r mut Vec<ParseError>,
}

/// A text that a user typed. The parser skips errors, or takes them as words.
/// [`Hits::warnings`](crate::Hits::warnings) lists them.
///
/// ```
/// use spirit::{Index, Lenient, Search};
///
/// let index = Index::in_memory()?;
/// index.add("the old man and the sea")?;
/// let hits = index.searcher().search(Lenient("(sea AND"), Search::newest(10))?;
/// assert_eq!((hits.len(), hits.warnings().len()), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lenient<'t>(pub &'t str);

impl<'q> IntoQuery<'q> for &str {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        into.parser.parse_into(self, into.query)?;
        Ok(None)
    }
}

impl<'q> IntoQuery<'q> for &String {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        self.as_str().into_query(into)
    }
}

impl<'q> IntoQuery<'q> for Lenient<'_> {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        into.warnings.append(&mut into.parser.parse_lenient_into(self.0, into.query));
        Ok(None)
    }
}

impl<'q> IntoQuery<'q> for &Clause {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        let Parsing { parser, query, .. } = into;
        query.recompile(self, parser.schema()).map_err(SearchError::Clause)?;
        if parser.has_positions() {
            query.bind_objects(parser.schema()).map_err(SearchError::Clause)?;
        }
        Ok(None)
    }
}

impl<'q> IntoQuery<'q> for Clause {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        (&self).into_query(into)
    }
}

impl<'q> IntoQuery<'q> for Query {
    fn into_query(self, into: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        // Into the memory that there is: the next query may need it.
        into.query.clone_from(&self);
        Ok(None)
    }
}

impl<'q, 'a: 'q> IntoQuery<'q> for &'a Query {
    fn into_query(self, _: &mut Parsing<'_>) -> Result<Option<&'q Query>, SearchError> {
        Ok(Some(self))
    }
}
