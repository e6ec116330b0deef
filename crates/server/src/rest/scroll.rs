//! Scrolls: all matches of a search, page by page, as they were at its start.
//!
//! The first request collects all of them and keeps them in a file. So later changes of documents do not
//! change what a scroll gives.

mod collect;
mod open;
mod spool;

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::value::RawValue;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::search::{SearchBody, Slice, TrackTotalHits};

use super::answer::filtered;
use super::hit::score_json;
use super::names;
use super::parameters::Parameters;
use super::point_in_time::PointsInTime;
use super::refused::{Answered, Refused, forbidden};
use super::search::{answer, check, now_ms, one, take};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::guard::Need;
use crate::served::Served;
use open::Scroll;
pub(super) use open::Scrolls;
use spool::Kept;

/// The longest time for which a scroll stays open without a request.
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The name of all scrolls.
const ALL: &str = "_all";
/// Matches that are counted unless a search says otherwise. A scroll counts all of them.
const COUNTED: TrackTotalHits = TrackTotalHits::UpTo(10_000);

/// `_search`, which starts a scroll if its URL says so.
pub(super) async fn search(
    State(server): State<Server>,
    Extension(scrolls): Extension<Arc<Scrolls>>,
    Extension(points): Extension<Arc<PointsInTime>>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let Some(scroll) = parameters.take("scroll") else {
        return one(server, &points, index, parameters, headers, body).await;
    };
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let mut asked = SearchBody::parse(&body::read(&server, &headers, body).await?)?;
    let common = parameters.rest();
    take(&mut asked, &common, &parameters)?;
    asked.scroll = time(&scroll)?;
    let index = names::in_path(index.as_ref());
    let body = start(&server, &scrolls, index, may_be_missing, asked).await?;
    Ok(filtered(&parameters, 200, body))
}

/// Starts a scroll, and returns the answer with its first page.
async fn start(
    server: &Server,
    scrolls: &Arc<Scrolls>,
    index: &str,
    may_be_missing: bool,
    mut asked: SearchBody,
) -> Answered<String> {
    let started = Instant::now();
    let (time, slice) = (asked.scroll.take(), asked.slice.take());
    let time = checked(&asked, time.unwrap_or_default())?;
    check(&asked)?;
    scrolls.check_room()?;
    let served = names::resolve(server, index, may_be_missing)?;
    if let Some(slice) = &slice {
        check_slice(slice, &asked, &served)?;
    }
    let aggregations = aggregations(server, &served, &asked).await?;
    asked.slice = slice;
    let (asked, now) = (Arc::new(asked), now_ms());
    let mut spools = Vec::new();
    for served in &served {
        spools.push(collect::collect(server, &scrolls.budget, served, &asked, now).await?);
    }
    let first =
        server.write(move || Ok(first_page(Scroll { asked, total: 0, max_score: None, spools })));
    let (scroll, page) = first.await??;
    let head = Head::of(&scroll);
    let id = scrolls.add(scroll, time)?;
    sweep_after(scrolls, time);
    Ok(head.json(&id, started, &page, aggregations.as_deref()))
}

/// Goes to the first hits, and takes them.
fn first_page(mut scroll: Scroll) -> Answered<(Scroll, Vec<Kept>)> {
    for spool in &mut scroll.spools {
        spool.rewind().map_err(|error| spool::failed(&error))?;
        scroll.total += spool.documents();
        let best = spool.peek().and_then(|hit| hit.rank.score);
        scroll.max_score = scroll.max_score.into_iter().chain(best).max_by(f32::total_cmp);
    }
    let page = scroll.next()?;
    Ok((scroll, page))
}

