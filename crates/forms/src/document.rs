//! A document as it was read: its key, its text, and the values of its fields.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use spirit::schema;

use crate::object::{Field, KeyError, Object};

/// Names of the member that is the text, unless a document has `text`.
pub const TEXTS: [&str; 6] = ["message", "msg", "body", "content", "log", "title"];

/// A document as it was read. Without a key it gets its number.
#[derive(Debug, PartialEq)]
pub struct Document<'a> {
    /// The key.
    pub key: Option<Cow<'a, str>>,
    /// The text.
    pub text: Cow<'a, str>,
    /// The fields: a name and a value each. A field with several values is there several times.
    pub fields: Vec<Field<'a>>,
}

/// The reason why an object is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDocument {
    /// It is malformed, or has nothing but a key.
    Json(String),
    /// Its key is no string and no number.
    Key,
    /// It has several keys.
    KeyTwice(String),
}

impl fmt::Display for NoDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoDocument::Json(reason) => write!(f, "malformed JSON: {reason}"),
            NoDocument::Key => f.write_str("expected a string or a number as the key"),
            NoDocument::KeyTwice(reason) => write!(f, "{reason}; a document has one key"),
        }
    }
}

impl Error for NoDocument {}

impl<'a> Document<'a> {
    /// Reads a document from an object of JSON. Its text is the first of the names `texts` that it
    /// has.
    pub fn of_json(json: &'a str, texts: &[String]) -> Result<Document<'a>, NoDocument> {
        let object = Object::read(json, texts).map_err(NoDocument::Json)?;
        Document::of_object(object, texts)
    }

    /// Reads a document whose text is its source, for an index with
    /// [opaque texts](spirit::Builder::opaque_text). All members but the key are fields.
    pub fn of_source(json: &'a str) -> Result<Document<'a>, NoDocument> {
        let mut object = Object::read(json, &[]).map_err(NoDocument::Json)?;
        let key = key_of(&mut object)?;
        Ok(Document { key, text: json.into(), fields: object.fields })
    }

    /// Makes a document of an object. Its text is the first of the names `texts` that it has.
    pub fn of_object(mut object: Object<'a>, texts: &[String]) -> Result<Document<'a>, NoDocument> {
        let key = key_of(&mut object)?;
        let Some(text) = object.take_text(texts) else {
            return Err(NoDocument::Json("missing field `text`".to_owned()));
        };
        Ok(Document { key, text, fields: object.fields })
    }

    /// Returns the document as the engine takes it.
    pub fn to_add(&self) -> spirit::Document<'_> {
        let document = spirit::Document::new().text(&self.text);
        let document = match &self.key {
            Some(key) => document.key(key),
            None => document,
        };
        let fields = self.fields.iter();
        fields.fold(document, |document, (name, given)| document.field(name, given.value()))
    }
}

/// Takes the key of an object.
fn key_of(object: &mut Object<'_>) -> Result<Option<Cow<'static, str>>, NoDocument> {
    let key = object.take_key().map_err(|error| match error {
        KeyError::Kind => NoDocument::Key,
        KeyError::Several(reason) => NoDocument::KeyTwice(reason),
    });
    Ok(key?.map(Cow::from))
}

/// Returns the names of the text: those that were `asked` for and `text`. If none was asked for,
/// usual names follow that are none of the index's `fields`.
pub fn text_names(asked: &[String], fields: &[schema::Field]) -> Vec<String> {
    let is_free = |name: &&&str| fields.iter().all(|field| *field.name != ***name);
    let guessed = TEXTS.iter().filter(is_free).filter(|_| asked.is_empty());
    let texts = asked.iter().cloned().chain(["text".to_owned()]);
    texts.chain(guessed.map(|name| (*name).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use spirit::{Index, Search};

    use super::*;

    #[test]
    fn an_object_goes_in_as_it_was_written() {
        let index = Index::builder().dram_bytes(64 << 20).store(true).open().unwrap();
        let texts = text_names(&[], index.schema().fields());
        let json = r#"{"id": "a", "msg": "b c", "n": [1, 2.5], "ok": true, "o": [{"p": "q"}]}"#;
        let document = Document::of_json(json, &texts).unwrap();
        index.add(document.to_add()).unwrap();
        let mut reader = index.reader().unwrap();
        let hits = reader.search("ok:true AND o.p:q AND n:2.5", Search::newest(1)).unwrap();
        let hit = hits.get(0).unwrap();
        assert_eq!((&*hit.key().unwrap(), hit.text().unwrap()), ("a", "b c"));
    }

    #[test]
    fn what_is_no_document_has_a_reason() {
        let texts = ["text".to_owned()];
        let reason = |json| Document::of_json(json, &texts).unwrap_err().to_string();
        assert_eq!(reason("[]"), "malformed JSON: expected an object");
        assert_eq!(reason(r#"{"id": 1}"#), "malformed JSON: missing field `text`");
        assert_eq!(reason(r#"{"id": true}"#), "expected a string or a number as the key");
        let twice = reason(r#"{"id": 1, "key": 2, "text": ""}"#);
        assert!(twice.ends_with("are not the same; a document has one key"), "{twice}");
    }
}
