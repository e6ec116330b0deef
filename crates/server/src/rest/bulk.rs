//! `_bulk`: many changes, in one request, with a result for each.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
use crate::problem::Cause;

/// The time between two tries to make changes for which there was no room.
const PAUSE: Duration = Duration::from_millis(50);

/// The bytes of an answer's item, about.
const BYTES_OF_ITEM: usize = 192;

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
    let name = index.clone();
    let written = server.write_held(index.as_deref(), move || {
        let read = read(name.as_deref(), &body)?;
        let items = write(&writing, &read, started)?;
        Answered::Ok((answer(started, &read, &items), cause(&items)))
    });
    let (answer, cause) = written.await??;
    let mut response = filtered(&parameters, 200, answer);
    if let Some(cause) = cause {
        response.extensions_mut().insert(cause);
    }
    Ok(response)
}

/// A change that was read, and the index that it is for.
struct Read<'b> {
    index: Rc<str>,
    change: Change<'b>,
}

/// What became of a change.
struct Item {
    index: Rc<str>,
    result: Result<Changed, Refusal>,
}

impl Item {
    fn is_refused_by_full_index(&self) -> bool {
        matches!(&self.result, Err(refusal) if refusal.status == 429)
    }
}

/// Returns the reason for the log if the server failed to make some changes. It names no document.
fn cause(items: &[Item]) -> Option<Cause> {
    let failed = |item: &Item| match &item.result {
        Err(refusal) if refusal.status == 500 => Some(refusal.reason.clone()),
        _ => None,
    };
    let mut reasons = items.iter().filter_map(failed);
    let first = reasons.next()?;
    let (count, all) = (reasons.count() + 1, items.len());
    Some(Cause(format!("{count} of {all} changes failed; the first one: {first}")))
}

