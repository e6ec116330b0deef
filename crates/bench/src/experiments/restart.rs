//! `restart`: from the start of a process until its first answer, after an orderly shutdown and after a kill.
//!
//! Measured: from the start of a process until the line with its answer can be read: this program starts itself, opens the
//! directory, makes a reader and counts the matches of one query, which must be as many as before. The background work that goes
//! on afterwards (keys, the DRAM dictionary) is not in the clock, but a table says how long it takes, measured in this
//! process. A *kill* is a copy of the file of an index that is open and at rest: what `kill -9` leaves. Its log holds the documents
//! of the segment that was being filled; the table says how many. tantivy's peer does the same: it starts itself, opens an
//! index of one segment, and counts.
//!
//! Corpora: posts, the first 100 K, 1 M and all; articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the files are in memory. Starts after a shutdown are timed one after the other, the first not counted, as the
//! peer's are; each of those after a kill follows the writing of a file. tantivy has no log: what was not committed is
//! gone, so there is nothing beside the row of a kill. Bar of a kill: 20 ms beside the replay, at a million posts a second, or as many bytes of articles.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use spirit::{Builder, Index};
use spirit_peer_protocol::{Named, Query as Tree};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;

const QUERY: &str = "the AND monday";
/// What the program calls itself with.
pub(crate) const ANSWER: &str = "--answer";
const SIZES: [usize; 3] = [100_000, 1_000_000, usize::MAX];

/// The second tier for each byte of text, and at least.
const NVM_PER_TEXT: u64 = 6;
const NVM_BYTES_MIN: u64 = 512 << 20;
const LOG_BYTES: u64 = 128 << 20;

/// The mean text of a post.
const POST_BYTES: f64 = 62.0;

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
    /// Bytes of their texts.
    replayed_bytes: u64,
    /// tantivy's milliseconds until the first answer.
    peer: Result<f64, String>,
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

fn options(corpus: &Corpus, scratch: &Scratch) -> Builder {
    engine::options(corpus)
        .prefault(false)
        .directory(scratch.path())
        .nvm_bytes((corpus.text_bytes() * NVM_PER_TEXT).max(NVM_BYTES_MIN) + LOG_BYTES)
        .log_bytes(LOG_BYTES)
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus, all: &mut Vec<Measured>) -> Fallible<()> {
    let _pinned = bench.cores.pin(On::Both);
    let (orderly, killed) = (Scratch::new()?, Scratch::new()?);
    let index = options(corpus, &killed).open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.settle();
    let answer = ask(&index)?;
    let stats = index.stats()?;
    let replayed = stats.segments.first().map_or(0, |segment| segment.rows);
    // First what a kill leaves, while the index is open and at rest; then what a shutdown leaves. Only that may be copied to
    // another file.
    let image = std::fs::read(killed.path().join("heap"))?;
    index.close()?;
    std::fs::copy(killed.path().join("heap"), orderly.path().join("heap"))?;
    let peer = peer(bench, corpus, answer)?;
    let texts = corpus.iter().map(|text| text.len() as u64);
    let replayed_bytes = texts.skip(corpus.len() - replayed as usize).sum();
    let of = |kill, replayed| Measured {
        corpus: corpus.name.clone(),
        documents: corpus.len(),
        kill,
        first: Vec::new(),
        all: Vec::new(),
        replayed,
        replayed_bytes,
        peer: peer.clone(),
    };
    let (mut kill, mut shutdown) = (of(true, replayed), of(false, 0));
    for _ in 0..bench.rounds {
        std::fs::write(killed.path().join("heap"), &image)?;
        start(corpus, &killed, answer, &mut kill)?;
        std::fs::write(killed.path().join("heap"), &image)?;
        open(corpus, &killed, answer, &mut kill)?;
    }
    // One after the other, the first not counted, as the peer's.
    for _ in 0..=bench.rounds {
        start(corpus, &orderly, answer, &mut shutdown)?;
    }
    shutdown.first.remove(0);
    for _ in 0..bench.rounds {
        open(corpus, &orderly, answer, &mut shutdown)?;
    }
    all.extend([kill, shutdown]);
    Ok(())
}

/// The query as a peer's file has it.
fn peer_query() -> String {
    let query = Tree::all_of(QUERY.split(" AND ").map(Tree::term).collect());
    Named { name: "first".to_owned(), query }.line()
}

