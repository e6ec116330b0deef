//! JSON that keeps the order of members, and refuses a member that is there twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;

use crate::error::Refusal;

/// A JSON value. Members keep their order: in `{"level": "asc", "at": "desc"}` it has a meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object: names and values, in their order. Each name is there once.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text. It may be nested 128 levels deep.
    ///
    /// # Errors
    /// If it is not valid JSON, is nested deeper, or has a member twice.
    ///
    /// ```
    /// use spirit_opensearch::json::Json;
    ///
    /// assert_eq!(Json::parse(b"[true, null]"), Ok(Json::Array(vec![Json::Bool(true), Json::Null])));
    /// let twice = Json::parse(br#"{"size": 1, "size": 2}"#).unwrap_err();
    /// assert_eq!(twice.reason, "Duplicate field 'size' at line 1 column 22");
    /// ```
    pub fn parse(text: &[u8]) -> Result<Json, Refusal> {
        serde_json::from_slice(text).map_err(|error| Refusal::json(error.to_string()))
    }

    /// Returns a member of an object; none if this is no object, or has no such member.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns the text of a string; none for other values.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// Returns the name by which OpenSearch's errors call a value of this kind.
    pub(crate) fn token(&self) -> &'static str {
        match self {
            Json::Null => "VALUE_NULL",
            Json::Bool(_) => "VALUE_BOOLEAN",
            Json::Number(_) => "VALUE_NUMBER",
            Json::String(_) => "VALUE_STRING",
            Json::Array(_) => "START_ARRAY",
            Json::Object(_) => "START_OBJECT",
        }
    }

    /// Returns the text of a string, a number or a boolean, as it is written in a query; none for
    /// other values.
    pub(crate) fn scalar(&self) -> Option<String> {
        match self {
            Json::Bool(value) => Some(value.to_string()),
            Json::Number(number) => Some(number.to_string()),
            Json::String(text) => Some(text.clone()),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

/// Reads any value.
struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Number::from_f64(number).map(Json::Number).ok_or(E::custom("a number that is not finite"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(value) = values.next_element()? {
            array.push(value);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members: Vec<(String, Json)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        match repeated(&members) {
            Some(name) => Err(A::Error::custom(format_args!("Duplicate field '{name}'"))),
            None => Ok(Json::Object(members)),
        }
    }
}

/// Returns a name that several members have.
fn repeated(members: &[(String, Json)]) -> Option<&str> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(values) => serializer.collect_seq(values),
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl fmt::Display for Json {
    /// Writes compact JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_in_their_order() {
        for text in [
            r#"{"z":1,"a":[{"c":null,"b":-2}],"m":true}"#,
            r#"[18446744073709551615,-9223372036854775808,1.5,"é\n"]"#,
            "{}",
        ] {
            assert_eq!(Json::parse(text.as_bytes()).unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_texts_are_refused() {
        for (text, reason) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{}x", "trailing characters at line 1 column 3"),
            (r#"{"a":{"b":1,"c":2,"b":3}}"#, "Duplicate field 'b' at line 1 column 24"),
        ] {
            let refusal = Json::parse(text.as_bytes()).unwrap_err();
            assert_eq!((refusal.kind, &*refusal.reason), ("json_parse_exception", reason));
        }
        let deep = "[".repeat(100_000);
        assert!(Json::parse(deep.as_bytes()).unwrap_err().reason.starts_with("recursion limit"));
    }
}
