//! The idle index, as our users ask it.

use serde_json::json;
use spirit::{Index, Query, Reader, Search};

use crate::Fallible;
use crate::all_matches;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::report::{Table, number};
use crate::timing::Latencies;
use crate::workloads::Workload;

/// Queries of each workload, at most.
const IDLE_QUERIES: usize = 1000;
const K: usize = 10;

/// How an idle index is asked.
type Question = (&'static str, fn(&mut Reader, &Query) -> usize);

const QUESTIONS: [Question; 3] = [
    ("all", all_matches::ask),
    ("ten newest", |reader, query| engine::hits(reader, query, Search::newest(K))),
    ("ten best", |reader, query| engine::hits(reader, query, Search::best(K))),
];

/// Asks the index, to which nothing is added, for all matches, the newest and the best.
pub(super) fn idle(index: &Index, bench: &mut Bench, workloads: &[Workload]) -> Fallible<()> {
    let _pinned = bench.cores.pin(On::Second);
    let mut reader = index.reader()?;
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<&str> = ["asked"].into_iter().chain(names).collect();
    let title = "SP-C, idle, µs: P50 P95 P99 mean".to_owned();
    let mut table = Table::new(title, &head);
    for (asked, question) in QUESTIONS {
        let mut cells = vec![asked.to_owned()];
        for workload in workloads {
            let queries = &workload.queries[..workload.queries.len().min(IDLE_QUERIES)];
            let mut latencies = Latencies::with_capacity(queries.len());
            // Once to warm up.
            for _ in 0..2 {
                engine::pass(queries, &mut latencies, &mut |query: &Query| {
                    question(&mut reader, query)
                });
            }
            let values = latencies.summary().values;
            let config = [("asked", json!(asked)), ("workload", json!(workload.name))];
            bench.report.row("spirit", &config, "idle_mean_us", "us", &values[3..])?;
            cells.push(values.map(number).join(" "));
        }
        table.line(cells);
    }
    table.print();
    Ok(())
}
