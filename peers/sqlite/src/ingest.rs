//! Task `ingest`: all documents into a fresh database, 10,000 a transaction, round after round.

use crate::database;
use spirit_peer_protocol::{
    Corpus, Fallible, IngestRound, Options, Reporter, directory_bytes, fresh_directory,
    measure_ingest,
};
use std::time::Instant;

pub(crate) fn ingest(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    measure_ingest(options, corpus, reporter, || round(options, corpus))
}

fn round(options: &Options, corpus: &Corpus) -> Fallible<IngestRound> {
    let path = fresh_directory(&options.work, "sqlite-ingest")?;
    let connection = database::create(&path)?;
    let start = Instant::now();
    database::add_all(&connection, corpus.iter())?;
    let add = start.elapsed();
    connection.execute_batch("COMMIT")?;
    let add_commit = start.elapsed();
    database::empty_log(&connection)?;
    let bytes = directory_bytes(&path)?;
    drop(connection);
    std::fs::remove_dir_all(&path)?;
    Ok(IngestRound { until: [("add", add), ("add_commit", add_commit)], bytes })
}
