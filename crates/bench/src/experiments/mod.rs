//! The experiments, and the table that `spirit-bench list` prints.

mod acks;
mod allocators;
mod blocks;
mod bulk;
mod cache;
mod cache_hits;
mod cache_live;
mod cache_qps;
mod cache_threads;
mod caps;
mod codecs;
mod count;
mod dictionaries;
mod equal;
mod executors;
mod formats;
pub(crate) mod freshness;
mod http;
mod ingest;
mod intersect;
mod judged;
mod keys;
mod media;
mod memory;
mod merge;
mod modes;
mod newest;
mod newest_busy;
mod nvm_only;
pub(crate) mod pages;
mod placement;
mod protection;
mod queries;
mod queries_busy;
pub(crate) mod restart;
mod resume;
pub(crate) mod s1m2;
mod scaling;
mod searcher;
mod segment_size;
mod segments;
mod stages;
mod standing;
mod steal;
mod steps;
mod table1;
mod tier;
mod update;
mod visible;

use std::path::PathBuf;

use crate::Fallible;
use crate::bench::Bench;

/// One experiment.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// The figure of a paper, or the section of the baseline measurements.
    pub(crate) reproduces: &'static str,
    pub(crate) bars: &'static str,
    pub(crate) run: fn(&mut Bench) -> Fallible<()>,
}

