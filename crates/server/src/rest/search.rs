//! `_search`, `_msearch` and `_count`, over one index or several.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;

use super::answer::filtered;
use super::hits::{self, Found, Moment};
use super::names;
use super::page;
use super::parameters::Parameters;
use super::point_in_time::{self, PointsInTime};
use super::refused::{Answered, Refused};
use super::top_hits;
use crate::api::body;
use crate::api::server::{Server, State};
use crate::problem::Problem;
use crate::served::Served;

/// Parameters that are accepted and change nothing: there is one shard.
const ACCEPTED: [&str; 13] = [
    "search_type",
    "preference",
    "request_cache",
    "routing",
    "batched_reduce_size",
    "max_concurrent_shard_requests",
    "max_concurrent_searches",
    "pre_filter_shard_size",
    "ccs_minimize_roundtrips",
    "allow_partial_search_results",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_throttled",
];

pub(super) async fn one(
    server: Server,
    points: &Arc<PointsInTime>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let mut asked = SearchBody::parse(&body::read(&server, &headers, body).await?)?;
    point_in_time::check_parameters(&asked, &parameters)?;
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let common = parameters.rest();
    take(&mut asked, &common, &parameters)?;
    check(&asked)?;
    let index = index.as_ref().map(|Path(index)| &**index);
    let served = point_in_time::searched(&server, points, index, may_be_missing, &asked)?;
    let body = answer(&server, &served, asked).await?;
    Ok(filtered(&parameters, 200, format!("{body}}}")))
}

/// Reads parameters of a URL into a search.
pub(super) fn take(
    asked: &mut SearchBody,
    common: &[(String, String)],
    parameters: &Parameters,
) -> Answered<()> {
    for (name, value) in common {
        if !asked.parameter(name, value)? && !ACCEPTED.contains(&&**name) {
            return Err(parameters.unknown(name));
        }
    }
    Ok(())
}

/// Returns the answer of indexes to a search, without its last brace.
pub(super) async fn answer(
    server: &Server,
    served: &[Arc<Served>],
    asked: SearchBody,
) -> Answered<String> {
    let started = Instant::now();
    let asked = Arc::new(asked);
    let moment = Moment { now: now_ms(), is_one_of_several: served.len() > 1, place: 0 };
    let mut found = Vec::new();
    for (place, served) in (0..).zip(served) {
        let moment = Moment { place, ..moment };
        found.push(find(server, served, &asked, moment).await?);
    }
    server.trail().found(found.iter().map(|found| found.total.count()).sum());
    let aggregations = aggregations(server, served, &asked, moment, &mut found).await?;
    let took = started.elapsed().as_millis();
    Ok(answer_json(&asked, served.len(), found, aggregations, took))
}

/// Returns an error for what is understood and not built.
pub(super) fn check(asked: &SearchBody) -> Answered<()> {
    asked.check()?;
    if asked.slice.is_some() && asked.pit.is_none() {
        let reason = "`slice` cannot be used outside of a scroll context or PIT context";
        return Err(Refusal::illegal_argument(reason).into());
    }
    let unsupported = [
        ("scroll", asked.scroll.is_some()),
        ("slice] with [aggs", asked.slice.is_some() && asked.aggregations.is_some()),
        ("slice] with [min_score", asked.slice.is_some() && asked.min_score.is_some()),
        ("slice] with [track_scores", asked.slice.is_some() && asked.track_scores),
        ("min_score] with [aggs", asked.min_score.is_some() && asked.aggregations.is_some()),
    ];
    match unsupported.iter().find(|(_, is_asked)| *is_asked) {
        Some((name, _)) => Err(Refusal::unsupported(format!("[{name}]")).into()),
        None => Ok(()),
    }
}

async fn find(
    server: &Server,
    served: &Arc<Served>,
    asked: &Arc<SearchBody>,
    moment: Moment,
) -> Answered<Found> {
    let (own, asked) = (served.clone(), asked.clone());
    let found =
        server.ask(served.clone(), move |reader| Ok(hits::find(&own, reader, &asked, moment)));
    found.await?
}

/// Returns the answers of aggregations over all indexes; none if none were asked for.
async fn aggregations(
    server: &Server,
    served: &[Arc<Served>],
    asked: &SearchBody,
    moment: Moment,
    found: &mut [Found],
) -> Answered<Option<String>> {
    let parts: Vec<_> = found.iter_mut().filter_map(|found| found.aggregations.take()).collect();
    let (read, aggregates) = match <[_; 1]>::try_from(parts) {
        Ok([one]) => one,
        Err(parts) if parts.is_empty() => return Ok(None),
        Err(parts) => Aggregations::merged(&parts)?,
    };
    if !read.has_hits() {
        return Ok(Some(read.answer(&aggregates, asked.typed_keys)?.to_string()));
    }
    let mark = top_hits::mark()?;
    let (answer, wanted) = read.answer_with_hits(&aggregates, asked.typed_keys, &mark)?;
    let marked = (answer.to_string(), &*mark, wanted);
    top_hits::fill(server, served, asked, moment, marked).await.map(Some)
}

