//! Where queries come from: the command line, or a file with one a line.
//!
//! A query of a file that has no answer does not keep the others from theirs: it is reported with its place, and the command
//! fails at the end.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use spirit::{HitError, SearchError, Searcher};
use spirit_forms::no_answer::NoAnswer;

use crate::failure::Failure;
use crate::input::{Line, Lines};
use crate::note::{note, report};

#[derive(Debug)]
pub(crate) enum Queries {
    One(String),
    File(PathBuf),
}

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
    pub(crate) query: Option<Cow<'a, str>>,
    pub(crate) error: &'a str,
}

impl Queries {
    /// Calls `answer` with each query, in order, and `refused` with those of a file that it refuses, so that something may stand
    /// in place of their answers.
    pub(crate) fn for_each<W: Write>(
        &self,
        out: &mut W,
        mut answer: impl FnMut(Asked<'_>, &mut W) -> Result<(), Unanswered>,
        refused: impl Fn(&Refused<'_>, &mut W) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = match self {
            Queries::File(path) => path,
            Queries::One(text) => {
                return answer(Asked { text, place: None }, out).map_err(Unanswered::of_only);
            }
        };
        let failed = |error| Failure::file(path, &error);
        let mut lines = Lines::open(path, Searcher::QUERY_BYTES_MAX).map_err(failed)?;
        let (mut queries, mut unanswered) = (0, 0);
        while let Some((number, line)) = lines.next().map_err(failed)? {
            queries += 1;
            let place = Some((path.as_path(), number));
            let (query, answered) = match text_of(&line) {
                Ok(text) => (Some(text.into()), answer(Asked { text, place }, out)),
                Err((query, reason)) => (query, Err(Unanswered::Refused(reason))),
            };
            match answered {
                Ok(()) => continue,
                Err(error @ (Unanswered::Failed(_) | Unanswered::Hit(_))) => {
                    return Err(error.of_only());
                }
                Err(Unanswered::Refused(error)) => {
                    report(format_args!("{}:{number}: {error}", path.display()));
                    unanswered += 1;
                    refused(&Refused { query, error: &error }, out)?;
                }
            }
        }
        match unanswered {
            0 => Ok(()),
            some => Err(Failure::work(format_args!(
                "{}: {some} of {queries} queries have no answer",
                path.display()
            ))),
        }
    }

    /// Whether there may be several.
    pub(crate) fn are_many(&self) -> bool {
        matches!(self, Queries::File(_))
    }
}

/// The query on a line; or as much of it as can be shown, and what is wrong with it.
fn text_of<'a>(line: &Line<'a>) -> Result<&'a str, (Option<Cow<'a, str>>, String)> {
    match *line {
        Line::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|error| {
            let reason = format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1);
            (Some(String::from_utf8_lossy(bytes)), reason)
        }),
        // Lines are neither damaged nor unclosed.
        _ => Err((None, format!("a query of more than {} bytes", Searcher::QUERY_BYTES_MAX))),
    }
}

impl Asked<'_> {
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

    fn of_only(self) -> Failure {
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
