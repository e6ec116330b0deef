//! The posting word, and the numbering of documents in a segment.
//!
//! A segment numbers its rows from 0 in arrival order (*local ids*). Queries walk from the newest
//! row to the oldest. So postings have the *rank*, which counts the other way: the larger the local
//! id, the smaller the rank. A list that is read newest first is then an ascending run. So every
//! textbook algorithm (and vector kernel) for ascending lists applies unchanged, early stop
//! included.
//!
//! Word: rank in the high 24 bits, frequency in the low 8, saturated at [`FREQUENCY_MAX`].

/// The largest local id of a posting. A fresh segment stops before it, so that none of its postings
/// has rank 0.
pub const LOCAL_MAX: u32 = (1 << 24) - 1;

/// Frequencies are exact below this value. At this value, the document vector has the exact count.
pub const FREQUENCY_MAX: u32 = 255;

/// Returns the rank of a local id. The function is its own inverse.
#[inline(always)]
pub const fn rank_of(local: u32) -> u32 {
    LOCAL_MAX - local
}

/// Returns the posting word of a row's first occurrence.
#[inline(always)]
pub const fn posting(local: u32) -> u32 {
    rank_of(local) << 8 | 1
}

/// Returns the rank in a posting word.
#[inline(always)]
pub const fn rank(word: u32) -> u32 {
    word >> 8
}

/// Returns the local id in a posting word.
#[inline(always)]
pub const fn local(word: u32) -> u32 {
    rank_of(word >> 8)
}

/// Returns the frequency in a posting word, saturated at [`FREQUENCY_MAX`].
#[inline(always)]
pub const fn frequency(word: u32) -> u32 {
    word & FREQUENCY_MAX
}
