//! The tables: each names the paper's, and has its figures where its text gives them.

use serde_json::json;

use super::asking::{Pass, Way};
use super::system::{KINDS, System};
use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::timing::{Rounds, median};

/// The places of systems in [`KINDS`].
pub(super) const PACKED_DRAM: usize = 0;
pub(super) const RAW_DRAM: usize = 2;

/// The paper's mean latencies of 48 threads against LPF-DRAM (figures 7 and 8), by system: of single terms, and of ANDs.
const PAPER_MEANS: [[&str; 2]; KINDS.len()] =
    [["1", "1"], ["1.02", "-"], ["0.63", "0.63"], ["0.64", "0.64"], ["-", "-"]];
/// The paper's table 2: P99 in ms, its index 35 GB.
const PAPER_P99: [[&str; 2]; KINDS.len()] =
    [["65", "904"], ["76", "873"], ["-", "-"], ["61", "582"], ["-", "-"]];
/// The paper's mean latencies against LPF-DRAM with its largest index (figure 12).
const PAPER_LARGEST: [[&str; 2]; KINDS.len()] =
    [["1", "1"], ["1.13", "1"], ["-", "-"], ["0.71", "-"], ["-", "-"]];

/// What a measurement is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Of {
    pub(super) documents: usize,
    pub(super) kind: &'static str,
    pub(super) set: &'static str,
    pub(super) way: Way,
    pub(super) threads: usize,
}

/// A measurement, round by round.
#[derive(Default)]
struct Taken {
    rounds: Rounds,
    per_second: Vec<f64>,
}

/// Everything measured.
#[derive(Default)]
pub(super) struct Figures(Vec<(Of, Taken)>);

impl Figures {
    pub(super) fn push(&mut self, of: Of, pass: Pass) {
        let at = self.0.iter().position(|(other, _)| *other == of).unwrap_or_else(|| {
            self.0.push((of, Taken::default()));
            self.0.len() - 1
        });
        let taken = &mut self.0[at].1;
        taken.rounds.push(pass.summary);
        taken.per_second.push(pass.per_second);
    }

    fn get(&self, of: Of) -> &Taken {
        let found = self.0.iter().find(|(other, _)| *other == of);
        &found.expect("everything that is shown was measured").1
    }

    /// P50, P95, P99 and mean, µs: medians over rounds.
    pub(super) fn median(&self, of: Of) -> [f64; 4] {
        self.get(of).rounds.median().values
    }

    fn mean(&self, of: Of) -> f64 {
        self.median(of)[3]
    }

    pub(super) fn print(
        &self,
        bench: &mut Bench,
        corpus: &Corpus,
        systems: &[System],
    ) -> Fallible<()> {
        self.report(bench)?;
        sizes(bench, corpus, systems)?;
        self.print_all(corpus);
        for (place, set) in self.sets().into_iter().enumerate() {
            let whole = Of { documents: corpus.len(), set, ..self.0[0].0 };
            self.print_formats(place, whole);
            self.print_media(place, whole);
            self.print_sizes(place, set);
        }
        self.print_tails(corpus);
        Ok(())
    }

    fn report(&self, bench: &mut Bench) -> Fallible<()> {
        for (of, taken) in &self.0 {
            let config = [
                ("index", json!(of.kind)),
                ("indexed", json!(of.documents)),
                ("queries", json!(of.set)),
                ("way", json!(of.way.name())),
                ("threads", json!(of.threads)),
            ];
            bench.report.rounds("spirit", &config, &taken.rounds)?;
            bench.report.row("spirit", &config, "qps", "1/s", &taken.per_second)?;
        }
        Ok(())
    }

