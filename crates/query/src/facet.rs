//! Facets: the distribution of a field's values, over all documents that a query matches.
//!
//! All facets share one pass over the matches, window by window. A flushed segment has their values
//! in [columns](spirit_index::column), a fresh one in its rows' records. Keywords are counted by
//! their number in the segment, and named when the segment ends. A document counts once for each
//! bucket that it has values in.

mod aggregation;
mod digest;
mod distinct;
mod gather;
mod keywords;
mod room;

use spirit_index::ground::ValueKind;
use spirit_schema::{Field, FieldKind, Schema};

pub(crate) use aggregation::Aggregating;
pub use aggregation::Aggregation;

/// Values or buckets of one facet, at most.
pub const BUCKETS_MAX: usize = 1 << 20;
/// Facets of one query, at most.
pub const FACETS_MAX: usize = 64;

impl Facet {
    /// Facets of one query, at most.
    pub const COUNT_MAX: usize = FACETS_MAX;
    /// Values or buckets of one facet, at most.
    pub const BUCKETS_MAX: usize = BUCKETS_MAX;
}

/// A question about the values of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Facet {
    /// The most frequent values, of keywords, whole numbers or booleans.
    Terms {
        /// The field's name.
        field: String,
        /// The number of values.
        top: usize,
    },
    /// The number of documents in each bucket of numbers or moments. Buckets begin at the multiples
    /// of the interval. Numbers beyond 2^63 intervals from zero are in no bucket.
    Histogram {
        /// The field's name.
        field: String,
        /// The width of a bucket, above 0.
        interval: f64,
    },
    /// The number of documents in each interval of time.
    Dates {
        /// The field's name.
        field: String,
        /// The interval.
        interval: DateInterval,
    },
    /// The least, the highest, the sum and the mean of numbers or moments.
    Stats {
        /// The field's name.
        field: String,
    },
    /// The number of different values: exact up to 16,384, above that within a percent or two.
    Cardinality {
        /// The field's name.
        field: String,
    },
    /// Percentiles of numbers or moments: below each is about this percentage of all.
    Percentiles {
        /// The field's name.
        field: String,
        /// The percentages, from 0 to 100.
        at: Vec<f64>,
    },
}

/// An interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateInterval {
    /// A number of milliseconds, above 0. Intervals are counted from 1970.
    Milliseconds(i64),
    /// A day from midnight, in UTC.
    Day,
    /// Seven days from a Monday, in UTC.
    Week,
    /// A month, in UTC.
    Month,
    /// Three months from the first of January, April, July or October, in UTC.
    Quarter,
    /// A year, in UTC.
    Year,
}

/// The answer to a [`Facet`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Aggregate {
    /// The answer to [`Facet::Terms`].
    Terms(TopTerms),
    /// The answer to [`Facet::Histogram`]: the beginnings of buckets, ascending, with their
    /// documents. Empty buckets are left out.
    Histogram(Vec<(f64, u64)>),
    /// The answer to [`Facet::Dates`]: like a histogram, in milliseconds since 1970.
    Dates(Vec<(i64, u64)>),
    /// The answer to [`Facet::Stats`]; `None` if there are no values.
    Stats(Option<Summary>),
    /// The answer to [`Facet::Cardinality`].
    Cardinality(u64),
    /// The answer to [`Facet::Percentiles`]: each percentage and its number; empty if there are no
    /// values.
    Percentiles(Vec<(f64, f64)>),
}

/// The most frequent values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopTerms {
    /// The values and their documents, most documents first. Ties are in the order of the values'
    /// bytes.
    pub top: Vec<(String, u64)>,
    /// The documents of all other values. A document counts once for each of its values.
    pub others: u64,
    /// The number of different values.
    pub distinct: u64,
}

/// A summary of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// The least value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
    /// The sum.
    pub sum: f64,
}

impl Summary {
    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// The error of a facet that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacetError {
    /// The query has too many facets.
    TooMany {
        /// The number of facets.
        facets: usize,
        /// The limit: [`FACETS_MAX`].
        max: usize,
    },
    /// The field does not exist.
    UnknownField {
        /// The name.
        field: String,
    },
    /// The facet does not suit the field's kind.
    Kind {
        /// The field.
        field: String,
        /// Its kind.
        kind: FieldKind,
        /// The kinds that suit the facet.
        wanted: &'static str,
    },
    /// The interval is not above 0.
    Interval {
        /// The field.
        field: String,
    },
    /// A percentile is not from 0 to 100.
    Percentile {
        /// The field.
        field: String,
    },
}

impl Facet {
    /// Returns the field's name.
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

    /// Returns the field, and the kind of its values. Fails if the facet does not suit them.
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

    /// Returns the kinds of values that suit the facet, and their description. Text never does.
    fn wants(&self) -> (&'static [ValueKind], &'static str) {
        use ValueKind::{Boolean, Float, Integer, Keyword, Time};
        match self {
            Facet::Terms { .. } => {
                (&[Keyword, Integer, Boolean], "keywords, whole numbers or booleans")
            }
            Facet::Dates { .. } => (&[Time], "times"),
            Facet::Cardinality { .. } => {
                (&[Keyword, Integer, Float, Time, Boolean], "values other than text")
            }
            Facet::Histogram { .. } | Facet::Stats { .. } | Facet::Percentiles { .. } => {
                (&[Integer, Float, Time], "numbers or times")
            }
        }
    }
}

/// Converts a value from its sortable form to a number. Whole numbers of more than 53 bits are
/// rounded.
fn number_of(kind: ValueKind, sortable: u64) -> f64 {
    let bits = kind.from_sortable(sortable);
    match kind {
        ValueKind::Float => f64::from_bits(bits),
        ValueKind::Integer | ValueKind::Time => bits.cast_signed() as f64,
        ValueKind::Text | ValueKind::Keyword | ValueKind::Boolean => bits as f64,
    }
}
