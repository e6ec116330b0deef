//! What of a document's fields cannot be taken, and why.

use std::error::Error;
use std::fmt;

use crate::kind::FieldKind;
use crate::limits::{FIELDS_MAX, TEXT_FIELDS_MAX};
use crate::value::Value;
use crate::{KEYWORD_BYTES_MAX, NAME_BYTES_MAX, VALUES_MAX};

/// A field of a document, or of a schema, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldError {
    /// The schema has no such field, and takes no new ones.
    Unknown {
        /// The field.
        field: String,
        /// Its value in the document.
        value: String,
    },
    /// The value is not one of the field's kind.
    Misfit {
        /// The field.
        field: String,
        /// Its kind.
        kind: FieldKind,
        /// Its value in the document.
        value: String,
    },
    /// A value of a keyword field is longer than a term.
    KeywordTooLong {
        /// The field.
        field: String,
        /// Bytes of the value.
        bytes: usize,
    },
    /// No field can have this name.
    Name {
        /// The name.
        field: String,
    },
    /// The name is what every document has on its own.
    Reserved {
        /// The name.
        field: String,
    },
    /// There is such a field, of another kind.
    Known {
        /// The field.
        field: String,
        /// The kind that it has.
        kind: FieldKind,
    },
    /// The schema has as many fields as it can have.
    TooManyFields {
        /// The one that is too many.
        field: String,
    },
    /// The schema has as many fields of text as it can have.
    TooManyTextFields {
        /// The one that is too many.
        field: String,
    },
    /// The fields of a document have more values than they may have.
    TooManyValues {
        /// How many.
        values: usize,
    },
}

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// A value as an error shows it.
pub(crate) fn shown(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => {
            let mut shown: String = text.chars().take(SHOWN).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            format!("\"{}\"", shown.escape_debug())
        }
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Time(time) => crate::format_time(time),
        Value::Boolean(yes) => yes.to_string(),
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldError::Unknown { field, value } => write!(
                f,
                "field {field:?} (here {value}) is not in the schema, which is strict: add it, or leave it out"
            ),
            FieldError::Misfit { field, kind, value } => {
                write!(f, "field {field:?} holds values of kind {kind}, which {value} is not")
            }
            FieldError::KeywordTooLong { field, bytes } => write!(
                f,
                "a value of {bytes} bytes in the keyword field {field:?}: at most {KEYWORD_BYTES_MAX}; make it a field of text"
            ),
            FieldError::Name { field } => write!(
                f,
                "no field can be called {field:?}: a name has letters, digits and _ - . @, begins with a letter or @, and has \
                 at most {NAME_BYTES_MAX} bytes"
            ),
            FieldError::Reserved { field } => {
                write!(
                    f,
                    "no field can be called {field:?}: every document has a field of that name"
                )
            }
            FieldError::Known { field, kind } => {
                write!(f, "field {field:?} is there, and its kind is {kind}")
            }
            FieldError::TooManyFields { field } => {
                write!(f, "no room for field {field:?}: a schema has at most {FIELDS_MAX} fields")
            }
            FieldError::TooManyTextFields { field } => write!(
                f,
                "no room for field {field:?}: a schema has at most {TEXT_FIELDS_MAX} fields of text; make it a keyword field"
            ),
            FieldError::TooManyValues { values } => write!(
                f,
                "the document's fields have {values} values: at most {VALUES_MAX}; split it"
            ),
        }
    }
}

impl Error for FieldError {}
