//! Why the flush stage cannot go on.

use crate::terms::dictionary_writer::DictionaryFull;

/// Why a flush cannot go on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushStop {
    /// A partition has no room for the segment's arrays.
    HeapFull,
    /// The second tier has no room for the terms of segments that are not merged: merging makes some.
    TermsFull,
    /// The dictionary has no room.
    DictionaryFull,
    /// What was to be read is damaged: nothing is made of it.
    Damaged,
}

impl From<DictionaryFull> for FlushStop {
    fn from(_: DictionaryFull) -> Self {
        FlushStop::DictionaryFull
    }
}
