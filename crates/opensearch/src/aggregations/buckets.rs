//! Buckets of aggregations.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use spirit::FieldKind;
use spirit::facets::{Aggregate, DateInterval};

use super::chosen::Chosen;
use super::interval::Interval;
use super::{Asked, Look, OfField, OrderBy, Range, count};
use crate::date::{Dates, formatted};
use crate::error::Refusal;
use crate::json::Json;

type Members = Vec<(String, Json)>;
type Shaped<T> = Result<T, Refusal>;
/// Answers the aggregations within a bucket. Without aggregates it has no documents.
type Within<'w> = dyn Fn(Option<&[Aggregate]>) -> Shaped<Members> + 'w;
/// Buckets, and the number of documents in others.
type Listed = (Vec<Bucket>, u64);

/// The key of a bucket, as the engine has it.
#[derive(Clone, Debug)]
enum Key {
    /// A text, or none for documents without a value.
    Name(Option<String>),
    Number(f64),
    Ms(i64),
}

/// A bucket with the answers within it.
pub(super) struct Bucket {
    key: Key,
    count: u64,
    within: Members,
}

impl Bucket {
    /// Returns a bucket without documents.
    pub(super) fn empty(within: &Within<'_>) -> Shaped<Bucket> {
        Ok(Bucket { key: Key::Name(None), count: 0, within: within(None)? })
    }

    /// Returns the members of a bucket behind its key.
    pub(super) fn counted(self) -> Members {
        let mut members = vec![("doc_count".to_owned(), Json::Number(self.count.into()))];
        members.extend(self.within);
        members
    }

    fn ms(&self) -> Shaped<i64> {
        match &self.key {
            Key::Ms(ms) => Ok(*ms),
            Key::Number(number) => Ok(*number as i64),
            Key::Name(name) => {
                let dates = Dates::new(0, Default::default(), None, None)?;
                dates.ms(name.as_deref().unwrap_or_default(), false)
            }
        }
    }

    fn number(&self) -> f64 {
        match &self.key {
            Key::Ms(ms) => *ms as f64,
            Key::Number(number) => *number,
            Key::Name(name) => name.as_deref().and_then(|name| name.parse().ok()).unwrap_or(0.0),
        }
    }
}

/// Returns the buckets of an aggregate, whatever its form.
pub(super) fn listed(aggregate: &Aggregate, within: &Within<'_>) -> Shaped<Listed> {
    let plain =
        |key: Key, count: &u64| Ok(Bucket { key, count: *count, within: within(Some(&[]))? });
    match aggregate {
        Aggregate::Terms(terms) => {
            let bucket =
                |(name, count): &(String, u64)| plain(Key::Name(Some(name.clone())), count);
            Ok((terms.top.iter().map(bucket).collect::<Shaped<_>>()?, terms.others))
        }
        Aggregate::Histogram(list) => {
            let bucket = |(key, count): &(f64, u64)| plain(Key::Number(*key), count);
            Ok((list.iter().map(bucket).collect::<Shaped<_>>()?, 0))
        }
        Aggregate::Dates(list) => {
            let bucket = |(key, count): &(i64, u64)| plain(Key::Ms(*key), count);
            Ok((list.iter().map(bucket).collect::<Shaped<_>>()?, 0))
        }
        Aggregate::Buckets { buckets, others, .. } => {
            let bucket = |(name, count, aggregates): &(Option<String>, u64, Vec<Aggregate>)| {
                let within = within(Some(aggregates))?;
                Ok(Bucket { key: Key::Name(name.clone()), count: *count, within })
            };
            Ok((buckets.iter().map(bucket).collect::<Shaped<_>>()?, *others))
        }
        // Numbers have no buckets, and are shaped elsewhere.
        _ => Ok((Vec::new(), 0)),
    }
}

