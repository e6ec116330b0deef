//! Task `visible`: what it takes to make one more document visible: one insert, its own
//! transaction. Another connection checks that it sees the document.

use crate::database;
use rusqlite::{Connection, Statement, params};
use spirit_peer_protocol::{
    Corpus, Fallible, Latencies, Options, Reporter, Rounds, fresh_directory, marker,
};
use std::time::Instant;

/// This many of the last documents are not in the index at first and are added one at a time.
const TAIL: usize = 200;

pub(crate) fn visible(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    let path = fresh_directory(&options.work, "sqlite-visible")?;
    let (writer, reader) = (database::create(&path)?, database::open(&path)?);
    database::add_all(&writer, corpus.iter().take(corpus.len().saturating_sub(TAIL)))?;
    writer.execute_batch("COMMIT")?;
    database::empty_log(&writer)?;
    let mut live = Live::new(&writer, &reader, corpus)?;
    live.add(options.warm_adds)?;
    let mut rounds = Rounds::new();
    for _ in 0..options.rounds {
        rounds.push(&live.add(options.adds)?);
    }
    reporter.latencies("visible", "", &rounds, options.adds)?;
    reporter.counted("visible", "found", "docs", live.found)?;
    std::fs::remove_dir_all(&path)?;
    Ok(())
}

/// A database that is being written.
struct Live<'a> {
    insert: Statement<'a>,
    find: Statement<'a>,
    corpus: &'a Corpus,
    turn: usize,
    found: u64,
}

impl<'a> Live<'a> {
    fn new(
        writer: &'a Connection,
        reader: &'a Connection,
        corpus: &'a Corpus,
    ) -> rusqlite::Result<Live<'a>> {
        let insert = writer.prepare(database::INSERT)?;
        let find = reader.prepare("SELECT rowid FROM posts WHERE posts MATCH ?1")?;
        Ok(Live { insert, find, corpus, turn: 0, found: 0 })
    }

    /// Makes this many documents visible, one at a time.
    fn add(&mut self, documents: usize) -> Fallible<Latencies> {
        let mut latencies = Latencies::with_capacity(documents);
        for _ in 0..documents {
            let text = self.corpus.again(TAIL, self.turn);
            let key = (self.corpus.len() + self.turn) as i64;
            let start = Instant::now();
            self.insert.execute(params![key, text])?;
            latencies.push(start.elapsed());
            self.check(key)?;
            self.turn += 1;
        }
        Ok(latencies)
    }

    fn check(&mut self, key: i64) -> Fallible<()> {
        let seen: i64 = self.find.query_row([marker(self.turn)], |row| row.get(0))?;
        if seen != key {
            return Err(format!("added document {} is not visible", self.turn).into());
        }
        self.found += 1;
        Ok(())
    }
}
