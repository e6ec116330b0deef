//! The memory of a desk for the [clauses](super::clauses) of its questions.

use std::cell::RefCell;

use spirit_query::KeptClauses;

/// Words of the longest key.
const KEY_WORDS: usize = 512;

/// The memory of a desk for clauses.
pub(super) struct ClauseMemory {
    pub(super) clauses: KeptClauses,
    pub(super) room: RefCell<ClauseRoom>,
}

/// Room for a key and a value.
#[derive(Debug)]
pub(super) struct ClauseRoom {
    pub(super) key: Vec<u64>,
    pub(super) value: Vec<u64>,
}

impl ClauseMemory {
    /// Reserves memory for segments of at most this many rows.
    pub(super) fn new(rows_max: u32) -> ClauseMemory {
        // No value is longer than a bitmap.
        let words = rows_max.div_ceil(64) as usize + 3;
        let room =
            ClauseRoom { key: Vec::with_capacity(KEY_WORDS), value: Vec::with_capacity(words) };
        ClauseMemory { clauses: KeptClauses::with_room(), room: RefCell::new(room) }
    }
}
