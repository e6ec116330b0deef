//! A JSON object as a document: key and text, and all other members as fields.
//!
//! One rule for all of them, at every depth:
//!
//! * null is no value;
//! * the values of an array, and those of a member that is there twice, are several values of one
//!   field; of the text they are lines; several keys are an error;
//! * members of objects within have their path as their name, with dots;
//! * where an object of an array begins, the array has [`Given::Object`] as a value.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use spirit::Value;

/// Members that are the key. A document may have several if they say the same.
const KEYS: [&str; 3] = ["key", "id", "_id"];

/// A value of a field as it was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Given<'a> {
    /// Text, borrowed where nothing is escaped.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// The next object of an array begins.
    Object,
}

impl<'a> Given<'a> {
    /// Returns the value as the engine takes it.
    pub fn value(&self) -> Value<'_> {
        match self {
            Given::Text(text) => Value::Text(text),
            Given::Integer(number) => Value::Integer(*number),
            Given::Float(number) => Value::Float(*number),
            Given::Boolean(yes) => Value::Boolean(*yes),
            Given::Object => Value::Object,
        }
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Given::Text(text) => text,
            Given::Integer(number) => number.to_string().into(),
            Given::Float(number) => number.to_string().into(),
            Given::Boolean(yes) => yes.to_string().into(),
            Given::Object => Cow::default(),
        }
    }
}

/// A value of a field, behind the field's name.
pub type Field<'a> = (Cow<'a, str>, Given<'a>);

/// Returns a value that borrows nothing.
pub fn into_owned((name, given): Field<'_>) -> Field<'static> {
    let given = match given {
        Given::Text(text) => Given::Text(text.into_owned().into()),
        Given::Integer(number) => Given::Integer(number),
        Given::Float(number) => Given::Float(number),
        Given::Boolean(yes) => Given::Boolean(yes),
        Given::Object => Given::Object,
    };
    (name.into_owned().into(), given)
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyError {
    /// It is no string and no number.
    Kind,
    /// There are several.
    Several(String),
}

/// A document's members, sorted out.
#[derive(Debug, Default)]
pub struct Object<'a> {
    /// The members that are the key, as they were written.
    keys: Vec<(&'static str, String)>,
    /// A key is no string and no number.
    has_wrong_key: bool,
    /// The text, if it was found under the first of its names.
    text: Option<Cow<'a, str>>,
    pub(crate) fields: Vec<Field<'a>>,
    /// It has members besides its key.
    says_something: bool,
}

impl<'a> Object<'a> {
    /// Returns an object whose members are [added](Self::add). With empty values alone it is an
    /// empty document.
    pub fn of_columns() -> Object<'a> {
        Object { says_something: true, ..Object::default() }
    }

    /// Reads an object of JSON. The text has the first of the names `texts`, or one of the others.
    /// An error says why it is malformed.
    pub fn read(json: &'a str, texts: &[String]) -> Result<Object<'a>, String> {
        Object::of_members(json, Members { texts, has_fields_only: false })
    }

    /// Reads the fields of an object of JSON: all of its members, whatever their names are.
    pub fn read_fields(json: &'a str) -> Result<Vec<Field<'a>>, String> {
        let members = Members { texts: &[], has_fields_only: true };
        Object::of_members(json, members).map(|object| object.fields)
    }

    fn of_members(json: &'a str, members: Members<'_>) -> Result<Object<'a>, String> {
        // An array would do for serde.
        if !json.trim_ascii_start().starts_with('{') {
            return Err("expected an object".into());
        }
        let mut reader = serde_json::Deserializer::from_str(json);
        let object = members.deserialize(&mut reader);
        let object = object.and_then(|object| reader.end().map(|()| object));
        object.map_err(|error| error.to_string().replace("line 1 column", "column"))
    }

    /// Adds a member with a plain value.
    pub fn add(&mut self, name: &str, given: Given<'a>, texts: &[String]) {
        if let Some(name) = key_name(name) {
            return self.keys.push((name, given.into_text().into_owned()));
        }
        self.says_something = true;
        match texts.first().is_some_and(|first| first == name) {
            true => join(&mut self.text, given.into_text()),
            false => self.fields.push((name.to_owned().into(), given)),
        }
    }

    /// Takes the key, which all members say that are one. A number is its digits, as they were
    /// written.
    pub(crate) fn take_key(&mut self) -> Result<Option<String>, KeyError> {
        if self.has_wrong_key {
            return Err(KeyError::Kind);
        }
        let Some((name, key)) = self.keys.pop() else { return Ok(None) };
        for (other, same) in &self.keys {
            if *other == name {
                return Err(KeyError::Several(format!("`{name}` is there twice")));
            }
            if *same != key {
                return Err(KeyError::Several(format!("`{other}` and `{name}` are not the same")));
            }
        }
        Ok(Some(key))
    }

    /// Takes the text: the first of these names that the object has. None if it says nothing but
    /// its key.
    pub(crate) fn take_text(&mut self, texts: &[String]) -> Option<Cow<'a, str>> {
        if let Some(text) = self.text.take() {
            return Some(text);
        }
        let is = |name: &str, (known, given): &Field<'_>| known == name && *given != Given::Object;
        let has = |name: &&String| self.fields.iter().any(|field| is(name, field));
        let Some(name) = texts.iter().find(has) else {
            return self.says_something.then(Cow::default);
        };
        let mut text = None;
        let (own, others) =
            std::mem::take(&mut self.fields).into_iter().partition(|field| is(name, field));
        self.fields = others;
        let own: Vec<Field<'a>> = own;
        own.into_iter().for_each(|(_, given)| join(&mut text, given.into_text()));
        text
    }
}

fn key_name(name: &str) -> Option<&'static str> {
    KEYS.into_iter().find(|known| *known == name)
}