/// All of them, in the order of `all`.
pub(crate) const ALL: &[Experiment] = &[
    Experiment {
        name: "ingest",
        what: "documents a second until all are visible, one core, flush included; ns a token by step",
        reproduces: "the paper's ingest rate (72 K documents/s an executor, 4 × Lucene); baseline §1 and §8.1",
        bars: "≥ 8× (posts), ≥ 6× (articles) the better of tantivy's and Lucene's add rate",
        run: ingest::run,
    },
    Experiment {
        name: "executors",
        what: "documents a second of one and two executors, of the engine and of the command",
        reproduces: "the paper's executors, one a core; nothing of the baseline",
        bars: "two executors ≥ 1.6× of one; the command ≥ 0.6× of the engine",
        run: executors::run,
    },
    Experiment {
        name: "bulk",
        what: "a collection with positions and texts until it is durable and merged, two cores",
        reproduces: "part 004's figure 4a, with the peers in place of Psearchy; nothing of the baseline",
        bars: "≥ 2× Lucene's with 2 threads, ≥ 1.3× tantivy's; crash-consistent ≤ 15 % slower",
        run: bulk::run,
    },
    Experiment {
        name: "media",
        what: "a collection from one medium to another: memory, disk, XFS, Btrfs, compressed",
        reproduces: "part 002's table 1, with the media of one machine",
        bars: "none",
        run: media::run,
    },
    Experiment {
        name: "placement",
        what: "a bulk load with its structures in DRAM, on a medium like persistent memory, and on a disk",
        reproduces: "part 004's table 1 and figure 7, with memory in place of persistent memory",
        bars: "none",
        run: placement::run,
    },
    Experiment {
        name: "dictionaries",
        what: "the merge at the end of a bulk load: in place, and out of place into six dictionary engines",
        reproduces: "part 004's figure 11, with redb in place of BDB; nothing of the baseline",
        bars: "none",
        run: dictionaries::run,
    },
    Experiment {
        name: "resume",
        what: "a bulk load that is killed once, and goes on",
        reproduces: "part 004's figure 12, by kills at five points; nothing of the baseline",
        bars: "none: what is lost is a number of segments",
        run: resume::run,
    },
    Experiment {
        name: "update",
        what: "1 to 10,000 documents into an index of 2.2 million posts, until durable at level process",
        reproduces: "part 004's figures 4b and 14; nothing of the baseline",
        bars: "1 document ≤ 100 µs in a process, ≤ 10 ms from exec",
        run: update::run,
    },
    Experiment {
        name: "s1m2",
        what: "queries of one and of two common words, every match scored, by medium",
        reproduces: "part 004's figures 4c and 15 and table 2, without persistent memory",
        bars: "none",
        run: s1m2::run,
    },
    Experiment {
        name: "visible",
        what: "one document made visible, index of a million posts",
        reproduces: "baseline §3, cost of making one new document visible",
        bars: "≥ 20× faster than SQLite's autocommit, ≥ 100× than Lucene's refresh, ≥ 500× than tantivy's commit",
        run: visible::run,
    },
    Experiment {
        name: "freshness",
        what: "from the begin of an addition until another thread's query finds it, at 100,000 documents/s",
        reproduces: "baseline §3, one writer and one asking thread",
        bars: "best round: P50 ≤ 5 µs, P95 ≤ 20 µs; two processes: P50 ≤ 5 µs, aim 1.5 × two threads; a follower's queries ≤ 1.1 × the writer's readers'",
        run: freshness::run,
    },
    Experiment {
        name: "standing",
        what: "additions at 100,000 posts/s beside 10,000 standing queries, and when a match is with its listener",
        reproduces: "none: live queries are in no paper of these",
        bars: "additions ≤ 10 % slower; P99 of a match ≤ 1 ms",
        run: standing::run,
    },
    Experiment {
        name: "newest",
        what: "the ten newest, six workloads, idle index",
        reproduces: "none of the paper's tables: it asks for all matches; baseline §2 (ii*), peers sorted newest first and merged offline",
        bars: "P50 ≥ 3× (MM ≥ 5×) faster than tantivy",
        run: newest::run,
    },
    Experiment {
        name: "cache",
        what: "queries a second with a result cache of 2 to 50 % of the index, in DRAM and in the second tier, while segments keep coming",
        reproduces: "the first paper's figures 5(a) and 5(b)",
        bars: "QPS with 50 % ≥ 1.48× without (aim 2×)",
        run: cache::run,
    },
    Experiment {
        name: "cache-hits",
        what: "hit rates of the result cache's policies, by entries",
        reproduces: "the thesis' tables 5.1 and 5.2, figure 5.5; beyond it ORs, single terms and Zipf logs",
        bars: "LRU within 0.5 points of entries ÷ queries; DLIRS ≥ LRU − 0.3 at 17 and 34 %, ≥ LRU + 2 at 68 %; W-TinyLFU ≥ 70 % of the way from LRU to the best fixed content",
        run: cache_hits::run,
    },
    Experiment {
        name: "cache-qps",
        what: "queries a second and tails over a static index, by cache, allocator, size and medium",
        reproduces: "the thesis' figures 5.1, 5.2, 5.6 to 5.10, 5.12 and 5.13, as far as the machine can",
        bars: "none",
        run: cache_qps::run,
    },
    Experiment {
        name: "pages",
        what: "which pages of an index on a disk are in memory under a limit, while a log is asked",
        reproduces: "the thesis' figure 5.15, and page events in place of 5.14",
        bars: "none",
        run: pages::run,
    },
    Experiment {
        name: "cache-threads",
        what: "look-ups a second of one and two threads, one and two caches, without a lock and with one",
        reproduces: "the thesis' figure 5.2, as far as two cores can",
        bars: "two threads with one cache ≥ 1× of the thesis' lock",
        run: cache_threads::run,
    },
    Experiment {
        name: "allocators",
        what: "an allocation and a free in a cache's heap, by first fit and TLSF; what is scattered",
        reproduces: "the thesis' figures 5.3 and 5.4, of the allocators alone",
        bars: "TLSF's P99 below first fit's in every heap",
        run: allocators::run,
    },
    Experiment {
        name: "cache-live",
        what: "the result cache over a live stream: hits, a dashboard, and the price where it does not help",
        reproduces: "the first paper's query cache (§4.11), beyond its ANDs; nothing of the baseline",
        bars: "a hit ≤ 1 µs, P99 ≤ 3 µs; a dashboard after 10,000 more ≥ 10×; uncached queries ≤ 2 % slower",
        run: cache_live::run,
    },
    Experiment {
        name: "searcher",
        what: "the ten newest through a searcher that threads share, beside a reader of one thread",
        reproduces: "none: the price of sharing",
        bars: "single terms: ≤ 20 ns a query more than a reader",
        run: searcher::run,
    },
    Experiment {
        name: "newest-busy",
        what: "the same while ingest runs at full speed on the other core",
        reproduces: "none of the paper's figures: its queries beside ingest are all matches; baseline §3",
        bars: "P95 ≤ 1.3× the idle P95, each workload",
        run: newest_busy::run,
    },
    Experiment {
        name: "count",
        what: "exact counts, six workloads",
        reproduces: "baseline §2 (i) and (i')",
        bars: "HH ≥ 15×, MM ≥ 4× the fastest way of tantivy and Lucene",
        run: count::run,
    },
    Experiment {
        name: "equal",
        what: "every class of query, ranked, newest and counted: whether the engines answer alike",
        reproduces: "none: answers are compared before times are",
        bars: "no difference but those known",
        run: equal::run,
    },
    Experiment {
        name: "queries",
        what: "every class of query of every set: exact counts, the ten best, the ten newest",
        reproduces: "none: the classes of search-benchmark-game and luceneutil",
        bars: "published terms, ANDs, ORs and phrases: counts ≥ 5× tantivy, ≥ 8× Lucene; best ≥ 2.5×, ≥ 4×; newest ≥ 10×; none slower",
        run: queries::run,
    },
    Experiment {
        name: "queries-busy",
        what: "counts and the ten best of every class while ingest runs at full speed on the other core",
        reproduces: "none of the paper's figures; baseline §3",
        bars: "P95 ≤ 1.3× the idle P95, each class",
        run: queries_busy::run,
    },
    Experiment {
        name: "judged",
        what: "MAP, P@10 and nDCG@10 on eight test collections, of plain BM25 and of stemmed English",
        reproduces: "published figures of plain BM25 on the collections",
        bars: "plain BM25: each within 0.01 of what is published",
        run: judged::run,
    },
    Experiment {
        name: "segments",
        what: "the ten newest over 1, 64 and 512 segments",
        reproduces: "the paper's figure 7b (segment size), for the ten newest; baseline §8.2",
        bars: "64 against 1: ≤ 1.6× (L M H HH), ≤ 2.2× (LL MM)",
        run: segments::run,
    },
    Experiment {
        name: "table1",
        what: "all matches, newest first, while documents go in: our modes by DRAM, Lucene by refresh",
        reproduces: "the first paper's table 1 and figure 2: 19 of 22 rows, without DPF-T, DPF-M and NODAX",
        bars: "none",
        run: table1::run,
    },
    Experiment {
        name: "segment-size",
        what: "queries while documents go in, by the number of segments, merged and not",
        reproduces: "the first paper's figure 7(b)",
        bars: "none",
        run: segment_size::run,
    },
    Experiment {
        name: "modes",
        what: "ingest, shutdown and restart of each mode, with the dictionary in either tier",
        reproduces: "the first paper's text (§6.2): graceful +1.3 %, shutdown 1.6×, crash +8 % and 17×",
        bars: "none",
        run: modes::run,
    },
    Experiment {
        name: "nvm-only",
        what: "all matches on an idle index: in DRAM, in the second tier, and merged there",
        reproduces: "the first paper's figure 3a, with one executor and memory in place of Optane",
        bars: "none",
        run: nvm_only::run,
    },
    Experiment {
        name: "scaling",
        what: "all matches: two threads on one index against two indexes with a thread each",
        reproduces: "the first paper's figure 4, as far as two cores can",
        bars: "none",
        run: scaling::run,
    },
    Experiment {
        name: "steal",
        what: "all matches while another index engraves or merges on the other core",
        reproduces: "the first paper's figure 8, with one stealer and memory in place of Optane",
        bars: "none",
        run: steal::run,
    },
    Experiment {
        name: "stages",
        what: "the time for which each stage is busy: by heap, beside queries, by size of segments",
        reproduces: "the first paper's figures 6a, 6b and 7a, with one executor",
        bars: "none",
        run: stages::run,
    },
    Experiment {
        name: "memory",
        what: "index bytes a posting, fresh and flushed, by structure",
        reproduces: "baseline §4 and the size row of §8.1",
        bars: "≤ 12 bytes a posting",
        run: memory::run,
    },
    Experiment {
        name: "intersect",
        what: "the papers' intersection algorithms and ours",
        reproduces: "the papers' naive, binary and finger intersection; baseline §6",
        bars: "none",
        run: intersect::run,
    },
    Experiment {
        name: "formats",
        what: "packed lists against raw ones, in memory and in a mapped file, one thread and two",
        reproduces: "the fourth paper's tables 1 and 2, figures 4, 5, 7, 8, 11 and 12",
        bars: "none",
        run: formats::run,
    },
    Experiment {
        name: "codecs",
        what: "ANDs of two posting lists against bytes a posting, by published codecs and ours",
        reproduces: "part 003's figure 2, which is of Pibiri and Venturini",
        bars: "none",
        run: codecs::run,
    },
    Experiment {
        name: "keys",
        what: "updates and look-ups by key: the key table against keys as terms",
        reproduces: "none: the design asks for it",
        bars: "none",
        run: keys::run,
    },
    Experiment {
        name: "protection",
        what: "what it costs a query that the segments it reads stay readable",
        reproduces: "the paper's §4.3, D-Lock and N-Lock",
        bars: "none",
        run: protection::run,
    },
    Experiment {
        name: "tier",
        what: "ingest, engrave and merge in crash mode against volatile; barriers a segment",
        reproduces: "the paper's §6.1, crash consistency: ingest 8 %, engrave 21 % slower, merge 17×",
        bars: "ingest and engrave ≤ 10 % slower, merge ≤ 1.5×, with barriers forced too",
        run: tier::run,
    },
    Experiment {
        name: "merge",
        what: "the merge stage against Lucene's forceMerge of as many segments",
        reproduces: "the paper's §6.1: 6.74× faster; flush and engrave 3.78× faster than flush and commit",
        bars: "≥ 20× faster, with barriers too",
        run: merge::run,
    },
    Experiment {
        name: "acks",
        what: "documents acknowledged at level os on a disk, and a client's wait",
        reproduces: "none: the promise of level os",
        bars: "≥ 100,000 posts/s, P95 of the wait ≤ 10 ms",
        run: acks::run,
    },
    Experiment {
        name: "caps",
        what: "queries with tight, moderate and loose DRAM; by one dictionary, along the chain, by probing each segment",
        reproduces: "the paper's table 1 and figure 3; 3(b) while documents go in",
        bars: "64 segments, none merged: ≤ 1.2× all merged, each workload",
        run: caps::run,
    },
    Experiment {
        name: "restart",
        what: "from the start of a process until its first answer, after a shutdown and after a kill",
        reproduces: "baseline §5, tantivy's start; the paper's instant recovery",
        bars: "shutdown: no slower than tantivy; kill: ≤ 20 ms beside the replay; whatever the size",
        run: restart::run,
    },
    Experiment {
        name: "blocks",
        what: "variable-sized (VSB) against fixed-sized (FSB) posting blocks in a fresh segment",
        reproduces: "the paper's §4.5: VSB always better",
        bars: "none",
        run: blocks::run,
    },
    Experiment {
        name: "http",
        what: "the server beside OpenSearch: bulks, visibility, searches idle and busy, HTTP's own cost, dashboards",
        reproduces: "none: the paper has no server",
        bars: "bulks ≥ 5×; put until found ≥ 10×; searches ≥ 2×, beside ingest ≥ 5×; HTTP's cost P99 ≤ 300 µs; dashboard ≥ 2×",
        run: http::run,
    },
];

/// The command `spirit`, beside this program.
fn program() -> Fallible<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("spirit");
    if program.is_file() {
        return Ok(program);
    }
    Err(format!("{}: missing; cargo build --release -p spirit-cli", program.display()).into())
}
