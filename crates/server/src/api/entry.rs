//! The log's lines about one request: that of the access log, of a slow question, of a failure.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use http_body::{Frame, SizeHint};

use super::trail::Trail;
use crate::client::Client;
use crate::log::{ACCESS, SLOW};

/// The status of a request whose client hung up before it was answered, as nginx has it.
const HUNG_UP: u16 = 499;

/// A request, as the log's lines name it.
pub(super) struct Entry {
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
    index: Option<String>,
    client: Option<Client>,
    request: HeaderValue,
    trail: Arc<Trail>,
}

impl Entry {
    /// Names a request that has just come.
    pub(super) async fn of(parts: &mut Parts, request: HeaderValue, trail: Arc<Trail>) -> Entry {
        let started = Instant::now();
        let route = parts.extensions.get::<MatchedPath>().cloned();
        let client = parts.extensions.get::<Client>().copied();
        let parameters = RawPathParams::from_request_parts(parts, &()).await.ok();
        let index = parameters.and_then(|all| {
            let mut all = all.iter();
            all.find(|(name, _)| *name == "index").map(|(_, value)| value.to_owned())
        });
        Entry { started, method: parts.method.clone(), route, index, client, request, trail }
    }

    /// Returns the index that the path names.
    pub(super) fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }

    fn route(&self) -> Option<&str> {
        self.route.as_ref().map(MatchedPath::as_str)
    }

    fn request(&self) -> &str {
        self.request.to_str().unwrap_or_default()
    }

    /// Writes the line of a question that was slow, with its text if that is given.
    pub(super) fn write_slow(&self, time: Duration, status: u16, query: Option<&str>) {
        tracing::info!(
            target: SLOW,
            index = self.index.as_deref(),
            route = self.route(),
            status,
            duration_ms = milliseconds(time),
            queue_ms = self.trail.time_waited().map(milliseconds),
            matches = self.trail.matches(),
            request = self.request(),
            key = self.trail.key(),
            query,
            body = self.trail.text(),
            "slow question"
        );
    }

    /// Writes the line of a request that failed here, with the reason.
    pub(super) fn write_failed(&self, why: &str) {
        let (index, route, request) = (self.index.as_deref(), self.route(), self.request());
        tracing::error!(index, route, request, why, "the server failed to answer");
    }
}

/// The line of the access log of a request. It is written when the answer has gone, or when its client
/// hangs up.
pub(super) struct Access {
    entry: Entry,
    status: u16,
    bytes: u64,
}

impl Access {
    pub(super) fn of(entry: Entry) -> Access {
        Access { entry, status: HUNG_UP, bytes: 0 }
    }

    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns a body that is counted, and ends the line.
    pub(super) fn answered(mut self, status: u16, body: Body) -> Body {
        self.status = status;
        Body::new(Counted { body, access: self })
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        let entry = &self.entry;
        let client = entry.client.map(|client| client.to_string());
        tracing::info!(
            target: ACCESS,
            client,
            method = entry.method.as_str(),
            route = entry.route(),
            index = entry.index.as_deref(),
            status = self.status,
            duration_ms = milliseconds(entry.started.elapsed()),
            bytes = self.bytes,
            request = entry.request(),
            key = entry.trail.key(),
            "request"
        );
    }
}

/// A body whose bytes are counted.
struct Counted {
    body: Body,
    access: Access,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.access.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns a time in milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}
