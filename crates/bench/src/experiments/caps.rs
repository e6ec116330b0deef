//! `caps`: queries while DRAM holds a part of the index only, and three ways to find a term's lists in many segments.
//!
//! Measured as in `newest`, all matches of a query instead of ten since that is what the paper asks, on indexes of the same documents
//! in a directory, in crash mode. First with 64, 1 and 512 segments of equally many documents, all merged and read in the second
//! tier, a term's list in each segment being found
//!
//! * by the *dictionary* in DRAM, which is one over all segments;
//! * along the *chain* of the term's nodes in the second tier, as in the paper: our way without a DRAM dictionary;
//! * by *probing* a [table of each segment](crate::segment_tables), one after the other. It asks the same index as *chain*, and
//!   what finds a term's entries is all that is exchanged: evaluators and posting arrays are the same.
//!
//! With 64 segments *none merged* takes turns with them: none engraved, all in DRAM. Last come indexes whose DRAM is 15 %, 55 % and
//! all of what holds the index (the paper's tight, moderate and loose). All answers must be equal. Each round builds its
//! indexes anew: where their memory comes to lie counts, and is another each time.
//!
//! Last the paper's own figure 3b: mode crash, long-term DRAM of 15 %, 55 % and 100 % of what the index takes, queries while documents go
//! in as in `table1`, and afterwards the share of their time that passes in segments in DRAM.
//!
//! Corpora: posts; workloads drawn from it by document frequency with the seed (BASELINE §8.2). Figure 3b: articles and queries as in `table1`.
//!
//! Caveats: the second tier lies below `/dev/shm`, so both tiers are equally fast memory, but that DRAM has huge pages: what is
//! measured is the cost of the structures. Nodes carry checksums, which are compared; tables do not. One term's count is
//! a subtraction in the dictionary, a sum over all segments in the other ways. A segment that is full before its time makes one
//! more: the table has the real numbers. Segments on their way, and what the machine's tables need, set a lower bound to the tight cap.

mod window;

use std::rc::Rc;

use serde_json::json;
use spirit::lab::{DictionaryTier, EngravePolicy, PointerUpdate};
use spirit::{Builder, Index, Query, Reader};

use crate::Fallible;
use crate::args::Scale;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::segment_tables::SegmentTables;
use crate::timing::Rounds;
use crate::workloads::{self, Workload};

/// Posts of a run that shows that all works.
const SMALL: usize = 200_000;
/// The dictionary takes no older segments when less than an eighth of it is free; a little more than that is left. Its table
/// takes a twelfth, whatever is in it.
const DICTIONARY_FULL: f64 = 0.8;
const TABLE: f64 = 1.0 / 12.0;
/// Bytes of the log for each byte of text: all documents have room, so no segment ends early or is engraved for its sake.
const LOG_PER_TEXT: u64 = 4;
const LOG_BYTES_MIN: u64 = 64 << 20;

/// An index on its file.
struct Kept {
    index: Index,
    dram_bytes: u64,
    /// Behind the index: it outlives it.
    _scratch: Scratch,
}

/// A way of asking an index, and what its queries took.
struct Capped {
    way: &'static str,
    /// That, and what DRAM has room for.
    name: String,
    kept: Rc<Kept>,
    /// What finds terms in place of the index, if something does.
    tables: Option<SegmentTables>,
    segments: usize,
    merged: u64,
    covered: usize,
    rounds: Vec<Rounds>,
}

/// Anyone who counts matches in one way.
struct Counter<'a> {
    reader: Reader,
    tables: Option<&'a SegmentTables>,
}

/// How an index is kept and asked.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// DRAM, as a share of what holds all of the index; more than all leaves room for all stages.
    dram: f64,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    dictionary: DictionaryTier,
    /// Asks the index of the way before it by tables.
    probes: bool,
}

const ROOMY: f64 = 4.0;
const DICTIONARY: Way = Way {
    name: "dictionary",
    dram: ROOMY,
    engrave: EngravePolicy::Eager,
    pointer_update: PointerUpdate::Eager,
    dictionary: DictionaryTier::Dram,
    probes: false,
};
const CHAIN: Way = Way { name: "chain", dictionary: DictionaryTier::Nvm, ..DICTIONARY };
const PROBING: Way = Way { name: "probing", probes: true, ..CHAIN };
const UNMERGED: Way = Way { name: "none merged", engrave: EngravePolicy::Lazy, ..DICTIONARY };
const TIGHT: Way =
    Way { name: "tight", dram: 0.15, pointer_update: PointerUpdate::Lazy, ..DICTIONARY };
const MODERATE: Way = Way { name: "moderate", dram: 0.55, ..TIGHT };
const LOOSE: Way = Way { name: "loose", dram: 1.0, ..TIGHT };

/// Ways that take turns, and their segments. The first of a group is what the others are compared with.
const GROUPS: [(u64, &[Way]); 4] = [
    (64, &[DICTIONARY, UNMERGED, CHAIN, PROBING]),
    (1, &[DICTIONARY, CHAIN, PROBING]),
    (512, &[DICTIONARY, CHAIN, PROBING]),
    // Small segments, since DRAM has to have room for some that are on their way.
    (256, &[LOOSE, MODERATE, TIGHT]),
];

