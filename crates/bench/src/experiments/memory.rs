//! `memory`: index bytes a posting, fresh and flushed, by structure.
//!
//! Measured: `Index::stats` of an index with the default heap and segment size, positions on; keys and stored text
//! do not count. "Fresh" is one segment just before it is full: its table, records and blocks, document vectors and
//! rows. "Flushed" is everything once the corpus is in and its last segment was flushed too, with the whole dictionary
//! and its table. "Live" is the index just before, with a segment being filled. A posting is a term in a document.
//!
//! Corpora: posts and articles (BASELINE §4). The seed has no part in it.
//!
//! Caveats: what is in use, not what is reserved: the heap is a fixed size, printed beside it. The peers' bytes are
//! of their finished, compressed files, which they cannot write to.

use serde_json::json;
use spirit::stats::{Bytes, Stats};
use spirit::{Analyzer, Index};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};

/// Documents between two looks at whether the segment is full, as a share of the corpus.
const LOOKS: usize = 2000;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin("memory", &corpus, &[("positions", json!(true))]);
        on_corpus(bench, &corpus)?;
    }
    Ok(())
}

/// A structure's name and its bytes.
type Structure = (&'static str, fn(&Bytes) -> u64);

/// Bytes of this many postings.
struct Part {
    name: &'static str,
    postings: u64,
    bytes: Bytes,
}

impl Part {
    fn each(&self) -> f64 {
        self.bytes.index() as f64 / self.postings.max(1) as f64
    }
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
    let fresh = fresh(corpus)?;
    let index = open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.settle();
    let live = index.stats()?;
    index.flush()?;
    let stats = index.stats()?;
    if stats.dropped_segments > 0 {
        println!(
            "the heap does not hold the corpus: the oldest {} segments went",
            stats.dropped_segments
        );
    }
    let all = Part { name: "live", postings: live.postings, bytes: live.bytes };
    let flushed = flushed(&stats);
    print(bench, corpus, &stats, [&fresh, &flushed, &all])?;
    peers(bench, corpus, stats.postings)?;
    for part in [&fresh, &flushed] {
        let none = part.postings == 0;
        let measured = if none { Err("no segment is flushed".to_owned()) } else { Ok(part.each()) };
        let what = format!("{} {} bytes a posting", corpus.name, part.name);
        bar(&what, Bound::AtMost(12.0), "", "", &measured);
    }
    Ok(())
}

fn open() -> Fallible<Index> {
    Ok(Index::builder().analyzer(Analyzer::Simple).open()?)
}

/// The first segment just before it is handed over, or the corpus if all of it has room there.
fn fresh(corpus: &Corpus) -> Fallible<Part> {
    let index = open()?;
    let step = (corpus.len() / LOOKS).max(1);
    let mut last = index.stats()?;
    for first in (0..corpus.len()).step_by(step) {
        let documents = first..(first + step).min(corpus.len());
        index.add_all(documents.map(|number| (None, corpus.get(number))))?;
        let stats = index.stats()?;
        if stats.segments.len() > 1 {
            break;
        }
        last = stats;
    }
    let segment = &last.segments[0];
    Ok(Part { name: "fresh", postings: segment.postings, bytes: segment.bytes })
}

fn flushed(stats: &Stats) -> Part {
    let mut part = Part { name: "flushed", postings: 0, bytes: Bytes::default() };
    // The newest is being filled; the dictionary is of the flushed ones.
    for segment in stats.segments.iter().skip(1) {
        part.postings += segment.postings;
        part.bytes.postings += segment.bytes.postings;
        part.bytes.vectors += segment.bytes.vectors;
        part.bytes.rows += segment.bytes.rows;
        part.bytes.term_maps += segment.bytes.term_maps;
        part.bytes.columns += segment.bytes.columns;
        part.bytes.fresh += segment.bytes.fresh;
    }
    if part.postings > 0 {
        part.bytes.dictionary = stats.bytes.dictionary;
    }
    part
}

fn print(bench: &mut Bench, corpus: &Corpus, stats: &Stats, parts: [&Part; 3]) -> Fallible<()> {
    let title = format!(
        "{}: index bytes a posting; {} segments, {} tokens, {} postings, {} terms",
        corpus.name,
        stats.segments.len(),
        number(stats.tokens as f64),
        number(stats.postings as f64),
        number(stats.dictionary_terms as f64),
    );
    let mut table = Table::new(title, &["structure", "fresh", "flushed", "live"]);
    let structures: [Structure; 8] = [
        ("postings", |b| b.postings),
        ("fresh tables, records, blocks", |b| b.fresh),
        ("document vectors", |b| b.vectors),
        ("rows", |b| b.rows),
        ("term maps", |b| b.term_maps),
        ("columns", |b| b.columns),
        ("dictionary", |b| b.dictionary),
        ("total", Bytes::index),
    ];
    for (name, of) in structures {
        let mut cells = vec![name.to_owned()];
        for part in parts {
            let each = of(&part.bytes) as f64 / part.postings.max(1) as f64;
            cells.push(number(each));
            let config = [("state", json!(part.name)), ("structure", json!(name))];
            bench.report.row("spirit", &config, "bytes_per_posting", "bytes", &[each])?;
        }
        table.line(cells);
    }
    table.print();
    println!("  keys, not counted: {} bytes", number(stats.bytes.keys as f64));
    for partition in &stats.partitions {
        let [used, bytes] = [partition.used, partition.bytes].map(|bytes| number(bytes as f64));
        println!("  partition {}: {used} of {bytes} bytes", partition.name);
    }
    Ok(())
}

fn peers(bench: &mut Bench, corpus: &Corpus, postings: u64) -> Fallible<()> {
    let mut table = Table::new("peers, finished index", &["system", "bytes", "bytes a posting"]);
    let wanted: Vec<System> = System::ALL.into_iter().filter(|s| bench.peers.wants(*s)).collect();
    for system in &wanted {
        let system = *system;
        let docs = bench.peers.docs_file(corpus)?;
        let options = vec![("--rounds", "1".to_owned()), ("--seconds-min", "0".to_owned())];
        let call = Call { task: "ingest", docs, queries: None, on: On::Second, options };
        match bench.peers.run(system, &call).and_then(|rows| rows.value("index", "index_bytes")) {
            Err(reason) => table.not_measured(system.name(), &reason),
            Ok(bytes) => {
                let each = bytes / postings.max(1) as f64;
                table.line([system.name(), &number(bytes), &number(each)]);
                bench.report.row(system.name(), &[], "index_bytes", "bytes", &[bytes])?;
                bench.report.row(system.name(), &[], "bytes_per_posting", "bytes", &[each])?;
            }
        }
    }
    if !wanted.is_empty() {
        table.print();
    }
    Ok(())
}
