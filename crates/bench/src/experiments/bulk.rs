//! `bulk`: a collection goes in with all cores: until it is durable, and merged.
//!
//! Measured: documents in memory, added in order; positions and texts kept. Ours: a bulk load into an index in a directory, two
//! executors, until [`finish`](spirit::Bulk::finish) returns: everything is in the file, in merged lists, and other documents are
//! accepted. Peers: two indexing threads, until everything is committed, and merged into one segment.
//!
//! * *crash-consistent*: mode crash, which a kill at any point leaves to be resumed. The bulk load's usual way.
//! * *graceful*: a kill loses the run.
//! * *logged*: the same documents by `add_all` in mode crash, then closed.
//!
//! Corpora: articles, posts (BASELINE §1). The seed has no part in it.
//!
//! Caveats: indexes lie below `/dev/shm` where there is one. Each round of ours makes its file anew and pays for its pages, as the
//! peers do; memory is not touched beforehand. Lucene's first rounds do not count (its compiler is at work).

use std::time::Instant;

use serde_json::json;
use spirit::{Builder, Index, Mode};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;
use crate::turns::{Contender, take_turns};

const EXECUTORS: usize = 2;
/// Of the second tier, for each byte of text: lists, rows, texts, dictionary, and what waits to be reused.
const NVM_PER_TEXT: u64 = 6;
const NVM_BYTES_MIN: u64 = 1 << 30;
const DRAM_BYTES: u64 = 1 << 30;

/// A way of ours.
struct Way {
    name: &'static str,
    mode: Mode,
    /// By `add_all`, and closed.
    is_stream: bool,
}

const WAYS: [Way; 3] = [
    Way { name: "crash-consistent", mode: Mode::Crash, is_stream: false },
    Way { name: "graceful", mode: Mode::Graceful, is_stream: false },
    Way { name: "logged", mode: Mode::Crash, is_stream: true },
];

/// Seconds of each round: until all were added, and until all was done.
#[derive(Default)]
struct Taken {
    added: Vec<f64>,
    whole: Vec<f64>,
    bytes: u64,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin("bulk", &corpus, &[("executors", json!(EXECUTORS)), ("store", json!(true))]);
        on_corpus(bench, &corpus)?;
    }
    Ok(())
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
    let (cores, rounds) = (bench.cores, bench.rounds);
    let mut contenders = contenders(bench, corpus)?;
    let mut ours: [Taken; WAYS.len()] = Default::default();
    take_turns(&mut bench.peers, &mut contenders, || {
        let _pinned = cores.pin(On::Both);
        (0..rounds).try_for_each(|round| {
            // Each comes first as often as the others.
            (0..WAYS.len()).try_for_each(|way| {
                let way = (round + way) % WAYS.len();
                load(corpus, &WAYS[way], &mut ours[way])
            })
        })
    })?;
    let title = format!("{}: bulk load, documents a second until all is merged", corpus.name);
    let head = ["system", "docs/s", "MB/s", "until added or committed", "index, bytes of text"];
    let mut table = Table::new(title, &head);
    for (way, taken) in WAYS.iter().zip(&ours) {
        print_ours(bench, corpus, way, taken, &mut table)?;
    }
    for contender in &contenders {
        print_peer(bench, corpus, contender, &mut table)?;
    }
    table.print();
    verdict(corpus, &ours, &contenders);
    Ok(())
}

fn options(corpus: &Corpus, way: &Way, scratch: &Scratch) -> Builder {
    let nvm_bytes = (corpus.text_bytes() * NVM_PER_TEXT).max(NVM_BYTES_MIN);
    Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .directory(scratch.path())
        .mode(way.mode)
        .executors(EXECUTORS)
        .dram_bytes(DRAM_BYTES)
        .nvm_bytes(nvm_bytes.next_multiple_of(1 << 20))
        .store(true)
}

fn load(corpus: &Corpus, way: &Way, taken: &mut Taken) -> Fallible<()> {
    let scratch = Scratch::new()?;
    let index = options(corpus, way, &scratch).open()?;
    let start = Instant::now();
    let documents = corpus.iter().map(|text| (None, text));
    if way.is_stream {
        index.add_all(documents)?;
        taken.added.push(start.elapsed().as_secs_f64());
        index.prepare_close()?;
    } else {
        let mut bulk = index.bulk()?;
        bulk.add_all(documents)?;
        taken.added.push(start.elapsed().as_secs_f64());
        bulk.finish()?;
    }
    taken.whole.push(start.elapsed().as_secs_f64());
    let stats = index.stats()?;
    let is_kept = |name: &str| name.starts_with("nvm") && !["nvm log", "nvm slots"].contains(&name);
    let kept = stats.partitions.iter().filter(|partition| is_kept(partition.name));
    taken.bytes = kept.map(|partition| partition.used).sum();
    if index.accepted() != corpus.len() as u64 {
        return Err("an index accepted other documents than it was given".into());
    }
    Ok(())
}

