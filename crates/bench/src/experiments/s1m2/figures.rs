//! The tables and figures: each names the paper's, and has its numbers beside ours.

use serde_json::json;

use super::media::MEDIA;
use super::process::{ORDERS, Run};
use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::timing::{median, percentile};

/// The paper's table 2: P99 in ms of the shorter and the longer half, of S1 and of M2.
const PAPER: [(&str, [f64; 4]); 4] = [
    ("DRAM", [90.0, 2900.0, 5.0, 70.0]),
    ("Optane", [80.0, 2700.0, 40.0, 500.0]),
    ("SSD", [90.0, 3000.0, 9.0, 1400.0]),
    ("disk", [20_000.0, 80_000.0, 60_000.0, 140_000.0]),
];
/// Its figures 4c and 15a, of S1, and what it says of queries without matches. Ends of the table's lines behind the medium.
const PAPER_S1: [&str; 9] = ["-", "< 80", "< 500", "3000", "12", "50", "95", "0", "10,000"];
const PAPER_M2: [&str; 9] = ["-", "-", "-", "-", "-", "-", "-", "1", "10,000"];
/// Points of figure 4c: within these ms, percent of the queries.
const PAPER_4C: [(f64, f64); 4] = [(10.0, 12.0), (100.0, 50.0), (1000.0, 95.0), (10_000.0, 99.0)];
/// Where the P99 of each half is among all queries, in percent.
const HALVES_P99: [f64; 2] = [49.5, 99.5];
/// Points of a line.
const POINTS: usize = 200;

const METRICS: [(&str, &str); 10] = [
    ("p50_ms", "ms"),
    ("p90_ms", "ms"),
    ("p99_ms", "ms"),
    ("within_10_ms", "%"),
    ("within_100_ms", "%"),
    ("within_1000_ms", "%"),
    ("without_matches", "%"),
    ("answered", ""),
    (SHORT, "ms"),
    (LONG, "ms"),
];
const SHORT: &str = "p99_short_ms";
const LONG: &str = "p99_long_ms";
/// The metrics of a set's table: all but the halves.
const SHOWN: usize = 8;

/// What a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Of {
    /// Among [`MEDIA`].
    pub(super) medium: usize,
    pub(super) set: &'static str,
    pub(super) order: &'static str,
}

/// All runs, or why there are none.
#[derive(Default)]
pub(super) struct Figures(Vec<(Of, Result<Vec<Run>, String>)>);

impl Figures {
    pub(super) fn push(&mut self, of: Of, run: Result<Run, String>) {
        let sorted = |mut run: Run| {
            run.nanoseconds.sort_unstable();
            run
        };
        match (self.0.iter_mut().find(|(other, _)| *other == of), run.map(sorted)) {
            (Some((_, Ok(runs))), Ok(run)) => runs.push(run),
            (Some((_, runs)), Err(reason)) => *runs = Err(reason),
            (Some((_, Err(_))), Ok(_)) => {}
            (None, run) => self.0.push((of, run.map(|run| vec![run]))),
        }
    }

    /// Holds runs that answered all queries of a set to each other.
    pub(super) fn check(&self, queries: usize) -> Fallible<()> {
        for set in self.sets() {
            let of_set = self.0.iter().filter(|(of, _)| of.set == set);
            let runs = of_set.flat_map(|(_, runs)| runs.iter().flatten());
            let found: Vec<u64> =
                runs.filter(|run| run.nanoseconds.len() == queries).map(|run| run.found).collect();
            if let Some(other) = found.iter().find(|count| **count != found[0]) {
                return Err(format!("{set}: {} and {other} matches", found[0]).into());
            }
        }
        Ok(())
    }

