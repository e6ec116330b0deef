//! Task `bulk`: all documents with their texts into a fresh index, by several indexing threads, committed and
//! merged into one segment.

use crate::engine::{BULK_BYTES, Engine};
use spirit_peer_protocol::{
    Corpus, Fallible, IngestRound, Options, Reporter, directory_bytes, fresh_directory,
    measure_ingest,
};
use std::time::Instant;
use tantivy::indexer::NoMergePolicy;

pub(crate) fn bulk(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    measure_ingest(options, corpus, reporter, || round(options, corpus))
}

fn round(options: &Options, corpus: &Corpus) -> Fallible<IngestRound> {
    let path = fresh_directory(&options.work, "tantivy-bulk")?;
    let engine = Engine::create_stored(&path, corpus.columns())?;
    let mut writer = engine.writer_of(options.threads, BULK_BYTES)?;
    // Nothing is merged twice.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let start = Instant::now();
    engine.add_all(&writer, corpus, 0..corpus.len())?;
    writer.commit()?;
    let committed = start.elapsed();
    let segments = engine.index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    let merged = start.elapsed();
    let bytes = directory_bytes(&path)?;
    std::fs::remove_dir_all(&path)?;
    Ok(IngestRound { until: [("committed", committed), ("merged", merged)], bytes })
}
