//! Task `visible`: what it takes to make one more document visible: add, commit, reload.

use crate::engine::{Engine, SINGLE_BYTES};
use spirit_peer_protocol::{
    Corpus, Fallible, Latencies, Options, Reporter, Rounds, fresh_directory, marker,
};
use std::time::Instant;
use tantivy::{IndexReader, IndexWriter};

/// This many of the last documents are not in the index at first and are added one at a time.
pub(crate) const TAIL: usize = 200;

pub(crate) fn visible(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    let path = fresh_directory(&options.work, "tantivy-visible")?;
    let engine = Engine::create(&path, corpus.columns())?;
    engine.build_base(corpus, corpus.len().saturating_sub(TAIL))?;
    let mut live = Live::new(&engine, corpus)?;
    live.add(options.warm_adds)?;
    let mut rounds = Rounds::new();
    for _ in 0..options.rounds {
        rounds.push(&live.add(options.adds)?);
    }
    reporter.latencies("visible", "", &rounds, options.adds)?;
    reporter.counted("visible", "found", "docs", live.found)?;
    live.close()?;
    std::fs::remove_dir_all(&path)?;
    Ok(())
}

/// An index that is being written.
struct Live<'a> {
    engine: &'a Engine,
    corpus: &'a Corpus,
    writer: IndexWriter,
    reader: IndexReader,
    turn: usize,
    found: u64,
}

impl<'a> Live<'a> {
    fn new(engine: &'a Engine, corpus: &'a Corpus) -> Fallible<Live<'a>> {
        let (writer, reader) = (engine.writer(SINGLE_BYTES)?, engine.reader()?);
        Ok(Live { engine, corpus, writer, reader, turn: 0, found: 0 })
    }

    /// Makes this many documents visible, one at a time.
    fn add(&mut self, documents: usize) -> Fallible<Latencies> {
        let mut latencies = Latencies::with_capacity(documents);
        for _ in 0..documents {
            let text = self.corpus.again(TAIL, self.turn);
            let key = (self.corpus.len() + self.turn) as u64;
            let start = Instant::now();
            self.engine.add(&self.writer, key, &text)?;
            self.writer.commit()?;
            self.reader.reload()?;
            latencies.push(start.elapsed());
            self.check()?;
            self.turn += 1;
        }
        Ok(latencies)
    }

    fn check(&mut self) -> Fallible<()> {
        let term = self.engine.term(&marker(self.turn));
        if self.reader.searcher().doc_freq(&term)? != 1 {
            return Err(format!("added document {} is not visible", self.turn).into());
        }
        self.found += 1;
        Ok(())
    }

    fn close(self) -> Fallible<()> {
        Ok(self.writer.wait_merging_threads()?)
    }
}
