//! `nvm-only`: an index whose segments queries read in the second tier, against one that is all in DRAM: the first paper's figure 3a.
//!
//! Measured: queries a second on an idle index, all matches of each query, one thread. *DRAM* reads flushed segments and the dictionary in
//! DRAM. *Not merged* reads committed segments in the second tier, and finds terms there one segment after the other. *Merged* finds
//! them along the merged dictionary. Rounds take turns.
//!
//! Corpus: articles, repeated to a million; queries by [`of_top_terms`](workloads::of_top_terms).
//!
//! Caveats: the second tier lies below `/dev/shm`, so it is as fast as DRAM, but that DRAM has huge pages: what shows is the cost of the
//! structures, and nothing of Optane's. Fifteen segments, since sixteen are merged in any case. The paper's figure has up to 16 executors.

use std::time::Duration;

use serde_json::json;
use spirit::lab::{DictionaryTier, EngravePolicy, PointerUpdate};
use spirit::{Index, Mode};

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;
use crate::workloads;

const WINDOW: Duration = Duration::from_millis(300);
/// Fewer than are merged in any case.
const SEGMENTS: u64 = 14;
/// What is said of L, M, H, LL, MM, HH in the text: single terms lose up to 68 %; merged, rare ones are faster than in DRAM.
const PAPER: [(&str, [&str; 6]); 2] = [
    ("not merged", ["≥ 0.32", "-", "-", "-", "0.68", "0.96"]),
    ("merged", ["≤ 1.23", "-", "-", "≤ 1.23", "-", "0.92"]),
];
const WAYS: [&str; 3] = ["DRAM", "not merged", "merged"];

/// An index on its file.
struct Kept {
    index: Index,
    _scratch: Scratch,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("nvm-only", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let _pinned = bench.cores.pin(On::Second);
    let sizes = Sizes::of(&corpus, SEGMENTS)?;
    let kept = WAYS.iter().map(|way| filled(&corpus, sizes, way));
    let kept: Vec<Kept> = kept.collect::<Fallible<_>>()?;
    let mut rates = vec![[const { Vec::new() }; WAYS.len()]; workloads.len()];
    for _ in 0..bench.rounds {
        for (workload, rates) in workloads.iter().zip(&mut rates) {
            for (kept, rates) in kept.iter().zip(rates) {
                let mut reader = kept.index.reader()?;
                rates.push(all_matches::rate(&mut reader, workload, WINDOW));
            }
        }
    }
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<&str> = ["index"].into_iter().chain(names).collect();
    let mut table = Table::new("paper's figure 3a: queries a second, of those in DRAM", &head);
    let mut series = Vec::new();
    for (at, way) in WAYS.iter().enumerate() {
        for (workload, rates) in workloads.iter().zip(&rates) {
            let config = [("workload", json!(workload.name)), ("index", json!(way))];
            bench.report.row("spirit", &config, "qps", "1/s", &rates[at])?;
        }
        let ratios = rates.iter().map(|rates| median(&rates[at]) / median(&rates[0]));
        let cells = rates.iter().zip(ratios.clone()).map(|(rates, ratio)| {
            if at == 0 { number(median(&rates[0])) } else { format!("{ratio:.2}×") }
        });
        table.line([(*way).to_owned()].into_iter().chain(cells));
        series.push(Series::bars(*way, ratios));
    }
    for (way, said) in PAPER {
        table.line([format!("paper, {way}")].into_iter().chain(said.map(str::to_owned)));
    }
    table.print();
    let groups: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
    let figure =
        Figure { name: "3a", title: "Figure 3a", x: "", y: "queries a second, of those in DRAM" };
    bench.charts.bars(figure, &groups, &series)
}

fn filled(corpus: &Corpus, sizes: Sizes, way: &str) -> Fallible<Kept> {
    let scratch = Scratch::new()?;
    let options = sizes.options(1.5).directory(scratch.path());
    let options = options.mode(Mode::Graceful).merge_after(16);
    let options = match way {
        "DRAM" => options.engrave(EngravePolicy::Lazy),
        _ => options.pointer_update(PointerUpdate::Eager).dictionary(DictionaryTier::Nvm),
    };
    let index = options.open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.flush()?;
    match way {
        "DRAM" => index.settle(),
        "merged" => {
            index.prepare_close()?;
            engine::wait_until_merged(&index)?;
        }
        _ => wait_until_committed(&index)?,
    }
    println!("{way}: {}", engine::describe(&index)?);
    Ok(Kept { index, _scratch: scratch })
}

/// Waits until readers use the second tier's copy of every full segment.
fn wait_until_committed(index: &Index) -> Fallible<()> {
    let is_there = |state: &str| state == "committed" || state == "merged";
    while index.stats()?.segments.iter().skip(1).any(|segment| !is_there(&segment.state)) {
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
