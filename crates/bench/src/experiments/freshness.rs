//! `freshness`: from the begin of an addition until another thread's query finds the document.
//!
//! Measured: one thread adds 100,000 documents a second, one at a time, evenly spaced; every hundredth has a word
//! of its own. Another thread asks for the next such word all the time, and reads the clock when a query finds
//! it. Stages and writer on the first core, the asking thread on the second. Four fifths of the corpus are in the
//! index before. A round is two seconds; the bars are for the best round (least P95), the medians are printed too.
//! "Ping" is the same loop with an atomic in place of the index: what two threads on these cores can do at all.
//!
//! "Two processes": the index is in a directory, and the asking thread belongs to another process, which maps the writer's memory
//! ([`asker`]). "Readers" are both processes' queries on the index at rest, in turns: what reading from outside costs.
//!
//! Corpus: posts (BASELINE §3). The seed has no part in our figures; it draws the peers' ordinary queries.
//!
//! Caveats: on a shared machine P99 is the scheduler's. The peers add 1,000 documents a second, which they are
//! given credit for: Lucene refreshes before every query, tantivy commits and reloads after every document and
//! keeps no such rate.

pub(crate) mod asker;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::{Index, Query, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::{Latencies, METRICS, Rounds, Summary};
use crate::turns::{Contender, TURNS, take_turns};
use crate::workloads;

use asker::Asker;

const RATE: u64 = 100_000;
const SECONDS: u64 = 2;
/// One document in this many is marked.
const MARK_EVERY: u64 = 100;
const MARKS: u64 = RATE * SECONDS / MARK_EVERY;
/// A marked document that is not found for so long is lost.
const LOST: Duration = Duration::from_secs(10);
/// Unset time of a begin.
const NOT_YET: u64 = u64::MAX;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("freshness", &corpus, &[("rate", json!(RATE))]);
    let mut contenders = contenders(bench, &corpus)?;
    let (cores, rounds) = (bench.cores, bench.rounds);
    let (mut fresh, mut ping, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    let index = base(&corpus, cores, rounds, None)?;
    let scratch = Scratch::new()?;
    let kept = base(&corpus, cores, rounds, Some(scratch.path()))?;
    let mut turn = 0;
    // All turns together have `rounds` rounds: the best of more would be better.
    let each_turn = if contenders.is_empty() { rounds } else { rounds.div_ceil(TURNS) };
    take_turns(&mut bench.peers, &mut contenders, || {
        for _ in 0..each_turn.min(rounds - fresh.len()) {
            fresh.push(round(&index, &corpus, cores, turn)?);
            ping.push(empty_round(cores)?);
            apart.push(round_apart(&kept, scratch.path(), &corpus, cores, turn)?);
            turn += 1;
        }
        Ok(())
    })?;

    let title = format!("{}: from begin of addition to found, µs", corpus.name);
    let mut table = Table::new(title, &["system", "P50", "P95", "P99", "mean"]);
    let fresh = print(bench, &mut table, "spirit", &fresh)?;
    let apart = print(bench, &mut table, "spirit, two processes", &apart)?;
    print(bench, &mut table, "ping", &ping)?;
    for peer in &contenders {
        match peer.rows() {
            Err(reason) => table.not_measured(&peer.label, &reason),
            Ok(rows) => {
                for row in &rows.0 {
                    let config = [("workload", json!(row.workload)), ("rate", json!(PEER_RATE))];
                    bench.report.row(&peer.label, &config, &row.metric, &row.unit, &row.runs)?;
                }
                let values =
                    METRICS.map(|metric| rows.value("fresh", metric).map_or_else(|e| e, number));
                let rate = rows.value("writer", "docs_per_s")?;
                let name = format!("{} at {} documents/s", peer.label, number(rate));
                table.line([name].into_iter().chain(values));
            }
        }
    }
    table.print();
    bar("freshness P50", Bound::AtMost(5.0), " µs", "", &Ok(fresh.p50()));
    bar("freshness P95", Bound::AtMost(20.0), " µs", "", &Ok(fresh.p95()));
    println!("     freshness P99 {} µs", number(fresh.p99()));
    bar("two processes P50", Bound::AtMost(5.0), " µs", "", &Ok(apart.p50()));
    let ratio = Ok(apart.p50() / fresh.p50());
    bar("two processes P50", Bound::AtMost(1.5), "×", "two threads (aim)", &ratio);
    readers(bench, &corpus, &kept, scratch.path())
}

/// The writer's own reader and one of a process that follows it, on the same queries, in turns.
fn readers(bench: &mut Bench, corpus: &Corpus, writer: &Index, directory: &Path) -> Fallible<()> {
    let workloads = workloads::draw(corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let follower = Index::builder().directory(directory).read_only(true).open()?;
    let (mut own, mut theirs) = (engine::no_rounds(&workloads), engine::no_rounds(&workloads));
    for _ in 0..bench.rounds {
        for (index, rounds) in [(writer, &mut own), (&follower, &mut theirs)] {
            let mut reader = index.reader()?;
            engine::measure(&workloads, 1, rounds, |query| {
                engine::hits(&mut reader, query, Search::newest(10))
            });
        }
    }
    let title = format!("{}: newest 10 of the writer's reader and a follower's, µs", corpus.name);
    let mut table = Table::new(title, &["workload", "writer P50", "follower P50", "ratio"]);
    let mut product = 1.0;
    for ((workload, own), theirs) in workloads.iter().zip(&own).zip(&theirs) {
        let (own, theirs) = (own.median().p50(), theirs.median().p50());
        product *= theirs / own;
        table.line(
            [&workload.name, &number(own), &number(theirs), &number(theirs / own)]
                .map(String::clone),
        );
    }
    table.print();
    let mean = product.powf(1.0 / workloads.len() as f64);
    bar("follower's queries", Bound::AtMost(1.1), "×", "the writer's readers", &Ok(mean));
    Ok(())
}

/// Documents a second that the peers are asked to add.
const PEER_RATE: u32 = 1000;

fn contenders(bench: &mut Bench, corpus: &Corpus) -> Fallible<Vec<Contender>> {
    let mut contenders = Vec::new();
    for system in [System::Tantivy, System::Lucene] {
        if bench.peers.wants(system) {
            let docs = bench.peers.docs_file(corpus)?;
            let drawn = workloads::draw(corpus, bench.seed)?;
            let queries =
                Some(bench.peers.query_file("queries.jsonl", &workloads::query_file(&drawn))?);
            let options = vec![("--rate", PEER_RATE.to_string())];
            let call = Call { task: "freshness", docs, queries, on: On::Both, options };
            contenders.push(Contender::new(system, "", call));
        }
    }
    Ok(contenders)
}

/// An index with its stages on the first core, and four fifths of the corpus in it.
fn base(corpus: &Corpus, cores: Cores, rounds: usize, directory: Option<&Path>) -> Fallible<Index> {
    let _pinned = cores.pin(On::First);
    let added = RATE * SECONDS * rounds as u64;
    let growth = corpus.text_bytes() / corpus.len() as u64 * added * 16;
    let dram_bytes = engine::heap_bytes(corpus) + growth;
    let mut options = engine::options(corpus).dram_bytes(dram_bytes);
    if let Some(directory) = directory {
        options = options.directory(directory).nvm_bytes(dram_bytes);
    }
    let index = options.open()?;
    index.add_all((0..corpus.len() / 5 * 4).map(|number| (None, corpus.get(number))))?;
    index.settle();
    Ok(index)
}

/// The word that a marked document alone has.
fn marker(turn: usize, mark: u64) -> String {
    format!("benchmarker{turn}x{mark}x")
}

/// The documents of a round.
struct Texts<'a> {
    tail: Vec<&'a str>,
    marked: Vec<String>,
}

impl<'a> Texts<'a> {
    fn new(corpus: &'a Corpus, turn: usize) -> Texts<'a> {
        let tail = corpus.len() / 5 * 4..corpus.len();
        let mut texts = Texts { tail: tail.map(|n| corpus.get(n)).collect(), marked: Vec::new() };
        let marked = |mark| format!("{} {}", texts.plain(mark * MARK_EVERY), marker(turn, mark));
        texts.marked = (0..MARKS).map(marked).collect();
        texts
    }

    fn plain(&self, number: u64) -> &'a str {
        self.tail[number as usize % self.tail.len()]
    }

