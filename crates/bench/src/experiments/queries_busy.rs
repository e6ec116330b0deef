//! `queries-busy`: counts and the ten best by BM25, of every class of query, while ingest runs at full speed.
//!
//! Measured: idle and busy rounds in turn, as [`crate::busy`] says. In each, every class is counted and then ranked, over and over for
//! a fixed time, each query timed alone. P95 by round, median over rounds; the bar is busy against idle for the worst class, and its
//! geometric mean stands beside it.
//!
//! Corpus: posts, repeated; the set drawn from it by the seed ([`crate::query_sets::drawn`]).
//!
//! Caveats: the two cores share memory bandwidth and the last cache; on a shared machine, with others too. A class of few
//! slow queries has few of them in a window.

use std::time::Duration;

use serde_json::json;
use spirit::{Query, Reader, Search};

use super::newest_busy::{HEAD, line, print_rates};
use super::queries::geometric_mean;
use crate::Fallible;
use crate::bench::Bench;
use crate::busy::{self, Asked};
use crate::corpus::Corpus;
use crate::engine;
use crate::query_sets::drawn;
use crate::report::{Bound, Table, bar, number};
use crate::timing::Rounds;
use crate::workloads::{self, Workload};

const K: usize = 10;
/// Time for a class in a round, counted and ranked each.
const WINDOW: Duration = Duration::from_millis(300);

/// What is asked of a class, and how.
type Question = (&'static str, fn(&mut Reader, &Query) -> usize);

const QUESTIONS: [Question; 2] = [
    ("count", engine::count),
    ("best", |reader, query| engine::hits(reader, query, Search::best(K))),
];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("queries-busy", &corpus, &[("k", json!(K))]);
    let classes = workloads::of_set(&drawn::draw(&corpus, bench.per_class, bench.seed));
    let (cores, rounds) = (bench.cores, bench.rounds);
    let index = busy::full_index(&corpus, cores)?;
    println!("{}", engine::describe(&index)?);
    let mut reader = index.reader()?;
    let ask = |number: usize, piece, latencies: &mut _| {
        let (class, (_, ask)) = (&classes[number / 2], QUESTIONS[number % 2]);
        engine::measure_for(piece, &class.queries, latencies, |query| ask(&mut reader, query));
    };
    let questions = (classes.len() * QUESTIONS.len(), WINDOW);
    let asked = busy::alternate(&index, &corpus, cores, rounds, questions, ask)?;
    QUESTIONS.iter().enumerate().try_for_each(|(at, (name, _))| {
        let of = |all: &[Rounds]| all.iter().skip(at).step_by(2).cloned().collect();
        let asked = Asked { idle: of(&asked.idle), busy: of(&asked.busy), rates: Vec::new() };
        print(bench, &corpus, name, &classes, &asked)
    })?;
    print_rates(bench, &asked.rates)
}

/// The table of one question, and its bar.
fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    name: &str,
    classes: &[Workload],
    asked: &Asked,
) -> Fallible<()> {
    let mut table = Table::new(format!("{}: {name} beside ingest, µs", corpus.name), &HEAD);
    let mut ratios = Vec::new();
    for (class, (idle, busy)) in classes.iter().zip(asked.idle.iter().zip(&asked.busy)) {
        let config = [("workload", json!(class.name)), ("asked", json!(name))];
        line(bench, &class.name, &config, (idle, busy), &mut table)?;
        ratios.push((busy.median().p95() / idle.median().p95(), class));
    }
    table.print();
    let mean = geometric_mean(ratios.iter().map(|(ratio, _)| *ratio));
    println!("  P95 busy against idle, geometric mean: {}×", number(mean));
    if let Some((ratio, class)) = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        let what = format!("{name}, busy P95 of the worst class ({})", class.name);
        bar(&what, Bound::AtMost(1.3), "×", "idle", &Ok(*ratio));
    }
    Ok(())
}
