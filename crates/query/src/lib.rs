//! The query language and its evaluators.
//!
//! [`Parser`] makes a [`Query`] of text; [`newest`] and [`count`] evaluate it over a snapshot. Evaluators know
//! segments as a snapshot shows them, never the writer. They allocate nothing once a query, a [`Scratch`] and
//! a list of hits exist. A [`Highlighter`] says where in a text a query's matches are.
#![forbid(unsafe_code)]

mod clause;
mod collect;
mod compile;
mod evaluate;
mod fuzzy;
mod highlight;
mod leaf;
mod limits;
mod packed;
mod parse;
mod pattern;
mod plan;
mod query;
mod rank;
mod sloppy;
mod top;

pub use clause::{Bool, Clause, TEXT, Word};
pub use collect::Hit;
pub use evaluate::{Scratch, Settings};
pub use fuzzy::{DISTANCE_MAX, Fuzzy};
pub use highlight::{Highlight, Highlighter, SNIPPETS_MAX, Snippet};
pub use limits::{EXPANSIONS_MAX, Limits, Stop};
pub use parse::{Operator, ParseError, Parser, Problem};
pub use query::{CLAUSES_MAX, DEPTH_MAX, Occur, Query, TooLarge};
pub use rank::{Counts, Parameters, Ranking};
pub use spirit_kernel::{Algorithm, Level};
pub use top::{Scored, Top};

use spirit_index::nvm::older::{FindOlder, OlderEntries};
use spirit_index::snapshot::Snapshot;

use collect::{Collector, Count, Newest};
use evaluate::{Evaluation, Ranked};
use limits::Meter;

/// Appends the newest `k` matches in `executor`'s snapshot to `hits`, newest first.
pub fn newest(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    executor: u32,
    k: usize,
    hits: &mut Vec<Hit>,
) -> Result<(), Stop> {
    if k == 0 {
        return Ok(());
    }
    let end = hits.len() + k;
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Newest { hits, end, executor }, older).map(drop)
}

/// Offers to `top` the matches in `executor`'s snapshot that may be among the best. The memory has
/// [weighed](Scratch::weigh) the query; nothing is found by a query that it has not.
pub fn best(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    ranking: Ranking,
    scratch: &mut Scratch,
    executor: u32,
    top: &mut Top,
) -> Result<(), Stop> {
    let weights = std::mem::take(&mut scratch.weights);
    let mut done = Ok(());
    if weights.are_of(query) && top.takes_any() {
        let highest = weights.highest(query);
        top.enter_executor(executor);
        let ranked = Ranked { top, weights: &weights, executor, skips: ranking.skips, highest };
        let older = || OlderEntries::new(snapshot.memory());
        let rank = |evaluation: &mut Evaluation<'_, Ranked<'_>>| evaluation.rank(older);
        done = evaluate(snapshot, query, settings, scratch, ranked, rank).map(drop);
    }
    scratch.weights = weights;
    done
}

/// The exact number of matches in a snapshot.
pub fn count(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
) -> Result<u64, Stop> {
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Count::default(), older).map(|count| count.0)
}

/// The same where `older` finds the entries of segments that the DRAM dictionary does not cover: nothing else differs, so
/// that is what a comparison of both measures.
pub fn count_finding(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    older: impl FindOlder,
) -> Result<u64, Stop> {
    let older = || Some(older);
    run(snapshot, query, settings, scratch, Count::default(), older).map(|count| count.0)
}

fn run<C: Collector, O: FindOlder>(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    collector: C,
    older: impl FnOnce() -> Option<O>,
) -> Result<C, Stop> {
    evaluate(snapshot, query, settings, scratch, collector, |evaluation| evaluation.run(older))
}

fn evaluate<C>(
    snapshot: Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    collector: C,
    run: impl FnOnce(&mut Evaluation<'_, C>),
) -> Result<C, Stop> {
    assert!(query.terms.len() <= scratch.clauses_max(), "a query larger than its reader");
    scratch.prepare(query);
    let part = snapshot.covered();
    // Apart from the rest, which is written while it is read.
    let lent = std::mem::take(&mut scratch.lent);
    let places = lent.places();
    let meter = Meter::new(settings.limits);
    let mut evaluation =
        Evaluation { snapshot, query, settings, scratch, lent: places, part, meter, collector };
    run(&mut evaluation);
    let (collector, stop) = (evaluation.collector, evaluation.meter.stop());
    scratch.lent = lent;
    stop.map_or(Ok(collector), Err)
}
