//! Lucene's rows: while documents come, and on an index that does not change.

use std::path::{Path, PathBuf};

use super::Row;
use crate::Fallible;
use crate::all_matches::Sizes;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::live::CAPS;
use crate::peers::{Call, Rows, System};
use crate::scratch::Scratch;
use crate::timing::METRICS;
use crate::turns::write_queries;
use crate::workloads::Workload;

/// Queries between two refreshes; 0: never.
const REFRESHES: [(&str, u32); 5] =
    [("NRT-1", 1), ("NRT-10", 10), ("NRT-100", 100), ("NRT-1K", 1000), ("NRT-∞", 0)];
/// Queries of each workload that a static index is asked, at most.
const STATIC_QUERIES: usize = 10_000;
/// The least heap that a static index is asked from, in MiB.
const HEAP_MIN: u64 = 96;
/// The heap of unpacked postings.
const HEAP_OF_POSTINGS: &str = "8g";

/// A query that builds an index and costs nothing.
const ONE_QUERY: &str = r#"{"name": "none", "query": {"term": {"value": "\u0000"}}}"#;

/// Options of a peer.
type Options = Vec<(&'static str, String)>;

pub(super) fn rows(
    bench: &mut Bench,
    corpus: &Corpus,
    sizes: Sizes,
    workloads: &[Workload],
) -> Fallible<Vec<Row>> {
    if !bench.peers.wants(System::Lucene) {
        return Ok(Vec::new());
    }
    let docs = bench.peers.docs_file(corpus)?;
    let queries = write_queries(bench, workloads)?;
    let mut rows = Vec::new();
    for (name, refresh) in REFRESHES {
        let options = vec![("--refresh", refresh.to_string())];
        let (docs, queries) = (docs.clone(), Some(queries.clone()));
        let call = Call { task: "window", docs, queries, on: On::Both, options };
        rows.extend(row(bench, name, &call, workloads)?);
    }
    let queries = bench.peers.query_file("static.jsonl", &lines(workloads))?;
    build(bench, docs.clone())?;
    let disk = Scratch::on_disk()?;
    for (name, more) in statics(sizes, &disk) {
        let passes = [("--mode", "newest"), ("--rounds", "1"), ("--seconds-min", "0.5")];
        let mut options: Options = passes.map(|(name, value)| (name, value.to_owned())).to_vec();
        options.extend(more);
        let (docs, queries, on) = (docs.clone(), Some(queries.clone()), On::Second);
        let call = Call { task: "queries", docs, queries, on, options };
        rows.extend(row(bench, &name, &call, workloads)?);
    }
    Ok(rows)
}

/// The first queries of each workload, a line each: a small heap has no room for all.
fn lines(workloads: &[Workload]) -> String {
    let mut lines = String::new();
    for workload in workloads {
        for query in 0..workload.queries.len().min(STATIC_QUERIES) {
            lines.push_str(&workload.line(query, &workload.name));
        }
    }
    lines
}

/// The static rows, and their options.
fn statics(sizes: Sizes, disk: &Scratch) -> Vec<(String, Options)> {
    let whole = sizes.whole_bytes >> 20;
    let mut statics = Vec::new();
    for (cap, share) in CAPS {
        let heap = ((whole as f64 * share) as u64).max(HEAP_MIN);
        statics.push((format!("static-{cap}"), vec![("--heap", format!("{heap}m"))]));
    }
    let shm = Path::new("/dev/shm");
    let memory = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
    let direct = vec![
        ("--postings", "direct".to_owned()),
        ("--heap", HEAP_OF_POSTINGS.to_owned()),
        ("--heap-at", memory.to_string_lossy().into_owned()),
    ];
    statics.push(("direct".to_owned(), direct));
    let work = vec![("--work", disk.path().to_string_lossy().into_owned())];
    statics.push(("static, disk".to_owned(), work));
    statics
}

/// Builds the static index, for which a small heap would have no room.
fn build(bench: &mut Bench, docs: PathBuf) -> Fallible<()> {
    let queries = Some(bench.peers.query_file("one.jsonl", ONE_QUERY)?);
    let call = Call { task: "answers", docs, queries, on: On::Both, options: Vec::new() };
    if let Err(reason) = bench.peers.answers(System::Lucene, &call) {
        println!("the static index: not built: {reason}");
    }
    Ok(())
}

fn row(
    bench: &mut Bench,
    name: &str,
    call: &Call,
    workloads: &[Workload],
) -> Fallible<Option<Row>> {
    match bench.peers.run(System::Lucene, call) {
        Ok(all) => {
            let row = of_peer(name, &all, workloads)?;
            row.write(bench, workloads)?;
            Ok(Some(row))
        }
        Err(reason) => {
            println!("{name}: not measured: {reason}");
            Ok(None)
        }
    }
}

fn of_peer(name: &str, rows: &Rows, workloads: &[Workload]) -> Fallible<Row> {
    let mut latencies = Vec::new();
    for workload in workloads {
        let mut values = [0.0; METRICS.len()];
        for (value, metric) in values.iter_mut().zip(METRICS) {
            *value = rows.value(&workload.name, metric)?;
        }
        latencies.push(values);
    }
    let rates = workloads.iter().filter_map(|one| rows.value(&one.name, "docs_per_s").ok());
    let rates: Vec<f64> = rates.collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let docs_per_s = (!rates.is_empty()).then_some(mean);
    Ok(Row { name: name.to_owned(), system: "lucene", latencies, docs_per_s })
}
