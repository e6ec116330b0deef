//! `_bulk`: many changes, in one request, with a result for each.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::change::{self, Action, Change, Changed};
use super::making::{self, Written};
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use crate::api::body;
use crate::api::server::{Server, State};

/// Members of an action that are accepted and change nothing.
const IGNORED: [&str; 7] = [
    "_type",
    "routing",
    "require_alias",
    "retry_on_conflict",
    "dynamic_templates",
    "version_type",
    "if_primary_term",
];

pub(super) async fn bulk(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let started = Instant::now();
    parameters.no_pipeline()?;
    let parameters = parameters.end_of_write()?;
    let body = body::read(&server, &headers, body).await?;
    let writing = server.clone();
    let index = index.map(|Path(index)| index);
    let items = server.write(move || Ok(write(&writing, index.as_deref(), &body))).await??;
    let took = started.elapsed().as_millis();
    Ok(filtered(&parameters, 200, answer(took, &items)))
}

/// What became of a change.
struct Item {
    action: Action,
    index: String,
    id: Option<String>,
    result: Result<Changed, Refusal>,
}

/// Returns the answer, without blanks, in the order that shippers look for.
fn answer(took: u128, items: &[Item]) -> String {
    let errors = items.iter().any(|item| item.result.is_err());
    let mut body = format!(r#"{{"took":{took},"errors":{errors},"items":["#);
    for (number, Item { action, index, id, result }) in items.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let _ = write!(body, r#"{comma}{{"{}":{{"_index":{},"#, action.name(), text(index));
        let _ = match result {
            Ok(changed) => write!(body, r#"{},"status":{}}}}}"#, changed.members(), changed.status),
            Err(refusal) => {
                let id = id.as_deref().map_or("null".to_owned(), text);
                let (status, error) = (refusal.status, refusal.error_json());
                write!(body, r#""_id":{id},"status":{status},"error":{error}}}}}"#)
            }
        };
    }
    body.push_str("]}");
    body
}

/// A change that was read, and the index that it is for.
struct Read<'b> {
    index: String,
    change: Change<'b>,
}

fn write(server: &Server, index: Option<&str>, body: &[u8]) -> Answered<Vec<Item>> {
    let read = read(index, body)?;
    // All changes of an index are made together.
    let mut items: Vec<Option<Item>> = read.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..read.len()).collect();
    while let Some(first) = left.first() {
        let name = &read[*first].index;
        let (own, others) =
            left.iter().partition::<Vec<usize>, _>(|place| read[**place].index == *name);
        let changes: Vec<Change<'_>> =
            own.iter().map(|place| read[*place].change.clone()).collect();
        // Deletes make no index.
        let may_make = changes.iter().any(|change| change.action != Action::Delete);
        let written = making::written(server, name, may_make);
        let (name, results) = match written {
            Ok(written) => (written.served.name.to_string(), make(&written, &changes)),
            Err(Refused(refusal)) => (name.clone(), vec![Err(refusal); own.len()]),
        };
        for (place, result) in own.into_iter().zip(results) {
            let Read { index, change } = &read[place];
            let index = if result.is_ok() { name.clone() } else { index.clone() };
            let id = Some(change.id.to_string());
            items[place] = Some(Item { action: change.action, index, id, result });
        }
        left = others;
    }
    let items: Vec<Item> = items.into_iter().flatten().collect();
    // A full index is refused as a whole where nothing of the request was taken.
    let is_full = |item: &Item| matches!(&item.result, Err(refusal) if refusal.status == 429);
    match items.first() {
        Some(Item { result: Err(refusal), .. }) if items.iter().all(is_full) => {
            Err(refusal.clone().into())
        }
        _ => Ok(items),
    }
}

/// Makes the changes of an index.
fn make(written: &Written, changes: &[Change<'_>]) -> Vec<Result<Changed, Refusal>> {
    let refused = changes.iter().map(|change| written.refusal(change));
    let refused: Vec<Option<Refusal>> = refused.collect();
    let taken = changes.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let taken: Vec<Change<'_>> = taken.map(|(change, _)| change.clone()).collect();
    match change::make(&written.served, &taken) {
        Err(Refused(refusal)) => vec![Err(refusal); changes.len()],
        Ok(made) => {
            let mut made = made.into_iter();
            let lost = || Err(Refusal::new("engine_exception", 500, "no result"));
            let result = |refused: Option<Refusal>| match refused {
                Some(refusal) => Err(refusal),
                None => made.next().unwrap_or_else(lost),
            };
            refused.into_iter().map(result).collect()
        }
    }
}

/// Reads lines of actions and documents.
fn read<'b>(index: Option<&str>, body: &'b [u8]) -> Answered<Vec<Read<'b>>> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Refusal::json(format!("Invalid UTF-8 at byte {}", error.valid_up_to())))?;
    if text.trim_ascii().is_empty() {
        return Err(Refusal::parse("request body is required").into());
    }
    if !text.ends_with('\n') {
        let reason = "The bulk request must be terminated by a newline [\\n]";
        return Err(Refusal::illegal_argument(reason).into());
    }
    let mut lines = (1..).zip(text.lines());
    let mut read = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (action, members) = action(number, line)?;
        let body = match action {
            Action::Delete => "",
            _ => lines.next().map_or("", |(_, line)| line),
        };
        read.push(with_members(number, action, members, index, body)?);
    }
    Ok(read)
}

