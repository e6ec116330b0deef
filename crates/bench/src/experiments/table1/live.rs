//! Our rows: an index that is asked while documents go in.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use serde_json::json;
use spirit::{Index, Mode, Query, Reader, Search};

use super::Row;
use crate::Fallible;
use crate::all_matches;
use crate::bench::Bench;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::Latencies;
use crate::workloads::Workload;

/// The modes, as the paper calls them.
pub(super) const MODES: [(&str, Mode); 3] =
    [("SP-V", Mode::Volatile), ("SP-G", Mode::Graceful), ("SP-C", Mode::Crash)];
/// Tight, moderate and loose: long-term DRAM as a share of what the index takes.
pub(super) const CAPS: [(&str, f64); 3] = [("T", 0.15), ("M", 0.55), ("L", 1.0)];
/// Queries of a window, at most.
const ASKED_MAX: usize = 4_000_000;
/// Queries of each workload on the idle index, at most.
const IDLE_QUERIES: usize = 1000;
const K: usize = 10;

/// How an idle index is asked.
type Question = (&'static str, fn(&mut Reader, &Query) -> usize);

const QUESTIONS: [Question; 3] = [
    ("all", all_matches::ask),
    ("ten newest", |reader, query| engine::hits(reader, query, Search::newest(K))),
    ("ten best", |reader, query| engine::hits(reader, query, Search::best(K))),
];

/// An index with four fifths of the documents.
pub(super) struct Live {
    index: Index,
    mode: &'static str,
    /// Behind the index: it outlives it.
    _scratch: Scratch,
}

impl Live {
    pub(super) fn filled(corpus: &Corpus, mode: Mode, long: f64, cores: Cores) -> Fallible<Live> {
        let scratch = Scratch::new()?;
        // What is behind ingest stays where it is started: the other core is the queries'.
        let _pinned = cores.pin(On::First);
        let options = all_matches::options(corpus, all_matches::SEGMENTS, long);
        let index = options.mode(mode).directory(scratch.path()).open()?;
        index.add_all(corpus.iter().take(base(corpus)).map(|text| (None, text)))?;
        index.settle();
        let mode = MODES.iter().find(|(_, other)| *other == mode).map_or("", |(name, _)| name);
        Ok(Live { index, mode, _scratch: scratch })
    }

    /// Asks each workload while its share of the rest goes in.
    pub(super) fn asked(
        &self,
        name: &str,
        corpus: &Corpus,
        workloads: &[Workload],
        cores: Cores,
    ) -> Fallible<Row> {
        let mut reader = self.index.reader()?;
        let share = (corpus.len() - base(corpus)) / workloads.len();
        let (mut latencies, mut rates) = (Vec::new(), Vec::new());
        for (number, workload) in workloads.iter().enumerate() {
            let from = base(corpus) + number * share;
            let documents = (from..from + share).map(|number| (None, corpus.get(number)));
            let is_written = AtomicBool::new(false);
            let mut asked = Latencies::with_capacity(ASKED_MAX);
            let written = thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let _pinned = cores.pin(On::First);
                    let start = Instant::now();
                    let added = self.index.add_all(documents);
                    is_written.store(true, Relaxed);
                    added.map(|_| share as f64 / start.elapsed().as_secs_f64())
                });
                let _pinned = cores.pin(On::Second);
                ask(&mut reader, workload, &is_written, &mut asked);
                writer.join().expect("no thread panics")
            });
            rates.push(written?);
            latencies.push(asked.summary().values);
        }
        let docs_per_s = Some(rates.iter().sum::<f64>() / rates.len() as f64);
        Ok(Row { name: name.to_owned(), system: "spirit", latencies, docs_per_s })
    }

    /// Asks the index, to which nothing is added, for all matches, the newest and the best.
    pub(super) fn idle(&self, bench: &mut Bench, workloads: &[Workload]) -> Fallible<()> {
        let _pinned = bench.cores.pin(On::Second);
        let mut reader = self.index.reader()?;
        let names = workloads.iter().map(|workload| workload.name.as_str());
        let head: Vec<&str> = ["asked"].into_iter().chain(names).collect();
        let title = format!("{}, idle, µs: P50 P95 P99 mean", self.mode);
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
}

/// Asks one query after the other until all documents are in, and one at least.
fn ask(reader: &mut Reader, workload: &Workload, is_written: &AtomicBool, asked: &mut Latencies) {
    for query in workload.queries.iter().cycle() {
        let start = Instant::now();
        std::hint::black_box(all_matches::ask(reader, query));
        asked.push(start.elapsed());
        if is_written.load(Relaxed) || asked.is_full() {
            return;
        }
    }
}

/// Documents that are in before anything is asked.
fn base(corpus: &Corpus) -> usize {
    corpus.len() / 5 * 4
}
