//! The query language and its evaluators.
//!
//! [`Parser`] makes a [`Query`] of text. [`newest`], [`count`], [`best`] and [`sorted`] evaluate it
//! over a snapshot. Evaluators know segments as a snapshot shows them, never the writer. They
//! allocate nothing once a query, a [`Scratch`] and a list of hits exist. A [`Highlighter`] finds a
//! query's matches in a text.
#![forbid(unsafe_code)]

mod automaton;
mod blank_groups;
mod clause;
mod collect;
mod compile;
mod decide;
mod display;
mod duplicate_terms;
mod equal_scores;
mod evaluate;
mod explanation;
mod expression;
mod facet;
mod fade;
mod fingerprint;
mod fuzzy;
mod highlight;
mod interval;
mod kept_clauses;
mod leaf;
mod limits;
mod necessary;
mod one_object;
mod packed;
mod packed_key;
mod packed_terms;
mod parse;
mod pattern;
mod plan;
mod prefix_filter;
mod problem;
mod proximity;
mod query;
mod query_pattern;
mod query_plan;
mod quick;
mod range;
mod rank;
mod slop;
mod sort;
mod target;
mod top;
mod total;
mod tuning;
mod verdict;
mod words;

pub use clause::{Bool, Clause, TEXT, Word};
pub use collect::Address;
pub use decide::{Decider, DocumentTerms};
pub use equal_scores::has_equal_scores;
pub use evaluate::{Scratch, Settings, Wanted, snapshot_for};
pub use explanation::{Explanation, Frequency, Scoring, Worth};
pub use facet::{
    Aggregate, Aggregation, BUCKETS_MAX, DateInterval, FACETS_MAX, Facet, FacetError, Refined,
    StandIn, Summary, TopTerms,
};
pub use fade::Fading;
pub use fingerprint::Fingerprint;
pub use highlight::{Highlight, Highlighter, SNIPPETS_MAX, Snippet};
pub use kept_clauses::{ClauseAt, ClauseBits, ClauseStore, KEPT_CLAUSES_MAX, KeptClauses};
pub use limits::{DISTANCE_MAX, EXPANSIONS_MAX, FACET_BYTES_MAX, Limits, Stop};
pub use packed_key::write_key;
pub use packed_terms::{Joint, PackedTerms, take_term, term_query};
pub use parse::{Operator, ParseError, Parser};
pub use problem::Problem;
pub use query::{CLAUSES_MAX, DEPTH_MAX, Occur, Query};
pub use query_plan::{
    ClausePlan, Evaluator, ExecutorPlan, Expansion, Lists, Meetings, PartPlan, QueryPlan, Source,
};
pub use quick::{asks_for_keys, has_quick_count, has_quick_newest};
pub use rank::{Counts, Parameters, Ranking};
pub use sort::{Direction, First, FirstKeyed, KEYS_MAX, KeyBy, Keyed, SortBy, SortKey, Sorted};
pub use spirit_kernel::{Algorithm, Level};
pub use top::{Placed, Scored, Top};
pub use total::{Tally, Total};
pub use words::WORDS_BYTES_MAX;

use spirit_index::form::{FindOlder, OlderEntries};
use spirit_index::snapshot::Snapshot;
use spirit_schema::Schema;

use collect::{Collector, Count, Newest};
use equal_scores::EqualScores;
use evaluate::{Evaluation, Explained, Ranked, Surveyed};
use limits::Meter;
use plan::RankedPlan;
use sort::{Keying, Sorting};

/// Appends the newest `k` matches in `executor`'s snapshot to `hits`, newest first.
pub fn newest(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    executor: u32,
    k: usize,
    hits: &mut Vec<Address>,
) -> Result<(), Stop> {
    if k == 0 {
        return Ok(());
    }
    let end = hits.len() + k;
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Newest { hits, end, executor }, older).map(drop)
}

/// Offers to `top` the matches in `executor`'s snapshot that may be among the best. `scratch` must
/// have [weighed](Scratch::weigh) the query; otherwise nothing is found.
pub fn best(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    ranking: Ranking,
    scratch: &mut Scratch,
    executor: u32,
    top: &mut Top,
) -> Result<(), Stop> {
    let weights = std::mem::take(&mut scratch.weights);
    let proximity = std::mem::take(&mut scratch.proximity);
    let mut done = Ok(());
    if weights.are_of(query) && top.takes_any() {
        let highest = weights.highest(query);
        top.enter_executor(executor);
        let Ranking { skips, fading, .. } = ranking;
        let plan = RankedPlan::of(query, settings.windows);
        let (weights, proximity) = (&weights, proximity.asked());
        let ranked = Ranked { top, weights, executor, skips, fading, proximity, highest, plan };
        let older = || OlderEntries::new(snapshot.memory());
        let rank = |evaluation: &mut Evaluation<'_, Ranked<'_>>| evaluation.rank(older);
        done = evaluate(snapshot, query, settings, scratch, ranked, rank).map(drop);
    }
    scratch.weights = weights;
    scratch.proximity = proximity;
    done
}

