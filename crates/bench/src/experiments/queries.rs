//! `queries`: what every class of query costs, counted, ranked and newest first, ours beside the peers.
//!
//! Measured as in `newest`: one thread, one core, each query alone, from the prebuilt query to the answer; P50 and mean of a round,
//! medians over rounds. What reading the clock takes is subtracted from all engines' times: it would be a quarter of the shortest queries.
//! Our index is asked in two forms: *live*, as a stream leaves it, a handful of segments, of which the newest is fresh and not full; and *at rest*,
//! the same documents in flushed segments of the usual size. The peers' is at rest, merged into one segment, so that is what the bars compare.
//!
//! | asked | ours | peers |
//! |---|---|---|
//! | `count` | the exact number of matches | by visiting every match (`count`), which the bars are against; by their own call, which may answer from statistics (`count-fast`) |
//! | `best` | the ten best by BM25, skipping what cannot be among them | the same by their own call (`top`) |
//! | `newest` | the ten newest | on an index sorted newest first and merged offline (`newest-sorted`), by visiting every match (`newest`); the bars are against the cheaper |
//!
//! First all answers are compared as in `equal`; a class that differs is marked with `≠`, and the experiment ends with an error.
//! Classes of single terms, of ANDs and ORs of terms, and of phrases stand above the line with their geometric mean; all others below it. The
//! bars are for those of the published sets.
//!
//! Corpora: posts and articles, with queries drawn from them by the seed and with the published sets ([`crate::query_sets`]).
//!
//! Caveats: the warm-up of a class is shorter than in `newest`, since there are many. Where a peer takes longer than ten seconds for a
//! class it is measured on the class's first queries alone.

mod class;
mod kind;
mod table;

use serde_json::json;
use spirit::Index;

use super::equal::{self, Asked, FirstDifference, Side};
use super::newest::contenders;
use crate::Fallible;
use crate::bench::Bench;
use crate::bm25::Statistics;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::query_sets::QuerySet;
use crate::timing;
use crate::turns::take_turns;
use crate::workloads;
use class::Class;
pub(super) use class::geometric_mean;
use kind::{KINDS, Kind};
use table::Measured;

/// A class alone, before it is measured.
const WARM_UP_SECONDS: &str = "0.3";

/// Forms of our index.
const FORMS: [&str; 2] = ["live", "at rest"];
/// The one that the bars are for.
const AT_REST: usize = 1;

/// Our index, in each of the forms.
struct Ours([Index; FORMS.len()]);

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let mut differences = Vec::new();
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        let statistics = Statistics::of(&corpus);
        let _pinned = bench.cores.pin(On::Second);
        let ours = Ours::filled(&corpus)?;
        let mut classes: [Vec<Class>; KINDS.len()] = Default::default();
        for (name, set) in equal::text_sets(bench, &corpus)? {
            bench.begin("queries", &corpus, &[("set", json!(name))]);
            print_lacking(&set);
            let found = compare(bench, &corpus, &statistics, &ours, (name, &set))?;
            for (kind, classes) in KINDS.iter().zip(&mut classes) {
                let config = [("set", json!(name)), ("asked", json!(kind.name))];
                bench.begin("queries", &corpus, &config);
                classes.extend(measure(bench, &corpus, &ours, kind, (name, &set), &found)?);
            }
            differences.extend(found);
        }
        for (kind, classes) in KINDS.iter().zip(&classes) {
            kind.verdicts(&corpus.name, classes);
        }
    }
    equal::outcome(&differences)
}

impl Ours {
    fn filled(corpus: &Corpus) -> Fallible<Ours> {
        let live = engine::filled(engine::stream_options(corpus), corpus)?;
        let at_rest = engine::filled(engine::options(corpus), corpus)?;
        at_rest.flush()?;
        at_rest.settle();
        let ours = Ours([live, at_rest]);
        for (form, index) in FORMS.iter().zip(&ours.0) {
            println!("{form}: {}", engine::describe(index)?);
        }
        Ok(ours)
    }
}

/// Differences between our answers and the peers'.
fn compare(
    bench: &mut Bench,
    corpus: &Corpus,
    statistics: &Statistics,
    ours: &Ours,
    (name, set): (&str, &QuerySet),
) -> Fallible<Vec<FirstDifference>> {
    let forms = FORMS.iter().zip(&ours.0);
    let mut sides: Vec<Side> =
        forms.map(|(form, index)| Side::ours(form, index, set)).collect::<Fallible<_>>()?;
    let docs = bench.peers.docs_file(corpus)?;
    sides.extend(equal::peers(bench, &docs, name, set)?);
    let mut found =
        Asked { corpus, statistics, columns: None, set, sides: &sides }.print(bench, name)?;
    found.retain(|difference| difference.is_error);
    Ok(found)
}

/// One kind of question to all classes of a set, of all engines in turn.
fn measure(
    bench: &mut Bench,
    corpus: &Corpus,
    ours: &Ours,
    kind: &Kind,
    (name, set): (&'static str, &QuerySet),
    differences: &[FirstDifference],
) -> Fallible<Vec<Class>> {
    let workloads = workloads::of_set(set);
    let modes: Vec<_> = kind.modes.iter().map(|mode| (*mode, *mode)).collect();
    let warm_up = [("--seconds-min", WARM_UP_SECONDS.to_owned())];
    let mut contenders = contenders(bench, corpus, &workloads, &modes, &warm_up)?;
    let clock_us = timing::clock_overhead_ns() as f64 / 1e3;
    let mut rounds = FORMS.map(|_| engine::no_rounds(&workloads));
    let rounds_wanted = bench.rounds;
    take_turns(&mut bench.peers, &mut contenders, || {
        for (index, all) in ours.0.iter().zip(&mut rounds) {
            let mut reader = index.reader()?;
            engine::measure(&workloads, rounds_wanted, all, |query| (kind.ask)(&mut reader, query));
        }
        Ok(())
    })?;
    let measured =
        Measured { set: name, workloads: &workloads, rounds: &rounds, contenders, clock_us };
    let classes = measured.classes(set, differences);
    measured.report(bench)?;
    measured.print(&format!("{}, {name}: {}, µs", corpus.name, kind.title), &classes);
    Ok(classes)
}

/// Says what of a set is not asked because we do not have it.
fn print_lacking(set: &QuerySet) {
    let asked = workloads::of_set(set).iter().map(|workload| workload.queries.len()).sum();
    if let Some(lacking @ 1..) = set.queries.len().checked_sub(asked) {
        println!("not asked: {lacking} queries that we do not have");
    }
}
