//! `merge`: the merge stage against Lucene's `forceMerge` of as many segments.
//!
//! Measured: an index in a directory in crash mode, in segments of 4 MiB; the time that the merge stage spent in all of
//! them, from the engine's own clock, with and without write-back and fence forced. Lucene adds the same documents in as many
//! segments of equal size, unmerged, each flushed and committed, and its `forceMerge(1)` is timed. Its commits are compared with our flushing
//! and engraving. Ours copies no posting, which is the point: what Lucene's
//! result saves a query, our dictionary does.
//!
//! Corpus: posts. The seed has no part in it.
//!
//! Caveats: segments are merged when ingest is over, as Lucene's are, between engraving one and the next. Below `/dev/shm` both.

use std::time::Duration;

use serde_json::json;
use spirit::lab::EngravePolicy;
use spirit::{Index, Mode};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;
use crate::turns::{Contender, take_turns};

const SEGMENT_BYTES: u64 = 4 << 20;
/// Bytes of the log for each of text: what a record adds to a post included.
const LOG_PER_TEXT: u64 = 2;
const LOG_BYTES_MIN: u64 = 32 << 20;
/// Without and with barriers.
const WAYS: [&str; 2] = ["crash", "crash, barriers"];
/// Of Lucene's merges, which take seconds.
const ROUNDS_MAX: usize = 4;

/// Seconds of each round, without and with barriers, and the segments.
#[derive(Default)]
struct Taken {
    seconds: [Vec<f64>; 2],
    /// Of flushing and engraving.
    committing: [Vec<f64>; 2],
    segments: u64,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("merge", &corpus, &[("segment_bytes", json!(SEGMENT_BYTES))]);
    let (cores, rounds) = (bench.cores, bench.rounds);
    let mut taken = Taken::default();
    measure(&corpus, false, &mut taken)?;
    (taken.seconds, taken.committing) = Default::default();
    let mut contenders = contenders(bench, &corpus, taken.segments)?;
    take_turns(&mut bench.peers, &mut contenders, || {
        let _pinned = cores.pin(On::Both);
        (0..rounds).try_for_each(|_| {
            measure(&corpus, false, &mut taken)?;
            measure(&corpus, true, &mut taken)
        })
    })?;
    print(bench, &corpus, &taken, &contenders)
}

fn measure(corpus: &Corpus, barriers: bool, taken: &mut Taken) -> Fallible<()> {
    let scratch = Scratch::new()?;
    let log_bytes = (corpus.text_bytes() * LOG_PER_TEXT).max(LOG_BYTES_MIN);
    let index = engine::options(corpus)
        .segment_bytes(SEGMENT_BYTES)
        .mode(Mode::Crash)
        .directory(scratch.path())
        .nvm_bytes(engine::heap_bytes(corpus) + log_bytes)
        // One that never fills, since a segment is ended before it is full to make room there.
        .log_bytes(log_bytes)
        // When ingest is over, as Lucene's.
        .engrave(EngravePolicy::Opportunistic)
        .force_barriers(barriers)
        .open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.flush()?;
    let (segments, seconds) = merged(&index)?;
    taken.seconds[usize::from(barriers)].push(seconds);
    let stages = index.stats()?.busy;
    let stages = stages.iter().filter(|(stage, _)| matches!(*stage, "flush" | "engrave"));
    taken.committing[usize::from(barriers)].push(stages.map(|(_, seconds)| *seconds).sum());
    taken.segments = segments;
    Ok(index.close()?)
}

/// How many segments were merged, and the seconds that took, when all of them are.
fn merged(index: &Index) -> Fallible<(u64, f64)> {
    loop {
        let stats = index.stats()?;
        // The one being filled is among them.
        if stats.merged.0 + 1 >= stats.segments.len() as u64 {
            return Ok(stats.merged);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn contenders(bench: &mut Bench, corpus: &Corpus, segments: u64) -> Fallible<Vec<Contender>> {
    if !bench.peers.wants(System::Lucene) {
        return Ok(Vec::new());
    }
    let docs = bench.peers.docs_file(corpus)?;
    let rounds = bench.rounds.min(ROUNDS_MAX).to_string();
    let options = vec![("--rounds", rounds), ("--segments", segments.to_string())];
    let call = Call { task: "merge", docs, queries: None, on: On::Second, options };
    Ok(vec![Contender::new(System::Lucene, "forceMerge", call)])
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    taken: &Taken,
    contenders: &[Contender],
) -> Fallible<()> {
    let title = format!("{}: merging {} segments, s", corpus.name, taken.segments);
    let head = ["system", "merge, s", "ms a segment", "flush and engrave, s", "ms a segment"];
    let mut table = Table::new(title, &head);
    let lucene = |metric: &str| match contenders.first() {
        Some(contender) => contender.value("merge", metric),
        None => Err("not asked for".to_owned()),
    };
    let cells = |merging: f64, committing: f64| {
        let each = |seconds: f64| number(seconds * 1e3 / taken.segments.max(1) as f64);
        [number(merging), each(merging), number(committing), each(committing)]
    };
    for ((way, merging), committing) in WAYS.iter().zip(&taken.seconds).zip(&taken.committing) {
        bench.report.row("spirit", &[("way", json!(way))], "merge_s", "s", merging)?;
        bench.report.row("spirit", &[("way", json!(way))], "commit_s", "s", committing)?;
        let cells = cells(median(merging), median(committing));
        table.line([format!("spirit {way}")].into_iter().chain(cells));
    }
    let (lucene, commits) = (lucene("seconds"), lucene("committing"));
    match (&lucene, &commits) {
        (Ok(merging), Ok(committing)) => {
            bench.report.row("lucene", &[], "merge_s", "s", &[*merging])?;
            bench.report.row("lucene", &[], "commit_s", "s", &[*committing])?;
            let cells = cells(*merging, *committing);
            table.line(["lucene".to_owned()].into_iter().chain(cells));
        }
        (Err(reason), _) | (_, Err(reason)) => table.not_measured("lucene", reason),
    }
    table.print();
    println!(
        "  paper: 6.74× faster than forceMerge; flush and engrave 3.78× faster than flush and commit"
    );
    for (way, committing) in WAYS.iter().zip(&taken.committing) {
        if let Ok(commits) = &commits {
            println!(
                "  {way}: {} × faster than flush and commit",
                number(commits / median(committing))
            );
        }
    }
    for (way, seconds) in ["merge", "merge with barriers"].iter().zip(&taken.seconds) {
        let measured = lucene.clone().map(|lucene| lucene / median(seconds));
        bar(way, Bound::AtLeast(20.0), "×", "faster than forceMerge", &measured);
    }
    Ok(())
}
