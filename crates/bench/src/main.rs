//! `spirit-bench`: SPIRIT measured side by side with other engines.
//!
//! Each experiment is a file of [`experiments`] that says what is measured, on what, and what to beware of. The
//! program ends with exit code 0 even where a bar is missed: a benchmark is no test. It ends with 1 if the work
//! failed or an engine answered otherwise than ours, with 2 if it was called wrongly.
#![forbid(unsafe_code)]

mod all_matches;
mod archive;
mod args;
mod bench;
mod bm25;
mod busy;
mod cache_logs;
mod cgroup;
mod charts;
mod codecs;
mod cores;
mod corpus;
mod dictionary;
mod engine;
mod equal;
mod experiments;
mod form;
mod judged;
mod language;
mod lengths;
mod live;
mod out_of_place;
mod peers;
mod query_sets;
mod report;
mod scratch;
mod segment_tables;
mod sloppy;
mod timing;
mod turns;
mod workloads;

use std::process::ExitCode;

use clap::Parser;

use args::Args;
use bench::Bench;
use experiments::freshness::asker;
use experiments::{Experiment, pages, restart, s1m2};

/// Whatever went wrong; it ends the program with one line.
type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(restart::ANSWER) {
        return ended(restart::answer(std::env::args().skip(2)));
    }
    if std::env::args().nth(1).as_deref() == Some(asker::ASK) {
        return ended(asker::ask(std::env::args().skip(2)));
    }
    if std::env::args().nth(1).as_deref() == Some(pages::process::ASK) {
        return ended(pages::process::ask(std::env::args().skip(2)));
    }
    if std::env::args().nth(1).as_deref() == Some(s1m2::process::ASK) {
        return ended(s1m2::process::ask(std::env::args().skip(2)));
    }
    let args = Args::parse();
    let outcome = match task(&args.experiment) {
        Ok(Task::List) => {
            list();
            Ok(())
        }
        Ok(Task::Run(experiments)) => run(&args, &experiments),
        Err(wrong) => {
            eprintln!("spirit-bench: {wrong}");
            return ExitCode::from(2);
        }
    };
    ended(outcome)
}

/// What is to be done.
enum Task {
    /// Name the experiments.
    List,
    /// Run these.
    Run(Vec<&'static Experiment>),
}

/// The task that an experiment's name stands for, or what is wrong with it.
fn task(experiment: &str) -> Result<Task, String> {
    match experiment {
        "list" => Ok(Task::List),
        "all" => Ok(Task::Run(experiments::ALL.iter().collect())),
        name => experiments::ALL
            .iter()
            .find(|experiment| experiment.name == name)
            .map(|experiment| Task::Run(vec![experiment]))
            .ok_or_else(|| format!("no such experiment: {name}; `spirit-bench list` names them")),
    }
}

fn ended(outcome: Fallible<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("spirit-bench: {}", error.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn list() {
    for Experiment { name, what, reproduces, bars, .. } in experiments::ALL {
        println!("{name:<12} {what}\n{:13}reproduces: {reproduces}\n{:13}bar: {bars}", "", "");
    }
}

fn run(args: &Args, experiments: &[&Experiment]) -> Fallible<()> {
    let mut bench = Bench::new(args)?;
    println!("{}", bench.cores.describe());
    println!(
        "vectors: {:?}; clock: {} ns a reading, inside every latency",
        spirit_kernel::Level::detect(),
        timing::clock_overhead_ns()
    );
    for experiment in experiments {
        println!("\n== {}: {}", experiment.name, experiment.what);
        say_if_busy();
        (experiment.run)(&mut bench)?;
    }
    Ok(())
}

/// Others at work make every figure worse, and ours, which are short, most of all.
fn say_if_busy() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().and_then(|load| load.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > 0.5) {
        println!("load average {load}: other programs may be at work, the figures are noisy");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_found_by_its_name() {
        for experiment in experiments::ALL {
            let found = task(experiment.name);
            assert!(matches!(found, Ok(Task::Run(found)) if found[0].name == experiment.name));
        }
        assert!(task("nothing").is_err());
    }
}
