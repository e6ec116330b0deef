//! `update`: a few documents more in a large index, until they are durable.
//!
//! Measured: an index of all posts in a directory, loaded in bulk, positions kept, mode crash at level process.
//!
//! * *In a process*: `Index::add` of single documents, of which a kill loses none once it returns. And of 10 to 10,000 with
//!   one `add_all`.
//! * *From exec*: `spirit ingest -d DIR --ack`, from the start of the process until the line that acknowledges the last document can
//!   be read. And until the process has ended, which closes the index.
//!
//! Corpus: posts (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the directory lies below `/dev/shm` where there is one. The paper's figures (part 004, 4b and 14) are of a file system
//! on persistent memory, and read the dictionary of the whole index first. The command is the program beside this one: build it first.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use spirit::{Builder, Index, Mode};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::{Latencies, Rounds, median};

/// Documents that are added together.
const COUNTS: [usize; 5] = [1, 10, 100, 1_000, 10_000];
/// Single documents of a round.
const ADDS: usize = 10_000;
const NVM_BYTES: u64 = 2 << 30;
const DRAM_BYTES: u64 = 1 << 30;

/// Milliseconds of one number of documents.
#[derive(Default)]
struct Taken {
    process: Vec<f64>,
    acknowledged: Vec<f64>,
    ended: Vec<f64>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("update", &corpus, &[]);
    let program = super::program()?;
    let scratch = Scratch::new()?;
    let directory = scratch.path().join("index");
    let _pinned = bench.cores.pin(On::Both);
    let index = options(&directory).open()?;
    let mut bulk = index.bulk()?;
    bulk.add_all(corpus.iter().map(|text| (None, text)))?;
    bulk.finish()?;
    let mut single = Rounds::default();
    let mut taken: [Taken; COUNTS.len()] = Default::default();
    in_process(&index, &corpus, bench.rounds, &mut single, &mut taken)?;
    index.close()?;
    for _ in 0..bench.rounds {
        for (count, taken) in COUNTS.iter().zip(&mut taken) {
            let file = scratch.path().join("documents.txt");
            let lines: Vec<&str> = (0..*count).map(|number| corpus.get(number)).collect();
            std::fs::write(&file, lines.join("\n") + "\n")?;
            from_exec(&program, &directory, &file, *count, taken)?;
        }
    }
    print(bench, &corpus, &single, &taken)
}

fn options(directory: &Path) -> Builder {
    Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .directory(directory)
        .mode(Mode::Crash)
        .executors(2)
        .dram_bytes(DRAM_BYTES)
        .nvm_bytes(NVM_BYTES)
}

fn in_process(
    index: &Index,
    corpus: &Corpus,
    rounds: usize,
    single: &mut Rounds,
    taken: &mut [Taken; COUNTS.len()],
) -> Fallible<()> {
    for _ in 0..rounds {
        let mut latencies = Latencies::with_capacity(ADDS);
        for number in 0..ADDS {
            let text = corpus.get(number % corpus.len());
            let start = Instant::now();
            index.add(text)?;
            latencies.push(start.elapsed());
        }
        single.push(latencies.summary());
        for (count, taken) in COUNTS.iter().zip(&mut *taken) {
            let start = Instant::now();
            index.add_all((0..*count).map(|number| (None, corpus.get(number))))?;
            taken.process.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(())
}

fn from_exec(
    program: &Path,
    directory: &Path,
    file: &Path,
    count: usize,
    taken: &mut Taken,
) -> Fallible<()> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["ingest", "--ack", "--format", "lines", "-d"])
        .args([directory, file])
        .stdout(Stdio::piped())
        .spawn()?;
    let out = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut acknowledged = 0;
    for line in out.lines() {
        acknowledged += usize::from(line?.starts_with("ack "));
        if acknowledged == count && taken.acknowledged.len() == taken.ended.len() {
            taken.acknowledged.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let status = child.wait()?;
    taken.ended.push(start.elapsed().as_secs_f64() * 1e3);
    if !status.success() || acknowledged != count {
        return Err(format!("the command acknowledged {acknowledged} of {count}: {status}").into());
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    single: &Rounds,
    taken: &[Taken; COUNTS.len()],
) -> Fallible<()> {
    let title = format!("{}: documents more, until durable at level process, ms", corpus.name);
    let head = ["documents", "in a process", "from exec", "until it has ended"];
    let mut table = Table::new(title, &head);
    for (count, taken) in COUNTS.iter().zip(taken) {
        let config = [("documents", json!(count))];
        bench.report.row("in a process", &config, "ms", "ms", &taken.process)?;
        bench.report.row("from exec", &config, "ms", "ms", &taken.acknowledged)?;
        bench.report.row("until it has ended", &config, "ms", "ms", &taken.ended)?;
        let cells =
            [&taken.process, &taken.acknowledged, &taken.ended].map(|ms| number(median(ms)));
        table.line([count.to_string()].into_iter().chain(cells));
    }
    table.print();
    bench.report.rounds("spirit", &[], single)?;
    let (single, exec) = (single.median(), median(&taken[0].acknowledged));
    println!(
        "one at a time in a process, µs: P50 {}, P99 {}",
        number(single.p50()),
        number(single.p99())
    );
    bar("one document in a process, P50", Bound::AtMost(100.0), " µs", "", &Ok(single.p50()));
    bar("one document in a process, P50", Bound::AtMost(10.0), " µs", "(aim)", &Ok(single.p50()));
    bar("one document from exec", Bound::AtMost(10.0), " ms", "", &Ok(exec));
    bar("one document from exec", Bound::AtMost(1.0), " ms", "(aim)", &Ok(exec));
    Ok(())
}
