//! Aggregations over several indexes: their aggregates become those of one.
//!
//! Terms are merged exactly, since each index is asked for all of them. What an index has only as one
//! number, such as a percentile, is refused where several indexes have it.

use std::borrow::Cow;
use std::collections::HashMap;

use spirit::facets::{Aggregate, Summary, TopTerms};
use spirit::{FieldKind, Value};

use super::count::{self, Count};
use super::{Aggregations, Asked, Metric, Named, mismatch};
use crate::error::Refusal;

type Merged<T> = Result<T, Refusal>;
/// What one index was asked, and what it answered.
type Part<'p> = (&'p Aggregations, &'p [Aggregate]);
/// A bucket: its name, its documents, and the aggregates within.
type Bucket = (Option<String>, u64, Vec<Aggregate>);

/// Returns the aggregations of all indexes, and their aggregates.
pub(super) fn all(parts: &[Part<'_>]) -> Merged<(Aggregations, Vec<Aggregate>)> {
    counted(parts, &Count::default())
}

/// Like [`all`], with the count of all buckets so far.
fn counted(parts: &[Part<'_>], count: &Count) -> Merged<(Aggregations, Vec<Aggregate>)> {
    let Some((first, _)) = parts.first() else { return Ok((Aggregations(Vec::new()), Vec::new())) };
    let mut left: Vec<_> = parts.iter().map(|(_, aggregates)| aggregates.iter()).collect();
    let (mut merged, mut aggregates) = (Vec::new(), Vec::new());
    for (place, named) in first.0.iter().enumerate() {
        let mut known = Vec::new();
        for ((asked, _), left) in parts.iter().zip(&mut left) {
            let own = asked.0.get(place).ok_or_else(mismatch)?;
            if own.asked.is_known() {
                known.push((own, left.next().ok_or_else(mismatch)?));
            }
        }
        if known.is_empty() {
            merged.push(named.clone());
            continue;
        }
        let (named, aggregate) = one(&known, count)?;
        merged.push(named);
        aggregates.push(aggregate);
    }
    Ok((Aggregations(merged), aggregates))
}

/// Merges one aggregation of the indexes that know its field.
fn one(known: &[(&Named, &Aggregate)], count: &Count) -> Merged<(Named, Aggregate)> {
    let (first, _) = known[0];
    for (other, _) in known {
        check_kinds(first, other)?;
    }
    let withins: Vec<&Aggregations> = known.iter().map(|(named, _)| &named.within).collect();
    let within = common(&withins)?;
    let named = Named { within, ..first.clone() };
    let mut aggregate = match &first.asked {
        Asked::Metric { metric: Metric::Cardinality, .. } => {
            Aggregate::Terms(terms(known.iter().map(|(_, aggregate)| *aggregate))?)
        }
        Asked::Metric { .. } => metric(known)?,
        Asked::Percentiles { .. } => percentiles(first, known)?,
        Asked::Ranges { .. } | Asked::Filters { .. } | Asked::Filter { .. } => {
            by_place(&named.within, known, count)?
        }
        _ => by_key(&named.within, known, count)?,
    };
    if let Asked::Dates { .. } | Asked::Histogram { .. } = named.asked {
        fill(&named, &mut aggregate, count)?;
    }
    Ok((named, aggregate))
}

/// Refuses values that cannot be compared.
fn check_kinds(one: &Named, other: &Named) -> Merged<()> {
    let (Some(kind), Some(others)) = (one.asked.kind(), other.asked.kind()) else { return Ok(()) };
    let is_number = |kind| matches!(kind, FieldKind::Integer | FieldKind::Float);
    let is_named = matches!(one.asked, Asked::Terms { .. })
        || matches!(one.asked, Asked::Metric { metric: Metric::Cardinality, .. });
    let same = std::mem::discriminant(&kind) == std::mem::discriminant(&others);
    if same || is_number(kind) && is_number(others) && !is_named {
        return Ok(());
    }
    let what = "over indexes in which its field has several types";
    Err(Refusal::unsupported(format!("the aggregation [{}] {what}", one.name)))
}

/// Returns aggregations that know what any of some know.
fn common(all: &[&Aggregations]) -> Merged<Aggregations> {
    let mut common = Vec::new();
    for place in 0..all[0].0.len() {
        let own = |asked: &&Aggregations| asked.0.get(place).cloned();
        let own: Vec<Named> = all.iter().filter_map(own).collect();
        let known: Vec<&Named> = own.iter().filter(|named| named.asked.is_known()).collect();
        let Some(first) = known.first() else {
            common.extend(own.into_iter().next());
            continue;
        };
        for other in &known {
            check_kinds(first, other)?;
        }
        let within: Vec<&Aggregations> = known.iter().map(|named| &named.within).collect();
        common.push(Named { within: self::common(&within)?, ..(*first).clone() });
    }
    Ok(Aggregations(common))
}

/// Merges the buckets of terms by their names, and those of histograms by their beginnings.
fn by_key(
    within: &Aggregations,
    known: &[(&Named, &Aggregate)],
    count: &Count,
) -> Merged<Aggregate> {
    let mut lists = Vec::new();
    for (named, own) in known {
        let keys = match named.asked {
            Asked::Terms { .. } => None,
            _ => Some(super::buckets::keys(own)?),
        };
        lists.push((*named, keys, listed(own)?));
    }
    let mut groups: Vec<Vec<(&Named, &Bucket)>> = Vec::new();
    let (mut names, mut numbers) = (HashMap::new(), HashMap::new());
    for (named, keys, buckets) in &lists {
        for (place, bucket) in buckets.iter().enumerate() {
            let group = match keys.as_ref().and_then(|keys| keys.get(place)) {
                Some(key) => *numbers.entry(key.to_bits()).or_insert(groups.len()),
                None => *names.entry(&bucket.0).or_insert(groups.len()),
            };
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push((*named, bucket));
        }
    }
    grouped(within, groups, count)
}

/// Returns the buckets of an aggregate, whatever its form. An index that knows no aggregation within
/// has them without aggregates.
fn listed(aggregate: &Aggregate) -> Merged<Cow<'_, [Bucket]>> {
    let plain = |name: String, count: &u64| (Some(name), *count, Vec::new());
    Ok(match aggregate {
        Aggregate::Terms(terms) if terms.others > 0 => return Err(too_many()),
        Aggregate::Terms(terms) => {
            terms.top.iter().map(|(name, count)| plain(name.clone(), count)).collect()
        }
        Aggregate::Histogram(list) => {
            list.iter().map(|(key, count)| plain(key.to_string(), count)).collect()
        }
        Aggregate::Dates(list) => {
            let name = |ms: &i64| Value::Time(*ms).to_string();
            list.iter().map(|(key, count)| plain(name(key), count)).collect()
        }
        other => Cow::Borrowed(buckets(other)?),
    })
}

/// Merges the buckets of ranges and queries, each with those at the same place.
fn by_place(
    within: &Aggregations,
    known: &[(&Named, &Aggregate)],
    count: &Count,
) -> Merged<Aggregate> {
    let mut groups: Vec<Vec<(&Named, &Bucket)>> = Vec::new();
    for (named, own) in known {
        for (place, bucket) in buckets(own)?.iter().enumerate() {
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push((named, bucket));
        }
    }
    grouped(within, groups, count)
}

/// Returns the buckets of an aggregate. Terms that it does not have cannot be merged.
fn buckets(aggregate: &Aggregate) -> Merged<&[Bucket]> {
    match aggregate {
        Aggregate::Buckets { others: 1.., .. } => Err(too_many()),
        Aggregate::Buckets { buckets, .. } => Ok(buckets),
        _ => Err(mismatch()),
    }
}

fn too_many() -> Refusal {
    Refusal::unsupported("an aggregation of so large a number of terms over several indexes")
}

/// Makes a bucket of each group.
fn grouped(
    within: &Aggregations,
    groups: Vec<Vec<(&Named, &Bucket)>>,
    count: &Count,
) -> Merged<Aggregate> {
    let mut merged = Vec::new();
    for group in groups {
        count.add()?;
        let documents = group.iter().map(|(_, bucket)| bucket.1).sum();
        let parts: Vec<Part<'_>> =
            group.iter().map(|(named, bucket)| (&named.within, &*bucket.2)).collect();
        let (own, aggregates) = counted(&parts, count)?;
        // What the indexes of this bucket do not know, those of others do.
        let own = own.0.iter().zip(&within.0);
        let mut aggregates = aggregates.into_iter();
        let mut aligned = Vec::new();
        for (own, common) in own.filter(|(_, common)| common.asked.is_known()) {
            aligned.push(match own.asked.is_known() {
                true => aggregates.next().ok_or_else(mismatch)?,
                false => nothing(&common.asked),
            });
        }
        merged.push((group[0].1.0.clone(), documents, aligned));
    }
    let distinct = merged.len() as u64;
    Ok(Aggregate::Buckets { buckets: merged, others: 0, distinct })
}

/// Returns the aggregate of no documents.
fn nothing(asked: &Asked) -> Aggregate {
    match asked {
        Asked::Metric { metric: Metric::Cardinality, .. } => Aggregate::Cardinality(0),
        Asked::Metric { .. } => Aggregate::Stats(None),
        Asked::Percentiles { .. } => Aggregate::Percentiles(Vec::new()),
        _ => Aggregate::Buckets { buckets: Vec::new(), others: 0, distinct: 0 },
    }
}

/// Returns the terms of all, each with its documents.
fn terms<'a>(all: impl Iterator<Item = &'a Aggregate>) -> Merged<TopTerms> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for aggregate in all {
        for (name, count, _) in listed(aggregate)?.iter() {
            *counts.entry(name.clone().unwrap_or_default()).or_default() += count;
        }
    }
    let mut terms = TopTerms::default();
    terms.distinct = counts.len() as u64;
    terms.top = counts.into_iter().collect();
    Ok(terms)
}

