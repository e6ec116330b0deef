//! `cache`: queries a second with a result cache, against its size (the first paper's figures 5(a) and 5(b)).
//!
//! Measured: ANDs of two frequent terms, all matches, over an index in crash mode. Four fifths of the documents are in it. The
//! others come in 40 steps, each about a segment, and after each step a fortieth of the log is asked by a reader with the cache and by one
//! without, in turns. The cache is full of other answers when this
//! begins. It has 2 to 50 % of the index's bytes, LRU, and keeps each answer at once; it may have more
//! entries than its bytes have room for. A second series counts the matches.
//!
//! Log: the paper says that queries are repeated "approximately 15 %" and hit 60 %, which cannot both be shares of the queries. So the
//! repetition is a parameter, which gives the paper's hit rates: [`REPETITION`] of the queries were asked before, late ones more often
//! ([`RECENCY`]). A last line has ten points more, as the paper has with its 25 %.
//!
//! Corpus: the first 100,000 articles; terms as the paper's high ones, in a tenth of the most frequent term's documents or more.
//!
//! Caveats: an answer has 10,000 matches at most, the engine's limit, so the share of complete ones is printed. The second tier
//! lies below `/dev/shm`: it stands in for NVM, and is as fast as DRAM. Stages run on the first core, queries on the second, and documents
//! come between the timed turns, not during them. Segments that are being filled are evaluated by each query and are in no count.

mod live;
mod tables;

use serde_json::json;
use spirit::Query;
use spirit_peer_protocol::Query as Tree;

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, Log};
use crate::corpus::Corpus;
use crate::{engine, form, workloads};

use live::{Live, Run};
use tables::Measured;

/// Sizes of the cache, in percent of the index.
const SIZES: [u64; 6] = [2, 5, 10, 20, 35, 50];
const DOCUMENTS_MAX: usize = 100_000;
const QUERIES: usize = 6000;
/// The share of the queries that were asked before, and one that is ten points higher.
const REPETITION: f64 = 0.6;
const REPETITION_MORE: f64 = 0.7;
/// Half of the repeated queries lie within `0.5^RECENCY` of the log so far.
const RECENCY: f64 = 3.0;
/// The paper's terms are in this share of the most frequent one's documents, at least.
const HIGH_SHARE: u32 = 10;
const ROUNDS_MAX: usize = 3;

/// Where the cache lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Medium {
    Dram,
    SecondTier,
}

/// What is asked of each query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Matches,
    Count,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    let corpus = corpus.first(DOCUMENTS_MAX);
    bench.begin(
        "cache",
        &corpus,
        &[("repetition", json!(REPETITION)), ("recency", json!(RECENCY))],
    );
    let terms = frequent_terms(&corpus);
    let logs = [REPETITION, REPETITION_MORE]
        .map(|share| Log::repeating(bench.seed, terms.len(), QUERIES, (share, RECENCY)));
    let mut all = Vec::new();
    let mut index_bytes = 0;
    for (number, log) in logs.iter().enumerate() {
        let queries = queries(log, &terms)?;
        let live = Live { corpus: &corpus, queries: &queries, cores: bench.cores };
        if number == 0 {
            index_bytes = live.index_bytes()?;
        }
        println!(
            "{}: {} queries of {} terms, {} different, {:.1} % repeated",
            log.name,
            queries.len(),
            terms.len(),
            log.frequencies().len(),
            log.repetition()
        );
        let is_usual = number == 0;
        for (medium, question) in series(is_usual) {
            for size in SIZES.into_iter().filter(|size| is_usual || *size == SIZES[5]) {
                let run = Run { bytes: index_bytes * size / 100, medium, question };
                let rounds = bench.rounds.min(ROUNDS_MAX);
                let found = (0..rounds).map(|_| live.run(run)).collect::<Fallible<Vec<_>>>()?;
                all.push(Measured { size, run, is_usual, found });
            }
        }
    }
    println!("index: {} MiB", index_bytes >> 20);
    tables::show(bench, &all)
}

/// Series of the usual log, or of the one with more repetition.
fn series(is_usual: bool) -> Vec<(Medium, Question)> {
    let all = [
        (Medium::Dram, Question::Matches),
        (Medium::SecondTier, Question::Matches),
        (Medium::Dram, Question::Count),
    ];
    if is_usual { all.to_vec() } else { all[..1].to_vec() }
}

/// The corpus' own high terms, by the paper's rule.
fn frequent_terms(corpus: &Corpus) -> Vec<String> {
    let frequencies = workloads::document_frequencies(corpus);
    let most = frequencies.values().copied().max().unwrap_or(0);
    let high = frequencies.into_iter().filter(|(_, df)| df.saturating_mul(HIGH_SHARE) >= most);
    let mut terms: Vec<String> = high.map(|(term, _)| term).collect();
    terms.sort_unstable();
    terms
}

/// The log's queries as the engine takes them.
fn queries(log: &Log, terms: &[String]) -> Fallible<Vec<Query>> {
    let term = |number: u32| Tree::term(&terms[number as usize]);
    let query = |asked: &Asked| match *asked {
        Asked::And(a, b) => form::query(&Tree::all_of(vec![term(a), term(b)])),
        Asked::Or(a, b) => form::query(&Tree::any_of(vec![term(a), term(b)])),
        Asked::Single(a) => form::query(&term(a)),
    };
    if log.queries.is_empty() {
        return Err("the corpus has too few frequent terms for a pair".into());
    }
    Ok(log.queries.iter().map(query).collect::<Result<_, _>>()?)
}

/// Options that all runs share.
fn options(corpus: &Corpus) -> spirit::Builder {
    engine::options(corpus)
        .prefault(false)
        .segment_bytes(engine::segment_bytes(corpus, live::SEGMENTS))
}
