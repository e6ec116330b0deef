//! Our side: how indexes are opened and filled, and the measuring loop over queries.

use std::hint::black_box;
use std::time::{Duration, Instant};

use spirit::stats::Stats;
use spirit::{Analyzer, Builder, Index, OnFull, Query, Reader, Search};

use crate::Fallible;
use crate::corpus::Corpus;
use crate::timing::{Latencies, Rounds};
use crate::workloads::Workload;

const GIB: u64 = 1 << 30;
/// Heap for each byte of text: index, reserve for segments in flight, and partitions that stay half empty.
const HEAP_PER_TEXT: u64 = 16;
/// Enough for tiny corpora, whose segments are smaller too.
const HEAP_BYTES_MIN: u64 = 256 << 20;
const HEAP_BYTES_MAX: u64 = 12 * GIB;

/// What a heap of the default size (1 GiB) has.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 20;
/// The least heap, in segments.
pub(crate) const HEAP_SEGMENTS_MIN: u64 = 16;

/// Bytes of a fresh segment: for each token, and for its terms, whose number grows as a power of that of tokens. Of posts it gets
/// room for half as many again, so that none is full before its time.
const BYTES_PER_TOKEN: f64 = 10.0;
const BYTES_OF_TERMS: (f64, f64) = (2700.0, 0.6);
/// The smallest segment size.
pub(crate) const SEGMENT_BYTES_MIN: u64 = 64 << 10;

/// Passes over the first queries of every workload before any is measured, as the peers do it.
const SHARED_WARM_PASSES: usize = 5;
const SHARED_WARM_QUERIES: usize = 200;
/// Warm-up of a workload alone. Nothing of ours is compiled late, so caches are all there is to warm.
const WARM_UP: Duration = Duration::from_millis(200);
/// Passes after which few queries are as warm as they will be.
const WARM_UP_PASSES_MAX: usize = 500;

/// DRAM in which all of `corpus` has room.
pub(crate) fn heap_bytes(corpus: &Corpus) -> u64 {
    let wanted = corpus.text_bytes() * HEAP_PER_TEXT;
    if wanted < HEAP_BYTES_MIN {
        return HEAP_BYTES_MIN;
    }
    wanted.next_multiple_of(GIB).min(HEAP_BYTES_MAX)
}

/// One executor with the analyzer that all engines share and segments of the default heap, whatever the heap: else
/// a large heap would hold the corpus in a single segment that is never flushed. It refuses rather than forget
/// documents.
pub(crate) fn options(corpus: &Corpus) -> Builder {
    let heap_bytes = heap_bytes(corpus);
    Index::builder()
        .analyzer(Analyzer::Simple)
        .dram_bytes(heap_bytes)
        .segment_bytes(SEGMENT_BYTES.min(heap_bytes / HEAP_SEGMENTS_MIN))
        .on_full(OnFull::Refuse)
        .prefault(true)
}

/// The same with segments as small beside the corpus as those of a heap that a stream has filled: it leaves all but the newest of
/// about a dozen flushed, where one of the usual size would hold a small corpus fresh.
pub(crate) fn stream_options(corpus: &Corpus) -> Builder {
    let most = SEGMENT_BYTES.min(heap_bytes(corpus) / HEAP_SEGMENTS_MIN);
    options(corpus).segment_bytes(segment_bytes(corpus, HEAP_SEGMENTS_MIN).min(most))
}

/// Bytes of a segment that holds one of this many equal parts of the corpus.
pub(crate) fn segment_bytes(corpus: &Corpus, parts: u64) -> u64 {
    let tokens = corpus.tokens as f64 / parts as f64;
    let (factor, power) = BYTES_OF_TERMS;
    let bytes = tokens * BYTES_PER_TOKEN + factor * tokens.powf(power);
    (bytes as u64).max(SEGMENT_BYTES_MIN).next_multiple_of(4096)
}

