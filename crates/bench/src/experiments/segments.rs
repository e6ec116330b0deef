//! `segments`: the ten newest over few and over many segments.
//!
//! Measured as in `newest`, on three indexes of the same documents that differ in segment size: about 1, 64 and
//! 512 segments, found by trial. All are flushed. The rounds of the indexes alternate. Their
//! answers must be equal, or the program ends and names the query.
//!
//! Corpus: posts; workloads drawn from it by document frequency with the seed (BASELINE §8.2).
//!
//! Caveats: small segments fill their tables before their bytes, so the numbers wanted are met only roughly; the
//! table has the real ones. The segment being filled adds one empty place to look in. The heap is large enough for the largest
//! segments, three of which are in flight.

use serde_json::json;
use spirit::stats::Stats;
use spirit::{Index, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::Rounds;
use crate::turns::{Answer, answers};
use crate::workloads::{self, Workload};

const K: usize = 10;
const WANTED: [u64; 3] = [1, 64, 512];
/// Bytes of a fresh segment that a token takes, as a first guess.
const BYTES_PER_TOKEN_GUESS: u64 = 10;
/// Trials of segment sizes.
const TRIALS: usize = 8;
/// A share of the wanted number that is near enough.
const NEAR: f64 = 0.9;
/// Fresh segments that the short-term partition has room for.
const FRESH_EXTENTS: u64 = 3;

/// An index and how many flushed segments it has.
struct Cut {
    index: Index,
    segments: usize,
    segment_bytes: u64,
    rounds: Vec<Rounds>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("segments", &corpus, &[("k", json!(K))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let mut cuts = Vec::new();
    for wanted in WANTED {
        let cut = cut(&corpus, wanted)?;
        cuts.push(Cut { rounds: engine::no_rounds(&workloads), ..cut });
    }
    same_answers(&cuts, &workloads)?;
    for _ in 0..bench.rounds {
        for cut in &mut cuts {
            let mut reader = cut.index.reader()?;
            engine::measure(&workloads, 1, &mut cut.rounds, |query| {
                engine::hits(&mut reader, query, Search::newest(K))
            });
        }
    }
    print(bench, &corpus, &workloads, &cuts)
}

/// An index with about `wanted` segments, all flushed. How many there are is a step function of their size, since
/// tables double, so the size is searched for by halving an interval, and the nearest found is taken.
fn cut(corpus: &Corpus, wanted: u64) -> Fallible<Cut> {
    let guess =
        (corpus.tokens * BYTES_PER_TOKEN_GUESS / wanted).max(engine::SEGMENT_BYTES_MIN) as f64;
    let (mut low, mut high) = (guess / 8.0, guess * 4.0);
    let mut best: Option<(f64, Cut)> = None;
    for _ in 0..TRIALS {
        let middle = (low * high).sqrt();
        let segment_bytes = (middle as u64).max(engine::SEGMENT_BYTES_MIN).next_multiple_of(4096);
        let index = of_size(corpus, segment_bytes)?;
        let segments = segments_filled(&index.stats()?);
        // A little too few segments is near, a little too many makes one more.
        let ratio = segments / wanted as f64;
        let far = if ratio > 1.0 { 2.0 * ratio.ln() } else { -ratio.ln() };
        if best.as_ref().is_none_or(|(nearest, _)| far < *nearest) {
            best = Some((far, Cut { index, segments: 0, segment_bytes, rounds: Vec::new() }));
        }
        if ratio > 1.0 {
            low = middle
        } else {
            high = middle
        }
        if (NEAR..=1.0).contains(&ratio) {
            break;
        }
    }
    let (_, mut cut) = best.ok_or("no trials")?;
    cut.index.flush()?;
    cut.segments = cut.index.stats()?.segments.len() - 1;
    Ok(cut)
}

fn of_size(corpus: &Corpus, segment_bytes: u64) -> Fallible<Index> {
    let heap_bytes = engine::heap_bytes(corpus) + segment_bytes * engine::HEAP_SEGMENTS_MIN;
    let options = engine::options(corpus).segment_bytes(segment_bytes).dram_bytes(heap_bytes);
    engine::filled(options.prefault(false), corpus)
}

/// Segments filled, the last by its share; below 1 the share is not known, and taken from the guess.
fn segments_filled(stats: &Stats) -> f64 {
    let flushed: u64 = stats.segments.iter().skip(1).map(|segment| segment.tokens).sum();
    match stats.segments.len() - 1 {
        0 => {
            let segment = stats.partitions.iter().find(|partition| partition.name == "short-term");
            let bytes = segment.map_or(u64::MAX, |partition| partition.bytes / FRESH_EXTENTS);
            stats.bytes.fresh as f64 / bytes as f64
        }
        count => count as f64 * stats.tokens as f64 / flushed.max(1) as f64,
    }
}

fn same_answers(cuts: &[Cut], workloads: &[Workload]) -> Fallible<()> {
    let of = |cut: &Cut| answers(&cut.index, workloads, Some(K));
    let first = of(&cuts[0])?;
    for cut in &cuts[1..] {
        for (workload, (one, other)) in workloads.iter().zip(first.iter().zip(of(cut)?)) {
            let differs = |(a, b): (&Answer, &Answer)| a != b;
            if let Some(q) = one.iter().zip(&other).position(differs) {
                let (name, text) = (&workload.name, workload.text(q));
                let (a, b) = (cuts[0].segments, cut.segments);
                return Err(format!(
                    "results differ at {name} query `{text}`: {a} and {b} segments"
                )
                .into());
            }
        }
    }
    Ok(())
}

fn print(bench: &mut Bench, corpus: &Corpus, workloads: &[Workload], cuts: &[Cut]) -> Fallible<()> {
    let title = format!("{}: newest {K} by number of segments, µs P50 (P95)", corpus.name);
    let names: Vec<String> = cuts.iter().map(|cut| format!("{} segments", cut.segments)).collect();
    let head = ["workload", &names[0], &names[1], &names[2], "64 / 1", "512 / 1"];
    let mut table = Table::new(title, &head);
    for (number_of, workload) in workloads.iter().enumerate() {
        let mut cells = vec![workload.name.clone()];
        for (cut, wanted) in cuts.iter().zip(WANTED) {
            let config = [
                ("workload", json!(workload.name)),
                ("wanted", json!(wanted)),
                ("segments", json!(cut.segments)),
                ("segment_bytes", json!(cut.segment_bytes)),
            ];
            bench.report.rounds("spirit", &config, &cut.rounds[number_of])?;
            let median = cut.rounds[number_of].median();
            cells.push(format!("{} ({})", number(median.p50()), number(median.p95())));
        }
        let ratio = |cut| format!("{:.2}×", p50(cuts, cut, number_of) / p50(cuts, 0, number_of));
        cells.extend([ratio(1), ratio(2)]);
        table.line(cells);
    }
    table.print();
    for (number_of, workload) in workloads.iter().enumerate() {
        let bound = if matches!(workload.name.as_str(), "LL" | "MM") { 2.2 } else { 1.6 };
        let measured = Ok(p50(cuts, 1, number_of) / p50(cuts, 0, number_of));
        let what = format!("{} with 64 segments", workload.name);
        bar(&what, Bound::AtMost(bound), "×", "with 1", &measured);
    }
    Ok(())
}

fn p50(cuts: &[Cut], cut: usize, workload: usize) -> f64 {
    cuts[cut].rounds[workload].median().p50()
}
