//! What is gathered of values, facet by facet.

use std::collections::{BTreeMap, HashMap};

use spirit_index::ground::term::hash_bytes;
use spirit_index::ground::values::ValueKind;

use super::digest::Digest;
use super::distinct::Distinct;
use super::{Aggregate, BUCKETS_MAX, DateInterval, Facet, Summary, TopTerms, number_of, room};

/// The number of a histogram's first bucket that there is not: 2^63.
const BUCKETS_END: f64 = (1u64 << 63) as f64;

/// What was gathered for a facet so far.
pub(super) enum Gathered {
    /// Documents by value.
    Terms {
        top: usize,
        keywords: HashMap<Vec<u8>, u64>,
        /// What the keywords' own bytes take.
        keyword_bytes: usize,
        others: HashMap<u64, u64>,
    },
    /// Documents by the number of their bucket.
    Histogram { interval: f64, buckets: BTreeMap<i64, u64> },
    /// Documents by the beginning of their bucket.
    Dates { interval: DateInterval, buckets: BTreeMap<i64, u64> },
    /// All values.
    Stats(Stats),
    /// Different values.
    Cardinality(Distinct),
    /// All values, nearly.
    Percentiles { at: Vec<f64>, digest: Digest },
}

/// Numbers in short, while they come. Whole numbers are added up as such.
#[derive(Default)]
pub(super) struct Stats {
    summary: Option<Summary>,
    whole: i128,
}

impl Gathered {
    pub(super) fn new(facet: &Facet) -> Gathered {
        match facet {
            Facet::Terms { top, .. } => Gathered::Terms {
                top: *top,
                keywords: HashMap::new(),
                keyword_bytes: 0,
                others: HashMap::new(),
            },
            Facet::Histogram { interval, .. } => {
                Gathered::Histogram { interval: *interval, buckets: BTreeMap::new() }
            }
            Facet::Dates { interval, .. } => {
                Gathered::Dates { interval: *interval, buckets: BTreeMap::new() }
            }
            Facet::Stats { .. } => Gathered::Stats(Stats::default()),
            Facet::Cardinality { .. } => Gathered::Cardinality(Distinct::default()),
            Facet::Percentiles { at, .. } => {
                Gathered::Percentiles { at: at.clone(), digest: Digest::default() }
            }
        }
    }

    /// The values of a document, in sortable form, ascending; they are no keywords.
    pub(super) fn add(&mut self, kind: ValueKind, values: &[u64]) {
        let numbers = || values.iter().map(|value| number_of(kind, *value));
        match self {
            Gathered::Terms { others, .. } => {
                different(values.iter().copied(), |value| *others.entry(value).or_default() += 1);
            }
            Gathered::Histogram { interval, buckets } => {
                // Further out, and of what is no number, a bucket has no number of 64 bits.
                let quotients = numbers().map(|number| (number / *interval).floor());
                let near = quotients.filter(|quotient| quotient.abs() < BUCKETS_END);
                different(near.map(|quotient| quotient as i64), |bucket| {
                    *buckets.entry(bucket).or_default() += 1
                });
            }
            Gathered::Dates { interval, buckets } => {
                let times = values.iter().map(|value| kind.from_sortable(*value).cast_signed());
                let starts = times.map(|time| interval.start_of(time));
                different(starts, |start| *buckets.entry(start).or_default() += 1);
            }
            Gathered::Stats(stats) => values.iter().for_each(|value| stats.add(kind, *value)),
            Gathered::Cardinality(distinct) => values.iter().for_each(|value| distinct.add(*value)),
            Gathered::Percentiles { digest, .. } => {
                numbers().filter(|number| number.is_finite()).for_each(|n| digest.add(n));
            }
        }
    }

    /// This many documents of a segment have a keyword.
    pub(super) fn add_keyword(&mut self, keyword: &[u8], documents: u32) {
        match self {
            Gathered::Terms { keywords, keyword_bytes, .. } => match keywords.get_mut(keyword) {
                Some(count) => *count += u64::from(documents),
                None => {
                    *keyword_bytes += keyword.len() + room::ALLOCATION;
                    keywords.insert(keyword.to_vec(), u64::from(documents));
                }
            },
            Gathered::Cardinality(distinct) => distinct.add(hash_bytes(keyword)),
            // Nothing else is asked of keywords.
            _ => {}
        }
    }

