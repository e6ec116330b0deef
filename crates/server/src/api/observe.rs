//! Each request is counted, and has an id that its answer has too.
//!
//! A client's own `X-Request-Id` is kept if it is of a sane form. `X-Opaque-Id` comes back as OpenSearch
//! sends it back.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::server::Server;
use crate::guard::Rule;
use crate::metrics::Class;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OPAQUE_ID: HeaderName = HeaderName::from_static("x-opaque-id");
/// The most bytes of a client's id.
const ID_BYTES_MAX: usize = 128;

/// Counts a request, and gives its answer the ids.
pub(super) async fn observe(
    State(server): State<Server>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let class = match route.map(|route| Rule::find(route.as_str(), request.method())) {
        Some(Some(rule)) => Class::of_action(rule.action),
        Some(None) => Class::Server,
        None => Class::Unknown,
    };
    let id = sane(request.headers(), &REQUEST_ID).unwrap_or_else(made_id);
    let opaque = sane(request.headers(), &OPAQUE_ID);
    let mut response = next.run(request).await;
    server.metrics().requests.observe(class, response.status().as_u16(), started.elapsed());
    response.headers_mut().insert(REQUEST_ID, id);
    if let Some(opaque) = opaque {
        response.headers_mut().insert(OPAQUE_ID, opaque);
    }
    response
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
