//! A document with fields: as it is given, and as it is given back.

use spirit_index::ground::values::ValueKind;
use spirit_schema::{FieldId, FieldValue, Schema, Value, encoded};

/// A document on its way into an index.
///
/// ```
/// use spirit::{Document, Index};
///
/// let index = Index::builder().dram_bytes(64 << 20).open()?;
/// let document = Document::new()
///     .key("moby")
///     .text("Call me Ishmael")
///     .field("title", "The Whale")
///     .field("year", 1851)
///     .field("tag", "sea")
///     .field("tag", "whales"); // several values of one field
/// index.add(&document)?;
/// assert_eq!(index.schema().by_name("year").unwrap().kind.to_string(), "integer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document<'a> {
    pub(crate) key: Option<&'a str>,
    pub(crate) text: &'a str,
    pub(crate) fields: Vec<(&'a str, Value<'a>)>,
    pub(crate) place: Option<&'a [u8]>,
}

impl<'a> Document<'a> {
    /// A document with an automatic key, an empty text and no fields.
    pub fn new() -> Document<'a> {
        Document::default()
    }

    /// The same under a key of its own: it replaces the document that has this key.
    pub fn key(mut self, key: &'a str) -> Document<'a> {
        self.key = Some(key);
        self
    }

    /// The same with this text.
    pub fn text(mut self, text: &'a str) -> Document<'a> {
        self.text = text;
        self
    }

    /// The same with one more value of a field. A field that is given several times has several values.
    pub fn field(mut self, name: &'a str, value: impl Into<Value<'a>>) -> Document<'a> {
        self.fields.push((name, value.into()));
        self
    }
}

impl<'a> Document<'a> {
    /// The same, whose text can be read again at `place`: at most 64 bytes of the application's own, a file and an offset in it
    /// for example. The log holds these instead of the text, until the document's segment is in the second tier. A start that
    /// finds the place in the log asks the index's [source](crate::Builder::source), and fails if the text is gone.
    pub fn place(mut self, place: &'a [u8]) -> Document<'a> {
        self.place = Some(place);
        self
    }
}

impl<'a> From<&'a str> for Document<'a> {
    #[inline]
    fn from(text: &'a str) -> Document<'a> {
        Document { text, ..Document::default() }
    }
}

impl<'a> From<&'a String> for Document<'a> {
    fn from(text: &'a String) -> Document<'a> {
        Document::from(text.as_str())
    }
}

/// A key, if there is one, and a text.
impl<'a> From<(Option<&'a str>, &'a str)> for Document<'a> {
    #[inline]
    fn from((key, text): (Option<&'a str>, &'a str)) -> Document<'a> {
        Document { key, text, ..Document::default() }
    }
}

impl<'a> From<&Document<'a>> for Document<'a> {
    fn from(document: &Document<'a>) -> Document<'a> {
        document.clone()
    }
}

/// A document as an index that [stores](crate::Builder::store) documents gives it back.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// Its text, as it was given.
    pub text: String,
    /// The values of its fields with the fields' names, in the order in which they were given.
    pub fields: Vec<(String, StoredValue)>,
}

/// A value of a stored document.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredValue {
    /// Text: of a field of text, or of keywords.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A moment, in milliseconds since 1970.
    Time(i64),
    /// Yes or no.
    Boolean(bool),
}

impl StoredValue {
    /// Returns the text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let StoredValue::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number, if it is a whole one.
    pub fn as_i64(&self) -> Option<i64> {
        if let StoredValue::Integer(number) = self { Some(*number) } else { None }
    }

    /// Returns the number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            StoredValue::Float(number) => Some(number),
            StoredValue::Integer(number) => Some(number as f64),
            _ => None,
        }
    }

    /// Returns the truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let StoredValue::Boolean(yes) = self { Some(*yes) } else { None }
    }

    /// Returns the moment in milliseconds since 1970, if it is one.
    pub fn as_time(&self) -> Option<i64> {
        if let StoredValue::Time(ms) = self { Some(*ms) } else { None }
    }

    /// The value with these bits, if it is one of its own and no part of a text.
    pub(crate) fn from_bits(kind: ValueKind, bits: u64) -> Option<StoredValue> {
        match kind {
            ValueKind::Text | ValueKind::Keyword => None,
            ValueKind::Integer => Some(StoredValue::Integer(bits.cast_signed())),
            ValueKind::Float => Some(StoredValue::Float(f64::from_bits(bits))),
            ValueKind::Time => Some(StoredValue::Time(bits.cast_signed())),
            ValueKind::Boolean => Some(StoredValue::Boolean(bits != 0)),
        }
    }
}

impl StoredDocument {
    /// Returns the first value of a field, if the document has one.
    pub fn get(&self, field: &str) -> Option<&StoredValue> {
        self.values(field).next()
    }

    /// Iterates over the values of a field, in the order in which they were given.
    pub fn values(&self, field: &str) -> impl Iterator<Item = &StoredValue> {
        self.fields.iter().filter(move |(name, _)| name == field).map(|(_, value)| value)
    }

    /// What these stored bytes are; none if they are not what `schema` lets be stored.
    pub(crate) fn read(stored: &[u8], schema: &Schema) -> Option<StoredDocument> {
        let (text, values) = encoded::split(stored);
        let text = std::str::from_utf8(text).ok()?.to_owned();
        let mut fields = Vec::new();
        let is_whole = encoded::is_whole(values, |(id, value)| {
            let named = name_of(schema, id).map(|name| (name, StoredValue::from(value)));
            fields.extend(named);
            schema.get(id).is_some()
        });
        is_whole.then_some(StoredDocument { text, fields })
    }
}

fn name_of(schema: &Schema, id: FieldId) -> Option<String> {
    schema.get(id).map(|field| field.name.clone())
}

impl From<FieldValue<'_>> for StoredValue {
    fn from(value: FieldValue<'_>) -> StoredValue {
        match value {
            FieldValue::Text(text) | FieldValue::Keyword(text) => {
                StoredValue::Text(text.to_owned())
            }
            FieldValue::Integer(number) => StoredValue::Integer(number),
            FieldValue::Float(number) => StoredValue::Float(number),
            FieldValue::Time(time) => StoredValue::Time(time),
            FieldValue::Boolean(yes) => StoredValue::Boolean(yes),
        }
    }
}
