//! What operators ask of the whole server.

use axum::Json;
use axum::http::StatusCode;
use serde::Serialize;

use super::server::{Server, State};

/// The process lives.
pub(super) async fn live() -> &'static str {
    "live\n"
}

#[derive(Serialize)]
pub(super) struct Ready {
    ready: bool,
    /// How far the start has come.
    percent: u8,
    serving: usize,
    starting: usize,
    /// Indexes that are out of service, and why.
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    index: String,
    why: String,
}

/// All indexes are open, but for those that are out of service.
pub(super) async fn ready(State(server): State<Server>) -> (StatusCode, Json<Ready>) {
    let readiness = server.catalog().readiness();
    let ready = readiness.starting == 0;
    let failed = readiness.failed.into_iter();
    // Names are for those who may ask the indexes.
    let failed = failed.filter(|(index, _)| server.access().is_for(index));
    let failed = failed.map(|(index, why)| Failed { index, why });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let ready = Ready {
        ready,
        percent: readiness.percent,
        serving: readiness.serving,
        starting: readiness.starting,
        failed: failed.collect(),
    };
    (status, Json(ready))
}

#[derive(Serialize)]
pub(super) struct Version {
    name: &'static str,
    version: &'static str,
}

pub(super) async fn version() -> Json<Version> {
    Json(Version { name: "spirit", version: env!("CARGO_PKG_VERSION") })
}
