//! `cache-qps`: queries a second and tail latency over a static index, by cache, allocator, size and medium.
//!
//! Measured: the thesis' logs of ANDs and ORs (figures 5.6 to 5.8, 5.10, 5.12 and 5.13). A query wants the best 20 by BM25, as
//! many as the thesis keeps; a second table has the number of all matches. Each configuration has an index and a cache of its own: no
//! cache, LRU, DLIRS or random, with first fit or TLSF, of 5, 10 and 20 % of the index with 1,000, 2,000 and 4,000 entries. Its name is
//! the thesis' `Medium-Access-Cache-Allocator`:
//!
//! | name | thesis | here |
//! |---|---|---|
//! | D | index and cache in DRAM | the same |
//! | P-D | PMEM, directly accessed | both in the second tier, below `/dev/shm` |
//! | P-B | PMEM, through the page cache | both in the second tier, on the disk of temporary files |
//! | N, L, D, R | no cache, LRU, DLIRS, random | the same |
//! | G, T | simplified glibc, TLSF | first fit, TLSF |
//!
//! Then one and two threads with one and two caches (figure 5.2), what the cache does not take (single terms, the newest 20; figure
//! 5.1), and the bytes of complete result lists (figure 5.9). Answers are kept at once.
//!
//! Corpus: 50,000 articles. Terms: the corpus' 108 most frequent, and the next 1,382 for single terms.
//!
//! Caveats: each configuration is asked 10,000 queries of the log to warm it and the next 10,000 in the clock, not 20 passes of
//! 100,000 each. The machine has no PMEM with direct access, and no 50 threads: media that stand in for others are equally fast memory,
//! and nothing is drawn for more than two threads. Our counts of frequent terms compare
//! bitmaps and take a few microseconds, where the thesis merges arrays: with the default cost the cache would not keep them.

mod asking;
mod tables;

use serde_json::json;
use spirit::cache::{Allocator, Cache, Policy};
use spirit::lab::PointerUpdate;
use spirit::{Index, Query, Search};
use spirit_peer_protocol::Query as Tree;

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, HIGH, Log, MEDIUM};
use crate::corpus::Corpus;
use crate::scratch::Scratch;
use crate::{engine, form, workloads};

use asking::{Asking, Figures};
use tables::{Answers, Row};

const DOCUMENTS_MAX: usize = 50_000;
/// Sizes in percent of the index, and entries.
const SIZES: [(u64, u64); 3] = [(5, 1000), (10, 2000), (20, 4000)];
/// Queries that warm, and as many that count.
const QUERIES: usize = 10_000;
/// Matches that are kept, as many as the thesis keeps.
const K: usize = 20;
const BEST: asking::Ask = |reader, query| engine::hits(reader, query, Search::best(K));
const CACHE_BYTES_MIN: u64 = 64 << 10;
/// Bytes for each entry at least, so that small caches open.
const ENTRY_BYTES: u64 = 512;

/// Where index and cache lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    Dram,
    Memory,
    Disk,
}

/// A policy and an allocator, or no cache.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    with: Option<(Policy, Allocator)>,
}

const MEDIA: [(&str, Medium); 3] =
    [("D", Medium::Dram), ("P-D", Medium::Memory), ("P-B", Medium::Disk)];
const NONE: Kind = Kind { name: "N-N", with: None };
const LRU: Kind = kind("L-T", Policy::Lru, Allocator::Tlsf);
const KINDS: [Kind; 7] = [
    NONE,
    kind("L-G", Policy::Lru, Allocator::FirstFit),
    LRU,
    kind("D-G", Policy::Dlirs, Allocator::FirstFit),
    kind("D-T", Policy::Dlirs, Allocator::Tlsf),
    kind("R-G", Policy::Random, Allocator::FirstFit),
    kind("R-T", Policy::Random, Allocator::Tlsf),
];

const fn kind(name: &'static str, policy: Policy, allocator: Allocator) -> Kind {
    Kind { name, with: Some((policy, allocator)) }
}

/// An index on its medium.
struct Kept {
    index: Index,
    /// Behind the index: it outlives it.
    _scratch: Option<Scratch>,
}

/// The queries of the logs.
struct Logs {
    and: Vec<Query>,
    or: Vec<Query>,
    single: Vec<Query>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?.first(DOCUMENTS_MAX);
    bench.begin("cache-qps", &corpus, &[("queries", json!(QUERIES))]);
    let logs = Logs::draw(&corpus, bench.seed)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut index_bytes = 0;
    for (name, medium) in MEDIA {
        for kind in KINDS {
            let sizes = if kind.with.is_none() { &SIZES[..1] } else { &SIZES[..] };
            for (size, entries) in sizes {
                let cache = kind.cache(index_bytes * size / 100, *entries, 1);
                let kept = Kept::of(&corpus, medium, cache)?;
                if index_bytes == 0 {
                    index_bytes = kept.index.stats()?.bytes.index();
                    println!(
                        "index: {} MiB; {}",
                        index_bytes >> 20,
                        engine::describe(&kept.index)?
                    );
                }
                let answers = |ask: asking::Ask| -> Fallible<Answers> {
                    let asking = Asking { cores: bench.cores, threads: 1, ask };
                    let [and, or] = [&logs.and, &logs.or].map(|log| asking.run(&kept.index, log));
                    Ok(Answers { and: and?, or: or? })
                };
                rows.push(Row {
                    name: format!("{name}-{}", kind.name),
                    medium,
                    size: kind.with.map(|_| *size),
                    best: answers(BEST)?,
                    count: answers(engine::count)?,
                });
            }
        }
    }
    tables::show(bench, &rows)?;
    threads(bench, &corpus, &logs, index_bytes)?;
    bypassed(bench, &corpus, &logs, index_bytes)?;
    tables::bytes(
        bench,
        corpus.len(),
        [rows[0].count.and, rows[0].count.or].map(|found| found.matches),
    )
}

