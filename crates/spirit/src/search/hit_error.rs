//! Errors of reading hits.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::config::corrupt::Corrupt;
use crate::config::error::REMEDY;

/// A hit could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HitError {
    /// The index was made without [`Builder::store`](crate::Builder::store).
    NotStored,
    /// The hits were kept for longer than the lease, and the index needed their memory.
    Lease {
        /// The length of the lease.
        lease: Duration,
    },
    /// The index was closed meanwhile.
    Closed,
    /// The file does not hold what was stored there. [`Index::check`](crate::Index::check) lists all
    /// damage.
    Corrupt(Corrupt),
}

impl fmt::Display for HitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HitError::NotStored => f.write_str(
                "the index does not store the documents' texts: index them anew with store set to yes",
            ),
            HitError::Lease { lease } => write!(
                f,
                "the results outlived the reader's lease of {lease:?} while the index needed the \
                 memory; search again, read results sooner, or open the index with a longer \
                 reader_lease"
            ),
            HitError::Closed => f.write_str("the index was closed; read hits before closing it"),
            HitError::Corrupt(damage) => write!(f, "a hit cannot be read; {damage}; {REMEDY}"),
        }
    }
}

impl Error for HitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            HitError::Corrupt(damage) => Some(damage),
            HitError::NotStored | HitError::Lease { .. } | HitError::Closed => None,
        }
    }
}
