//! What a source gives, piece by piece.

use super::tracked::Mark;
use crate::format::Format;

/// A line without its ending.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Bytes(&'a [u8]),
    /// It was longer than wanted, and was passed over.
    TooLong,
    /// The source ends within the array whose records came before.
    Unclosed,
    /// It cannot be read, for this reason.
    Damaged(&'a str),
}

impl<'a> Line<'a> {
    /// Its bytes, if it has any.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        if let Line::Bytes(bytes) = self { bytes } else { b"" }
    }
}

/// The next piece of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// Before all records: their format, and the line with the names of columns.
    Begin(Format, &'a [u8]),
    /// A record with the number of its first line, from 1.
    Record(u64, Line<'a>),
    /// The last record, where places are wanted, if its line has no ending: more of it may come. And
    /// the place before it.
    Unfinished(u64, Line<'a>, Option<Mark>),
    /// Nothing more is there yet: the next step waits for it.
    Pause,
    End,
}
