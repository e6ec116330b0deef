//! `POST /api/v1/{index}/grow`: more DRAM for an index, while the server goes on.
//!
//! The index is closed and opened again. Requests for it wait meanwhile, as long as a write may.

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use spirit_forms::size::Size;

use super::body;
use super::server::{Server, State};
use crate::catalog::NotGrown;
use crate::problem::{Answered, Problem};
use crate::served::Taken;

/// What can be asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    dram: Option<String>,
    nvm: Option<String>,
}

/// What the index has now.
#[derive(Debug, Serialize)]
pub(super) struct Grown {
    index: String,
    dram: u64,
    nvm: u64,
    /// The time for which requests waited.
    duration_ms: u64,
}

pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered<Json<Grown>> {
    let served = server.index(&index)?;
    let body = body::read(&server, &headers, body).await?;
    let asked: Asked = serde_json::from_slice(&body).map_err(Problem::bad)?;
    let (name, has) = (served.name.clone(), served.taken());
    drop(served);
    let asked = asked.sizes(has)?;
    let (catalog, workers) = (server.catalog().clone(), server.workers().clone());
    let patience = server.settings().hold;
    // The index is closed when all requests that may have it have ended, but for this one.
    server.trail().leave();
    // It may take as long as closing does, and goes on if the client hangs up.
    let work = move || catalog.grow(&name, asked, patience, &|| workers.let_go());
    let (taken, time) = server.change(work).await??;
    let duration_ms = time.as_millis() as u64;
    Ok(Json(Grown { index, dram: taken.dram, nvm: taken.nvm, duration_ms }))
}

impl Asked {
    /// Returns the size in DRAM that was asked for.
    fn sizes(&self, has: Taken) -> Answered<u64> {
        let size = |name: &str, text: &Option<String>| {
            let size = text.as_ref().map(|text| text.parse::<Size>()).transpose();
            size.map_err(|error| Problem::bad(format!("{name}: {error}")))
        };
        let (dram, nvm) = (size("dram", &self.dram)?, size("nvm", &self.nvm)?);
        if nvm.is_some_and(|nvm| nvm.0 != has.nvm) {
            let has = Size(has.nvm);
            return Err(Problem::bad(format!(
                "nvm: the size of a second tier is fixed when an index is made, and this one has {has}; \
                 make a larger index, and add the documents to it"
            )));
        }
        let Some(dram) = dram else {
            return Err(Problem::bad("expected `dram`, as in {\"dram\": \"128MiB\"}"));
        };
        if dram.0 < has.dram {
            let has = Size(has.dram);
            return Err(Problem::bad(format!("dram: the index has {has}, and grows only")));
        }
        Ok(dram.0)
    }
}

impl From<NotGrown> for Problem {
    fn from(error: NotGrown) -> Problem {
        let (status, kind) = match error {
            NotGrown::Absent(absent) => return absent.into(),
            NotGrown::BeyondBudget(_) => (StatusCode::INSUFFICIENT_STORAGE, "beyond-budget"),
            NotGrown::Busy => (StatusCode::SERVICE_UNAVAILABLE, "index-busy"),
            NotGrown::Refused(_) => (StatusCode::BAD_REQUEST, "not-grown"),
            NotGrown::Lost(_) => (StatusCode::INTERNAL_SERVER_ERROR, "index-failed"),
        };
        Problem::new(status, kind, "The index did not grow", error)
    }
}
