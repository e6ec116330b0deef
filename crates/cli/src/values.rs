//! Stored values as people read them.

use serde_json::Value;
use spirit_forms::values::Values;

/// The sign for a document without a value.
pub(crate) const NONE: &str = "-";

/// Returns all values of a field; none if it has none.
pub(crate) fn of_field(values: &Values, name: &str) -> Option<String> {
    values.get(name).map(all_shown)
}

/// Iterates over the fields: each name with all its values.
pub(crate) fn lines(values: &Values) -> impl Iterator<Item = (&str, String)> {
    values.iter().map(|(name, values)| (name, all_shown(values)))
}

/// Turns a value into text, without quotation marks.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn all_shown(values: &[Value]) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_of_a_field_are_one_text() {
        let mut values = Values::default();
        for (name, value) in [("tag", "sea".into()), ("n", 3.into()), ("tag", "whales".into())] {
            values.push(name, value);
        }
        let lines: Vec<_> = lines(&values).collect();
        assert_eq!(lines, [("tag", "sea, whales".to_owned()), ("n", "3".to_owned())]);
        assert_eq!(of_field(&values, "none"), None);
    }
}
