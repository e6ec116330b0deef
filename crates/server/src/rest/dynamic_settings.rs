//! Settings that an open index takes: dynamic ones that change nothing here, with values of their kind.

use std::collections::BTreeMap;

use serde_json::Value;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::search::time;

use super::index_settings::{self, is_in};

/// Settings that only a new index takes. One that ends with a point stands for all that begin with it.
const STATIC: [&str; 13] = [
    "analysis.",
    "codec",
    "format",
    "mapping.coerce",
    "mapping.ignore_malformed",
    "number_of_routing_shards",
    "number_of_shards",
    "query.parse.",
    "routing.allocation.initial_recovery.",
    "similarity.",
    "soft_deletes.enabled",
    "sort.",
    "store.",
];
/// Settings that no request may say.
const PRIVATE: [&str; 1] = ["provided_name"];
const TIMES: [&str; 3] =
    ["refresh_interval", "translog.sync_interval", "unassigned.node_left.delayed_timeout"];
const COUNTS: [&str; 5] = [
    "mapping.depth.limit",
    "mapping.total_fields.limit",
    "max_docvalue_fields_search",
    "number_of_replicas",
    "priority",
];
const FLAGS: [&str; 2] = ["hidden", "requests.cache.enable"];

/// The settings of an index that were given, by their names without `index.` in front.
pub(super) type Kept = BTreeMap<String, Value>;

/// A change of settings.
#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// The new values; null for one that is reset.
    values: Vec<(String, Value)>,
}

impl Change {
    /// Reads the body of a request.
    pub(super) fn read(body: &[u8]) -> Result<Change, Refusal> {
        if body.trim_ascii().is_empty() {
            return Err(Refusal::parse("request body is required"));
        }
        let body = Json::parse(body)?;
        let own = body.get("settings").filter(|own| matches!(own, Json::Object(_)));
        let values = match own.unwrap_or(&body) {
            settings @ Json::Object(_) => index_settings::flat(settings)?,
            _ => Vec::new(),
        };
        if values.is_empty() {
            let reason = "Validation Failed: 1: no settings to update;";
            return Err(Refusal::new("action_request_validation_exception", 400, reason));
        }
        values.iter().try_for_each(|(name, value)| check(name, value))?;
        Ok(Change { values })
    }

    /// Returns an error if one of the settings is for new indexes only.
    pub(super) fn check_dynamic(&self, indexes: &[String]) -> Result<(), Refusal> {
        let is_static = |name: &&String| is_in(&STATIC, name);
        let names = self.values.iter().map(|(name, _)| name).filter(is_static);
        let mut names: Vec<String> = names.map(|name| format!("index.{name}")).collect();
        if names.is_empty() {
            return Ok(());
        }
        names.sort();
        let indexes: Vec<String> = indexes.iter().map(|name| format!("[{name}/{name}]")).collect();
        let (names, indexes) = (names.join(", "), indexes.join(", "));
        let what = format!("Can't update non dynamic settings [[{names}]] for open indices");
        Err(Refusal::illegal_argument(format!("{what} [{indexes}]")))
    }

    /// Changes what is kept. With `is_new_only`, settings that have a value keep it.
    pub(super) fn apply(&self, kept: &mut Kept, is_new_only: bool) {
        for (name, value) in &self.values {
            match value {
                _ if is_new_only && kept.contains_key(name) => {}
                Value::Null => drop(kept.remove(name)),
                value => drop(kept.insert(name.clone(), value.clone())),
            }
        }
    }
}

/// Returns what is kept of the settings with which an index is made. How many shards it has is known.
pub(super) fn given(settings: &Json) -> Result<Kept, Refusal> {
    let known = ["number_of_shards", "provided_name"];
    let all = index_settings::flat(settings)?.into_iter();
    Ok(all.filter(|(name, value)| !known.contains(&&**name) && !value.is_null()).collect())
}

fn check(name: &str, value: &Value) -> Result<(), Refusal> {
    if PRIVATE.contains(&name) {
        return Err(index_settings::unknown(name));
    }
    // One that is reset does what it does here anyway, and so does one that is for new indexes.
    if value.is_null() || is_in(&STATIC, name) {
        return index_settings::check_known(name);
    }
    index_settings::check_one(name, value)?;
    let Some(text) = value.as_str() else { return Ok(()) };
    let (setting, wrong) = (format!("index.{name}"), format!("Failed to parse value [{text}]"));
    if TIMES.contains(&name) {
        return time(&setting, text).map(drop);
    }
    if COUNTS.contains(&name) {
        return match text.parse::<i32>() {
            Ok(0..) => Ok(()),
            Ok(_) => Err(format!("{wrong} for setting [{setting}] must be >= 0")),
            Err(_) => Err(format!("{wrong} for setting [{setting}]")),
        }
        .map_err(Refusal::illegal_argument);
    }
    if FLAGS.contains(&name) && !matches!(text, "true" | "false") {
        let what = format!("{wrong} as only [true] or [false] are allowed.");
        return Err(Refusal::illegal_argument(what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_follows_each_change() {
        let mut kept = Kept::new();
        let mut change = |body: &str, is_new_only| {
            Change::read(body.as_bytes()).unwrap().apply(&mut kept, is_new_only);
            serde_json::to_string(&kept).unwrap()
        };
        let first = r#"{"priority":"3","refresh_interval":"1s"}"#;
        assert_eq!(change(r#"{"index":{"refresh_interval":"1s","priority":3}}"#, false), first);
        assert_eq!(change(r#"{"index.refresh_interval":"5s"}"#, true), first);
        let reset = r#"{"settings":{"refresh_interval":null,"index":{"hidden":true}}}"#;
        assert_eq!(change(reset, false), r#"{"hidden":"true","priority":"3"}"#);
    }
}
