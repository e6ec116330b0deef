//! Limits of the number of fields, and of their list.

use spirit_index::form::field_list;
use spirit_index::ground;

/// The most fields of a schema, with the text and without [the field of what is
/// beyond](crate::MORE).
pub const FIELDS_MAX: usize = 1024;
/// The most text fields of a schema, likewise.
pub const TEXT_FIELDS_MAX: usize = 128;
// The text is no column, and the field of what is beyond is one.
const _: () = assert!(FIELDS_MAX <= ground::FIELDS_MAX as usize);
const _: () = assert!(FIELDS_MAX <= ground::FieldId::MAX.0 as usize);
const _: () = assert!(TEXT_FIELDS_MAX <= ground::TEXT_FIELDS_MAX as usize);
/// The bit of a number that tells a text field's keywords from its words.
pub(crate) const KEYWORDS: u16 = 1 << 11;
const _: () = assert!(FIELDS_MAX < KEYWORDS as usize);
const _: () = assert!(2 * KEYWORDS - 1 <= ground::FieldId::MAX.0);
/// The longest list of fields, in bytes, with the field of what is beyond.
pub(crate) const LIST_BYTES_MAX: usize = field_list::LIST_BYTES_MAX as usize;

/// Returns the bytes that a field takes in the list.
pub(crate) fn list_bytes(name: &str) -> usize {
    3 + name.len()
}
