//! Our index in the layouts that are compared, and what it answers.

use spirit::{Index, Search};
use spirit_peer_protocol::{Answer, Query as Tree};

use crate::Fallible;
use crate::bm25::Convention;
use crate::corpus::Corpus;
use crate::engine;
use crate::form;
use crate::peers::Outcome;
use crate::query_sets::QuerySet;

use super::K;
use super::side::Side;

/// Segments of the layout that the others are compared with.
const PARTS: usize = 8;

/// Where an index's documents lie.
struct Layout {
    name: &'static str,
    /// Segments that are ended early, each with as many documents.
    parts: usize,
    /// Whether the last of them is flushed too.
    flushed: bool,
    /// The name under which it answers once more with every match scored.
    exhaustive: Option<&'static str>,
}

/// The first is what all else is compared with.
const LAYOUTS: [Layout; 3] = [
    Layout { name: "spirit", parts: PARTS, flushed: false, exhaustive: Some("exhaustive") },
    Layout { name: "fresh", parts: 1, flushed: false, exhaustive: None },
    Layout { name: "flushed", parts: 1, flushed: true, exhaustive: None },
];

/// What we answer to each set in all layouts, of which one at a time is in memory.
pub(super) fn ask(corpus: &Corpus, sets: &[(&str, QuerySet)]) -> Fallible<Vec<Vec<Side>>> {
    let mut all: Vec<Vec<Side>> = sets.iter().map(|_| Vec::new()).collect();
    for layout in &LAYOUTS {
        let index = layout.filled(corpus)?;
        for ((_, set), sides) in sets.iter().zip(&mut all) {
            sides.extend(layout.ask(&index, set)?);
        }
    }
    Ok(all)
}

impl Layout {
    /// An index of the corpus; segments may be ended earlier where they are full.
    fn filled(&self, corpus: &Corpus) -> Fallible<Index> {
        let index = engine::options(corpus).open()?;
        let part = corpus.len().div_ceil(self.parts);
        for start in (0..corpus.len()).step_by(part) {
            if start > 0 {
                index.flush()?;
            }
            let end = (start + part).min(corpus.len());
            index.add_all((start..end).map(|number| (None, corpus.get(number))))?;
        }
        if self.flushed {
            index.flush()?;
        }
        index.settle();
        println!("{}: {}", self.name, engine::describe(&index)?);
        Ok(index)
    }

    fn ask(&self, index: &Index, set: &QuerySet) -> Fallible<Vec<Side>> {
        let first = Side::ours(self.name, index, set)?;
        let Some(name) = self.exhaustive else { return Ok(vec![first]) };
        let best = answers(index, set, &Search::best(K).exhaustive())?;
        let second = Side { name, newest: first.newest.clone(), best, ..first };
        Ok(vec![first, second])
    }
}

impl Side {
    /// Ours, with this index.
    pub(in crate::experiments) fn ours(
        name: &'static str,
        index: &Index,
        set: &QuerySet,
    ) -> Fallible<Side> {
        Ok(Side {
            name,
            is_ours: true,
            analyzes_alike: true,
            convention: Some(Convention::ours()),
            newest: answers(index, set, &Search::newest(K))?,
            best: answers(index, set, &Search::best(K))?,
        })
    }
}

fn answers(index: &Index, set: &QuerySet, search: &Search) -> Fallible<Vec<Outcome>> {
    set.queries.iter().map(|named| answer(index, &named.query, search)).collect()
}

fn answer(index: &Index, tree: &Tree, search: &Search) -> Fallible<Outcome> {
    let query = match form::query(tree) {
        Ok(query) => query,
        Err(unsupported) => return Ok(Err(unsupported)),
    };
    let mut reader = index.reader()?;
    let count = reader.count(&query)?;
    let hits = reader.search(&query, search.clone())?;
    let keys = hits.keys()?.iter().map(|key| key.parse()).collect::<Result<_, _>>()?;
    let scores = hits.scores().map(Iterator::collect).unwrap_or_default();
    Ok(Ok(Answer { count, keys, scores, differs: form::differs(tree).map(Into::into) }))
}
