//! Settings of indexes: those that change nothing here are accepted, others refused.

use serde_json::{Map, Value};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::search::WINDOW_MAX;

/// Settings that change nothing for an index of one shard whose documents are visible at once. One that
/// ends with a point stands for all that begin with it.
const ACCEPTED: [&str; 25] = [
    "allocation.",
    "auto_expand_replicas",
    "codec",
    "format",
    "hidden",
    "indexing.",
    "lifecycle.",
    "mapping.",
    "max_docvalue_fields_search",
    "merge.",
    "number_of_replicas",
    "number_of_routing_shards",
    "number_of_shards",
    "plugins.",
    "priority",
    "provided_name",
    "query.",
    "refresh_interval",
    "requests.cache.",
    "routing.",
    "search.",
    "soft_deletes.",
    "store.",
    "translog.",
    "unassigned.",
];
/// Settings that OpenSearch has, and that would change what an index does.
const REFUSED: [&str; 7] = [
    "analysis.",
    "blocks.",
    "default_pipeline",
    "final_pipeline",
    "max_result_window",
    "similarity.",
    "sort.",
];

/// Returns an error if a setting is not accepted.
pub(super) fn check(settings: &Json) -> Result<(), Refusal> {
    flat(settings)?.iter().try_for_each(|(name, value)| check_one(name, value))
}

/// Returns the names of settings, without `index.` in front, and their values as strings.
pub(super) fn flat(settings: &Json) -> Result<Vec<(String, Value)>, Refusal> {
    let settings = serde_json::to_value(settings);
    let settings = settings.map_err(|error| Refusal::json(error.to_string()))?;
    let mut flat = Vec::new();
    flatten("", &normal(&settings), &mut flat);
    Ok(flat)
}

/// Returns an error if a setting is not accepted with this value.
pub(super) fn check_one(name: &str, value: &Value) -> Result<(), Refusal> {
    if is_in(&REFUSED, name) && !is_in_force(name, value) {
        return Err(Refusal::unsupported(format!("[index.{name}] of settings")));
    }
    check_known(name)
}

/// Returns an error if there is no such setting.
pub(super) fn check_known(name: &str) -> Result<(), Refusal> {
    if is_in(&REFUSED, name) || is_in(&ACCEPTED, name) { Ok(()) } else { Err(unknown(name)) }
}

/// Returns the error of a setting that there is not.
pub(super) fn unknown(name: &str) -> Refusal {
    Refusal::illegal_argument(format!(
        "unknown setting [index.{name}] please check that any required plugins are installed, or \
         check the breaking changes documentation for removed settings"
    ))
}

/// True if a list has a setting, or a group that it is in.
pub(super) fn is_in(list: &[&str], name: &str) -> bool {
    list.iter().any(|known| match known.strip_suffix('.') {
        Some(group) => name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')),
        None => name == *known,
    })
}

/// True if a setting that is refused would change nothing with this value.
fn is_in_force(name: &str, value: &Value) -> bool {
    match name {
        "default_pipeline" | "final_pipeline" => value == "_none",
        "max_result_window" => value.as_str() == Some(&WINDOW_MAX.to_string()),
        _ => name.starts_with("blocks.") && value == "false",
    }
}

fn flatten(prefix: &str, value: &Value, flat: &mut Vec<(String, Value)>) {
    let Value::Object(members) = value else {
        flat.push((prefix.to_owned(), value.clone()));
        return;
    };
    for (name, value) in members {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        flatten(&name, value, flat);
    }
}

/// Returns settings in the form in which OpenSearch shows them: nested, without `index`, as strings.
pub(super) fn normal(settings: &Value) -> Value {
    let mut flat = Vec::new();
    flatten("", settings, &mut flat);
    nested(flat.into_iter().map(|(name, value)| {
        let name = name.strip_prefix("index.").unwrap_or(&name).to_owned();
        let value = match value {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Bool(yes) => Value::String(yes.to_string()),
            other => other,
        };
        (name, value)
    }))
}

/// Returns objects within each other, as the points in names say.
pub(super) fn nested(flat: impl Iterator<Item = (String, Value)>) -> Value {
    let mut all = Map::new();
    flat.for_each(|(name, value)| put(&mut all, &name, value));
    Value::Object(all)
}

fn put(into: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            into.insert(name.to_owned(), value);
        }
        Some((group, rest)) => {
            let within = into.entry(group).or_insert_with(|| Value::Object(Map::new()));
            match within {
                Value::Object(within) => put(within, rest, value),
                // `a` and `a.b` are not together in any list of settings.
                _ => *within = value,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_in_each_form() {
        let check = |text: &str| check(&Json::parse(text.as_bytes()).unwrap());
        for right in [
            "{}",
            r#"{"number_of_shards": 1, "index.refresh_interval": "5s"}"#,
            r#"{"index": {"lifecycle": {"name": "logs"}, "codec": "best_compression"}}"#,
            r#"{"index.default_pipeline": "_none", "index.blocks.write": false}"#,
            r#"{"max_result_window": 10000}"#,
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, named) in [
            (r#"{"bogus": 1}"#, "unknown setting [index.bogus]"),
            (r#"{"index": {"analysis": {"analyzer": {}, "a": 1}}}"#, "[index.analysis.a]"),
            (r#"{"index.sort.field": "a"}"#, "[index.sort.field]"),
            (r#"{"default_pipeline": "p"}"#, "[index.default_pipeline]"),
            (r#"{"index.blocks.write": true}"#, "[index.blocks.write]"),
            (r#"{"index.max_result_window": 20000}"#, "[index.max_result_window]"),
        ] {
            let reason = check(wrong).unwrap_err().reason;
            assert!(reason.contains(named), "{reason}");
        }
    }
}
