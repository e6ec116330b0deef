//! What became of the changes of a bulk, and the answer that says so.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use spirit_opensearch::error::Refusal;

use super::lines::Read;
use crate::problem::Cause;
use crate::rest::change::Changed;

/// The bytes of an answer's item, about.
const BYTES_OF_ITEM: usize = 192;

/// What became of a change.
pub(super) struct Item {
    pub(super) index: Arc<str>,
    /// The id that was made for its document, if the change was made by an earlier try.
    pub(super) id: Option<String>,
    pub(super) result: Result<Changed, Refusal>,
}

impl Item {
    pub(super) fn is_refused_by_full_index(&self) -> bool {
        matches!(&self.result, Err(refusal) if refusal.status == 429)
    }
}

/// Returns the answer, without blanks, in the order that shippers look for.
pub(super) fn answer(started: Instant, read: &[Read<'_>], items: &[&Item]) -> String {
    let mut body = String::with_capacity(BYTES_OF_ITEM * (items.len() + 1));
    let errors = items.iter().any(|item| item.result.is_err());
    let took = started.elapsed().as_millis();
    let _ = write!(body, r#"{{"took":{took},"errors":{errors},"items":["#);
    for (number, (Read { change, .. }, Item { index, id, result })) in
        read.iter().zip(items).enumerate()
    {
        body.push_str(if number == 0 { "{\"" } else { ",{\"" });
        body.push_str(change.action.name());
        body.push_str(r#"":{"_index":"#);
        put_quoted(&mut body, index);
        body.push_str(r#","_id":"#);
        put_quoted(&mut body, id.as_deref().unwrap_or(&change.id));
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

/// Returns the reason for the log if the server failed to make some changes. It names no document.
pub(super) fn cause(items: &[&Item]) -> Option<Cause> {
    let failed = |item: &&Item| match &item.result {
        Err(refusal) if refusal.status == 500 => Some(refusal.reason.clone()),
        _ => None,
    };
    let mut reasons = items.iter().filter_map(failed);
    let first = reasons.next()?;
    let (count, all) = (reasons.count() + 1, items.len());
    Some(Cause(format!("{count} of {all} changes failed; the first one: {first}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_one_reason_without_documents() {
        let item = |status| Item {
            index: "logs".into(),
            id: None,
            result: Err(Refusal::new("engine_exception", status, "the disk fails")),
        };
        let [wrong, full, failed] = [400, 429, 500].map(item);
        assert!(cause(&[&wrong, &full]).is_none());
        let Cause(why) = cause(&[&wrong, &failed, &failed]).unwrap();
        assert_eq!(why, "2 of 3 changes failed; the first one: the disk fails");
    }
}
