//! `--facet`: what is asked of the values of fields, and the answers for people and programs.

use std::io::Write;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Value, json};
use spirit::FieldKind;
use spirit::facets::{Aggregate, DateInterval, Facet, Summary, TopTerms};
use spirit::lab::format_time;
use spirit::schema::Schema;

use crate::escape::escaped;

/// Values that are named unless it is said how many.
const TOP: usize = 10;
/// Percentiles unless it is said which.
const PERCENTILES: [f64; 5] = [1.0, 25.0, 50.0, 75.0, 99.0];

/// A facet as it was typed, and what it means.
#[derive(Clone, Debug)]
pub(crate) struct FacetArg {
    pub(crate) typed: String,
    pub(crate) facet: Facet,
}

/// A facet's answer.
pub(crate) struct Answered {
    typed: String,
    found: Aggregate,
    /// Whether its numbers are moments, in milliseconds since 1970.
    is_of_moments: bool,
}

impl Answered {
    pub(crate) fn new(asked: &FacetArg, found: Aggregate, schema: &Schema) -> Answered {
        let is_of_moments = asked.is_of_moments(schema);
        Answered { typed: asked.typed.clone(), found, is_of_moments }
    }

    /// A number of the field's, or what it stands for.
    fn value(&self, number: f64) -> Value {
        match self.is_of_moments {
            true => json!(format_time(number.round() as i64)),
            false => json!(number),
        }
    }

    /// The same for people.
    fn shown(&self, number: f64) -> String {
        match self.is_of_moments {
            true => format_time(number.round() as i64),
            false => number.to_string(),
        }
    }

    /// For people.
    pub(crate) fn show(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Answered { typed, found, .. } = self;
        match found {
            Aggregate::Terms(TopTerms { top, others, distinct, .. }) => {
                writeln!(out, "{typed}: {distinct} values, {others} documents with other values")?;
                top.iter()
                    .try_for_each(|(value, count)| writeln!(out, "    {count}  {}", escaped(value)))
            }
            Aggregate::Histogram(buckets) => {
                writeln!(out, "{typed}")?;
                buckets.iter().try_for_each(|(start, count)| writeln!(out, "    {count}  {start}"))
            }
            Aggregate::Dates(buckets) => {
                writeln!(out, "{typed}")?;
                let mut line = |start, count| writeln!(out, "    {count}  {}", format_time(start));
                buckets.iter().try_for_each(|(start, count)| line(*start, count))
            }
            Aggregate::Stats(None) => writeln!(out, "{typed}: no values"),
            Aggregate::Stats(Some(stats)) => {
                let (min, max, mean) =
                    (self.shown(stats.min), self.shown(stats.max), self.shown(stats.mean()));
                write!(out, "{typed}: {} values, {min} to {max}", stats.count)?;
                if !self.is_of_moments {
                    write!(out, ", sum {}", stats.sum)?;
                }
                writeln!(out, ", mean {mean}")
            }
            Aggregate::Cardinality(count) => writeln!(out, "{typed}: {count} different values"),
            Aggregate::Percentiles(at) => {
                writeln!(out, "{typed}")?;
                at.iter().try_for_each(|(percent, number)| {
                    writeln!(out, "    {percent}%  {}", self.shown(*number))
                })
            }
            other => writeln!(out, "{typed}: {other:?}"),
        }
    }

    fn json(&self) -> Value {
        let facet = &self.typed;
        match &self.found {
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
            Aggregate::Stats(None) => json!({ "facet": facet, "count": 0 }),
            Aggregate::Stats(Some(stats)) => self.stats(stats),
            Aggregate::Cardinality(count) => json!({ "facet": facet, "count": count }),
            Aggregate::Percentiles(at) => {
                let at = at
                    .iter()
                    .map(|(percent, n)| json!({ "percent": percent, "value": self.value(*n) }));
                json!({ "facet": facet, "percentiles": at.collect::<Vec<_>>() })
            }
            other => json!({ "facet": facet, "found": format!("{other:?}") }),
        }
    }
}

impl Answered {
    /// Moments have no sum.
    fn stats(&self, stats: &Summary) -> Value {
        let mut value = json!({
            "facet": &self.typed,
            "count": stats.count,
            "min": self.value(stats.min),
            "max": self.value(stats.max),
        });
        if !self.is_of_moments {
            value["sum"] = json!(stats.sum);
        }
        value["mean"] = self.value(stats.mean());
        value
    }
}

