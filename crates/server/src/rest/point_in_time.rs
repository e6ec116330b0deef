//! Points in time: indexes as they were at one moment, which any number of searches ask.
//!
//! A point in time has a copy of each of its indexes. So later changes of documents do not change what
//! searches find there.

mod copies;
mod open;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::search::{SearchBody, time};

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::served::Served;
use open::Point;
pub(super) use open::PointsInTime;

/// The longest time for which a point in time is kept without a search.
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The parameter and the member with the time for which one is kept.
const KEEP_ALIVE: &str = "keep_alive";

type Points = Extension<Arc<PointsInTime>>;

/// Makes a point in time, as OpenSearch's clients ask for it.
pub(super) async fn make(
    State(server): State<Server>,
    Extension(points): Points,
    index: Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    if let Some(name) = parameters.take("allow_partial_pit_creation")
        && !matches!(&*name, "true" | "false" | "")
    {
        let what = format!("Failed to parse value [{name}] as only [true] or [false] are allowed.");
        return Err(Refusal::illegal_argument(what).into());
    }
    let (id, point, parameters) = made(&server, &points, &index, parameters).await?;
    let (shards, made) = (shards(&point), point.made_ms);
    let answer = format!(r#"{{"pit_id":"{id}","_shards":{shards},"creation_time":{made}}}"#);
    Ok(filtered(&parameters, 200, answer))
}

/// Makes a point in time, as Elasticsearch's clients ask for it.
pub(super) async fn open(
    State(server): State<Server>,
    Extension(points): Points,
    index: Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    let (id, point, parameters) = made(&server, &points, &index, parameters).await?;
    let answer = format!(r#"{{"id":"{id}","_shards":{}}}"#, shards(&point));
    Ok(filtered(&parameters, 200, answer))
}

fn shards(point: &Point) -> String {
    let count = point.copies.len();
    format!(r#"{{"total":{count},"successful":{count},"skipped":0,"failed":0}}"#)
}

async fn made(
    server: &Server,
    points: &Arc<PointsInTime>,
    index: &str,
    mut parameters: Parameters,
) -> Answered<(String, Arc<Point>, Parameters)> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let keep_alive = parameters.take(KEEP_ALIVE).map(|text| time(KEEP_ALIVE, &text)).transpose()?;
    let keep_alive = keep_alive.flatten().ok_or_else(|| invalid("keep alive not specified"))?;
    check_time(Some(keep_alive))?;
    let parameters = parameters.end_of_indexes()?;
    points.check_room()?;
    let served = names::resolve(server, index, may_be_missing)?;
    let own = points.clone();
    let copied = server.write(move || {
        let copies = served.iter().map(|served| own.copies.copy(served));
        let point = copies.collect::<Answered<Vec<_>>>().map(|copies| Arc::new(Point::new(copies)));
        Ok(point.and_then(|point| Ok((own.add(point.clone(), keep_alive)?, point))))
    });
    let (id, point) = copied.await??;
    close_at_end(points, id.clone());
    Ok((id, point, parameters))
}

/// Closes a point in time when its time is over, though nobody asks.
fn close_at_end(points: &Arc<PointsInTime>, id: String) {
    let points = Arc::downgrade(points);
    tokio::spawn(async move {
        // Terminates: each search moves the end, and without searches it comes.
        while let Some(points) = points.upgrade()
            && let Some(end) = points.end_of(&id)
        {
            if end <= Instant::now() {
                let _ = tokio::task::spawn_blocking(move || points.sweep()).await;
                return;
            }
            drop(points);
            tokio::time::sleep_until(end.into()).await;
        }
    });
}

fn check_time(time: Option<Duration>) -> Answered<()> {
    match time.filter(|time| *time > TIME_MAX) {
        None => Ok(()),
        Some(time) => Err(Refusal::illegal_argument(format!(
            "Keep alive for request ({}) is too large. It must be less than (1d). This limit can be \
             set by changing the [point_in_time.max_keep_alive] cluster level setting.",
            shown(time)
        ))
        .into()),
    }
}

/// Returns a time in its largest unit, as OpenSearch writes it.
fn shown(time: Duration) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let ms = time.as_millis();
    let unit = units.iter().find(|(unit, _)| ms.is_multiple_of(*unit)).unwrap_or(&(1, "ms"));
    format!("{}{}", ms / unit.0, unit.1)
}

fn invalid(what: &str) -> Refused {
    let reason = format!("Validation Failed: 1: {what};");
    Refused(Refusal::new("action_request_validation_exception", 400, reason))
}

/// Returns an error if a search of a point in time says which indexes, or which of their parts, are asked.
pub(super) fn check_parameters(asked: &SearchBody, given: &Parameters) -> Answered<()> {
    let names = [
        ("routing", "routing"),
        ("preference", "preference"),
        ("ignore_unavailable", "indicesOptions"),
        ("allow_no_indices", "indicesOptions"),
        ("expand_wildcards", "indicesOptions"),
    ];
    match names.iter().find(|(name, _)| asked.pit.is_some() && given.has(name)) {
        Some((_, what)) => Err(invalid(&format!("[{what}] cannot be used with point in time"))),
        None => Ok(()),
    }
}

/// Returns the indexes that a search asks: those of its point in time, or those that a list names.
pub(super) fn searched(
    server: &Server,
    points: &Arc<PointsInTime>,
    list: Option<&str>,
    may_be_missing: bool,
    asked: &SearchBody,
) -> Answered<Vec<Arc<Served>>> {
    let Some(pit) = &asked.pit else {
        return names::resolve(server, list.unwrap_or("*"), may_be_missing);
    };
    if list.is_some() {
        return Err(invalid("[indices] cannot be used with point in time"));
    }
    check_time(pit.keep_alive)?;
    points.get(server, &pit.id, pit.keep_alive)
}

/// The ids of a body, each a point in time to close.
fn ids(body: &[u8], name: &str) -> Answered<Vec<String>> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let Json::Object(members) = Json::parse(body)? else {
        return Err(
            Refusal::illegal_argument("Malformed content, must start with an object").into()
        );
    };
    let mut ids = Vec::new();
    for (own, value) in members {
        match value {
            Json::String(id) if own == name => ids.push(id),
            Json::Array(values) if own == name && values.iter().all(|id| id.as_str().is_some()) => {
                ids.extend(values.iter().filter_map(Json::as_str).map(str::to_owned));
            }
            _ => {
                return Err(Refusal::illegal_argument(format!(
                    "Unknown parameter [{own}] in request body or parameter is of the wrong type"
                ))
                .into());
            }
        }
    }
    Ok(ids)
}

