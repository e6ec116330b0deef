//! Fields of documents: their names, kinds and values.
//!
//! A [`Schema`] is a list that only grows. A field keeps its number and its [kind](FieldKind) for
//! the life of the index. So a field's number, in terms, values or the log, never changes its
//! meaning.
//!
//! A document's fields are checked against the schema once, when it is added. They become [encoded]
//! values with the fields' numbers. Those values are logged, stored and cut into terms. Names are
//! not looked up again.
#![forbid(unsafe_code)]

mod arrays;
mod bytes;
mod calendar;
pub mod encoded;
mod error;
mod kind;
mod kind_name;
mod limits;
mod list;
mod name;
mod schema;
mod time;
mod typed;
mod value;

pub use arrays::{
    ARRAYS_MAX, MemberValue, OBJECT_GAP, SEVERAL, is_member, read_member, write_member,
};
pub use calendar::Calendar;
pub use error::FieldError;
pub use kind::{FieldKind, TimeUnit};
pub use limits::{FIELDS_MAX, TEXT_FIELDS_MAX};
pub use list::MalformedList;
pub use schema::{AS_KEYWORD, Field, MORE, SOURCE, Schema, TEXT};
pub use spirit_index::ground::FieldId;
pub use time::{format_time, parse_time};
pub use typed::{everything, typed};
pub use value::{FieldValue, Value};

/// The longest name of a field, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// The longest value of a keyword field, in bytes. It is one term.
pub const KEYWORD_BYTES_MAX: usize = spirit_index::ground::TERM_BYTES_MAX;
/// The most values of the fields of one document.
pub const VALUES_MAX: usize = 4096;
