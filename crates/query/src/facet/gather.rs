//! The data gathered for each facet.

use std::collections::BTreeMap;

use foldhash::HashMap;
use spirit_index::ground::ValueKind;
use spirit_index::ground::hash_bytes;

use super::digest::Digest;
use super::distinct::Distinct;
use super::state::{Words, write_bytes};
use super::steps::Steps;
use super::sum::Sum;
use super::{Aggregate, BUCKETS_MAX, DateInterval, Facet, Summary, TopTerms, number_of, room};

/// The data gathered for a facet so far.
pub(super) enum Gathered {
    /// The number of documents for each value.
    Terms {
        top: usize,
        keywords: HashMap<Vec<u8>, u64>,
        /// The bytes that the keywords take on their own.
        keyword_bytes: usize,
        others: HashMap<u64, u64>,
    },
    /// The number of documents for each bucket's number.
    Histogram { steps: Steps, buckets: BTreeMap<i64, u64> },
    /// The number of documents for each bucket's beginning.
    Dates { interval: DateInterval, buckets: BTreeMap<i64, u64> },
    /// A summary of all values.
    Stats(Stats),
    /// The different values.
    Cardinality(Distinct),
    /// A digest of all values.
    Percentiles { at: Vec<f64>, digest: Digest },
}

/// A summary of numbers, which are added up exactly.
#[derive(Default)]
pub(super) struct Stats {
    summary: Option<Summary>,
    sum: Sum,
    /// The sum of the squares of whole numbers, as far as 128 bits hold it.
    whole_squares: u128,
    /// The sum of all other squares.
    squares: Sum,
}

impl Gathered {
    /// Returns the state of a facet that is not refined. None if its answer has
    /// [buckets](Aggregate::Buckets).
    pub(super) fn new(facet: &Facet) -> Option<Gathered> {
        Some(match facet {
            Facet::Terms { top, .. } => Gathered::Terms {
                top: *top,
                keywords: HashMap::default(),
                keyword_bytes: 0,
                others: HashMap::default(),
            },
            Facet::Histogram { interval, .. } => {
                Gathered::Histogram { steps: Steps::new(*interval, 0.0), buckets: BTreeMap::new() }
            }
            Facet::Dates { interval, .. } => {
                Gathered::Dates { interval: *interval, buckets: BTreeMap::new() }
            }
            Facet::Stats { .. } => Gathered::Stats(Stats::default()),
            Facet::Cardinality { .. } => Gathered::Cardinality(Distinct::default()),
            Facet::Percentiles { at, .. } => {
                Gathered::Percentiles { at: at.clone(), digest: Digest::default() }
            }
            Facet::Ranges { .. } | Facet::Filters { .. } | Facet::Refined(_) => return None,
        })
    }

