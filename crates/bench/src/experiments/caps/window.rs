//! The paper's figure 3b: how much DRAM there is, while documents go in.

use serde_json::json;
use spirit::Mode;

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::corpus::Corpus;
use crate::live::{CAPS, Live, Window};
use crate::report::{Table, number};
use crate::timing::median;
use crate::workloads::{self, Workload};

/// What the text says of the tight, the moderate and the loose one: queries a second against the loose one, all workloads
/// together with one executor, and time in DRAM to time in the second tier.
const PAPER: [(&str, &str); 3] = [("-", "10:90"), ("0.94 (one executor)", "52:48"), ("1", "100:0")];

/// What came of the rounds of a cap: a row of each has a figure of each workload.
struct Taken {
    /// Queries a second.
    rates: Vec<Vec<f64>>,
    /// Shares of their time in DRAM.
    shares: Vec<Vec<f64>>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("caps", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let sizes = Sizes::of(&corpus, all_matches::SEGMENTS)?;
    let taken = measure(bench, &corpus, &workloads, sizes)?;
    let rates = taken.each_ref().map(|taken| medians(&taken.rates));
    let shares = taken.each_ref().map(|taken| medians(&taken.shares));
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<&str> = ["cap"].into_iter().chain(names).chain(["all", "paper"]).collect();
    let title = "paper's figure 3b: queries a second while documents go in, of the loose ones; all: by the harmonic mean";
    let mut table = Table::new(title, &head);
    let mut tiers = Table::new("  time in DRAM, %", &head);
    let loose = &rates[CAPS.len() - 1];
    for (place, ((cap, _), paper)) in CAPS.iter().zip(PAPER).enumerate() {
        let (taken, rates) = (&taken[place], &rates[place]);
        let shares = &shares[place];
        for (at, workload) in workloads.iter().enumerate() {
            let config = [("cap", json!(cap)), ("workload", json!(workload.name))];
            bench.report.row("spirit", &config, "qps", "1/s", &of(&taken.rates, at))?;
            bench.report.row("spirit", &config, "share_in_dram", "1", &of(&taken.shares, at))?;
        }
        let ratios = rates.iter().zip(loose).map(|(rate, loose)| format!("{:.2}×", rate / loose));
        let all = format!("{:.2}×", harmonic(rates) / harmonic(loose));
        table.line([(*cap).to_owned()].into_iter().chain(ratios).chain([all, paper.0.to_owned()]));
        let percent = shares.iter().map(|share| number(share * 100.0));
        let mean = shares.iter().sum::<f64>() / shares.len() as f64 * 100.0;
        let ends = [number(mean), paper.1.to_owned()];
        tiers.line([(*cap).to_owned()].into_iter().chain(percent).chain(ends));
    }
    table.print();
    tiers.print();
    let groups: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
    let series: Vec<_> = CAPS
        .iter()
        .zip(&rates)
        .map(|((cap, _), rates)| {
            Series::bars(*cap, rates.iter().zip(loose).map(|(rate, loose)| rate / loose))
        })
        .collect();
    let figure =
        Figure { name: "3b", title: "Figure 3b", x: "", y: "queries a second, of the loose ones" };
    bench.charts.bars(figure, &groups, &series)
}

/// Fills indexes and asks them, in turn: the clock has two states.
fn measure(
    bench: &Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    sizes: Sizes,
) -> Fallible<[Taken; CAPS.len()]> {
    let mut taken = [const { Taken { rates: Vec::new(), shares: Vec::new() } }; CAPS.len()];
    for round in 0..bench.rounds {
        for ((cap, share), taken) in CAPS.iter().zip(&mut taken) {
            let options = bench.slowed(sizes.options(*share).mode(Mode::Crash));
            let live = Live::filled(corpus, options, bench.cores)?;
            let Window { latencies, .. } = live.asked(corpus, workloads, bench.cores)?;
            taken.rates.push(latencies.iter().map(|values| 1e6 / values[3]).collect());
            let in_dram = workloads.iter().map(|workload| live.share_in_dram(workload));
            taken.shares.push(in_dram.collect::<Fallible<_>>()?);
            if round == 0 {
                println!("{cap}: long-term DRAM of {} MiB", long_term_bytes(&live)? >> 20);
            }
        }
    }
    Ok(taken)
}

fn long_term_bytes(live: &Live) -> Fallible<u64> {
    let partitions = live.index.stats()?.partitions;
    let long = partitions.iter().find(|partition| partition.name == "long-term");
    Ok(long.map_or(0, |long| long.bytes))
}

/// The median of each workload over the rounds.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let workloads = rounds.first().map_or(0, Vec::len);
    (0..workloads).map(|at| median(&of(rounds, at))).collect()
}

/// The figures of a workload.
fn of(rounds: &[Vec<f64>], workload: usize) -> Vec<f64> {
    rounds.iter().map(|round| round[workload]).collect()
}

fn harmonic(rates: &[f64]) -> f64 {
    rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>()
}
