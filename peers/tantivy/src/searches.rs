//! Task `queries`: searches on a finished index of one segment.

use crate::collectors::{Newest, Ring, Visited, WANTED};
use crate::engine::{Engine, VERSION};
use spirit_peer_protocol::{
    Corpus, Fallible, Layout, Mode, Options, Reporter, cached_index, measure_searches,
    read_workloads,
};
use tantivy::columnar::Column;
use tantivy::query::{EnableScoring, Query};
use tantivy::{DocId, DocSet, Searcher, TERMINATED};

pub(crate) fn searches(options: &Options, corpus: &Corpus, mut reporter: Reporter) -> Fallible<()> {
    let workloads = read_workloads(options.queries_file()?)?;
    let layout = match options.mode {
        Mode::NewestSorted => Layout::NewestFirst,
        Mode::Newest | Mode::Count | Mode::CountFast => Layout::OldestFirst,
    };
    let path = cached_index(options, "tantivy", VERSION, layout, |path| {
        Engine::create(path)?.build_one_segment(corpus, layout)
    })?;
    let engine = Engine::open(&path)?;
    let mut searches = Searches::new(&engine, options.mode)?;
    searches.check_order(corpus, layout)?;
    let workloads: Vec<_> = workloads
        .into_iter()
        .map(|workload| workload.prepare(|query| engine.query(query)))
        .collect();
    reporter.add("mode", options.mode.name());
    measure_searches(&mut searches, &workloads, options, &reporter)
}

/// The index, opened, and the last answer.
struct Searches {
    searcher: Searcher,
    keys: Column<u64>,
    mode: Mode,
    answer: [DocId; WANTED],
    answered: usize,
}

impl Searches {
    fn new(engine: &Engine, mode: Mode) -> Fallible<Searches> {
        let searcher = engine.reader()?.searcher();
        let [segment] = searcher.segment_readers() else {
            return Err(format!("{} segments, not one", searcher.segment_readers().len()).into());
        };
        let keys = segment.fast_fields().u64("key")?;
        Ok(Searches { searcher, keys, mode, answer: [0; WANTED], answered: 0 })
    }

    /// Early stopping and "the last ten" are right only in this order.
    fn check_order(&self, corpus: &Corpus, layout: Layout) -> Fallible<()> {
        let documents = corpus.len() as u64;
        if self.searcher.num_docs() != documents {
            return Err(format!("{} documents, not {documents}", self.searcher.num_docs()).into());
        }
        for doc in 0..documents {
            let key = match layout {
                Layout::OldestFirst => doc,
                Layout::NewestFirst => documents - 1 - doc,
            };
            if self.keys.first(doc as DocId) != Some(key) {
                return Err(format!("document {doc} is not the one with key {key}").into());
            }
        }
        Ok(())
    }

    /// Stops after ten documents of an index that begins with the newest.
    fn newest_sorted(&mut self, query: &dyn Query) -> tantivy::Result<u64> {
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher))?;
        let mut matches = weight.scorer(self.searcher.segment_reader(0), 1.0)?;
        let mut doc = matches.doc();
        let mut found = 0;
        while doc != TERMINATED && found < WANTED {
            self.answer[found] = doc;
            found += 1;
            if found < WANTED {
                doc = matches.advance();
            }
        }
        self.answered = found;
        Ok(found as u64)
    }

    fn newest(&mut self, query: &dyn Query) -> tantivy::Result<u64> {
        let rings = self.searcher.search(query, &Newest)?;
        let docs = rings.first().map_or(&[][..], Ring::docs);
        self.answered = docs.len();
        self.answer[..self.answered].copy_from_slice(docs);
        Ok(self.answered as u64)
    }
}

impl spirit_peer_protocol::Engine for Searches {
    type Query = Box<dyn Query>;

    fn ask(&mut self, query: &Box<dyn Query>) -> Fallible<u64> {
        Ok(match self.mode {
            Mode::NewestSorted => self.newest_sorted(query)?,
            Mode::Newest => self.newest(query)?,
            Mode::Count => self.searcher.search(query, &Visited)?,
            Mode::CountFast => query.count(&self.searcher)? as u64,
        })
    }

    fn keys(&mut self) -> Fallible<Vec<u64>> {
        let key = |doc: &DocId| self.keys.first(*doc).ok_or_else(|| "no key".into());
        self.answer[..self.answered].iter().map(key).collect()
    }
}
