//! Cursors: places in the order of hits.

use std::fmt;
use std::str::FromStr;

use spirit_index::rows::Statistics;
use spirit_query::{
    Counts, Direction, Fading, Fingerprint, Parameters, Query, Ranking, SortBy, SortKey,
};
use spirit_schema::FieldId;

use crate::search::error::SearchError;

/// A place in the order of hits, at which the next page begins.
///
/// It fits the query and the order that it came from; others fail with [`SearchError::Cursor`]. A
/// cursor of the newest hits is a place in the stream, and fits any query. Its `Display` is a short
/// text. `FromStr` reads that again, in another process too.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// The exclusive upper bound of sequence numbers. For the newest hits, this is the last hit's.
    /// For others, only documents that were there when the first page was requested are below it.
    pub(crate) limit: u64,
    /// The number of fields of the schema in which the first page looked for words without a
    /// field's name; none if it does not matter.
    pub(crate) fields: Option<usize>,
    pub(crate) last: Last,
}

/// The last hit's place, if a sequence number does not determine it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Last {
    Newest,
    Ranked(Box<RankedCursor>),
    Sorted(SortedCursor),
    Keyed(KeyedCursor),
}

/// The place of a hit by relevance, and the counts that its score was computed from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankedCursor {
    /// The fingerprint of the query and its scoring.
    pub(crate) fingerprint: u32,
    pub(crate) score: f32,
    pub(crate) sequence: u64,
    pub(crate) counts: Counts,
    /// The time as of which scores have faded; none if they do not fade.
    pub(crate) now: Option<i64>,
}

/// The place of a hit in the order of a field's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SortedCursor {
    /// The fingerprint of the query and the [kind](sorted_fingerprint) of the field.
    pub(crate) fingerprint: u32,
    pub(crate) field: FieldId,
    pub(crate) direction: Direction,
    /// The document's sort key; none if it has no value.
    pub(crate) key: Option<SortKey>,
    pub(crate) sequence: u64,
}

/// The place of a hit in the order of several keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyedCursor {
    /// The fingerprint of the query and the order.
    pub(crate) fingerprint: u32,
    /// The document's keys and sequence number, as they are compared.
    pub(crate) bytes: Box<[u8]>,
}

/// Returns the fingerprint of a search for the best hits: of its query and its scoring. The time of
/// fading is not part of it, since the cursor has it.
pub(crate) fn fingerprint(query: &Query, by: &Ranking) -> u32 {
    let Ranking { parameters: Parameters { k1, b }, fading, proximity, .. } = by;
    let print = [k1, b].iter().fold(Fingerprint::of(query), |p, x| p.and(u64::from(x.to_bits())));
    let faded = |fading: &Fading| print.and(u64::from(fading.field.0)).and(fading.half_life);
    let print = fading.as_ref().map_or(print, faded);
    if *proximity { print.and(PROXIMITY).short() } else { print.short() }
}

/// Returns the fingerprint of a query in the order of a field. A field that is widened has keys of
/// another form from then on.
pub(crate) fn sorted_fingerprint(query: &Query, by: SortBy) -> u32 {
    Fingerprint::of(query).and(by.kind as u64).short()
}

/// Returns an error if the cursor's fingerprint differs from the search's. Without a cursor it does
/// not compute `fingerprint`, which is costly.
pub(crate) fn check(
    earlier: Option<u32>,
    fingerprint: impl FnOnce() -> u32,
) -> Result<(), SearchError> {
    match earlier {
        Some(earlier) if earlier != fingerprint() => Err(SearchError::Cursor),
        _ => Ok(()),
    }
}