impl FacetArg {
    fn is_of_moments(&self, schema: &Schema) -> bool {
        let field = schema.by_name(self.facet.field());
        field.is_some_and(|field| matches!(field.kind, FieldKind::Time(_)))
    }

    /// Whether it asks for numbers where there are moments, which another facet is about.
    pub(crate) fn is_histogram_of_moments(&self, schema: &Schema) -> bool {
        matches!(self.facet, Facet::Histogram { .. }) && self.is_of_moments(schema)
    }
}

fn buckets(name: &str, found: impl Iterator<Item = (Value, u64)>) -> Vec<Value> {
    found.map(|(value, count)| json!({ name: value, "count": count })).collect()
}

impl Serialize for Answered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// `terms:FIELD`, `terms:FIELD:N` and so on. Whatever stands behind the last colon may be part of a name.
pub(crate) fn facet(typed: &str) -> Result<FacetArg, String> {
    let facet = parse(typed).ok_or_else(|| {
        "choose terms:FIELD[:N], histogram:FIELD:N, dates:FIELD:1h|day|week|month|quarter|year, stats:FIELD, \
         cardinality:FIELD or percentiles:FIELD[:N,N]"
            .to_owned()
    })?;
    Ok(FacetArg { typed: typed.to_owned(), facet })
}

fn parse(typed: &str) -> Option<Facet> {
    let (kind, rest) = typed.split_once(':')?;
    let (name, last) = rest.rsplit_once(':').map_or((rest, None), |(name, l)| (name, Some(l)));
    let whole = || rest.to_owned();
    let field = name.to_owned();
    Some(match kind {
        "terms" => match last.and_then(|last| last.parse().ok()) {
            Some(top) => Facet::Terms { field, top },
            None => Facet::Terms { field: whole(), top: TOP },
        },
        "histogram" => Facet::Histogram { field, interval: last?.parse().ok()? },
        "dates" => Facet::Dates { field, interval: interval(last?)? },
        "stats" => Facet::Stats { field: whole() },
        "cardinality" => Facet::Cardinality { field: whole() },
        "percentiles" => match last.and_then(numbers) {
            Some(at) => Facet::Percentiles { field, at },
            None => Facet::Percentiles { field: whole(), at: PERCENTILES.to_vec() },
        },
        _ => return None,
    })
}

fn interval(text: &str) -> Option<DateInterval> {
    Some(match text {
        "day" => DateInterval::Day,
        "week" => DateInterval::Week,
        "month" => DateInterval::Month,
        "quarter" => DateInterval::Quarter,
        "year" => DateInterval::Year,
        time => {
            let time = humantime::parse_duration(time).ok()?;
            return i64::try_from(time.as_millis()).ok().map(DateInterval::Milliseconds);
        }
    })
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_are_read() {
        let field = |name: &str| name.to_owned();
        for (typed, expected) in [
            ("terms:by", Facet::Terms { field: field("by"), top: TOP }),
            ("terms:by:3", Facet::Terms { field: field("by"), top: 3 }),
            ("terms:a:b", Facet::Terms { field: field("a:b"), top: TOP }),
            ("histogram:ms:2.5", Facet::Histogram { field: field("ms"), interval: 2.5 }),
            ("stats:ms", Facet::Stats { field: field("ms") }),
            ("cardinality:by", Facet::Cardinality { field: field("by") }),
            (
                "percentiles:ms:50,99.9",
                Facet::Percentiles { field: field("ms"), at: vec![50.0, 99.9] },
            ),
        ] {
            assert_eq!(facet(typed).unwrap().facet, expected, "{typed}");
        }
        for (text, expected) in
            [("1h", DateInterval::Milliseconds(3_600_000)), ("month", DateInterval::Month)]
        {
            let dates = Facet::Dates { field: field("at"), interval: expected };
            assert_eq!(facet(&format!("dates:at:{text}")).unwrap().facet, dates);
        }
        for wrong in ["", "by", "top:by", "histogram:ms", "histogram:ms:x", "dates:at:soon"] {
            assert!(facet(wrong).is_err(), "{wrong}");
        }
    }
}