fn metric(known: &[(&Named, &Aggregate)]) -> Merged<Aggregate> {
    let (mut sum, mut values) = (None::<Summary>, None);
    for (_, own) in known {
        match own {
            Aggregate::Stats(own) => {
                sum = match (sum, own) {
                    (Some(sum), Some(own)) => Some(sum.and(*own)),
                    (sum, own) => sum.or(*own),
                };
            }
            // Values of a field without numbers are counted.
            other => {
                let count = super::answer::values(other).ok_or_else(mismatch)?;
                values = Some(values.unwrap_or(0) + count);
            }
        }
    }
    let Some(values) = values else { return Ok(Aggregate::Stats(sum)) };
    let mut terms = TopTerms::default();
    terms.others = values;
    Ok(Aggregate::Terms(terms))
}

/// Returns the percentiles of the one index that has values.
fn percentiles(named: &Named, known: &[(&Named, &Aggregate)]) -> Merged<Aggregate> {
    let is_some =
        |own: &&Aggregate| !matches!(own, Aggregate::Percentiles(list) if list.is_empty());
    let mut some = known.iter().map(|(_, own)| *own).filter(is_some);
    match (some.next(), some.next()) {
        (None, _) => Ok(Aggregate::Percentiles(Vec::new())),
        (Some(own), None) => Ok(own.clone()),
        (Some(_), Some(_)) => {
            let what = format!("[percentiles] [{}] over several indexes", named.name);
            Err(Refusal::unsupported(what))
        }
    }
}

