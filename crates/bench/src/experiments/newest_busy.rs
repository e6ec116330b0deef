//! `newest-busy`: the ten newest while ingest runs at full speed.
//!
//! Measured: idle and busy rounds in turn, as [`crate::busy`] says. In each, every workload is asked over and over for a fixed
//! time, each query timed alone. P95 by round, median over rounds; the bar is busy against idle for each workload.
//!
//! Corpus: posts, repeated; workloads drawn from it by document frequency with the seed.
//!
//! Caveats: the two cores share memory bandwidth and the last cache; on a shared machine, with others too.

use std::time::Duration;

use serde_json::json;
use spirit::Search;

use crate::Fallible;
use crate::bench::Bench;
use crate::busy::{self, Asked};
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Rounds, median};
use crate::workloads::{self, Workload};

const K: usize = 10;
/// Time for a workload in a round.
const WINDOW: Duration = Duration::from_millis(300);

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("newest-busy", &corpus, &[("k", json!(K))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let (cores, rounds) = (bench.cores, bench.rounds);
    let index = busy::full_index(&corpus, cores)?;
    println!("{}", engine::describe(&index)?);
    let mut reader = index.reader()?;
    let ask = |question: usize, piece, latencies: &mut _| {
        engine::measure_for(piece, &workloads[question].queries, latencies, |query| {
            engine::hits(&mut reader, query, Search::newest(K))
        });
    };
    let questions = (workloads.len(), WINDOW);
    let asked = busy::alternate(&index, &corpus, cores, rounds, questions, ask)?;
    print(bench, &corpus, &workloads, &asked)
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    asked: &Asked,
) -> Fallible<()> {
    let title = format!("{}: newest {K} beside ingest, µs", corpus.name);
    let mut table = Table::new(title, &HEAD);
    for (workload, rounds) in workloads.iter().zip(asked.idle.iter().zip(&asked.busy)) {
        let config = [("workload", json!(workload.name))];
        line(bench, &workload.name, &config, rounds, &mut table)?;
    }
    table.print();
    print_rates(bench, &asked.rates)?;
    for (workload, (idle, busy)) in workloads.iter().zip(asked.idle.iter().zip(&asked.busy)) {
        let ratio = busy.median().p95() / idle.median().p95();
        bar(&format!("{} busy P95", workload.name), Bound::AtMost(1.3), "×", "idle", &Ok(ratio));
    }
    Ok(())
}

pub(super) const HEAD: [&str; 8] = [
    "workload",
    "idle P50",
    "busy P50",
    "idle P95",
    "busy P95",
    "idle P99",
    "busy P99",
    "P95 ratio",
];

/// A line of the table and its rows: the idle and the busy rounds of one question.
pub(super) fn line(
    bench: &mut Bench,
    name: &str,
    config: &[(&str, serde_json::Value)],
    (idle, busy): (&Rounds, &Rounds),
    table: &mut Table,
) -> Fallible<()> {
    for (state, rounds) in [("idle", idle), ("busy", busy)] {
        let config: Vec<_> = config.iter().cloned().chain([("ingest", json!(state))]).collect();
        bench.report.rounds("spirit", &config, rounds)?;
    }
    let (i, b) = (idle.median(), busy.median());
    let pairs = [[i.p50(), b.p50()], [i.p95(), b.p95()], [i.p99(), b.p99()]];
    let ratio = format!("{:.2}", b.p95() / i.p95());
    let cells = pairs.into_iter().flatten().map(number);
    table.line([name.to_owned()].into_iter().chain(cells).chain([ratio]));
    Ok(())
}

/// How fast the writer was meanwhile.
pub(super) fn print_rates(bench: &mut Bench, rates: &[f64]) -> Fallible<()> {
    bench.report.row("spirit", &[], "docs_per_s", "1/s", rates)?;
    println!("  ingest meanwhile: {} documents/s", number(median(rates)));
    Ok(())
}