/// What a fingerprint has more if places and closeness count.
const PROXIMITY: u64 = 1;
/// The prefix of a fingerprint.
const FINGERPRINT: char = 'q';
/// The prefix of a field's counts.
const FIELD: char = 'f';
/// The name of the bytes of several keys.
const KEYS: &str = "keys";
/// The prefix of a keyword's digits.
const WORD: char = 'w';

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.limit)?;
        self.fields.map_or(Ok(()), |fields| write!(f, "-{fields}"))?;
        match &self.last {
            Last::Newest => Ok(()),
            Last::Ranked(ranked) => ranked.fmt(f),
            Last::Sorted(sorted) => sorted.fmt(f),
            Last::Keyed(KeyedCursor { fingerprint, bytes }) => {
                write!(f, ".{FINGERPRINT}{fingerprint:x}.{KEYS}.")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl fmt::Display for RankedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankedCursor { fingerprint, score, sequence, counts, now } = self;
        write!(f, ".{FINGERPRINT}{fingerprint:x}")?;
        now.map_or(Ok(()), |now| write!(f, ".at{now}"))?;
        let Statistics { documents, tokens } = counts.statistics;
        write!(f, ".{:x}.{sequence}.{documents}.{tokens}", score.to_bits())?;
        for (field, Statistics { documents, tokens }) in &counts.fields {
            write!(f, ".{FIELD}{}-{documents}-{tokens}", field.0)?;
        }
        counts.with_term.iter().try_for_each(|count| write!(f, ".{count}"))
    }
}