/// The paper's table 1 (µs, 1 M Wikipedia lines of 1 KB, a C engine on Optane): P99 of L, M, H, LL, MM, HH in crash mode.
const PAPER: [(&str, [u32; 6]); 3] = [
    ("tight", [105, 247, 2197, 210, 719, 11832]),
    ("moderate", [71, 167, 1471, 143, 604, 10476]),
    ("loose", [41, 108, 1109, 87, 509, 9580]),
];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    let corpus = match bench.scale {
        Scale::Small => corpus.first(SMALL.min(corpus.len())),
        Scale::Full => corpus.first(corpus.len()),
    };
    bench.begin("caps", &corpus, &[]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    for (wanted, ways) in GROUPS {
        let group = measured(bench, &corpus, wanted, ways, &workloads)?;
        print(bench, &corpus, wanted, &workloads, &group)?;
        print_ratios(&workloads, &group);
        verdicts(wanted, &workloads, &group);
    }
    for (cap, p99) in PAPER {
        let p99: Vec<_> = p99.iter().map(u32::to_string).collect();
        println!("  paper, P99 µs, {cap}: {}", p99.join(" "));
    }
    window::run(bench)
}

/// The ways of a group, and what their queries took in all rounds.
fn measured(
    bench: &Bench,
    corpus: &Corpus,
    wanted: u64,
    ways: &[Way],
    workloads: &[Workload],
) -> Fallible<Vec<Capped>> {
    let whole_bytes = whole_bytes(corpus, wanted)?;
    println!("{} MiB of DRAM hold all of the index", whole_bytes >> 20);
    let mut rounds = vec![engine::no_rounds(workloads); ways.len()];
    let mut group = Vec::new();
    for _ in 0..bench.rounds {
        // They take gigabytes, and go before the next are made.
        drop(group);
        group = built(corpus, wanted, whole_bytes, ways)?;
        same_answers(&group, workloads)?;
        for (capped, rounds) in group.iter().zip(&mut rounds) {
            let mut counter = Counter::new(&capped.kept, capped.tables.as_ref())?;
            engine::measure(workloads, 1, rounds, |query| counter.count(query) as usize);
        }
    }
    group.iter_mut().zip(rounds).for_each(|(capped, rounds)| capped.rounds = rounds);
    Ok(group)
}

/// The ways of a group, ready to be asked.
fn built(corpus: &Corpus, segments: u64, whole_bytes: u64, ways: &[Way]) -> Fallible<Vec<Capped>> {
    let mut group: Vec<Capped> = Vec::new();
    for way in ways {
        let kept = match group.last().filter(|_| way.probes) {
            Some(before) => before.kept.clone(),
            None => Rc::new(kept(corpus, segments, whole_bytes, *way)?),
        };
        group.push(Capped::new(*way, kept)?);
    }
    Ok(group)
}

/// The least DRAM that holds all of the index. The dictionary has a share of it, and the one over many segments decides.
fn whole_bytes(corpus: &Corpus, segments: u64) -> Fallible<u64> {
    let options = engine::options(corpus)
        .prefault(false)
        .segment_bytes(engine::segment_bytes(corpus, segments))
        .dram_bytes(heap_bytes(corpus, segments));
    let stats = filled(options, corpus, segments)?.stats()?;
    let mut partitions = stats.partitions.iter();
    let dictionary = partitions.find(|partition| partition.name == "dictionary");
    let (used, room) = dictionary.map_or((0, 1), |partition| (partition.used, partition.bytes));
    let share = (used as f64 / room as f64 - TABLE) / (DICTIONARY_FULL - TABLE);
    let for_dictionary = (stats.dram_bytes as f64 * share) as u64;
    Ok(for_dictionary.max(stats.bytes.index() + stats.bytes.keys))
}

/// DRAM in which all of it has room, whatever it takes.
fn heap_bytes(corpus: &Corpus, segments: u64) -> u64 {
    engine::heap_bytes(corpus) + engine::segment_bytes(corpus, segments) * engine::HEAP_SEGMENTS_MIN
}

/// An index of the corpus in as many segments of equally many documents.
fn filled(options: Builder, corpus: &Corpus, segments: u64) -> Fallible<Index> {
    let index = options.open()?;
    let mut documents = corpus.iter().map(|text| (None, text)).peekable();
    while documents.peek().is_some() {
        index.add_all(documents.by_ref().take(corpus.len().div_ceil(segments as usize)))?;
        index.flush()?;
    }
    Ok(index)
}

