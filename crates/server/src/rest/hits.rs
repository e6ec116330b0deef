//! The hits of one index, as clients read them.

use std::cmp::Ordering;

use serde_json::Value as Shown;
use spirit::search::Total;
use spirit::{Reader, Value};
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{Direction, SearchBody, SortBy, TrackTotalHits};

use super::refused::Answered;
use super::state;
use crate::served::Served;

/// How often a search is asked again whose hits went away before they were read.
const TRIES: usize = 8;

/// What one index has found.
pub(super) struct Found {
    pub(super) total: Total,
    pub(super) hits: Vec<Hit>,
    /// The answers of aggregations, as JSON; none if none were asked for.
    pub(super) aggregations: Option<String>,
}

/// A hit, and what it is ordered by among hits of other indexes.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) score: Option<f32>,
    pub(super) sort: Vec<Shown>,
    /// The newest of equal ones comes first.
    pub(super) sequence: u64,
    /// The members of its JSON, from `_index` on.
    pub(super) json: String,
}

/// Asks an index.
pub(super) fn find(
    served: &Served,
    reader: &mut Reader,
    body: &SearchBody,
    now: i64,
) -> Answered<Found> {
    for _ in 1..TRIES {
        match find_once(served, reader, body, now) {
            Err(Tried::Again) => {}
            Err(Tried::Refused(refused)) => return Err(refused),
            Ok(found) => return Ok(found),
        }
    }
    match find_once(served, reader, body, now) {
        Ok(found) => Ok(found),
        Err(Tried::Refused(refused)) => Err(refused),
        Err(Tried::Again) => {
            Err(Refusal::rejected("the answer was overtaken by newer documents; ask again").into())
        }
    }
}

pub(super) enum Tried {
    Again,
    Refused(super::refused::Refused),
}

impl<E: Into<super::refused::Refused>> From<E> for Tried {
    fn from(error: E) -> Tried {
        Tried::Refused(error.into())
    }
}

fn find_once(
    served: &Served,
    reader: &mut Reader,
    body: &SearchBody,
    now: i64,
) -> Result<Found, Tried> {
    let schema = served.index.schema();
    let context = Context { schema: &schema, now };
    let clause = body.page_clause(&context)?;
    let order = body.order(&schema)?;
    let aggregations = aggregations(reader, body, &context)?;
    if body.from + body.size == 0 {
        let (total, hits) = (total(reader, &clause, body)?, Vec::new());
        return Ok(Found { total, hits, aggregations });
    }
    let found = reader.search(&clause, order)?;
    // Where nothing is counted, what was found is all that is known.
    let total = found.total().unwrap_or(Total::AtLeast(found.len() as u64));
    let mut hits = Vec::new();
    for hit in found.iter() {
        hits.push(read(served, &hit, body).map_err(|error| match error {
            spirit::HitError::Lease { .. } => Tried::Again,
            error => Tried::Refused(error.into()),
        })?);
    }
    drop(found);
    // Pages behind the first are of a narrower clause: what is counted is not.
    let total = match body.search_after {
        Some(_) => self::total(reader, &body.hits_clause(&context)?, body)?,
        None => total,
    };
    Ok(Found { total, hits, aggregations })
}

/// Answers the aggregations that are asked for.
fn aggregations(
    reader: &mut Reader,
    body: &SearchBody,
    context: &Context<'_>,
) -> Result<Option<String>, Tried> {
    let Some(asked) = &body.aggregations else { return Ok(None) };
    let asked = Aggregations::read(asked, context)?;
    let clause = body.clause(context)?;
    let aggregates = reader.aggregate(&clause, &asked.facets())?;
    Ok(Some(asked.answer(&aggregates, body.typed_keys)?.to_string()))
}

/// Counts matches as far as the search asks.
fn total(reader: &mut Reader, clause: &spirit::Clause, body: &SearchBody) -> Result<Total, Tried> {
    Ok(match body.track_total_hits {
        TrackTotalHits::UpTo(limit) if !body.total_as_int => reader.count_up_to(clause, limit)?,
        TrackTotalHits::Off => Total::AtLeast(0),
        _ => Total::Exact(reader.count(clause)?),
    })
}

/// Reads a hit.
pub(super) fn read(
    served: &Served,
    hit: &spirit::Hit<'_>,
    body: &SearchBody,
) -> Result<Hit, spirit::HitError> {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let (key, state) = (hit.key()?, state::of(hit)?);
    let score = hit.score().filter(|_| body.is_by_score());
    let mut json = format!(r#"{{"_index":{}"#, text(served.name.as_str()));
    if !body.is_bare {
        json.push_str(&format!(r#","_id":{}"#, text(&key)));
    }
    if body.version {
        json.push_str(&format!(r#","_version":{}"#, state.version));
    }
    if body.seq_no_primary_term {
        json.push_str(&format!(r#","_seq_no":{},"_primary_term":1"#, state.sequence));
    }
    // Queries that order by nothing score each match 1.
    let shown = score_json(score);
    json.push_str(&format!(r#","_score":{shown}"#));
    if !body.source.is_off && !body.is_bare {
        let source = body.source.apply(state.source.as_bytes());
        json.push_str(&format!(r#","_source":{}"#, String::from_utf8_lossy(&source)));
    }
    let mut sort = Vec::new();
    for key in &body.sort {
        sort.push(match &key.by {
            SortBy::Score => score.map_or(Shown::Null, Shown::from),
            SortBy::Document => Shown::from(state.sequence),
            SortBy::Field(name) => {
                let name = name.strip_suffix(".keyword").unwrap_or(name);
                hit.get(name)?.map_or(Shown::Null, sort_value)
            }
        });
    }
    if !sort.is_empty() {
        json.push_str(&format!(r#","sort":{}"#, Shown::from(sort.clone())));
    }
    json.push('}');
    Ok(Hit { score, sort, sequence: state.sequence, json })
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
pub(super) fn order(body: &SearchBody, one: &Hit, other: &Hit) -> Ordering {
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
