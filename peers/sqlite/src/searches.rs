//! Task `queries`: searches on a finished database.

use crate::answers::unscored;
use crate::database;
use crate::form::form;
use rusqlite::{Connection, Statement};
use spirit_peer_protocol::{
    Corpus, Fallible, Layout, Mode, Options, Reporter, cached_index, measure_searches, prepare,
    read_workloads,
};

/// How many documents a search for the newest wants.
const WANTED: usize = 10;

/// FTS5 walks its lists from the end, so this stops on its own.
const NEWEST: &str = "SELECT rowid FROM posts WHERE posts MATCH ?1 ORDER BY rowid DESC LIMIT 10";

pub(crate) fn searches(options: &Options, corpus: &Corpus, mut reporter: Reporter) -> Fallible<()> {
    let workloads = read_workloads(options.queries_file()?)?;
    let layout = Layout::OldestFirst;
    let path = cached_index(options, "sqlite", rusqlite::version(), layout, |path| {
        database::build_merged(path, corpus)
    })?;
    let connection = database::open(&path)?;
    check_documents(&connection, corpus)?;
    reporter.add("mode", options.mode.name());
    let workloads = prepare(workloads, &reporter, form)?;
    measure_searches(&mut Searches::new(&connection, options.mode)?, &workloads, options, &reporter)
}

fn check_documents(connection: &Connection, corpus: &Corpus) -> Fallible<()> {
    let documents: i64 =
        connection.query_row("SELECT count(*) FROM posts_docsize", [], |row| row.get(0))?;
    if documents != corpus.len() as i64 {
        return Err(format!("{documents} documents, not {}", corpus.len()).into());
    }
    Ok(())
}

/// The prepared statement and the last answer.
struct Searches<'a> {
    statement: Statement<'a>,
    mode: Mode,
    answer: [i64; WANTED],
    answered: usize,
}

impl<'a> Searches<'a> {
    fn new(connection: &'a Connection, mode: Mode) -> Fallible<Searches<'a>> {
        let sql = match mode {
            Mode::Newest | Mode::NewestSorted => NEWEST,
            Mode::Count | Mode::CountFast => database::COUNT,
            Mode::Top => return Err(unscored().into()),
        };
        let statement = connection.prepare(sql)?;
        Ok(Searches { statement, mode, answer: [0; WANTED], answered: 0 })
    }

    fn newest(&mut self, query: &str) -> rusqlite::Result<u64> {
        let mut rows = self.statement.query([query])?;
        self.answered = 0;
        while let Some(row) = rows.next()? {
            self.answer[self.answered] = row.get(0)?;
            self.answered += 1;
        }
        Ok(self.answered as u64)
    }

    fn count(&mut self, query: &str) -> rusqlite::Result<u64> {
        let count: i64 = self.statement.query_row([query], |row| row.get(0))?;
        Ok(count as u64)
    }
}

impl spirit_peer_protocol::Engine for Searches<'_> {
    type Query = String;

    fn ask(&mut self, query: &String) -> Fallible<u64> {
        Ok(match self.mode {
            Mode::Count | Mode::CountFast => self.count(query)?,
            _ => self.newest(query)?,
        })
    }

    fn keys(&mut self) -> Fallible<Vec<u64>> {
        Ok(self.answer[..self.answered].iter().map(|key| *key as u64).collect())
    }
}
