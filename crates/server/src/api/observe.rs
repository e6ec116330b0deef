//! Each request is counted, and has an id that its answer and its lines of the log have too.
//!
//! A client's own `X-Request-Id` is kept if it is of a sane form. `X-Opaque-Id` comes back as OpenSearch
//! sends it back.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::entry::{Access, Entry};
use super::server::Server;
use super::trail::Trail;
use crate::guard::Rule;
use crate::metrics::Class;
use crate::problem::Cause;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OPAQUE_ID: HeaderName = HeaderName::from_static("x-opaque-id");
/// The most bytes of a client's id.
const ID_BYTES_MAX: usize = 128;

/// Counts a request, gives its answer the ids, and logs what is to be logged of it.
pub(super) async fn observe(
    State(server): State<Server>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let (mut parts, body) = request.into_parts();
    let class = class_of(&parts);
    let id = sane(&parts.headers, &REQUEST_ID).unwrap_or_else(made_id);
    let opaque = sane(&parts.headers, &OPAQUE_ID);
    let logging = &server.settings().logging;
    let is_question = class == Class::Search && !logging.slow_query.is_zero();
    let with_text = is_question && logging.slow_query_text;
    let trail = Arc::new(Trail::new(with_text));
    let query = parts.uri.query().filter(|_| with_text).map(str::to_owned);
    parts.extensions.insert(trail.clone());
    let entry = Entry::of(&mut parts, id.clone(), trail.clone()).await;
    // A client that hangs up drops this too.
    let line = Line::of(entry, logging.access);
    if class.is_of_indexes() {
        let (index, patience) = (line.entry().index(), server.settings().hold);
        trail.enter(server.catalog().reopening().pass(index, patience).await);
    }
    let mut response = next.run(Request::from_parts(parts, body)).await;
    trail.leave();
    let (status, time) = (response.status().as_u16(), started.elapsed());
    server.metrics().requests.observe(class, status, time);
    if is_question && time >= logging.slow_query {
        line.entry().write_slow(time, status, query.as_deref());
    }
    if let Some(Cause(why)) = response.extensions().get() {
        line.entry().write_failed(why);
    }
    response.headers_mut().insert(REQUEST_ID, id);
    if let Some(opaque) = opaque {
        response.headers_mut().insert(OPAQUE_ID, opaque);
    }
    match line {
        Line::Access(line) => response.map(|body| line.answered(status, body)),
        Line::None(_) => response,
    }
}

/// The line of the access log, if there is one.
enum Line {
    Access(Access),
    None(Entry),
}

impl Line {
    fn of(entry: Entry, is_on: bool) -> Line {
        if is_on { Line::Access(Access::of(entry)) } else { Line::None(entry) }
    }

    fn entry(&self) -> &Entry {
        match self {
            Line::Access(line) => line.entry(),
            Line::None(entry) => entry,
        }
    }
}

fn class_of(parts: &Parts) -> Class {
    let route = parts.extensions.get::<MatchedPath>();
    match route.map(|route| Rule::find(route.as_str(), &parts.method)) {
        Some(Some(rule)) => Class::of_action(rule.action),
        Some(None) => Class::Server,
        None => Class::Unknown,
    }
}

/// Returns a client's id if it is short and of visible ASCII, so that it cannot break a line of a log.
fn sane(headers: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let value = headers.get(name)?;
    let is_sane = !value.is_empty()
        && value.len() <= ID_BYTES_MAX
        && value.as_bytes().iter().all(u8::is_ascii_graphic);
    is_sane.then(|| value.clone())
}

/// Returns an id that no other request of this server has.
fn made_id() -> HeaderValue {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // The time of the process' first request, so that ids of later processes differ.
    static FIRST: OnceLock<u64> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
    });
    let id = format!("{first:x}-{:x}", NEXT.fetch_add(1, Relaxed));
    HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("-"))
}
