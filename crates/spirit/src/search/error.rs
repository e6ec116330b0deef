//! Errors of searches.

use std::fmt;

use spirit_index::ground::corrupt::Corrupt;
use spirit_query::{FacetError, ParseError, Problem, Stop};
use spirit_schema::FieldKind;

use crate::config::error::REMEDY;
use crate::storage::view::View;

/// A search failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// The text is no valid query.
    Parse(ParseError),
    /// The index cannot answer this clause.
    Clause(Problem),
    /// All readers that the index was opened for are in use.
    Readers {
        /// The number of readers.
        readers_max: usize,
    },
    /// The index is closed.
    Closed,
    /// The cursor belongs to another query, order, scoring or fading.
    Cursor,
    /// The text is no cursor.
    CursorText {
        /// The text.
        text: String,
    },
    /// The query reached one of its limits.
    Stopped(Stop),
    /// Hits cannot be sorted by this field.
    Unsortable {
        /// The field's name.
        field: String,
        /// The kind of the field; none if there is no such field.
        kind: Option<FieldKind>,
    },
    /// Values of this field cannot be highlighted.
    Unmarkable {
        /// The field's name.
        field: String,
        /// The kind of the field; none if there is no such field.
        kind: Option<FieldKind>,
    },
    /// Scores cannot fade by this field.
    NoMoments {
        /// The field's name.
        field: String,
        /// The kind of the field; none if there is no such field.
        kind: Option<FieldKind>,
    },
    /// No score can be computed with these parameters: they must be numbers, `k1` ≥ 0 and `b` in 0
    /// to 1.
    Parameters,
    /// A facet cannot be answered.
    Facet(FacetError),
    /// The query has a phrase, but the index was made without positions.
    NoPositions,
    /// The query read a part of the file that does not hold what was stored there.
    Corrupt {
        /// The executor whose part of the file is damaged.
        executor: usize,
        /// The error and its place.
        what: Corrupt,
    },
    /// A process that only reads cannot read the index any more.
    Unreadable {
        /// The reason.
        why: String,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Parse(error) => error.fmt(f),
            SearchError::Clause(problem) => problem.fmt(f),
            SearchError::Readers { readers_max } => write!(
                f,
                "all {readers_max} readers are in use: drop one, or open the index with a larger readers_max"
            ),
            SearchError::Closed => f.write_str("the index is closed: open it again, and ask a new searcher"),
            SearchError::Stopped(stop) => stop.fmt(f),
            SearchError::Facet(error) => error.fmt(f),
            SearchError::Cursor => f.write_str(
                "the cursor is of another query or order: ask with those that it came from, or begin without it",
            ),
            SearchError::CursorText { text } => write!(
                f,
                "\"{}\" is no cursor: take it as an earlier page gave it, or begin without",
                text.escape_debug()
            ),
            SearchError::Parameters => f.write_str(
                "no score is made by these parameters: k1 is a number from 0 on, b one from 0 to 1",
            ),
            SearchError::Unmarkable { field, kind: None } => {
                write!(f, "no field {field:?} to highlight: ask for one that some document has")
            }
            SearchError::Unmarkable { field, kind: Some(kind) } => write!(
                f,
                "{field:?} cannot be highlighted, it is of kind {kind}: ask for a field of text or keywords"
            ),
            SearchError::Unsortable { field, kind: None } => {
                write!(f, "no field {field:?} to sort by: ask for one that some document has")
            }
            SearchError::Unsortable { field, kind: Some(kind) } => write!(
                f,
                "field {field:?} holds values of kind {kind}, by which nothing is sorted: take a field of keywords, integers, \
                 floats, moments or booleans"
            ),
            SearchError::NoMoments { field, kind: None } => {
                write!(f, "no field {field:?} by which scores could fade: take one of moments")
            }
            SearchError::NoMoments { field, kind: Some(kind) } => write!(
                f,
                "field {field:?} holds values of kind {kind}, by which scores do not fade: take a field of moments"
            ),
            SearchError::Corrupt { executor, what } => {
                write!(f, "no answer is sure; executor {executor}: {what}; {REMEDY}")
            }
            SearchError::Unreadable { why } => write!(f, "the index cannot be read: {why}"),
            SearchError::NoPositions => f.write_str(
                "the index was made without positions and cannot find phrases: index the documents anew with positions",
            ),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message is the inner error's, so the source is the inner error's too.
            SearchError::Parse(error) => std::error::Error::source(error),
            SearchError::Clause(problem) => std::error::Error::source(problem),
            SearchError::Stopped(stop) => std::error::Error::source(stop),
            SearchError::Facet(error) => std::error::Error::source(error),
            SearchError::Corrupt { what, .. } => Some(what),
            _ => None,
        }
    }
}

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

impl View {
    /// Returns [`SearchError::Corrupt`] if this thread has read damaged pages since
    /// [`damage::clear`].
    pub(crate) fn refuse_damage(&self) -> Result<(), SearchError> {
        let refused = |(executor, what)| Err(SearchError::Corrupt { executor, what });
        self.damage().map_or(Ok(()), refused)
    }
}
