//! Why a hit cannot be read.

use std::error::Error;
use std::fmt;

use spirit_index::ground::corrupt::Corrupt;

use crate::config::error::REMEDY;
use crate::stages::lease::LeaseExpired;

/// A hit cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HitError {
    /// The index was made without [`Builder::store`](crate::Builder::store).
    NotStored,
    /// The hits were kept for too long.
    Lease(LeaseExpired),
    /// The index was closed meanwhile.
    Closed,
    /// The file does not hold what was stored there. [`check`](crate::backup::check()) lists all damage.
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
            HitError::NotStored => f.write_str(
                "the index does not store the documents' texts: index them anew with store set to yes",
            ),
            HitError::Lease(expired) => expired.fmt(f),
            HitError::Closed => f.write_str("the index was closed: read hits before"),
            HitError::Corrupt { executor, what } => {
                write!(f, "a hit cannot be read; executor {executor}: {what}; {REMEDY}")
            }
        }
    }
}

impl Error for HitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            HitError::Lease(expired) => expired.source(),
            HitError::Corrupt { what, .. } => Some(what),
            HitError::NotStored | HitError::Closed => None,
        }
    }
}

impl From<LeaseExpired> for HitError {
    fn from(expired: LeaseExpired) -> HitError {
        HitError::Lease(expired)
    }
}
