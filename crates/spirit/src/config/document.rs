//! Documents with fields, as given to an index.

use spirit_schema::Value;

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

    /// Returns the bytes of the text, and of the fields' texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let texts = self.fields.iter().map(|(_, value)| match value {
            Value::Text(text) => text.len(),
            _ => 0,
        });
        self.text.len() + texts.sum::<usize>()
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