/// Returns the text of a key in JSON; none if it is null.
fn key_of(json: &str) -> Result<Option<String>, KeyError> {
    match json.as_bytes() {
        b"null" => Ok(None),
        [b'"', ..] => serde_json::from_str(json).map(Some).map_err(|_| KeyError::Kind),
        [b'-' | b'0'..=b'9', ..] => Ok(Some(json.to_owned())),
        _ => Err(KeyError::Kind),
    }
}

/// Adds a line.
fn join<'a>(text: &mut Option<Cow<'a, str>>, more: Cow<'a, str>) {
    match text {
        None => *text = Some(more),
        Some(text) => {
            let text = text.to_mut();
            text.push('\n');
            text.push_str(&more);
        }
    }
}

/// Reads an object.
struct Members<'t> {
    /// The text has the first of these names, or one of the others.
    texts: &'t [String],
    /// True if no member is the key: all are fields.
    has_fields_only: bool,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Object<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Object<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Object<'de>, M::Error> {
        let mut object = Object::default();
        while let Some(name) = members.next_key_seed(Name)? {
            match key_name(&name).filter(|_| !self.has_fields_only) {
                Some(name) => match key_of(members.next_value::<&RawValue>()?.get()) {
                    Ok(key) => object.keys.extend(key.map(|key| (name, key))),
                    Err(_) => object.has_wrong_key = true,
                },
                None => {
                    object.says_something = true;
                    let Object { text, fields, .. } = &mut object;
                    let is_text = self.texts.first().is_some_and(|first| *first == *name);
                    let text = if is_text { Some(text) } else { None };
                    members.next_value_seed(Member { name, text, fields, is_in_array: false })?;
                }
            }
        }
        Ok(object)
    }
}

/// Borrowed where nothing is escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(name.into())
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(name.to_owned().into())
    }
}

/// Reads the values of a member, however deep.
struct Member<'m, 'de> {
    name: Cow<'de, str>,
    /// Where plain values go if it is the text.
    text: Option<&'m mut Option<Cow<'de, str>>>,
    fields: &'m mut Vec<Field<'de>>,
    /// It is a value of an array.
    is_in_array: bool,
}

