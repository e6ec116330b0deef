//! Limits of the number of fields.

/// The most fields of a schema, with the text.
pub const FIELDS_MAX: usize = 255;
/// The most text fields of a schema, with the text.
pub const TEXT_FIELDS_MAX: usize = 16;
