//! Facets of what a query matches, held to what its documents have.

use std::collections::{BTreeMap, BTreeSet};

use spirit::facets::{Aggregate, DateInterval, Facet, Summary, TopTerms};
use spirit::schema::Schema;
use spirit::{FieldKind, Index};
use spirit_index::ground::ValueKind;
use spirit_oracle as oracle;
use spirit_schema::Calendar;

use crate::naive::{terms, values};

/// The values that each of some documents has of a field; of keywords and booleans their terms.
type Had<T> = Vec<Vec<T>>;

/// What is asked, and of which words the documents must have one.
const QUERIES: [(&str, &[&str]); 3] =
    [("*", &[]), ("text:w0", &["w0"]), ("text:(w1 w2)", &["w1", "w2"])];

/// The values of a field of numbers, each as `of` its kind and bits.
fn each_number<T>(
    schema: &Schema,
    documents: &[&oracle::Document],
    name: &str,
    of: impl Fn(ValueKind, u64) -> T,
) -> Had<T> {
    let field = schema.by_name(name).unwrap().id;
    let of_document = |document: &&oracle::Document| {
        let own = values(schema, document).into_iter().filter(|(of, ..)| *of == field);
        own.map(|(_, kind, bytes)| of(kind, u64::from_le_bytes(bytes.try_into().unwrap())))
            .collect()
    };
    documents.iter().map(of_document).collect()
}

fn number(kind: ValueKind, bits: u64) -> f64 {
    match kind {
        ValueKind::Float => f64::from_bits(bits),
        _ => bits.cast_signed() as f64,
    }
}

/// The largest whole number that is not above the shortest decimal of a number. None if 128 bits do
/// not hold it.
fn floor(kind: ValueKind, bits: u64) -> Option<i128> {
    if kind != ValueKind::Float {
        return Some(bits.cast_signed().into());
    }
    let decimal = f64::from_bits(bits).to_string();
    let (whole, fraction) = decimal.split_once('.').unwrap_or((&decimal, ""));
    let is_lower = decimal.starts_with('-') && !fraction.is_empty();
    Some(whole.parse::<i128>().ok()? - i128::from(is_lower))
}

/// The terms of a field of keywords or booleans, and the keywords of one of text.
fn words(schema: &Schema, documents: &[&oracle::Document], name: &str) -> Had<String> {
    let (field, _) = schema.asked_whole(name).unwrap();
    let of_document = |document: &&oracle::Document| {
        let own = terms(schema, document).into_iter().filter(|(of, _)| *of == field);
        own.flat_map(|(_, terms)| terms).map(|term| String::from_utf8(term).unwrap()).collect()
    };
    documents.iter().map(of_document).collect()
}

/// How many documents have each different value.
fn counted<T: Ord + Clone>(had: &[Vec<T>]) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for values in had {
        for value in values.iter().collect::<BTreeSet<_>>() {
            *counts.entry(value.clone()).or_default() += 1;
        }
    }
    counts
}

fn check_terms(found: &TopTerms, top: usize, had: &Had<String>) {
    let mut all: Vec<(String, u64)> = counted(had).into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    assert_eq!(found.distinct, all.len() as u64);
    assert_eq!(found.others, all.iter().skip(top).map(|(_, count)| count).sum::<u64>());
    all.truncate(top);
    assert_eq!(found.top, all);
}

fn check_stats(found: Option<Summary>, had: &Had<f64>) {
    let all: Vec<f64> = had.iter().flatten().copied().collect();
    let Some(found) = found else { return assert!(all.is_empty()) };
    let (count, sum) = (all.len() as u64, all.iter().sum::<f64>());
    let (min, max) =
        all.iter().fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(*n), high.max(*n)));
    assert_eq!(found.count, count);
    assert_eq!((found.min.min(f64::MAX), found.max.max(f64::MIN)), (min, max));
    let size: f64 = all.iter().map(|n| n.abs()).sum();
    let is_same = found.sum.to_bits() == sum.to_bits() || found.sum.is_nan() && sum.is_nan();
    assert!(is_same || !size.is_finite() || (found.sum - sum).abs() <= 1e-9 * size);
}

