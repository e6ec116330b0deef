//! Stored documents, decoded.
#![cfg_attr(
    not(feature = "lab"),
    expect(unreachable_pub, reason = "only the laboratory names them")
)]

use spirit_schema::{FieldValue, Schema, Value, encoded};

/// A document as an index that [stores](crate::Builder::store) documents keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The text, as given.
    pub text: String,
    /// The field names and values, in the order in which they were given.
    pub fields: Vec<(String, StoredValue)>,
}

/// A value of a stored document.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredValue {
    /// A text, or a keyword.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A moment, in milliseconds since 1970.
    Time(i64),
    /// A boolean.
    Boolean(bool),
}

impl StoredValue {
    /// Returns the value with memory of its own; none for what is no value.
    pub fn of(value: Value<'_>) -> Option<StoredValue> {
        Some(match value {
            Value::Text(text) => StoredValue::Text(text.to_owned()),
            Value::Integer(number) => StoredValue::Integer(number),
            Value::Float(number) => StoredValue::Float(number),
            Value::Time(ms) => StoredValue::Time(ms),
            Value::Boolean(yes) => StoredValue::Boolean(yes),
            Value::Object => return None,
        })
    }

    /// Returns the value without its memory.
    pub(crate) fn borrowed(&self) -> Value<'_> {
        match self {
            StoredValue::Text(text) => Value::Text(text),
            StoredValue::Integer(number) => Value::Integer(*number),
            StoredValue::Float(number) => Value::Float(*number),
            StoredValue::Time(ms) => Value::Time(*ms),
            StoredValue::Boolean(yes) => Value::Boolean(*yes),
        }
    }
}

impl StoredDocument {
    /// Iterates over the fields: names and values, in the order in which they were given.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.borrowed()))
    }

    /// Decodes stored bytes; none if they do not match `schema`.
    pub(crate) fn read(stored: &[u8], schema: &Schema) -> Option<StoredDocument> {
        let (text, values) = encoded::split(stored);
        let text = std::str::from_utf8(text).ok()?.to_owned();
        let mut fields = Vec::new();
        let is_whole = encoded::is_whole(values, |(id, value)| {
            let Some(field) = schema.get(id) else { return value == FieldValue::Object };
            let value = StoredValue::of(field.current(value).into());
            fields.extend(value.map(|value| (field.name.clone(), value)));
            true
        });
        is_whole.then_some(StoredDocument { text, fields })
    }
}
