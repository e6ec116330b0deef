//! Where queries come from: the command line, or a file with one a line.
//!
//! A query of a file that has no answer does not keep the others from theirs: it is reported with its place, and the command
//! fails at the end.

use std::io::Write;
use std::path::{Path, PathBuf};

use spirit::Reader;

use crate::asked::{Asked, QueryLine, QueryLines, Refused, Unanswered};
use crate::failure::Failure;
use crate::note::report;
use crate::query_threads;

#[derive(Debug)]
pub(crate) enum Queries {
    One(String),
    File(PathBuf),
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
                let asked = Asked::alone(text);
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
