//! Documents are indexed, made, updated and deleted, each with a version that counts its states.
//!
//! A version is that of the state before, and one more. So a change reads the state, and replaces that
//! state only. If another writer was faster, it is read and decided again. A condition that the client
//! has is decided by the same step. Changes of one request on the same document take effect one after
//! the other.

mod merge;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use spirit::schema::Schema;
use spirit::{Document, FieldKind, Operation, WriteError};
use spirit_forms::object::{self, Field, Given, Object};
use spirit_opensearch::error::Refusal;

use super::refused::{Answered, Refused, not_written};
use super::state::{self, State, VERSION};
use crate::served::Served;

/// How often changes are decided anew, in a row, since another writer was faster.
const TRIES: usize = 64;

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Index,
    Create,
    Update,
    Delete,
}

/// A change of a document.
#[derive(Clone, Debug)]
pub(super) struct Change<'a> {
    pub(super) action: Action,
    pub(super) id: Cow<'a, str>,
    /// True if the id was made for the document, so that no other has it.
    pub(super) is_new: bool,
    /// The document, or what an update has instead.
    pub(super) body: &'a str,
    /// The sequence number that the document must have.
    pub(super) expected: Option<u64>,
}

/// What a change did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    pub(super) version: i64,
    pub(super) sequence: u64,
    pub(super) result: &'static str,
    pub(super) status: u16,
}

impl Action {
    pub(super) fn name(self) -> &'static str {
        match self {
            Action::Index => "index",
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        }
    }
}

