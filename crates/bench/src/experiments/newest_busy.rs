//! `newest-busy`: the ten newest while ingest runs at full speed.
//!
//! Measured: writer and stages on the first core, one asking thread on the second. Idle and busy rounds alternate:
//! in each, every workload is asked over and over for a fixed time, each query timed alone. In busy rounds the
//! writer adds the corpus again and again as fast as it can; in idle rounds it rests and all stages are done. The
//! heap is full before the first round and the oldest segment goes when a new one needs room, so the index is as
//! large idle as busy. P95 by round, median over rounds; the bar is busy against idle for each workload.
//!
//! Corpus: posts, repeated; workloads drawn from it by document frequency with the seed.
//!
//! Caveats: the two cores share memory bandwidth and the last cache; on a shared machine, with others too.

use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::{Index, OnFull, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Rounds};
use crate::workloads::{self, Workload};

const K: usize = 10;
/// Time for a workload in a round.
const WINDOW: Duration = Duration::from_millis(300);
/// Queries timed in it at most.
const QUERIES_MAX: usize = 2_000_000;
/// Documents that the writer adds between looks at what it should do.
const BATCH: usize = 2048;
/// Repetitions of the corpus after which a heap that is not full is not expected to become so.
const REPETITIONS_MAX: usize = 10_000;

/// What the writer should do, and what it does.
struct Orders {
    wanted: AtomicU8,
    /// The writer rests.
    resting: AtomicBool,
}

const REST: u8 = 0;
const WORK: u8 = 1;
const END: u8 = 2;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("newest-busy", &corpus, &[("k", json!(K))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let cores = bench.cores;
    let index = full_index(&corpus, cores)?;
    println!("{}", engine::describe(&index)?);
    let orders = Orders { wanted: AtomicU8::new(REST), resting: AtomicBool::new(false) };
    let rounds = bench.rounds;
    let ([idle, busy], rates) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _pinned = cores.pin(On::First);
            write(&index, &corpus, &orders)
        });
        let _pinned = cores.pin(On::Second);
        let asked = ask(&index, &workloads, &orders, rounds);
        orders.wanted.store(END, Release);
        writer.join().map_err(|_| "the writing thread panicked")??;
        asked
    })?;
    print(bench, &corpus, &workloads, [&idle, &busy], &rates)
}

/// An index whose heap is full, with its stages on the first core.
fn full_index(corpus: &Corpus, cores: Cores) -> Fallible<Index> {
    let _pinned = cores.pin(On::First);
    let index = engine::options(corpus).on_full(OnFull::DropOldest).open()?;
    for _ in 0..REPETITIONS_MAX {
        index.add_all(corpus.iter().map(|text| (None, text)))?;
        index.settle();
        if index.stats()?.dropped_segments > 0 {
            return Ok(index);
        }
    }
    Err("the heap does not become full".into())
}

fn write(index: &Index, corpus: &Corpus, orders: &Orders) -> Result<(), String> {
    let mut next = 0;
    loop {
        match orders.wanted.load(Acquire) {
            WORK => {
                orders.resting.store(false, Release);
                let end = (next + BATCH).min(corpus.len());
                let documents = (next..end).map(|number| (None, corpus.get(number)));
                index.add_all(documents).map_err(|error| error.to_string())?;
                next = if end == corpus.len() { 0 } else { end };
            }
            REST => {
                orders.resting.store(true, Release);
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => return Ok(()),
        }
    }
}

/// The idle and the busy rounds of each workload, and documents a second in the busy ones.
type Asked = ([Vec<Rounds>; 2], Vec<f64>);

fn ask(index: &Index, workloads: &[Workload], orders: &Orders, rounds: usize) -> Fallible<Asked> {
    let mut reader = index.reader()?;
    let mut latencies = Latencies::with_capacity(QUERIES_MAX);
    let mut asked = [engine::no_rounds(workloads), engine::no_rounds(workloads)];
    let mut rates = Vec::new();
    // The first idle round warms up.
    for round in 0..=rounds {
        for (busy, all) in asked.iter_mut().enumerate() {
            turn(index, orders, busy == 1);
            let (accepted, start) = (index.accepted(), Instant::now());
            for (workload, all) in workloads.iter().zip(all) {
                engine::measure_for(WINDOW, &workload.queries, &mut latencies, |query| {
                    reader.search(query, Search::newest(K)).len()
                });
                if round > 0 {
                    all.push(latencies.summary());
                }
            }
            if busy == 1 && round > 0 {
                rates.push((index.accepted() - accepted) as f64 / start.elapsed().as_secs_f64());
            }
        }
    }
    Ok((asked, rates))
}

/// Makes the writer work or rest, and waits until it does.
fn turn(index: &Index, orders: &Orders, busy: bool) {
    orders.wanted.store(if busy { WORK } else { REST }, Release);
    let patience = Instant::now();
    while orders.resting.load(Acquire) == busy && patience.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    if !busy {
        index.settle();
    }
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    [idle, busy]: [&[Rounds]; 2],
    rates: &[f64],
) -> Fallible<()> {
    let title = format!("{}: newest {K} beside ingest, µs", corpus.name);
    let head = [
        "workload",
        "idle P50",
        "busy P50",
        "idle P95",
        "busy P95",
        "idle P99",
        "busy P99",
        "P95 ratio",
    ];
    let mut table = Table::new(title, &head);
    for (workload, (idle, busy)) in workloads.iter().zip(idle.iter().zip(busy)) {
        for (state, rounds) in [("idle", idle), ("busy", busy)] {
            let config = [("workload", json!(workload.name)), ("ingest", json!(state))];
            bench.report.rounds("spirit", &config, rounds)?;
        }
        let (i, b) = (idle.median(), busy.median());
        let pairs = [[i.p50(), b.p50()], [i.p95(), b.p95()], [i.p99(), b.p99()]];
        let ratio = format!("{:.2}", b.p95() / i.p95());
        let cells = pairs.into_iter().flatten().map(number);
        table.line([workload.name.to_owned()].into_iter().chain(cells).chain([ratio]));
    }
    table.print();
    bench.report.row("spirit", &[], "docs_per_s", "1/s", rates)?;
    println!("  ingest meanwhile: {} documents/s", number(crate::timing::median(rates)));
    for (workload, (idle, busy)) in workloads.iter().zip(idle.iter().zip(busy)) {
        let ratio = busy.median().p95() / idle.median().p95();
        bar(&format!("{} busy P95", workload.name), Bound::AtMost(1.3), "×", "idle", &Ok(ratio));
    }
    Ok(())
}
