//! Task `queries`: searches on a finished index of one segment.

use crate::answers::check_bm25;
use crate::collectors::{Newest, Ring, Visited, WANTED};
use crate::engine::{Engine, KEY, VERSION};
use spirit_peer_protocol::{
    Corpus, Fallible, Layout, Mode, Options, Reporter, cached_index, measure_searches, prepare,
    read_workloads,
};
use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::query::{EnableScoring, Query};
use tantivy::{DocId, DocSet, Searcher, TERMINATED};

pub(crate) fn searches(options: &Options, corpus: &Corpus, mut reporter: Reporter) -> Fallible<()> {
    let workloads = read_workloads(options.queries_file()?)?;
    let layout = match options.mode {
        Mode::NewestSorted => Layout::NewestFirst,
        Mode::Newest | Mode::Count | Mode::CountFast | Mode::Top => Layout::OldestFirst,
    };
    let scored = options.mode == Mode::Top;
    if scored {
        check_bm25(options.bm25)?;
    }
    let path = cached_index(options, "tantivy", VERSION, layout, |path| {
        Engine::create(path, corpus.columns())?.build_one_segment(corpus, layout)
    })?;
    let engine = Engine::open(&path)?;
    let mut searches = Searches::new(&engine, options)?;
    searches.check_order(corpus, layout)?;
    reporter.add("mode", options.mode.name());
    let workloads = prepare(workloads, &reporter, |query| engine.query(query, scored))?;
    measure_searches(&mut searches, &workloads, options, &reporter)
}

/// The index, opened, and the last answer.
struct Searches {
    searcher: Searcher,
    keys: Column<u64>,
    mode: Mode,
    k: usize,
    answer: Vec<DocId>,
}

impl Searches {
    fn new(engine: &Engine, options: &Options) -> Fallible<Searches> {
        let searcher = engine.reader()?.searcher();
        let [segment] = searcher.segment_readers() else {
            return Err(format!("{} segments, not one", searcher.segment_readers().len()).into());
        };
        let keys = segment.fast_fields().u64(KEY)?;
        let answer = Vec::with_capacity(options.k.max(WANTED));
        Ok(Searches { searcher, keys, mode: options.mode, k: options.k, answer })
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
        self.answer.clear();
        while doc != TERMINATED && self.answer.len() < WANTED {
            self.answer.push(doc);
            if self.answer.len() < WANTED {
                doc = matches.advance();
            }
        }
        Ok(self.answer.len() as u64)
    }

    fn newest(&mut self, query: &dyn Query) -> tantivy::Result<u64> {
        let rings = self.searcher.search(query, &Newest)?;
        let docs = rings.first().map_or(&[][..], Ring::docs);
        self.answer.clear();
        self.answer.extend_from_slice(docs);
        Ok(self.answer.len() as u64)
    }

    fn top(&mut self, query: &dyn Query) -> tantivy::Result<u64> {
        let best = self.searcher.search(query, &TopDocs::with_limit(self.k).order_by_score())?;
        self.answer.clear();
        self.answer.extend(best.iter().map(|(_, address)| address.doc_id));
        Ok(self.answer.len() as u64)
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
            Mode::Top => self.top(query)?,
        })
    }

    fn keys(&mut self) -> Fallible<Vec<u64>> {
        let key = |doc: &DocId| self.keys.first(*doc).ok_or_else(|| "no key".into());
        self.answer.iter().map(key).collect()
    }
}
