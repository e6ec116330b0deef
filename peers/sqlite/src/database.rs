//! The database every task uses: one contentless FTS5 table, its key the row number.

use rusqlite::{Connection, params};
use spirit_peer_protocol::{Corpus, Fallible};
use std::path::Path;

/// Documents of one transaction when many are added.
const TRANSACTION: u64 = 10_000;

/// The statement that adds one document.
pub(crate) const INSERT: &str = "INSERT INTO posts(rowid, text) VALUES (?1, ?2)";

/// FTS5 has no shorter way to a count than to visit every match.
pub(crate) const COUNT: &str = "SELECT count(*) FROM posts WHERE posts MATCH ?1";

const FILE: &str = "posts.db";

/// A 256 MB cache and 2 GiB mapped; a commit reaches the log without waiting for the disk.
const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -262144;
    PRAGMA mmap_size = 2147483648;
";

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE posts USING fts5(
        text, content='', detail=full, tokenize='unicode61 remove_diacritics 0'
    );
";

/// A connection to the database in this folder.
pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path.join(FILE))?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// A new database in an empty folder.
pub(crate) fn create(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open(path)?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

/// Adds documents in transactions of 10,000; the last one is left open.
pub(crate) fn add_all<'a>(
    connection: &Connection,
    documents: impl Iterator<Item = (u64, &'a str)>,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare(INSERT)?;
    connection.execute_batch("BEGIN")?;
    for (added, (key, text)) in (0..).zip(documents) {
        if added > 0 && added % TRANSACTION == 0 {
            connection.execute_batch("COMMIT; BEGIN")?;
        }
        insert.execute(params![key as i64, text])?;
    }
    Ok(())
}

/// Builds the index of the task `queries`: everything added, then merged into one.
pub(crate) fn build_merged(path: &Path, corpus: &Corpus) -> Fallible<()> {
    let connection = create(path)?;
    add_all(&connection, corpus.iter())?;
    connection.execute_batch("COMMIT; INSERT INTO posts(posts) VALUES ('optimize')")?;
    empty_log(&connection)
}

/// Moves the write-ahead log into the database.
pub(crate) fn empty_log(connection: &Connection) -> Fallible<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