    pub(super) fn print(&self, bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
        for (of, runs) in &self.0 {
            let Ok(runs) = runs else { continue };
            let config = [
                ("medium", json!(MEDIA[of.medium].name)),
                ("set", json!(of.set)),
                ("order", json!(of.order)),
            ];
            for (metric, (name, unit)) in METRICS.iter().enumerate() {
                let values: Vec<f64> = runs.iter().map(|run| values(run)[metric]).collect();
                bench.report.row("spirit", &config, name, unit, &values)?;
            }
        }
        for set in self.sets() {
            self.print_set(corpus, set);
            self.draw(bench, set)?;
        }
        self.print_halves();
        Ok(())
    }

    /// The sets in the order in which they were asked.
    fn sets(&self) -> Vec<&'static str> {
        let mut sets = Vec::new();
        for (of, _) in &self.0 {
            if !sets.contains(&of.set) {
                sets.push(of.set);
            }
        }
        sets
    }

    fn get(&self, of: Of) -> Result<&[Run], &str> {
        let found = self.0.iter().find(|(other, _)| *other == of);
        let runs = found.map_or(Ok(&[][..]), |(_, runs)| runs.as_deref().map_err(String::as_str));
        runs.and_then(|runs| if runs.is_empty() { Err("no run") } else { Ok(runs) })
    }

    /// A metric's median over the rounds.
    fn median(runs: &[Run], metric: usize) -> String {
        number(median(&runs.iter().map(|run| values(run)[metric]).collect::<Vec<_>>()))
    }

    /// The figures of one set.
    fn print_set(&self, corpus: &Corpus, set: &'static str) {
        let title = format!("{}: {set}, every match scored, ms", corpus.name);
        let head = [
            "medium",
            "order",
            "P50",
            "P90",
            "P99",
            "≤ 10 ms, %",
            "≤ 100 ms",
            "≤ 1 s",
            "without matches",
            "answered",
        ];
        let mut table = Table::new(title, &head);
        for (at, medium) in MEDIA.iter().enumerate() {
            for order in ORDERS {
                match self.get(Of { medium: at, set, order }) {
                    Ok(runs) => {
                        let named = [medium.name.to_owned(), order.to_owned()];
                        let figures = (0..SHOWN).map(|metric| Self::median(runs, metric));
                        table.line(named.into_iter().chain(figures));
                    }
                    Err(reason) => table.not_measured(medium.name, reason),
                }
            }
        }
        let paper = if set == "S1" { PAPER_S1 } else { PAPER_M2 };
        table.line(["paper, SSD"].into_iter().chain(paper));
        table.print();
    }

    /// Table 2.
    fn print_halves(&self) {
        let sets = self.sets();
        let mut head = vec!["medium".to_owned(), "order".to_owned()];
        head.extend(sets.iter().flat_map(|set| [format!("{set}, short"), format!("{set}, long")]));
        let title = "paper's table 2: P99 of the shorter and of the longer half, ms";
        let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
        let halves = [SHORT, LONG].map(|name| METRICS.iter().position(|metric| metric.0 == name));
        for order in ORDERS {
            for (at, medium) in MEDIA.iter().enumerate() {
                let mut cells = vec![medium.name.to_owned(), order.to_owned()];
                let mut missing = None;
                for set in &sets {
                    match self.get(Of { medium: at, set, order }) {
                        Ok(runs) => {
                            cells.extend(halves.iter().flatten().map(|at| Self::median(runs, *at)));
                        }
                        Err(reason) => missing = Some(reason),
                    }
                }
                match missing {
                    Some(reason) => table.not_measured(medium.name, reason),
                    None => table.line(cells),
                }
            }
        }
        for (medium, halves) in PAPER {
            let named = [format!("paper, {medium}"), "its own".to_owned()];
            table.line(named.into_iter().chain(halves.map(number)));
        }
        table.print();
    }

    /// Figures 4c and 15: the share of the queries that are answered within a time.
    fn draw(&self, bench: &Bench, set: &'static str) -> Fallible<()> {
        let mut series = Vec::new();
        for (at, medium) in MEDIA.iter().enumerate() {
            if let Ok(runs) = self.get(Of { medium: at, set, order: ORDERS[0] }) {
                series.push(Series::new(medium.name, curve(&runs[0])));
            }
        }
        let is_s1 = set == "S1";
        for (medium, halves) in PAPER {
            let halves = if is_s1 { &halves[..2] } else { &halves[2..] };
            let points = halves.iter().copied().zip(HALVES_P99).collect();
            series.push(Series::paper(format!("paper, {medium}: P99 of halves"), points));
        }
        if is_s1 {
            series.push(Series::paper("paper, figure 4c: SSD", PAPER_4C.to_vec()));
        }
        let title = format!("Figures 4c and 15: {set}, queries answered within a time");
        let figure = Figure { name: set, title: &title, x: "ms", y: "% of the queries" };
        bench.charts.logarithmic(figure, &series)
    }
}

