//! Stored values: as JSON has them, and as people read them.

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use spirit::{Hit, HitError};

/// The sign for a document without a value.
pub(crate) const NONE: &str = "-";

/// The values of a document's fields, in the order in which they were given. A field with several
/// values has an array in JSON.
#[derive(Debug, Default)]
pub(crate) struct Values(Vec<(String, Vec<Value>)>);

impl Values {
    /// Takes the values of a hit's document: of the fields with these names, or of all if none is named.
    pub(crate) fn of(hit: &Hit<'_>, names: &[String]) -> Result<Values, HitError> {
        let mut values = Values::default();
        let is_wanted = |name: &str| names.is_empty() || names.iter().any(|known| known == name);
        for (name, value) in hit.fields()?.filter(|(name, _)| is_wanted(name)) {
            values.push(name, json(value));
        }
        Ok(values)
    }

    fn push(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => self.0.push((name.to_owned(), vec![value])),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all values of a field for people; none if it has none.
    pub(crate) fn shown(&self, name: &str) -> Option<String> {
        let (_, values) = self.0.iter().find(|(known, _)| known == name)?;
        Some(values.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    /// Iterates over the fields for people: each name with all its values.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().filter_map(|(name, _)| Some((&**name, self.shown(name)?)))
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |values: &[Value]| match values {
            [one] => one.clone(),
            several => Value::Array(several.to_vec()),
        };
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, value(values))))
    }
}

/// Turns a value into JSON: a moment is text, a number that JSON cannot write is null.
pub(crate) fn json(value: spirit::Value<'_>) -> Value {
    match value {
        spirit::Value::Integer(number) => Value::Number(number.into()),
        spirit::Value::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        spirit::Value::Boolean(yes) => Value::Bool(yes),
        spirit::Value::Text(_) | spirit::Value::Time(_) => Value::String(value.to_string()),
        // No hit has it.
        spirit::Value::Object => Value::Null,
    }
}

/// Turns a value into text for people, without quotation marks.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_of_a_field_are_an_array() {
        let mut values = Values::default();
        for (name, value) in [("tag", "sea".into()), ("n", 3.into()), ("tag", "whales".into())] {
            values.push(name, value);
        }
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"{"tag":["sea","whales"],"n":3}"#);
        let lines: Vec<_> = values.lines().collect();
        assert_eq!(lines, [("tag", "sea, whales".to_owned()), ("n", "3".to_owned())]);
        assert_eq!(values.shown("none"), None);
    }
}
