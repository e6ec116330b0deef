//! Requests that are refused, in OpenSearch's words.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use spirit::{HitError, SearchError, WriteError};
use spirit_opensearch::error::Refusal;

use crate::api::held::Outcome;
use crate::catalog::{Absent, NotMade};
use crate::problem::{Cause, Problem};

/// A request that is refused.
#[derive(Clone, Debug)]
pub(super) struct Refused(pub(super) Refusal);

/// The answer to a request.
pub(super) type Answered<T> = Result<T, Refused>;

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused(refusal)
    }
}

impl<T: Send + 'static> Outcome for Answered<T> {
    fn found_no_room(&self) -> bool {
        matches!(self, Err(Refused(refusal)) if refusal.status == 429)
    }

    fn refused_with(self, status: StatusCode) -> Self {
        self.map_err(|Refused(refusal)| Refused(Refusal { status: status.as_u16(), ..refusal }))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = json(self.0.status, self.0.to_json());
        if matches!(self.0.status, 429 | 503) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.0.status == 500 {
            response.extensions_mut().insert(Cause(self.0.reason));
        }
        response
    }
}

/// Returns an answer with a status and JSON.
pub(super) fn json(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = HeaderValue::from_static("application/json; charset=UTF-8");
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Returns the refusal of a request that is not let in.
pub(super) fn denied(status: u16, reason: String) -> Refused {
    Refused(Refusal::new("security_exception", status, reason))
}

/// Returns the refusal of an index that is not the key's.
pub(super) fn forbidden(name: &str, user: &str) -> Refused {
    denied(403, super::no_permissions(name, user))
}

/// Returns the refusal of an index that cannot be asked.
pub(super) fn absent(name: &str, absent: &Absent) -> Refused {
    Refused(match absent {
        Absent::Unknown => Refusal::index_not_found(name),
        other => {
            Refusal::new("no_shard_available_action_exception", 503, format!("[{name}]: {other}"))
        }
    })
}

/// Returns the refusal of an index that was not made.
pub(super) fn not_made(name: &str, error: &NotMade) -> Refused {
    Refused(match error {
        NotMade::Exists => Refusal::resource_already_exists(name, name),
        NotMade::IsAlias => Refusal::invalid_index_name(name, "already exists as alias"),
        NotMade::BeyondBudget(why) => Refusal::rejected(format!("[{name}] was not made: {why}")),
        NotMade::Open(error) => Refusal::illegal_argument(error.to_string()),
        NotMade::NotKept(error) => Refusal::new("engine_exception", 500, error.to_string()),
    })
}

/// Returns the refusal of an operation on a document.
pub(super) fn not_written(id: &str, error: &WriteError) -> Refusal {
    match error {
        WriteError::Conflict { current } => {
            let current = current.map_or("no document".to_owned(), |seq| format!("seqNo [{seq}]"));
            Refusal::version_conflict(id, &format!("current document has {current}"))
        }
        WriteError::HeapFull | WriteError::KeysFull => Refusal::rejected(error.to_string()),
        WriteError::Field(error) => Refusal::mapper_parsing(format!("failed to parse: {error}")),
        WriteError::Key { .. }
        | WriteError::DocumentTooLong { .. }
        | WriteError::DocumentTooLarge { .. } => Refusal::illegal_argument(error.to_string()),
        WriteError::BulkUnfinished => {
            Refusal::new("cluster_block_exception", 403, error.to_string())
        }
        _ => Refusal::new("engine_exception", 500, error.to_string()),
    }
}

impl From<SearchError> for Refused {
    fn from(error: SearchError) -> Refused {
        let reason = error.to_string();
        Refused(match error {
            SearchError::TimedOut | SearchError::Cancelled => {
                Refusal::new("timeout_exception", 504, reason)
            }
            SearchError::Closed | SearchError::Readers { .. } => {
                Refusal::new("no_shard_available_action_exception", 503, reason)
            }
            SearchError::Corrupt(_) => Refusal::new("engine_exception", 500, reason),
            _ => Refusal::query_shard(reason),
        })
    }
}

/// Errors of files that the server writes.
impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Refused {
        Refused(Refusal::new("engine_exception", 500, error.to_string()))
    }
}

impl From<HitError> for Refused {
    fn from(error: HitError) -> Refused {
        Refused(Refusal::new("engine_exception", 500, error.to_string()))
    }
}

/// Errors of what is shared with the API of our own.
impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        let kind = match problem.status().as_u16() {
            429 => "es_rejected_execution_exception",
            503 => "no_shard_available_action_exception",
            413 => "content_too_long_exception",
            504 => "timeout_exception",
            500.. => "engine_exception",
            _ => "illegal_argument_exception",
        };
        Refused(Refusal::new(kind, problem.status().as_u16(), problem.detail()))
    }
}