fn check_histogram(found: &[(f64, u64)], interval: i128, had: &Had<Option<i128>>) {
    let bucket = |floor: &Option<i128>| i64::try_from((*floor)?.div_euclid(interval)).ok();
    let buckets = |floors: &Vec<_>| floors.iter().filter_map(bucket).collect();
    let expected = counted(&had.iter().map(buckets).collect::<Vec<Vec<i64>>>());
    let start = |bucket: i64| (i128::from(bucket) * interval) as f64;
    let expected: Vec<_> =
        expected.into_iter().map(|(bucket, count)| (start(bucket), count)).collect();
    assert_eq!(found, expected);
}

fn check_dates(found: &[(i64, u64)], start: impl Fn(i64) -> i64, had: &Had<f64>) {
    let starts = |values: &Vec<f64>| values.iter().map(|n| start(*n as i64)).collect::<Vec<_>>();
    let expected = counted(&had.iter().map(starts).collect::<Vec<_>>());
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

/// Between those of the numbers that are a percent of all further down and up, and of few numbers next to each other.
fn check_percentiles(found: &[(f64, f64)], had: &Had<f64>) {
    let mut all: Vec<f64> = had.iter().flatten().copied().filter(|n| n.is_finite()).collect();
    all.sort_unstable_by(f64::total_cmp);
    assert_eq!(found.len(), if all.is_empty() { 0 } else { 3 });
    for (percent, number) in found {
        let place = percent / 100.0 * all.len() as f64;
        let slack = 1.0 + all.len() as f64 / 100.0;
        let at = |place: f64| all[(place.max(0.0) as usize).min(all.len() - 1)];
        let (low, high) = (at(place - slack), at(place + slack));
        let rounding = 1e-9 * low.abs().max(high.abs());
        assert!((low - rounding..=high + rounding).contains(number), "{low} {number} {high}");
    }
}

/// Facets of every field whose name documents have used.
pub(crate) fn check_facets(index: &Index, newest_first: &[&oracle::Document]) {
    let schema = index.schema();
    let mut reader = index.reader().unwrap();
    for (query, any_of) in QUERIES {
        let is_match = |document: &&&oracle::Document| {
            any_of.is_empty() || document.words.iter().any(|word| any_of.contains(&&**word))
        };
        let documents: Vec<_> = newest_first.iter().filter(is_match).copied().collect();
        for field in schema.fields() {
            let name = field.name.clone();
            let mut ask = |facets: &[Facet]| reader.aggregate(query, facets).unwrap();
            // Of a text its keywords.
            match schema.asked_whole(&name).unwrap().1 {
                FieldKind::Text(_) => {}
                FieldKind::Keyword | FieldKind::Boolean => {
                    let had = words(&schema, &documents, &name);
                    let top = Facet::Terms { field: name.clone(), top: 3 };
                    let found = ask(&[top, Facet::Cardinality { field: name }]);
                    let [Aggregate::Terms(terms), Aggregate::Cardinality(count)] = &found[..]
                    else {
                        panic!("{found:?}")
                    };
                    check_terms(terms, 3, &had);
                    assert_eq!(*count, counted(&had).len() as u64);
                }
                FieldKind::Integer | FieldKind::Float | FieldKind::Time(_) => {
                    let had = each_number(&schema, &documents, &name, number);
                    let floors = each_number(&schema, &documents, &name, floor);
                    let found = ask(&[
                        Facet::Stats { field: name.clone() },
                        Facet::Histogram { field: name.clone(), interval: 1e6 },
                        Facet::Percentiles { field: name, at: vec![0.0, 50.0, 99.0] },
                    ]);
                    let [
                        Aggregate::Stats(stats),
                        Aggregate::Histogram(buckets),
                        Aggregate::Percentiles(at),
                    ] = &found[..]
                    else {
                        panic!("{found:?}")
                    };
                    check_stats(*stats, &had);
                    check_histogram(buckets, 1_000_000, &floors);
                    check_percentiles(at, &had);
                }
            }
            if let FieldKind::Time(_) = field.kind {
                let had = each_number(&schema, &documents, &field.name, number);
                let dates = |interval| Facet::Dates { field: field.name.clone(), interval };
                let found = ask(&[
                    dates(DateInterval::Milliseconds(90_000_000)),
                    dates(DateInterval::Month),
                ]);
                let [Aggregate::Dates(fixed), Aggregate::Dates(months)] = &found[..] else {
                    panic!("{found:?}")
                };
                check_dates(fixed, |time| time.div_euclid(90_000_000) * 90_000_000, &had);
                check_dates(months, |time| Calendar::Month.start_of(time), &had);
            }
        }
    }
}
