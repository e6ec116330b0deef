//! Queries of the documents in a bucket of an answer.

use spirit::FieldKind;
use spirit::facets::{DateInterval, StandIn};

use super::interval::Interval;
use super::{Asked, Named, OfField, mismatch};
use crate::error::Refusal;
use crate::json::Json;

type Written = Result<Json, Refusal>;
type Members = [(String, Json)];

/// Returns the query of an aggregation of one bucket.
pub(super) fn within_one(asked: &Asked) -> Written {
    if let Asked::Filter { body, .. } = asked { Ok(body.clone()) } else { Err(mismatch()) }
}

/// Returns the query of a bucket, which has a place among others and may have a name.
pub(super) fn of_bucket(
    named: &Named,
    (place, name): (usize, Option<&str>),
    bucket: &Members,
) -> Written {
    let member = |name: &str| bucket.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let key = || member("key").ok_or_else(mismatch);
    match &named.asked {
        Asked::Terms { of, missing, .. } => {
            let shown = member("key_as_string").filter(|_| of.kind == Some(FieldKind::Boolean));
            let key = shown.map_or_else(key, Ok)?;
            let same = object("term", object(&of.field, object("value", key.clone())));
            let is_missing = missing.as_deref().is_some_and(|missing| {
                key.as_str() == Some(missing) || key.scalar().as_deref() == Some(missing)
            });
            Ok(if is_missing { any(vec![same, absent(of)]) } else { same })
        }
        Asked::Dates { of, interval, zone, offset, .. } => {
            let key = number(key()?).ok_or_else(mismatch)? as i64;
            let next = next(key, interval, zone.as_deref(), *offset)?;
            Ok(moments(of, Some(key as f64), Some(next as f64)))
        }
        Asked::Histogram { of, interval, offset, .. } => {
            if interval.fract() != 0.0 || offset.fract() != 0.0 {
                let what = "[top_hits] in a [histogram] with an interval that is not whole";
                return Err(Refusal::unsupported(what));
            }
            let key = number(key()?).ok_or_else(mismatch)?;
            Ok(range(of, Some(key), Some(key + interval), None))
        }
        Asked::Ranges { of, format, .. } => {
            let [from, to] = ["from", "to"].map(|end| member(end).and_then(number));
            Ok(match format {
                Some(_) => moments(of, from, to),
                None => range(of, from, to, None),
            })
        }
        Asked::Filters { bodies, names, .. } => {
            let known = names.as_ref().zip(name);
            let place = match known {
                Some((names, name)) => names.iter().position(|own| own == name),
                // Pipelines that leave out buckets move the others.
                None if named
                    .within
                    .0
                    .iter()
                    .any(|named| matches!(named.asked, Asked::Pipeline(_))) =>
                {
                    let what = "[top_hits] beside a pipeline in [filters] without names";
                    return Err(Refusal::unsupported(what));
                }
                None => Some(place),
            };
            let own = place.and_then(|place| bodies.get(place)).cloned();
            Ok(own.unwrap_or_else(|| none_of(bodies.clone())))
        }
        _ => Err(mismatch()),
    }
}

/// Returns the beginning of the next interval.
fn next(key: i64, interval: &Interval, zone: Option<&str>, offset: i64) -> Result<i64, Refusal> {
    // Where clocks change, fixed intervals have other lengths.
    let is_even = |zone: &str| zone == "Z" || zone == "UTC" || zone.contains(':');
    let is_fixed = matches!(interval.engine, DateInterval::Milliseconds(_));
    if is_fixed && !zone.is_none_or(is_even) {
        let what = "[top_hits] in a [date_histogram] of fixed intervals in a named zone";
        return Err(Refusal::unsupported(what));
    }
    super::buckets::following(interval, key, (zone, offset))
}

fn moments(of: &OfField, from: Option<f64>, to: Option<f64>) -> Json {
    range(of, from, to, Some("epoch_millis"))
}

/// Returns the query of values from one on, before another. A value that stands for missing ones
/// may be among them.
fn range(of: &OfField, from: Option<f64>, to: Option<f64>, format: Option<&str>) -> Json {
    let stand_in = match of.missing {
        Some(StandIn::Integer(number)) => Some(number as f64),
        Some(StandIn::Float(number)) => Some(number),
        _ => None,
    };
    let is_within =
        |number: f64| from.is_none_or(|from| from <= number) && to.is_none_or(|to| number < to);
    let present = present(&of.field, from, to, format);
    if stand_in.is_some_and(is_within) { any(vec![present, absent(of)]) } else { present }
}

fn absent(of: &OfField) -> Json {
    none_of(vec![object("exists", text("field", &of.field))])
}

fn present(field: &str, from: Option<f64>, to: Option<f64>, format: Option<&str>) -> Json {
    let end = |end: f64| match format {
        Some(_) => Json::Number((end as i64).into()),
        None => super::number(end),
    };
    let mut ends: Vec<(String, Json)> = Vec::new();
    ends.extend(from.map(|from| ("gte".to_owned(), end(from))));
    ends.extend(to.map(|to| ("lt".to_owned(), end(to))));
    if ends.is_empty() {
        return object("exists", text("field", field));
    }
    ends.extend(format.map(|format| ("format".to_owned(), Json::String(format.to_owned()))));
    object("range", object(field, Json::Object(ends)))
}

fn any(queries: Vec<Json>) -> Json {
    object("bool", object("should", Json::Array(queries)))
}

fn none_of(queries: Vec<Json>) -> Json {
    object("bool", object("must_not", Json::Array(queries)))
}

fn object(name: &str, value: Json) -> Json {
    Json::Object(vec![(name.to_owned(), value)])
}

fn text(name: &str, value: &str) -> Json {
    object(name, Json::String(value.to_owned()))
}

fn number(value: &Json) -> Option<f64> {
    if let Json::Number(number) = value { number.as_f64() } else { None }
}