impl Changed {
    /// Writes the members that an answer has behind the document's id.
    pub(super) fn put_members(&self, out: &mut String) {
        let mut digits = itoa::Buffer::new();
        out.push_str(r#""_version":"#);
        out.push_str(digits.format(self.version));
        out.push_str(r#","result":""#);
        out.push_str(self.result);
        out.push_str(r#"","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":"#);
        out.push_str(digits.format(self.sequence));
        out.push_str(r#","_primary_term":1"#);
    }
}

/// Makes changes in order, and returns what became of each.
pub(super) fn make(
    served: &Served,
    changes: &[&Change<'_>],
) -> Answered<Vec<Result<Changed, Refusal>>> {
    if !served.index.settings().opaque_text {
        return Err(Refused(Refusal::illegal_argument(format!(
            "index [{}] was made by the command: write to it by /api/v1, or make a new one",
            served.name
        ))));
    }
    let mut results: Vec<Option<Result<Changed, Refusal>>> = changes.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..changes.len()).collect();
    let mut tries = 0;
    // Terminates: each round ends a change, or is one of few tries.
    while !left.is_empty() && tries < TRIES {
        let before = left.len();
        left = round(served, changes, left, &mut results);
        tries = if left.len() < before { 0 } else { tries + 1 };
    }
    let busy = || Refusal::version_conflict("", "the document changes all the time");
    Ok(results.into_iter().map(|result| result.unwrap_or_else(|| Err(busy()))).collect())
}

/// Makes the first of the changes of each document. Returns those that are left.
fn round(
    served: &Served,
    changes: &[&Change<'_>],
    todo: Vec<usize>,
    results: &mut [Option<Result<Changed, Refusal>>],
) -> Vec<usize> {
    let schema = served.index.schema();
    let (mut seen, mut left) = (HashSet::new(), Vec::new());
    let mut ready = Vec::with_capacity(todo.len());
    for place in todo {
        let change = changes[place];
        if !change.is_new && !seen.insert(&*change.id) {
            left.push(place);
            continue;
        }
        match Ready::of(served, &schema, change) {
            Ok(Step::Write(change)) => ready.push((place, change)),
            Ok(Step::Done(changed)) => results[place] = Some(Ok(changed)),
            Err(refusal) => results[place] = Some(Err(refusal)),
        }
    }
    let operations: Vec<_> = ready.iter().map(|(_, ready)| ready.operation()).collect();
    for ((place, ready), applied) in ready.iter().zip(served.index.apply(&operations)) {
        let change = changes[*place];
        match applied {
            Ok(applied) => {
                if change.action == Action::Delete {
                    served.deleted.keep(&change.id, ready.version);
                }
                results[*place] = Some(Ok(ready.changed(change, applied.sequence)));
            }
            // Another writer was faster.
            Err(WriteError::Conflict { .. }) => left.push(*place),
            Err(error) => results[*place] = Some(Err(not_written(&change.id, &error))),
        }
    }
    left.sort_unstable();
    left
}

/// What is to be done for a change.
enum Step<'c> {
    Write(Ready<'c>),
    /// Nothing has to be written.
    Done(Changed),
}

/// A change of a state that was read.
struct Ready<'c> {
    id: &'c str,
    /// The document; none if it is deleted.
    source: Option<Cow<'c, str>>,
    fields: Vec<Field<'c>>,
    before: Option<State>,
    /// The version of the new state.
    version: i64,
    is_new: bool,
}

impl<'c> Ready<'c> {
    fn of(served: &Served, schema: &Schema, change: &'c Change<'c>) -> Result<Step<'c>, Refusal> {
        let before = match change.is_new {
            true => None,
            false => state::read(&served.index, &change.id).map_err(|error| unread(&error))?,
        };
        check(change, before.as_ref())?;
        let source = match change.action {
            Action::Index | Action::Create => Some(Cow::Borrowed(change.body)),
            Action::Update => match updated(change, before.as_ref())? {
                Some(source) => Some(source),
                None => return Ok(Step::Done(unchanged(before, "noop", 200))),
            },
            Action::Delete if before.is_none() => {
                return Ok(Step::Done(unchanged(before, "not_found", 404)));
            }
            Action::Delete => None,
        };
        let fields = match &source {
            Some(Cow::Borrowed(source)) => fields(source, schema)?,
            Some(Cow::Owned(source)) => {
                fields(source, schema)?.into_iter().map(object::into_owned).collect()
            }
            None => Vec::new(),
        };
        let (id, is_new) = (&*change.id, change.is_new);
        let version = match &before {
            Some(before) => before.version,
            None if is_new => 0,
            None => served.deleted.version(id),
        };
        Ok(Step::Write(Ready { id, source, fields, before, version: version + 1, is_new }))
    }

    fn operation(&self) -> Operation<'_> {
        let operation = match &self.source {
            None => Operation::delete(self.id),
            Some(source) => {
                let document = Document::new().text(source);
                let fields = self.fields.iter();
                let document = fields
                    .fold(document, |document, (name, given)| document.field(name, given.value()));
                let document = match self.version {
                    1 => document,
                    version => document.field(VERSION, version),
                };
                Operation::put(self.id, document)
            }
        };
        match &self.before {
            Some(before) => operation.if_sequence(before.sequence),
            None if self.is_new => operation,
            None => operation.if_absent(),
        }
    }

    fn changed(&self, change: &Change<'_>, sequence: u64) -> Changed {
        let (result, status) = match (change.action, &self.before) {
            (Action::Delete, _) => ("deleted", 200),
            (_, Some(_)) => ("updated", 200),
            (_, None) => ("created", 201),
        };
        Changed { version: self.version, sequence, result, status }
    }
}

/// Returns the refusal of a state that cannot be read.
pub(super) fn unread(error: &state::NoState) -> Refusal {
    let reason = match error {
        state::NoState::Search(error) => error.to_string(),
        state::NoState::Hit(error) => error.to_string(),
    };
    Refusal::new("engine_exception", 500, reason)
}

/// Returns an error if a change requires another state.
fn check(change: &Change<'_>, before: Option<&State>) -> Result<(), Refusal> {
    if change.action == Action::Create
        && let Some(State { version, .. }) = before
    {
        let why = format!("document already exists (current version [{version}])");
        return Err(Refusal::version_conflict(&change.id, &why));
    }
    match (change.expected, before) {
        (None, _) => Ok(()),
        (Some(expected), Some(State { sequence, .. })) if expected == *sequence => Ok(()),
        (Some(expected), Some(State { sequence, .. })) => {
            let why = format!(
                "required seqNo [{expected}], primary term [1]. current document has seqNo [{sequence}] and primary term [1]"
            );
            Err(Refusal::version_conflict(&change.id, &why))
        }
        (Some(expected), None) => {
            let why =
                format!("required seqNo [{expected}], primary term [1]. but no document was found");
            Err(Refusal::version_conflict(&change.id, &why))
        }
    }
}

fn unchanged(before: Option<State>, result: &'static str, status: u16) -> Changed {
    let (version, sequence) = before.map_or((1, 0), |before| (before.version, before.sequence));
    Changed { version, sequence, result, status }
}

/// What an update has: a part of a document, and a document for an id without one.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Update<'u> {
    #[serde(borrow)]
    doc: Option<&'u RawValue>,
    #[serde(borrow)]
    upsert: Option<&'u RawValue>,
    #[serde(default)]
    doc_as_upsert: bool,
    #[serde(default = "yes")]
    detect_noop: bool,
    #[serde(default, rename = "_source")]
    source: Option<serde_json::Value>,
    #[serde(default)]
    script: Option<serde_json::Value>,
    #[serde(default)]
    scripted_upsert: bool,
}

fn yes() -> bool {
    true
}

/// Returns the source of an updated document; none if the document stays the same.
fn updated<'c>(
    change: &'c Change<'c>,
    before: Option<&State>,
) -> Result<Option<Cow<'c, str>>, Refusal> {
    let update: Update<'_> = serde_json::from_str(change.body)
        .map_err(|error| Refusal::parsing(format!("[UpdateRequest] {error}")))?;
    if update.script.is_some() || update.scripted_upsert {
        return Err(Refusal::illegal_argument("scripts are not supported: send `doc`"));
    }
    if update.source.is_some_and(|wanted| wanted != false) {
        return Err(Refusal::unsupported("[_source] of an update"));
    }
    let Some(before) = before else {
        let upsert = update.upsert.or(update.doc.filter(|_| update.doc_as_upsert));
        let upsert = upsert.ok_or_else(|| Refusal::document_missing(&change.id))?;
        return Ok(Some(Cow::Borrowed(upsert.get())));
    };
    let Some(doc) = update.doc else {
        let reason = "Validation Failed: 1: script or doc is missing;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason));
    };
    let merged = merge::merged(&before.source, doc.get()).map_err(Refusal::json)?;
    Ok(Some(Cow::Owned(merged)).filter(|merged| !update.detect_noop || **merged != before.source))
}