/// Threads and caches (figure 5.2), with LRU and TLSF, at the largest size.
fn threads(bench: &mut Bench, corpus: &Corpus, logs: &Logs, index_bytes: u64) -> Fallible<()> {
    let (size, entries) = SIZES[2];
    let mut rows = Vec::new();
    for (threads, caches) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let cache = LRU.cache(index_bytes * size / 100, entries, caches);
        let kept = Kept::of(corpus, Medium::Dram, cache)?;
        let asking = Asking { cores: bench.cores, threads, ask: BEST };
        rows.push(((threads, caches), asking.run(&kept.index, &logs.and)?));
    }
    tables::threads(bench, &rows)
}

/// What the cache does not take: without a cache and with one, on each medium.
fn bypassed(bench: &mut Bench, corpus: &Corpus, logs: &Logs, index_bytes: u64) -> Fallible<()> {
    let newest: asking::Ask = |reader, query| engine::hits(reader, query, Search::newest(K));
    let questions = [
        ("SINGLE, count", &logs.single, engine::count as asking::Ask),
        ("SINGLE, newest 20", &logs.single, newest),
        ("AND, newest 20", &logs.and, newest),
        ("OR, newest 20", &logs.or, newest),
    ];
    let (size, entries) = SIZES[2];
    let mut rows = Vec::new();
    for (name, medium) in MEDIA {
        let plain = Kept::of(corpus, medium, None)?;
        let cached = Kept::of(corpus, medium, LRU.cache(index_bytes * size / 100, entries, 1))?;
        for (question, log, ask) in questions {
            let asking = Asking { cores: bench.cores, threads: 1, ask };
            let found = [asking.run(&plain.index, log)?, asking.run(&cached.index, log)?];
            rows.push((format!("{question}, {name}"), found));
        }
    }
    tables::bypassed(bench, &rows)
}

impl Kind {
    /// Returns the cache. Entries are of each cache, bytes of all.
    fn cache(self, bytes: u64, entries: u64, caches: u64) -> Option<Cache> {
        let (policy, allocator) = self.with?;
        let bytes = bytes.max(CACHE_BYTES_MIN * caches);
        let entries = entries.min(bytes / caches / ENTRY_BYTES) as u32;
        let cache = Cache::new(bytes).caches(caches as usize).entries(entries);
        Some(cache.policy(policy).allocator(allocator).cost_min(std::time::Duration::ZERO))
    }
}

impl Kept {
    /// Fills an index, all of it flushed, and engraved where there is a second tier.
    fn of(corpus: &Corpus, medium: Medium, cache: Option<Cache>) -> Fallible<Kept> {
        let scratch = match medium {
            Medium::Dram => None,
            Medium::Memory => Some(Scratch::new()?),
            Medium::Disk => Some(Scratch::on_disk()?),
        };
        let mut options = engine::stream_options(corpus).prefault(false);
        if let Some(scratch) = &scratch {
            options = options
                .directory(scratch.path())
                .nvm_bytes(engine::heap_bytes(corpus))
                .pointer_update(PointerUpdate::Eager);
        }
        if let Some(cache) = cache {
            let cache = if scratch.is_some() { cache.in_second_tier() } else { cache };
            options = options.cache(cache);
        }
        let index = engine::filled(options, corpus)?;
        index.flush()?;
        if scratch.is_some() {
            engine::wait_until_merged(&index)?;
        }
        Ok(Kept { index, _scratch: scratch })
    }
}

impl Logs {
    /// The logs' first queries, as the engine takes them.
    fn draw(corpus: &Corpus, seed: u64) -> Fallible<Logs> {
        let terms = terms(corpus);
        let of = |log: Log| -> Fallible<Vec<Query>> {
            let asked = log.queries.iter().take(QUERIES * 2);
            Ok(asked.map(|asked| query(*asked, &terms)).collect::<Result<_, _>>()?)
        };
        Ok(Logs {
            and: of(Log::and(seed))?,
            or: of(Log::or(seed))?,
            single: of(Log::single(seed))?,
        })
    }
}

/// The most frequent terms, the most frequent first.
fn terms(corpus: &Corpus) -> Vec<String> {
    let mut terms: Vec<(String, u32)> =
        workloads::document_frequencies(corpus).into_iter().collect();
    terms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms.into_iter().take(HIGH + MEDIUM).map(|(term, _)| term).collect()
}

/// A query of the log. A tiny corpus has fewer terms, which then stand for several.
fn query(asked: Asked, terms: &[String]) -> Result<Query, spirit_peer_protocol::Unsupported> {
    let term = |number: u32| Tree::term(&terms[number as usize % terms.len()]);
    form::query(&match asked {
        Asked::And(a, b) => Tree::all_of(vec![term(a), term(b)]),
        Asked::Or(a, b) => Tree::any_of(vec![term(a), term(b)]),
        Asked::Single(a) => term(a),
    })
}