    fn add(&self, index: &Index, number: u64) -> Result<(), String> {
        let text = match number.is_multiple_of(MARK_EVERY) {
            true => &self.marked[(number / MARK_EVERY) as usize],
            false => self.plain(number),
        };
        index.add(text).map(drop).map_err(|error| error.to_string())
    }
}

fn round(index: &Index, corpus: &Corpus, cores: Cores, turn: usize) -> Fallible<Summary> {
    let texts = Texts::new(corpus, turn);
    let query = |mark| Query::all_of(&[&marker(turn, mark)]).map_err(|e| e.to_string());
    let queries: Vec<Query> = (0..MARKS).map(query).collect::<Result<_, _>>()?;
    let mut reader = index.reader()?;
    let found =
        |mark: u64| engine::hits(&mut reader, &queries[mark as usize], Search::newest(10)) > 0;
    both_threads(cores, |number| texts.add(index, number), found)
}

/// Time from an add to its answer in another process.
fn round_apart(
    index: &Index,
    directory: &Path,
    corpus: &Corpus,
    cores: Cores,
    turn: usize,
) -> Fallible<Summary> {
    let texts = Texts::new(corpus, turn);
    let asker = {
        let _pinned = cores.pin(On::Second);
        Asker::start(directory, turn)?
    };
    let (zero, zero_at) = (Instant::now(), asker::now());
    let begins: Vec<AtomicU64> = (0..MARKS).map(|_| AtomicU64::new(NOT_YET)).collect();
    {
        let _pinned = cores.pin(On::First);
        write(zero, &begins, |number| texts.add(index, number))?;
    }
    let mut latencies = Latencies::with_capacity(MARKS as usize);
    for (found, begin) in asker.times()?.into_iter().zip(&begins) {
        latencies.push_ns((found - zero_at).saturating_sub(begin.load(Acquire)));
    }
    Ok(latencies.summary())
}

/// The same with a number that is written in place of an addition, and read in place of a query.
fn empty_round(cores: Cores) -> Fallible<Summary> {
    let written = AtomicU64::new(0);
    let add = |number: u64| {
        written.store(number + 1, Release);
        Ok(())
    };
    both_threads(cores, add, |mark| written.load(Acquire) > mark * MARK_EVERY)
}

fn both_threads(
    cores: Cores,
    add: impl Fn(u64) -> Result<(), String> + Send,
    mut found: impl FnMut(u64) -> bool,
) -> Fallible<Summary> {
    let zero = Instant::now();
    let begins: Vec<AtomicU64> = (0..MARKS).map(|_| AtomicU64::new(NOT_YET)).collect();
    let mut latencies = Latencies::with_capacity(MARKS as usize);
    std::thread::scope(|scope| {
        let begins = &begins;
        let writer = scope.spawn(move || {
            let _pinned = cores.pin(On::First);
            write(zero, begins, add)
        });
        let _pinned = cores.pin(On::Second);
        let asked = (0..MARKS).zip(begins).try_for_each(|(mark, begin)| {
            let patience = Instant::now();
            while !found(mark) {
                let given_up = writer.is_finished() && begin.load(Acquire) == NOT_YET;
                if given_up || patience.elapsed() > LOST {
                    return Err(format!("marked document {mark} was not found"));
                }
            }
            latencies.push_ns(zero.elapsed().as_nanos() as u64 - begin.load(Acquire));
            Ok(())
        });
        // If the writer failed, that is why nothing was found.
        writer.join().map_err(|_| "the writing thread panicked".to_owned())??;
        asked
    })?;
    Ok(latencies.summary())
}

/// Adds a document whenever one is due; a writer that is late does not wait.
fn write(
    zero: Instant,
    begins: &[AtomicU64],
    add: impl Fn(u64) -> Result<(), String>,
) -> Result<(), String> {
    let start = zero.elapsed().as_nanos() as u64;
    for number in 0..MARKS * MARK_EVERY {
        let due = start + number * (1_000_000_000 / RATE);
        let mut now = zero.elapsed().as_nanos() as u64;
        while now < due {
            std::hint::spin_loop();
            now = zero.elapsed().as_nanos() as u64;
        }
        if number.is_multiple_of(MARK_EVERY) {
            begins[(number / MARK_EVERY) as usize].store(now, Release);
        }
        add(number)?;
    }
    let taken = (zero.elapsed().as_nanos() as u64 - start) as f64 / 1e9;
    if taken > SECONDS as f64 * 1.1 {
        eprintln!("the writer fell behind: {taken:.2} s instead of {SECONDS}");
    }
    Ok(())
}

/// Prints the best round and the medians; returns the best.
fn print(
    bench: &mut Bench,
    table: &mut Table,
    name: &str,
    rounds: &[Summary],
) -> Fallible<Summary> {
    let mut all = Rounds::default();
    rounds.iter().for_each(|round| all.push(*round));
    bench.report.rounds(name, &[], &all)?;
    let best = rounds.iter().min_by(|a, b| a.p95().total_cmp(&b.p95())).ok_or("no rounds")?;
    table.line([format!("{name}, best round")].into_iter().chain(best.values.map(number)));
    table.line([format!("{name}, median")].into_iter().chain(all.median().values.map(number)));
    Ok(*best)
}
