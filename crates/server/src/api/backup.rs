//! `POST /api/v1/{index}/backup`: a copy of an index, in a file below the directory of backups.
//!
//! The work has a thread of its own, since it may take long, and goes on if its client hangs up. One
//! backup is made at a time: two of them would share one disk.

use std::path::{Path as File, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Release};
use std::time::{Instant, SystemTime};

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use spirit::backup::Report;
use spirit::error::BackupError;

use super::body;
use super::server::{Server, State};
use crate::problem::{Answered, Problem, is_full};
use crate::served::Served;

/// The most bytes of a backup's name.
const NAME_BYTES_MAX: usize = 200;

/// What can be asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// The name of the file.
    name: Option<String>,
}

/// What was written.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    index: String,
    /// Its path on the server.
    file: String,
    bytes: u64,
    segments: u64,
    rows: u64,
    dead_rows: u64,
    log_operations: u64,
    segments_dropped: u64,
    duration_ms: u64,
}

pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered<(StatusCode, Json<Written>)> {
    let served = server.index(&index)?;
    let body = body::read(&server, &headers, body).await?;
    let asked = match body.trim_ascii() {
        b"" => Asked::default(),
        body => serde_json::from_slice(body).map_err(Problem::bad)?,
    };
    let directory = &server.settings().backups;
    if directory.as_os_str().is_empty() {
        let detail = "the server has no directory for backups: start it with --backups DIR, or use \
                      `spirit backup` beside it";
        return Err(refused(StatusCode::CONFLICT, "no-backups", detail));
    }
    let directory = std::path::absolute(directory).map_err(Problem::internal)?;
    let file = directory.join(name(&served, asked.name)?);
    let turn = Turn::take().ok_or_else(|| {
        let detail = "another backup is being made; come again when it is done";
        refused(StatusCode::TOO_MANY_REQUESTS, "backup-under-way", detail)
    })?;
    let made = server.change(move || {
        let _turn = turn;
        make(&served, &file)
    });
    Ok((StatusCode::CREATED, Json(made.await??)))
}

/// The turn of the one backup that is made.
struct Turn;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

impl Turn {
    fn take() -> Option<Turn> {
        (!IS_TAKEN.swap(true, AcqRel)).then_some(Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_TAKEN.store(false, Release);
    }
}

/// Returns the name of a backup: the one that was asked for, or the index's with the time.
fn name(served: &Served, asked: Option<String>) -> Answered<String> {
    let Some(name) = asked else {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        return Ok(format!("{}-{}.backup", served.name, now.replace(['-', ':'], "")));
    };
    // Nothing else, so it leads nowhere else.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_right = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_plain)
        && !name.ends_with(".new");
    match is_right {
        true => Ok(name),
        false => Err(Problem::bad(format!(
            "name: expected 1 to {NAME_BYTES_MAX} letters, digits, `.`, `_` and `-`, a letter or a \
             digit first, and another ending than .new; found {name:?}"
        ))),
    }
}

fn make(served: &Arc<Served>, file: &File) -> Answered<Written> {
    let started = Instant::now();
    let (index, path) = (served.name.as_str(), file.display());
    tracing::info!(index, file = %path, "a backup begins");
    let made = prepared(file).and_then(|()| served.index.backup(file));
    let duration_ms = started.elapsed().as_millis() as u64;
    match made {
        Ok(report) => {
            tracing::info!(index, file = %path, bytes = report.bytes, duration_ms, "a backup is made");
            Ok(Written::of(served, file, &report, duration_ms))
        }
        Err(error) => {
            tracing::error!(index, file = %path, %error, "a backup is not made");
            Err(problem(&error))
        }
    }
}

/// Makes the directory of backups, for the server alone.
fn prepared(file: &File) -> Result<(), BackupError> {
    use std::os::unix::fs::DirBuilderExt;
    let directory = file.parent().map_or_else(PathBuf::new, File::to_owned);
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|reason| BackupError::File { path: directory, action: "create it", reason })
}

impl Written {
    fn of(served: &Served, file: &File, report: &Report, duration_ms: u64) -> Written {
        Written {
            index: served.name.to_string(),
            file: file.display().to_string(),
            bytes: report.bytes,
            segments: report.segments,
            rows: report.rows,
            dead_rows: report.dead_rows,
            log_operations: report.log_operations,
            segments_dropped: report.segments_dropped,
            duration_ms,
        }
    }
}

fn problem(error: &BackupError) -> Problem {
    let (status, kind) = match error {
        BackupError::Exists { .. } => (StatusCode::CONFLICT, "backup-exists"),
        BackupError::Busy { .. } => (StatusCode::CONFLICT, "backup-under-way"),
        BackupError::Restless { .. } => (StatusCode::SERVICE_UNAVAILABLE, "come-again"),
        BackupError::File { reason, .. } if is_full(reason.kind()) => {
            (StatusCode::INSUFFICIENT_STORAGE, "disk-full")
        }
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "backup-failed"),
    };
    refused(status, kind, error)
}

fn refused(status: StatusCode, kind: &'static str, detail: impl ToString) -> Problem {
    Problem::new(status, kind, "The backup was not made", detail)
}
