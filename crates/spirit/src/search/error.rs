//! Why a question was not answered.

use std::fmt;

use spirit_index::ground::corrupt::Corrupt;
use spirit_query::{FacetError, ParseError, Stop};
use spirit_schema::FieldKind;

use crate::config::error::REMEDY;
use crate::storage::view::View;

/// A search could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// The text is no query.
    Parse(ParseError),
    /// The cursor is another query's, or of another order: of other parameters, or of scores that fade otherwise.
    Cursor,
    /// The query cost more than it may.
    Stopped(Stop),
    /// Hits cannot be sorted by this field.
    Unsortable {
        /// The field's name.
        field: String,
        /// What it holds, if there is such a field.
        kind: Option<FieldKind>,
    },
    /// Nothing is highlighted in this field.
    Unmarkable {
        /// The field's name.
        field: String,
        /// What it holds, if there is such a field.
        kind: Option<FieldKind>,
    },
    /// Scores cannot fade by this field.
    NoMoments {
        /// The field's name.
        field: String,
        /// What it holds, if there is such a field.
        kind: Option<FieldKind>,
    },
    /// By these parameters a score is no number.
    Parameters,
    /// A facet cannot be answered.
    Facet(FacetError),
    /// The query has a phrase, and the index was made without positions.
    NoPositions,
    /// The file does not hold what was stored there, so no answer is sure.
    Corrupt {
        /// The executor whose part of the file it is.
        executor: usize,
        /// What is wrong, and where.
        what: Corrupt,
    },
    /// In a process that only reads: the index cannot be read any more.
    Unreadable {
        /// Why.
        why: String,
    },
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

impl View {
    /// Returns [`SearchError::Corrupt`] if this thread has read damaged pages since [`damage::clear`].
    pub(crate) fn refuse_damage(&self) -> Result<(), SearchError> {
        let refused = |(executor, what)| Err(SearchError::Corrupt { executor, what });
        self.damage().map_or(Ok(()), refused)
    }
}
