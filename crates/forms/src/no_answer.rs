//! Why a question has no answer, and questions that are asked again.

use std::error::Error;
use std::fmt;

use spirit::{HitError, SearchError};

/// How often a question is asked whose answer goes away.
const TRIES: usize = 8;

/// The reason why a question has no answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// The index cannot answer it.
    Search(SearchError),
    /// A hit could not be read.
    Hit(HitError),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::Search(error) => error.fmt(f),
            NoAnswer::Hit(error) => error.fmt(f),
        }
    }
}

impl Error for NoAnswer {}

impl From<SearchError> for NoAnswer {
    fn from(error: SearchError) -> NoAnswer {
        NoAnswer::Search(error)
    }
}

impl From<HitError> for NoAnswer {
    fn from(error: HitError) -> NoAnswer {
        NoAnswer::Hit(error)
    }
}

/// Calls `ask`. Calls it again, at most 8 times in all, if what was found became invalid before it
/// was read.
pub fn lasting<T>(mut ask: impl FnMut() -> Result<T, NoAnswer>) -> Result<T, NoAnswer> {
    for _ in 1..TRIES {
        match ask() {
            Err(NoAnswer::Hit(HitError::Lease { .. })) => {}
            answered => return answered,
        }
    }
    ask()
}
