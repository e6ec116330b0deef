//! The figures of one question and one set: rows, and a table with a line a class.

use serde_json::json;

use super::FORMS;
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
    /// Ours, by form of the index and workload.
    pub(super) rounds: &'a [Vec<Rounds>; FORMS.len()],
    pub(super) contenders: Vec<Contender>,
    /// What reading the clock takes, in µs: it is inside every latency, ours and theirs, and taken off here.
    pub(super) clock_us: f64,
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

    /// P50 and mean of a class in a form of our index.
    fn ours(&self, form: usize, number: usize) -> [f64; 2] {
        let median = self.rounds[form][number].median();
        [median.p50(), median.values[3]].map(|value| self.without_clock(value))
    }

    /// A peer's.
    fn theirs(&self, peer: &Contender, class: &str) -> Result<[f64; 2], String> {
        let value = |metric| peer.value(class, metric).map(|value| self.without_clock(value));
        Ok([value("p50_us")?, value("mean_us")?])
    }

    /// No query takes no time.
    fn without_clock(&self, us: f64) -> f64 {
        (us - self.clock_us).max(0.001)
    }

    fn ratios(&self, number: usize) -> Vec<Ratio> {
        let ours = [0, 1].map(|form| self.ours(form, number)[0]);
        let name = &self.workloads[number].name;
        let ratio = |peer: &Contender| {
            let theirs = self.theirs(peer, name);
            let ratios = theirs.map(|[p50, _]| ours.map(|ours| p50 / ours));
            (peer.system, peer.mode().to_owned(), ratios)
        };
        self.contenders.iter().map(ratio).collect()
    }

    pub(super) fn report(&self, bench: &mut Bench) -> Fallible<()> {
        for (number, workload) in self.workloads.iter().enumerate() {
            for (state, rounds) in FORMS.iter().zip(self.rounds) {
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
        let mut head = vec!["class", "queries"];
        head.extend(FORMS);
        let over = FORMS.map(|form| format!("/ {form}"));
        for peer in &self.contenders {
            head.push(peer.label.as_str());
            head.extend(over.iter().map(String::as_str));
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
        cells.extend((0..FORMS.len()).map(|form| pair(self.ours(form, number))));
        for (peer, (.., ratios)) in self.contenders.iter().zip(&class.ratios) {
            cells.push(self.theirs(peer, &class.name).map_or("-".to_owned(), pair));
            cells.extend(
                ratios.as_ref().map_or(["-"; 2].map(str::to_owned), |both| both.map(times)),
            );
        }
        cells
    }

    fn mean_cells(&self, classes: &[(usize, &Class)]) -> Vec<String> {
        let mut cells = vec!["geometric mean".to_owned()];
        cells.resize(2 + FORMS.len(), String::new());
        for peer in 0..self.contenders.len() {
            let ratios =
                || classes.iter().filter_map(|(_, class)| class.ratios[peer].2.as_ref().ok());
            let mean = |form: usize| times(geometric_mean(ratios().map(|ratios| ratios[form])));
            cells.extend([String::new(), mean(0), mean(1)]);
        }
        cells
    }
}

fn pair([p50, mean]: [f64; 2]) -> String {
    format!("{} ({})", number(p50), number(mean))
}

fn times(ratio: f64) -> String {
    format!("{}×", number(ratio))
}
