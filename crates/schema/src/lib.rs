//! The fields of documents: which there are, of which kind, and what values fit them.
//!
//! A [`Schema`] is a list that only grows: a field keeps its number and its [kind](FieldKind) for the life of the index, so
//! whatever names a field by its number (terms, values, the log) means the same for ever. What a document says of its
//! fields is checked against it once, when the document comes, and becomes [encoded] values that name fields by
//! number. Those are logged, stored and cut into terms as they are; nobody looks at names again.
#![forbid(unsafe_code)]

mod bytes;
mod calendar;
pub mod encoded;
mod error;
mod kind;
mod limits;
mod list;
mod name;
mod schema;
mod time;
mod typed;
mod value;

pub use calendar::Calendar;
pub use error::FieldError;
pub use kind::{FieldKind, TimeUnit, UnknownKind};
pub use limits::{FIELDS_MAX, TEXT_FIELDS_MAX};
pub use list::MalformedList;
pub use schema::{Field, Schema, TEXT};
pub use spirit_index::ground::term::FieldId;
pub use time::{format_time, parse_time};
pub use typed::{everything, typed};
pub use value::{FieldValue, Value};

/// Longest name of a field, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Longest value of a keyword field, in bytes: it is one term.
pub const KEYWORD_BYTES_MAX: usize = spirit_index::ground::term::TERM_BYTES_MAX;
/// Values that the fields of one document may have.
pub const VALUES_MAX: usize = 4096;
