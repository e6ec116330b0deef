//! What the runs found, beside the paper's numbers.

use serde_json::json;

use super::live::{Found, Run};
use super::{Medium, Question, SIZES};
use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;

/// The paper's gains at the least and the largest size, in DRAM, and the largest in NVM (§6.2, figure 5(a)).
const PAPER_QPS: [f64; 2] = [1.18, 1.48];
const PAPER_QPS_NVM: f64 = 1.44;
/// With more repetition.
const PAPER_QPS_MORE: f64 = 1.70;
/// The paper's hit rates at the least and the largest size, in percent (figure 5(b)).
const PAPER_HITS: [f64; 2] = [26.0, 60.0];

/// The rounds of one run.
pub(super) struct Measured {
    /// The cache's size in percent of the index.
    pub(super) size: u64,
    pub(super) run: Run,
    /// True for the usual log, false for the one with more repetition.
    pub(super) is_usual: bool,
    pub(super) found: Vec<Found>,
}

impl Measured {
    fn each(&self, of: impl Fn(&Found) -> f64) -> Vec<f64> {
        self.found.iter().map(of).collect()
    }

    fn median(&self, of: impl Fn(&Found) -> f64) -> f64 {
        median(&self.each(of))
    }

    /// Queries a second with the cache, over those without.
    fn gain(&self) -> f64 {
        self.median(|found| found.cached_qps / found.plain_qps)
    }

    fn name(&self) -> &'static str {
        match (self.run.question, self.run.medium, self.is_usual) {
            (Question::Matches, Medium::Dram, true) => "matches, DRAM",
            (Question::Matches, Medium::SecondTier, _) => "matches, second tier",
            (Question::Matches, Medium::Dram, false) => "matches, DRAM, more repeated",
            (Question::Count, ..) => "count, DRAM",
        }
    }

    /// The place of its size among those that the paper has numbers for.
    fn place(&self) -> Option<usize> {
        [SIZES[0], SIZES[5]].iter().position(|size| *size == self.size)
    }

    fn paper_gain(&self) -> Option<f64> {
        match (self.run.question, self.run.medium, self.is_usual) {
            (Question::Matches, Medium::Dram, true) => self.place().map(|at| PAPER_QPS[at]),
            (Question::Matches, Medium::SecondTier, _) if self.size == SIZES[5] => {
                Some(PAPER_QPS_NVM)
            }
            (Question::Matches, _, false) => Some(PAPER_QPS_MORE),
            _ => None,
        }
    }

    fn paper_hits(&self) -> Option<f64> {
        let is_paper = self.is_usual && self.run.question == Question::Matches;
        self.place().filter(|_| is_paper).map(|at| PAPER_HITS[at])
    }

    fn write(&self, bench: &mut Bench) -> Fallible<()> {
        let config = [("size_percent", json!(self.size)), ("cache_bytes", json!(self.run.bytes))];
        let name = self.name();
        let mut row =
            |metric, unit, runs: &[f64]| bench.report.row(name, &config, metric, unit, runs);
        row("qps_plain", "1/s", &self.each(|found| found.plain_qps))?;
        row("qps_cached", "1/s", &self.each(|found| found.cached_qps))?;
        row("hit_rate", "%", &self.each(|found| found.hits))?;
        row("segments_evaluated", "%", &self.each(|found| found.evaluated))
    }
}

/// Prints both figures as tables, and the verdict.
pub(super) fn show(bench: &mut Bench, all: &[Measured]) -> Fallible<()> {
    all.iter().try_for_each(|measured| measured.write(bench))?;
    if let Some(Found { complete, matches, segments, .. }) =
        all.first().and_then(|m| m.found.first())
    {
        println!(
            "{segments} segments at the end; {complete:.0} % of the answers have all matches, {} on average",
            number(*matches)
        );
    }
    gains(all);
    shares(all);
    draw(bench, all)?;
    let largest = all.iter().find(|measured| measured.size == SIZES[5]);
    let measured = largest.map(Measured::gain).ok_or_else(|| "no run".to_owned());
    bar("QPS with 50 % of the index", Bound::AtLeast(1.48), "×", "without a cache", &measured);
    Ok(())
}

