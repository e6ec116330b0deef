//! Task `ingest`: all documents into a fresh index with one indexing thread, round after round.

use crate::engine::{BULK_BYTES, Engine};
use spirit_peer_protocol::{
    Corpus, Fallible, IngestRound, Options, Reporter, directory_bytes, fresh_directory,
    measure_ingest,
};
use std::time::Instant;

pub(crate) fn ingest(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    measure_ingest(options, corpus, reporter, || round(options, corpus))
}

fn round(options: &Options, corpus: &Corpus) -> Fallible<IngestRound> {
    let path = fresh_directory(&options.work, "tantivy-ingest")?;
    let engine = Engine::create(&path, corpus.columns())?;
    let mut writer = engine.writer(BULK_BYTES)?;
    let start = Instant::now();
    engine.add_all(&writer, corpus, 0..corpus.len())?;
    let add = start.elapsed();
    writer.commit()?;
    let add_commit = start.elapsed();
    let bytes = directory_bytes(&path)?;
    writer.wait_merging_threads()?;
    std::fs::remove_dir_all(&path)?;
    Ok(IngestRound { until: [("add", add), ("add_commit", add_commit)], bytes })
}
