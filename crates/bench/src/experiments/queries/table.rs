//! The figures of one question and one set: rows, and a table with a line a class.

use serde_json::json;

use super::class::{Class, Ratio, geometric_mean, is_plain};
use crate::Fallible;
use crate::bench::Bench;
use crate::experiments::equal::FirstDifference;
use crate::experiments::newest::report_peer;
use crate::query_sets::QuerySet;
use crate::report::{Table, number};
use crate::timing::Rounds;
use crate::turns::Contender;
use crate::workloads::Workload;

/// What was measured of a set.
pub(super) struct Measured<'a> {
    pub(super) set: &'static str,
    pub(super) workloads: &'a [Workload],
    /// Ours, by workload: of the live index, and of the flushed one.
    pub(super) rounds: &'a [Vec<Rounds>; 2],
    pub(super) contenders: Vec<Contender>,
}

impl Measured<'_> {
    /// The classes, in their order.
    pub(super) fn classes(&self, set: &QuerySet, differences: &[FirstDifference]) -> Vec<Class> {
        let class = |(number, workload): (usize, &Workload)| {
            let name = workload.name.clone();
            let mut queries = set.queries.iter().filter(|named| named.name == name);
            Class {
                set: self.set,
                is_plain: queries.all(|named| is_plain(&named.query)),
                differs: differences.iter().any(|difference| difference.class == name),
                ratios: self.ratios(number),
                name,
            }
        };
        self.workloads.iter().enumerate().map(class).collect()
    }

    fn ratios(&self, number: usize) -> Vec<Ratio> {
        let ours = self.rounds[0][number].median().p50();
        let name = &self.workloads[number].name;
        let ratio = |peer: &Contender| {
            let ratio = peer.value(name, "p50_us").map(|theirs| theirs / ours);
            (peer.system, peer.mode().to_owned(), ratio)
        };
        self.contenders.iter().map(ratio).collect()
    }

    pub(super) fn report(&self, bench: &mut Bench) -> Fallible<()> {
        for (number, workload) in self.workloads.iter().enumerate() {
            for (state, rounds) in ["live", "flushed"].iter().zip(self.rounds) {
                let config = [("workload", json!(workload.name)), ("index", json!(state))];
                bench.report.rounds("spirit", &config, &rounds[number])?;
            }
            for peer in self.contenders.iter().filter(|peer| peer.rows().is_ok()) {
                report_peer(bench, &workload.name, peer)?;
            }
        }
        Ok(())
    }

    /// P50 and mean of each class, and how many times ours the peers' P50 is: plain classes and their mean, then the others.
    pub(super) fn print(&self, title: &str, classes: &[Class]) {
        let title = format!("{title} P50 (mean)");
        let mut head = vec!["class", "queries", "live", "flushed"];
        for peer in &self.contenders {
            head.extend([peer.label.as_str(), "/ live"]);
        }
        let mut table = Table::new(title, &head);
        let (plain, others): (Vec<_>, Vec<_>) =
            classes.iter().enumerate().partition(|(_, class)| class.is_plain);
        plain.iter().for_each(|(number, class)| table.line(self.cells(*number, class)));
        if !plain.is_empty() {
            table.line(self.mean_cells(&plain));
        }
        others.iter().for_each(|(number, class)| table.line(self.cells(*number, class)));
        table.print();
        for peer in &self.contenders {
            if let Err(reason) = peer.rows() {
                println!("  not measured: {reason}");
            }
        }
    }

    fn cells(&self, number: usize, class: &Class) -> Vec<String> {
        let mark = if class.differs { " ≠" } else { "" };
        let queries = self.workloads[number].queries.len();
        let mut cells = vec![format!("{}{mark}", class.name), queries.to_string()];
        for rounds in self.rounds {
            let median = rounds[number].median();
            cells.push(pair(median.p50(), median.values[3]));
        }
        for (peer, (.., ratio)) in self.contenders.iter().zip(&class.ratios) {
            let value = |metric| peer.value(&class.name, metric);
            let figures = value("p50_us").and_then(|p50| Ok(pair(p50, value("mean_us")?)));
            cells.push(figures.unwrap_or_else(|_| "-".to_owned()));
            cells.push(ratio.as_ref().map_or("-".to_owned(), |ratio| times(*ratio)));
        }
        cells
    }

    fn mean_cells(&self, classes: &[(usize, &Class)]) -> Vec<String> {
        let of_live = |(number, _): &(usize, &Class)| {
            let [live, flushed] = [0, 1].map(|index| self.rounds[index][*number].median().p50());
            flushed / live
        };
        let flushed = times(geometric_mean(classes.iter().map(of_live)));
        let mut cells = vec!["geometric mean".to_owned(), String::new(), times(1.0), flushed];
        for peer in 0..self.contenders.len() {
            let ratios = classes.iter().filter_map(|(_, class)| class.ratios[peer].2.clone().ok());
            cells.extend([String::new(), times(geometric_mean(ratios))]);
        }
        cells
    }
}

fn pair(p50: f64, mean: f64) -> String {
    format!("{} ({})", number(p50), number(mean))
}

fn times(ratio: f64) -> String {
    format!("{}×", number(ratio))
}
