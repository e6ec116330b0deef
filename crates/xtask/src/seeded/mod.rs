//! `cargo xtask seeded`: whether the tests of the persistent tier and of queries find what they are there to find.
//!
//! Tests that pass say little unless they fail where something is wrong. So each of the bugs, of [storage](bugs), of [space](space_bugs), of [bulk loads](bulk_bugs), of
//! [caches](cache_bugs), of [conditions](condition_bugs), of [patterns](pattern_bugs), of [queries](query_bugs), of [ranking](ranking_bugs) and of [standing queries](standing_bugs), is put into a [copy](copy::Copy) of the sources, alone, and the tests named beside
//! it have to compile and to fail. They have to pass without it first: a test that always fails finds nothing.

mod bug;
mod bugs;
mod bulk_bugs;
mod cache_bugs;
mod condition_bugs;
mod copy;
mod pattern_bugs;
mod query_bugs;
mod ranking_bugs;
mod space_bugs;
mod standing_bugs;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::process::{Ended, Line};
use crate::run::{Took, say};
use bug::{Bug, Tests};
use copy::Copy;

/// Beyond it a build hangs. The first compiles all that the tests depend on.
const BUILD_BOUND: Duration = Duration::from_secs(30 * 60);
/// Beyond it a test hangs, and has found nothing: it could not say what.
const TEST_BOUND: Duration = Duration::from_secs(10 * 60);
/// The name of what tests print that find no bug.
const WITHOUT: &str = "without";
/// What tests print that could not be run here.
const NOT_MEASURED: &str = "NOT MEASURED";

/// All bugs there are.
fn every_bug() -> impl Iterator<Item = &'static Bug> {
    bugs::BUGS
        .iter()
        .chain(space_bugs::BUGS)
        .chain(bulk_bugs::BUGS)
        .chain(cache_bugs::BUGS)
        .chain(condition_bugs::BUGS)
        .chain(standing_bugs::BUGS)
        .chain(pattern_bugs::BUGS)
        .chain(query_bugs::BUGS)
        .chain(ranking_bugs::BUGS)
}

/// All bugs, or those that are named.
pub(crate) fn run(root: &Path, only: &[&str]) -> ExitCode {
    let is_asked_for = |bug: &&Bug| only.is_empty() || only.contains(&bug.name);
    let bugs: Vec<Bug> = every_bug().filter(is_asked_for).copied().collect();
    if !only.is_empty() && bugs.len() < only.len() {
        let names: Vec<&str> = every_bug().map(|bug| bug.name).collect();
        eprintln!("xtask: no such bug; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let rows = match seeded(root, &bugs) {
        Ok(rows) => rows,
        Err(why) => {
            eprintln!("xtask: seeded FAILED: {why}");
            return ExitCode::FAILURE;
        }
    };
    print_table(&rows);
    let missed = rows.iter().filter(|row| !row.outcome.is_fine()).count();
    if missed > 0 {
        eprintln!("xtask: seeded FAILED: {missed} of {} bugs were not found", rows.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn seeded(root: &Path, bugs: &[Bug]) -> Result<Vec<Row>, String> {
    let outdated: Vec<String> = bugs.iter().filter_map(|bug| bug.seed(root).err()).collect();
    if !outdated.is_empty() {
        return Err(outdated.join("\n"));
    }
    let copy = Copy::of(root).map_err(|error| format!("the sources cannot be copied: {error}"))?;
    check_without(&copy, bugs)?;
    let mut rows = Vec::new();
    for (number, bug) in (1..).zip(bugs) {
        say(format_args!("=== [{number}/{}] {}: {}", bugs.len(), bug.name, bug.what));
        let row = Row::of(&copy, *bug);
        say(format_args!("=== [{number}/{}] {}", bugs.len(), row.said()));
        rows.push(row);
    }
    Ok(rows)
}

/// Without any bug the tests pass.
fn check_without(copy: &Copy, bugs: &[Bug]) -> Result<(), String> {
    let mut seen: Vec<Tests> = Vec::new();
    for tests in bugs.iter().map(|bug| bug.found_by) {
        if seen.contains(&tests) {
            continue;
        }
        seen.push(tests);
        let started = Instant::now();
        match judge(copy, WITHOUT, tests) {
            Outcome::Missed | Outcome::NotRun => {}
            Outcome::Found(test) => {
                let printed = copy.printed(WITHOUT);
                let (test, tests) = (format!("{test} fails"), tests.run());
                return Err(format!(
                    "without any bug, `{tests}`: {test}, see {}",
                    printed.display()
                ));
            }
            Outcome::Broken(why) => {
                return Err(format!("without any bug, `{}`: {why}", tests.run()));
            }
        }
        let took = Took(started.elapsed());
        say(format_args!("=== without any bug `{}` passes: {took}", tests.run()));
    }
    Ok(())
}

/// What became of a bug.
struct Row {
    bug: Bug,
    outcome: Outcome,
    seconds: f64,
}

impl Row {
    fn of(copy: &Copy, bug: Bug) -> Row {
        let started = Instant::now();
        let judged = bug.seed(&copy.tree()).and_then(|content| {
            copy.with(bug.file, &content, || judge(copy, bug.name, bug.found_by))
                .map_err(|error| format!("{}: {error}", bug.file))
        });
        let outcome = judged.unwrap_or_else(Outcome::Broken);
        Row { bug, outcome, seconds: started.elapsed().as_secs_f64() }
    }

    fn said(&self) -> String {
        format!("{}: {}, {:.0} s", self.bug.name, self.outcome, self.seconds)
    }
}

/// What tests say.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// This one of them failed.
    Found(String),
    /// They passed.
    Missed,
    /// They say that they cannot run here.
    NotRun,
    /// They could not be asked.
    Broken(String),
}

impl Outcome {
    fn is_fine(&self) -> bool {
        matches!(self, Outcome::Found(_) | Outcome::NotRun)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Found(test) => f.write_str(test),
            Outcome::Missed => f.write_str("NOT FOUND"),
            Outcome::NotRun => f.write_str("NOT RUN: its tests cannot run here"),
            Outcome::Broken(why) => write!(f, "BROKEN: {why}"),
        }
    }
}

/// Compiles the tests, which has to succeed, and runs them. What they print is kept as of `name`.
fn judge(copy: &Copy, name: &str, tests: Tests) -> Outcome {
    let printed = copy.printed(name);
    let run = |line: Line, bound: Duration| {
        let line = line
            .with("CARGO_TARGET_DIR", copy.build().display().to_string())
            // A failure is wanted here: it is no case to be tried again and again.
            .with("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        match line.run_into(&printed, &copy.tree(), bound) {
            Err(error) => Err(format!("it did not start: {error}")),
            Ok(Ended::Stopped(bound)) => Err(format!("it was stopped after {}", Took(bound))),
            Ok(Ended::Itself(status)) => Ok(status.success()),
        }
    };
    match run(tests.build(), BUILD_BOUND) {
        Ok(true) => {}
        Ok(false) => return Outcome::Broken(format!("no build, see {}", printed.display())),
        Err(why) => return Outcome::Broken(why),
    }
    match run(tests.run(), TEST_BOUND) {
        Err(why) => Outcome::Broken(why),
        Ok(passed) => verdict(passed, &std::fs::read_to_string(&printed).unwrap_or_default()),
    }
}

/// What tests say that ended so, and printed this.
fn verdict(passed: bool, printed: &str) -> Outcome {
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.to_owned())
    };
    if passed {
        let ran =
            printed.lines().any(|line| line.starts_with("test ") && line.ends_with(" ... ok"));
        return match ran {
            _ if printed.contains(NOT_MEASURED) => Outcome::NotRun,
            true => Outcome::Missed,
            false => Outcome::Broken("there is no such test".into()),
        };
    }
    match printed.lines().find_map(failed) {
        Some(name) => Outcome::Found(name),
        // A signal, say.
        None => Outcome::Found("the tests' process, which died".into()),
    }
}

