//! `POST /api/v1/{index}/documents`: many documents, as lines of JSON, or as an object or an array.
//!
//! Documents are independent of each other. One that is refused is named, with its place, and those behind
//! it are written. A full index is another matter: what found no room is refused with status 429.

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use spirit::{Operation, WriteError};
use spirit_forms::document::{Document, NoDocument};

use super::body;
use super::held::Outcome;
use super::server::{Parameters, Server, State};
use crate::problem::{Answered, INDEX_FULL, Problem};
use crate::served::Served;

/// Documents that are written together.
const TOGETHER: usize = 4096;
/// The member that is the text, in an index that has one.
const TEXT: &str = "text";
/// Refused documents that are named in an answer.
const NAMED_MAX: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// What the answer waits for. Documents are visible and as durable as the index makes them in one
    /// step, so both are the same.
    #[serde(default, rename = "wait")]
    _wait: Wait,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wait {
    Visible,
    #[default]
    Durable,
}

/// What became of the documents.
#[derive(Debug, Default, Serialize)]
pub(super) struct Written {
    accepted: u64,
    refused: u64,
    /// What an acknowledged document survives: the end of the `process`, or of the `os`.
    durable: &'static str,
    /// The first documents that were refused.
    errors: Vec<Refused>,
}

/// A document that was refused.
#[derive(Debug, Serialize)]
struct Refused {
    /// Its place among all, from 1. In lines of JSON, the line.
    place: usize,
    #[serde(rename = "type")]
    kind: &'static str,
    detail: String,
}

pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(_): Parameters<Asked>,
    headers: HeaderMap,
    body: Body,
) -> Answered<(StatusCode, Json<Written>)> {
    server.index(&index)?;
    let body = body::read(&server, &headers, body).await?;
    let is_whole = is_json(&headers);
    let (writing, name) = (server.clone(), index.clone());
    let work =
        move || Posted(writing.index(&name).and_then(|served| write(&served, &body, is_whole)));
    let written = server.write_held(Some(&index), work).await?.0?;
    let overloaded = server.settings().overload_status;
    let status = if written.met_full_index() { overloaded } else { StatusCode::OK };
    Ok((status, Json(written)))
}

struct Posted(Answered<Written>);

impl Outcome for Posted {
    fn found_no_room(&self) -> bool {
        self.0.as_ref().is_ok_and(|written| written.accepted == 0 && written.met_full_index())
    }

    fn refused_with(self, _: StatusCode) -> Posted {
        self
    }
}

impl Written {
    /// True if documents found no room.
    fn met_full_index(&self) -> bool {
        self.errors.iter().any(|refused| refused.kind == INDEX_FULL)
    }
}

/// True if the body is one JSON value, not lines of it.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn write(served: &Served, body: &[u8], is_whole: bool) -> Answered<Written> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Problem::bad(format!("the body is no UTF-8 at byte {}", error.valid_up_to()))
    })?;
    let mut writing = Writing::new(served);
    if is_whole {
        for (place, source) in (1..).zip(values(text)?) {
            writing.add(place, source)?;
        }
    } else {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_ascii().is_empty());
        for (place, line) in lines {
            writing.add(place, line)?;
        }
    }
    writing.end()
}

/// Returns the documents of a JSON value: an object, or an array of objects.
fn values(text: &str) -> Answered<Vec<&str>> {
    let malformed = |error: serde_json::Error| Problem::bad(format!("malformed JSON: {error}"));
    if text.trim_ascii_start().starts_with('[') {
        let values: Vec<&RawValue> = serde_json::from_str(text).map_err(malformed)?;
        return Ok(values.into_iter().map(RawValue::get).collect());
    }
    let value: &RawValue = serde_json::from_str(text).map_err(malformed)?;
    Ok(vec![value.get()])
}

/// Documents on their way into an index.
struct Writing<'s> {
    served: &'s Served,
    read: Vec<(usize, Document<'s>)>,
    written: Written,
}

/// Reads a document for an index.
pub(super) fn read<'s>(source: &'s str, served: &Served) -> Result<Document<'s>, NoDocument> {
    match served.index.settings().opaque_text {
        true => Document::of_source(source),
        false => Document::of_json(source, &[TEXT.to_owned()]),
    }
}

impl<'s> Writing<'s> {
    fn new(served: &'s Served) -> Writing<'s> {
        let durable = match served.index.settings().durability {
            spirit::Durability::Os => "os",
            _ => "process",
        };
        Writing { served, read: Vec::new(), written: Written { durable, ..Written::default() } }
    }

    fn add(&mut self, place: usize, source: &'s str) -> Answered<()> {
        match read(source, self.served) {
            Ok(document) => self.read.push((place, document)),
            Err(why) => self.refuse(place, "malformed", why.to_string()),
        }
        if self.read.len() == TOGETHER { self.commit() } else { Ok(()) }
    }

    /// Writes what was read.
    fn commit(&mut self) -> Answered<()> {
        let read = std::mem::take(&mut self.read);
        let operations = read.iter().map(|(_, document)| Operation::add(document.to_add()));
        let operations: Vec<_> = operations.collect();
        for ((place, _), result) in read.iter().zip(self.served.index.apply(&operations)) {
            match result {
                Ok(_) => self.written.accepted += 1,
                // Nothing can be written any more.
                Err(
                    error @ (WriteError::SyncFailed
                    | WriteError::Damaged(_)
                    | WriteError::Poisoned
                    | WriteError::BulkUnfinished),
                ) => return Err(error.into()),
                Err(error) => {
                    let problem = Problem::from(error);
                    self.refuse(*place, problem.kind(), problem.detail().to_owned());
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, place: usize, kind: &'static str, detail: String) {
        self.written.refused += 1;
        if self.written.errors.len() < NAMED_MAX {
            self.written.errors.push(Refused { place, kind, detail });
        }
    }

    fn end(mut self) -> Answered<Written> {
        self.commit()?;
        Ok(self.written)
    }
}
