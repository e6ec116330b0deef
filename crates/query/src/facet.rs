//! Facets: the distribution of a field's values, over all documents that a query matches.
//!
//! All facets share one pass over the matches, window by window. A flushed segment has their values
//! in [columns](spirit_index::column), a fresh one in its rows' records. Keywords are counted by
//! their number in the segment, and named when the segment ends. A document counts once for each
//! bucket that it has values in.

mod aggregation;
mod check;
mod digest;
mod distinct;
mod gather;
mod intervals;
mod keywords;
mod marks;
mod nest;
mod refined;
mod room;
mod stand_in;
mod state;
mod steps;
mod sum;
mod zone;

use spirit_index::ground::ValueKind;
use spirit_schema::FieldKind;

pub(crate) use aggregation::Aggregating;
pub use aggregation::Aggregation;
pub use refined::Refined;
pub use stand_in::StandIn;

/// Values or buckets of one facet, at most.
pub const BUCKETS_MAX: usize = 1 << 20;
/// Facets of one query, at most, with those within others.
pub const FACETS_MAX: usize = 64;
/// Facets one within the other, at most.
const DEPTH_MAX: usize = 8;

impl Facet {
    /// Facets of one query, at most, with those within others.
    pub const COUNT_MAX: usize = FACETS_MAX;
    /// Facets one within the other, at most.
    pub const DEPTH_MAX: usize = DEPTH_MAX;
    /// Values or buckets of one facet, at most.
    pub const BUCKETS_MAX: usize = BUCKETS_MAX;
}

/// A question about the values of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Facet {
    /// The most frequent values, of keywords, numbers or booleans.
    Terms {
        /// The field's name.
        field: String,
        /// The number of values.
        top: usize,
    },
    /// The number of documents in each bucket of numbers or moments. Buckets begin at the multiples
    /// of the interval, in decimal: 0.3 is in the bucket of tenths that begins with 0.3. Numbers
    /// beyond 2^63 intervals from zero are in no bucket.
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
    /// The number of documents in each of some ranges of numbers or moments.
    Ranges {
        /// The field's name.
        field: String,
        /// The ranges: the first number in it, and the first one behind it, or neither. Moments are
        /// in milliseconds since 1970.
        ranges: Vec<(Option<f64>, Option<f64>)>,
    },
    /// The number of documents that match each of some queries, in the [query
    /// language](crate::Parser). It has no field.
    Filters {
        /// The queries.
        queries: Vec<String>,
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
    /// A facet with further choices. [`then`](Facet::then) and its neighbours make it.
    Refined(Box<Refined>),
}

/// An interval of time, in UTC unless the facet is [in another zone](Facet::in_zone).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateInterval {
    /// A number of milliseconds, above 0. Intervals are counted from 1970.
    Milliseconds(i64),
    /// A day from midnight.
    Day,
    /// Seven days from a Monday, as in ISO 8601.
    Week,
    /// A month.
    Month,
    /// Three months from the first of January, April, July or October.
    Quarter,
    /// A year.
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
    /// The answer to [`Facet::Ranges`] and [`Facet::Filters`], and to [`Facet::Refined`] of a facet that has buckets.
    Buckets {
        /// The buckets: values with most documents first; others ascending; ranges and queries as given. Each
        /// has a name, its number of documents, and the answers to the facets within. The name is
        /// the value, the beginning, the query, or the range as `from..to`; none for the documents
        /// without a value or that no query matches.
        buckets: Vec<(Option<String>, u64, Vec<Aggregate>)>,
        /// Of [`Facet::Terms`], the documents of all other values.
        others: u64,
        /// Of [`Facet::Terms`], the number of different values; of others, that of the buckets.
        distinct: u64,
    },
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
    /// The number nearest to the exact sum.
    pub sum: f64,
    /// The least, the highest and the sum of whole numbers or moments, exactly.
    pub whole: Option<(i64, i64, i128)>,
    /// The sum of the values' squares.
    pub sum_of_squares: f64,
}

impl Summary {
    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Returns the summary of the values of both.
    pub fn and(self, other: Summary) -> Summary {
        let whole = self.whole.zip(other.whole);
        let whole = whole.map(|((a, b, c), (d, e, f))| (a.min(d), b.max(e), c.saturating_add(f)));
        Summary {
            count: self.count + other.count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: whole.map_or(self.sum + other.sum, |(.., sum)| sum as f64),
            whole,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
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
    /// Too many facets are one within the other.
    TooDeep {
        /// The outermost field.
        field: String,
        /// The limit.
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
    /// There is no such time zone.
    Zone {
        /// The name.
        name: String,
    },
    /// A choice that this facet does not have.
    Choice {
        /// The field.
        field: String,
        /// The reason.
        why: &'static str,
    },
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