/// Both figures, the second in two parts.
fn draw(bench: &Bench, all: &[Measured]) -> Fallible<()> {
    let (x, times) = ("size of the cache, % of the index", "QPS with the cache ÷ without");
    let paper = |name, of: fn(&Measured) -> Option<f64>, is_of: fn(&Measured) -> bool| {
        let points = all.iter().filter(|m| is_of(m)).filter_map(|m| Some((m.size as f64, of(m)?)));
        Series::paper(name, points.collect())
    };
    let mut gains = each_series(all, Measured::gain);
    let is_in_dram: fn(&Measured) -> bool = |m| m.run.medium == Medium::Dram && m.is_usual;
    gains.push(paper("paper, DRAM", Measured::paper_gain, is_in_dram));
    gains.push(paper("paper, NVM", Measured::paper_gain, |m| m.run.medium != Medium::Dram));
    let figure = Figure { name: "5a-qps", title: "Figure 5(a)", x, y: times };
    bench.charts.lines(figure, &gains)?;
    let mut hits = each_series(all, |m| m.median(|found| found.hits));
    hits.push(paper("paper", Measured::paper_hits, is_in_dram));
    let figure = Figure { name: "5b-hits", title: "Figure 5(b): hits", x, y: "% of the queries" };
    bench.charts.lines(figure, &hits)?;
    let evaluated = each_series(all, |m| m.median(|found| found.evaluated));
    let title = "Figure 5(b): segments evaluated by queries with an entry";
    let figure = Figure { name: "5b-segments", title, x, y: "% of their segments" };
    bench.charts.lines(figure, &evaluated)
}

/// A number of all runs, a series for each name.
fn each_series(all: &[Measured], of: impl Fn(&Measured) -> f64) -> Vec<Series> {
    let groups = all.chunk_by(|a, b| a.name() == b.name());
    let series = |group: &[Measured]| {
        Series::new(group[0].name(), group.iter().map(|m| (m.size as f64, of(m))).collect())
    };
    groups.map(series).collect()
}

/// Figure 5(a).
fn gains(all: &[Measured]) {
    let head = [
        "question, cache",
        "size, %",
        "MiB",
        "QPS without",
        "QPS with",
        "times",
        "paper",
        "a hit, µs",
        "a miss, µs",
    ];
    let mut table =
        Table::new("queries a second with a cache, over those without; figure 5(a)", &head);
    for measured in all {
        let paper = measured.paper_gain().map_or(String::new(), number);
        let mib = measured.run.bytes as f64 / f64::from(1 << 20);
        table.line([
            measured.name().to_owned(),
            measured.size.to_string(),
            number(mib),
            number(measured.median(|found| found.plain_qps)),
            number(measured.median(|found| found.cached_qps)),
            number(measured.gain()),
            paper,
            number(measured.median(|found| found.hit_us)),
            number(measured.median(|found| found.miss_us)),
        ]);
    }
    table.print();
}

/// Figure 5(b).
fn shares(all: &[Measured]) {
    let head = [
        "question, cache",
        "size, %",
        "hits, %",
        "paper",
        "segments from entries, %",
        "evaluated, %",
        "evaluated a hit",
        "entries",
        "at most",
        "evicted",
    ];
    let mut table = Table::new("hits, and what became of their segments; figure 5(b)", &head);
    for measured in all {
        let evaluated = measured.median(|found| found.evaluated);
        let (entries, most) = measured.found.first().map_or((0, 0), |found| found.entries);
        let evicted = measured.found.first().map_or(0, |found| found.evicted);
        table.line([
            measured.name().to_owned(),
            measured.size.to_string(),
            number(measured.median(|found| found.hits)),
            measured.paper_hits().map_or(String::new(), number),
            number(100.0 - evaluated),
            number(evaluated),
            number(measured.median(|found| found.new_segments)),
            entries.to_string(),
            most.to_string(),
            evicted.to_string(),
        ]);
    }
    table.print();
}
