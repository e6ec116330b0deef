//! Runs a plan: each step announced, timed, and the first failure named in the last line.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::plan::{Act, CANNOT_RUN_HERE, Offered, Options, Step, plan};
use crate::process::{Ended, Line};
use crate::tidy;

/// `cargo xtask tidy`.
pub(crate) fn tidy(root: &Path) -> ExitCode {
    match check_tree(root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: tidy FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// `cargo xtask test`: the steps in order, until one fails.
pub(crate) fn test(root: &Path, options: Options) -> ExitCode {
    let started = Instant::now();
    let steps = plan(options, &Offered::look(root, options));
    let mut not_run = Vec::new();
    for (number, step) in (1..).zip(&steps) {
        let heading = format!("[{number}/{}] {}", steps.len(), step.name);
        say(format_args!("\n=== {heading}: {}", announced(&step.act)));
        let step_started = Instant::now();
        let left = options.budget().saturating_sub(started.elapsed());
        let took = |since: Instant| Took(since.elapsed());
        match act(root, step, left) {
            Ok(Outcome::Passed) => say(format_args!("=== {heading}: ok, {}", took(step_started))),
            Ok(Outcome::NotRun(why)) => {
                say(format_args!("=== {heading}: NOT RUN"));
                not_run.push(why);
            }
            Err(why) => {
                eprintln!("\nxtask: step {heading} FAILED after {}: {why}", took(step_started));
                return ExitCode::FAILURE;
            }
        }
    }
    let passed = steps.len() - not_run.len();
    say(format_args!(
        "\nxtask: {passed} of {} steps passed, {}",
        steps.len(),
        Took(started.elapsed())
    ));
    for why in &not_run {
        say(format_args!("xtask: {why}"));
    }
    ExitCode::SUCCESS
}

enum Outcome {
    Passed,
    NotRun(String),
}

fn announced(act: &Act) -> String {
    match act {
        Act::Tidy => "reading the tree".into(),
        Act::Run(line, _) => line.to_string(),
        Act::NotRun(why) => why.clone(),
    }
}

fn act(root: &Path, step: &Step, left: Duration) -> Result<Outcome, String> {
    match &step.act {
        Act::Tidy => check_tree(root).map(|()| Outcome::Passed),
        Act::NotRun(why) => Ok(Outcome::NotRun(why.clone())),
        Act::Run(line, bound) => run(root, &step.name, line, left.min(*bound)),
    }
}

fn run(root: &Path, name: &str, line: &Line, bound: Duration) -> Result<Outcome, String> {
    match line.run(root, bound) {
        Err(error) => Err(format!("`{line}` did not start: {error}")),
        Ok(Ended::Stopped(bound)) => {
            Err(format!("`{line}` was stopped after its limit of {}", Took(bound)))
        }
        Ok(Ended::Itself(status)) if status.success() => Ok(Outcome::Passed),
        // Cargo and its tests know nothing of this status; the scripts do.
        Ok(Ended::Itself(status)) if status.code() == Some(CANNOT_RUN_HERE) => {
            Ok(Outcome::NotRun(format!("{name} NOT RUN: `{line}` says that it cannot run here")))
        }
        Ok(Ended::Itself(status)) => Err(format!("`{line}` ended with {status}")),
    }
}

fn check_tree(root: &Path) -> Result<(), String> {
    let report = tidy::check(root).map_err(|error| error.to_string())?;
    for warning in &report.warnings {
        say(format_args!("warning: {warning}"));
    }
    for finding in &report.findings {
        say(format_args!("{finding}"));
    }
    match report.findings.len() {
        0 => {
            say(format_args!("tidy: {} files, nothing found", report.files));
            Ok(())
        }
        found => Err(format!("{found} findings in {} files, listed above", report.files)),
    }
}

/// A line on standard output, beside Cargo's own; a reader that has gone away stops no check.
pub(crate) fn say(line: fmt::Arguments<'_>) {
    let _gone = writeln!(io::stdout(), "{line}");
}

/// A duration for people.
pub(crate) struct Took(pub(crate) Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        if seconds < 60 {
            return write!(f, "{:.1} s", self.0.as_secs_f64());
        }
        write!(f, "{} min {} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        assert_eq!(Took(Duration::from_millis(1250)).to_string(), "1.2 s");
        assert_eq!(Took(Duration::from_secs(125)).to_string(), "2 min 5 s");
    }

    #[test]
    fn how_a_command_ends_decides_the_step() {
        let shell = |script: &str| {
            run(Path::new("."), "step", &Line::new("sh -c").word(script), Duration::from_secs(10))
        };
        assert!(matches!(shell("exit 0"), Ok(Outcome::Passed)));
        assert!(matches!(shell("exit 77"), Ok(Outcome::NotRun(_))));
        assert!(shell("exit 1").is_err_and(|why| why.contains("exit status: 1")));
        let absent = run(Path::new("."), "step", &Line::new("no-such-program"), Duration::ZERO);
        assert!(absent.is_err_and(|why| why.contains("did not start")));
    }
}
