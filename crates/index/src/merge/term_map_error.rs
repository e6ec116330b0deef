//! What may be wrong with a map of terms.

use std::fmt;

use spirit_mem::ReserveError;

use crate::ground::corrupt::Corrupt;

/// An operation of a [map of terms](crate::merge::term_map::TermMap) failed.
#[derive(Debug)]
pub enum TermMapError {
    /// The file or the disk has no room for another term. Those before it stay.
    Full,
    /// The map was never finished, or put to since: nothing in it counts.
    Unfinished,
    /// The file is not what was stored there.
    Damaged(Corrupt),
    /// The file could not be mapped.
    Map(ReserveError),
    /// The disk failed. Puts since the last fence may be lost.
    Disk(String),
}

impl fmt::Display for TermMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermMapError::Full => f.write_str("no room for another term; make a larger file"),
            TermMapError::Unfinished => f.write_str("the map was not finished; make it anew"),
            TermMapError::Damaged(what) => write!(f, "damaged: {what}"),
            TermMapError::Map(why) => why.fmt(f),
            TermMapError::Disk(why) => write!(f, "the disk failed: {why}"),
        }
    }
}

impl std::error::Error for TermMapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TermMapError::Damaged(what) => Some(what),
            TermMapError::Map(why) => Some(why),
            TermMapError::Full | TermMapError::Unfinished | TermMapError::Disk(_) => None,
        }
    }
}