/// Returns the beginnings of a histogram's buckets.
pub(super) fn keys(aggregate: &Aggregate) -> Shaped<Vec<f64>> {
    let (list, _) = listed(aggregate, &|_| Ok(Members::new()))?;
    let key = |bucket: &Bucket| match bucket.key {
        Key::Name(Some(ref name)) if name.parse::<f64>().is_err() => {
            bucket.ms().map(|ms| ms as f64)
        }
        _ => Ok(bucket.number()),
    };
    list.iter().map(key).collect()
}

/// Returns the answer of an aggregation that has buckets.
pub(super) fn shaped(
    asked: &Asked,
    listed: Option<Listed>,
    within: &Within<'_>,
) -> Shaped<Members> {
    let (list, others) = listed.unwrap_or_default();
    match asked {
        Asked::Terms { of, size, order, least, missing, chosen } => {
            let missing = missing.as_deref();
            let terms = Terms { of, size: *size, order, least: *least, missing, chosen };
            terms.shaped(list, others)
        }
        Asked::Dates { of, interval, zone, offset, look } => {
            let zone = zone.as_deref();
            let mut by_key = BTreeMap::new();
            for bucket in list {
                by_key.insert(bucket.ms()?, bucket);
            }
            if of.kind.is_some() {
                extend_dates(&mut by_key, interval, (zone, *offset), look, within)?;
            }
            let named = |(ms, bucket): (i64, Bucket)| {
                let text = formatted(ms, look.format.as_deref(), zone)?;
                let key = vec![
                    ("key_as_string".to_owned(), Json::String(text.clone())),
                    ("key".to_owned(), Json::Number(ms.into())),
                ];
                Ok((text, key, bucket))
            };
            let list = by_key.into_iter().map(named).collect::<Shaped<_>>()?;
            Ok(histogram(list, look))
        }
        Asked::Histogram { of, interval, offset, look } => {
            let steps = |number: f64| ((number - offset) / interval).round() as i64;
            let mut by_step: BTreeMap<i64, (f64, Bucket)> = BTreeMap::new();
            for bucket in list {
                by_step.insert(steps(bucket.number()), (bucket.number(), bucket));
            }
            if of.kind.is_some()
                && let Some((min, max)) = look.bounds.filter(|_| look.least == 0)
            {
                let first = ((min - offset) / interval).floor() as i64;
                let last = ((max - offset) / interval).floor() as i64;
                // There is no gap between the bounds and the buckets beyond them.
                let known = by_step.first_key_value().zip(by_step.last_key_value());
                let (first, last) = match known {
                    Some(((low, _), (high, _))) => (first.min(*low), last.max(*high)),
                    None => (first, last),
                };
                count::check(last.saturating_sub(first))?;
                for step in first..=last {
                    if let Entry::Vacant(free) = by_step.entry(step) {
                        let number = offset + step as f64 * interval;
                        free.insert((number, Bucket::empty(within)?));
                    }
                }
            }
            let named = |(number, bucket): (f64, Bucket)| {
                let key = vec![("key".to_owned(), super::number(number))];
                (format!("{number:?}"), key, bucket)
            };
            Ok(histogram(by_step.into_values().map(named).collect(), look))
        }
        Asked::Ranges { ranges, keyed, format, zone, .. } => {
            let look = (format.as_deref(), zone.as_deref());
            of_ranges(ranges, *keyed, look, list, within)
        }
        Asked::Filters { names, others, bodies, .. } => {
            let count = bodies.len() + usize::from(others.is_some());
            of_filters((names.as_deref(), others.as_deref()), count, list, within)
        }
        _ => Err(super::mismatch()),
    }
}

