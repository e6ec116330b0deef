//! Answers of aggregations, in OpenSearch's form.

use spirit::FieldKind;
use spirit::facets::{Aggregate, Summary, TopTerms};

use super::buckets::{self, Bucket};
use super::count::Count;
use super::deviation;
use super::{Aggregations, Asked, Metric, Named, OfField, mismatch, number, pipeline, top_hits};
use crate::date::formatted;
use crate::error::Refusal;
use crate::json::Json;

type Members = Vec<(String, Json)>;
type Shaped<T> = Result<T, Refusal>;

/// Returns the answers of all aggregations, by their names.
pub(super) fn all(asked: &Aggregations, aggregates: &[Aggregate], typed: bool) -> Shaped<Json> {
    members(asked, Some(aggregates), typed, &Count::default()).map(Json::Object)
}

/// Returns the answers of aggregations. Without aggregates they are those of no documents.
fn members(
    asked: &Aggregations,
    aggregates: Option<&[Aggregate]>,
    typed: bool,
    count: &Count,
) -> Shaped<Members> {
    let mut left = aggregates.unwrap_or_default().iter();
    let mut answers = Members::new();
    for named in &asked.0 {
        if let Asked::Pipeline(_) = named.asked {
            continue;
        }
        let aggregate = match aggregates {
            Some(_) if named.asked.is_known() => Some(left.next().ok_or_else(mismatch)?),
            _ => None,
        };
        let mut answer = Members::new();
        if let Some(meta) = &named.meta {
            answer.push(("meta".into(), meta.clone()));
        }
        answer.extend(one(named, aggregate, typed, count)?);
        answers.push((named.shown_name(typed), Json::Object(answer)));
    }
    answers.extend(pipeline::over_all(asked, &answers, typed)?);
    Ok(answers)
}

impl Named {
    /// Returns the name of its answer.
    pub(super) fn shown_name(&self, typed: bool) -> String {
        match typed {
            true => format!("{}#{}", self.asked.typed(), self.name),
            false => self.name.clone(),
        }
    }
}

impl Asked {
    /// True if the engine has a facet for it.
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Asked::Filters { .. } | Asked::Filter { .. }) || self.kind().is_some()
    }

    /// Returns the kind of its field; none without a field.
    pub(super) fn kind(&self) -> Option<FieldKind> {
        match self {
            Asked::Filters { .. }
            | Asked::Filter { .. }
            | Asked::TopHits(_)
            | Asked::Pipeline(_) => None,
            Asked::Terms { of, .. }
            | Asked::Dates { of, .. }
            | Asked::Histogram { of, .. }
            | Asked::Ranges { of, .. }
            | Asked::Metric { of, .. }
            | Asked::Percentiles { of, .. } => of.kind,
        }
    }

    /// Returns the type that typed keys have in front.
    fn typed(&self) -> &'static str {
        match self {
            Asked::Terms { of, .. } => match of.kind {
                Some(FieldKind::Integer | FieldKind::Boolean) => "lterms",
                Some(FieldKind::Float) => "dterms",
                Some(_) => "sterms",
                None => "umterms",
            },
            Asked::Dates { .. } => "date_histogram",
            Asked::Histogram { .. } => "histogram",
            Asked::Ranges { format: Some(_), .. } => "date_range",
            Asked::Ranges { .. } => "range",
            Asked::Filters { .. } => "filters",
            Asked::Filter { kind, .. } => kind,
            Asked::Metric { metric, .. } => metric.name(),
            Asked::Percentiles { .. } => "tdigest_percentiles",
            Asked::TopHits(_) => "top_hits",
            Asked::Pipeline(pipeline) => pipeline.typed(),
        }
    }
}

fn one(
    named: &Named,
    aggregate: Option<&Aggregate>,
    typed: bool,
    count: &Count,
) -> Shaped<Members> {
    let within = |aggregates: Option<&[Aggregate]>| {
        count.add()?;
        members(&named.within, aggregates, typed, count)
    };
    let list = aggregate.map(|aggregate| buckets::listed(aggregate, &within));
    match &named.asked {
        Asked::Metric { of, metric, format } => {
            metric_of(of, *metric, format.as_deref(), aggregate)
        }
        Asked::Percentiles { of, at, keyed } => percentiles(of, at, *keyed, aggregate),
        Asked::TopHits(_) => Ok(top_hits::place()),
        Asked::Filter { .. } => {
            let bucket = match list.transpose()? {
                Some((mut list, _)) if !list.is_empty() => list.swap_remove(0),
                _ => Bucket::empty(&within)?,
            };
            Ok(bucket.counted())
        }
        asked => {
            let mut answer = buckets::shaped(asked, list.transpose()?, &within)?;
            pipeline::within(&named.within, &mut answer, typed)?;
            Ok(answer)
        }
    }
}

