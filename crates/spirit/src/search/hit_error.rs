//! Why what a hit leads to cannot be read.

use std::fmt;

use spirit_index::ground::corrupt::Corrupt;

use crate::config::error::REMEDY;
use crate::stages::lease::LeaseExpired;

/// What a hit leads to cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HitError {
    /// The results were kept for too long.
    Lease(LeaseExpired),
    /// The file does not hold what was stored there.
    Corrupt {
        /// The executor whose part of the file it is.
        executor: usize,
        /// What is wrong, and where.
        what: Corrupt,
    },
}

impl fmt::Display for HitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HitError::Lease(expired) => expired.fmt(f),
            HitError::Corrupt { executor, what } => {
                write!(f, "a hit cannot be read; executor {executor}: {what}; {REMEDY}")
            }
        }
    }
}

impl std::error::Error for HitError {}

impl From<LeaseExpired> for HitError {
    fn from(expired: LeaseExpired) -> HitError {
        HitError::Lease(expired)
    }
}
