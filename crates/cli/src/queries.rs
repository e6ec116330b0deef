//! Where queries come from: the command line, or a file with one a line.
//!
//! A query of a file that has no answer does not keep the others from theirs: it is reported with its place, and the command
//! fails at the end.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use spirit::{HitError, Reader, SearchError, Searcher};
use spirit_forms::no_answer::NoAnswer;

use crate::failure::Failure;
use crate::input::{Line, Lines};
use crate::note::{note, report};
use crate::query_threads;

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
    pub(crate) query: Option<&'a str>,
    pub(crate) error: &'a str,
}

impl Queries {
    /// Answers each query, in order, with a reader of `readers`: a thread for each of them. `refused` says something in place of
    /// the answer to a query of a file that is refused.
    pub(crate) fn for_each<W: Write>(
        &self,
        mut readers: Vec<Reader>,
        out: &mut W,
        answer: impl Fn(&mut Reader, Asked<'_>, &mut dyn Write) -> Result<(), Unanswered> + Sync,
        refused: impl Fn(&Refused<'_>, &mut W) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = match self {
            Queries::File(path) => path,
            Queries::One(text) => {
                let asked = Asked { text, place: None };
                return answer(&mut readers[0], asked, out).map_err(Unanswered::of_only);
            }
        };
        let failed = |error| Failure::file(path, &error);
        let mut tally = Tally { path, queries: 0, unanswered: 0 };
        if readers.len() > 1 {
            query_threads::answer(path, readers, answer, out, |line, answered, out| {
                tally.add(line, answered, out, &refused)
            })?;
            return tally.outcome();
        }
        let mut lines = QueryLines::open(path).map_err(failed)?;
        while let Some(line) = lines.next().map_err(failed)? {
            let answered = line.answered(path, |asked| answer(&mut readers[0], asked, out));
            tally.add(&line, answered, out, &refused)?;
        }
        tally.outcome()
    }

    /// Whether there may be several.
    pub(crate) fn are_many(&self) -> bool {
        matches!(self, Queries::File(_))
    }
}

/// The lines of a file of queries.
pub(crate) struct QueryLines(Lines);

/// A line of a file of queries.
pub(crate) struct QueryLine {
    number: u64,
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
    fn shown(&self) -> Option<&str> {
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

/// How many queries of a file have no answer.
struct Tally<'a> {
    path: &'a Path,
    queries: u64,
    unanswered: u64,
}

impl Tally<'_> {
    fn add<W: Write>(
        &mut self,
        line: &QueryLine,
        answered: Result<(), Unanswered>,
        out: &mut W,
        refused: impl Fn(&Refused<'_>, &mut W) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.queries += 1;
        match answered {
            Ok(()) => Ok(()),
            Err(error @ (Unanswered::Failed(_) | Unanswered::Hit(_))) => Err(error.of_only()),
            Err(Unanswered::Refused(error)) => {
                report(format_args!("{}:{}: {error}", self.path.display(), line.number));
                self.unanswered += 1;
                refused(&Refused { query: line.shown(), error: &error }, out)
            }
        }
    }

    fn outcome(&self) -> Result<(), Failure> {
        match self.unanswered {
            0 => Ok(()),
            some => Err(Failure::work(format_args!(
                "{}: {some} of {} queries have no answer",
                self.path.display(),
                self.queries
            ))),
        }
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
