//! `pages`: which pages of an index on a disk are in memory while a log is asked, if memory is scarce.
//!
//! Measured: the thesis' figure 5.15, and page events in place of 5.14. The index is in a directory on the disk of temporary files, and
//! none of it is in the page cache. A process of its own opens it in a memory cgroup, whose limit is what the process has then, and 5, 10
//! or 20 % of the index, and the cache's bytes. It asks the thesis' log of ANDs for all matches, 10,000 at most, for a while, without a result
//! cache and with one (the thesis' best: DLIRS, TLSF, 20 %). Five times a second it notes which pages are mapped, faults, and queries.
//!
//! Corpus: 100,000 articles; the most frequent 108 terms.
//!
//! Caveats: no safe binding of `mincore` is among the project's packages, and `fincore` gives totals only. So the pages are those that
//! the process has mapped, by `/proc/self/pagemap`. A page may stay in the page cache unmapped for a while, and a fault maps its
//! neighbours too. Limits are those of cgroups, which need rights; without them nothing is measured. Events of the page cache come from
//! `perf` if it is there. Counters of TLB and last-level cache (figures 5.11, 5.14 and 5.17) are not to be read on a virtual machine.

pub(crate) mod process;

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use spirit::lab::PointerUpdate;
use spirit_peer_protocol::Query as Tree;

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, HIGH, Log};
use crate::cgroup::{self, Cgroup};
use crate::charts::{Figure, Series};
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::{engine, language, workloads};

use process::PERIOD;

const DOCUMENTS_MAX: usize = 100_000;
/// Rows of the map.
const ROWS: usize = 64;
/// Page cache in percent of the index, and whether there is a result cache.
const LIMITS: [(u64, bool); 4] = [(5, false), (10, false), (20, false), (20, true)];
const QUERIES: usize = 20_000;
/// The result cache's share of the index in percent.
const CACHE_PERCENT: u64 = 20;
const EVENTS: &str =
    "filemap:mm_filemap_add_to_page_cache,filemap:mm_filemap_delete_from_page_cache";

/// What a process found.
struct Found {
    name: String,
    samples: Vec<Value>,
    /// The share of each part's pages that are mapped, for each sample. Parts at the ends that no query reads are left out.
    maps: Vec<Vec<f64>>,
    /// Pages that were added to the page cache, and deleted from it, if perf says so.
    events: Option<[u64; 2]>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?.first(DOCUMENTS_MAX);
    bench.begin("pages", &corpus, &[]);
    if let Err(reason) = Cgroup::new(&cgroup::MEMORY) {
        println!("not measured: {reason}");
        return Ok(());
    }
    let scratch = Scratch::on_disk()?;
    let index_bytes = fill(&corpus, &scratch)?;
    let log = log(&corpus, bench.seed);
    std::fs::write(scratch.path().join(process::LOG), log)?;
    println!("index: {} MiB", index_bytes >> 20);
    let mut all = Vec::new();
    for (percent, is_cached) in LIMITS {
        cgroup::forget_pages(scratch.path())?;
        let cache_bytes = if is_cached { index_bytes * CACHE_PERCENT / 100 } else { 0 };
        let limit = index_bytes * percent / 100;
        let (samples, events) = child(&scratch, [engine::heap_bytes(&corpus), limit, cache_bytes])?;
        let cached = if is_cached { "-cached" } else { "" };
        let maps = maps(&samples);
        all.push(Found { name: format!("{percent}{cached}"), samples, maps, events });
    }
    show(bench, &all)
}

/// Fills the index and closes it. Returns the bytes of its segments in the second tier.
fn fill(corpus: &Corpus, scratch: &Scratch) -> Fallible<u64> {
    let options = engine::stream_options(corpus)
        .prefault(false)
        .directory(scratch.path())
        .nvm_bytes(engine::heap_bytes(corpus))
        .pointer_update(PointerUpdate::Eager);
    let index = engine::filled(options, corpus)?;
    index.flush()?;
    engine::wait_until_merged(&index)?;
    let bytes = index.stats()?.sections.iter().map(|(_, bytes)| bytes).sum();
    index.close()?;
    Ok(bytes)
}

/// The log's queries, one a line.
fn log(corpus: &Corpus, seed: u64) -> String {
    let mut terms: Vec<(String, u32)> =
        workloads::document_frequencies(corpus).into_iter().collect();
    terms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms.truncate(HIGH);
    let term = |number: u32| Tree::term(&terms[number as usize % terms.len()].0);
    let line = |asked: &Asked| match *asked {
        Asked::And(a, b) | Asked::Or(a, b) => {
            language::shown(&Tree::all_of(vec![term(a), term(b)])) + "\n"
        }
        Asked::Single(a) => language::shown(&term(a)) + "\n",
    };
    Log::and(seed).queries.iter().take(QUERIES).map(line).collect()
}

