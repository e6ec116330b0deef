//! The process that asks a set, and how it is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spirit::{Index, Query, Reader, Search};
use spirit_peer_protocol::Query as Tree;

use crate::cores::{Cores, On};
use crate::{Fallible, cgroup, form};

/// The first argument of the process.
pub(crate) const ASK: &str = "ask-common-words";
/// The orders in which matches are scored.
pub(super) const ORDERS: [&str; 2] = ["proximity", "best"];
/// A run ends then.
const RUN: Duration = Duration::from_secs(20);

/// What a process found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    /// Of each query that was answered.
    pub(super) nanoseconds: Vec<u64>,
    /// Queries without a match.
    pub(super) empty: u64,
    /// Matches that were returned.
    pub(super) found: u64,
}

/// Starts a process with what it needs to know, and waits for it.
pub(super) fn run(asked: &Value) -> Fallible<Run> {
    let output = Command::new(std::env::current_exe()?)
        .arg(ASK)
        .arg(asked.to_string())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the process that asks ended with {}", output.status).into());
    }
    Run::of(&serde_json::from_slice(&output.stdout)?).ok_or_else(|| "no answer of a process".into())
}

/// Asks. The argument is what [`run`] was given.
pub(crate) fn ask(mut arguments: impl Iterator<Item = String>) -> Fallible<()> {
    let asked: Value = serde_json::from_str(&arguments.next().ok_or("an argument is missing")?)?;
    let path = |name: &str| asked[name].as_str().map(PathBuf::from);
    let directory = path("directory").ok_or("no directory")?;
    if let Some(group) = path("memory_group") {
        cgroup::enter(&group)?;
    }
    cgroup::forget_pages(&directory)?;
    let dram_bytes = asked["dram_bytes"].as_u64().ok_or("no size")?;
    let index = Index::builder().directory(&directory).dram_bytes(dram_bytes).prefault(false);
    let index = index.open()?;
    index.settle();
    let queries = queries(&path("queries").ok_or("no queries")?)?;
    let search = search(asked["order"].as_str().unwrap_or_default());
    if asked["is_warm"] == true {
        all(&index, &queries, &search)?;
    } else {
        // Of pages that the start has read ahead.
        cgroup::forget_pages(&directory)?;
    }
    if let Some(group) = path("reads_group") {
        cgroup::enter(&group)?;
    }
    if let (Some(group), Some(bytes)) = (path("memory_group"), asked["memory_bytes"].as_u64()) {
        cgroup::limit(&group, bytes)?;
    }
    println!("{}", all(&index, &queries, &search)?.shown());
    Ok(())
}

/// The queries of a file: those of a line are required words.
fn queries(file: &Path) -> Fallible<Vec<Query>> {
    let query = |line: &str| -> Fallible<Query> {
        let mut terms: Vec<Tree> = line.split(' ').map(Tree::term).collect();
        let tree = if terms.len() == 1 { terms.remove(0) } else { Tree::all_of(terms) };
        Ok(form::query(&tree).map_err(|problem| format!("{line}: {problem}"))?)
    };
    std::fs::read_to_string(file)?.lines().map(query).collect()
}

/// A search that scores every match.
fn search(order: &str) -> Search {
    let search = Search::best(Search::HITS_MAX).exhaustive();
    if order == ORDERS[0] { search.proximity() } else { search }
}

/// Asks all queries, as many at once as there are cores.
fn all(index: &Index, queries: &[Query], search: &Search) -> Fallible<Run> {
    let cores = Cores::find();
    let threads = if cores.are_two() { &[On::Second, On::First][..] } else { &[On::Both] };
    let (next, begin) = (AtomicUsize::new(0), Instant::now());
    let ask = |on: On| {
        let _pinned = cores.pin(on);
        let reader = index.reader().map_err(|error| error.to_string())?;
        until(begin + RUN, reader, queries, search, &next)
    };
    let ask = &ask;
    let runs: Vec<Result<Run, String>> = thread::scope(|scope| {
        let threads: Vec<_> = threads.iter().map(|on| scope.spawn(move || ask(*on))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let mut sum = Run::default();
    for run in runs {
        let run = run?;
        sum.nanoseconds.extend(run.nanoseconds);
        (sum.empty, sum.found) = (sum.empty + run.empty, sum.found + run.found);
    }
    Ok(sum)
}

/// Asks the next query that no other thread has asked, until there are no more, or it is late.
fn until(
    end: Instant,
    mut reader: Reader,
    queries: &[Query],
    search: &Search,
    next: &AtomicUsize,
) -> Result<Run, String> {
    let mut run = Run { nanoseconds: Vec::with_capacity(queries.len()), ..Run::default() };
    while let Some(query) = queries.get(next.fetch_add(1, Relaxed)) {
        let search = search.clone();
        let start = Instant::now();
        let found = reader.search(query, search).map_err(|error| error.to_string())?.len() as u64;
        let now = Instant::now();
        run.nanoseconds.push((now - start).as_nanos() as u64);
        run.found += found;
        run.empty += u64::from(found == 0);
        if now > end {
            break;
        }
    }
    Ok(run)
}

impl Run {
    fn shown(&self) -> Value {
        json!({ "ns": self.nanoseconds, "empty": self.empty, "found": self.found })
    }

    fn of(value: &Value) -> Option<Run> {
        let nanoseconds = value["ns"].as_array()?.iter().map(Value::as_u64).collect::<Option<_>>();
        let (empty, found) = (value["empty"].as_u64()?, value["found"].as_u64()?);
        Some(Run { nanoseconds: nanoseconds?, empty, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(documents: &[&str], lines: &str, order: &str) -> Run {
        let scratch = crate::scratch::Scratch::new().unwrap();
        let file = scratch.path().join("queries");
        std::fs::write(&file, lines).unwrap();
        let index = Index::in_memory().unwrap();
        documents.iter().for_each(|text| {
            index.add(*text).unwrap();
        });
        all(&index, &queries(&file).unwrap(), &search(order)).unwrap()
    }

    #[test]
    fn every_query_is_asked_once_and_all_words_are_required() {
        for order in ORDERS {
            let run = of(&["a b", "b a", "b", "c"], "a\nb\na b\na c", order);
            assert_eq!((run.nanoseconds.len(), run.found, run.empty), (4, 2 + 3 + 2, 1), "{order}");
        }
    }

    #[test]
    fn a_run_reads_back() {
        let run = Run { nanoseconds: vec![3, 4_000_000_000], empty: 1, found: 7 };
        assert_eq!(Run::of(&run.shown()), Some(run));
        assert_eq!(Run::of(&json!({})), None);
    }
}
