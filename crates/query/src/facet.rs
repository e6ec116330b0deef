//! Facets: what the values of a field are, over all documents that a query matches.
//!
//! Matches are gone through once, window by window, whatever the number of facets: in a flushed segment their values are in
//! [columns](spirit_index::column), in a fresh one in its rows' records. Keywords are counted by their number in the segment, and
//! named when it ends. A document counts once for each bucket that it has values in.

mod aggregation;
mod digest;
mod distinct;
mod gather;
mod keywords;
mod room;

use std::error::Error;
use std::fmt;

use spirit_index::ground::values::ValueKind;
use spirit_schema::{Calendar, Field, FieldKind, Schema};

pub(crate) use aggregation::Aggregating;
pub use aggregation::Aggregation;

/// Values or buckets that one facet tells apart.
pub const BUCKETS_MAX: usize = 1 << 20;
/// Facets of one query.
pub const FACETS_MAX: usize = 64;

/// What is asked of the values of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Facet {
    /// The values that most documents have, of keywords, whole numbers and booleans.
    Terms {
        /// The field's name.
        field: String,
        /// How many values.
        top: usize,
    },
    /// How many documents have numbers, or moments, from each multiple of a number to the next. Numbers of 2^63 times the interval and
    /// more, either way, are in none.
    Histogram {
        /// The field's name.
        field: String,
        /// The number: above 0.
        interval: f64,
    },
    /// How many documents have moments in each stretch of time.
    Dates {
        /// The field's name.
        field: String,
        /// The stretches.
        interval: DateInterval,
    },
    /// The least, the highest, the sum and the mean of numbers or moments.
    Stats {
        /// The field's name.
        field: String,
    },
    /// How many different values there are: exactly up to 16,384, above that within a percent or two.
    Cardinality {
        /// The field's name.
        field: String,
    },
    /// The numbers, or moments, below which this many percent of all are, nearly.
    Percentiles {
        /// The field's name.
        field: String,
        /// This many percent: from 0 to 100.
        at: Vec<f64>,
    },
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateInterval {
    /// This many milliseconds, above 0, counted from 1970.
    Milliseconds(i64),
    /// One of the calendar's, in UTC.
    Calendar(Calendar),
}

/// What the values of a field are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Aggregate {
    /// Of [`Facet::Terms`].
    Terms(TopTerms),
    /// Of [`Facet::Histogram`]: where buckets begin, ascending, with the documents in them. Empty ones are left out.
    Histogram(Vec<(f64, u64)>),
    /// Of [`Facet::Dates`]: the same, in milliseconds since 1970.
    Dates(Vec<(i64, u64)>),
    /// Of [`Facet::Stats`]; none if there are no values.
    Stats(Option<Summary>),
    /// Of [`Facet::Cardinality`].
    Cardinality(u64),
    /// Of [`Facet::Percentiles`]: each of them and the number; none if there are no values.
    Percentiles(Vec<(f64, f64)>),
}

/// The values that most documents have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopTerms {
    /// Each value with the documents that have it, most first; of equals in the order of their bytes.
    pub top: Vec<(String, u64)>,
    /// The documents of all other values, one that has several of them as often.
    pub others: u64,
    /// How many different values there are.
    pub distinct: u64,
}

/// Numbers in short.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How many values there are.
    pub count: u64,
    /// The least.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// All together.
    pub sum: f64,
}

impl Summary {
    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// A facet cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FacetError {
    /// More facets are asked for at once than may be.
    TooMany {
        /// How many are asked for.
        facets: usize,
        /// How many may be: [`FACETS_MAX`].
        max: usize,
    },
    /// There is no such field.
    UnknownField {
        /// The name.
        field: String,
    },
    /// The field's values are not such as the facet is about.
    Kind {
        /// The field.
        field: String,
        /// Its kind.
        kind: FieldKind,
        /// What the facet is about.
        wanted: &'static str,
    },
    /// An interval that is not above 0.
    Interval {
        /// The field.
        field: String,
    },
    /// A percentile that is not from 0 to 100.
    Percentile {
        /// The field.
        field: String,
    },
}

impl fmt::Display for FacetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FacetError::TooMany { facets, max } => {
                write!(
                    f,
                    "{facets} facets of one query: ask for {max} at most, and for the others by themselves"
                )
            }
            FacetError::UnknownField { field } => write!(f, "there is no field \"{field}\""),
            FacetError::Kind { field, kind, wanted } => {
                write!(f, "the field \"{field}\" is of kind {kind}: this facet is about {wanted}")
            }
            FacetError::Interval { field } => {
                write!(f, "the interval of the facet of \"{field}\" is not a number above 0")
            }
            FacetError::Percentile { field } => {
                write!(f, "a percentile of \"{field}\" is not from 0 to 100")
            }
        }
    }
}

impl Error for FacetError {}

impl Facet {
    /// The field's name.
    pub fn field(&self) -> &str {
        match self {
            Facet::Terms { field, .. }
            | Facet::Histogram { field, .. }
            | Facet::Dates { field, .. }
            | Facet::Stats { field }
            | Facet::Cardinality { field }
            | Facet::Percentiles { field, .. } => field,
        }
    }

    /// The field, and what its values are; an error if the facet is not about such values.
    fn check<'s>(&self, schema: &'s Schema) -> Result<(&'s Field, ValueKind), FacetError> {
        let name = || self.field().to_owned();
        let found = schema.by_name(self.field());
        let field = found.ok_or_else(|| FacetError::UnknownField { field: name() })?;
        let (fits, wanted): (&[ValueKind], _) = self.wants();
        let kind = field.kind.value_kind();
        if !fits.contains(&kind) {
            return Err(FacetError::Kind { field: name(), kind: field.kind, wanted });
        }
        match self {
            Facet::Histogram { interval, .. } if !(interval.is_finite() && *interval > 0.0) => {
                Err(FacetError::Interval { field: name() })
            }
            Facet::Dates { interval: DateInterval::Milliseconds(..=0), .. } => {
                Err(FacetError::Interval { field: name() })
            }
            Facet::Percentiles { at, .. } if !at.iter().all(|p| (0.0..=100.0).contains(p)) => {
                Err(FacetError::Percentile { field: name() })
            }
            _ => Ok((field, kind)),
        }
    }

    /// The kinds of values that it is about, which texts never are, and what they are called.
    fn wants(&self) -> (&'static [ValueKind], &'static str) {
        use ValueKind::{Boolean, Float, Integer, Keyword, Time};
        match self {
            Facet::Terms { .. } => {
                (&[Keyword, Integer, Boolean], "keywords, whole numbers and booleans")
            }
            Facet::Dates { .. } => (&[Time], "times"),
            Facet::Cardinality { .. } => {
                (&[Keyword, Integer, Float, Time, Boolean], "values that are no text")
            }
            Facet::Histogram { .. } | Facet::Stats { .. } | Facet::Percentiles { .. } => {
                (&[Integer, Float, Time], "numbers and times")
            }
        }
    }
}

/// A value as a number, from its sortable form. Whole numbers of more than 53 bits are rounded.
fn number_of(kind: ValueKind, sortable: u64) -> f64 {
    let bits = kind.from_sortable(sortable);
    match kind {
        ValueKind::Float => f64::from_bits(bits),
        ValueKind::Integer | ValueKind::Time => bits.cast_signed() as f64,
        ValueKind::Text | ValueKind::Keyword | ValueKind::Boolean => bits as f64,
    }
}
