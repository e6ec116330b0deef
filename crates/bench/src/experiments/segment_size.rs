//! `segment-size`: queries while documents go in, by the number of segments: the first paper's figure 7b.
//!
//! Measured as in `table1`: all matches of one query after the other, while the last fifth of the documents is added. The same documents
//! lie in 193, 80 or 34 segments, as in the paper's with 64, 128 and 256 MB.
//!
//! * *Not merged*: no segment is engraved, and a term is looked up in one segment after the other.
//! * *Merged*: one dictionary in DRAM leads to a term's lists in all segments that are behind ingest.
//!
//! Corpus: articles, repeated to a million; queries by [`of_top_terms`](workloads::of_top_terms).
//!
//! Caveats: DRAM has room for all of it. Sixteen engraved segments would be merged in any case, so that those that are not merged are
//! in DRAM. The paper's figure normalizes to 64 MB; its text has the numbers beside ours.

use serde_json::json;
use spirit::Mode;
use spirit::lab::{DictionaryTier, EngravePolicy};

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::live::{Live, Window};
use crate::report::Table;
use crate::workloads;

const SEGMENTS: [u64; 3] = [193, 80, 34];
/// Of L, M, H, LL, MM, HH: 34 segments against 193.
const PAPER: [(&str, [&str; 6]); 2] = [
    ("not merged", ["4.74×", "-", "1.39×", "-", "-", "-"]),
    ("merged", ["3.48×", "-", "1.14×", "2.5×", "-", "1.03×"]),
];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("segment-size", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<&str> = ["segments"].into_iter().chain(names).collect();
    let title =
        "paper's figure 7b: queries a second while documents go in, of those with 193 segments";
    let mut table = Table::new(title, &head);
    let mut series = Vec::new();
    for (way, paper) in PAPER {
        let mut first = Vec::new();
        for segments in SEGMENTS {
            let sizes = Sizes::of(&corpus, segments)?;
            let options = sizes.options(1.5).mode(Mode::Graceful);
            let options = match way {
                "merged" => options,
                _ => options.engrave(EngravePolicy::Lazy).dictionary(DictionaryTier::Nvm),
            };
            let live = Live::filled(&corpus, bench.slowed(options), bench.cores)?;
            let Window { latencies, .. } = live.asked(&corpus, &workloads, bench.cores)?;
            let rates: Vec<f64> = latencies.iter().map(|values| 1e6 / values[3]).collect();
            for (workload, rate) in workloads.iter().zip(&rates) {
                let config = [
                    ("way", json!(way)),
                    ("segments", json!(segments)),
                    ("workload", json!(workload.name)),
                ];
                bench.report.row("spirit", &config, "qps", "1/s", &[*rate])?;
            }
            if first.is_empty() {
                first.clone_from(&rates);
            }
            let ratios: Vec<f64> =
                rates.iter().zip(&first).map(|(rate, first)| rate / first).collect();
            let count = live.index.stats()?.segments.len();
            let name = format!("{count}, {way}");
            let cells = ratios.iter().map(|ratio| format!("{ratio:.2}×"));
            table.line([name.clone()].into_iter().chain(cells));
            series.push(Series::bars(name, ratios.iter().copied()));
        }
        let paper = paper.map(str::to_owned);
        table.line([format!("paper, {way}")].into_iter().chain(paper));
    }
    table.print();
    let groups: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
    let figure =
        Figure { name: "7b", title: "Figure 7b", x: "", y: "queries a second, of 193 segments" };
    bench.charts.bars(figure, &groups, &series)
}
