//! Errors of searches.

use std::fmt;

use spirit_query::{FacetError, ParseError, Problem, Stop};
use spirit_schema::FieldKind;

use crate::config::corrupt::Corrupt;
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
    /// The reader is of another index than the tail.
    OtherIndex,
    /// This process only reads: only the one that writes an index reports what arrives.
    ReadOnly,
    /// The text is no place in the stream.
    Place {
        /// The text.
        text: String,
    },
    /// The thread that looks at new documents cannot be started.
    Thread {
        /// The reason.
        why: String,
    },
    /// The cursor belongs to another query, order, scoring or fading.
    Cursor,
    /// The text is no cursor.
    CursorText {
        /// The text.
        text: String,
    },
    /// The query was not answered within [`Limits::timeout`](crate::search::Limits::timeout).
    TimedOut,
    /// The query was cancelled.
    Cancelled,
    /// The query's patterns match too many terms.
    TooManyTerms {
        /// The limit.
        max: u32,
    },
    /// Too many facets are one within the other.
    FacetDepth {
        /// The outermost field's name.
        field: String,
        /// The limit.
        max: usize,
    },
    /// There is no such time zone.
    Zone {
        /// The name.
        name: String,
    },
    /// A facet does not have this choice.
    FacetChoice {
        /// The field's name.
        field: String,
        /// The reason.
        why: &'static str,
    },
    /// The query has too many facets.
    TooManyFacets {
        /// The number of facets.
        facets: usize,
        /// The limit.
        max: usize,
    },
    /// A facet has too many values or buckets.
    TooManyBuckets {
        /// The limit.
        max: usize,
    },
    /// The query's facets take too much memory.
    FacetMemory {
        /// The limit, in bytes.
        max: usize,
    },
    /// Hits are sorted by too many keys.
    TooManyKeys {
        /// The number of keys.
        keys: usize,
        /// The limit.
        max: usize,
    },
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
    /// Values of this field cannot be aggregated so.
    Unaggregatable {
        /// The field's name.
        field: String,
        /// The kind of the field; none if there is no such field.
        kind: Option<FieldKind>,
        /// The kinds that suit the facet.
        wanted: &'static str,
    },
    /// The interval of a facet is not above 0.
    FacetInterval {
        /// The field's name.
        field: String,
    },
    /// A percentile is not from 0 to 100.
    Percentile {
        /// The field's name.
        field: String,
    },
    /// The query has a phrase, or scores depend on places, but the index was made without
    /// positions.
    NoPositions,
    /// The query read a part of the file that does not hold what was stored there.
    Corrupt(Corrupt),
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
            SearchError::Closed => {
                f.write_str("the index is closed; open it again and use a new searcher")
            }
            SearchError::OtherIndex => f.write_str(
                "the reader is of another index; take a tail's matches with its own index's",
            ),
            SearchError::ReadOnly => f.write_str(
                "this process only reads the index; ask the one that writes it for what arrives",
            ),
            SearchError::Place { text } => write!(
                f,
                "`{text}` is no place in this index's stream: give a sequence number, `start`, or \
                 what `places` returned"
            ),
            SearchError::Thread { why } => {
                write!(f, "the thread that looks at new documents cannot be started: {why}")
            }
            SearchError::TimedOut => {
                f.write_str("the query exceeded its time limit; simplify it, or raise the limit")
            }
            SearchError::Cancelled => f.write_str("the query was cancelled"),
            SearchError::TooManyTerms { max } => write!(
                f,
                "the query's prefixes, wildcards, fuzzy words and ranges of words match more than {max} terms; make them \
                 narrower"
            ),
            SearchError::TooManyFacets { facets, max } => {
                write!(
                    f,
                    "{facets} facets in one query: the limit is {max} facets; use several queries"
                )
            }
            SearchError::TooManyBuckets { max } => write!(
                f,
                "a facet has more than {max} values or buckets; match fewer documents, or use a longer interval"
            ),
            SearchError::FacetMemory { max } => write!(
                f,
                "the query's facets take more than {max} bytes; use fewer facets, match fewer documents, or use a longer interval"
            ),
            SearchError::Unaggregatable { field, kind: None, .. } => {
                write!(f, "no field {field:?} to aggregate; choose a field of the index")
            }
            SearchError::Unaggregatable { field, kind: Some(kind), wanted } => {
                write!(f, "field {field:?} is of kind {kind}; this facet needs {wanted}")?;
                match kind.is_text() {
                    true => f.write_str(
                        "; declare the field as a keyword in a new index (--schema NAME:keyword) and \
                         add the documents there",
                    ),
                    false => Ok(()),
                }
            }
            SearchError::FacetDepth { field, max } => write!(
                f,
                "the facet of {field:?} has more than {max} facets one within the other; divide less"
            ),
            SearchError::Zone { name } => write!(
                f,
                "no time zone {name:?}; give a name of the IANA database, as Europe/Berlin, or an \
                 offset, as +02:00"
            ),
            SearchError::FacetChoice { field, why } => {
                write!(f, "the facet of {field:?} cannot be refined so: {why}")
            }
            SearchError::FacetInterval { field } => {
                write!(f, "the interval of the facet of {field:?} must be above 0")
            }
            SearchError::Percentile { field } => {
                write!(f, "percentiles of {field:?} must be from 0 to 100")
            }
            SearchError::Cursor => f.write_str(
                "the cursor belongs to another query or order; repeat the query and order that it \
                 came from, or begin without a cursor",
            ),
            SearchError::CursorText { text } => write!(
                f,
                "\"{}\" is not a cursor; give the cursor of an earlier page, or begin without one",
                text.escape_debug()
            ),
            SearchError::Parameters => f.write_str(
                "these scoring parameters are out of range; k1 must be ≥ 0, and b from 0 to 1",
            ),
            SearchError::Unmarkable { field, kind: None } => {
                write!(f, "no field {field:?} to highlight; choose a field of the index")
            }
            SearchError::Unmarkable { field, kind: Some(kind) } => write!(
                f,
                "field {field:?} of kind {kind} cannot be highlighted; choose a field of text or \
                 keywords"
            ),
            SearchError::TooManyKeys { keys, max } => write!(
                f,
                "{keys} keys in one order: the limit is {max} keys; leave out the last ones"
            ),
            SearchError::Unsortable { field, kind: None } => {
                write!(f, "no field {field:?} to sort by; choose a field of the index")
            }
            SearchError::Unsortable { field, kind: Some(kind) } => write!(
                f,
                "field {field:?} of kind {kind} has no order to sort by; choose a field of \
                 keywords, integers, floats, times or booleans"
            ),
            SearchError::NoMoments { field, kind: None } => {
                write!(f, "no field {field:?} to fade scores by; choose a time field")
            }
            SearchError::NoMoments { field, kind: Some(kind) } => write!(
                f,
                "scores cannot fade by field {field:?} of kind {kind}; choose a time field"
            ),
            SearchError::Corrupt(damage) => {
                write!(f, "the query needs a damaged part; {damage}; {REMEDY}")
            }
            SearchError::Unreadable { why } => write!(f, "the index cannot be read: {why}"),
            SearchError::NoPositions => f.write_str(
                "the index has no positions, which phrases and scores by proximity need; index the \
                 documents again with positions",
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
            SearchError::Corrupt(damage) => Some(damage),
            _ => None,
        }
    }
}