impl fmt::Display for SortedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Ascending => "asc",
            Direction::Descending => "desc",
        };
        write!(f, ".{FINGERPRINT}{:x}", self.fingerprint)?;
        write!(f, ".{direction}.{}.{}", self.field.0, self.sequence)?;
        match &self.key {
            None => Ok(()),
            Some(SortKey::Number(key)) => write!(f, ".{key:x}"),
            Some(SortKey::Word(bytes)) => {
                write!(f, ".{WORD}")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl FromStr for Cursor {
    type Err = SearchError;

    fn from_str(text: &str) -> Result<Cursor, SearchError> {
        let read = || {
            let (limit, rest) = match text.split_once('.') {
                Some((limit, rest)) => (limit, Some(rest)),
                None => (text, None),
            };
            let last = match rest {
                None => Last::Newest,
                Some(rest) => last(rest)?,
            };
            let (limit, fields) = match limit.split_once('-') {
                Some((limit, fields)) => (limit, Some(fields.parse().ok()?)),
                None => (limit, None),
            };
            Some(Cursor { limit: limit.parse().ok()?, fields, last })
        };
        read().ok_or_else(|| SearchError::CursorText { text: text.to_owned() })
    }
}

fn last(text: &str) -> Option<Last> {
    let (print, rest) = text.split_once('.')?;
    let print = u32::from_str_radix(print.strip_prefix(FINGERPRINT)?, 16).ok()?;
    let (first, rest) = rest.split_once('.')?;
    if let Some(now) = first.strip_prefix("at") {
        let (score, rest) = rest.split_once('.')?;
        let faded = RankedCursor { now: Some(now.parse().ok()?), ..ranked(print, score, rest)? };
        return Some(Last::Ranked(Box::new(faded)));
    }
    let direction = match first {
        "asc" => Direction::Ascending,
        "desc" => Direction::Descending,
        KEYS => {
            let bytes = bytes(rest).filter(|bytes| bytes.len() > size_of::<u64>())?;
            return Some(Last::Keyed(KeyedCursor { fingerprint: print, bytes }));
        }
        score => return ranked(print, score, rest).map(|ranked| Last::Ranked(Box::new(ranked))),
    };
    sorted(print, direction, rest).map(Last::Sorted)
}

fn ranked(fingerprint: u32, score: &str, rest: &str) -> Option<RankedCursor> {
    let score = f32::from_bits(u32::from_str_radix(score, 16).ok()?);
    let mut parts = rest.split('.').peekable();
    let mut number = || parts.next()?.parse::<u64>().ok();
    let (sequence, documents, tokens) = (number()?, number()?, number()?);
    let mut fields = Vec::new();
    while let Some(part) = parts.next_if(|part| part.starts_with(FIELD)) {
        fields.push(field_counts(part.strip_prefix(FIELD)?)?);
    }
    let with_term = parts.map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let counts = Counts { statistics: Statistics { documents, tokens }, fields, with_term };
    let sound = !score.is_nan() && score.is_sign_positive();
    sound.then_some(RankedCursor { fingerprint, score, sequence, counts, now: None })
}

fn field_counts(text: &str) -> Option<(FieldId, Statistics)> {
    let mut parts = text.split('-');
    let field = FieldId(parts.next()?.parse().ok().filter(|n| *n <= FieldId::MAX.0)?);
    let (documents, tokens) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some((field, Statistics { documents, tokens }))
}

fn sorted(fingerprint: u32, direction: Direction, rest: &str) -> Option<SortedCursor> {
    let mut parts = rest.split('.');
    let field = FieldId(parts.next()?.parse().ok().filter(|n| *n <= FieldId::MAX.0)?);
    let sequence = parts.next()?.parse().ok()?;
    let key = match parts.next() {
        None => None,
        Some(text) => Some(sort_key(text)?),
    };
    let whole = parts.next().is_none();
    whole.then_some(SortedCursor { fingerprint, field, direction, key, sequence })
}

fn sort_key(text: &str) -> Option<SortKey> {
    let Some(digits) = text.strip_prefix(WORD) else {
        return u64::from_str_radix(text, 16).ok().map(SortKey::Number);
    };
    bytes(digits).map(SortKey::Word)
}

/// Reads bytes from pairs of hexadecimal digits.
fn bytes(digits: &str) -> Option<Box<[u8]>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        pair.iter()
            .try_fold(0, |byte, digit| Some(byte << 4 | (*digit as char).to_digit(16)? as u8))
    };
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| rest.is_empty()).map(Vec::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        let statistics = Statistics { documents: 7, tokens: 90 };
        let counts = Counts { statistics, fields: Vec::new(), with_term: vec![3, 0] };
        let of_fields = [1, FieldId::MAX.0].map(|field| (FieldId(field), statistics)).to_vec();
        let fielded = Counts { fields: of_fields, ..counts.clone() };
        let ranked = RankedCursor { fingerprint: 7, score: 1.25, sequence: 12, counts, now: None };
        let fielded = RankedCursor { fingerprint: u32::MAX, counts: fielded, ..ranked.clone() };
        let faded = RankedCursor { now: Some(-5), ..ranked.clone() };
        let (field, direction) = (FieldId(9), Direction::Descending);
        let valued = SortedCursor {
            fingerprint: 0,
            field,
            direction,
            key: Some(SortKey::Number(u64::MAX)),
            sequence: 3,
        };
        let without = SortedCursor { direction: Direction::Ascending, key: None, ..valued.clone() };
        let word = |word: &[u8]| Some(SortKey::Word(word.into()));
        let worded = SortedCursor { key: word(b"a.\xff"), ..valued.clone() };
        let empty = SortedCursor { key: word(b""), ..valued.clone() };
        for (limit, last) in [
            (0, Last::Newest),
            (u64::MAX, Last::Newest),
            (17, Last::Ranked(Box::new(ranked))),
            (17, Last::Ranked(Box::new(faded))),
            (17, Last::Ranked(Box::new(fielded))),
            (18, Last::Sorted(valued)),
            (u64::MAX, Last::Sorted(without)),
            (5, Last::Sorted(worded)),
            (5, Last::Sorted(empty)),
            (9, Last::Keyed(KeyedCursor { fingerprint: 5, bytes: [0; 9].into() })),
        ] {
            for fields in [None, Some(1), Some(usize::MAX)] {
                let cursor = Cursor { limit, fields, last: last.clone() };
                assert_eq!(cursor.to_string().parse(), Ok(cursor));
            }
        }
        for text in [
            "",
            "x",
            "1.",
            "1.q5.zz.1.2.3",
            "1.q5.3f800000.1",
            "1.q5.7fc00000.1.2.3",
            "-1",
            "1-",
            "1-x.q5.asc.1.1",
            "1.3f800000.1.2.3",
            "1.asc.1.1",
            "1.q.3f800000.1.2.3",
            "1.q100000000.3f800000.1.2.3",
            "1.q5",
            "1.q5.",
            "1.q5.at",
            "1.q5.at5.3f800000.1",
            "1.q5.atx.3f800000.1.2.3",
            "1.q5.3f800000.1.2.3.f1-2",
            "1.q5.3f800000.1.2.3.f4096-2-3",
            "1.q5.3f800000.1.2.3.f1-2-3-4",
            "1.q5.asc",
            "1.q5.asc.1",
            "1.q5.asc.4096.1",
            "1.q5.desc.1.1.x",
            "1.q5.desc.1.1.1.1",
            "1.q5.desc.1.1.w1",
            "1.q5.desc.1.1.w1x",
            "1.q5.desc.1.1.wä",
            "1.q5.keys.",
            "1.q5.keys.00",
            "1.q5.keys.00000000000000000",
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