/// All metrics of a run, in their order.
fn values(run: &Run) -> [f64; METRICS.len()] {
    let all = &run.nanoseconds[..];
    let (short, long) = all.split_at(all.len() / 2);
    let at = |part: &[u64], share| match part {
        [] => 0.0,
        part => percentile(part, share) as f64 / 1e6,
    };
    let percent = |count: usize| count as f64 * 100.0 / all.len().max(1) as f64;
    let within = |ms: u64| percent(all.partition_point(|ns| *ns <= ms * 1_000_000));
    [
        at(all, 0.5),
        at(all, 0.9),
        at(all, 0.99),
        within(10),
        within(100),
        within(1000),
        percent(run.empty as usize),
        all.len() as f64,
        at(short, 0.99),
        at(long, 0.99),
    ]
}

/// Milliseconds within which each share of the queries was answered, in percent.
fn curve(run: &Run) -> Vec<(f64, f64)> {
    let point = |number: usize| {
        let share = number as f64 / POINTS as f64;
        (percentile(&run.nanoseconds, share) as f64 / 1e6, share * 100.0)
    };
    if run.nanoseconds.is_empty() { Vec::new() } else { (1..=POINTS).map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: Of = Of { medium: 0, set: "S1", order: "best" };

    /// Queries of 1, 2, 3 .. ms, the longest first.
    fn run(count: u64, found: u64) -> Run {
        let nanoseconds = (1..=count).rev().map(|ms| ms * 1_000_000).collect();
        Run { nanoseconds, empty: 5, found }
    }

    #[test]
    fn halves_are_those_of_the_latencies() {
        let mut figures = Figures::default();
        figures.push(OF, Ok(run(200, 1)));
        let found = values(&figures.get(OF).unwrap()[0]);
        assert_eq!(found, [100.0, 180.0, 198.0, 5.0, 50.0, 100.0, 2.5, 200.0, 99.0, 199.0]);
        let curve = curve(&figures.get(OF).unwrap()[0]);
        assert_eq!((curve[0], curve[POINTS - 1]), ((1.0, 0.5), (200.0, 100.0)));
    }

    #[test]
    fn whole_runs_of_a_set_find_the_same() {
        let mut figures = Figures::default();
        figures.push(OF, Ok(run(9, 7)));
        figures.push(Of { medium: 1, ..OF }, Ok(run(9, 7)));
        figures.push(Of { set: "M2", ..OF }, Ok(run(9, 3)));
        // It ended early.
        figures.push(Of { medium: 2, ..OF }, Ok(run(4, 2)));
        assert!(figures.check(9).is_ok());
        assert_eq!(figures.sets(), ["S1", "M2"]);
        figures.push(Of { medium: 1, ..OF }, Ok(run(9, 8)));
        assert!(figures.check(9).is_err());
    }

    #[test]
    fn a_medium_that_is_missing_has_a_reason() {
        let mut figures = Figures::default();
        figures.push(OF, Err("not allowed".into()));
        assert_eq!(figures.get(OF), Err("not allowed"));
        assert_eq!(figures.get(Of { medium: 1, ..OF }), Err("no run"));
    }
}
