//! `restart`: from the opening of an index until its first answer, after an orderly shutdown and after a kill.
//!
//! Measured: `Options::open` on a directory, a reader, and one query whose answer is compared with what it was before; the
//! background work that goes on afterwards (import of the dictionary) is not in the clock, but a table says how long it takes.
//! A *kill* is a copy of the file of an index that is open and at rest: what `kill -9` leaves. Its log holds the documents
//! of the segment that was being filled; the table says how many, and how many a second the start ingests again.
//!
//! Corpora: posts, the first 100 K, 1 M and all; articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the process is running already, so its own start (about a millisecond) is not in the clock. The file is in the page
//! cache. Bars: orderly 3.7 ms, the time from exec until tantivy's first answer on a machine like this one (BASELINE §5);
//! kill 20 ms beside the replay.

use std::time::Instant;

use serde_json::json;
use spirit::{Index, Options};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;

const QUERY: &str = "the AND monday";
const SIZES: [usize; 3] = [100_000, 1_000_000, usize::MAX];

/// The second tier for each byte of text, and at least.
const NVM_PER_TEXT: u64 = 6;
const NVM_BYTES_MIN: u64 = 512 << 20;
const LOG_BYTES: u64 = 128 << 20;

/// One way to stop, at one size.
struct Measured {
    corpus: String,
    documents: usize,
    kill: bool,
    /// Milliseconds until the first answer.
    first: Vec<f64>,
    /// Milliseconds until everything was imported.
    all: Vec<f64>,
    replayed: u64,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let mut measured = Vec::new();
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin("restart", &corpus, &[]);
        let sizes: &[usize] = if corpus.is_short() { &SIZES } else { &[usize::MAX] };
        let mut before = 0;
        for size in sizes {
            let part = corpus.first(*size);
            if part.len() > before {
                on_corpus(bench, &part, &mut measured)?;
            }
            before = part.len();
        }
    }
    print(bench, &measured)
}

fn options(corpus: &Corpus, scratch: &Scratch) -> Options {
    engine::options(corpus)
        .prefault(false)
        .directory(scratch.path())
        .nvm_bytes((corpus.text_bytes() * NVM_PER_TEXT).max(NVM_BYTES_MIN) + LOG_BYTES)
        .log_bytes(LOG_BYTES)
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus, all: &mut Vec<Measured>) -> Fallible<()> {
    let _pinned = bench.cores.pin(On::Both);
    let (orderly, killed) = (Scratch::new()?, Scratch::new()?);
    let index = options(corpus, &orderly).open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.settle();
    let answer = ask(&index)?;
    let stats = index.stats()?;
    let replayed = stats.segments.first().map_or(0, |segment| segment.rows);
    // First what a kill leaves, while the index is open and at rest; then what a shutdown leaves.
    let image = std::fs::read(orderly.path().join("heap"))?;
    index.close()?;
    let of = |kill, replayed| Measured {
        corpus: corpus.name.clone(),
        documents: corpus.len(),
        kill,
        first: Vec::new(),
        all: Vec::new(),
        replayed,
    };
    let (mut kill, mut shutdown) = (of(true, replayed), of(false, 0));
    for _ in 0..bench.rounds {
        std::fs::write(killed.path().join("heap"), &image)?;
        open(corpus, &killed, answer, &mut kill)?;
        open(corpus, &orderly, answer, &mut shutdown)?;
    }
    all.extend([kill, shutdown]);
    Ok(())
}

fn open(corpus: &Corpus, scratch: &Scratch, answer: u64, measured: &mut Measured) -> Fallible<()> {
    let start = Instant::now();
    let index = options(corpus, scratch).open()?;
    let found = ask(&index)?;
    measured.first.push(start.elapsed().as_secs_f64() * 1e3);
    index.settle();
    measured.all.push(start.elapsed().as_secs_f64() * 1e3);
    if found != answer {
        return Err(
            format!("after a start {QUERY} has {found} matches, and {answer} before").into()
        );
    }
    Ok(index.close()?)
}

fn ask(index: &Index) -> Fallible<u64> {
    Ok(index.reader()?.count_text(QUERY).map_err(|e| e.to_string())?)
}

fn print(bench: &mut Bench, all: &[Measured]) -> Fallible<()> {
    let title = "from the opening to the first answer, ms";
    let head = ["stopped by", "documents", "first answer", "all imported", "replayed"];
    let mut table = Table::new(title, &head);
    for measured in all {
        let way = if measured.kill { "kill" } else { "shutdown" };
        let config = [("way", json!(way)), ("documents", json!(measured.documents))];
        bench.report.row("spirit", &config, "first_answer_ms", "ms", &measured.first)?;
        bench.report.row("spirit", &config, "imported_ms", "ms", &measured.all)?;
        table.line([
            format!("{way}, {}", measured.corpus),
            number(measured.documents as f64),
            number(median(&measured.first)),
            number(median(&measured.all)),
            number(measured.replayed as f64),
        ]);
    }
    table.print();
    for measured in all {
        let first = median(&measured.first);
        let what = format!("{} {}", number(measured.documents as f64), measured.corpus);
        if measured.kill {
            // At least a million posts a second, whatever they are.
            let replay_ms = measured.replayed as f64 / 1e3;
            let bound = Bound::AtMost(20.0 + replay_ms);
            bar(&format!("{what}, killed"), bound, " ms", "with its replay", &Ok(first));
        } else {
            bar(&format!("{what}, closed"), Bound::AtMost(3.7), " ms", "", &Ok(first));
        }
    }
    Ok(())
}
