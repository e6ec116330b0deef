//! Facets: what is asked of the values of fields, as text, and the answers, as JSON.

mod parse;
mod shape;

use std::collections::HashSet;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Number, Value, json};
use spirit::facets::{Aggregate, Summary, TopTerms};
use spirit::lab::format_time;
use spirit::schema::Schema;

pub use parse::{Asked, FacetError};
pub use shape::{Metric, Shape, What};

/// The first whole number behind those that floating point has exactly: 2^53.
const WHOLE_END: i128 = 1 << 53;

/// A facet's answer.
pub struct Answered {
    shape: Shape,
    found: Aggregate,
    /// The fields that hold moments, in milliseconds since 1970.
    moments: HashSet<String>,
}

/// A bucket: its name, its number of documents, and the answers within.
pub type Bucket = (Option<String>, u64, Vec<Aggregate>);

/// A facet's answer, or that of a facet within one of its buckets.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The facet, and how its answer is shown.
    pub shape: &'a Shape,
    /// The values that were found.
    pub found: &'a Aggregate,
    moments: &'a HashSet<String>,
}

impl Answered {
    /// Returns what was found for a facet, in an index with this schema.
    pub fn new(asked: &Asked, found: Aggregate, schema: &Schema) -> Answered {
        Answered { shape: asked.shape.clone(), found, moments: Shape::moments(schema) }
    }

    /// Returns the whole answer.
    pub fn part(&self) -> Part<'_> {
        Part { shape: &self.shape, found: &self.found, moments: &self.moments }
    }
}

impl<'a> Part<'a> {
    /// Iterates over the answers within a bucket.
    pub fn within(self, bucket: &'a Bucket) -> impl Iterator<Item = Part<'a>> {
        let Part { shape, moments, .. } = self;
        shape.within.iter().zip(&bucket.2).map(move |(shape, found)| Part { shape, found, moments })
    }

    /// True if the field holds moments.
    pub fn is_of_moments(self) -> bool {
        self.moments.contains(&self.shape.field)
    }

    /// A number of the field's, or what it stands for.
    fn value(self, number: f64) -> Value {
        match self.is_of_moments() {
            true => json!(format_time(number.round() as i64)),
            false => json!(number),
        }
    }

    /// A whole number of the field's; `rounded` if that is exact.
    fn whole(self, exact: Option<i128>, rounded: f64) -> Value {
        let beyond = exact.filter(|n| n.abs() >= WHOLE_END && !self.is_of_moments());
        let number = beyond.and_then(Number::from_i128);
        number.map_or_else(|| self.value(rounded), Value::Number)
    }

    /// Returns the name of the bucket with this number; ranges have the one that was typed.
    pub fn name<'b>(self, number: usize, bucket: &'b Bucket) -> Option<&'b str>
    where
        'a: 'b,
    {
        let name = bucket.0.as_deref()?;
        match &self.shape.what {
            What::Ranges(names) => names.get(number).map(String::as_str).or(Some(name)),
            _ => Some(name),
        }
    }

    fn metric(self, metric: Metric, stats: &Summary) -> Value {
        let whole = stats.whole;
        match metric {
            Metric::Mean => self.value(stats.mean()),
            Metric::Least => self.whole(whole.map(|(min, ..)| min.into()), stats.min),
            Metric::Highest => self.whole(whole.map(|(_, max, _)| max.into()), stats.max),
            Metric::Sum => self.whole(whole.map(|(.., sum)| sum), stats.sum),
            Metric::Values => json!(stats.count),
        }
    }

    fn json(self) -> Value {
        let facet = &self.shape.typed;
        match self.found {
            Aggregate::Terms(TopTerms { top, others, distinct, .. }) => {
                let top = buckets("value", top.iter().map(|(value, count)| (json!(value), *count)));
                json!({ "facet": facet, "buckets": top, "others": others, "distinct": distinct })
            }
            Aggregate::Histogram(found) => {
                let found = found.iter().map(|(start, count)| (json!(start), *count));
                json!({ "facet": facet, "buckets": buckets("from", found) })
            }
            Aggregate::Dates(found) => {
                let found = found.iter().map(|(start, count)| (json!(format_time(*start)), *count));
                json!({ "facet": facet, "buckets": buckets("from", found) })
            }
            Aggregate::Stats(stats) => self.stats(stats.as_ref()),
            Aggregate::Cardinality(count) => json!({ "facet": facet, "count": count }),
            Aggregate::Percentiles(at) => {
                let at = at
                    .iter()
                    .map(|(percent, n)| json!({ "percent": percent, "value": self.value(*n) }));
                json!({ "facet": facet, "percentiles": at.collect::<Vec<_>>() })
            }
            Aggregate::Buckets { buckets, others, distinct } => {
                let found = (0..).zip(buckets).map(|(number, bucket)| self.bucket(number, bucket));
                let mut value = json!({ "facet": facet, "buckets": found.collect::<Vec<_>>() });
                if let What::Terms = self.shape.what {
                    (value["others"], value["distinct"]) = (json!(others), json!(distinct));
                }
                value
            }
            other => json!({ "facet": facet, "found": format!("{other:?}") }),
        }
    }

    fn bucket(self, number: usize, bucket: &Bucket) -> Value {
        let count = bucket.1;
        let mut value = match (self.name(number, bucket), &self.shape.what) {
            (None, _) => json!({ "missing": true, "count": count }),
            (Some(name), What::Terms) => json!({ "value": name, "count": count }),
            (Some(name), What::Filters) => json!({ "query": name, "count": count }),
            (Some(name), What::Ranges(_)) => json!({ "range": name, "count": count }),
            (Some(name), What::Histogram) => {
                json!({ "from": name.parse::<f64>().unwrap_or_default(), "count": count })
            }
            (Some(name), _) => json!({ "from": name, "count": count }),
        };
        if !self.shape.within.is_empty() {
            value["facets"] = self.within(bucket).map(Part::json).collect();
        }
        value
    }

    /// Moments have no sum.
    fn stats(self, stats: Option<&Summary>) -> Value {
        let facet = &self.shape.typed;
        if let What::Metric(metric) = self.shape.what {
            let none = if metric == Metric::Values { json!(0) } else { Value::Null };
            let number = stats.map_or(none, |stats| self.metric(metric, stats));
            return json!({ "facet": facet, "value": number });
        }
        let Some(stats) = stats else { return json!({ "facet": facet, "count": 0 }) };
        let metric = |metric| self.metric(metric, stats);
        let mut value = json!({
            "facet": facet,
            "count": stats.count,
            "min": metric(Metric::Least),
            "max": metric(Metric::Highest),
        });
        if !self.is_of_moments() {
            value["sum"] = metric(Metric::Sum);
        }
        value["mean"] = metric(Metric::Mean);
        value
    }
}

fn buckets(name: &str, found: impl Iterator<Item = (Value, u64)>) -> Vec<Value> {
    found.map(|(value, count)| json!({ name: value, "count": count })).collect()
}

impl Serialize for Answered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.part().json().serialize(serializer)
    }
}
