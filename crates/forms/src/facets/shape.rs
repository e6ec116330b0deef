//! The shape of a facet's answer.

use std::collections::HashSet;

use spirit::FieldKind;
use spirit::schema::Schema;

/// A facet as it was typed, and how its answer is shown.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The facet as it was typed.
    pub typed: String,
    /// The name of its field.
    pub field: String,
    /// Its kind.
    pub what: What,
    /// The facets within it.
    pub within: Vec<Shape>,
}

/// The kind of a facet.
#[derive(Clone, Debug)]
pub enum What {
    /// The values with most documents.
    Terms,
    /// Intervals of numbers.
    Histogram,
    /// Intervals of time.
    Dates,
    /// Ranges, as they were typed.
    Ranges(Vec<String>),
    /// Queries.
    Filters,
    /// A summary of numbers.
    Stats,
    /// One number of such a summary.
    Metric(Metric),
    /// The number of different values.
    Cardinality,
    /// Percentiles of numbers.
    Percentiles,
}

/// One number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The mean of the values.
    Mean,
    /// The least value.
    Least,
    /// The highest value.
    Highest,
    /// The sum of the values.
    Sum,
    /// The number of values.
    Values,
}

impl Shape {
    /// Returns the names of all fields that hold moments.
    pub fn moments(schema: &Schema) -> HashSet<String> {
        let fields = schema.fields().iter();
        let times = fields.filter(|field| matches!(field.kind, FieldKind::Time(_)));
        times.map(|field| field.name.clone()).collect()
    }

    /// Returns the reason why moments cannot be summarized so, if they cannot.
    pub fn misfit(&self, moments: &HashSet<String>) -> Option<String> {
        let Shape { field, .. } = self;
        let own = match self.what {
            _ if !moments.contains(field) => None,
            What::Histogram => Some(format!(
                "field \"{field}\" holds times; use dates:{field}:INTERVAL, as in dates:{field}:1day"
            )),
            What::Metric(Metric::Sum) => {
                Some(format!("field \"{field}\" holds times, which have no sum; use stats:{field}"))
            }
            _ => None,
        };
        own.or_else(|| self.within.iter().find_map(|within| within.misfit(moments)))
    }
}
