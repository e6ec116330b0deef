//! `newest`: the ten newest documents that match, on an idle index.
//!
//! Measured: one thread on one core asks each query of a workload once a round, timed alone, from the prebuilt
//! query to the sequence numbers in an array; P50, P95, P99 of the round, median over rounds. Our index is live:
//! as ingest left it, the newest segment not flushed. The peers' is sorted newest first and merged into one
//! segment, a layout that exists only offline: their strongest form. First, outside the clock, all answers are
//! compared by count and sum of keys; a difference ends the program and names the query.
//!
//! Corpus: posts; workloads drawn from it by document frequency with the seed (BASELINE §2).
//!
//! Caveats: single terms take about as long as reading the clock twice. Answers are compared within the first
//! ten only.

use std::path::PathBuf;

use serde_json::json;
use spirit::Search;

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::timing::{METRICS, Rounds};
use crate::turns::{Contender, answers, compare, take_turns, write_queries};
use crate::workloads::{self, Workload};

const K: usize = 10;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("newest", &corpus, &[("k", json!(K))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let index = engine::filled(engine::options(&corpus), &corpus)?;
    println!("{}", engine::describe(&index)?);
    let mut contenders = contenders(bench, &corpus, &workloads, &[("newest-sorted", "")], &[])?;
    let found = answers(&index, &workloads, Some(K))?;
    compare(bench, &mut contenders, &workloads, &found)?;

    let mut ours = engine::no_rounds(&workloads);
    let rounds = bench.rounds;
    take_turns(&mut bench.peers, &mut contenders, || {
        let mut reader = index.reader()?;
        engine::measure(&workloads, rounds, &mut ours, |query| {
            engine::hits(&mut reader, query, Search::newest(K))
        });
        Ok(())
    })?;
    print(bench, &format!("{}: newest {K}, µs", corpus.name), &workloads, &ours, &contenders)?;
    let tantivy = contenders.iter().find(|contender| contender.system == System::Tantivy);
    for (workload, ours) in workloads.iter().zip(&ours) {
        let bound = Bound::AtLeast(if workload.name == "MM" { 5.0 } else { 3.0 });
        let theirs =
            tantivy.map_or(Err("not asked for".to_owned()), |t| t.value(&workload.name, "p50_us"));
        let measured = theirs.map(|theirs| theirs / ours.median().p50());
        bar(&workload.name, bound, "×", "tantivy", &measured);
    }
    Ok(())
}

/// tantivy and Lucene, each in these modes with these names, and with more options.
pub(super) fn contenders(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    modes: &[(&'static str, &'static str)],
    more: &[(&'static str, String)],
) -> Fallible<Vec<Contender>> {
    let wanted: Vec<System> =
        [System::Tantivy, System::Lucene].into_iter().filter(|s| bench.peers.wants(*s)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let docs: PathBuf = bench.peers.docs_file(corpus)?;
    let queries = write_queries(bench, workloads)?;
    let mut contenders = Vec::new();
    for (mode, way) in modes {
        for system in &wanted {
            let mut options =
                vec![("--mode", (*mode).to_owned()), ("--rounds", bench.rounds.to_string())];
            options.extend_from_slice(more);
            let (docs, queries) = (docs.clone(), Some(queries.clone()));
            let call = Call { task: "queries", docs, queries, on: On::Second, options };
            contenders.push(Contender::new(*system, way, call));
        }
    }
    Ok(contenders)
}

/// A peer's rows of a workload.
pub(super) fn report_peer(bench: &mut Bench, workload: &str, peer: &Contender) -> Fallible<()> {
    let config = [("workload", json!(workload)), ("mode", json!(peer.mode()))];
    for row in peer.rows()?.0.iter().filter(|row| row.workload == workload) {
        bench.report.row(peer.system.name(), &config, &row.metric, &row.unit, &row.runs)?;
    }
    Ok(())
}

/// The table of a query experiment, and its rows.
pub(super) fn print(
    bench: &mut Bench,
    title: &str,
    workloads: &[Workload],
    ours: &[Rounds],
    contenders: &[Contender],
) -> Fallible<()> {
    let mut table =
        Table::new(title, &["workload, system", "P50", "P95", "P99", "mean", "P50 / ours"]);
    for (workload, ours) in workloads.iter().zip(ours) {
        let config = [("workload", json!(workload.name))];
        bench.report.rounds("spirit", &config, ours)?;
        let name = |system: &str| format!("{:<2} {system}", workload.name);
        let median = ours.median();
        table.line(
            [name("spirit")].into_iter().chain(median.values.map(number)).chain([String::new()]),
        );
        for peer in contenders {
            let rows = match peer.rows() {
                Ok(rows) => rows,
                Err(reason) => {
                    table.not_measured(&name(&peer.label), &reason);
                    continue;
                }
            };
            report_peer(bench, &workload.name, peer)?;
            let values =
                METRICS.map(|metric| rows.value(&workload.name, metric).map_or_else(|e| e, number));
            let ratio = rows.value(&workload.name, "p50_us")? / median.p50();
            table.line(
                [name(&peer.label)]
                    .into_iter()
                    .chain(values)
                    .chain([format!("{}×", number(ratio))]),
            );
        }
    }
    table.print();
    Ok(())
}
