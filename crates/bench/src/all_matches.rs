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
/// Sizes are multiples of it.
const PAGE: u64 = 4096;
/// The least long-term DRAM: the engine takes no less. In segments as they are while they are filled, and bytes beside them.
const LONG_MIN: (u64, u64) = (7, 128 << 10);

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

/// How large segments are, and how large all of them are together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) segment_bytes: u64,
    /// Flushed, with their terms: what the caps are shares of.
    pub(crate) whole_bytes: u64,
    /// How many there are.
    pub(crate) segments: u64,
}

/// Sizes that are tried, at most.
const TRIES: usize = 8;
/// What is near enough: the number that is wanted, times this or by this.
const NEAR: f64 = 1.05;

impl Sizes {
    /// Those with which an index of the corpus has about this many segments. Found by filling some in memory, since how much a segment
    /// holds depends on its words. Its table of terms doubles, so not every number is possible: the nearest of some tries counts.
    pub(crate) fn of(corpus: &Corpus, wanted: u64) -> Fallible<Sizes> {
        let mut segment_bytes = engine::segment_bytes(corpus, wanted);
        // Of those tried: the largest with more segments than are wanted, and the smallest with fewer.
        let (mut least, mut most) = (0, u64::MAX);
        let mut nearest: Option<(f64, Sizes)> = None;
        for _ in 0..TRIES {
            let (count, whole_bytes) = filled(corpus, segment_bytes)?;
            let times = count / wanted as f64;
            let tried = Sizes { segment_bytes, whole_bytes, segments: count.round() as u64 };
            let distance = times.ln().abs();
            if nearest.is_none_or(|(nearest, _)| distance < nearest) {
                nearest = Some((distance, tried));
            }
            if distance < NEAR.ln() {
                break;
            }
            if times > 1.0 {
                least = least.max(segment_bytes);
            } else {
                most = most.min(segment_bytes);
            }
            let next = (segment_bytes as f64 * times) as u64;
            let is_between = (least + 1..most).contains(&next) || least >= most;
            let next = if is_between { next } else { ((least * most) as f64).sqrt() as u64 };
            segment_bytes = next.max(engine::SEGMENT_BYTES_MIN).next_multiple_of(PAGE);
        }
        let (_, sizes) = nearest.ok_or("no size was tried")?;
        let Sizes { segment_bytes, whole_bytes, segments } = sizes;
        let (kibibytes, mebibytes) = (segment_bytes >> 10, whole_bytes >> 20);
        println!(
            "{segments} segments of {kibibytes} KiB (wanted {wanted}), {mebibytes} MiB in all"
        );
        Ok(sizes)
    }

    /// An index whose long-term DRAM is a share of what all segments take.
    pub(crate) fn options(self, long: f64) -> Builder {
        let Sizes { segment_bytes, whole_bytes, .. } = self;
        let (segments, beside) = LONG_MIN;
        let long = ((whole_bytes as f64 * long) as u64).max(segment_bytes * segments + beside);
        let dictionary = whole_bytes / 2 + (16 << 20);
        Index::builder()
            .analyzer(spirit::Analyzer::Simple)
            .on_full(OnFull::DropOldest)
            .segment_bytes(segment_bytes)
            // Keys and their filter take three parts in 32 of all.
            .dram_bytes((long + dictionary + segment_bytes * 4) / 8 * 9 + (64 << 20))
            .dram_parts(Parts { short: 0, long, dictionary })
            .nvm_bytes(whole_bytes * 5 + (256 << 20))
    }
}

/// The segments of a whole index of the corpus, and their bytes when they are flushed.
fn filled(corpus: &Corpus, segment_bytes: u64) -> Fallible<(f64, u64)> {
    let index = Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .segment_bytes(segment_bytes)
        .dram_bytes(engine::heap_bytes(corpus) + segment_bytes * engine::HEAP_SEGMENTS_MIN)
        .prefault(false)
        .open()?;
    index.add_all(corpus.iter().map(|text| (None, text)))?;
    index.settle();
    let stats = index.stats()?;
    // The one that is being filled is not full.
    let full = stats.segments.len().saturating_sub(1).max(1) as f64;
    let rows: u64 = stats.segments.iter().skip(1).map(|segment| segment.rows).sum();
    let share = rows.max(1) as f64 / corpus.len() as f64;
    let mut partitions = stats.partitions.iter();
    let long =
        partitions.find(|partition| partition.name == "long-term").map_or(0, |long| long.used);
    Ok((full / share, (long as f64 / share) as u64))
}