/// Adds empty buckets between the bounds.
fn extend_dates(
    by_key: &mut BTreeMap<i64, Bucket>,
    interval: &Interval,
    (zone, offset): (Option<&str>, i64),
    look: &Look,
    within: &Within<'_>,
) -> Shaped<()> {
    let Some((min, max)) = look.bounds.filter(|_| look.least == 0) else { return Ok(()) };
    let (min, max) = (min as i64, max as i64);
    if let DateInterval::Milliseconds(width) = interval.engine {
        count::check(max.saturating_sub(min) / width)?;
    }
    // Without a bucket to count from, fixed intervals begin at midnight in the zone.
    let base = match by_key.keys().next() {
        Some(known) => known.saturating_sub(offset),
        None => zone.map_or(Ok(0), |_| moved(min, "/d", zone))?,
    };
    // The bounds are rounded first and moved then, as in OpenSearch.
    let bound =
        |ms: i64| -> Shaped<i64> { Ok(begin(interval, ms, zone, base)?.saturating_add(offset)) };
    let (mut key, mut last) = (bound(min)?, bound(max)?);
    // Bounds beyond the calendar are an error of their own.
    [key, last].into_iter().try_for_each(|ms| formatted(ms, None, zone).map(drop))?;
    // There is no gap between the bounds and the buckets beyond them.
    if let Some((low, high)) = by_key.first_key_value().zip(by_key.last_key_value()) {
        (key, last) = (key.min(*low.0), last.max(*high.0));
    }
    // Each round moves the key by a whole interval, and the number of rounds is limited.
    for round in 0.. {
        if key > last {
            break;
        }
        count::check(round)?;
        if let Entry::Vacant(free) = by_key.entry(key) {
            free.insert(Bucket::empty(within)?);
        }
        key = following(interval, key, (zone, offset))?;
    }
    Ok(())
}

/// Returns the beginnings of intervals from one on, before another.
pub(super) fn between(
    interval: &Interval,
    place: (Option<&str>, i64),
    first: f64,
    last: f64,
) -> Shaped<Vec<f64>> {
    let (mut key, mut keys) = (first as i64, Vec::new());
    // Each round moves the key by a whole interval, and the number of rounds is limited.
    while key < last as i64 {
        count::check(keys.len() as i64)?;
        keys.push(key as f64);
        key = following(interval, key, place)?;
    }
    Ok(keys)
}

/// Returns the beginning of the interval that follows one, in a zone and with an offset.
pub(super) fn following(
    interval: &Interval,
    key: i64,
    (zone, offset): (Option<&str>, i64),
) -> Shaped<i64> {
    match (interval.engine, interval.math) {
        (DateInterval::Milliseconds(width), _) => Ok(key.saturating_add(width)),
        (_, Some((step, _))) => {
            Ok(moved(key.saturating_sub(offset), step, zone)?.saturating_add(offset))
        }
        _ => Err(super::mismatch()),
    }
}

/// Returns the beginning of the interval in which a moment is, without an offset. A fixed interval begins
/// at the base.
fn begin(interval: &Interval, ms: i64, zone: Option<&str>, base: i64) -> Shaped<i64> {
    if let DateInterval::Milliseconds(width) = interval.engine {
        let intervals = ms.saturating_sub(base).div_euclid(width);
        return Ok(base.saturating_add(intervals.saturating_mul(width)));
    }
    let (_, round) = interval.math.ok_or_else(super::mismatch)?;
    let key = moved(ms, round, zone)?;
    if interval.engine != DateInterval::Quarter {
        return Ok(key);
    }
    let month: u32 = formatted(key, Some("M"), zone)?.parse().unwrap_or(1);
    moved(key, &format!("-{}M", month.saturating_sub(1) % 3), zone)
}

/// Returns a moment after date math in a zone.
fn moved(ms: i64, math: &str, zone: Option<&str>) -> Shaped<i64> {
    Dates::new(ms, Default::default(), None, zone)?.ms(&format!("now{math}"), false)
}

/// Returns the answer of a histogram: names, keys and buckets, ascending.
fn histogram(list: Vec<(String, Members, Bucket)>, look: &Look) -> Members {
    let list = list.into_iter().filter(|(.., bucket)| bucket.count >= look.least);
    let list = list.map(|(name, mut key, bucket)| {
        key.extend(bucket.counted());
        (name, Json::Object(key))
    });
    buckets(list.collect(), look.keyed)
}