fn action(number: usize, line: &str) -> Answered<(Action, Vec<(String, Json)>)> {
    let malformed = |expected: &str, found: &str| {
        let reason = format!(
            "Malformed action/metadata line [{number}], expected {expected} but found [{found}]"
        );
        Refused(Refusal::illegal_argument(reason))
    };
    let Json::Object(mut object) = Json::parse(line.as_bytes())? else {
        return Err(malformed("START_OBJECT", "VALUE"));
    };
    let Some((name, members)) = object.pop().filter(|_| object.is_empty()) else {
        return Err(malformed("one action", "several or none"));
    };
    let action = match &*name {
        "index" => Action::Index,
        "create" => Action::Create,
        "update" => Action::Update,
        "delete" => Action::Delete,
        other => return Err(malformed("one of [create, delete, index, update]", other)),
    };
    let Json::Object(members) = members else { return Err(malformed("START_OBJECT", "VALUE")) };
    Ok((action, members))
}

fn with_members<'b>(
    number: usize,
    action: Action,
    members: Vec<(String, Json)>,
    index: Option<&str>,
    body: &'b str,
) -> Answered<Read<'b>> {
    let (mut index, mut id, mut expected) = (index.map(str::to_owned), None, None);
    for (name, value) in members {
        match (&*name, value) {
            ("_index", Json::String(name)) => index = Some(name),
            ("_id", Json::String(text)) => id = Some(text),
            ("_id", Json::Number(digits)) => id = Some(digits.to_string()),
            ("_id" | "pipeline", Json::Null) => {}
            ("pipeline", Json::String(name)) if name.is_empty() || name == "_none" => {}
            ("if_seq_no", Json::Number(sequence)) => expected = sequence.as_u64(),
            (name, _) if IGNORED.contains(&name) => {}
            (name, _) => {
                let reason = format!(
                    "Action/metadata line [{number}] contains an unknown parameter [{name}]"
                );
                return Err(Refusal::illegal_argument(reason).into());
            }
        }
    }
    let missing = |what: &str| {
        let reason = format!("Validation Failed: 1: {what} is missing;");
        Refused(Refusal::new("action_request_validation_exception", 400, reason))
    };
    let index = index.ok_or_else(|| missing("index"))?;
    let is_new = id.is_none();
    let id = match id {
        Some(id) => id,
        None if matches!(action, Action::Index | Action::Create) => made_id(),
        None => return Err(missing("id")),
    };
    Ok(Read { index, change: Change { action, id: Cow::Owned(id), is_new, body, expected } })
}

/// Returns an id that no other document has: 20 letters, as OpenSearch's.
pub(super) fn made_id() -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // The time of the process' first id, so that ids of later processes differ.
    static FIRST: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let first = FIRST.get_or_init(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
    });
    let number = u128::from(*first) << 56 | u128::from(NEXT.fetch_add(1, Relaxed));
    (0..20).rev().map(|place| char::from(LETTERS[(number >> (6 * place) & 63) as usize])).collect()
}