fn kept(corpus: &Corpus, segments: u64, whole_bytes: u64, way: Way) -> Fallible<Kept> {
    let segment_bytes = engine::segment_bytes(corpus, segments);
    let scratch = Scratch::new()?;
    let heap_bytes = heap_bytes(corpus, segments);
    let dram_bytes = match way.dram == ROOMY {
        true => heap_bytes,
        // Stages need room for segments in flight, whatever the cap.
        false => ((whole_bytes as f64 * way.dram) as u64)
            .max(segment_bytes * (engine::HEAP_SEGMENTS_MIN + 2)),
    };
    let options: Builder = engine::options(corpus)
        .prefault(false)
        .segment_bytes(segment_bytes)
        .dram_bytes(dram_bytes)
        .directory(scratch.path())
        .nvm_bytes(heap_bytes)
        .log_bytes((corpus.text_bytes() * LOG_PER_TEXT).max(LOG_BYTES_MIN))
        .engrave(way.engrave)
        .pointer_update(way.pointer_update)
        .dictionary(way.dictionary);
    let index = filled(options, corpus, segments)?;
    Ok(Kept { index, dram_bytes, _scratch: scratch })
}

impl Capped {
    fn new(way: Way, kept: Rc<Kept>) -> Fallible<Capped> {
        let memory = kept.index.memories().next().filter(|_| way.probes);
        let tables = memory.map(SegmentTables::of).transpose()?;
        let stats = kept.index.stats()?;
        let segments = &stats.segments;
        Ok(Capped {
            way: way.name,
            name: format!("{} ({} MiB)", way.name, kept.dram_bytes >> 20),
            tables,
            segments: segments.len() - 1,
            merged: stats.merged.0,
            covered: segments.iter().filter(|segment| segment.in_dictionary).count(),
            rounds: Vec::new(),
            kept,
        })
    }

    fn p50(&self, workload: usize) -> f64 {
        self.rounds[workload].median().p50()
    }
}

impl<'a> Counter<'a> {
    fn new(kept: &'a Kept, tables: Option<&'a SegmentTables>) -> Fallible<Counter<'a>> {
        Ok(Counter { reader: kept.index.reader()?, tables })
    }

    fn count(&mut self, query: &Query) -> u64 {
        match self.tables {
            None => engine::count(&mut self.reader, query) as u64,
            Some(tables) => self.reader.count_finding(query, tables),
        }
    }
}

fn same_answers(all: &[Capped], workloads: &[Workload]) -> Fallible<()> {
    let queries = || workloads.iter().flat_map(|workload| &workload.queries);
    let counts = |capped: &Capped| -> Fallible<Vec<u64>> {
        let mut counter = Counter::new(&capped.kept, capped.tables.as_ref())?;
        Ok(queries().map(|query| counter.count(query)).collect())
    };
    let first = counts(&all[0])?;
    for capped in &all[1..] {
        if counts(capped)? != first {
            return Err(format!("`{}` and `{}` count otherwise", all[0].name, capped.name).into());
        }
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    wanted: u64,
    workloads: &[Workload],
    all: &[Capped],
) -> Fallible<()> {
    let title = format!(
        "{}, {wanted} segments wanted: counts, µs P50 (P99), and queries a second of all",
        corpus.name
    );
    let head = ["index", "segments", "merged", "in DRAM dictionary"];
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<_> = head.into_iter().chain(names).chain(["QPS"]).collect();
    let mut table = Table::new(title, &head);
    for capped in all {
        let Capped { segments, merged, covered, .. } = capped;
        let counts = [segments.to_string(), merged.to_string(), covered.to_string()];
        let mut cells = vec![capped.name.clone()];
        cells.extend(counts);
        let mut mean_us = 0.0;
        for (workload, rounds) in workloads.iter().zip(&capped.rounds) {
            let config = [
                ("way", json!(capped.way)),
                ("wanted", json!(wanted)),
                ("workload", json!(workload.name)),
                ("segments", json!(capped.segments)),
            ];
            bench.report.rounds("spirit", &config, rounds)?;
            let median = rounds.median();
            cells.push(format!("{} ({})", number(median.p50()), number(median.p99())));
            mean_us += median.values[3];
        }
        // One over the mean of the workloads' means is their harmonic mean.
        cells.push(number(1e6 * workloads.len() as f64 / mean_us));
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// Every way's P50 against the first's.
fn print_ratios(workloads: &[Workload], group: &[Capped]) {
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<_> = ["index"].into_iter().chain(names).collect();
    let mut table = Table::new(format!("P50 against `{}`", group[0].way), &head);
    for capped in &group[1..] {
        let ratio = |number| format!("{:.2}×", capped.p50(number) / group[0].p50(number));
        let ratios = (0..workloads.len()).map(ratio);
        table.line([capped.way.to_owned()].into_iter().chain(ratios));
    }
    table.print();
}

fn verdicts(wanted: u64, workloads: &[Workload], group: &[Capped]) {
    let Some(unmerged) = group.iter().find(|capped| capped.way == UNMERGED.name) else { return };
    for (number, workload) in workloads.iter().enumerate() {
        let measured = Ok(unmerged.p50(number) / group[0].p50(number));
        let what = format!("{} with {wanted} segments, none merged", workload.name);
        bar(&what, Bound::AtMost(1.2), "×", "all merged", &measured);
    }
}
