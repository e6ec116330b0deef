//! What comes out: tables and verdicts for people, JSON rows for programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Fallible;
use crate::timing::{METRICS, Rounds, median};

/// What tells a row from others of its experiment.
pub(crate) type Config<'a> = &'a [(&'a str, Value)];

/// Where rows go.
pub(crate) struct Report {
    json: Option<BufWriter<File>>,
    experiment: &'static str,
    always: Map<String, Value>,
}

impl Report {
    /// A report whose rows go to `json`, if that is a file.
    pub(crate) fn new(json: Option<&Path>) -> Fallible<Report> {
        let create =
            |path: &Path| File::create(path).map_err(|e| format!("{}: {e}", path.display()));
        let json = json.map(create).transpose()?.map(BufWriter::new);
        Ok(Report { json, experiment: "", always: Map::new() })
    }

    /// Rows are of this experiment from now on, and all have `always` in their config.
    pub(crate) fn begin(&mut self, experiment: &'static str, always: Config<'_>) {
        self.experiment = experiment;
        self.always =
            always.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    }

    /// A measured row: the median of its runs.
    pub(crate) fn row(
        &mut self,
        system: &str,
        config: Config<'_>,
        metric: &str,
        unit: &str,
        runs: &[f64],
    ) -> Fallible<()> {
        let Some(json) = &mut self.json else { return Ok(()) };
        let mut all = self.always.clone();
        all.extend(config.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let row = json!({
            "experiment": self.experiment,
            "system": system,
            "config": all,
            "metric": metric,
            "unit": unit,
            "value": median(runs),
            "runs": runs,
        });
        writeln!(json, "{row}").and_then(|()| json.flush())?;
        Ok(())
    }

    /// The rows of a latency.
    pub(crate) fn rounds(
        &mut self,
        system: &str,
        config: Config<'_>,
        rounds: &Rounds,
    ) -> Fallible<()> {
        for (metric, runs) in METRICS.iter().zip(&rounds.columns) {
            self.row(system, config, metric, "us", runs)?;
        }
        Ok(())
    }
}

/// Text in columns: the first to the left, the others to the right.
pub(crate) struct Table {
    title: String,
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, head: &[&str]) -> Table {
        let head = head.iter().map(|cell| (*cell).to_owned()).collect();
        Table { title: title.into(), lines: vec![head] }
    }

    pub(crate) fn line<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.lines.push(cells.into_iter().map(|cell| cell.as_ref().to_owned()).collect());
    }

    /// A line that says why there are no figures.
    pub(crate) fn not_measured(&mut self, name: &str, reason: &str) {
        self.line([name, &format!("not measured: {reason}")]);
    }

    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        let columns = self.lines[0].len();
        let full = |line: &&Vec<String>| line.len() == columns;
        let width = |column: usize| {
            self.lines
                .iter()
                .filter(full)
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let first = self.lines.iter().map(|line| line[0].chars().count()).max().unwrap_or(0);
        for line in &self.lines {
            let mut text = format!("  {:<first$}", line[0]);
            for (column, cell) in line.iter().enumerate().skip(1) {
                let width = if line.len() == columns { width(column) } else { 0 };
                text.push_str(&format!("  {cell:>width$}"));
            }
            println!("{}", text.trim_end());
        }
    }
}

/// A number for people: three digits that matter, thousands apart.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => {
            let digits = format!("{:.0}", value.abs());
            let mut text = if value < 0.0 { "-".to_owned() } else { String::new() };
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (digits.len() - place).is_multiple_of(3) {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// What must be reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// Prints a verdict: `bar  MM ≥ 5.0× tantivy: measured 7.3× ok`. `measured` is a value, or the reason for its absence.
pub(crate) fn bar(
    what: &str,
    bound: Bound,
    unit: &str,
    against: &str,
    measured: &Result<f64, String>,
) {
    println!("{}", verdict(what, bound, unit, against, measured));
}

fn verdict(
    what: &str,
    bound: Bound,
    unit: &str,
    against: &str,
    measured: &Result<f64, String>,
) -> String {
    let (sign, limit) = match bound {
        Bound::AtLeast(limit) => ('≥', limit),
        Bound::AtMost(limit) => ('≤', limit),
    };
    let against = if against.is_empty() { String::new() } else { format!(" {against}") };
    // Of small bars a digit more, and of what was measured one more than of its bar.
    let digits = if limit < 0.1 { 2 } else { 1 };
    let bar = format!("bar  {what} {sign} {limit:.digits$}{unit}{against}");
    let reached = |value: f64| match bound {
        Bound::AtLeast(limit) => value >= limit,
        Bound::AtMost(limit) => value <= limit,
    };
    match measured {
        Ok(value) => {
            let word = if reached(*value) { "ok" } else { "MISSED" };
            format!("{bar}: measured {value:.*}{unit} {word}", digits + 1)
        }
        Err(reason) => format!("{bar}: not measured: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_bar_measure_and_outcome() {
        let say = |bound, measured| verdict("MM", bound, "×", "tantivy", &measured);
        assert_eq!(say(Bound::AtLeast(5.0), Ok(7.3)), "bar  MM ≥ 5.0× tantivy: measured 7.30× ok");
        assert_eq!(
            say(Bound::AtMost(2.2), Ok(2.3)),
            "bar  MM ≤ 2.2× tantivy: measured 2.30× MISSED"
        );
        assert_eq!(
            verdict("MAP", Bound::AtMost(0.01), "", "", &Ok(0.0049)),
            "bar  MAP ≤ 0.01: measured 0.005 ok"
        );
        let none = say(Bound::AtLeast(5.0), Err("no Java".to_owned()));
        assert_eq!(none, "bar  MM ≥ 5.0× tantivy: not measured: no Java");
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0417, 1.234, 45.67, 123.4, 4_567_890.0].map(number);
        assert_eq!(shown, ["0.042", "1.23", "45.7", "123", "4,567,890"]);
    }
}
