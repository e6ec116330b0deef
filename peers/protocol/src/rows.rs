//! The rows: one JSON object a line on standard output.

use crate::{Fallible, Rounds, median};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Writes the rows of one task of one system.
pub struct Reporter {
    always: Map<String, Value>,
}

impl Reporter {
    /// Every row will bear these names.
    pub fn new(task: &str, system: &str, version: &str) -> Reporter {
        let mut always = Map::new();
        always.insert("task".into(), task.into());
        always.insert("system".into(), system.into());
        always.insert("version".into(), version.into());
        Reporter { always }
    }

    /// Adds a name and value that every later row bears.
    pub fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.always.insert(name.into(), value.into());
    }

    /// A measure: its median over the rounds and all of them.
    pub fn measured(&self, name: &str, metric: &str, unit: &str, runs: &[f64]) -> Fallible<()> {
        self.row(name, metric, unit, json!(median(runs)), json!(runs), &[])
    }

    /// A measure of an engine that becomes warm: the median of the last half of the rounds.
    pub fn warmed(&self, name: &str, metric: &str, unit: &str, runs: &[f64]) -> Fallible<()> {
        let warm_from = runs.len() / 2;
        let value = json!(median(&runs[warm_from..]));
        self.row(name, metric, unit, value, json!(runs), &[("warm_from", json!(warm_from))])
    }

    /// A count that is the same in every round.
    pub fn counted(&self, name: &str, metric: &str, unit: &str, value: u64) -> Fallible<()> {
        self.row(name, metric, unit, json!(value), json!([value]), &[])
    }

    /// The four rows of a latency, `n` operations a round.
    pub fn latencies(&self, name: &str, prefix: &str, rounds: &Rounds, n: usize) -> Fallible<()> {
        for (metric, runs) in &rounds.columns {
            let metric = format!("{prefix}{metric}");
            let value = json!(median(runs));
            self.row(name, &metric, "us", value, json!(runs), &[("n", json!(n))])?;
        }
        Ok(())
    }

    fn row(
        &self,
        workload: &str,
        metric: &str,
        unit: &str,
        value: Value,
        runs: Value,
        more: &[(&str, Value)],
    ) -> Fallible<()> {
        let mut row = self.always.clone();
        let own = [
            ("workload", json!(workload)),
            ("metric", json!(metric)),
            ("unit", json!(unit)),
            ("value", value),
            ("runs", runs),
        ];
        for (name, value) in own.iter().chain(more) {
            row.insert((*name).to_owned(), value.clone());
        }
        writeln!(std::io::stdout().lock(), "{}", Value::Object(row))?;
        Ok(())
    }
}