    /// Adds the values of a document, in sortable form, ascending. They are not keywords.
    pub(super) fn add(&mut self, kind: ValueKind, values: &[u64]) {
        let numbers = || values.iter().map(|value| number_of(kind, *value));
        match self {
            Gathered::Terms { others, .. } => {
                let values = values.iter().map(|value| one_zero(kind, *value));
                different(values, |value| *others.entry(value).or_default() += 1);
            }
            Gathered::Histogram { steps, buckets } => {
                let found = values.iter().filter_map(|value| steps.bucket(kind, *value));
                different(found, |bucket| *buckets.entry(bucket).or_default() += 1);
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

    /// Adds documents of a segment with a keyword.
    pub(super) fn add_keyword(&mut self, keyword: &[u8], documents: u64) {
        match self {
            Gathered::Terms { keywords, keyword_bytes, .. } => match keywords.get_mut(keyword) {
                Some(count) => *count += documents,
                None => {
                    *keyword_bytes += keyword.len() + room::ALLOCATION;
                    keywords.insert(keyword.to_vec(), documents);
                }
            },
            Gathered::Cardinality(distinct) => distinct.add(hash_bytes(keyword)),
            // Other facets have no keywords.
            _ => {}
        }
    }

    /// Writes what was gathered.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        match self {
            Gathered::Terms { keywords, others, .. } => {
                out.push(keywords.len() as u64);
                for (keyword, count) in keywords {
                    out.push(*count);
                    write_bytes(keyword, out);
                }
                out.push(others.len() as u64);
                out.extend(others.iter().flat_map(|(value, count)| [*value, *count]));
            }
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => {
                out.push(buckets.len() as u64);
                let pair = |(bucket, count): (&i64, &u64)| [bucket.cast_unsigned(), *count];
                out.extend(buckets.iter().flat_map(pair));
            }
            Gathered::Stats(stats) => stats.write(out),
            Gathered::Cardinality(distinct) => distinct.write(out),
            Gathered::Percentiles { digest, .. } => digest.write(out),
        }
    }

    /// Adds what was written. `None` if the words are of another facet.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        match self {
            Gathered::Terms { .. } => {
                let mut keyword = Vec::new();
                for _ in 0..words.count()? {
                    let count = words.next()?;
                    words.bytes(&mut keyword)?;
                    self.add_keyword(&keyword, count);
                }
                let Gathered::Terms { others, .. } = self else { return None };
                for _ in 0..words.count()? {
                    let (value, count) = (words.next()?, words.next()?);
                    *others.entry(value).or_default() += count;
                }
            }
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => {
                for _ in 0..words.count()? {
                    let (bucket, count) = (words.next()?.cast_signed(), words.next()?);
                    *buckets.entry(bucket).or_default() += count;
                }
            }
            Gathered::Stats(stats) => stats.join(words)?,
            Gathered::Cardinality(distinct) => distinct.join(words)?,
            Gathered::Percentiles { digest, .. } => digest.join(words)?,
        }
        Some(())
    }

    /// True if it has too many values or buckets.
    pub(super) fn is_full(&self) -> bool {
        let buckets = match self {
            Gathered::Terms { keywords, others, .. } => keywords.len() + others.len(),
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => buckets.len(),
            Gathered::Stats(_) | Gathered::Cardinality(_) | Gathered::Percentiles { .. } => 0,
        };
        buckets > BUCKETS_MAX
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Gathered::Terms { keywords, keyword_bytes, others, .. } => {
                let named = room::table(keywords.capacity(), size_of::<(Vec<u8>, u64)>());
                named + keyword_bytes + room::table(others.capacity(), size_of::<(u64, u64)>())
            }
            Gathered::Histogram { buckets, .. } | Gathered::Dates { buckets, .. } => {
                room::tree(buckets.len(), size_of::<(i64, u64)>())
            }
            Gathered::Stats(stats) => stats.bytes(),
            Gathered::Cardinality(distinct) => distinct.bytes(),
            Gathered::Percentiles { digest, .. } => digest.bytes(),
        }
    }

    /// Returns the answer.
    pub(super) fn finish(self, kind: ValueKind) -> Aggregate {
        match self {
            Gathered::Terms { top, keywords, others, .. } => {
                let keywords = keywords
                    .into_iter()
                    .map(|(bytes, count)| (String::from_utf8_lossy(&bytes).into_owned(), count));
                let others = others.into_iter().map(|(value, count)| (text_of(kind, value), count));
                Aggregate::Terms(top_terms(keywords.chain(others).collect(), top))
            }
            Gathered::Histogram { steps, buckets } => {
                let bucket = |(number, count)| (steps.start(number), count);
                Aggregate::Histogram(buckets.into_iter().map(bucket).collect())
            }
            Gathered::Dates { buckets, .. } => Aggregate::Dates(buckets.into_iter().collect()),
            Gathered::Stats(stats) => Aggregate::Stats(stats.finish()),
            Gathered::Cardinality(distinct) => Aggregate::Cardinality(distinct.count()),
            Gathered::Percentiles { at, mut digest } => percentiles(&at, &mut digest),
        }
    }
}

impl Stats {
    pub(super) fn add(&mut self, kind: ValueKind, value: u64) {
        let number = number_of(kind, value);
        if number.is_nan() {
            return;
        }
        let new = Summary {
            count: 0,
            min: number,
            max: number,
            sum: 0.0,
            whole: None,
            sum_of_squares: 0.0,
        };
        let summary = self.summary.get_or_insert(new);
        summary.count += 1;
        (summary.min, summary.max) = (summary.min.min(number), summary.max.max(number));
        if kind == ValueKind::Float {
            self.squares.add(number * number);
            return self.sum.add(number);
        }
        let exact = kind.from_sortable(value).cast_signed();
        let (min, max, sum) = summary.whole.unwrap_or((exact, exact, 0));
        summary.whole = Some((min.min(exact), max.max(exact), sum + i128::from(exact)));
        let size = u128::from(exact.unsigned_abs());
        self.add_squares(size * size);
    }

