//! `modes`: what the first paper's modes cost the stream, a shutdown and a start: the numbers of its §6.2's text.
//!
//! Measured: documents in memory are added in order to an empty index by one thread, until the last is visible: *ingest*. *Shutdown* is
//! what follows until all segments are flushed, engraved and merged, and the index is closed. *Restart* is from the call that opens
//! it again until a query has its first answer. The stages say themselves for how long they were busy. The ways take turns.
//!
//! | way | |
//! |---|---|
//! | `SP-V` | mode volatile over a second tier that nothing survives |
//! | `SP-G` | mode graceful, the dictionary read in DRAM |
//! | `SP-G, NVM` | the same, the dictionary read in the second tier |
//! | `SP-C` | mode crash |
//! | `SP-C, barriers` | the same with write-back and fence forced, as persistent memory needs them |
//!
//! Corpus: articles, repeated to a million. The seed has no part in it.
//!
//! Caveats: the second tier lies below `/dev/shm`; `--slow-tier` slows its stores and barriers. The merged dictionary is in the file from the
//! start, where the paper copies one at the shutdown. The paper's starts map 20 GB of Optane.

use std::time::Instant;

use serde_json::json;
use spirit::lab::DictionaryTier;
use spirit::{Builder, Mode};

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;

/// A way to keep an index.
struct Way {
    name: &'static str,
    mode: Mode,
    dictionary: DictionaryTier,
    barriers: bool,
    /// What the text says.
    paper: &'static str,
}

const VOLATILE: Way = Way {
    name: "SP-V",
    mode: Mode::Volatile,
    dictionary: DictionaryTier::Dram,
    barriers: false,
    paper: "",
};
const WAYS: [Way; 5] = [
    VOLATILE,
    Way {
        name: "SP-G",
        mode: Mode::Graceful,
        paper: "whole +1.3 %, dictionary kept +3 %; restart 224 ms",
        ..VOLATILE
    },
    Way {
        name: "SP-G, NVM",
        mode: Mode::Graceful,
        dictionary: DictionaryTier::Nvm,
        paper: "shutdown 1.6× SP-G's",
        ..VOLATILE
    },
    Way { name: "SP-C", mode: Mode::Crash, ..VOLATILE },
    Way {
        name: "SP-C, barriers",
        mode: Mode::Crash,
        barriers: true,
        paper: "ingest +8 %, engrave +21 %, merge 17×",
        ..VOLATILE
    },
];
/// What is measured, in seconds; the last ones by the stages themselves.
const MEASURED: [&str; 7] =
    ["ingest", "shutdown", "whole", "restart", "ingest busy", "engrave", "merge"];
/// The query of a start.
const QUERY: &str = "the AND monday";

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, _) = all_matches::corpus(bench)?;
    bench.begin("modes", &corpus, &[]);
    let sizes = Sizes::of(&corpus, all_matches::SEGMENTS)?;
    let mut taken = vec![[const { Vec::new() }; MEASURED.len()]; WAYS.len()];
    for _ in 0..bench.rounds {
        for (way, taken) in WAYS.iter().zip(&mut taken) {
            for (all, seconds) in taken.iter_mut().zip(measure(bench, &corpus, sizes, way)?) {
                all.extend(seconds);
            }
        }
    }
    let head: Vec<&str> = ["way"].into_iter().chain(MEASURED).chain(["paper"]).collect();
    let mut table = Table::new(format!("{}: seconds, and against SP-V", corpus.name), &head);
    for (way, own) in WAYS.iter().zip(&taken) {
        let mut cells = vec![way.name.to_owned()];
        for ((name, own), first) in MEASURED.iter().zip(own).zip(&taken[0]) {
            if own.is_empty() {
                cells.push("-".to_owned());
                continue;
            }
            bench.report.row("spirit", &[("way", json!(way.name))], name, "s", own)?;
            let seconds = number(median(own));
            cells.push(match first.is_empty() || way.name == VOLATILE.name {
                true => seconds,
                false => format!("{seconds} ({:.2}×)", median(own) / median(first)),
            });
        }
        cells.push(way.paper.to_owned());
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// Seconds of each [measured](MEASURED) thing; none of a start where nothing is kept.
fn measure(
    bench: &Bench,
    corpus: &Corpus,
    sizes: Sizes,
    way: &Way,
) -> Fallible<[Option<f64>; MEASURED.len()]> {
    let scratch = Scratch::new()?;
    let options = options(bench, sizes, way).directory(scratch.path());
    let index = options.clone().open()?;
    let start = Instant::now();
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    let ingest = start.elapsed().as_secs_f64();
    let found = index.reader()?.count(QUERY)?;
    let end = Instant::now();
    index.prepare_close()?;
    let stats = index.stats()?;
    index.close()?;
    let shutdown = end.elapsed().as_secs_f64();
    let restart = match way.mode {
        Mode::Volatile => None,
        _ => Some(restart(options, found)?),
    };
    let busy = |stage: &str| stats.busy.iter().find(|(name, _)| *name == stage).map(|(_, s)| *s);
    let whole = Some(ingest + shutdown);
    let [ingest_busy, engrave, merge] = ["ingest", "engrave", "merge"].map(busy);
    Ok([Some(ingest), Some(shutdown), whole, restart, ingest_busy, engrave, merge])
}

/// Seconds until the index is open again and has answered.
fn restart(options: Builder, found: u64) -> Fallible<f64> {
    let start = Instant::now();
    let index = options.open()?;
    let again = index.reader()?.count(QUERY)?;
    let seconds = start.elapsed().as_secs_f64();
    if again != found {
        return Err(format!("{QUERY} had {found} matches, and has {again} after a start").into());
    }
    index.close()?;
    Ok(seconds)
}

fn options(bench: &Bench, sizes: Sizes, way: &Way) -> Builder {
    let options = bench.slowed(sizes.options(1.0));
    let options = options.mode(way.mode).dictionary(way.dictionary);
    if way.barriers { options.force_barriers(true) } else { options }
}
