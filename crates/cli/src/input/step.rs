//! What a source gives, piece by piece.

use crate::format::Format;

/// A line without its ending.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Bytes(&'a [u8]),
    /// It was longer than wanted, and was passed over.
    TooLong,
    /// The source ends within the array whose records came before.
    Unclosed,
}

/// The next piece of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// Before all records: their format, and the line with the names of columns.
    Begin(Format, &'a [u8]),
    /// A record with the number of its first line, from 1.
    Record(u64, Line<'a>),
    /// Nothing more is there yet: the next step waits for it.
    Pause,
    End,
}