fn answer_json(
    asked: &SearchBody,
    shards: usize,
    found: Vec<Found>,
    aggregations: Option<String>,
    took: u128,
) -> String {
    let aggregations = aggregations.map(|answers| format!(r#","aggregations":{answers}"#));
    let pit = asked.pit.as_ref().map(|pit| format!(r#""pit_id":"{}","#, pit.id));
    format!(
        r#"{{{}"took":{took},"timed_out":false,"_shards":{{"total":{shards},"successful":{shards},"skipped":0,"failed":0}},"hits":{}{}"#,
        pit.unwrap_or_default(),
        page::hits_json(asked, found),
        aggregations.unwrap_or_default()
    )
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}

pub(super) async fn many(
    State(server): State<Server>,
    Extension(points): Extension<Arc<PointsInTime>>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let started = Instant::now();
    let common = parameters.rest();
    let body = body::read(&server, &headers, body).await?;
    let index = index.as_ref().map(|Path(index)| &**index);
    let searches = searches(&body, index, &common, &parameters)?;
    let mut responses = Vec::new();
    for asked in searches {
        responses.push(match asked.answer(&server, &points).await {
            Ok(answer) => format!(r#"{answer},"status":200}}"#),
            Err(Refused(refusal)) => refusal.to_json(),
        });
    }
    let took = started.elapsed().as_millis();
    let body = format!(r#"{{"took":{took},"responses":[{}]}}"#, responses.join(","));
    Ok(filtered(&parameters, 200, body))
}

/// A search of several.
struct Asked {
    /// The list of indexes; none if no list is named.
    index: Option<String>,
    may_be_missing: bool,
    body: SearchBody,
}

impl Asked {
    async fn answer(self, server: &Server, points: &Arc<PointsInTime>) -> Answered<String> {
        let Asked { index, may_be_missing, body } = self;
        check(&body)?;
        let index = index.as_deref();
        let served = point_in_time::searched(server, points, index, may_be_missing, &body)?;
        answer(server, &served, body).await
    }
}

/// Reads lines of headers and bodies. One that cannot be read refuses all.
fn searches(
    body: &[u8],
    index: Option<&str>,
    common: &[(String, String)],
    parameters: &Parameters,
) -> Answered<Vec<Asked>> {
    let mut searches = Vec::new();
    let mut lines = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    while let (Some(head), Some(body)) = (lines.next(), lines.next()) {
        let head = Json::parse(head)?;
        let own = match head.get("index").or(head.get("indices")) {
            Some(Json::String(name)) => Some(name.clone()),
            Some(Json::Array(names)) => {
                Some(names.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(","))
            }
            _ => None,
        };
        let index = own.or_else(|| index.map(str::to_owned));
        let may_be_missing = head.get("ignore_unavailable") == Some(&Json::Bool(true));
        let mut body = SearchBody::parse(body)?;
        take(&mut body, common, parameters)?;
        searches.push(Asked { index, may_be_missing, body });
    }
    if searches.is_empty() {
        let reason = "Validation Failed: 1: no requests added;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
    }
    Ok(searches)
}

pub(super) async fn count(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let mut asked = counted(&body::read(&server, &headers, body).await?)?;
    let common = parameters.rest();
    take(&mut asked, &common, &parameters)?;
    let (asked, now) = (Arc::new(asked), now_ms());
    let served = names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?;
    let mut sum = 0;
    for served in &served {
        let (own, asked) = (served.clone(), asked.clone());
        let counted = server.ask(served.clone(), move |reader| {
            let schema = own.index.schema();
            let clause = asked.clause(&Context { schema: &schema, now });
            Ok(match clause {
                Ok(clause) => Ok(reader.count(&clause).map_err(Problem::from)?),
                Err(refusal) => Err(Refused(refusal)),
            })
        });
        sum += counted.await??;
    }
    server.trail().found(sum);
    let shards = served.len();
    let body = format!(
        r#"{{"count":{sum},"_shards":{{"total":{shards},"successful":{shards},"skipped":0,"failed":0}}}}"#
    );
    Ok(filtered(&parameters, 200, body))
}

/// Reads the body of a count, which has a query alone.
pub(super) fn counted(body: &[u8]) -> Answered<SearchBody> {
    let mut asked = SearchBody::default();
    if body.trim_ascii().is_empty() {
        return Ok(asked);
    }
    let body = Json::parse(body)?;
    if let Json::Object(members) = &body
        && let Some((name, _)) = members.iter().find(|(name, _)| name != "query")
    {
        return Err(Refusal::parsing(format!("request does not support [{name}]")).into());
    }
    asked.read(&body)?;
    Ok(asked)
}
