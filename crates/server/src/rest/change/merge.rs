//! A part of a document merged into a document. Members keep their order and their bytes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Returns a document with the members of a part. Objects are merged, at every depth that JSON may have;
/// all other values are replaced. A document that stays the same keeps its bytes.
pub(super) fn merged(document: &str, part: &str) -> Result<String, String> {
    let read = |text| serde_json::from_str::<Members<'_>>(text).map_err(|error| error.to_string());
    let (Members(mut own), Members(others)) = (read(document)?, read(part)?);
    let mut merged: Vec<(String, String)> = Vec::new();
    let mut has_changed = false;
    let mut others: Vec<_> = others.into_iter().map(Some).collect();
    for (name, value) in own.drain(..) {
        let other = others.iter_mut().find(|other| other.as_ref().is_some_and(|(n, _)| *n == name));
        let Some((_, other)) = other.and_then(Option::take) else {
            merged.push((name, value.get().to_owned()));
            continue;
        };
        let (value, other) = (value.get(), other.get());
        let next = match (is_object(value), is_object(other)) {
            (true, true) => self::merged(value, other)?,
            _ => other.to_owned(),
        };
        has_changed |= !is_same(value, &next);
        merged.push((name, next));
    }
    for (name, value) in others.into_iter().flatten() {
        has_changed = true;
        merged.push((name, value.get().to_owned()));
    }
    if !has_changed {
        return Ok(document.to_owned());
    }
    let member = |(name, value): &(String, String)| {
        format!("{}:{value}", serde_json::to_string(name).unwrap_or_default())
    };
    Ok(format!("{{{}}}", merged.iter().map(member).collect::<Vec<_>>().join(",")))
}

fn is_object(value: &str) -> bool {
    value.trim_start().starts_with('{')
}

/// True if two values say the same, however they are written.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || read(one) == read(other)
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn parts_are_merged_in_order() {
        for (document, part, expected) in [
            (
                r#"{"b": 1, "a": [2]}"#,
                r#"{"a": 3, "c": {"d": 4}}"#,
                r#"{"b":1,"a":3,"c":{"d": 4}}"#,
            ),
            (r#"{"o": {"x": 1, "y": 2.0}}"#, r#"{"o": {"y": null}}"#, r#"{"o":{"x":1,"y":null}}"#),
            (r#"{"b":  1}"#, r#"{"b": 1}"#, r#"{"b":  1}"#),
            (r#"{"o":{"x":1}}"#, r#"{"o":{"x": 1}}"#, r#"{"o":{"x":1}}"#),
            ("{}", "{}", "{}"),
        ] {
            assert_eq!(merged(document, part).unwrap(), expected);
        }
        assert!(merged("[1]", "{}").is_err());
    }
}
