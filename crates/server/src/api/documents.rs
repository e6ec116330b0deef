//! `/api/v1/{index}/documents/{key}`: one document, by its key.
//!
//! What is read is what was acknowledged last. The tag of a document (`ETag`) is the sequence number of
//! the operation that put it. `If-None-Match: *` makes a document only, `If-Match: "17"` replaces or
//! deletes that state only. Both are decided where the document is written, beside all other writers.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use spirit::{Applied, HitError, Operation};
use spirit_forms::stored::Stored;
use spirit_forms::values::Values;

use super::body;
use super::server::{Server, State, json};
use super::write::read;
use crate::problem::{Answered, Problem};
use crate::served::Served;

/// A document, as it is shown.
#[derive(Serialize)]
struct Found<'a> {
    key: &'a str,
    sequence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Values::is_empty")]
    fields: Values,
}

#[derive(Serialize)]
struct Changed {
    key: String,
    sequence: u64,
    result: &'static str,
}

pub(super) async fn get(
    State(server): State<Server>,
    Path((index, key)): Path<(String, String)>,
) -> Answered<Response> {
    let served = server.index(&index)?;
    let settings = served.index.settings();
    if !settings.store {
        return Err(HitError::NotStored.into());
    }
    let found = server.ask(served, move |reader| {
        let found = Stored::find(reader, &settings, &key)?.ok_or_else(|| missing(&key))?;
        let Stored { key, sequence, source, text, fields } = found;
        let body = serde_json::to_vec(&Found { key, sequence, source, text, fields });
        Ok((sequence, body.map_err(Problem::internal)?))
    });
    let (sequence, body) = found.await?;
    Ok((tag(sequence), json(body)).into_response())
}

fn missing(key: &str) -> Problem {
    Problem::not_found("document-not-found", format!("no document has the key {key:?}"))
}

fn tag(sequence: u64) -> [(HeaderName, String); 1] {
    [(ETAG, format!("\"{sequence}\""))]
}

pub(super) async fn put(
    State(server): State<Server>,
    Path((index, key)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    server.index(&index)?;
    let required = Required::of(&headers)?;
    let body = body::read(&server, &headers, body).await?;
    let place = format!("/api/v1/{index}/documents/{key}");
    let (writing, name, id) = (server.clone(), index.clone(), key.clone());
    let work = move || replace(&*writing.index(&name)?, &id, &body, required);
    let applied = server.write_held(Some(&index), work).await??;
    let (status, result) = match applied.replaced {
        Some(_) => (StatusCode::OK, "replaced"),
        None => (StatusCode::CREATED, "created"),
    };
    let changed = Json(Changed { key, sequence: applied.sequence, result });
    let mut response = (status, tag(applied.sequence), changed).into_response();
    if let Some(place) = HeaderValue::from_str(&place).ok().filter(|_| applied.replaced.is_none()) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

fn replace(served: &Served, key: &str, body: &[u8], required: Required) -> Answered<Applied> {
    let source = std::str::from_utf8(body).map_err(|error| {
        Problem::bad(format!("the body is no UTF-8 at byte {}", error.valid_up_to()))
    })?;
    // A line's end behind it is not part of it.
    let document = read(source.trim_ascii(), served).map_err(Problem::bad)?;
    if let Some(other) = document.key.as_ref().filter(|other| **other != key) {
        let detail = format!("the document has the key {other:?}, and the path {key:?}");
        return Err(Problem::bad(detail));
    }
    apply(served, required.of_operation(Operation::put(key, document.to_add())))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path((index, key)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answered<Response> {
    let served: Arc<Served> = server.index(&index)?;
    let required = Required::of(&headers)?;
    let (key, applied) = server
        .write(move || {
            let operation = required.of_operation(Operation::delete(&key));
            let applied = apply(&served, operation)?;
            if applied.replaced.is_none() { Err(missing(&key)) } else { Ok((key, applied)) }
        })
        .await?;
    let changed = Changed { key, sequence: applied.sequence, result: "deleted" };
    Ok(Json(changed).into_response())
}

fn apply(served: &Served, operation: Operation<'_>) -> Answered<Applied> {
    let result = served.index.apply(&[operation]).pop();
    Ok(result.ok_or_else(|| Problem::internal("the operation has no result"))??)
}

/// What a request requires of the document that its key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Required {
    Nothing,
    Absent,
    Sequence(u64),
}

impl Required {
    fn of(headers: &HeaderMap) -> Answered<Required> {
        match (headers.get(IF_NONE_MATCH), headers.get(IF_MATCH)) {
            (None, None) => Ok(Required::Nothing),
            (Some(value), None) if value.as_bytes() == b"*" => Ok(Required::Absent),
            (Some(_), None) => Err(Problem::bad("If-None-Match: expected *")),
            (None, Some(value)) => {
                let tag = value.to_str().ok().map(|text| text.trim_matches('"'));
                let sequence = tag.and_then(|tag| tag.parse().ok()).map(Required::Sequence);
                let what = "If-Match: expected the tag of a document, as in \"17\"";
                sequence.ok_or_else(|| Problem::bad(what))
            }
            (Some(_), Some(_)) => {
                Err(Problem::bad("If-Match and If-None-Match exclude each other"))
            }
        }
    }

    fn of_operation(self, operation: Operation<'_>) -> Operation<'_> {
        match self {
            Required::Nothing => operation,
            Required::Absent => operation.if_absent(),
            Required::Sequence(sequence) => operation.if_sequence(sequence),
        }
    }
}