/// Returns the fields of a document: all of its members, each as its field takes it.
fn fields<'s>(source: &'s str, schema: &Schema) -> Result<Vec<Field<'s>>, Refusal> {
    let failed = |why: String| Refusal::mapper_parsing(format!("failed to parse: {why}"));
    let mut fields = Object::read_fields(source).map_err(failed)?;
    for (name, given) in &mut fields {
        if name.starts_with('_')
            && matches!(&**name, VERSION | "_id" | "_source" | "_index" | "_type" | "_seq_no")
        {
            let reason = format!(
                "Field [{name}] is a metadata field and cannot be added inside a document. Use the index API request parameters."
            );
            return Err(Refusal::mapper_parsing(reason));
        }
        if let Some(field) = schema.by_name(name) {
            coerce(given, field.kind);
        }
    }
    Ok(fields)
}

/// Converts a value to the kind of its field, if it says the same: `"17"` in a field of numbers, 17 in a
/// field of words.
fn coerce(given: &mut Given<'_>, kind: FieldKind) {
    let converted = match (kind, &*given) {
        (FieldKind::Text(_) | FieldKind::Keyword, Given::Integer(number)) => {
            Some(Given::Text(number.to_string().into()))
        }
        (FieldKind::Text(_) | FieldKind::Keyword, Given::Float(number)) => {
            Some(Given::Text(number.to_string().into()))
        }
        (FieldKind::Text(_) | FieldKind::Keyword, Given::Boolean(yes)) => {
            Some(Given::Text(yes.to_string().into()))
        }
        (FieldKind::Integer | FieldKind::Float, Given::Text(text)) => {
            let integer = text.trim().parse().ok().map(Given::Integer);
            integer.or_else(|| text.trim().parse().ok().map(Given::Float))
        }
        (FieldKind::Boolean, Given::Text(text)) => text.parse().ok().map(Given::Boolean),
        _ => None,
    };
    if let Some(converted) = converted {
        *given = converted;
    }
}