    /// Whether it tells more apart than it may.
    pub(super) fn is_full(&self) -> bool {
        let buckets = match self {
            Gathered::Terms { keywords, others, .. } => keywords.len() + others.len(),
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => buckets.len(),
            Gathered::Stats(_) | Gathered::Cardinality(_) | Gathered::Percentiles { .. } => 0,
        };
        buckets > BUCKETS_MAX
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Gathered::Terms { keywords, keyword_bytes, others, .. } => {
                let named = room::table(keywords.capacity(), size_of::<(Vec<u8>, u64)>());
                named + keyword_bytes + room::table(others.capacity(), size_of::<(u64, u64)>())
            }
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => {
                room::tree(buckets.len(), size_of::<(i64, u64)>())
            }
            Gathered::Stats(_) => 0,
            Gathered::Cardinality(distinct) => distinct.bytes(),
            Gathered::Percentiles { digest, .. } => digest.bytes(),
        }
    }

    /// What comes of it.
    pub(super) fn finish(self, kind: ValueKind) -> Aggregate {
        match self {
            Gathered::Terms { top, keywords, others, .. } => {
                let keywords = keywords
                    .into_iter()
                    .map(|(bytes, count)| (String::from_utf8_lossy(&bytes).into_owned(), count));
                let others = others.into_iter().map(|(value, count)| (text_of(kind, value), count));
                Aggregate::Terms(top_terms(keywords.chain(others).collect(), top))
            }
            Gathered::Histogram { interval, buckets } => {
                let bucket = |(number, count)| (number as f64 * interval, count);
                Aggregate::Histogram(buckets.into_iter().map(bucket).collect())
            }
            Gathered::Dates { buckets, .. } => Aggregate::Dates(buckets.into_iter().collect()),
            Gathered::Stats(stats) => Aggregate::Stats(stats.finish(kind)),
            Gathered::Cardinality(distinct) => Aggregate::Cardinality(distinct.count()),
            Gathered::Percentiles { at, mut digest } => {
                let percentile = |percent: f64| Some((percent, digest.at(percent / 100.0)?));
                Aggregate::Percentiles(at.into_iter().filter_map(percentile).collect())
            }
        }
    }
}

impl DateInterval {
    fn start_of(self, time: i64) -> i64 {
        match self {
            DateInterval::Milliseconds(ms) => time.div_euclid(ms).saturating_mul(ms),
            DateInterval::Calendar(calendar) => calendar.start_of(time),
        }
    }
}

impl Stats {
    fn add(&mut self, kind: ValueKind, value: u64) {
        let number = number_of(kind, value);
        if number.is_nan() {
            return;
        }
        let new = Summary { count: 0, min: number, max: number, sum: 0.0 };
        let summary = self.summary.get_or_insert(new);
        summary.count += 1;
        (summary.min, summary.max) = (summary.min.min(number), summary.max.max(number));
        match kind {
            ValueKind::Float => summary.sum += number,
            _ => self.whole += i128::from(kind.from_sortable(value).cast_signed()),
        }
    }

    fn finish(self, kind: ValueKind) -> Option<Summary> {
        let Stats { summary, whole } = self;
        let whole = (kind != ValueKind::Float).then_some(whole as f64);
        summary.map(|summary| Summary { sum: whole.unwrap_or(summary.sum), ..summary })
    }
}

/// Calls `take` with each of some ascending items, with those that are equal once.
fn different<T: PartialEq + Copy>(items: impl Iterator<Item = T>, mut take: impl FnMut(T)) {
    let mut last = None;
    for item in items {
        if last.replace(item) != Some(item) {
            take(item);
        }
    }
}

/// How a value that is no keyword is written.
fn text_of(kind: ValueKind, value: u64) -> String {
    match kind {
        ValueKind::Boolean => (value != 0).to_string(),
        _ => kind.from_sortable(value).cast_signed().to_string(),
    }
}

fn top_terms(mut all: Vec<(String, u64)>, top: usize) -> TopTerms {
    let distinct = all.len() as u64;
    all.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    let others = all.iter().skip(top).map(|(_, count)| count).sum();
    all.truncate(top);
    TopTerms { top: all, others, distinct }
}
