//! The program as a program: every experiment runs to its end on a tiny generated corpus without peers, and its
//! JSON rows have the shape that other programs read. No figure is looked at.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use serde_json::Value;

/// Every experiment, and a metric that it must have a row of.
const EXPERIMENTS: [(&str, &str); 28] = [
    ("ingest", "docs_per_s"),
    ("bulk", "docs_per_s"),
    ("placement", "seconds"),
    ("s1m2", "p99_long_ms"),
    ("dictionaries", "whole_s"),
    ("table1", "docs_per_s"),
    ("stages", "whole"),
    ("segment-size", "qps"),
    ("steal", "qps"),
    ("modes", "shutdown"),
    ("merge", "commit_s"),
    ("visible", "p50_us"),
    ("freshness", "p99_us"),
    ("newest", "p50_us"),
    ("newest-busy", "docs_per_s"),
    ("count", "p95_us"),
    ("equal", "equal"),
    ("queries", "mean_us"),
    ("queries-busy", "docs_per_s"),
    ("segments", "mean_us"),
    ("memory", "bytes_per_posting"),
    ("intersect", "p50_us"),
    ("formats", "qps"),
    ("codecs", "bytes_per_posting"),
    ("blocks", "fresh_bytes_per_posting"),
    ("cache", "qps_cached"),
    ("cache-qps", "p99_us"),
    ("cache-live", "dashboard_us"),
];

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirit-bench"));
    command.args(arguments).env_remove("SPIRIT_DATA").output().expect("the program starts")
}

fn rows_file(experiment: &str) -> PathBuf {
    std::env::temp_dir()
        .join(format!("spirit-bench-smoke-{}-{experiment}.json", std::process::id()))
}

/// Runs an experiment and returns its rows.
fn rows(experiment: &str) -> Vec<Value> {
    let file = rows_file(experiment);
    let path = file.to_str().expect("a plain path");
    let options = ["--docs", "3000", "--rounds", "1", "--peers", "none", "--json", path];
    let output = bench(&[&[experiment], options.as_slice()].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{experiment}: {said}");
    let text = std::fs::read_to_string(&file).expect("rows are written");
    std::fs::remove_file(&file).expect("they can be removed");
    text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}

fn check(row: &Value, experiment: &str) {
    let names: Vec<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected = ["experiment", "system", "config", "metric", "unit", "value", "runs"];
    expected.sort_unstable();
    assert!(names.iter().all(|name| expected.contains(name)) && names.len() == 7, "{row}");
    assert_eq!(row["experiment"], experiment);
    assert!(row["config"]["corpus"] == "generated" && row["config"]["seed"] == 42, "{row}");
    assert!(row["system"].is_string() && row["metric"].is_string() && row["unit"].is_string());
    assert!(row["value"].is_number(), "{row}");
    let runs = row["runs"].as_array().expect("runs");
    assert!(!runs.is_empty() && runs.iter().all(Value::is_number), "{row}");
}

#[test]
fn every_experiment_runs_and_writes_rows() {
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some((experiment, metric)) = EXPERIMENTS.get(next.fetch_add(1, Relaxed)) {
            let rows = rows(experiment);
            rows.iter().for_each(|row| check(row, experiment));
            assert!(
                rows.iter().any(|row| row["metric"] == *metric),
                "{experiment} has no {metric}"
            );
        }
    };
    // Beside each other, as no figure is looked at.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(run);
        }
    });
}

#[test]
fn the_list_names_every_experiment() {
    let output = bench(&["list"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    for (experiment, _) in EXPERIMENTS {
        assert!(
            said.lines().any(|line| line.split(' ').next() == Some(experiment)),
            "{experiment}"
        );
    }
}

#[test]
fn wrong_usage_is_told_from_failed_work() {
    for wrong in
        [&["nothing"][..], &[], &["newest", "--peers", "solr"], &["newest", "--rounds", "0"]]
    {
        assert_eq!(bench(wrong).status.code(), Some(2), "{wrong:?}");
    }
    let missing = bench(&["count", "--corpus", "no-such-file.jsonl", "--peers", "none"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such-file.jsonl"));
}
