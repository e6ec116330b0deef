//! Task `answers`: counts and the newest documents. The function `bm25` of FTS5 takes the logarithm of another
//! quotient than Lucene and tantivy, so the best documents by it are not comparable.

use crate::database;
use crate::form::form;
use rusqlite::{Connection, params};
use spirit_peer_protocol::{
    Answer, Corpus, Fallible, Layout, Options, Order, Reporter, Unsupported, cached_index,
    write_answers,
};

const NEWEST: &str = "SELECT rowid FROM posts WHERE posts MATCH ?1 ORDER BY rowid DESC LIMIT ?2";

pub(crate) fn answers(options: &Options, corpus: &Corpus, _: Reporter) -> Fallible<()> {
    let layout = Layout::OldestFirst;
    let path = cached_index(options, "sqlite", rusqlite::version(), layout, |path| {
        database::build_merged(path, corpus)
    })?;
    let connection = database::open(&path)?;
    write_answers(options, |query| {
        if options.order == Order::Bm25 {
            return Ok(Err(unscored()));
        }
        Ok(match form(query) {
            Ok(expression) => Ok(newest(&connection, &expression, options.k)?),
            Err(unsupported) => Err(unsupported),
        })
    })
}

pub(crate) fn unscored() -> Unsupported {
    Unsupported("scores: FTS5 has another idf".to_owned())
}

fn newest(connection: &Connection, expression: &str, k: usize) -> rusqlite::Result<Answer> {
    let count: i64 =
        connection.prepare(database::COUNT)?.query_row([expression], |row| row.get(0))?;
    let mut newest = connection.prepare(NEWEST)?;
    let keys = newest.query_map(params![expression, k as i64], |row| row.get::<_, i64>(0))?;
    let keys = keys.map(|key| key.map(|key| key as u64)).collect::<Result<_, _>>()?;
    Ok(Answer { count: count as u64, keys, ..Answer::default() })
}