/// Checks what a scroll cannot have.
fn checked(asked: &SearchBody, time: Duration) -> Answered<Duration> {
    let invalid = |what: &str| {
        let reason = format!("Validation Failed: 1: {what};");
        Err(Refused(Refusal::new("action_request_validation_exception", 400, reason)))
    };
    let is_counted =
        asked.track_total_hits == COUNTED || asked.track_total_hits == TrackTotalHits::Exactly;
    if !is_counted {
        return invalid("disabling [track_total_hits] is not allowed in a scroll context");
    }
    if asked.from > 0 {
        return invalid("using [from] is not allowed in a scroll context");
    }
    if asked.size == 0 {
        return invalid("[size] cannot be [0] in a scroll context");
    }
    if asked.pit.is_some() {
        return invalid("using [point in time] is not allowed in a scroll context");
    }
    if asked.search_after.is_some() {
        let reason = "`search_after` cannot be used in a scroll context.";
        return Err(Refusal::illegal_argument(reason).into());
    }
    let unsupported = [
        ("min_score] with [scroll", asked.min_score.is_some()),
        ("track_scores] with [scroll", asked.track_scores && !asked.is_by_score()),
    ];
    if let Some((name, _)) = unsupported.iter().find(|(_, is_asked)| *is_asked) {
        return Err(Refusal::unsupported(format!("[{name}]")).into());
    }
    if time > TIME_MAX {
        return Err(Refusal::illegal_argument(format!(
            "Keep alive for request ({}) is too large. It must be less than (1d). This limit can be \
             set by changing the [search.max_keep_alive] cluster level setting.",
            humantime::format_duration(time)
        ))
        .into());
    }
    Ok(time)
}

/// Checks the slice of a scroll, which aggregations do not know.
fn check_slice(slice: &Slice, asked: &SearchBody, served: &[Arc<Served>]) -> Answered<()> {
    if asked.aggregations.is_some() {
        return Err(Refusal::unsupported("[slice] with [aggs]").into());
    }
    Ok(served.iter().try_for_each(|served| slice.check(&served.index.schema()))?)
}

/// Returns the aggregations of a scroll's first answer.
async fn aggregations(
    server: &Server,
    served: &[Arc<Served>],
    asked: &SearchBody,
) -> Answered<Option<String>> {
    #[derive(serde::Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        aggregations: Option<&'a RawValue>,
    }
    if asked.aggregations.is_none() {
        return Ok(None);
    }
    let mut asked = asked.clone();
    asked.size = 0;
    let body = answer(server, served, asked).await? + "}";
    let parts: Parts<'_> = serde_json::from_str(&body)
        .map_err(|error| Refusal::new("engine_exception", 500, error.to_string()))?;
    Ok(parts.aggregations.map(|aggregations| aggregations.get().to_owned()))
}

/// Closes a scroll when its time is over, though nobody asks.
fn sweep_after(scrolls: &Arc<Scrolls>, time: Duration) {
    let scrolls = Arc::downgrade(scrolls);
    tokio::spawn(async move {
        tokio::time::sleep(time + Duration::from_millis(1)).await;
        if let Some(scrolls) = scrolls.upgrade() {
            scrolls.sweep();
        }
    });
}

/// What each answer of a scroll has.
struct Head {
    shards: usize,
    total: u64,
    max_score: Option<f32>,
    total_as_int: bool,
}

impl Head {
    fn of(scroll: &Scroll) -> Head {
        let Scroll { asked, total, max_score, spools } = scroll;
        let (shards, total_as_int) = (spools.len(), asked.total_as_int);
        Head { shards, total: *total, max_score: *max_score, total_as_int }
    }

