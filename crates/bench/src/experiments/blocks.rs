//! `blocks`: variable-sized posting blocks (VSB) against fixed-sized ones (FSB) in a fresh segment.
//!
//! Measured: as many documents as go into one segment, so that nothing is flushed: ns a token to add them, bytes
//! of the fresh structures a posting, and the ten newest on it, six workloads. One core; rounds alternate. Both must
//! find the same, or the program ends and names the workload.
//!
//! Corpora: posts and articles, their first three million tokens; workloads drawn from that part with the seed.
//! The paper (§4.5): VSB always better.
//!
//! Caveats: the ten newest lie in the newest blocks; long lists matter to the intersections that run to their end.

use std::time::Instant;

use serde_json::json;
use spirit::stats::Stats;
use spirit::{Index, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::timing::{Rounds, median};
use crate::turns::answers;
use crate::workloads::{self, Workload};

const K: usize = 10;
const TOKENS: usize = 3_000_000;
/// Room for all of them in either kind of block.
const SEGMENT_BYTES: u64 = 128 << 20;
const HEAP_BYTES: u64 = SEGMENT_BYTES * 16;

/// One kind of block: its index, ns a token of each round, its latencies.
struct Kind {
    name: &'static str,
    fixed: bool,
    index: Option<Index>,
    costs: Vec<f64>,
    rounds: Vec<Rounds>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        let per_document = (corpus.tokens as usize / corpus.len()).max(1);
        let corpus = corpus.first(TOKENS / per_document);
        bench.begin("blocks", &corpus, &[("k", json!(K))]);
        on_corpus(bench, &corpus)?;
    }
    println!("no bar: the paper finds VSB always better");
    Ok(())
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
    let workloads = workloads::draw(corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let mut kinds = [("VSB", false), ("FSB", true)].map(|(name, fixed)| Kind {
        name,
        fixed,
        index: None,
        costs: Vec::new(),
        rounds: engine::no_rounds(&workloads),
    });
    for _ in 0..bench.rounds {
        for kind in &mut kinds {
            fill(kind, corpus)?;
            let index = kind.index.as_ref().expect("filled above");
            let mut reader = index.reader()?;
            engine::measure(&workloads, 1, &mut kind.rounds, |query| {
                engine::hits(&mut reader, query, Search::newest(K))
            });
        }
    }
    same_answers(&kinds, &workloads)?;
    print(bench, corpus, &workloads, &kinds)
}

/// Fills a new index; the old one goes first.
fn fill(kind: &mut Kind, corpus: &Corpus) -> Fallible<()> {
    kind.index = None;
    let options = engine::options(corpus).dram_bytes(HEAP_BYTES).segment_bytes(SEGMENT_BYTES);
    let index = options.fixed_blocks(kind.fixed).open()?;
    let start = Instant::now();
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    kind.costs.push(start.elapsed().as_nanos() as f64 / corpus.tokens as f64);
    if index.stats()?.segments.len() > 1 {
        return Err(format!("{}: the documents did not fit in one segment", kind.name).into());
    }
    kind.index = Some(index);
    Ok(())
}

fn stats(kind: &Kind) -> Fallible<Stats> {
    Ok(kind.index.as_ref().ok_or("no index")?.stats()?)
}

fn same_answers(kinds: &[Kind; 2], workloads: &[Workload]) -> Fallible<()> {
    let of = |kind: &Kind| answers(kind.index.as_ref().ok_or("no index")?, workloads, Some(K));
    let [variable, fixed] = [of(&kinds[0])?, of(&kinds[1])?];
    for (workload, (a, b)) in workloads.iter().zip(variable.iter().zip(&fixed)) {
        if let Some(q) = a.iter().zip(b).position(|(a, b)| a != b) {
            let (name, text) = (&workload.name, workload.text(q));
            return Err(format!("results differ at {name} query `{text}`: VSB and FSB").into());
        }
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    kinds: &[Kind; 2],
) -> Fallible<()> {
    let title = format!("{}: variable-sized and fixed-sized blocks, fresh segment", corpus.name);
    let mut table = Table::new(title, &["measure", "VSB", "FSB", "FSB / VSB"]);
    let mut line = |name: String, [a, b]: [f64; 2]| {
        table.line([name, number(a), number(b), format!("{:.2}×", b / a)]);
    };
    line("ingest, ns a token".to_owned(), [median(&kinds[0].costs), median(&kinds[1].costs)]);
    let mut each = [0.0; 2];
    for (kind, each) in kinds.iter().zip(&mut each) {
        let stats = stats(kind)?;
        *each = stats.bytes.fresh as f64 / stats.postings.max(1) as f64;
        let config = [("blocks", json!(kind.name))];
        bench.report.row("spirit", &config, "ns_per_token", "ns", &kind.costs)?;
        bench.report.row("spirit", &config, "fresh_bytes_per_posting", "bytes", &[*each])?;
    }
    line("fresh bytes a posting".to_owned(), each);
    for (number_of, workload) in workloads.iter().enumerate() {
        for kind in kinds {
            let config = [("blocks", json!(kind.name)), ("workload", json!(workload.name))];
            bench.report.rounds("spirit", &config, &kind.rounds[number_of])?;
        }
        let p50 = |kind: &Kind| kind.rounds[number_of].median().p50();
        line(format!("{} newest {K}, µs P50", workload.name), [p50(&kinds[0]), p50(&kinds[1])]);
    }
    table.print();
    Ok(())
}