    /// Adds squares of whole numbers.
    fn add_squares(&mut self, squares: u128) {
        match self.whole_squares.checked_add(squares) {
            Some(sum) => self.whole_squares = sum,
            None => {
                self.squares.add_whole(self.whole_squares);
                self.whole_squares = squares;
            }
        }
    }

    /// Writes the summary.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        let Some(Summary { count, min, max, whole, .. }) = self.summary else {
            return out.push(0);
        };
        let (low, high, sum) = whole.unwrap_or_default();
        let halves = [sum.cast_unsigned() as u64, (sum.cast_unsigned() >> 64) as u64];
        out.extend([count, min.to_bits(), max.to_bits(), u64::from(whole.is_some())]);
        out.extend([low.cast_unsigned(), high.cast_unsigned(), halves[0], halves[1]]);
        let squares = self.whole_squares;
        out.extend([squares as u64, (squares >> 64) as u64]);
        self.sum.write(out);
        self.squares.write(out);
    }

    /// Adds a summary that was written.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        let count = words.next()?;
        if count == 0 {
            return Some(());
        }
        let (min, max, is_whole) = (words.float()?, words.float()?, words.next()? != 0);
        let [low, high] = [words.next()?, words.next()?].map(u64::cast_signed);
        let sum = u128::from(words.next()?) | u128::from(words.next()?) << 64;
        let new = Summary { count: 0, min, max, sum: 0.0, whole: None, sum_of_squares: 0.0 };
        let own = self.summary.get_or_insert(new);
        own.count += count;
        (own.min, own.max) = (own.min.min(min), own.max.max(max));
        if is_whole {
            let (own_low, own_high, own_sum) = own.whole.unwrap_or((low, high, 0));
            let sum = own_sum.wrapping_add(sum.cast_signed());
            own.whole = Some((own_low.min(low), own_high.max(high), sum));
        }
        let squares = u128::from(words.next()?) | u128::from(words.next()?) << 64;
        self.add_squares(squares);
        self.sum.join(words)?;
        self.squares.join(words)
    }

    /// Returns the bytes that are allocated.
    pub(super) fn bytes(&self) -> usize {
        self.sum.bytes() + self.squares.bytes()
    }

    pub(super) fn finish(mut self) -> Option<Summary> {
        self.squares.add_whole(self.whole_squares);
        let Stats { summary, sum, squares, .. } = self;
        summary.map(|summary| Summary {
            sum: summary.whole.map_or_else(|| sum.total(), |(_, _, sum)| sum as f64),
            sum_of_squares: squares.total(),
            ..summary
        })
    }
}

/// Returns the answer for these percentages.
pub(super) fn percentiles(at: &[f64], digest: &mut Digest) -> Aggregate {
    let percentile = |percent: &f64| Some((*percent, digest.at(percent / 100.0)?));
    Aggregate::Percentiles(at.iter().filter_map(percentile).collect())
}

/// Replaces the negative zero by the other one, in sortable form.
pub(super) fn one_zero(kind: ValueKind, value: u64) -> u64 {
    let is_negative = || kind.from_sortable(value) == (-0.0f64).to_bits();
    if kind == ValueKind::Float && is_negative() { kind.sortable(0) } else { value }
}

/// Calls `take` once for each different item. The items ascend.
pub(super) fn different<T: PartialEq + Copy>(
    items: impl Iterator<Item = T>,
    mut take: impl FnMut(T),
) {
    let mut last = None;
    for item in items {
        if last.replace(item) != Some(item) {
            take(item);
        }
    }
}

/// Writes a value other than a keyword.
pub(super) fn text_of(kind: ValueKind, value: u64) -> String {
    match kind {
        ValueKind::Boolean => (value != 0).to_string(),
        ValueKind::Float => f64::from_bits(kind.from_sortable(value)).to_string(),
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