    /// The query sets in the order in which they were asked; likewise the numbers of threads and of documents.
    fn sets(&self) -> Vec<&'static str> {
        distinct(self.0.iter().map(|(of, _)| of.set))
    }

    fn threads(&self) -> Vec<usize> {
        let mut threads = distinct(self.0.iter().map(|(of, _)| of.threads));
        threads.sort_unstable();
        threads
    }

    fn documents(&self) -> Vec<usize> {
        distinct(self.0.iter().map(|(of, _)| of.documents))
    }

    /// Everything about the whole corpus.
    fn print_all(&self, corpus: &Corpus) {
        let title = format!("{}: the ten best, µs, and queries a second", corpus.name);
        let head = ["queries", "way", "index", "threads", "P50", "P95", "P99", "mean", "QPS"];
        let mut table = Table::new(title, &head);
        for (of, taken) in self.0.iter().filter(|(of, _)| of.documents == corpus.len()) {
            let [p50, p95, p99, mean] = taken.rounds.median().values.map(number);
            let (threads, per_second) = (of.threads.to_string(), number(median(&taken.per_second)));
            let named = [of.set, of.way.name(), of.kind];
            let figures = [&threads, &p50, &p95, &p99, &mean, &per_second];
            table.line(named.into_iter().chain(figures.map(String::as_str)));
        }
        table.print();
    }

    /// Figures 4 and 5: either form in DRAM.
    fn print_formats(&self, place: usize, whole: Of) {
        let title = format!("paper's figure {}: {}, mean µs in DRAM", 4 + place, whole.set);
        let mut table = Table::new(title, &["threads", "packed", "raw", "raw / packed", "paper"]);
        for threads in self.threads() {
            let of = |kind: usize| {
                self.mean(Of { kind: KINDS[kind].name, threads, way: Way::Exhaustive, ..whole })
            };
            let (packed, raw) = (of(PACKED_DRAM), of(RAW_DRAM));
            let ratio = format!("{:.2}×", raw / packed);
            let paper = format!("{}× (48 threads)", PAPER_MEANS[RAW_DRAM][place]);
            table.line([threads.to_string(), number(packed), number(raw), ratio, paper]);
        }
        table.print();
    }

    /// Figures 7 and 8: all systems against the first.
    fn print_media(&self, place: usize, whole: Of) {
        let title =
            format!("paper's figure {}: {}, mean against packed DRAM", 7 + place, whole.set);
        let threads = self.threads();
        let names = threads.iter().map(|threads| format!("{threads} T"));
        let head: Vec<String> = ["index".to_owned(), "paper's".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["early termination".to_owned(), "paper, 48 T".to_owned()])
            .collect();
        let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
        for (kind, paper) in KINDS.iter().zip(PAPER_MEANS) {
            let of = |way, threads| {
                let of = Of { way, threads, ..whole };
                let first = self.mean(Of { kind: KINDS[PACKED_DRAM].name, ..of });
                format!("{:.2}×", self.mean(Of { kind: kind.name, ..of }) / first)
            };
            let mut cells = vec![kind.name.to_owned(), kind.paper.to_owned()];
            cells.extend(threads.iter().map(|threads| of(Way::Exhaustive, *threads)));
            cells.extend([of(Way::Early, threads[0]), paper[place].to_owned()]);
            table.line(cells);
        }
        table.print();
    }

    /// Figure 12: all systems against the first, by the size of the index.
    fn print_sizes(&self, place: usize, set: &'static str) {
        let part = ["a", "b"][place];
        let title = format!("paper's figure 12 ({part}): {set}, mean against packed DRAM");
        let documents = self.documents();
        let names = documents.iter().map(|documents| number(*documents as f64));
        let head: Vec<String> = ["index".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["paper, its largest".to_owned()])
            .collect();
        let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
        let threads = self.threads().pop().unwrap_or(1);
        for (kind, paper) in KINDS.iter().zip(PAPER_LARGEST) {
            let ratio = |documents: &usize| {
                let way = Way::Exhaustive;
                let of = |kind| self.mean(Of { documents: *documents, kind, set, way, threads });
                format!("{:.2}×", of(kind.name) / of(KINDS[PACKED_DRAM].name))
            };
            let mut cells = vec![kind.name.to_owned()];
            cells.extend(documents.iter().map(ratio));
            cells.push(paper[place].to_owned());
            table.line(cells);
        }
        table.print();
    }

    /// Table 2: the slowest queries.
    fn print_tails(&self, corpus: &Corpus) {
        let sets = self.sets();
        let mut head = vec!["index".to_owned()];
        for set in &sets {
            head.extend([format!("{set}, µs"), "paper, ms".to_owned()]);
        }
        let title = "paper's table 2: P99 of the ten best, every match scored";
        let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
        let threads = self.threads().pop().unwrap_or(1);
        let (documents, way) = (corpus.len(), Way::Exhaustive);
        for (kind, paper) in KINDS.iter().zip(PAPER_P99) {
            let mut cells = vec![kind.name.to_owned()];
            for (set, paper) in sets.iter().zip(paper) {
                let of = Of { documents, kind: kind.name, set, way, threads };
                cells.extend([number(self.get(of).rounds.median().p99()), paper.to_owned()]);
            }
            table.line(cells);
        }
        table.print();
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// The size row of table 1.
fn sizes(bench: &mut Bench, corpus: &Corpus, systems: &[System]) -> Fallible<()> {
    let title = format!("paper's table 1: {}, size of the index", corpus.name);
    let head =
        ["index", "lists and positions, MiB", "bytes a posting", "all, MiB", "bytes a posting"];
    let mut table = Table::new(title, &head);
    let mut lists_bytes = Vec::new();
    for system in systems {
        let [lists, all] = system.bytes()?;
        let postings = system.index.stats()?.postings.max(1) as f64;
        let config = [("index", json!(system.kind.name))];
        let mut cells = vec![system.kind.name.to_owned()];
        for (part, bytes) in [("lists", lists), ("all", all)] {
            let (mib, each) = (bytes as f64 / f64::from(1 << 20), bytes as f64 / postings);
            let metric = format!("{part}_bytes_per_posting");
            bench.report.row("spirit", &config, &metric, "bytes", &[each])?;
            cells.extend([number(mib), number(each)]);
        }
        table.line(cells);
        lists_bytes.push(lists as f64);
    }
    table.print();
    let ratio = lists_bytes[RAW_DRAM] / lists_bytes[PACKED_DRAM];
    println!(
        "  raw lists and positions are {ratio:.1}× packed ones; paper: 9.8× (52.8 and 5.4 GB)"
    );
    Ok(())
}
