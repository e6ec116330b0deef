//! The query language and its evaluators.
//!
//! [`Parser`] makes a [`Query`] of text; [`newest`] and [`count`] evaluate it over a snapshot. Evaluators know
//! segments as a snapshot shows them, never the writer. Nothing here allocates once a query, a [`Scratch`] and
//! a list of hits exist.
#![forbid(unsafe_code)]

mod collect;
mod evaluate;
mod leaf;
mod parse;
mod plan;
mod query;

pub use collect::Hit;
pub use evaluate::{Scratch, Settings};
pub use parse::{Operator, ParseError, Parser, Problem};
pub use query::{CLAUSES_MAX, DEPTH_MAX, Occur, Query, TooLarge};
pub use spirit_kernel::{Algorithm, Level};

use spirit_index::nvm::older::{FindOlder, OlderEntries};
use spirit_index::snapshot::Snapshot;

use collect::{Collector, Count, Newest};
use evaluate::Evaluation;

/// Appends the newest `k` matches in `executor`'s snapshot to `hits`, newest first.
pub fn newest(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings,
    scratch: &mut Scratch,
    executor: u32,
    k: usize,
    hits: &mut Vec<Hit>,
) {
    if k == 0 {
        return;
    }
    let end = hits.len() + k;
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Newest { hits, end, executor }, older);
}

/// The exact number of matches in a snapshot.
pub fn count(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings,
    scratch: &mut Scratch,
) -> u64 {
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Count::default(), older).0
}

/// The same where `older` finds the entries of segments that the DRAM dictionary does not cover: nothing else differs, so
/// that is what a comparison of both measures.
pub fn count_finding(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings,
    scratch: &mut Scratch,
    older: impl FindOlder,
) -> u64 {
    run(snapshot, query, settings, scratch, Count::default(), || Some(older)).0
}

fn run<C: Collector, O: FindOlder>(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings,
    scratch: &mut Scratch,
    collector: C,
    older: impl FnOnce() -> Option<O>,
) -> C {
    assert!(query.terms.len() <= scratch.clauses_max(), "a query larger than its reader");
    scratch.prepare(query);
    let part = snapshot.covered();
    // Apart from the rest, which is written while it is read.
    let lent = std::mem::take(&mut scratch.lent);
    let places = lent.places();
    let mut evaluation =
        Evaluation { snapshot, query, settings, scratch, lent: places, part, collector };
    evaluation.run(older);
    let collector = evaluation.collector;
    scratch.lent = lent;
    collector
}
