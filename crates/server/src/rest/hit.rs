//! A hit, as clients read it, and its place among hits of other indexes.

use std::cmp::Ordering;

use serde_json::Value as Shown;
use spirit::{HitError, Value};
use spirit_opensearch::date::formatted;
use spirit_opensearch::search::{Direction, FieldValues, Place, SearchBody, Sort, SortBy};

use super::marks::Marks;
use super::state;

/// What a hit is ordered by among hits of other indexes.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) score: Option<f32>,
    pub(super) sort: Vec<Shown>,
    /// The newest of equal ones comes first.
    pub(super) sequence: u64,
}

/// A hit.
pub(super) struct Hit {
    pub(super) key: String,
    pub(super) rank: Rank,
    /// The members of its JSON before the score, from `_index` on.
    head: String,
    /// Those behind the score.
    tail: String,
}

/// What is read of hits.
pub(super) struct Wanted<'w> {
    pub(super) index: &'w str,
    /// The place of the index among those that are asked.
    pub(super) place: u64,
    pub(super) body: &'w SearchBody,
    pub(super) fields: FieldValues,
    pub(super) marks: Marks,
}

impl Hit {
    /// Returns its JSON.
    pub(super) fn json(&self) -> String {
        format!(r#"{{{},"_score":{}{}}}"#, self.head, score_json(self.rank.score), self.tail)
    }

    /// Reads what is wanted of a hit.
    pub(super) fn read(hit: &spirit::Hit<'_>, wanted: &mut Wanted<'_>) -> Result<Hit, HitError> {
        let body = wanted.body;
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let (key, state) = (hit.key()?, state::of(hit)?);
        let mut head = format!(r#""_index":{}"#, text(wanted.index));
        if !body.is_bare {
            head.push_str(&format!(r#","_id":{}"#, text(&key)));
        }
        if body.version {
            head.push_str(&format!(r#","_version":{}"#, state.version));
        }
        if body.seq_no_primary_term {
            head.push_str(&format!(r#","_seq_no":{},"_primary_term":1"#, state.sequence));
        }
        let mut tail = String::new();
        if !body.source.is_off && !body.is_bare {
            let source = body.source.apply(state.source.as_bytes());
            tail.push_str(&format!(r#","_source":{}"#, String::from_utf8_lossy(&source)));
        }
        if !wanted.fields.is_empty() {
            let values: Vec<(&str, Value<'_>)> = hit.fields()?.collect();
            if let Some(fields) = wanted.fields.of(&values) {
                tail.push_str(&format!(r#","fields":{fields}"#));
            }
        }
        if let Some(marked) = wanted.marks.of(hit)? {
            tail.push_str(&format!(r#","highlight":{marked}"#));
        }
        let score = hit.score().filter(|_| body.is_by_score());
        let place = Place { index: wanted.place, sequence: state.sequence };
        let sort = sort_values(hit, body, score, place)?;
        if !sort.is_empty() {
            let shown = body.sort.iter().zip(&sort).map(|(key, value)| sort_shown(key, value));
            tail.push_str(&format!(r#","sort":{}"#, Shown::from_iter(shown)));
        }
        let sort = sort.into_iter().map(|(value, _)| value).collect();
        let rank = Rank { score, sort, sequence: state.sequence };
        Ok(Hit { key, rank, head, tail })
    }
}

/// Returns the values that a hit is sorted by; true beside those that are moments.
fn sort_values(
    hit: &spirit::Hit<'_>,
    body: &SearchBody,
    score: Option<f32>,
    place: Place,
) -> Result<Vec<(Shown, bool)>, HitError> {
    let mut values = Vec::new();
    for key in &body.sort {
        values.push(match &key.by {
            SortBy::Score => (score.map_or(Shown::Null, Shown::from), false),
            SortBy::Document => (Shown::from(place.number()), false),
            SortBy::Field(name) => {
                let name = name.strip_suffix(".keyword").unwrap_or(name);
                let own = hit.fields()?.filter(|(own, _)| *own == name).map(|(_, value)| value);
                match first(own, key.direction) {
                    Some(value) => (sort_value(value), matches!(value, Value::Time(_))),
                    None => (Shown::Null, false),
                }
            }
        });
    }
    Ok(values)
}

fn place(value: &Shown) -> Place {
    Place::of(value.as_u64().unwrap_or_default())
}

/// Returns the least of a field's values.
pub(super) fn least<'v>(values: impl Iterator<Item = Value<'v>>) -> Option<Value<'v>> {
    first(values, Direction::Ascending)
}

/// Returns the value that comes first in a direction: of several values it is the one that counts.
fn first<'v>(values: impl Iterator<Item = Value<'v>>, direction: Direction) -> Option<Value<'v>> {
    let compare = |a: &Value<'v>, b: &Value<'v>| compare(&sort_value(*a), &sort_value(*b));
    match direction {
        Direction::Ascending => values.min_by(compare),
        Direction::Descending => values.max_by(compare),
    }
}

/// Returns a value in the key's format, if it is a moment and the key has one.
fn sort_shown(key: &Sort, (value, is_moment): &(Shown, bool)) -> Shown {
    let ms = value.as_i64().filter(|_| *is_moment && key.format.is_some());
    let text = ms.and_then(|ms| formatted(ms, key.format.as_deref(), None).ok());
    text.map_or_else(|| value.clone(), Shown::from)
}

/// Returns a score as JSON has numbers with a fraction.
pub(super) fn score_json(score: Option<f32>) -> String {
    serde_json::to_string(&score).unwrap_or_default()
}

fn sort_value(value: Value<'_>) -> Shown {
    match value {
        Value::Text(text) => text.into(),
        Value::Integer(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Time(ms) => ms.into(),
        Value::Boolean(yes) => i64::from(yes).into(),
        Value::Object => Shown::Null,
    }
}

/// Orders hits of several indexes as the search asks.
pub(super) fn order(body: &SearchBody, one: &Rank, other: &Rank) -> Ordering {
    let by_score = || other.score.unwrap_or(0.0).total_cmp(&one.score.unwrap_or(0.0));
    if body.sort.is_empty() {
        return by_score();
    }
    let keys = body.sort.iter().zip(one.sort.iter().zip(&other.sort));
    for (key, (one, other)) in keys {
        let ordering = match (one.is_null(), other.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if key.missing_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if key.missing_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            // `_doc` is the newest first in each direction.
            (false, false) if key.by == SortBy::Document => place(one).order(place(other)),
            (false, false) => match key.direction {
                Direction::Ascending => compare(one, other),
                Direction::Descending => compare(other, one),
            },
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    other.sequence.cmp(&one.sequence)
}

fn compare(one: &Shown, other: &Shown) -> Ordering {
    match (one.as_i64().zip(other.as_i64()), one.as_f64().zip(other.as_f64())) {
        (Some((one, other)), _) => one.cmp(&other),
        (_, Some((one, other))) => one.total_cmp(&other),
        _ => one.as_str().cmp(&other.as_str()),
    }
}
