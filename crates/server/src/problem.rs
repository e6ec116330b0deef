//! Errors as `application/problem+json` (RFC 9457): what is wrong, where, and what to do.

use std::io::ErrorKind;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use spirit::{HitError, SearchError, WriteError};
use spirit_forms::no_answer::NoAnswer;

use crate::catalog::{Absent, NotMade};
use crate::work::Unasked;

/// The time after which a request that was refused for load may come again, in seconds.
const RETRY_AFTER: &str = "1";

/// The kind of a refusal by an index that is full.
pub(crate) const INDEX_FULL: &str = "index-full";

/// An error of a request.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// A name for programs.
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    #[serde(serialize_with = "number")]
    status: StatusCode,
    detail: String,
    /// The byte of the query at which it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// The sequence number of the document that the key has.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<u64>,
}

fn number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

/// The reason why the server failed to answer, for its log. It is an extension of the answer.
#[derive(Clone, Debug)]
pub(crate) struct Cause(pub(crate) String);

/// True if an error says that a disk is full.
pub(crate) fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The answer to a request.
pub(crate) type Answered<T> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl ToString,
    ) -> Problem {
        Problem { kind, title, status, detail: detail.to_string(), offset: None, current: None }
    }

    /// A request that cannot be understood.
    pub(crate) fn bad(detail: impl ToString) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "The request is not valid", detail)
    }

    /// Something of this name is not there.
    pub(crate) fn not_found(kind: &'static str, detail: impl ToString) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, kind, "Not found", detail)
    }

    /// The key of the request does not allow it.
    pub(crate) fn forbidden(detail: impl ToString) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", "The key does not allow it", detail)
    }

    /// The server met a bug, or its disk fails.
    pub(crate) fn internal(detail: impl ToString) -> Problem {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "internal", "The server failed", detail)
    }

    /// Too much is under way.
    pub(crate) fn overloaded(status: StatusCode) -> Problem {
        let detail = "too many requests are under way; come again in a second";
        Problem::new(status, "overloaded", "The server is busy", detail)
    }

    /// True if an index had no room for what it refused.
    pub(crate) fn is_of_full_index(&self) -> bool {
        self.kind == INDEX_FULL
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Problem {
        Problem { status, ..self }
    }

    /// Says of what it is an error.
    pub(crate) fn of(self, what: &str) -> Problem {
        Problem { detail: format!("{what}: {}", self.detail), ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = serde_json::to_vec(&self).unwrap_or_default();
        body.push(b'\n');
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response = (self.status, body).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        if is_busy.contains(&self.status) {
            let after = HeaderValue::from_static(RETRY_AFTER);
            response.headers_mut().insert(header::RETRY_AFTER, after);
        }
        if self.status == StatusCode::INTERNAL_SERVER_ERROR {
            response.extensions_mut().insert(Cause(self.detail));
        }
        response
    }
}

impl From<Absent> for Problem {
    fn from(absent: Absent) -> Problem {
        match absent {
            Absent::Unknown => Problem::not_found("index-not-found", absent),
            Absent::Starting { .. } | Absent::OutOfService { .. } => {
                let (status, title) =
                    (StatusCode::SERVICE_UNAVAILABLE, "The index cannot be asked now");
                Problem::new(status, "index-unavailable", title, absent)
            }
        }
    }
}

impl From<NotMade> for Problem {
    fn from(error: NotMade) -> Problem {
        let (status, kind) = match error {
            NotMade::Exists | NotMade::IsAlias => (StatusCode::CONFLICT, "index-exists"),
            NotMade::BeyondBudget(_) => (StatusCode::INSUFFICIENT_STORAGE, "beyond-budget"),
            NotMade::Open(_) => (StatusCode::BAD_REQUEST, "index-not-made"),
            NotMade::NotKept(_) => (StatusCode::INTERNAL_SERVER_ERROR, "index-not-made"),
        };
        Problem::new(status, kind, "The index was not made", error)
    }
}

impl From<Unasked> for Problem {
    fn from(error: Unasked) -> Problem {
        match error {
            Unasked::Overloaded => Problem::overloaded(StatusCode::SERVICE_UNAVAILABLE),
            Unasked::Search(error) => error.into(),
            Unasked::Died => {
                Problem::internal("the thread that answered met a bug; its log says more")
            }
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Problem {
        let (status, kind) = match error {
            SearchError::TimedOut | SearchError::Cancelled => {
                (StatusCode::GATEWAY_TIMEOUT, "timed-out")
            }
            SearchError::Closed | SearchError::Readers { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "index-unavailable")
            }
            SearchError::Corrupt(_) => (StatusCode::INTERNAL_SERVER_ERROR, "damaged"),
            _ => (StatusCode::BAD_REQUEST, "bad-query"),
        };
        let offset = match &error {
            SearchError::Parse(error) => Some(error.offset),
            _ => None,
        };
        Problem { offset, ..Problem::new(status, kind, "The question has no answer", error) }
    }
}

impl From<spirit::Error> for Problem {
    fn from(error: spirit::Error) -> Problem {
        match error {
            spirit::Error::Write(error) => error.into(),
            spirit::Error::Search(error) => error.into(),
            spirit::Error::Hit(error) => error.into(),
            other => Problem::internal(other),
        }
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Problem {
        let detail =
            format!("`_registry.json` in the server's directory cannot be written: {error}");
        match is_full(error.kind()) {
            true => {
                let status = StatusCode::INSUFFICIENT_STORAGE;
                Problem::new(status, "disk-full", "Nothing was changed", detail)
            }
            false => Problem::internal(detail),
        }
    }
}

impl From<HitError> for Problem {
    fn from(error: HitError) -> Problem {
        let (status, kind) = match error {
            HitError::NotStored => (StatusCode::CONFLICT, "not-stored"),
            HitError::Lease { .. } => (StatusCode::SERVICE_UNAVAILABLE, "come-again"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "damaged"),
        };
        Problem::new(status, kind, "The document cannot be read", error)
    }
}

impl From<NoAnswer> for Problem {
    fn from(error: NoAnswer) -> Problem {
        match error {
            NoAnswer::Search(error) => error.into(),
            NoAnswer::Hit(error) => error.into(),
        }
    }
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Problem {
        let (status, kind) = match &error {
            WriteError::Conflict { .. } => (StatusCode::PRECONDITION_FAILED, "conflict"),
            WriteError::HeapFull | WriteError::KeysFull => {
                (StatusCode::TOO_MANY_REQUESTS, INDEX_FULL)
            }
            WriteError::DocumentTooLong { .. } | WriteError::DocumentTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "document-too-long")
            }
            WriteError::SyncFailed | WriteError::Damaged(_) | WriteError::Poisoned => {
                (StatusCode::INTERNAL_SERVER_ERROR, "index-failed")
            }
            WriteError::ReadOnly => (StatusCode::CONFLICT, "read-only"),
            WriteError::BulkUnfinished => (StatusCode::CONFLICT, "bulk-load-unfinished"),
            _ => (StatusCode::BAD_REQUEST, "bad-document"),
        };
        let current = match error {
            WriteError::Conflict { current } => current,
            _ => None,
        };
        Problem { current, ..Problem::new(status, kind, "The document was not written", error) }
    }
}
