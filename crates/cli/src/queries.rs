//! Where queries come from: the command line, or a file with one a line.

use std::path::{Path, PathBuf};

use spirit::{QUERY_BYTES_MAX, SearchError};

use crate::failure::Failure;
use crate::input::{Line, Lines};

#[derive(Debug)]
pub(crate) enum Queries {
    One(String),
    File(PathBuf),
}

/// Where a query stands, for whoever reads that it is wrong.
pub(crate) type Place<'a> = Option<(&'a Path, u64)>;

impl Queries {
    /// Calls `answer` with each query, in order, until one fails.
    pub(crate) fn for_each(
        &self,
        mut answer: impl FnMut(&str, Place<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = match self {
            Queries::One(query) => return answer(query, None),
            Queries::File(path) => path,
        };
        let failed = |error| Failure::file(path, &error);
        let mut lines = Lines::open(path, QUERY_BYTES_MAX).map_err(failed)?;
        while let Some((number, line)) = lines.next().map_err(failed)? {
            let query = match line {
                Line::TooLong => Err(format!("a query of more than {QUERY_BYTES_MAX} bytes")),
                Line::Bytes(bytes) => std::str::from_utf8(bytes)
                    .map(str::to_owned)
                    .map_err(|error| format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1)),
            };
            let at = |reason| format!("{}:{number}: {reason}", path.display());
            let query = query.map_err(at).map_err(Failure::work)?;
            answer(&query, Some((path, number)))?;
        }
        Ok(())
    }

    /// Whether there may be several.
    pub(crate) fn are_many(&self) -> bool {
        matches!(self, Queries::File(_))
    }
}

/// A query that cannot be answered.
pub(crate) fn refused(place: Place<'_>, error: &SearchError) -> Failure {
    match place {
        None => Failure::work(format_args!("query: {error}")),
        Some((path, line)) => {
            Failure::work(format_args!("{}:{line}: query: {error}", path.display()))
        }
    }
}
