//! `intersect`: the papers' intersection algorithms (naive, binary, finger) and the vectorized one.
//!
//! Measured as in `newest`, with the algorithm forced: the ten newest, where an intersection may stop early, and
//! the newest 10,000, where nearly every one runs to its end. The rounds of the algorithms alternate. All must find
//! the same, or the program ends and names the query.
//!
//! Corpus: posts; two-term workloads drawn from it by document frequency with the seed.
//!
//! Caveats: lists that are dense in a segment have a bitmap beside them that only the vectorized way uses; "auto" is
//! what the planner takes. The 10,000 hits are written to an array in the clock.

use serde_json::json;
use spirit::lab::Algorithm;
use spirit::{Index, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::report::{Table, number};
use crate::timing::Rounds;
use crate::workloads::{self, Workload};

pub(super) const ALGORITHMS: [(&str, Option<Algorithm>); 5] = [
    ("naive", Some(Algorithm::Naive)),
    ("binary", Some(Algorithm::Binary)),
    ("finger", Some(Algorithm::Finger)),
    ("simd", Some(Algorithm::Simd)),
    ("auto", None),
];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    let mut workloads = workloads::draw(&corpus, bench.seed)?;
    workloads.retain(|workload| workload.name.len() == 2);
    let _pinned = bench.cores.pin(On::Second);
    let index = engine::filled(engine::options(&corpus), &corpus)?;
    println!("{}", engine::describe(&index)?);
    for k in [10, Search::HITS_MAX] {
        bench.begin("intersect", &corpus, &[("k", json!(k))]);
        same_answers(&index, &workloads, k)?;
        let all = measure(&index, &workloads, k, bench.rounds)?;
        let title = format!("{}: newest {k} by algorithm, µs P50 (mean)", corpus.name);
        print(bench, &title, &workloads, &all)?;
    }
    println!("no bar: the figures are for comparison with the papers");
    Ok(())
}

fn search(k: usize, algorithm: Option<Algorithm>) -> Search {
    Search::newest(k).algorithm(algorithm)
}

fn same_answers(index: &Index, workloads: &[Workload], k: usize) -> Fallible<()> {
    let mut reader = index.reader()?;
    for workload in workloads {
        for (q, query) in workload.queries.iter().enumerate() {
            let auto: Vec<u64> = reader
                .search(query, search(k, None))?
                .iter()
                .map(|hit| hit.sequence())
                .collect::<Result<Vec<_>, _>>()?;
            for (name, algorithm) in ALGORITHMS {
                if reader
                    .search(query, search(k, algorithm))?
                    .iter()
                    .map(|hit| hit.sequence())
                    .collect::<Result<Vec<_>, _>>()?
                    != auto
                {
                    let (workload, text) = (&workload.name, workload.text(q));
                    return Err(
                        format!("results differ at {workload} query `{text}`: {name}").into()
                    );
                }
            }
        }
    }
    Ok(())
}

fn measure(
    index: &Index,
    workloads: &[Workload],
    k: usize,
    rounds: usize,
) -> Fallible<Vec<Vec<Rounds>>> {
    let mut all: Vec<Vec<Rounds>> =
        ALGORITHMS.iter().map(|_| engine::no_rounds(workloads)).collect();
    let mut reader = index.reader()?;
    for _ in 0..rounds {
        for ((_, algorithm), rounds) in ALGORITHMS.iter().zip(&mut all) {
            engine::measure(workloads, 1, rounds, |query| {
                engine::hits(&mut reader, query, search(k, *algorithm))
            });
        }
    }
    Ok(all)
}

fn print(
    bench: &mut Bench,
    title: &str,
    workloads: &[Workload],
    all: &[Vec<Rounds>],
) -> Fallible<()> {
    let head: Vec<&str> =
        std::iter::once("workload").chain(ALGORITHMS.map(|(name, _)| name)).collect();
    let mut table = Table::new(title, &head);
    for (number_of, workload) in workloads.iter().enumerate() {
        let mut cells = vec![workload.name.clone()];
        for ((name, _), rounds) in ALGORITHMS.iter().zip(all) {
            let config = [("workload", json!(workload.name)), ("algorithm", json!(name))];
            bench.report.rounds("spirit", &config, &rounds[number_of])?;
            let median = rounds[number_of].median();
            cells.push(format!("{} ({})", number(median.p50()), number(median.values[3])));
        }
        table.line(cells);
    }
    table.print();
    Ok(())
}