/// Closes points in time, and returns how many of them were open.
async fn closed(server: &Server, points: &Arc<PointsInTime>, ids: Vec<String>) -> Answered<usize> {
    if ids.is_empty() {
        return Err(invalid("no pit ids specified"));
    }
    let (own, asking) = (points.clone(), server.clone());
    server.write(move || Ok(own.close(&asking, &ids))).await?
}

/// Closes points in time by their ids, as OpenSearch's clients ask for it.
pub(super) async fn delete(
    State(server): State<Server>,
    Extension(points): Points,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let ids = ids(&body::read(&server, &headers, body).await?, "pit_id")?;
    closed(&server, &points, ids.clone()).await?;
    Ok(filtered(&parameters, 200, deleted(&ids)))
}

/// Closes all points in time, those of other keys too.
pub(super) async fn delete_all(
    State(server): State<Server>,
    Extension(points): Points,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let ids = server.write(move || Ok(points.close_all())).await?;
    Ok(filtered(&parameters, 200, deleted(&ids)))
}

fn deleted(ids: &[String]) -> String {
    let pits: Vec<Value> =
        ids.iter().map(|id| json!({ "successful": true, "pit_id": id })).collect();
    json!({ "pits": pits }).to_string()
}

/// Closes a point in time, as Elasticsearch's clients ask for it.
pub(super) async fn close(
    State(server): State<Server>,
    Extension(points): Points,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let ids = ids(&body::read(&server, &headers, body).await?, "id")?;
    let freed = closed(&server, &points, ids).await?;
    let status = if freed == 0 { 404 } else { 200 };
    Ok(filtered(&parameters, status, json!({ "succeeded": true, "num_freed": freed }).to_string()))
}

/// Shows the points in time that are open.
pub(super) async fn show_all(
    State(server): State<Server>,
    Extension(points): Points,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let shown = points.all(&server).into_iter().map(|shown| {
        let keep_alive = shown.keep_alive.as_millis() as u64;
        json!({ "pit_id": shown.id, "creation_time": shown.made_ms, "keep_alive": keep_alive })
    });
    let pits: Vec<Value> = shown.collect();
    Ok(filtered(&parameters, 200, json!({ "pits": pits }).to_string()))
}