    fn json(
        &self,
        id: &str,
        started: Instant,
        page: &[Kept],
        aggregations: Option<&str>,
    ) -> String {
        let (took, shards, total) = (started.elapsed().as_millis(), self.shards, self.total);
        let total = match self.total_as_int {
            true => total.to_string(),
            false => format!(r#"{{"value":{total},"relation":"eq"}}"#),
        };
        let hits: Vec<&str> = page.iter().map(|hit| &*hit.json).collect();
        let aggregations = aggregations.map(|answers| format!(r#","aggregations":{answers}"#));
        format!(
            r#"{{"_scroll_id":"{id}","took":{took},"timed_out":false,"_shards":{{"total":{shards},"successful":{shards},"skipped":0,"failed":0}},"hits":{{"total":{total},"max_score":{},"hits":[{}]}}{}}}"#,
            score_json(self.max_score),
            hits.join(","),
            aggregations.unwrap_or_default()
        )
    }
}

/// What a request says about scrolls.
#[derive(Default)]
struct About {
    ids: Vec<String>,
    time: Option<Duration>,
    total_as_int: bool,
}

impl About {
    async fn read(
        server: &Server,
        path: Option<Path<String>>,
        parameters: &mut Parameters,
        headers: &HeaderMap,
        body: Body,
    ) -> Answered<About> {
        let mut about =
            About { total_as_int: parameters.flag("rest_total_hits_as_int")?, ..About::default() };
        let ids = path.map(|Path(ids)| ids).or(parameters.take("scroll_id"));
        about.ids = ids.iter().flat_map(|ids| ids.split(',')).map(str::to_owned).collect();
        about.time = parameters.take("scroll").map(|text| time(&text)).transpose()?.flatten();
        let body = body::read(server, headers, body).await?;
        if !body.trim_ascii().is_empty() {
            about.take(&Json::parse(&body)?)?;
        }
        Ok(about)
    }

    fn take(&mut self, body: &Json) -> Answered<()> {
        let Json::Object(members) = body else {
            return Err(
                Refusal::illegal_argument("Malformed content, must start with an object").into()
            );
        };
        for (name, value) in members {
            match (&**name, value) {
                ("scroll_id", Json::String(id)) => self.ids = vec![id.clone()],
                ("scroll_id", Json::Array(ids)) if ids.iter().all(|id| id.as_str().is_some()) => {
                    self.ids = ids.iter().filter_map(Json::as_str).map(str::to_owned).collect();
                }
                ("scroll", Json::String(text)) => self.time = time(text)?,
                (name, _) => {
                    let reason = format!(
                        "Unknown parameter [{name}] in request body or parameter is of the wrong type"
                    );
                    return Err(Refusal::illegal_argument(reason).into());
                }
            }
        }
        Ok(())
    }
}

/// Reads how long a scroll stays open.
fn time(text: &str) -> Answered<Option<Duration>> {
    let mut read = SearchBody::default();
    read.parameter("scroll", text)?;
    Ok(read.scroll)
}

pub(super) async fn next(
    State(server): State<Server>,
    Extension(scrolls): Extension<Arc<Scrolls>>,
    path: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let started = Instant::now();
    let about = About::read(&server, path, &mut parameters, &headers, body).await?;
    let parameters = parameters.end_of_indexes()?;
    let [id] = &*about.ids else {
        let reason = "Validation Failed: 1: scrollId is missing;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
    };
    let time = about.time.map(|time| checked(&SearchBody::default(), time)).transpose()?;
    let scroll = scrolls.get(id, time)?;
    if let Some(time) = time {
        sweep_after(&scrolls, time);
    }
    let read = server.write(move || {
        let mut scroll = scroll.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(scroll.next().map(|page| (Head::of(&scroll), page)))
    });
    let (mut head, page) = read.await??;
    head.total_as_int = about.total_as_int;
    Ok(filtered(&parameters, 200, head.json(id, started, &page, None)))
}

pub(super) async fn clear(
    State(server): State<Server>,
    Extension(scrolls): Extension<Arc<Scrolls>>,
    path: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let about = About::read(&server, path, &mut parameters, &headers, body).await?;
    let parameters = parameters.end_of_indexes()?;
    if about.ids.is_empty() {
        let reason = "Validation Failed: 1: no scroll ids specified;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
    }
    // Those of other keys, too.
    let is_all = about.ids.iter().any(|id| id == ALL);
    if is_all && !server.access().allows(Need::Server) {
        return Err(forbidden(ALL, server.access().user()));
    }
    let freed = scrolls.close(&about.ids)?;
    Ok(filtered(&parameters, 200, format!(r#"{{"succeeded":true,"num_freed":{freed}}}"#)))
}
