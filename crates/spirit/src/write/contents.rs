//! The contents and the name of a document that is being added.

use spirit_index::fresh::KEY_BYTES_MAX;

use crate::config::document::Document;
use crate::config::error::WriteError;

/// The name of a document that is being added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Called<'a> {
    /// The key that the caller chose.
    By(&'a str),
    /// The number of documents accepted before. It is drawn with the batch, for an index with one
    /// executor.
    Next,
    /// A number that was drawn before, since it decides the executor.
    Number(u64),
}

impl Called<'_> {
    /// Returns an error if the key that the caller chose can be no key.
    pub(crate) fn check(self) -> Result<(), WriteError> {
        match self {
            Called::By(key) if key.is_empty() || key.len() > KEY_BYTES_MAX => {
                Err(WriteError::Key { bytes: key.len() })
            }
            _ => Ok(()),
        }
    }
}

/// The numbers of a document that were drawn before it was collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub(crate) sequence: u64,
    /// The document's number, or one between those of its neighbours.
    pub(crate) number: u64,
}

impl<'a> From<Option<&'a str>> for Called<'a> {
    fn from(key: Option<&'a str>) -> Called<'a> {
        key.map_or(Called::Next, Called::By)
    }
}

/// The contents of a document, without its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) text: &'a str,
    /// The values of its fields, [encoded](spirit_schema::encoded).
    pub(crate) fields: &'a [u8],
    /// The place where the text can be read again, if the log need not hold it.
    pub(crate) place: Option<&'a [u8]>,
}

impl<'a> Contents<'a> {
    /// Returns the contents of a document with encoded fields.
    #[inline]
    pub(crate) fn of(document: &Document<'a>, fields: &'a [u8]) -> Contents<'a> {
        Contents { text: document.text, fields, place: document.place }
    }

    /// Returns contents with only a text.
    #[inline(always)]
    pub(crate) fn text(text: &'a str) -> Contents<'a> {
        Contents { text, fields: &[], place: None }
    }
}
