//! Errors of fields and their values.

use std::error::Error;
use std::fmt;

use crate::kind::FieldKind;
use crate::limits::{FIELDS_MAX, TEXT_FIELDS_MAX};
use crate::value::Value;
use crate::{KEYWORD_BYTES_MAX, NAME_BYTES_MAX, VALUES_MAX};

/// A field of a document, or of a schema, was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldError {
    /// The schema has no such field, and adds none.
    Unknown {
        /// The name of the field.
        field: String,
        /// Its value in the document.
        value: String,
    },
    /// The value does not fit the field's kind.
    Misfit {
        /// The name of the field.
        field: String,
        /// The kind of the field.
        kind: FieldKind,
        /// Its value in the document.
        value: String,
    },
    /// A value of a keyword field is longer than a term may be.
    KeywordTooLong {
        /// The name of the field.
        field: String,
        /// The length of the value, in bytes.
        bytes: usize,
    },
    /// The name is not valid for a field.
    Name {
        /// The name that was refused.
        field: String,
    },
    /// The name is reserved: every document has a field of that name.
    Reserved {
        /// The name that was refused.
        field: String,
    },
    /// The schema has this field with another kind.
    Known {
        /// The name of the field.
        field: String,
        /// The kind of the field in the schema.
        kind: FieldKind,
    },
    /// No kind of field has this name.
    UnknownKind {
        /// The name that was given.
        name: String,
    },
    /// The schema has the largest number of fields.
    TooManyFields {
        /// The name of the field that was not added.
        field: String,
    },
    /// The schema has the largest number of text fields.
    TooManyTextFields {
        /// The name of the field that was not added.
        field: String,
    },
    /// The fields of a document have too many values.
    TooManyValues {
        /// The number of values.
        values: usize,
    },
}

/// The most characters of a value that an error shows.
const SHOWN: usize = 80;

/// Formats a value for an error.
pub(crate) fn shown(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => {
            let mut shown: String = text.chars().take(SHOWN).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            format!("\"{}\"", shown.escape_debug())
        }
        value => whole(value),
    }
}

/// Formats a value as text.
pub(crate) fn whole(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Time(time) => crate::format_time(time),
        Value::Boolean(yes) => yes.to_string(),
        Value::Object => "an object".to_owned(),
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldError::Unknown { field, value } => write!(
                f,
                "field {field:?} (value {value}) is not in the schema, which is strict; add it to \
                 the schema, or leave it out"
            ),
            FieldError::Misfit { field, kind, value } => {
                write!(f, "field {field:?} holds values of kind {kind}; {value} is not one")
            }
            FieldError::KeywordTooLong { field, bytes } => write!(
                f,
                "a value of {bytes} bytes in the keyword field {field:?}: the limit is \
                 {KEYWORD_BYTES_MAX} bytes; make it a field of text"
            ),
            FieldError::Name { field } => write!(
                f,
                "no field can be called {field:?}: a name has 1 to {NAME_BYTES_MAX} bytes, and no \
                 control characters"
            ),
            FieldError::Reserved { field } => {
                write!(
                    f,
                    "no field can be called {field:?}: every document has a field of that name"
                )
            }
            FieldError::Known { field, kind } => {
                write!(f, "field {field:?} exists already, with kind {kind}")
            }
            FieldError::UnknownKind { name } => write!(
                f,
                "no kind of field is called \"{}\"; choose one of text, text(ANALYZER), keyword, integer, float, time, \
                 time(seconds), time(milliseconds), time(microseconds), time(nanoseconds), boolean",
                name.escape_debug()
            ),
            FieldError::TooManyFields { field } => {
                write!(f, "no room for field {field:?}: a schema has at most {FIELDS_MAX} fields")
            }
            FieldError::TooManyTextFields { field } => write!(
                f,
                "no room for field {field:?}: a schema has at most {TEXT_FIELDS_MAX} fields of text; make it a keyword field"
            ),
            FieldError::TooManyValues { values } => write!(
                f,
                "the document's fields have {values} values: the limit is {VALUES_MAX} values; \
                 split it"
            ),
        }
    }
}

impl Error for FieldError {}