fn print_table(rows: &[Row]) {
    let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let name = width(|row| row.bug.name.len());
    let what = width(|row| row.bug.what.len());
    let found = width(|row| row.outcome.to_string().len());
    say(format_args!("\n{:name$}  {:what$}  {:found$}  seconds", "bug", "what it is", "found by"));
    for Row { bug, outcome, seconds } in rows {
        let outcome = outcome.to_string();
        say(format_args!("{:name$}  {:what$}  {outcome:found$}  {seconds:.0}", bug.name, bug.what));
    }
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let all = Took(Duration::from_secs_f64(all));
    let found = rows.iter().filter(|row| matches!(row.outcome, Outcome::Found(_))).count();
    say(format_args!("\nxtask: {} bugs seeded, {found} found, {all}", rows.len()));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::files;

    /// A change of the sources that makes a bug's text another has to change the bug too.
    #[test]
    fn every_bug_can_be_seeded() {
        let root: &Path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = root.ancestors().nth(2).expect("two above this crate");
        let mut stale = Vec::new();
        for bug in every_bug() {
            match bug.seed(root) {
                Err(why) => stale.push(why),
                Ok(seeded) => {
                    let file = std::fs::read_to_string(root.join(bug.file));
                    assert!(seeded != file.expect("it is there"));
                }
            }
        }
        assert!(stale.is_empty(), "{}", stale.join("\n"));
    }

    /// A test that got another name would only be missed after an hour.
    #[test]
    fn every_bug_has_a_test_that_finds_it() {
        let root: &Path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let crates = root.parent().expect("one above this crate");
        let mut names = String::new();
        for file in files::walked(crates).expect("readable") {
            // This crate names them all.
            if file.ends_with(".rs") && !file.starts_with("xtask/") {
                // A file is a module.
                names += &format!("mod {file} {}", file.replace('/', "::"));
                names += &std::fs::read_to_string(crates.join(&file)).expect("it is there");
            }
        }
        let is_there = |bug: &Bug| {
            let last = bug.found_by.named.rsplit("::").next().unwrap_or_default();
            last.is_empty() || names.contains(last)
        };
        let stale: Vec<_> = every_bug().filter(|bug| !is_there(bug)).map(|bug| bug.name).collect();
        assert!(stale.is_empty(), "the tests of these have other names now: {stale:?}");
    }

    #[test]
    fn bugs_are_twelve_at_least_and_have_names_of_their_own() {
        let names: BTreeSet<&str> = every_bug().map(|bug| bug.name).collect();
        assert_eq!(names.len(), every_bug().count());
        assert!(names.len() >= 12 && !names.contains(WITHOUT));
    }

    #[test]
    fn a_bug_is_found_by_a_test_that_ran_and_failed() {
        let found = Outcome::Found("b::c".into());
        assert_eq!(verdict(false, "test a ... ok\ntest b::c ... FAILED\n"), found);
        assert_eq!(verdict(true, "test a ... ok\n"), Outcome::Missed);
        assert_eq!(verdict(true, "NOT MEASURED: no mkfs\ntest a ... ok\n"), Outcome::NotRun);
        assert!(matches!(verdict(true, "running 0 tests\n"), Outcome::Broken(_)));
        assert!(verdict(false, "signal: 11").is_fine());
    }
}
