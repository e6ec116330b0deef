//! `caps`: queries while DRAM holds a part of the index only, and where the dictionary is read.
//!
//! Measured as in `newest`, all matches of a query instead of ten since that is what the paper asks: indexes of the same
//! documents in a directory whose DRAM is 15 %, 55 % and all of what the index takes (the paper's tight, moderate and loose),
//! in crash mode, when everything is merged. Then: 64 segments, none engraved (all in DRAM) against all merged and committed (all
//! read in the second tier); and the latter without a DRAM dictionary, which is the paper's chain, at about 1, 64 and 512 segments.
//!
//! Corpus: posts; workloads drawn from it by document frequency with the seed (BASELINE §8.2).
//!
//! Caveats: the second tier lies below `/dev/shm`, so both tiers are equally fast memory: what is measured is the cost of the
//! structures. DRAM that the machine's tables need sets a lower bound to the tight cap.

use serde_json::json;
use spirit::{DictionaryTier, EngravePolicy, Index, Options, PointerUpdate};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::Rounds;
use crate::turns::answers;
use crate::workloads::{self, Workload};

/// Bytes of a segment for about 1, 64 and 512 segments of two million posts.
const SEGMENT_BYTES: [u64; 3] = [512 << 20, 4 << 20, 448 << 10];

/// More than any post has.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

/// An index, and what its queries took.
struct Capped {
    name: String,
    index: Index,
    segments: usize,
    covered: usize,
    rounds: Vec<Rounds>,
    /// Behind the index: it outlives it.
    _scratch: Scratch,
}

/// How an index is kept.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    segment_bytes: u64,
    /// The share of the index that DRAM holds; more than all leaves room for all stages.
    dram: f64,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    dictionary: DictionaryTier,
}

const ROOMY: f64 = 4.0;
const MERGED: Way = Way {
    name: "64, all merged",
    segment_bytes: SEGMENT_BYTES[1],
    dram: ROOMY,
    engrave: EngravePolicy::Eager,
    pointer_update: PointerUpdate::Eager,
    dictionary: DictionaryTier::Dram,
};
const UNMERGED: usize = 0;
const ALL_MERGED: usize = 1;
const WAYS: [Way; 8] = [
    Way { name: "64, none merged", engrave: EngravePolicy::Lazy, ..MERGED },
    MERGED,
    Way {
        name: "1, chain",
        segment_bytes: SEGMENT_BYTES[0],
        dictionary: DictionaryTier::Nvm,
        ..MERGED
    },
    Way { name: "64, chain", dictionary: DictionaryTier::Nvm, ..MERGED },
    Way {
        name: "512, chain",
        segment_bytes: SEGMENT_BYTES[2],
        dictionary: DictionaryTier::Nvm,
        ..MERGED
    },
    Way { name: "tight", dram: 0.15, pointer_update: PointerUpdate::Lazy, ..MERGED },
    Way { name: "moderate", dram: 0.55, pointer_update: PointerUpdate::Lazy, ..MERGED },
    Way { name: "loose", dram: 1.0, pointer_update: PointerUpdate::Lazy, ..MERGED },
];

/// The paper's table 1 (µs, 800 K tweets, a C engine on Optane): P99 of L, M, H, LL, MM, HH in crash mode.
const PAPER: [(&str, [u32; 6]); 3] = [
    ("tight", [105, 247, 2197, 210, 719, 11832]),
    ("moderate", [71, 167, 1471, 143, 604, 10476]),
    ("loose", [41, 108, 1109, 87, 509, 9580]),
];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("caps", &corpus, &[]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let index_bytes = index_bytes(&corpus)?;
    println!("the index takes {} MiB", index_bytes >> 20);
    let mut groups = [Vec::new(), Vec::new(), Vec::new()];
    let bounds = [0..2, 2..5, 5..8];
    for (group, ways) in groups.iter_mut().zip(bounds) {
        for way in &WAYS[ways] {
            group.push(capped(&corpus, index_bytes, *way, &workloads)?);
        }
        same_answers(group, &workloads)?;
        for _ in 0..bench.rounds {
            for capped in &mut *group {
                let mut reader = capped.index.reader()?;
                engine::measure(&workloads, 1, &mut capped.rounds, |query| {
                    reader.count(query) as usize
                });
            }
        }
        print(bench, &corpus, &workloads, group)?;
        if group[0].name == WAYS[UNMERGED].name {
            verdicts(&workloads, group);
        }
        // They take gigabytes.
        group.clear();
    }
    for (cap, p99) in PAPER {
        let p99: Vec<_> = p99.iter().map(u32::to_string).collect();
        println!("  paper, P99 µs, {cap}: {}", p99.join(" "));
    }
    Ok(())
}