fn buckets(list: Members, keyed: bool) -> Members {
    let list = match keyed {
        true => Json::Object(list),
        false => Json::Array(list.into_iter().map(|(_, bucket)| bucket).collect()),
    };
    vec![("buckets".to_owned(), list)]
}

fn of_ranges(
    ranges: &[Range],
    keyed: bool,
    (format, zone): (Option<&str>, Option<&str>),
    list: Vec<Bucket>,
    within: &Within<'_>,
) -> Shaped<Members> {
    let text = |end: f64| match format {
        Some(format) => formatted(end as i64, Some(format), zone),
        None => Ok(format!("{end:?}")),
    };
    let (mut list, mut shaped) = (list.into_iter(), Members::new());
    for range in ranges {
        let bucket = list.next().map_or_else(|| Bucket::empty(within), Ok)?;
        let [from, to] = [range.from, range.to].map(|end| end.map(text).transpose());
        let (from, to) = (from?, to?);
        let or_open = |end: &Option<String>| end.clone().unwrap_or("*".to_owned());
        let usual = || format!("{}-{}", or_open(&from), or_open(&to));
        let key = range.key.clone().unwrap_or_else(usual);
        let mut members = Members::new();
        if !keyed {
            members.push(("key".into(), Json::String(key.clone())));
        }
        for (name, end, text) in [("from", range.from, &from), ("to", range.to, &to)] {
            let (Some(end), Some(text)) = (end, text) else { continue };
            members.push((name.into(), super::number(end)));
            if format.is_some() {
                members.push((format!("{name}_as_string"), Json::String(text.clone())));
            }
        }
        members.extend(bucket.counted());
        shaped.push((key, Json::Object(members)));
    }
    Ok(buckets(shaped, keyed))
}

fn of_filters(
    (names, others): (Option<&[String]>, Option<&str>),
    count: usize,
    list: Vec<Bucket>,
    within: &Within<'_>,
) -> Shaped<Members> {
    let mut all = names.unwrap_or_default().iter().map(String::as_str).chain(others);
    let (mut list, mut shaped) = (list.into_iter(), Members::new());
    // Without documents there is no list, but each filter has its bucket.
    for _ in 0..count {
        let bucket = list.next().map_or_else(|| Bucket::empty(within), Ok)?;
        let name = all.next().unwrap_or_default().to_owned();
        shaped.push((name, Json::Object(bucket.counted())));
    }
    Ok(buckets(shaped, names.is_some()))
}

/// How terms are ordered and shown.
struct Terms<'a> {
    of: &'a OfField,
    size: usize,
    order: &'a [(OrderBy, bool)],
    least: u64,
    missing: Option<&'a str>,
    chosen: &'a Chosen,
}

