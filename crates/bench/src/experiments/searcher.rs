//! `searcher`: the price of a searcher, which threads share, over a reader, which one thread owns.
//!
//! Measured: one thread on one core asks the ten newest of each query of a workload by both, in turns: reader, searcher, searcher,
//! reader. A turn is timed as a whole. Nanoseconds a query, median of the rounds; and the median of the rounds' differences.
//!
//! Corpus: posts; the workloads of `newest`. Our index alone, as ingest left it.
//!
//! Caveats: the searcher is asked by one thread, so its desk is in that core's cache. The difference of slow queries is within
//! the noise of the machine: the single terms are those that count.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use spirit::{Index, Query, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;
use crate::workloads;

const K: usize = 10;
/// Rounds of a workload, at least.
const ROUNDS_MIN: usize = 41;
/// The goal, in nanoseconds a query.
const GOAL_NS: f64 = 20.0;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("searcher", &corpus, &[("k", json!(K))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let index = engine::filled(engine::options(&corpus), &corpus)?;
    println!("{}", engine::describe(&index)?);
    let title = format!("{}: newest {K}, ns a query", corpus.name);
    let mut table = Table::new(title, &["workload", "reader", "searcher", "difference"]);
    let mut prices = Vec::new();
    for workload in &workloads {
        let found = measure(&index, &workload.queries, bench.rounds.max(ROUNDS_MIN))?;
        let key = [("workload", json!(workload.name))];
        for (system, runs) in ["reader", "searcher", "difference"].into_iter().zip(&found) {
            bench.report.row(system, &key, "mean_ns", "ns", runs)?;
        }
        let medians = found.map(|runs| median(&runs));
        table.line([workload.name.clone()].into_iter().chain(medians.map(number)));
        prices.push((workload.name.clone(), medians[2]));
    }
    table.print();
    for (name, price) in prices.into_iter().filter(|(name, _)| name.len() == 1) {
        bar(&name, Bound::AtMost(GOAL_NS), " ns more", "a reader", &Ok(price));
    }
    Ok(())
}

/// Nanoseconds a query of each round: by the reader, by the searcher, and their difference.
fn measure(index: &Index, queries: &[Query], rounds: usize) -> Fallible<[Vec<f64>; 3]> {
    let (mut reader, searcher) = (index.reader()?, index.searcher());
    let mut by_reader =
        || turn(queries, |query| engine::hits(&mut reader, query, Search::newest(K)));
    let by_searcher = || {
        let hits = |query: &Query| searcher.search(query, Search::newest(K));
        turn(queries, |query| hits(query).map_or(0, |hits| hits.len()))
    };
    black_box((by_reader(), by_searcher()));
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let (first, second, third, last) = (by_reader(), by_searcher(), by_searcher(), by_reader());
        let (reader, searcher) = ((first + last) / 2.0, (second + third) / 2.0);
        for (runs, value) in found.iter_mut().zip([reader, searcher, searcher - reader]) {
            runs.push(value);
        }
    }
    Ok(found)
}

/// Asks every query once. Returns nanoseconds a query.
fn turn(queries: &[Query], mut ask: impl FnMut(&Query) -> usize) -> f64 {
    let start = Instant::now();
    for query in queries {
        black_box(ask(query));
    }
    start.elapsed().as_nanos() as f64 / queries.len().max(1) as f64
}
