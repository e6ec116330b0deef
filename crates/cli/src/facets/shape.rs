//! What is shown of a facet's answer.

use std::collections::HashSet;

use spirit::FieldKind;
use spirit::schema::Schema;

/// A facet as it was typed, and what is shown of it.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) typed: String,
    pub(crate) field: String,
    pub(crate) what: What,
    /// The facets within it.
    pub(crate) within: Vec<Shape>,
}

/// The kind of a facet.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Terms,
    Histogram,
    Dates,
    /// The ranges as they were typed.
    Ranges(Vec<String>),
    Filters,
    Stats,
    Metric(Metric),
    Cardinality,
    Percentiles,
}

/// One number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Mean,
    Least,
    Highest,
    Sum,
    Values,
}

impl Shape {
    /// The names of all fields that hold moments.
    pub(crate) fn moments(schema: &Schema) -> HashSet<String> {
        let fields = schema.fields().iter();
        let times = fields.filter(|field| matches!(field.kind, FieldKind::Time(_)));
        times.map(|field| field.name.clone()).collect()
    }

    /// The reason why moments cannot be summarized so, if they cannot.
    pub(crate) fn misfit(&self, moments: &HashSet<String>) -> Option<String> {
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
