//! How many fields an index has at most. Sizes of memory follow from it.

/// Number of 64-bit words of the [line of newest rows](crate::fresh::field_lengths): fields of text at
/// most, without the text.
pub const NEWEST_WORDS: u64 = 128;
/// Fields at most, without the text: the columns of a segment.
pub const FIELDS_MAX: u64 = 1024;
