//! Task `answers`: counts and the best or newest documents, as tantivy's own collectors find them.

use crate::engine::{Engine, KEY, VERSION};
use spirit_peer_protocol::{
    Answer, Bm25, Corpus, Fallible, Layout, Options, Order, Query, Reporter, Unsupported,
    cached_index, write_answers,
};
use std::borrow::Cow;
use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::{DocAddress, Searcher};

pub(crate) fn answers(options: &Options, corpus: &Corpus, _: Reporter) -> Fallible<()> {
    let layout = Layout::OldestFirst;
    let path = cached_index(options, "tantivy", VERSION, layout, |path| {
        Engine::create(path, corpus.columns())?.build_one_segment(corpus, layout)
    })?;
    let engine = Engine::open(&path)?;
    let searcher = engine.reader()?.searcher();
    let keys = searcher.segment_reader(0).fast_fields().u64(KEY)?;
    let index = Answers { engine, searcher, keys, k: options.k };
    write_answers(options, |query| match options.order {
        Order::Bm25 => {
            check_bm25(options.bm25).map_or_else(|no| Ok(Err(no)), |()| index.best(query))
        }
        Order::Newest => index.newest(query),
    })
}

/// tantivy's parameters are constants of its source.
pub(crate) fn check_bm25(wanted: Bm25) -> Result<(), Unsupported> {
    if wanted == Bm25::default() {
        return Ok(());
    }
    Err(Unsupported("k1 and b are compiled in: 1.2 and 0.75".to_owned()))
}

/// The index, of one segment.
struct Answers {
    engine: Engine,
    searcher: Searcher,
    keys: Column<u64>,
    k: usize,
}

impl Answers {
    fn best(&self, query: &Query) -> Fallible<Result<Answer, Unsupported>> {
        self.answer(query, true, |own| {
            let best = TopDocs::with_limit(self.k).order_by_score();
            Ok(self.searcher.search(own, &best)?.into_iter().unzip())
        })
    }

    fn newest(&self, query: &Query) -> Fallible<Result<Answer, Unsupported>> {
        self.answer(query, false, |own| {
            let newest =
                TopDocs::with_limit(self.k).order_by_fast_field::<u64>(KEY, tantivy::Order::Desc);
            let found = self.searcher.search(own, &newest)?;
            Ok((Vec::new(), found.into_iter().map(|(_, address)| address).collect()))
        })
    }

    /// The count, and what `show` finds: scores, if there are any, and documents.
    fn answer(
        &self,
        query: &Query,
        scored: bool,
        show: impl FnOnce(&dyn tantivy::query::Query) -> tantivy::Result<(Vec<f32>, Vec<DocAddress>)>,
    ) -> Fallible<Result<Answer, Unsupported>> {
        let own = match self.engine.query(query, scored) {
            Ok(own) => own,
            Err(unsupported) => return Ok(Err(unsupported)),
        };
        let (scores, found) = show(&*own)?;
        let key = |address: &DocAddress| self.keys.first(address.doc_id).ok_or("no key");
        Ok(Ok(Answer {
            count: own.count(&self.searcher)? as u64,
            keys: found.iter().map(key).collect::<Result<_, _>>()?,
            scores,
            differs: differs(query).map(Cow::Borrowed),
        }))
    }
}

/// Slop is the whole width of a match only for two different terms. For more of them tantivy sums up the distances
/// from each to the next, not always the least ones, and if nothing is scored looks only at the last; and it takes one
/// occurrence of a term for two.
fn differs(query: &Query) -> Option<&'static str> {
    match query {
        Query::Phrase { terms, slop: 1.., .. } if terms.len() > 2 => {
            Some("slop of three or more terms is a sum of distances")
        }
        Query::Phrase { terms, slop: 1.., .. } if terms.len() == 2 && terms[0] == terms[1] => {
            Some("slop lets one occurrence of a term be two")
        }
        Query::Constant { query, .. } | Query::Boost { query, .. } => differs(query),
        Query::Bool(clauses) => {
            let mut all = clauses.must.iter().chain(&clauses.should).chain(&clauses.not);
            all.find_map(differs)
        }
        _ => None,
    }
}
