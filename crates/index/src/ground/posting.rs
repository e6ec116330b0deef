//! The posting word, and how documents are numbered inside a segment.
//!
//! A segment numbers its rows from 0 in arrival order (*local ids*). Queries walk from the newest row to the
//! oldest, so postings carry the *rank*, which counts the other way: the larger the local id, the smaller
//! the rank. A list that is read newest first is then an ascending run, and every textbook algorithm (and
//! vector kernel) for ascending lists applies as it stands, early stop included.
//!
//! Word: rank in the high 24 bits, frequency in the low 8, saturated at [`FREQUENCY_MAX`].

/// The largest local id that a posting can name. A fresh segment stops before it, so that no posting of its has
/// rank 0.
pub const LOCAL_MAX: u32 = (1 << 24) - 1;

/// Frequencies are exact below this; at it, the document vector has the exact count.
pub const FREQUENCY_MAX: u32 = 255;

/// The rank of a local id. Its own inverse.
#[inline(always)]
pub const fn rank_of(local: u32) -> u32 {
    LOCAL_MAX - local
}

/// The posting word of a row's first occurrence.
#[inline(always)]
pub const fn posting(local: u32) -> u32 {
    rank_of(local) << 8 | 1
}

/// The rank in a posting word.
#[inline(always)]
pub const fn rank(word: u32) -> u32 {
    word >> 8
}

/// The local id in a posting word.
#[inline(always)]
pub const fn local(word: u32) -> u32 {
    rank_of(word >> 8)
}

/// The frequency in a posting word, saturated at [`FREQUENCY_MAX`].
#[inline(always)]
pub const fn frequency(word: u32) -> u32 {
    word & FREQUENCY_MAX
}