fn metric_of(
    of: &OfField,
    metric: Metric,
    format: Option<&str>,
    aggregate: Option<&Aggregate>,
) -> Shaped<Members> {
    let summary = match aggregate {
        Some(Aggregate::Stats(summary)) => *summary,
        Some(Aggregate::Cardinality(count)) => return Ok(value(Json::Number((*count).into()))),
        // The values of several indexes, each once.
        Some(Aggregate::Terms(TopTerms { distinct, .. }) | Aggregate::Buckets { distinct, .. })
            if metric == Metric::Cardinality =>
        {
            return Ok(value(Json::Number((*distinct).into())));
        }
        Some(other) => {
            let count = values(other).ok_or_else(mismatch)?;
            return Ok(value(Json::Number(count.into())));
        }
        None => None,
    };
    let count = summary.map_or(0, |summary| summary.count);
    if matches!(metric, Metric::ValueCount | Metric::Cardinality) {
        return Ok(value(Json::Number(count.into())));
    }
    let mut answer = Members::new();
    let is_stats = matches!(metric, Metric::Stats | Metric::ExtendedStats(_));
    if is_stats {
        answer.push(("count".into(), Json::Number(count.into())));
    }
    for (name, kind) in
        [("min", Metric::Min), ("max", Metric::Max), ("avg", Metric::Avg), ("sum", Metric::Sum)]
    {
        if is_stats {
            answer.push((name.into(), summary_part(summary, kind)));
        } else if metric == kind {
            answer.push(("value".into(), summary_part(summary, kind)));
        }
    }
    if let Metric::ExtendedStats(sigma) = metric {
        answer.extend(deviation::members(summary, sigma));
    }
    let is_empty = is_stats && count == 0;
    if let Some(FieldKind::Time(_)) = of.kind
        && !is_empty
    {
        let texts = answer.iter().filter(|(name, _)| name != "count");
        let texts: Members = texts.map(|part| as_string(part, format)).collect::<Shaped<_>>()?;
        answer.extend(texts.into_iter().filter(|(_, text)| *text != Json::Null));
    }
    Ok(answer)
}

/// Returns the number of values of a field that are counted by terms; none of another aggregate.
pub(super) fn values(aggregate: &Aggregate) -> Option<u64> {
    match aggregate {
        Aggregate::Terms(terms) => {
            Some(terms.others + terms.top.iter().map(|(_, count)| count).sum::<u64>())
        }
        Aggregate::Buckets { buckets, others, .. } => {
            Some(others + buckets.iter().map(|(_, count, _)| count).sum::<u64>())
        }
        _ => None,
    }
}

fn value(value: Json) -> Members {
    vec![("value".into(), value)]
}

/// Returns one number of a summary. Without values the sum is 0, and there are no others.
fn summary_part(summary: Option<Summary>, part: Metric) -> Json {
    match (summary, part) {
        (None, Metric::Sum) => number(0.0),
        (None, _) => Json::Null,
        (Some(summary), Metric::Min) => number(summary.min),
        (Some(summary), Metric::Max) => number(summary.max),
        (Some(summary), Metric::Avg) => number(summary.mean()),
        (Some(summary), _) => number(summary.sum),
    }
}

/// Returns a number of milliseconds as a moment; null if it is beyond the calendar.
fn as_string((name, value): &(String, Json), format: Option<&str>) -> Shaped<(String, Json)> {
    let ms = if let Json::Number(number) = value { number.as_f64() } else { None };
    let text = ms.and_then(|ms| formatted(ms.floor() as i64, format, None).ok());
    Ok((format!("{name}_as_string"), text.map_or(Json::Null, Json::String)))
}

fn percentiles(
    of: &OfField,
    at: &[f64],
    keyed: bool,
    aggregate: Option<&Aggregate>,
) -> Shaped<Members> {
    let found = match aggregate {
        Some(Aggregate::Percentiles(found)) => &found[..],
        Some(_) => return Err(mismatch()),
        None => &[],
    };
    let is_time = matches!(of.kind, Some(FieldKind::Time(_)));
    let mut keys = Members::new();
    let mut list = Vec::new();
    for (place, percent) in at.iter().enumerate() {
        let value = found.get(place).map_or(Json::Null, |(_, value)| number(*value));
        let mut entry = vec![("key".to_owned(), number(*percent)), ("value".into(), value.clone())];
        let part = (format!("{percent:?}"), value);
        let text = if is_time { as_string(&part, None)? } else { (String::new(), Json::Null) };
        keys.push(part);
        if text.1 != Json::Null {
            entry.push(("value_as_string".into(), text.1.clone()));
            keys.push(text);
        }
        list.push(Json::Object(entry));
    }
    Ok(vec![("values".into(), if keyed { Json::Object(keys) } else { Json::Array(list) })])
}
