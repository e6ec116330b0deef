//! How many fields an index has at most. Sizes of memory follow from it.

/// Number of 64-bit words of the [line of newest rows](crate::fresh::field_lengths): fields of text at
/// most, without the text.
pub const NEWEST_WORDS: u64 = 128;
/// Fields at most, without the text.
pub const FIELDS_MAX: u64 = 1024;
/// Columns of a segment at most. A field of text may have two, of its lengths and its keywords.
pub(crate) const COLUMNS_MAX: u64 = FIELDS_MAX + NEWEST_WORDS;
