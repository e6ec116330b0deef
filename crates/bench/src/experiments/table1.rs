//! `table1`: the first paper's own workload on our modes and on Lucene's ways of being searched while documents come: its table 1 and
//! figure 2.
//!
//! Measured as there (§5): four fifths of the documents are in the index, and while one thread adds the rest at full speed, another asks
//! one query after the other, each timed alone from the prebuilt query to *all* its matches, the newest first. Nothing stops early, and
//! there is no cache. Six workloads divide the rest among them, so the index grows from one to the next. Means over queries, not over rounds.
//!
//! | row | ours | the paper's |
//! |---|---|---|
//! | `SP-V` | mode volatile, a second tier that nothing survives | the same |
//! | `SP-G` | mode graceful | the same |
//! | `SP-C` | mode crash | the same |
//! | `-T`, `-M`, `-L` | long-term DRAM of 15 %, 55 % and 100 % of what the index takes | the same |
//! | `NRT-n` | Lucene 9.12, a near-real-time reader refreshed before every n-th query | Lucene 9.6 |
//! | `static-T`, `-M`, `-L` | Lucene, one merged segment in a file in memory, nothing added meanwhile, and a heap of 15 %, 55 % and 100 % of what our index takes | `DAX-T` to `-L`: the file on Optane |
//! | `direct` | the same with `DirectPostingsFormat`: postings on the heap, not packed, and the heap in a file in memory | `DPF-L`: on Optane |
//! | `static, disk` | the same as `static-L` with its file on the disk, in the page cache | `SSD`; `NODAX` is the same on Optane |
//!
//! Beside it, on an idle index in mode crash with all of it in DRAM: all matches, the ten newest, and the ten best by BM25, as our users ask.
//!
//! Corpus: articles, repeated to a million (paper: a million Wikipedia lines of 1 KB); queries by [`of_top_terms`](workloads::of_top_terms).
//!
//! Caveats: the second tier lies below `/dev/shm`: it is DRAM, and what the paper loses to Optane cannot show. So nothing stands
//! in for `DPF-T` and `-M`, whose DRAM is a cache of Optane. Repeated documents make terms no rarer and lists longer, as more documents
//! would. Flushing, engraving and merging share ingest's core, so that queries have the other to themselves. Lucene collects the last ten of the matches that it visits, ours writes all of them down.

mod idle;
mod lucene;
mod paper;

use serde_json::json;
use spirit::Mode;

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::corpus::Corpus;
use crate::live::{CAPS, Live, Window};
use crate::report::{Table, number};
use crate::timing::{METRICS, median};
use crate::workloads::{self, Workload};
use paper::Paper;

/// The modes, as the paper calls them.
const MODES: [(&str, Mode); 3] =
    [("SP-V", Mode::Volatile), ("SP-G", Mode::Graceful), ("SP-C", Mode::Crash)];

/// Rounds of our rows, at most: each fills nine indexes.
const ROUNDS_MAX: usize = 3;

/// A row: P50, P95, P99 and mean of each workload, µs.
pub(super) struct Row {
    name: String,
    system: &'static str,
    latencies: Vec<[f64; 4]>,
    /// Documents a second that were added meanwhile, if any were.
    docs_per_s: Option<f64>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("table1", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let sizes = Sizes::of(&corpus, all_matches::SEGMENTS)?;
    let mut rows = ours(bench, &corpus, sizes, &workloads)?;
    rows.extend(lucene::rows(bench, &corpus, sizes, &workloads)?);
    print(bench, &workloads, &rows)
}

/// Our rows: medians over rounds, in which the modes and caps take turns.
fn ours(
    bench: &mut Bench,
    corpus: &Corpus,
    sizes: Sizes,
    workloads: &[Workload],
) -> Fallible<Vec<Row>> {
    let ways: Vec<_> = MODES.iter().flat_map(|mode| CAPS.map(|cap| (*mode, cap))).collect();
    let mut windows: Vec<Vec<Window>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..bench.rounds.min(ROUNDS_MAX) {
        for ((mode, (cap, share)), windows) in ways.iter().zip(&mut windows) {
            let options = sizes.options(*share).mode(mode.1);
            let live = Live::filled(corpus, bench.slowed(options), bench.cores)?;
            windows.push(live.asked(corpus, workloads, bench.cores)?);
            if (round, mode.1, *cap) == (0, Mode::Crash, "L") {
                idle::idle(&live.index, bench, workloads)?;
            }
        }
    }
    let mut rows = Vec::new();
    for (((mode, _), (cap, _)), windows) in ways.iter().zip(&windows) {
        let of = |workload: usize, metric: usize| {
            let values: Vec<f64> =
                windows.iter().map(|window| window.latencies[workload][metric]).collect();
            median(&values)
        };
        let latencies = (0..workloads.len())
            .map(|workload| std::array::from_fn(|metric| of(workload, metric)))
            .collect();
        let rates: Vec<f64> = windows.iter().map(|window| window.docs_per_s).collect();
        let docs_per_s = Some(median(&rates));
        let row = Row { name: format!("{mode}-{cap}"), system: "spirit", latencies, docs_per_s };
        row.write(bench, workloads)?;
        rows.push(row);
    }
    Ok(rows)
}

impl Row {
    /// Writes it down as soon as it is measured: the other rows take long.
    fn write(&self, bench: &mut Bench, workloads: &[Workload]) -> Fallible<()> {
        for (workload, latencies) in workloads.iter().zip(&self.latencies) {
            let config = [("row", json!(self.name)), ("workload", json!(workload.name))];
            for (metric, value) in METRICS.iter().zip(latencies) {
                bench.report.row(self.system, &config, metric, "us", &[*value])?;
            }
        }
        let config = [("row", json!(self.name))];
        bench.report.row(self.system, &config, "qps", "1/s", &[self.qps()])?;
        if let Some(rate) = self.docs_per_s {
            bench.report.row(self.system, &config, "docs_per_s", "1/s", &[rate])?;
        }
        println!("{}: {} queries/s", self.name, number(self.qps()));
        Ok(())
    }

    /// Queries a second over all workloads: the harmonic mean, as in figure 2.
    fn qps(&self) -> f64 {
        paper::harmonic(self.latencies.iter().map(|latencies| latencies[3]))
    }
}

fn print(bench: &mut Bench, workloads: &[Workload], rows: &[Row]) -> Fallible<()> {
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head = ["row"].into_iter().chain(names).chain(["QPS", "paper", "documents/s"]);
    let title = "paper's table 1, µs: P50 P95 P99 mean; and its figure 2, QPS";
    let mut table = Table::new(title, &head.collect::<Vec<_>>());
    for row in rows {
        let mut cells = vec![row.name.clone()];
        for latencies in &row.latencies {
            cells.push(latencies.map(number).join(" "));
        }
        let paper = Paper::of(&row.name).map_or("-".to_owned(), |paper| number(paper.qps()));
        cells.extend([number(row.qps()), paper, row.docs_per_s.map_or("-".to_owned(), number)]);
        table.line(cells);
    }
    table.print();
    paper::print(workloads, rows);
    let groups: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let papers = rows.iter().map(|row| Paper::of(&row.name).map_or(f64::NAN, Paper::qps));
    let series = [
        Series::bars("measured", rows.iter().map(Row::qps)),
        Series { is_paper: true, ..Series::bars("paper", papers) },
    ];
    let figure = Figure { name: "2", title: "Figure 2", x: "", y: "queries a second" };
    bench.charts.bars(figure, &groups, &series)
}
