//! The lines of a bulk: actions, and documents behind them.

use std::borrow::Cow;
use std::sync::Arc;

use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use crate::rest::change::{Action, Change};
use crate::rest::made_id::made_id;
use crate::rest::refused::{Answered, Refused};

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

/// A change that was read, and the index that it is for.
pub(super) struct Read<'b> {
    pub(super) index: Arc<str>,
    pub(super) change: Change<'b>,
}

/// Reads lines of actions and documents.
pub(super) fn read<'b>(index: Option<&str>, body: &'b [u8]) -> Answered<Vec<Read<'b>>> {
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
    index: Option<Arc<str>>,
    id: Option<String>,
    expected: Option<u64>,
}

impl ActionLine {
    /// Reads a line. `index` is the index of the request.
    fn read(number: usize, line: &str, index: Option<&str>) -> Answered<ActionLine> {
        let (action, members) = action(number, line)?;
        let mut read = ActionLine { action, index: index.map(Arc::from), id: None, expected: None };
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
