//! The measuring loop of the task `queries`, the same for every engine and mode.

use crate::{Fallible, Latencies, Mode, Options, Query, Reporter, Rounds, Unsupported, Workload};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Passes over the first queries of every workload before any is measured.
const SHARED_WARM_PASSES: usize = 5;

/// Queries of each workload in those passes.
const SHARED_WARM_QUERIES: usize = 200;

/// An engine set up for one mode.
pub trait Engine {
    /// A query in the engine's own form.
    type Query;

    /// Answers the query, keeps the answer and says how many documents it collected or counted.
    fn ask(&mut self, query: &Self::Query) -> Fallible<u64>;

    /// The keys of the documents in the last answer; empty in the counting modes.
    fn keys(&mut self) -> Fallible<Vec<u64>>;
}

/// The workloads in the engine's own form. One with a query that the engine does not have is left
/// out, since no other engine's time for it could be compared; a row says so.
pub fn prepare<Q>(
    workloads: Vec<Workload<Query>>,
    reporter: &Reporter,
    mut form: impl FnMut(&Query) -> Result<Q, Unsupported>,
) -> Fallible<Vec<Workload<Q>>> {
    let mut prepared = Vec::new();
    for Workload { name, queries } in workloads {
        match queries.iter().map(&mut form).collect() {
            Ok(queries) => prepared.push(Workload { name, queries }),
            Err(reason) => {
                eprintln!("{name} left out: {reason}");
                reporter.counted(&name, "unsupported", "queries", queries.len() as u64)?;
            }
        }
    }
    Ok(prepared)
}

/// Warms, measures and reports every workload.
pub fn measure_searches<E: Engine>(
    engine: &mut E,
    workloads: &[Workload<E::Query>],
    options: &Options,
    reporter: &Reporter,
) -> Fallible<()> {
    for _ in 0..SHARED_WARM_PASSES {
        for workload in workloads {
            let some = workload.queries.len().min(SHARED_WARM_QUERIES);
            pass(engine, &workload.queries[..some], options.pass_seconds_max)?;
        }
    }
    for workload in workloads {
        measure(engine, workload, options, reporter)?;
    }
    Ok(())
}

fn measure<E: Engine>(
    engine: &mut E,
    workload: &Workload<E::Query>,
    options: &Options,
    reporter: &Reporter,
) -> Fallible<()> {
    let measured = warm(engine, &workload.queries, options)?;
    let queries = &workload.queries[..measured];
    let mut rounds = Rounds::new();
    for _ in 0..options.rounds {
        rounds.push(&pass(engine, queries, f64::INFINITY)?);
    }
    eprintln!("{}: {measured} of {} queries", workload.name, workload.queries.len());
    reporter.latencies(&workload.name, "", &rounds, measured)?;
    reporter.measured(&workload.name, "qps", "1/s", &rounds.per_second())?;
    report_answers(engine, workload, measured, options.mode, reporter)
}

/// Asks the workload alone until the time is up; returns how many queries a pass has time for.
fn warm<E: Engine>(engine: &mut E, queries: &[E::Query], options: &Options) -> Fallible<usize> {
    let start = Instant::now();
    let measured = pass(engine, queries, options.pass_seconds_max)?.len();
    while start.elapsed().as_secs_f64() < options.seconds_min {
        pass(engine, &queries[..measured], options.seconds_min)?;
    }
    Ok(measured)
}

/// Asks each query once, timed alone, until all are asked or the time is up.
fn pass<E: Engine>(engine: &mut E, queries: &[E::Query], seconds_max: f64) -> Fallible<Latencies> {
    let limit = Duration::try_from_secs_f64(seconds_max).unwrap_or(Duration::MAX);
    let mut latencies = Latencies::with_capacity(queries.len());
    let mut spent = Duration::ZERO;
    for query in queries {
        let start = Instant::now();
        black_box(engine.ask(query)?);
        let duration = start.elapsed();
        latencies.push(duration);
        spent += duration;
        if spent >= limit {
            break;
        }
    }
    Ok(latencies)
}

/// Asks once more, untimed, so that the caller can check that engines agree.
fn report_answers<E: Engine>(
    engine: &mut E,
    workload: &Workload<E::Query>,
    measured: usize,
    mode: Mode,
    reporter: &Reporter,
) -> Fallible<()> {
    let (mut found, mut key_sum) = (0, 0);
    for query in &workload.queries[..measured] {
        found += engine.ask(query)?;
        key_sum += engine.keys()?.iter().sum::<u64>();
    }
    match mode {
        Mode::Count | Mode::CountFast => reporter.counted(&workload.name, "matches", "docs", found),
        Mode::Newest | Mode::NewestSorted | Mode::Top => {
            reporter.counted(&workload.name, "hits", "docs", found)?;
            reporter.counted(&workload.name, "checksum", "keys", key_sum)
        }
    }
}
