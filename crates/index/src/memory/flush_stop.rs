//! The reasons why the flush stage stops.

use crate::terms::dictionary_writer::DictionaryFull;

/// The reason why a flush cannot continue now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushStop {
    /// A partition has no room for the segment's arrays.
    HeapFull,
    /// The second tier has no room for the terms of segments that are not merged. Merging makes
    /// room.
    TermsFull,
    /// The dictionary has no room.
    DictionaryFull,
    /// The data to read is damaged. The step makes nothing from it.
    Damaged,
}

impl From<DictionaryFull> for FlushStop {
    fn from(_: DictionaryFull) -> Self {
        FlushStop::DictionaryFull
    }
}