/// What the index takes when all of it is in DRAM.
fn index_bytes(corpus: &Corpus) -> Fallible<u64> {
    let options = engine::options(corpus).prefault(false).segment_bytes(SEGMENT_BYTES[1]);
    let index = engine::filled(options, corpus)?;
    index.flush()?;
    let bytes = index.stats()?.bytes;
    Ok(bytes.index() + bytes.keys)
}

fn capped(corpus: &Corpus, index_bytes: u64, way: Way, workloads: &[Workload]) -> Fallible<Capped> {
    let scratch = Scratch::new()?;
    let heap_bytes = engine::heap_bytes(corpus) + way.segment_bytes * engine::HEAP_SEGMENTS_MIN;
    let dram_bytes = match way.dram == ROOMY {
        true => heap_bytes,
        // Stages need room for segments in flight, whatever the cap.
        false => ((index_bytes as f64 * way.dram) as u64)
            .max(way.segment_bytes * (engine::HEAP_SEGMENTS_MIN + 2)),
    };
    let options: Options = engine::options(corpus)
        .prefault(false)
        // Small segments have a small log.
        .document_bytes_max(DOCUMENT_BYTES_MAX)
        .segment_bytes(way.segment_bytes)
        .dram_bytes(dram_bytes)
        .directory(scratch.path())
        .nvm_bytes(heap_bytes)
        .log_bytes((way.segment_bytes * 4).min(256 << 20))
        .engrave(way.engrave)
        .pointer_update(way.pointer_update)
        .dictionary(way.dictionary);
    let index = engine::filled(options, corpus)?;
    index.flush()?;
    index.settle();
    let stats = index.stats()?;
    let covered = stats.segments.iter().filter(|segment| segment.in_dictionary).count();
    Ok(Capped {
        name: format!("{} ({} MiB)", way.name, dram_bytes >> 20),
        index,
        segments: stats.segments.len() - 1,
        covered,
        rounds: engine::no_rounds(workloads),
        _scratch: scratch,
    })
}

fn same_answers(all: &[Capped], workloads: &[Workload]) -> Fallible<()> {
    let first = answers(&all[0].index, workloads, None)?;
    for capped in &all[1..] {
        if answers(&capped.index, workloads, None)? != first {
            return Err(format!("`{}` and `{}` count otherwise", all[0].name, capped.name).into());
        }
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    all: &[Capped],
) -> Fallible<()> {
    let title = format!("{}: counts, µs P50 (P99), and queries a second of all", corpus.name);
    let head = ["index", "segments", "in DRAM dictionary"];
    let names = workloads.iter().map(|workload| workload.name);
    let head: Vec<_> = head.into_iter().chain(names).chain(["QPS"]).collect();
    let mut table = Table::new(title, &head);
    for capped in all {
        let mut cells =
            vec![capped.name.clone(), capped.segments.to_string(), capped.covered.to_string()];
        let mut mean_us = 0.0;
        for (workload, rounds) in workloads.iter().zip(&capped.rounds) {
            let config = [
                ("way", json!(capped.name)),
                ("workload", json!(workload.name)),
                ("segments", json!(capped.segments)),
            ];
            bench.report.rounds("spirit", &config, rounds)?;
            let median = rounds.median();
            cells.push(format!("{} ({})", number(median.p50()), number(median.p99())));
            mean_us += median.values[3];
        }
        // One over the mean of the workloads' means is their harmonic mean.
        cells.push(number(1e6 * workloads.len() as f64 / mean_us));
        table.line(cells);
    }
    table.print();
    Ok(())
}

fn verdicts(workloads: &[Workload], group: &[Capped]) {
    for (number, workload) in workloads.iter().enumerate() {
        let p50 = |way: usize| group[way].rounds[number].median().p50();
        let measured = Ok(p50(UNMERGED) / p50(ALL_MERGED));
        let what = format!("{} with 64 segments, none merged", workload.name);
        bar(&what, Bound::AtMost(1.2), "×", "all merged", &measured);
    }
}