/// Like [`best`], for a query that [has equal scores](has_equal_scores). Counts its matches too. For
/// a first page without fading.
pub fn newest_of_equals(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    executor: u32,
    top: &mut Top,
    tally: &mut Tally,
) -> Result<(), Stop> {
    let score = scratch.highest_score(query);
    let left = top.first_page().unwrap_or(0);
    let equals = EqualScores { top, tally: *tally, snapshot, executor, score, left };
    let older = || OlderEntries::new(snapshot.memory());
    *tally = run(snapshot, query, settings, scratch, equals, older)?.tally;
    Ok(())
}

/// Offers to `first` the matches in `executor`'s snapshot that may be among the first in the order
/// of a field's values.
pub fn sorted(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    by: SortBy,
    scratch: &mut Scratch,
    executor: u32,
    first: &mut First,
) -> Result<(), Stop> {
    if !first.takes_any() {
        return Ok(());
    }
    let sorting = Sorting::new(first, by, executor);
    let older = || OlderEntries::new(snapshot.memory());
    let sort = |evaluation: &mut Evaluation<'_, Sorting<'_>>| evaluation.sort(older);
    evaluate(snapshot, query, settings, scratch, sorting, sort).map(drop)
}

/// Like [`sorted`], in the order of several keys.
pub fn sorted_by_keys(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    executor: u32,
    first: &mut FirstKeyed,
) -> Result<(), Stop> {
    let keying = Keying { first, executor };
    let older = || OlderEntries::new(snapshot.memory());
    let sort = |evaluation: &mut Evaluation<'_, Keying<'_>>| evaluation.sort_by_keys(older);
    evaluate(snapshot, query, settings, scratch, keying, sort).map(drop)
}

/// Returns the plan by which a query is evaluated in a snapshot. Fields have their names in
/// `schema`.
pub fn survey(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    schema: &Schema,
    wanted: Wanted,
) -> Result<ExecutorPlan, Stop> {
    let mut plan = None;
    let survey = |evaluation: &mut Evaluation<'_, _>| plan = Some(evaluation.survey());
    evaluate(snapshot, query, settings, scratch, Surveyed { schema, wanted }, survey)?;
    Ok(plan.expect("the plan was made above"))
}

/// Explains the score of the document with a key; `None` if `snapshot` has no such document.
/// `scratch` must have [weighed](Scratch::weigh) the query by these counts and parameters.
pub fn explain(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    by: &Scoring<'_>,
    key: &[u8],
) -> Result<Option<Explanation>, Stop> {
    let Scoring { schema, counts, parameters, fading } = *by;
    let weights = std::mem::take(&mut scratch.weights);
    let proximity = std::mem::take(&mut scratch.proximity);
    let explained = Explained {
        schema,
        weights: &weights,
        counts,
        parameters,
        fading,
        proximity: proximity.asked(),
    };
    let mut found = None;
    let explain = |evaluation: &mut Evaluation<'_, _>| found = evaluation.explain(key);
    let done = evaluate(snapshot, query, settings, scratch, explained, explain).map(drop);
    scratch.weights = weights;
    scratch.proximity = proximity;
    done.map(|()| found)
}

/// Counts the matches in a snapshot exactly.
pub fn count(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
) -> Result<u64, Stop> {
    let older = || OlderEntries::new(snapshot.memory());
    run(snapshot, query, settings, scratch, Count::default(), older).map(|count| count.0)
}

/// Like [`count`], but `older` finds the entries of segments that the DRAM dictionary does not
/// cover. Nothing else differs, so a benchmark of both compares the ways of finding entries.
pub fn count_finding(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    older: impl FindOlder,
) -> Result<u64, Stop> {
    let older = || Some(older);
    run(snapshot, query, settings, scratch, Count::default(), older).map(|count| count.0)
}

fn run<C: Collector, O: FindOlder>(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    collector: C,
    older: impl FnOnce() -> Option<O>,
) -> Result<C, Stop> {
    evaluate(snapshot, query, settings, scratch, collector, |evaluation| evaluation.run(older))
}

fn evaluate<C>(
    snapshot: &Snapshot<'_>,
    query: &Query,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    collector: C,
    run: impl FnOnce(&mut Evaluation<'_, C>),
) -> Result<C, Stop> {
    assert!(query.terms.len() <= scratch.clauses_max(), "a query larger than its reader");
    scratch.prepare(query);
    scratch.places.forget();
    let part = snapshot.covered();
    // Moved out, since evaluators read it while they write the rest of the scratch memory.
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
