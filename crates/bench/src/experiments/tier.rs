//! `tier`: what the second tier costs the stream: ingest, engrave and merge in crash mode against volatile.
//!
//! Measured: an index in a directory, one executor, documents in memory, added in order by one thread; the clock of
//! ingest stops when the last is visible. Engrave and merge are the time their stage spent in them, for each segment, from
//! the engine's own clock. Two cores: ingest on one, the stages on the other, since that is where they run. The ways:
//!
//! * *volatile*: mode graceful while it is open, with a policy that drops the oldest, which never happens: the same tier, no log, no
//!   barriers. (The paper's volatile mode.)
//! * *no tier*: everything in DRAM, nothing is engraved.
//! * *crash*: level process. *crash, barriers*: the same with write-back and fence forced, as persistent memory would need it.
//!
//! Corpora: posts (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the directory lies below `/dev/shm` where there is one: its memory stands in for persistent memory, whose
//! stores take longer. The paper's figures are of Optane.

use std::time::Instant;

use serde_json::json;
use spirit::stats::Stats;
use spirit::{Builder, Index, Mode, OnFull};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;

/// A way to keep an index.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    mode: Mode,
    tier: bool,
    barriers: bool,
}

const WAYS: [Way; 4] = [
    Way { name: "no tier", mode: Mode::Volatile, tier: false, barriers: false },
    Way { name: "volatile", mode: Mode::Graceful, tier: true, barriers: false },
    Way { name: "crash", mode: Mode::Crash, tier: true, barriers: false },
    Way { name: "crash, barriers", mode: Mode::Crash, tier: true, barriers: true },
];
const NO_TIER: usize = 0;
const VOLATILE: usize = 1;
const SEGMENT_BYTES: u64 = 8 << 20;
/// Runs of each way for a round that was asked for: they take a second, and differ by a sixth.
const TURNS: usize = 3;

/// What came of a way, a run each.
#[derive(Default)]
struct Taken {
    docs_per_s: Vec<f64>,
    /// Milliseconds a segment.
    engrave: Vec<f64>,
    merge: Vec<f64>,
    fences: Vec<(&'static str, u64)>,
    segments: u64,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("tier", &corpus, &[("segment_bytes", json!(SEGMENT_BYTES))]);
    let mut taken: [Taken; WAYS.len()] = Default::default();
    let _pinned = bench.cores.pin(On::Both);
    for round in 0..bench.rounds * TURNS {
        // In turn, so that what else the machine does falls on all of them; and each comes first as often as the others, since
        // an index gets the memory that the one before it gave back.
        for way in (0..WAYS.len()).map(|way| (round + way) % WAYS.len()) {
            measure(bench, &corpus, &WAYS[way], &mut taken[way])?;
        }
    }
    print(bench, &corpus, &taken)
}

fn options(corpus: &Corpus, way: &Way, scratch: &Scratch) -> Builder {
    let options = engine::options(corpus).segment_bytes(SEGMENT_BYTES).mode(way.mode);
    if !way.tier {
        return options;
    }
    let nvm_bytes = engine::heap_bytes(corpus);
    let options = if way.mode == Mode::Graceful {
        // One that refuses has a log, for what a full tier has no room for when the index closes.
        options.on_full(OnFull::DropOldest)
    } else {
        options
    };
    options.directory(scratch.path()).nvm_bytes(nvm_bytes).force_barriers(way.barriers)
}

fn measure(bench: &Bench, corpus: &Corpus, way: &Way, taken: &mut Taken) -> Fallible<()> {
    let scratch = Scratch::new()?;
    // The ways that have barriers have them whatever the medium.
    let options = bench.slowed(options(corpus, way, &scratch)).force_barriers(way.barriers);
    let index = options.open()?;
    let start = Instant::now();
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    taken.docs_per_s.push(corpus.len() as f64 / start.elapsed().as_secs_f64());
    index.settle();
    assert_eq!(index.stats()?.dropped_segments, 0, "the tier was to hold all of them");
    note(&index, taken)
}

fn note(index: &Index, taken: &mut Taken) -> Fallible<()> {
    let Stats { engraved, merged, fences, .. } = index.stats()?;
    let each = |(count, seconds): (u64, f64)| seconds * 1e3 / count.max(1) as f64;
    taken.engrave.push(each(engraved));
    taken.merge.push(each(merged));
    taken.fences = fences;
    taken.segments = merged.0;
    Ok(())
}

fn print(bench: &mut Bench, corpus: &Corpus, taken: &[Taken; WAYS.len()]) -> Fallible<()> {
    let title = format!("{}: the second tier beside ingest", corpus.name);
    let head = ["way", "docs/s", "engrave, ms a segment", "merge, ms a segment", "segments"];
    let mut table = Table::new(title, &head);
    for (way, taken) in WAYS.iter().zip(taken) {
        let config = [("way", json!(way.name))];
        bench.report.row("spirit", &config, "docs_per_s", "1/s", &taken.docs_per_s)?;
        bench.report.row("spirit", &config, "engrave_ms", "ms", &taken.engrave)?;
        bench.report.row("spirit", &config, "merge_ms", "ms", &taken.merge)?;
        table.line([
            way.name.to_owned(),
            number(median(&taken.docs_per_s)),
            number(median(&taken.engrave)),
            number(median(&taken.merge)),
            taken.segments.to_string(),
        ]);
    }
    table.print();
    for (way, taken) in WAYS.iter().zip(taken).skip(VOLATILE + 1) {
        for (name, count) in &taken.fences {
            let each = *count as f64 / taken.segments.max(1) as f64;
            println!("  {}: {name}: {count}, {} a merged segment", way.name, number(each));
        }
    }
    println!("  papers, crash against volatile: ingest 8 % slower, engrave 21 % slower, merge 17×");
    verdicts(taken);
    Ok(())
}

fn verdicts(taken: &[Taken; WAYS.len()]) {
    let volatile = &taken[VOLATILE];
    for (way, taken) in WAYS.iter().zip(taken).skip(VOLATILE + 1) {
        let slower = |of: &[f64], than: &[f64]| Ok(median(of) / median(than));
        let rate = slower(&volatile.docs_per_s, &taken.docs_per_s);
        bar(&format!("{}: ingest time", way.name), Bound::AtMost(1.1), "×", "volatile", &rate);
        let engrave = slower(&taken.engrave, &volatile.engrave);
        bar(&format!("{}: engrave time", way.name), Bound::AtMost(1.1), "×", "volatile", &engrave);
        let merge = slower(&taken.merge, &volatile.merge);
        bar(&format!("{}: merge time", way.name), Bound::AtMost(1.5), "×", "volatile", &merge);
    }
    let rate = median(&taken[NO_TIER].docs_per_s) / median(&volatile.docs_per_s);
    println!(
        "  ingest time with a tier and without barriers: {}× that without a tier",
        number(rate)
    );
}