/// An index of the whole corpus under automatic keys, with every full segment flushed.
pub(crate) fn filled(options: Builder, corpus: &Corpus) -> Fallible<Index> {
    let index = options.open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.settle();
    Ok(index)
}

/// Waits until readers use the second tier's copy of every segment that is full, and the merged dictionary has its terms.
pub(crate) fn wait_until_merged(index: &Index) -> Fallible<()> {
    // The first is being filled.
    while index.stats()?.segments.iter().skip(1).any(|segment| segment.state != "merged") {
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Segments, the share of the postings in flushed ones, and dead rows, which make counts dearer: a line for people.
pub(crate) fn describe(index: &Index) -> Fallible<String> {
    let stats = index.stats()?;
    let (count, share) = (stats.segments.len(), flushed_share(&stats) * 100.0);
    let dead: u64 = stats.segments.iter().map(|segment| segment.dead).sum();
    Ok(format!("segments: {count}; flushed: {share:.0} % of the postings; dead rows: {dead}"))
}

/// The share of the postings that lie in flushed segments.
pub(crate) fn flushed_share(stats: &Stats) -> f64 {
    // The first, which is the newest, is being filled.
    let flushed: u64 = stats.segments.iter().skip(1).map(|segment| segment.postings).sum();
    flushed as f64 / stats.postings.max(1) as f64
}

/// One query answered, all in the clock.
pub(crate) trait Ask: FnMut(&Query) -> usize {}
impl<F: FnMut(&Query) -> usize> Ask for F {}

/// How many documents a search finds; none if it cannot be done, which comparing answers shows.
pub(crate) fn hits(reader: &mut Reader, query: &Query, search: Search) -> usize {
    reader.search(query, search).map_or(0, |hits| hits.len())
}

/// The same of a count.
pub(crate) fn count(reader: &mut Reader, query: &Query) -> usize {
    reader.count(query).map_or(0, |count| count as usize)
}

/// Warms up and measures every workload `rounds` times; goes on where `all` ends, which has an entry for each.
pub(crate) fn measure(
    workloads: &[Workload],
    rounds: usize,
    all: &mut [Rounds],
    mut ask: impl Ask,
) {
    for _ in 0..SHARED_WARM_PASSES {
        for workload in workloads {
            for query in workload.queries.iter().take(SHARED_WARM_QUERIES) {
                black_box(ask(query));
            }
        }
    }
    for (workload, all) in workloads.iter().zip(all) {
        let mut latencies = Latencies::with_capacity(workload.queries.len());
        let start = Instant::now();
        for _ in (0..WARM_UP_PASSES_MAX).take_while(|_| start.elapsed() < WARM_UP) {
            pass(&workload.queries, &mut latencies, &mut ask);
        }
        for _ in 0..rounds {
            pass(&workload.queries, &mut latencies, &mut ask);
            all.push(latencies.summary());
        }
    }
}

/// Every query once.
pub(crate) fn pass(queries: &[Query], latencies: &mut Latencies, ask: &mut impl Ask) {
    latencies.clear();
    for query in queries {
        let start = Instant::now();
        black_box(ask(query));
        latencies.push(start.elapsed());
    }
}

/// Asks the queries over and over for `window` more, going on behind those that have `latencies`, or until these are full.
pub(crate) fn measure_for(
    window: Duration,
    queries: &[Query],
    latencies: &mut Latencies,
    mut ask: impl Ask,
) {
    let begin = Instant::now();
    for query in queries.iter().cycle().skip(latencies.len() % queries.len()) {
        let start = Instant::now();
        black_box(ask(query));
        let took = start.elapsed();
        latencies.push(took);
        if latencies.is_full() || start.duration_since(begin) + took >= window {
            return;
        }
    }
}

/// An empty record for each workload.
pub(crate) fn no_rounds(workloads: &[Workload]) -> Vec<Rounds> {
    vec![Rounds::default(); workloads.len()]
}