impl From<Stop> for SearchError {
    fn from(stop: Stop) -> SearchError {
        match stop {
            Stop::TimedOut => SearchError::TimedOut,
            Stop::Cancelled => SearchError::Cancelled,
            Stop::Buckets { max } => SearchError::TooManyBuckets { max },
            Stop::Memory { max } => SearchError::FacetMemory { max },
            Stop::Expansions { max } => SearchError::TooManyTerms { max },
        }
    }
}

impl From<FacetError> for SearchError {
    fn from(error: FacetError) -> SearchError {
        match error {
            FacetError::TooMany { facets, max } => SearchError::TooManyFacets { facets, max },
            FacetError::TooDeep { field, max } => SearchError::FacetDepth { field, max },
            FacetError::Zone { name } => SearchError::Zone { name },
            FacetError::Choice { field, why } => SearchError::FacetChoice { field, why },
            FacetError::UnknownField { field } => {
                SearchError::Unaggregatable { field, kind: None, wanted: "" }
            }
            FacetError::Kind { field, kind, wanted } => {
                SearchError::Unaggregatable { field, kind: Some(kind), wanted }
            }
            FacetError::Interval { field } => SearchError::FacetInterval { field },
            FacetError::Percentile { field } => SearchError::Percentile { field },
        }
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
        let refused = |(executor, what)| Err(SearchError::Corrupt(Corrupt::new(executor, what)));
        self.damage().map_or(Ok(()), refused)
    }
}
