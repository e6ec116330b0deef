//! `equal`: whether all engines answer every class of query alike: counted, the ten newest, the ten best by BM25.
//!
//! Nothing is timed. Ours answers on an index in several segments, the last of which is fresh; it is compared with itself where
//! every match is scored, and where the documents lie otherwise, which has to be the same to the last bit:
//!
//! * `fresh`: as ingest leaves them, in segments of the usual size; `flushed`: the same with all segments flushed;
//! * `raw`, `packed`: in the second tier, where readers use either form of its lists, the terms found by the dictionary in DRAM;
//!   `packed, all`: the latter with every match scored; `packed, nodes`: with terms found in the second tier.
//!
//! The peers answer on an index of one segment each. Of two engines counts and newest documents have to be the same, and each ranked list has
//! to be what its own engine promises ([`crate::equal`]), its scores recomputed from the documents.
//!
//! The table says of how many queries everything is equal, how many differ, and how many one of the two lacks; the first query of a class that differs is printed with both
//! answers, and then the experiment ends with an error.
//!
//! Corpora: posts with queries drawn from them, and from columns drawn for them, by the seed; articles with the same and with the published
//! sets ([`crate::query_sets`]). With `--docs 20000` all of it takes a minute.
//!
//! Caveats: a query is not compared where an engine does not have it, or says that it means something else by it. SQLite
//! analyzes otherwise where a text is not ASCII: its differences are shown and are no error. Our length of a document is that of all it has, so where
//! documents have columns our scores are held to that, which the peers' are not. Scores of slop with more than two
//! terms are not recomputed.

mod asked;
mod ours;
mod side;
mod tally;

use serde_json::json;

use crate::Fallible;
use crate::bench::{Bench, SHARED};
use crate::bm25::Statistics;
use crate::corpus::Corpus;
use crate::query_sets::columns::Columns;
use crate::query_sets::{ARCHIVE, QuerySet, drawn, game, luceneutil};
pub(super) use asked::FirstDifference;
pub(super) use side::{Side, peers};

/// Documents shown.
pub(super) const K: usize = 10;
/// The set that needs columns beside the text.
const COLUMNS: &str = "columns";

/// A set, its corpus, and everything that was answered.
pub(super) struct Asked<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) statistics: &'a Statistics,
    /// What the documents have beside their text, if anything.
    pub(super) columns: Option<&'a Columns>,
    pub(super) set: &'a QuerySet,
    /// Ours, and the others.
    pub(super) sides: &'a [Side],
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let mut errors = Vec::new();
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        errors.extend(compare(bench, &corpus)?);
    }
    outcome(&errors)
}

/// All sets that there are for a corpus; what differs and must not.
fn compare(bench: &mut Bench, corpus: &Corpus) -> Fallible<Vec<FirstDifference>> {
    let statistics = Statistics::of(corpus);
    let columns = Columns::draw(corpus.len(), bench.seed);
    let of_columns = columns.queries(corpus, bench.per_class, bench.seed);
    let of_text = text_sets(bench, corpus)?;
    let mut errors = Vec::new();
    for (columns, sets) in [(None, of_text), (Some(&columns), vec![(COLUMNS, of_columns)])] {
        let compared = Compared { corpus, statistics: &statistics, columns };
        errors.extend(compared.differences(bench, &sets)?);
    }
    Ok(errors)
}

/// Documents with columns or without.
struct Compared<'a> {
    corpus: &'a Corpus,
    statistics: &'a Statistics,
    columns: Option<&'a Columns>,
}

impl Compared<'_> {
    /// What differs in the answers to these sets, and must not.
    fn differences(
        &self,
        bench: &mut Bench,
        sets: &[(&'static str, QuerySet)],
    ) -> Fallible<Vec<FirstDifference>> {
        let Compared { corpus, statistics, columns } = *self;
        let mut errors = Vec::new();
        for ((name, set), mut sides) in sets.iter().zip(ours::ask(corpus, columns, sets)?) {
            bench.begin("equal", corpus, &[("set", json!(name)), ("k", json!(K))]);
            print_dropped(name, set);
            let docs = match columns {
                Some(columns) => bench.peers.objects_file(corpus, || columns.lines(corpus))?,
                None => bench.peers.docs_file(corpus)?,
            };
            sides.extend(peers(bench, &docs, name, set)?);
            let asked = Asked { corpus, statistics, columns, set, sides: &sides };
            let differences = asked.print(bench, name)?;
            errors.extend(differences.into_iter().filter(|difference| difference.is_error));
        }
        Ok(errors)
    }
}

/// An error if there are differences.
pub(super) fn outcome(errors: &[FirstDifference]) -> Fallible<()> {
    match errors.first() {
        None => Ok(()),
        Some(FirstDifference { class, text, .. }) => {
            Err(format!("{} classes differ; first {class}, {text}", errors.len()).into())
        }
    }
}

/// The sets that ask for text alone. The published ones are about an encyclopedia, and are asked of both shared corpora.
pub(super) fn text_sets(bench: &Bench, corpus: &Corpus) -> Fallible<Vec<(&'static str, QuerySet)>> {
    let (most, seed) = (bench.per_class, bench.seed);
    let mut sets = vec![("drawn", drawn::draw(corpus, most, seed))];
    if let Some(data) = bench.data_with(ARCHIVE).filter(|_| SHARED.contains(&corpus.name.as_str()))
    {
        sets.push(("game", game::load(&data, most, seed)?));
        sets.push(("luceneutil", luceneutil::load(&data, most, seed)?));
    }
    Ok(sets)
}

fn print_dropped(name: &str, set: &QuerySet) {
    println!("{name}: {} queries of {} classes", set.queries.len(), set.classes().len());
    for (class, (queries, reason)) in &set.dropped {
        println!("  dropped: {queries} of {class}, the first because of {reason}");
    }
}