/// Returns the answer, without blanks, in the order that shippers look for.
fn answer(started: Instant, read: &[Read<'_>], items: &[Item]) -> String {
    let mut body = String::with_capacity(BYTES_OF_ITEM * (items.len() + 1));
    let errors = items.iter().any(|item| item.result.is_err());
    let took = started.elapsed().as_millis();
    let _ = write!(body, r#"{{"took":{took},"errors":{errors},"items":["#);
    for (number, (Read { change, .. }, Item { index, result })) in
        read.iter().zip(items).enumerate()
    {
        body.push_str(if number == 0 { "{\"" } else { ",{\"" });
        body.push_str(change.action.name());
        body.push_str(r#"":{"_index":"#);
        put_quoted(&mut body, index);
        body.push_str(r#","_id":"#);
        put_quoted(&mut body, &change.id);
        body.push(',');
        match result {
            Ok(changed) => {
                changed.put_members(&mut body);
                let _ = write!(body, r#","status":{}"#, changed.status);
            }
            Err(refusal) => {
                let (status, error) = (refusal.status, refusal.error_json());
                let _ = write!(body, r#""status":{status},"error":{error}"#);
            }
        }
        body.push_str("}}");
    }
    body.push_str("]}");
    body
}

/// Writes a string of JSON.
fn put_quoted(out: &mut String, text: &str) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// Makes all changes, and returns what became of each. If an index is full, nothing was taken, or some
/// of it could not be taken in time.
fn write(server: &Server, read: &[Read<'_>], started: Instant) -> Answered<Vec<Item>> {
    let mut items: Vec<Option<Item>> = read.iter().map(|_| None).collect();
    let mut todo: Vec<usize> = (0..read.len()).collect();
    loop {
        write_round(server, read, todo, &mut items);
        let refused = items.iter().flatten().filter(|item| item.is_refused_by_full_index());
        if refused.count() == read.len() {
            break;
        }
        todo = to_repeat(read, &items);
        if todo.is_empty() || started.elapsed() + PAUSE > server.settings().hold {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    let items: Vec<Item> = items.into_iter().flatten().collect();
    match items.first() {
        Some(Item { result: Err(refusal), .. })
            if items.iter().all(Item::is_refused_by_full_index) =>
        {
            Err(refusal.clone().into())
        }
        _ => Ok(items),
    }
}

/// Returns the places of changes that a full index refused, and that may be made later: no change of
/// the same document behind them was.
fn to_repeat(read: &[Read<'_>], items: &[Option<Item>]) -> Vec<usize> {
    let (mut places, mut changed) = (Vec::new(), HashSet::new());
    for (place, (Read { index, change }, item)) in read.iter().zip(items).enumerate().rev() {
        let is_refused = item.as_ref().is_some_and(Item::is_refused_by_full_index);
        if !is_refused {
            changed.insert((index, &change.id));
        } else if !changed.contains(&(index, &change.id)) {
            places.push(place);
        }
    }
    places.reverse();
    places
}

/// Makes changes. All those of an index are made together.
fn write_round(server: &Server, read: &[Read<'_>], todo: Vec<usize>, items: &mut [Option<Item>]) {
    let mut left = todo;
    while let Some(first) = left.first() {
        let name = &read[*first].index;
        let (own, others) =
            left.iter().partition::<Vec<usize>, _>(|place| read[**place].index == *name);
        let changes: Vec<&Change<'_>> = own.iter().map(|place| &read[*place].change).collect();
        // Deletes make no index.
        let may_make = changes.iter().any(|change| change.action != Action::Delete);
        let written = making::written(server, name, may_make);
        let (index, results) = match written {
            Ok(written) => (written.served.name.as_str().into(), make(&written, &changes)),
            Err(Refused(refusal)) => (name.clone(), vec![Err(refusal); own.len()]),
        };
        for (place, result) in own.into_iter().zip(results) {
            let index = if result.is_ok() { &index } else { name };
            items[place] = Some(Item { index: index.clone(), result });
        }
        left = others;
    }
}

/// Makes the changes of an index.
fn make(written: &Written, changes: &[&Change<'_>]) -> Vec<Result<Changed, Refusal>> {
    let refused = changes.iter().map(|change| written.refusal(change));
    let refused: Vec<Option<Refusal>> = refused.collect();
    let taken = changes.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let taken: Vec<&Change<'_>> = taken.map(|(change, _)| *change).collect();
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
    let (mut read, mut last) = (Vec::new(), None);
    while let Some((number, line)) = lines.next() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        // Most bulks have the same line again and again.
        let action = match last.take() {
            Some((same, action)) if same == line => action,
            _ => ActionLine::read(number, line, index)?,
        };
        let body = match action.action {
            Action::Delete => "",
            _ => lines.next().map_or("", |(_, line)| line),
        };
        read.push(action.with_body(body)?);
        last = Some((line, action));
    }
    Ok(read)
}

/// A line before a document.
struct ActionLine {
    action: Action,
    index: Option<Rc<str>>,
    id: Option<String>,
    expected: Option<u64>,
}

impl ActionLine {
    /// Reads a line. `index` is the index of the request.
    fn read(number: usize, line: &str, index: Option<&str>) -> Answered<ActionLine> {
        let (action, members) = action(number, line)?;
        let mut read = ActionLine { action, index: index.map(Rc::from), id: None, expected: None };
        for (name, value) in members {
            match (&*name, value) {
                ("_index", Json::String(name)) => read.index = Some(name.into()),
                ("_id", Json::String(text)) => read.id = Some(text),
                ("_id", Json::Number(digits)) => read.id = Some(digits.to_string()),
                ("_id" | "pipeline", Json::Null) => {}
                ("pipeline", Json::String(name)) if name.is_empty() || name == "_none" => {}
                ("if_seq_no", Json::Number(sequence)) => read.expected = sequence.as_u64(),
                (name, _) if IGNORED.contains(&name) => {}
                (name, _) => {
                    let reason = format!(
                        "Action/metadata line [{number}] contains an unknown parameter [{name}]"
                    );
                    return Err(Refusal::illegal_argument(reason).into());
                }
            }
        }
        Ok(read)
    }

    /// Returns the change that it says, of this document.
    fn with_body<'b>(&self, body: &'b str) -> Answered<Read<'b>> {
        let missing = |what: &str| {
            let reason = format!("Validation Failed: 1: {what} is missing;");
            Refused(Refusal::new("action_request_validation_exception", 400, reason))
        };
        let ActionLine { action, expected, .. } = *self;
        let index = self.index.clone().ok_or_else(|| missing("index"))?;
        let is_new = self.id.is_none();
        let id = match &self.id {
            Some(id) => id.clone(),
            None if matches!(action, Action::Index | Action::Create) => made_id(),
            None => return Err(missing("id")),
        };
        Ok(Read { index, change: Change { action, id: Cow::Owned(id), is_new, body, expected } })
    }
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
    // Two halves of ten letters.
    let halves = [(number >> 60) as u64, number as u64];
    let letters = halves.into_iter().flat_map(|half| {
        (0..10).rev().map(move |place| char::from(LETTERS[(half >> (6 * place) & 63) as usize]))
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_one_reason_without_documents() {
        let item = |status| Item {
            index: "logs".into(),
            result: Err(Refusal::new("engine_exception", status, "the disk fails")),
        };
        assert!(cause(&[item(400), item(429)]).is_none());
        let Cause(why) = cause(&[item(400), item(500), item(500)]).unwrap();
        assert_eq!(why, "2 of 3 changes failed; the first one: the disk fails");
    }
}
