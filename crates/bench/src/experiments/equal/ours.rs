//! Our index in the layouts that are compared, and what it answers.

use spirit::lab::{DictionaryTier, PointerUpdate, Postings};
use spirit::{Builder, Document, Index, Search};
use spirit_peer_protocol::{Answer, Query as Tree};

use crate::Fallible;
use crate::bm25::Convention;
use crate::corpus::Corpus;
use crate::peers::Outcome;
use crate::query_sets::QuerySet;
use crate::query_sets::columns::Columns;
use crate::scratch::Scratch;
use crate::{engine, form};

use super::K;
use super::side::Side;

/// Segments of the layout that the others are compared with.
const PARTS: usize = 8;

/// Documents handed over at a time.
const BATCH: usize = 10_000;

/// Where an index's documents lie.
struct Layout {
    name: &'static str,
    /// Segments that are ended early, each with as many documents.
    parts: usize,
    /// Whether the last of them is flushed too.
    flushed: bool,
    /// The form of lists in the second tier, if readers use that, and where terms are found.
    tier: Option<(Postings, DictionaryTier)>,
    /// The name under which it answers once more with every match scored.
    exhaustive: Option<&'static str>,
}

const IN_PARTS: Layout =
    Layout { name: "spirit", parts: PARTS, flushed: false, tier: None, exhaustive: None };
const ENGRAVED: Layout = Layout { flushed: true, ..IN_PARTS };

/// The first is what all else is compared with.
const LAYOUTS: [Layout; 6] = [
    Layout { exhaustive: Some("exhaustive"), ..IN_PARTS },
    Layout { name: "fresh", parts: 1, ..IN_PARTS },
    Layout { name: "flushed", parts: 1, flushed: true, ..IN_PARTS },
    Layout { name: "raw", tier: Some((Postings::Raw, DictionaryTier::Dram)), ..ENGRAVED },
    Layout {
        name: "packed",
        tier: Some((Postings::Packed, DictionaryTier::Dram)),
        exhaustive: Some("packed, all"),
        ..ENGRAVED
    },
    Layout {
        name: "packed, nodes",
        tier: Some((Postings::Packed, DictionaryTier::Nvm)),
        ..ENGRAVED
    },
];

/// What we answer to each set in all layouts, of which one at a time is in memory; of documents with columns or without.
pub(super) fn ask(
    corpus: &Corpus,
    columns: Option<&Columns>,
    sets: &[(&str, QuerySet)],
) -> Fallible<Vec<Vec<Side>>> {
    let mut all: Vec<Vec<Side>> = sets.iter().map(|_| Vec::new()).collect();
    for layout in &LAYOUTS {
        let scratch = Scratch::new()?;
        let index = layout.filled(corpus, columns, &scratch)?;
        for ((_, set), sides) in sets.iter().zip(&mut all) {
            sides.extend(layout.ask(&index, set)?);
        }
    }
    Ok(all)
}

impl Layout {
    fn options(&self, corpus: &Corpus, scratch: &Scratch) -> Builder {
        // Nothing is timed.
        let options = engine::options(corpus).prefault(false);
        let Some((postings, dictionary)) = self.tier else { return options };
        options
            .directory(scratch.path())
            .nvm_bytes(engine::heap_bytes(corpus))
            .postings(postings)
            .dictionary(dictionary)
            .pointer_update(PointerUpdate::Eager)
    }

    /// An index of the corpus; segments may be ended earlier where they are full.
    fn filled(
        &self,
        corpus: &Corpus,
        columns: Option<&Columns>,
        scratch: &Scratch,
    ) -> Fallible<Index> {
        let mut options = self.options(corpus, scratch);
        if columns.is_some() {
            let fields = Columns::fields().into_iter();
            options = fields.fold(options, |options, (name, kind)| options.field(name, kind));
        }
        let document = |number| match columns {
            Some(columns) => columns.document(corpus, number),
            None => Document::new().text(corpus.get(number)),
        };
        let index = options.open()?;
        let part = corpus.len().div_ceil(self.parts);
        for start in (0..corpus.len()).step_by(part) {
            if start > 0 {
                index.flush()?;
            }
            let end = (start + part).min(corpus.len());
            for batch in (start..end).step_by(BATCH) {
                let numbers = batch..(batch + BATCH).min(end);
                index.add_all(numbers.map(document))?;
            }
        }
        if self.flushed {
            index.flush()?;
        }
        index.settle();
        if self.tier.is_some() {
            engine::wait_until_merged(&index)?;
        }
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
    let query = match form::in_schema(tree, &index.schema()) {
        Ok(query) => query,
        Err(unsupported) => return Ok(Err(unsupported)),
    };
    let mut reader = index.reader()?;
    let count = reader.count(&query)?;
    let hits = reader.search(&query, search.clone())?;
    let keys = hits.keys()?.iter().map(|key| key.parse()).collect::<Result<_, _>>()?;
    let scores = hits.iter().filter_map(|hit| hit.score()).collect();
    Ok(Ok(Answer { count, keys, scores, differs: form::differs(tree).map(Into::into) }))
}