/// Runs the process in a cgroup, below `perf` if that is there.
fn child(scratch: &Scratch, numbers: [u64; 3]) -> Fallible<(Vec<Value>, Option<[u64; 2]>)> {
    let cgroup = Cgroup::new(&cgroup::MEMORY)?;
    let events = scratch.path().join("events");
    let has_perf = Command::new("perf").arg("--version").stdout(Stdio::null()).status().is_ok();
    let mut command = if has_perf {
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x,", "-e", EVENTS, "-o"]).arg(&events);
        perf.arg("--").arg(std::env::current_exe()?);
        perf
    } else {
        Command::new(std::env::current_exe()?)
    };
    command.arg(process::ASK).arg(scratch.path()).arg(cgroup.path());
    let output = command.args(numbers.map(|n| n.to_string())).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the process that asks ended with {}", output.status).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    let samples = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let counted = std::fs::read_to_string(&events).unwrap_or_default();
    let count = |name: &str| {
        let line = counted.lines().find(|line| line.contains(name))?;
        line.split(',').next()?.parse().ok()
    };
    Ok((samples, count("add_to").zip(count("delete_from")).map(|(added, gone)| [added, gone])))
}

fn show(bench: &mut Bench, all: &[Found]) -> Fallible<()> {
    let head = [
        "page cache, % of the index",
        "mapped at first, %",
        "at the end",
        "QPS, first second",
        "QPS, last second",
        "minor faults",
        "major",
        "pages added",
        "deleted",
    ];
    let mut table = Table::new("an index on a disk under a limit; figure 5.15", &head);
    let mut rates = Vec::new();
    for found in all {
        let of = |sample: Option<&Value>, name: &str| {
            sample.and_then(|sample| sample[name].as_f64()).unwrap_or(0.0)
        };
        let (first, last) = (found.samples.first(), found.samples.last());
        let more = |name: &str| of(last, name) - of(first, name);
        let rate = |(a, b): (&Value, &Value)| {
            (of(Some(b), "queries") - of(Some(a), "queries"))
                / (of(Some(b), "s") - of(Some(a), "s"))
        };
        let points: Vec<(f64, f64)> = found
            .samples
            .iter()
            .zip(found.samples.iter().skip(1))
            .map(|(a, b)| (of(Some(b), "s"), rate((a, b))))
            .collect();
        let second = (1.0 / PERIOD.as_secs_f64()) as usize;
        let mean = |part: &[(f64, f64)]| {
            part.iter().map(|(_, rate)| rate).sum::<f64>() / part.len().max(1) as f64
        };
        let config = [("limit", json!(found.name))];
        let qps = mean(&points[points.len().saturating_sub(second)..]);
        bench.report.row("spirit", &config, "qps", "1/s", &[qps])?;
        bench.report.row("spirit", &config, "major_faults", "", &[more("major")])?;
        let [added, gone] = match found.events {
            Some(events) => events.map(|count| number(count as f64)),
            None => ["no perf".to_owned(), String::new()],
        };
        let mapped = |column: Option<&Vec<f64>>| {
            let all = column.map(Vec::as_slice).unwrap_or_default();
            number(all.iter().sum::<f64>() * 100.0 / all.len().max(1) as f64)
        };
        table.line([
            found.name.clone(),
            mapped(found.maps.first()),
            mapped(found.maps.last()),
            number(mean(&points[..second.min(points.len())])),
            number(qps),
            number(more("minor")),
            number(more("major")),
            added,
            gone,
        ]);
        rates.push(Series::new(found.name.as_str(), points));
        heat(bench, found)?;
    }
    table.print();
    let title = "ANDs under limits of the page cache, % of the index";
    let figure = Figure { name: "qps", title, x: "s", y: "queries a second" };
    bench.charts.lines(figure, &rates)
}

/// The parts' shares in each sample, without the ends of the file that no query reads, in [`ROWS`] parts at most.
fn maps(samples: &[Value]) -> Vec<Vec<f64>> {
    let column = |sample: &Value| -> Vec<f64> {
        let bins = sample["bins"].as_array().map(Vec::as_slice).unwrap_or_default();
        bins.iter().filter_map(Value::as_f64).collect()
    };
    let columns: Vec<Vec<f64>> = samples.iter().map(column).collect();
    let is_used = |column: &Vec<f64>| {
        let start = column.iter().position(|share| *share > 0.0)?;
        Some((start, column.iter().rposition(|share| *share > 0.0)? + 1))
    };
    // What only the start reads is not of the segments.
    let asked = columns.iter().skip(1);
    let used = asked.filter_map(is_used).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((start, end)) = used else { return Vec::new() };
    let rows = (end - start).div_ceil(ROWS);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    columns.iter().map(|column| column[start..end].chunks(rows).map(mean).collect()).collect()
}

/// Figure 5.15: a column for each sample.
fn heat(bench: &Bench, found: &Found) -> Fallible<()> {
    let file = format!("5.15-{}", found.name);
    let title = format!("Figure 5.15: mapped pages, {} % of the index", found.name);
    let figure = Figure { name: &file, title: &title, x: "s", y: "part of the file" };
    let rows = found.maps.first().map_or(1, Vec::len) as f64;
    bench.charts.heat(figure, &found.maps, PERIOD.as_secs_f64(), rows)
}