fn contenders(bench: &mut Bench, corpus: &Corpus) -> Fallible<Vec<Contender>> {
    let mut contenders = Vec::new();
    for system in [System::Tantivy, System::Lucene] {
        if bench.peers.wants(system) {
            let docs = bench.peers.docs_file(corpus)?;
            let options = vec![
                ("--rounds", bench.rounds.to_string()),
                ("--seconds-min", "0".to_owned()),
                ("--threads", EXECUTORS.to_string()),
            ];
            let call = Call { task: "bulk", docs, queries: None, on: On::Both, options };
            contenders.push(Contender::new(system, "", call));
        }
    }
    Ok(contenders)
}

fn print_ours(
    bench: &mut Bench,
    corpus: &Corpus,
    way: &Way,
    taken: &Taken,
    table: &mut Table,
) -> Fallible<()> {
    let rates = |seconds: &[f64]| seconds.iter().map(|s| corpus.len() as f64 / s).collect();
    let (whole, added): (Vec<f64>, Vec<f64>) = (rates(&taken.whole), rates(&taken.added));
    let config = [("way", json!(way.name))];
    bench.report.row("spirit", &config, "docs_per_s", "1/s", &whole)?;
    bench.report.row("spirit", &config, "docs_per_s_until_added", "1/s", &added)?;
    bench.report.row("spirit", &config, "index_bytes", "bytes", &[taken.bytes as f64])?;
    table.line([
        format!("spirit {}", way.name),
        number(median(&whole)),
        number(corpus.text_bytes() as f64 / median(&taken.whole) / 1e6),
        number(median(&added)),
        number(taken.bytes as f64 / corpus.text_bytes() as f64),
    ]);
    Ok(())
}

fn print_peer(
    bench: &mut Bench,
    corpus: &Corpus,
    peer: &Contender,
    table: &mut Table,
) -> Fallible<()> {
    let rows = match peer.rows() {
        Ok(rows) => rows,
        Err(reason) => {
            table.not_measured(&peer.label, &reason);
            return Ok(());
        }
    };
    for row in &rows.0 {
        let config = [("workload", json!(row.workload))];
        bench.report.row(peer.system.name(), &config, &row.metric, &row.unit, &row.runs)?;
    }
    let rate = rows.value("merged", "docs_per_s")?;
    let text_bytes = corpus.text_bytes() as f64;
    table.line([
        peer.label.clone(),
        number(rate),
        number(rate * text_bytes / corpus.len() as f64 / 1e6),
        number(rows.value("committed", "docs_per_s")?),
        number(rows.value("index", "index_bytes")? / text_bytes),
    ]);
    Ok(())
}

fn verdict(corpus: &Corpus, ours: &[Taken; WAYS.len()], contenders: &[Contender]) {
    let [consistent, graceful, _] = ours;
    let rate = corpus.len() as f64 / median(&consistent.whole);
    for (system, must, aim) in [(System::Lucene, 2.0, 4.0), (System::Tantivy, 1.3, 3.0)] {
        let found = contenders.iter().find(|contender| contender.system == system);
        let theirs = found.map_or(Err(format!("{}: not asked for", system.name())), |contender| {
            contender.value("merged", "docs_per_s")
        });
        let (title, ratio) = (format!("{}: bulk load", corpus.name), theirs.map(|it| rate / it));
        let against = format!("{} with 2 threads", system.name());
        bar(&title, Bound::AtLeast(must), "×", &against, &ratio);
        bar(&title, Bound::AtLeast(aim), "×", &format!("{against} (aim)"), &ratio);
    }
    let slower = consistent.whole.iter().zip(&graceful.whole).map(|(with, without)| with / without);
    let slower = median(&slower.collect::<Vec<_>>());
    let title = format!("{}: crash-consistent bulk load", corpus.name);
    bar(&title, Bound::AtMost(1.15), "×", "the time of graceful", &Ok(slower));
    bar(&title, Bound::AtMost(1.05), "×", "the time of graceful (aim)", &Ok(slower));
}