/// tantivy's time, if its program is available.
fn peer(bench: &mut Bench, corpus: &Corpus, answer: u64) -> Fallible<Result<f64, String>> {
    if !bench.peers.wants(System::Tantivy) {
        return Ok(Err("not asked for".into()));
    }
    let docs = bench.peers.docs_file(corpus)?;
    let queries = Some(bench.peers.query_file("restart.jsonl", &peer_query())?);
    let options = vec![("--rounds", bench.rounds.to_string())];
    let call = Call { task: "restart", docs, queries, on: On::Both, options };
    let rows = match bench.peers.run(System::Tantivy, &call) {
        Ok(rows) => rows,
        Err(reason) => return Ok(Err(reason)),
    };
    let found = rows.value("restart", "matches")?;
    if found != answer as f64 {
        return Err(format!("{QUERY} has {answer} matches, and {found} in tantivy").into());
    }
    Ok(rows.value("restart", "first_answer_ms"))
}

/// Starts a process that answers.
fn start(corpus: &Corpus, scratch: &Scratch, answer: u64, measured: &mut Measured) -> Fallible<()> {
    let start = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .arg(ANSWER)
        .arg(scratch.path())
        .arg(engine::heap_bytes(corpus).to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    measured.first.push(start.elapsed().as_secs_f64() * 1e3);
    child.wait()?;
    check(line.trim().parse()?, answer)
}

/// What the process does: `arguments` are the directory and the DRAM.
pub(crate) fn answer(mut arguments: impl Iterator<Item = String>) -> Fallible<()> {
    let directory = arguments.next().ok_or("no directory")?;
    let dram_bytes = arguments.next().ok_or("no size")?.parse()?;
    let index = Index::builder().directory(Path::new(&directory)).dram_bytes(dram_bytes).open()?;
    let mut reader = index.reader()?;
    println!("{}", reader.count(QUERY)?);
    drop(reader);
    Ok(index.close()?)
}

/// Opens it here, and waits until everything is imported.
fn open(corpus: &Corpus, scratch: &Scratch, answer: u64, measured: &mut Measured) -> Fallible<()> {
    let start = Instant::now();
    let index = options(corpus, scratch).open()?;
    let found = ask(&index)?;
    index.settle();
    measured.all.push(start.elapsed().as_secs_f64() * 1e3);
    check(found, answer)?;
    Ok(index.close()?)
}

fn check(found: u64, answer: u64) -> Fallible<()> {
    if found != answer {
        return Err(
            format!("after a start {QUERY} has {found} matches, and {answer} before").into()
        );
    }
    Ok(())
}

fn ask(index: &Index) -> Fallible<u64> {
    Ok(index.reader()?.count(QUERY).map_err(|e| e.to_string())?)
}

fn print(bench: &mut Bench, all: &[Measured]) -> Fallible<()> {
    let title = "from the start of a process to the first answer, ms";
    let head = ["stopped by", "documents", "first answer", "tantivy", "all imported", "replayed"];
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
            measured.peer.as_ref().map_or(String::new(), |ms| number(*ms)),
            number(median(&measured.all)),
            number(measured.replayed as f64),
        ]);
    }
    table.print();
    for measured in all {
        let first = median(&measured.first);
        let what = format!("{} {}", number(measured.documents as f64), measured.corpus);
        if measured.kill {
            let replay_ms = measured.replayed_bytes as f64 / POST_BYTES / 1e3;
            let bound = Bound::AtMost(20.0 + replay_ms);
            bar(&format!("{what}, killed"), bound, " ms", "with its replay", &Ok(first));
        } else {
            let ratio = measured.peer.clone().map(|peer| first / peer);
            bar(&format!("{what}, closed"), Bound::AtMost(1.0), "×", "tantivy", &ratio);
        }
    }
    growth(all);
    Ok(())
}

/// Whether the time grows with the index: the largest against the smallest, both closed in an orderly way.
fn growth(all: &[Measured]) {
    let mut closed: Vec<_> = all.iter().filter(|measured| !measured.kill).collect();
    closed.sort_by_key(|measured| measured.documents);
    if let [smallest, .., largest] = closed[..] {
        let ratio = median(&largest.first) / median(&smallest.first);
        let times = largest.documents as f64 / smallest.documents as f64;
        println!("  {}× the documents: {}× the time", number(times), number(ratio));
    }
}
