//! How many fields there may be.

/// Fields of a schema, the text included.
pub const FIELDS_MAX: usize = 255;
/// Those of them that are text, it included.
pub const TEXT_FIELDS_MAX: usize = 16;
