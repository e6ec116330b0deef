//! Stored values as JSON has them.

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use spirit::{Hit, HitError};

/// The values of a document's fields, in the order in which they were given. A field with several
/// values has an array in JSON.
#[derive(Debug, Default)]
pub struct Values(Vec<(String, Vec<Value>)>);

impl Values {
    /// Takes the values of a hit's document: of the fields with these names, or of all if none is
    /// named.
    pub fn of(hit: &Hit<'_>, names: &[String]) -> Result<Values, HitError> {
        let mut values = Values::default();
        let is_wanted = |name: &str| names.is_empty() || names.iter().any(|known| known == name);
        for (name, value) in hit.fields()?.filter(|(name, _)| is_wanted(name)) {
            values.push(name, json(value));
        }
        Ok(values)
    }

    /// Adds a value to a field.
    pub fn push(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => self.0.push((name.to_owned(), vec![value])),
        }
    }

    /// True if no field has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the values of a field, if it has any.
    pub fn get(&self, name: &str) -> Option<&[Value]> {
        self.iter().find_map(|(known, values)| (known == name).then_some(values))
    }

    /// Iterates over the fields: each name with its values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Value])> {
        self.0.iter().map(|(name, values)| (&**name, &**values))
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |values: &[Value]| match values {
            [one] => one.clone(),
            several => Value::Array(several.to_vec()),
        };
        serializer.collect_map(self.iter().map(|(name, values)| (name, value(values))))
    }
}

/// Turns a value into JSON: a moment is text, a number that JSON cannot write is null.
pub fn json(value: spirit::Value<'_>) -> Value {
    match value {
        spirit::Value::Integer(number) => Value::Number(number.into()),
        spirit::Value::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        spirit::Value::Boolean(yes) => Value::Bool(yes),
        spirit::Value::Text(_) | spirit::Value::Time(_) => Value::String(value.to_string()),
        // No hit has it.
        spirit::Value::Object => Value::Null,
    }
}

/// Rounds a number, so that JSON shows no digits that were not measured.
pub fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
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
        assert_eq!(values.get("tag"), Some(&["sea".into(), "whales".into()][..]));
        assert_eq!(values.get("none"), None);
    }
}
