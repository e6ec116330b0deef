//! Documents with fields: as given to an index, and as an index returns them.

use spirit_index::ground::values::ValueKind;
use spirit_schema::{FieldId, FieldValue, Schema, Value, encoded};

/// A document to be added to an index: key, text, fields.
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
    /// The most bytes of a document, unless
    /// [`document_bytes_max`](crate::Builder::document_bytes_max) sets another limit.
    pub const BYTES_MAX: usize = crate::config::options::DOCUMENT_BYTES_MAX;

    /// Returns a document with an automatic key, an empty text and no fields.
    pub fn new() -> Document<'a> {
        Document::default()
    }

    /// Sets the key, of 1 to 512 bytes. The document replaces an earlier one with this key.
    pub fn key(mut self, key: &'a str) -> Document<'a> {
        self.key = Some(key);
        self
    }

    /// Sets the text.
    pub fn text(mut self, text: &'a str) -> Document<'a> {
        self.text = text;
        self
    }

    /// Appends a value of a field. A field that is given several times has several values.
    pub fn field(mut self, name: &'a str, value: impl Into<Value<'a>>) -> Document<'a> {
        self.fields.push((name, value.into()));
        self
    }
}

impl<'a> Document<'a> {
    /// Sets a place from which the text can be read again: a file and an offset in it, for example.
    ///
    /// A place is at most 64 bytes of the application's own. The log holds it instead of the text,
    /// until the document's segment is in the second tier. A start that finds the place in the log
    /// asks the index's [source](crate::Builder::source). It fails if the text is gone.
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

/// Converts a key, if there is one, and a text.
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

/// A document as returned by an index that [stores](crate::Builder::store) documents.
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
    /// Returns the text or keyword; none for other values.
    pub fn as_str(&self) -> Option<&str> {
        if let StoredValue::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the whole number; none for other values.
    pub fn as_i64(&self) -> Option<i64> {
        if let StoredValue::Integer(number) = self { Some(*number) } else { None }
    }

    /// Returns the number, converted from a whole number if needed; none for other values.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            StoredValue::Float(number) => Some(number),
            StoredValue::Integer(number) => Some(number as f64),
            _ => None,
        }
    }

    /// Returns the boolean; none for other values.
    pub fn as_bool(&self) -> Option<bool> {
        if let StoredValue::Boolean(yes) = self { Some(*yes) } else { None }
    }

    /// Returns the moment in milliseconds since 1970; none for other values.
    pub fn as_time(&self) -> Option<i64> {
        if let StoredValue::Time(ms) = self { Some(*ms) } else { None }
    }

    /// Decodes a value of a fixed size; none for texts and keywords.
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
    /// Returns the first value of a field; none if the field has no values.
    pub fn get(&self, field: &str) -> Option<&StoredValue> {
        self.values(field).next()
    }

    /// Iterates over the values of a field, in the order in which they were given.
    pub fn values(&self, field: &str) -> impl Iterator<Item = &StoredValue> {
        self.fields.iter().filter(move |(name, _)| name == field).map(|(_, value)| value)
    }

    /// Decodes stored bytes; none if they do not match `schema`.
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
