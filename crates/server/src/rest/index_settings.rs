//! Settings of indexes: those that change nothing here are accepted, others refused.

use serde_json::{Map, Value};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

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
    let settings = serde_json::to_value(settings);
    let settings = settings.map_err(|error| Refusal::json(error.to_string()))?;
    let mut flat = Vec::new();
    flatten("", &normal(&settings), &mut flat);
    for (name, value) in flat {
        let is_in = |list: &[&str]| {
            list.iter().any(|known| match known.strip_suffix('.') {
                Some(group) => name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')),
                None => name == *known,
            })
        };
        let is_off = name.ends_with("_pipeline") && value == "_none";
        if is_in(&REFUSED) && !is_off {
            return Err(Refusal::unsupported(format!("[index.{name}] of settings")));
        }
        if !is_in(&ACCEPTED) && !is_off {
            return Err(Refusal::illegal_argument(format!(
                "unknown setting [index.{name}] please check that any required plugins are installed, \
                 or check the breaking changes documentation for removed settings"
            )));
        }
    }
    Ok(())
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
    let mut all = Map::new();
    for (name, value) in flat {
        let name = name.strip_prefix("index.").unwrap_or(&name).to_owned();
        let value = match value {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Bool(yes) => Value::String(yes.to_string()),
            other => other,
        };
        put(&mut all, &name, value);
    }
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
            r#"{"index.default_pipeline": "_none"}"#,
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, named) in [
            (r#"{"bogus": 1}"#, "unknown setting [index.bogus]"),
            (r#"{"index": {"analysis": {"analyzer": {}, "a": 1}}}"#, "[index.analysis.a]"),
            (r#"{"index.sort.field": "a"}"#, "[index.sort.field]"),
            (r#"{"default_pipeline": "p"}"#, "[index.default_pipeline]"),
        ] {
            let reason = check(wrong).unwrap_err().reason;
            assert!(reason.contains(named), "{reason}");
        }
    }
}
