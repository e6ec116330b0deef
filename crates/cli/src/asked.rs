//! Queries that are asked: where they stand, and what becomes of those that have no answer.

use std::fmt::Display;
use std::io;
use std::path::Path;

use serde::Serialize;
use spirit::{HitError, SearchError, Searcher};
use spirit_forms::no_answer::NoAnswer;

use crate::failure::Failure;
use crate::input::{Line, Lines};
use crate::note::{note, report};

/// A query, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) text: &'a str,
    place: Option<(&'a Path, u64)>,
}

/// Why a query has no answer.
pub(crate) enum Unanswered {
    /// Because of what it is: the next may have one.
    Refused(String),
    /// The hits became invalid before they were read, since another process started to write the index: ask again.
    Hit(HitError),
    /// None has.
    Failed(Failure),
}

/// A query of a file that has no answer, in the shape that `--json` prints.
#[derive(Serialize)]
pub(crate) struct Refused<'a> {
    /// None if it was too long to be kept.
    pub(crate) query: Option<&'a str>,
    pub(crate) error: &'a str,
}

/// The lines of a file of queries.
pub(crate) struct QueryLines(Lines);

/// A line of a file of queries.
pub(crate) struct QueryLine {
    pub(crate) number: u64,
    /// The query; or as much of it as can be shown, and what is wrong with it.
    text: Result<String, (Option<String>, String)>,
}

impl QueryLines {
    pub(crate) fn open(path: &Path) -> io::Result<QueryLines> {
        Lines::open(path, Searcher::QUERY_BYTES_MAX).map(QueryLines)
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<QueryLine>> {
        let line = self.0.next()?;
        Ok(line.map(|(number, line)| QueryLine { number, text: text_of(&line) }))
    }
}

impl QueryLine {
    /// Lets `answer` have the query, if there is one.
    pub(crate) fn answered(
        &self,
        path: &Path,
        answer: impl FnOnce(Asked<'_>) -> Result<(), Unanswered>,
    ) -> Result<(), Unanswered> {
        match &self.text {
            Ok(text) => answer(Asked { text, place: Some((path, self.number)) }),
            Err((_, reason)) => Err(Unanswered::Refused(reason.clone())),
        }
    }

    /// As much of the query as can be shown.
    pub(crate) fn shown(&self) -> Option<&str> {
        match &self.text {
            Ok(text) => Some(text),
            Err((shown, _)) => shown.as_deref(),
        }
    }
}

fn text_of(line: &Line<'_>) -> Result<String, (Option<String>, String)> {
    match *line {
        Line::Bytes(bytes) => std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
            let reason = format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1);
            (Some(String::from_utf8_lossy(bytes).into_owned()), reason)
        }),
        // Lines are neither damaged nor unclosed.
        _ => Err((None, format!("a query of more than {} bytes", Searcher::QUERY_BYTES_MAX))),
    }
}

impl<'a> Asked<'a> {
    /// The only query.
    pub(crate) fn alone(text: &'a str) -> Asked<'a> {
        Asked { text, place: None }
    }

    /// Says something about its answer, on standard error.
    pub(crate) fn say(&self, message: impl Display) {
        match self.place {
            None => report(message),
            Some((path, line)) => report(format_args!("{}:{line}: {message}", path.display())),
        }
    }

    /// Says what was passed over in it.
    pub(crate) fn warn<'w>(&self, warnings: impl IntoIterator<Item = &'w String>) {
        for warning in warnings {
            match self.place {
                None => note(warning),
                Some((path, line)) => report(format_args!("{}:{line}: {warning}", path.display())),
            }
        }
    }
}

impl Unanswered {
    /// Turns it into the failure of a command that asked for the document with this key.
    pub(crate) fn of_key(self, key: &str) -> Failure {
        match self {
            Unanswered::Refused(reason) => Failure::work(format_args!("key {key}: {reason}")),
            Unanswered::Hit(error) => Failure::work(format_args!("key {key}: {error}")),
            Unanswered::Failed(failure) => failure,
        }
    }

    pub(crate) fn of_only(self) -> Failure {
        match self {
            Unanswered::Refused(reason) => Failure::work(format_args!("query: {reason}")),
            Unanswered::Hit(error) => Failure::work(error),
            Unanswered::Failed(failure) => failure,
        }
    }
}

impl From<HitError> for Unanswered {
    fn from(error: HitError) -> Unanswered {
        match error {
            HitError::Lease { .. } => Unanswered::Hit(error),
            error => Unanswered::Failed(Failure::work(error)),
        }
    }
}

impl From<SearchError> for Unanswered {
    fn from(error: SearchError) -> Unanswered {
        Unanswered::Refused(error.to_string())
    }
}

impl From<NoAnswer> for Unanswered {
    fn from(error: NoAnswer) -> Unanswered {
        match error {
            NoAnswer::Search(error) => error.into(),
            NoAnswer::Hit(error) => error.into(),
        }
    }
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Unanswered {
        Unanswered::Failed(failure)
    }
}

impl From<io::Error> for Unanswered {
    fn from(error: io::Error) -> Unanswered {
        Unanswered::Failed(error.into())
    }
}
