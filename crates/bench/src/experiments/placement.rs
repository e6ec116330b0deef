//! `placement`: the same bulk load with its structures on two media.
//!
//! Measured: documents in memory, added in order by a bulk load, two executors, positions kept, until everything is durable and
//! merged. The seven placements are those of the paper (part 004, table 1 and figure 7): table, partial postings, merged postings,
//! and dictionary with document map, each in DRAM, on the medium that stands for persistent memory, or on the disk. The paper's
//! column has its times, its pm-only being 1.
//!
//! Corpus: articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: there is no persistent memory here. A file system in memory stands in for it: its stores are as fast as those to DRAM, so
//! what the paper pays for them is not seen. The disk is that of temporary files, through the page cache; nothing waits for it, as at
//! level process. Parts are sums over both executors; the idle time includes waiting for a core. Placements but cc-hybrid are mode
//! graceful.

use std::time::Instant;

use serde_json::json;
use spirit::lab::{Placement, Times};
use spirit::{Index, Mode};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;

const EXECUTORS: usize = 2;
const DRAM_BYTES: u64 = 1 << 30;
/// Of the second tier, for each byte of text.
const NVM_PER_TEXT: u64 = 6;
/// The paper's times, those of pm-only being 1.
const PAPER: [f64; Placement::ALL.len()] = [0.70, 1.0, 1.0, 0.575, 0.76, 0.56, 0.875];

/// Seconds of each round.
#[derive(Default)]
struct Taken {
    whole: Vec<f64>,
    parts: [Vec<f64>; 6],
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    bench.begin("placement", &corpus, &[("executors", json!(EXECUTORS))]);
    let _pinned = bench.cores.pin(On::Both);
    let mut taken: [Taken; Placement::ALL.len()] = Default::default();
    for round in 0..bench.rounds {
        // Each comes first as often as the others.
        for at in (0..Placement::ALL.len()).map(|at| (round + at) % Placement::ALL.len()) {
            load(&corpus, Placement::ALL[at], &mut taken[at])?;
        }
    }
    print(bench, &corpus, &taken)
}

fn load(corpus: &Corpus, placement: Placement, taken: &mut Taken) -> Fallible<()> {
    let (pm, disk) = (Scratch::new()?, Scratch::on_disk()?);
    let directory = if placement.has_merged_on_pm() { pm.path() } else { disk.path() };
    let nvm_bytes = (corpus.text_bytes() * NVM_PER_TEXT).max(1 << 30).next_multiple_of(1 << 20);
    let index = Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .directory(directory)
        .mode(if placement.is_crash_consistent() { Mode::Crash } else { Mode::Graceful })
        .executors(EXECUTORS)
        .dram_bytes(DRAM_BYTES)
        .nvm_bytes(nvm_bytes)
        .media(placement.media(pm.path(), disk.path()))
        .open()?;
    let start = Instant::now();
    let mut bulk = index.bulk()?;
    bulk.add_all(corpus.iter().map(|text| (None, text)))?;
    bulk.finish()?;
    let whole = start.elapsed().as_secs_f64();
    taken.whole.push(whole);
    let times = index.times();
    let sum = |part: fn(&Times) -> f64| times.iter().map(part).sum::<f64>();
    let parts = [
        sum(|times| times.document_ids),
        sum(|times| times.hash),
        sum(|times| times.sort),
        sum(|times| times.flush),
        sum(|times| times.merge),
    ];
    let idle = 2.0 * EXECUTORS as f64 * whole - parts.iter().sum::<f64>();
    for (all, part) in taken.parts.iter_mut().zip(parts.into_iter().chain([idle.max(0.0)])) {
        all.push(part);
    }
    if index.accepted() != corpus.len() as u64 {
        return Err("an index accepted other documents than it was given".into());
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    taken: &[Taken; Placement::ALL.len()],
) -> Fallible<()> {
    let title = format!("{}: a bulk load by placement, s", corpus.name);
    let head = [
        "placement",
        "whole",
        "of pm-only",
        "paper",
        "ids",
        "hash",
        "sort",
        "flush",
        "merge",
        "idle",
    ];
    let mut table = Table::new(title, &head);
    let is_base = |placement: &Placement| *placement == Placement::PmOnly;
    let base = Placement::ALL.iter().position(is_base).map_or(1.0, |at| median(&taken[at].whole));
    for ((placement, taken), paper) in Placement::ALL.iter().zip(taken).zip(PAPER) {
        let config = [("placement", json!(placement.name()))];
        bench.report.row("spirit", &config, "seconds", "s", &taken.whole)?;
        for (name, part) in head[4..].iter().zip(&taken.parts) {
            bench.report.row("spirit", &config, name, "s", part)?;
        }
        let whole = median(&taken.whole);
        let cells =
            [placement.name().to_owned(), number(whole), number(whole / base), number(paper)];
        table.line(cells.into_iter().chain(taken.parts.iter().map(|part| number(median(part)))));
    }
    table.print();
    Ok(())
}
