//! `--facet`: what is asked of the values of fields, and the answers for people and programs.

mod parse;
mod shape;

use std::collections::HashSet;
use std::io::Write;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Number, Value, json};
use spirit::facets::{Aggregate, Summary, TopTerms};
use spirit::lab::format_time;
use spirit::schema::Schema;

use crate::escape::escaped;
pub(crate) use parse::{FacetArg, facet};
pub(crate) use shape::Shape;
use shape::{Metric, What};

/// The first whole number behind those that floating point has exactly: 2^53.
const WHOLE_END: i128 = 1 << 53;

/// A facet's answer.
pub(crate) struct Answered {
    shape: Shape,
    found: Aggregate,
    /// The fields that hold moments, in milliseconds since 1970.
    moments: HashSet<String>,
}

/// A bucket: its name, its number of documents, and the answers within.
type Bucket = (Option<String>, u64, Vec<Aggregate>);

/// A part of an answer.
#[derive(Clone, Copy)]
struct Part<'a> {
    shape: &'a Shape,
    found: &'a Aggregate,
    moments: &'a HashSet<String>,
}

impl Answered {
    pub(crate) fn new(asked: &FacetArg, found: Aggregate, schema: &Schema) -> Answered {
        Answered { shape: asked.shape.clone(), found, moments: Shape::moments(schema) }
    }

    fn part(&self) -> Part<'_> {
        Part { shape: &self.shape, found: &self.found, moments: &self.moments }
    }

    /// For people.
    pub(crate) fn show(&self, out: &mut impl Write) -> std::io::Result<()> {
        self.part().show("", out)
    }
}

impl<'a> Part<'a> {
    /// The parts within a bucket.
    fn within(self, bucket: &'a Bucket) -> impl Iterator<Item = Part<'a>> {
        let Part { shape, moments, .. } = self;
        shape.within.iter().zip(&bucket.2).map(move |(shape, found)| Part { shape, found, moments })
    }

    fn is_of_moments(self) -> bool {
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

    fn shown(self, exact: Option<i128>, number: f64) -> String {
        match exact {
            _ if self.is_of_moments() => format_time(number.round() as i64),
            Some(exact) => exact.to_string(),
            None => number.to_string(),
        }
    }

    fn show(self, indent: &str, out: &mut impl Write) -> std::io::Result<()> {
        let typed = &self.shape.typed;
        write!(out, "{indent}")?;
        match self.found {
            Aggregate::Terms(TopTerms { top, others, distinct, .. }) => {
                writeln!(out, "{typed}: {distinct} values, {others} documents with other values")?;
                let mut line =
                    |value, count| writeln!(out, "{indent}    {count}  {}", escaped(value));
                top.iter().try_for_each(|(value, count)| line(value, count))
            }
            Aggregate::Histogram(buckets) => {
                writeln!(out, "{typed}")?;
                let mut line = |start, count| writeln!(out, "{indent}    {count}  {start}");
                buckets.iter().try_for_each(|(start, count)| line(start, count))
            }
            Aggregate::Dates(buckets) => {
                writeln!(out, "{typed}")?;
                let mut line =
                    |start, count| writeln!(out, "{indent}    {count}  {}", format_time(start));
                buckets.iter().try_for_each(|(start, count)| line(*start, count))
            }
            Aggregate::Stats(stats) => self.show_stats(stats.as_ref(), out),
            Aggregate::Cardinality(count) => writeln!(out, "{typed}: {count} different values"),
            Aggregate::Percentiles(at) => {
                writeln!(out, "{typed}")?;
                at.iter().try_for_each(|(percent, number)| {
                    writeln!(out, "{indent}    {percent}%  {}", self.shown(None, *number))
                })
            }
            Aggregate::Buckets { buckets, others, distinct } => {
                match self.shape.what {
                    What::Terms => writeln!(
                        out,
                        "{typed}: {distinct} values, {others} documents with other values"
                    )?,
                    _ => writeln!(out, "{typed}")?,
                }
                (0..)
                    .zip(buckets)
                    .try_for_each(|(n, bucket)| self.show_bucket(n, bucket, indent, out))
            }
            other => writeln!(out, "{typed}: {other:?}"),
        }
    }

    fn show_bucket(
        self,
        number: usize,
        bucket: &Bucket,
        indent: &str,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let name = self.name(number, bucket).unwrap_or("(no value)");
        writeln!(out, "{indent}    {}  {}", bucket.1, escaped(name))?;
        let indent = format!("{indent}        ");
        self.within(bucket).try_for_each(|part| part.show(&indent, out))
    }

    /// The name of a bucket; ranges have the one that was typed.
    fn name<'b>(self, number: usize, bucket: &'b Bucket) -> Option<&'b str>
    where
        'a: 'b,
    {
        let name = bucket.0.as_deref()?;
        match &self.shape.what {
            What::Ranges(names) => names.get(number).map(String::as_str).or(Some(name)),
            _ => Some(name),
        }
    }

    fn show_stats(self, stats: Option<&Summary>, out: &mut impl Write) -> std::io::Result<()> {
        let typed = &self.shape.typed;
        if let What::Metric(metric) = self.shape.what {
            return match stats.map(|stats| self.metric_shown(metric, stats)) {
                Some(shown) => writeln!(out, "{typed}: {shown}"),
                None if metric == Metric::Values => writeln!(out, "{typed}: 0"),
                None => writeln!(out, "{typed}: no values"),
            };
        }
        let Some(stats) = stats else { return writeln!(out, "{typed}: no values") };
        let shown = |metric| self.metric_shown(metric, stats);
        let (min, max) = (shown(Metric::Least), shown(Metric::Highest));
        write!(out, "{typed}: {} values, {min} to {max}", stats.count)?;
        if !self.is_of_moments() {
            write!(out, ", sum {}", shown(Metric::Sum))?;
        }
        writeln!(out, ", mean {}", shown(Metric::Mean))
    }

    fn metric_shown(self, metric: Metric, stats: &Summary) -> String {
        let whole = stats.whole;
        match metric {
            Metric::Mean => self.shown(None, stats.mean()),
            Metric::Least => self.shown(whole.map(|(min, ..)| min.into()), stats.min),
            Metric::Highest => self.shown(whole.map(|(_, max, _)| max.into()), stats.max),
            Metric::Sum => self.shown(whole.map(|(.., sum)| sum), stats.sum),
            Metric::Values => stats.count.to_string(),
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