/// Adds empty buckets between those of different indexes.
fn fill(named: &Named, aggregate: &mut Aggregate, count: &Count) -> Merged<()> {
    let mut known = super::buckets::keys(aggregate)?;
    known.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Ok(()) };
    let is_there = |key: f64, width: f64| {
        let place = known.partition_point(|known| *known < key - width / 2.0);
        known.get(place).is_some_and(|known| *known <= key + width / 2.0)
    };
    let empty: Vec<f64> = match &named.asked {
        Asked::Dates { look, .. } | Asked::Histogram { look, .. } if look.least > 0 => {
            return Ok(());
        }
        Asked::Dates { interval, zone, offset, .. } => {
            let place = (zone.as_deref(), *offset);
            let all = super::buckets::between(interval, place, *first, *last)?;
            all.into_iter().filter(|key| !is_there(*key, 0.0)).collect()
        }
        Asked::Histogram { interval, .. } => {
            let steps = ((last - first) / interval).round();
            count::check(steps as i64)?;
            let all = (0..steps as u64).map(|step| first + step as f64 * interval);
            all.filter(|key| !is_there(*key, *interval)).collect()
        }
        _ => return Ok(()),
    };
    match aggregate {
        Aggregate::Buckets { buckets, .. } => {
            let is_dates = matches!(named.asked, Asked::Dates { .. });
            let name = |key: f64| match is_dates {
                true => Value::Time(key as i64).to_string(),
                false => key.to_string(),
            };
            let known = named.within.0.iter().filter(|named| named.asked.is_known());
            let nothing: Vec<Aggregate> = known.map(|named| nothing(&named.asked)).collect();
            for key in empty {
                count.add()?;
                buckets.push((Some(name(key)), 0, nothing.clone()));
            }
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}