impl<'de> Member<'_, 'de> {
    fn take(self, given: Given<'de>) {
        match self.text {
            Some(text) => join(text, given.into_text()),
            None => self.fields.push((self.name, given)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Member<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, yes: bool) -> Result<(), E> {
        self.take(Given::Boolean(yes));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.take(Given::Integer(number));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        // Beyond 63 bits its digits are exact, and a number with a point is not.
        let digits = |_| Given::Text(number.to_string().into());
        self.take(i64::try_from(number).map_or_else(digits, Given::Integer));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.take(Given::Float(number));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.take(Given::Text(text.to_owned().into()));
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.take(Given::Text(text.into()));
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut values: S) -> Result<(), S::Error> {
        let Member { name, mut text, fields, .. } = self;
        loop {
            let (name, text) = (name.clone(), text.as_deref_mut());
            let value = Member { name, text, fields, is_in_array: true };
            if values.next_element_seed(value)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        let Member { name, fields, is_in_array, .. } = self;
        if is_in_array {
            fields.push((name.clone(), Given::Object));
        }
        while let Some(member) = members.next_key_seed(Name)? {
            let name = format!("{name}.{member}").into();
            let member = Member { name, text: None, fields, is_in_array: false };
            members.next_value_seed(member)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(line: &str) -> Result<Object<'_>, String> {
        Object::read(line, &["text".to_owned()])
    }

    #[test]
    fn members_become_fields() {
        let line = r#"{"views": 3, "text": "a", "big": 18446744073709551615, "user": {"name": "b",
            "geo": {"lat": 1.5}}, "tags": ["x", null, ["y"], {"of": true}], "none": null, "id": 1}"#;
        let mut object = object(line).unwrap();
        assert_eq!(object.take_key(), Ok(Some("1".into())));
        let fields: Vec<_> = object.fields.iter().map(|(name, given)| (&**name, given)).collect();
        assert_eq!(
            fields,
            [
                ("views", &Given::Integer(3)),
                ("big", &Given::Text("18446744073709551615".into())),
                ("user.name", &Given::Text("b".into())),
                ("user.geo.lat", &Given::Float(1.5)),
                ("tags", &Given::Text("x".into())),
                ("tags", &Given::Text("y".into())),
                ("tags", &Given::Object),
                ("tags.of", &Given::Boolean(true)),
            ]
        );
        assert_eq!(object.text, Some("a".into()));
    }

    #[test]
    fn a_member_that_is_there_twice_is_an_array_at_every_depth() {
        for path in ["n", "o.n", "o.p.n"] {
            let twice = |value: &str| {
                let mut text = value.to_owned();
                for name in path.split('.').rev() {
                    text = match name {
                        "n" => text.replace('@', "n"),
                        _ => format!("\"{name}\":{{{text}}}"),
                    };
                }
                let object = format!("{{{text}}}");
                let fields = self::object(&object).unwrap().fields;
                fields.into_iter().map(into_owned).collect::<Vec<_>>()
            };
            let array = twice("\"@\":[1,\"a\",null,[2]]");
            assert_eq!(array, twice("\"@\":1,\"@\":\"a\",\"@\":null,\"@\":[2]"), "{path}");
            assert_eq!(array.len(), 3);
            assert!(array.iter().all(|(name, _)| name == path));
        }
        let text = |line| object(line).unwrap().text.unwrap_or_default();
        assert_eq!(text(r#"{"text":["a",null,7,["b\n"]]}"#), "a\n7\nb\n");
        assert_eq!(text(r#"{"text":"a","text":null,"text":7,"text":"b\n"}"#), "a\n7\nb\n");
        for key in ["key", "id"] {
            let line = format!("{{\"{key}\":\"a\",\"text\":\"b\",\"{key}\":\"a\"}}");
            let key = |line: &str| object(line).unwrap().take_key();
            assert!(
                matches!(key(&line), Err(KeyError::Several(why)) if why.contains("is there twice"))
            );
            assert_eq!(key(&line.replacen("\"a\"", "null", 1)), Ok(Some("a".into())));
        }
    }

    #[test]
    fn a_key_is_what_was_written_and_one_key() {
        let key = |line: &str| object(line).unwrap().take_key();
        for digits in ["0", "36893488147419103233", "1.0", "-0", "1e3", "100000000000000000000000"]
        {
            assert_eq!(key(&format!("{{\"id\": {digits}}}")), Ok(Some(digits.into())));
        }
        assert_eq!(key(r#"{"_id": "a\u0062"}"#), Ok(Some("ab".into())));
        assert_eq!(key(r#"{"key": 7, "id": "7", "_id": 7}"#), Ok(Some("7".into())));
        let several = |line: &str| matches!(key(line), Err(KeyError::Several(_)));
        assert!(several(r#"{"key": 7, "id": 8}"#) && several(r#"{"_id": "7", "id": 7.0}"#));
        for wrong in ["true", "[1]", "{}"] {
            assert_eq!(key(&format!("{{\"_id\": {wrong}}}")), Err(KeyError::Kind));
        }
    }
}
