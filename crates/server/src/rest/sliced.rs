//! The hits of one slice of a point in time, which several clients read side by side.
//!
//! The engine has no clause for a slice. So all matches are looked through, page by page.

use spirit::search::Total;
use spirit::{Clause, HitError, Reader, Search, Value};
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{SearchBody, Slice, TrackTotalHits, WINDOW_MAX};

use super::hit::{self, Hit, Wanted};
use super::tried::{Tried, of_hit, pages};

/// True if a hit is in a slice.
pub(super) fn has(slice: &Slice, hit: &spirit::Hit<'_>) -> Result<bool, HitError> {
    let Some(field) = &slice.field else { return Ok(slice.has(hit.key()?.as_bytes())) };
    let own = hit.fields()?.filter(|(name, _)| name == field).map(|(_, value)| value);
    Ok(match hit::least(own) {
        Some(Value::Integer(number) | Value::Time(number)) => slice.has(&number.to_le_bytes()),
        Some(Value::Float(number)) => slice.has(&number.to_le_bytes()),
        Some(Value::Boolean(yes)) => slice.has(&[u8::from(yes)]),
        _ => slice.has_missing(),
    })
}

/// Returns the first hits that are in the slice, as many as the search has in its window.
pub(super) fn find(
    reader: &mut Reader,
    slice: &Slice,
    context: &Context<'_>,
    place: u64,
    wanted: &mut Wanted<'_>,
) -> Result<Vec<Hit>, Tried> {
    let body = wanted.body;
    let mut all = body.clone();
    (all.from, all.size, all.track_total_hits) = (0, WINDOW_MAX, TrackTotalHits::Off);
    let (window, mut hits) = (body.from + body.size, Vec::new());
    for (clause, search) in pages(&all, context, place)? {
        each(reader, &clause, &search, |hit| {
            if hits.len() < window && has(slice, hit)? {
                hits.push(Hit::read(hit, wanted)?);
            }
            Ok(hits.len() < window)
        })?;
    }
    Ok(hits)
}

/// Counts the matches in the slice as far as the search asks.
pub(super) fn total(
    reader: &mut Reader,
    slice: &Slice,
    clause: &Clause,
    body: &SearchBody,
) -> Result<Total, Tried> {
    let limit = match body.track_total_hits {
        TrackTotalHits::Off => return Ok(Total::AtLeast(0)),
        TrackTotalHits::UpTo(limit) if !body.total_as_int => limit,
        _ => u64::MAX,
    };
    let mut count = 0;
    each(reader, clause, &Search::newest(WINDOW_MAX), |hit| {
        count += u64::from(has(slice, hit)?);
        Ok(count <= limit)
    })?;
    Ok(if count > limit { Total::AtLeast(count) } else { Total::Exact(count) })
}

/// Calls `take` for each match in an order, until it returns false.
fn each(
    reader: &mut Reader,
    clause: &Clause,
    order: &Search,
    mut take: impl FnMut(&spirit::Hit<'_>) -> Result<bool, HitError>,
) -> Result<(), Tried> {
    let mut search = order.clone();
    // Terminates: each page is behind the one before.
    loop {
        let found = reader.search(clause, search)?;
        for hit in found.iter() {
            if !take(&hit).map_err(of_hit)? {
                return Ok(());
            }
        }
        match found.cursor().map_err(of_hit)? {
            Some(cursor) if found.len() == WINDOW_MAX => search = order.clone().after(cursor),
            _ => return Ok(()),
        }
    }
}