impl Terms<'_> {
    fn shaped(&self, list: Vec<Bucket>, others: u64) -> Shaped<Members> {
        count::check(i64::try_from(list.len()).unwrap_or(i64::MAX))?;
        let mut list: Vec<(Json, Bucket)> =
            list.into_iter().map(|bucket| (self.key(&bucket), bucket)).collect();
        join_missing(&mut list)?;
        list.retain(|(key, bucket)| bucket.count >= self.least && self.chosen.has(key));
        list.sort_by(|a, b| self.compare(a, b));
        let rest = list.split_off(self.size.min(list.len()));
        let others = others + rest.iter().map(|(_, bucket)| bucket.count).sum::<u64>();
        let shown = list.into_iter().map(|(key, bucket)| {
            let mut members = vec![("key".to_owned(), key.clone())];
            if let (Some(FieldKind::Boolean), Json::Number(number)) = (self.of.kind, &key) {
                let text = (number.as_i64() == Some(1)).to_string();
                members.push(("key_as_string".into(), Json::String(text)));
            }
            members.extend(bucket.counted());
            Json::Object(members)
        });
        let shown = Json::Array(shown.collect());
        Ok(vec![
            ("doc_count_error_upper_bound".into(), Json::Number(0.into())),
            ("sum_other_doc_count".into(), Json::Number(others.into())),
            ("buckets".into(), shown),
        ])
    }

    /// Returns the key of a bucket: a number for fields of numbers and booleans.
    fn key(&self, bucket: &Bucket) -> Json {
        let Key::Name(name) = &bucket.key else { return super::number(bucket.number()) };
        let name = name.as_deref().or(self.missing).unwrap_or_default();
        let text = || Json::String(name.to_owned());
        match self.of.kind {
            Some(FieldKind::Integer) => {
                name.parse::<i64>().map_or_else(|_| text(), |key| Json::Number(key.into()))
            }
            Some(FieldKind::Float) => name.parse().map_or_else(|_| text(), super::number),
            Some(FieldKind::Boolean) => Json::Number(i64::from(name == "true").into()),
            _ => text(),
        }
    }

    /// Compares buckets by the order that was asked for, then by their keys.
    fn compare(&self, a: &(Json, Bucket), b: &(Json, Bucket)) -> Ordering {
        let usual = [(OrderBy::Count, true)];
        let order = if self.order.is_empty() { &usual[..] } else { self.order };
        for (by, descending) in order {
            let ordering = match by {
                OrderBy::Count => a.1.count.cmp(&b.1.count),
                OrderBy::Key => compare_keys(&a.0, &b.0),
                OrderBy::Metric(by) => {
                    let of = |bucket: &Bucket| metric(bucket, &by.name, &by.member).or(by.empty);
                    match (of(&a.1), of(&b.1)) {
                        (Some(a), Some(b)) => a.total_cmp(&b),
                        // A bucket without the number comes last.
                        (a, b) if *descending => a.is_some().cmp(&b.is_some()),
                        (a, b) => b.is_some().cmp(&a.is_some()),
                    }
                }
            };
            let ordering = if *descending { ordering.reverse() } else { ordering };
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        compare_keys(&a.0, &b.0)
    }
}

/// Makes one bucket of the documents without a value and of those that have the value that stands for it.
fn join_missing(list: &mut Vec<(Json, Bucket)>) -> Shaped<()> {
    let is_missing = |bucket: &Bucket| matches!(bucket.key, Key::Name(None));
    let Some(place) = list.iter().position(|(_, bucket)| is_missing(bucket)) else { return Ok(()) };
    let is_same = |(key, bucket): &(Json, Bucket)| !is_missing(bucket) && *key == list[place].0;
    let Some(same) = list.iter().position(is_same) else { return Ok(()) };
    if !list[same].1.within.is_empty() {
        let what = "[missing] with a value that documents have, and aggregations within it";
        return Err(Refusal::unsupported(what));
    }
    list[same].1.count += list[place].1.count;
    list.remove(place);
    Ok(())
}

/// Returns a number of an answer within a bucket.
fn metric(bucket: &Bucket, name: &str, member: &str) -> Option<f64> {
    let (_, answer) = bucket
        .within
        .iter()
        .find(|(own, _)| own == name || own.split_once('#').is_some_and(|(_, own)| own == name))?;
    // A bound is ordered by its own name.
    let bounds = || answer.get("std_deviation_bounds")?.get(member.strip_prefix("std_")?);
    let value = answer
        .get(member)
        .or_else(bounds)
        .or(answer.get("values").and_then(|values| values.get(member)));
    let value = value.or(answer.get("doc_count"))?;
    if let Json::Number(number) = value { number.as_f64() } else { None }
}

fn compare_keys(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => {
                let number = |n: &serde_json::Number| n.as_f64().unwrap_or(0.0);
                number(a).total_cmp(&number(b))
            }
        },
        (Json::Number(_), _) => Ordering::Less,
        (_, Json::Number(_)) => Ordering::Greater,
        (a, b) => a.as_str().cmp(&b.as_str()),
    }
}
