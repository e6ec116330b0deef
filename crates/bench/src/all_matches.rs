//! The first paper's workload (§5): documents of about 1 KB, and *all* matches of a query, the newest first.

use std::hint::black_box;
use std::time::{Duration, Instant};

use spirit::lab::Parts;
use spirit::{Builder, Index, OnFull, Query, Reader, Search};

use crate::Fallible;
use crate::args::Scale;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::engine;
use crate::workloads::Workload;

/// Documents, and queries of each workload.
const FULL: (usize, usize) = (1_000_000, 100_000);
const SMALL: (usize, usize) = (20_000, 2_000);
/// The paper's segments of 128 MB.
pub(crate) const SEGMENTS: u64 = 80;
/// The least long-term DRAM, in segments.
const LONG_MIN: u64 = 10;

/// The paper's documents, or a part: articles, again and again up to the paper's number. Also the number of queries of each workload.
pub(crate) fn corpus(bench: &mut Bench) -> Fallible<(Corpus, usize)> {
    let (documents, queries) = if bench.scale == Scale::Small { SMALL } else { FULL };
    let corpus = bench.corpus("articles")?;
    // Generated text is as long as was asked for.
    let documents = if corpus.name == "articles" { documents } else { corpus.len() };
    let all = Corpus::of(&corpus.name, corpus.iter().cycle().take(documents))?;
    Ok((all, queries))
}

/// All matches of a query.
pub(crate) fn ask(reader: &mut Reader, query: &Query) -> usize {
    engine::hits(reader, query, Search::all())
}

/// Queries a second of a reader that asks a workload's queries in turn for this time, after as long a warm-up.
pub(crate) fn rate(reader: &mut Reader, workload: &Workload, window: Duration) -> f64 {
    let mut rate = 0.0;
    for _ in 0..2 {
        let (start, mut asked) = (Instant::now(), 0);
        for query in workload.queries.iter().cycle() {
            black_box(ask(reader, query));
            asked += 1;
            if start.elapsed() >= window {
                break;
            }
        }
        rate = f64::from(asked) / start.elapsed().as_secs_f64();
    }
    rate
}

/// An index of the corpus in this many segments, whose long-term DRAM is a share of what all of them take.
pub(crate) fn options(corpus: &Corpus, segments: u64, long: f64) -> Builder {
    let segment_bytes = engine::segment_bytes(corpus, segments);
    let whole_bytes = whole_bytes(corpus, segments);
    let long = ((whole_bytes as f64 * long) as u64).max(segment_bytes * LONG_MIN);
    let dictionary = whole_bytes / 4 + (16 << 20);
    Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .on_full(OnFull::DropOldest)
        .segment_bytes(segment_bytes)
        // Keys and their filter take three parts in 32 of all.
        .dram_bytes((long + dictionary + segment_bytes * 4) / 8 * 9 + (64 << 20))
        .dram_parts(Parts { short: 0, long, dictionary })
        .nvm_bytes(whole_bytes * 4 + (256 << 20))
}

/// Bytes of all segments. A flushed one takes about as much as a fresh one.
pub(crate) fn whole_bytes(corpus: &Corpus, segments: u64) -> u64 {
    engine::segment_bytes(corpus, segments) * segments
}
