//! A JSON object as a document: key and text, and all other members as fields.
//!
//! Members of objects within it have their path as their name, with dots; the values of an array are several values of one
//! field; null counts as no field.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Number, Value};

/// A value of a field as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

/// A line's object.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    pub(crate) key: Option<Value>,
    pub(crate) id: Option<Value>,
    pub(crate) text: Cow<'a, str>,
    pub(crate) fields: Vec<(String, Given)>,
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<'de>, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

/// Borrowed where nothing is escaped.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Object<'de>, M::Error> {
        let (mut object, mut text) = (Object::default(), None);
        while let Some(Text(name)) = members.next_key()? {
            match &*name {
                "key" => object.key = members.next_value()?,
                "id" => object.id = members.next_value()?,
                "text" => text = Some(members.next_value::<Text<'de>>()?.0),
                _ => flatten(name.into_owned(), members.next_value()?, &mut object.fields),
            }
        }
        // What has fields says something without a text.
        if text.is_none() && object.fields.is_empty() {
            return Err(M::Error::missing_field("text"));
        }
        object.text = text.unwrap_or_default();
        Ok(object)
    }
}

fn flatten(name: String, value: Value, fields: &mut Vec<(String, Given)>) {
    match value {
        Value::Null => {}
        Value::Bool(yes) => fields.push((name, Given::Boolean(yes))),
        Value::Number(number) => fields.push((name, given(&number))),
        Value::String(text) => fields.push((name, Given::Text(text))),
        Value::Array(values) => {
            values.into_iter().for_each(|value| flatten(name.clone(), value, fields));
        }
        Value::Object(members) => {
            for (member, value) in members {
                flatten(format!("{name}.{member}"), value, fields);
            }
        }
    }
}

/// A whole number, if it is one of 64 bits with a sign.
fn given(number: &Number) -> Given {
    match number.as_i64() {
        Some(number) => Given::Integer(number),
        None => Given::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_become_fields() {
        let line = r#"{"views": 3, "text": "a", "big": 18446744073709551615, "user": {"name": "b",
            "geo": {"lat": 1.5}}, "tags": ["x", null, ["y"], {"of": true}], "none": null, "id": 1}"#;
        let object: Object<'_> = serde_json::from_str(line).unwrap();
        let fields: Vec<_> = object.fields.iter().map(|(name, given)| (&**name, given)).collect();
        assert_eq!(
            fields,
            [
                ("views", &Given::Integer(3)),
                ("big", &Given::Float(18446744073709551615.0)),
                ("user.geo.lat", &Given::Float(1.5)),
                ("user.name", &Given::Text("b".into())),
                ("tags", &Given::Text("x".into())),
                ("tags", &Given::Text("y".into())),
                ("tags.of", &Given::Boolean(true)),
            ]
        );
        assert_eq!((&*object.text, object.id), ("a", Some(Value::from(1))));
    }
}
