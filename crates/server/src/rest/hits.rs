//! The hits of one index.

use std::collections::HashSet;

use spirit::facets::Aggregate;
use spirit::search::Total;
use spirit::{Clause, Reader, Search};
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{FieldValues, SearchBody, TrackTotalHits, WINDOW_MAX};

use super::hit::{Hit, Wanted};
use super::marks::Marks;
use super::refused::Answered;
use super::sliced;
use super::tried::{Tried, of_hit, pages};
use crate::served::Served;

/// How often a search is asked again whose hits went away before they were read.
const TRIES: usize = 8;

/// What one index has found.
pub(super) struct Found {
    pub(super) total: Total,
    pub(super) hits: Vec<Hit>,
    /// The best score of all that match, if scores are known.
    pub(super) max_score: Option<f32>,
    /// Aggregations as the index read them, and what it answered; none if none were asked for.
    pub(super) aggregations: Option<(Aggregations, Vec<Aggregate>)>,
}

/// What a search is asked for beside its body.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// The time, in milliseconds since 1970.
    pub(super) now: i64,
    /// True if other indexes are asked too, whose aggregates are merged with these.
    pub(super) is_one_of_several: bool,
    /// The place of the index among those that are asked.
    pub(super) place: u64,
}

/// Asks an index.
pub(super) fn find(
    served: &Served,
    reader: &mut Reader,
    body: &SearchBody,
    moment: Moment,
) -> Answered<Found> {
    for _ in 1..TRIES {
        match find_once(served, reader, body, moment) {
            Err(Tried::Again) => {}
            Err(Tried::Refused(refused)) => return Err(refused),
            Ok(found) => return Ok(found),
        }
    }
    match find_once(served, reader, body, moment) {
        Ok(found) => Ok(found),
        Err(Tried::Refused(refused)) => Err(refused),
        Err(Tried::Again) => {
            Err(Refusal::rejected("the answer was overtaken by newer documents; ask again").into())
        }
    }
}

fn find_once(
    served: &Served,
    reader: &mut Reader,
    body: &SearchBody,
    moment: Moment,
) -> Result<Found, Tried> {
    let schema = served.index.schema();
    let context = Context { schema: &schema, now: moment.now };
    let matching = body.hits_clause(&context)?;
    let fields = FieldValues::new(body, &schema)?;
    let marks = Marks::new(reader, body, &body.clause(&context)?, &schema)?;
    let aggregations = aggregations(reader, body, &context, moment.is_one_of_several)?;
    let good = body.min_score.map(|least| good(reader, &matching, least)).transpose()?;
    let place = moment.place;
    let mut wanted = Wanted { index: served.name.as_str(), place, body, fields, marks };
    if let Some(slice) = &body.slice {
        slice.check(&schema)?;
        let hits = sliced::find(reader, slice, &context, place, &mut wanted)?;
        let total = sliced::total(reader, slice, &matching, body)?;
        let max_score = best(&hits);
        return Ok(Found { total, hits, max_score, aggregations });
    }
    let (mut hits, mut total) = (Vec::new(), None);
    for (clause, search) in pages(body, &context, place)? {
        let left = body.from + body.size - hits.len();
        if left == 0 {
            break;
        }
        let found = reader.search(&clause, search)?;
        // Where nothing is counted, what was found is all that is known.
        total = Some(found.total().unwrap_or(Total::AtLeast(found.len() as u64)));
        for hit in found.iter() {
            if hits.len() == body.from + body.size {
                break;
            }
            let is_good = match &good {
                Some(good) => good.contains(&hit.sequence().map_err(of_hit)?),
                None => true,
            };
            if is_good {
                hits.push(Hit::read(&hit, &mut wanted).map_err(of_hit)?);
            }
        }
    }
    let total = match (good, total) {
        (Some(good), _) => Total::Exact(good.len() as u64),
        // Pages behind the first are of narrower clauses: what is counted is not.
        (None, Some(total)) if body.search_after.is_none() => total,
        _ => self::total(reader, &matching, body)?,
    };
    let max_score = match body.track_scores && !body.is_by_score() {
        true => add_scores(reader, &matching, &mut hits)?,
        false => best(&hits),
    };
    Ok(Found { total, hits, max_score, aggregations })
}

/// Returns the best score of some hits.
fn best(hits: &[Hit]) -> Option<f32> {
    hits.iter().filter_map(|hit| hit.rank.score).max_by(f32::total_cmp)
}

/// Returns the sequence numbers of the documents with a score of at least `least`. The engine has
/// them in the order of their scores, so their number is limited.
fn good(reader: &mut Reader, clause: &Clause, least: f32) -> Result<HashSet<u64>, Tried> {
    let found = reader.search(clause, Search::best(WINDOW_MAX))?;
    let mut good = HashSet::new();
    for hit in found.iter().take_while(|hit| hit.score().is_some_and(|score| score >= least)) {
        good.insert(hit.sequence().map_err(of_hit)?);
    }
    if good.len() == WINDOW_MAX {
        let what = format!("[min_score] with {WINDOW_MAX} hits or more");
        return Err(Refusal::unsupported(what).into());
    }
    Ok(good)
}

/// Adds scores to hits in another order than theirs. Returns the best of all that match.
fn add_scores(
    reader: &mut Reader,
    clause: &Clause,
    hits: &mut [Hit],
) -> Result<Option<f32>, Tried> {
    let search = Search::best(1);
    for hit in hits {
        let explained = reader.explain(clause, &search, &hit.key)?;
        // A document that was changed since it was found is found anew.
        let explained = explained.filter(|explained| explained.matches()).ok_or(Tried::Again)?;
        hit.rank.score = Some(explained.score());
    }
    let best = reader.search(clause, search)?;
    Ok(best.get(0).and_then(|hit| hit.score()))
}

/// Answers the aggregations that are asked for.
fn aggregations(
    reader: &mut Reader,
    body: &SearchBody,
    context: &Context<'_>,
    is_one_of_several: bool,
) -> Result<Option<(Aggregations, Vec<Aggregate>)>, Tried> {
    let Some(asked) = &body.aggregations else { return Ok(None) };
    let asked = Aggregations::read(asked, context)?;
    let clause = body.clause(context)?;
    let facets = if is_one_of_several { asked.facets_to_merge() } else { asked.facets() };
    let aggregates = reader.aggregate(&clause, &facets)?;
    Ok(Some((asked, aggregates)))
}

/// Counts matches as far as the search asks.
fn total(reader: &mut Reader, clause: &Clause, body: &SearchBody) -> Result<Total, Tried> {
    Ok(match body.track_total_hits {
        TrackTotalHits::UpTo(limit) if !body.total_as_int => reader.count_up_to(clause, limit)?,
        TrackTotalHits::Off => Total::AtLeast(0),
        _ => Total::Exact(reader.count(clause)?),
    })
}
