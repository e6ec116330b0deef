//! `stages`: how long each stage of the pipeline is busy: the first paper's figures 6a, 6b and 7a.
//!
//! Measured: documents in memory are added in order to an empty index, until all are engraved and merged, as a shutdown would have it.
//! The stages say themselves for how long they were busy; what ingest waited for room is apart. Rounds take turns.
//!
//! * By heap (6a): the long-term DRAM holds all of the index (loose, L), 55 % of it (moderate, M) or 15 % (tight, T); the second tier's
//!   short-term partition holds the terms of all segments (L), or of two (T). Each with one thread behind the ingest role, and with
//!   two, so that flushing overlaps with engraving and merging.
//! * Beside queries (6b): alone, and while another thread counts single rare terms (L) or pairs of frequent ones (HH), in heaps that are loose.
//! * By segment size (7a): as many segments as the paper's of 64, 128 and 256 MB.
//!
//! Corpus: articles; queries drawn by document frequency with the seed. The paper has 1 M documents of about the same length, and 16
//! executors in figure 6; here it is one.
//!
//! Caveats: the second tier lies below `/dev/shm`, so engraving and merging cost what they cost in DRAM. Mode graceful without a log. Two cores:
//! ingest has one, and what is behind it the other, so a third thread has none of its own. A heap cannot be smaller than the
//! segments on their way.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use serde_json::json;
use spirit::lab::Parts;
use spirit::{Builder, Index, Mode};

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::args::Scale;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;
use crate::workloads::{self, Workload};

/// Documents of a run that shows that all works.
const SMALL: usize = 20_000;
/// What stages are called in the statistics.
const STAGES: [&str; 5] = ["ingest", "ingest waiting", "flush", "engrave", "merge"];

/// How memory is divided, and who works.
#[derive(Clone, Copy)]
struct Heap {
    name: &'static str,
    /// Long-term DRAM, as a share of what holds all of the index.
    long: f64,
    /// True if the second tier's short-term partition holds the terms of two segments only.
    has_tight_terms: bool,
}

const fn heap(name: &'static str, long: f64, has_tight_terms: bool) -> Heap {
    Heap { name, long, has_tight_terms }
}

/// The paper's, the first of which is loose.
const HEAPS: [Heap; 6] = [
    heap("LDL", 1.0, false),
    heap("LDT", 1.0, true),
    heap("MDL", 0.55, false),
    heap("MDT", 0.55, true),
    heap("TDL", 0.15, false),
    heap("TDT", 0.15, true),
];

/// A way of filling an index.
struct Way<'a> {
    name: String,
    heap: Heap,
    sizes: Sizes,
    stage_threads: usize,
    /// What another thread asks meanwhile.
    beside: Option<&'a Workload>,
    /// What the paper says of it.
    paper: &'static str,
}

/// Seconds of each round.
#[derive(Clone, Default)]
struct Taken {
    whole: Vec<f64>,
    busy: [Vec<f64>; STAGES.len()],
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    let corpus = match bench.scale {
        Scale::Small => corpus.first(SMALL.min(corpus.len())),
        Scale::Full => corpus.first(corpus.len()),
    };
    bench.begin("stages", &corpus, &[]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let sizes = Sizes::of(&corpus, all_matches::SEGMENTS)?;
    let by_heap =
        HEAPS.iter().flat_map(|heap| [1, 2].map(|threads| of_heap(*heap, sizes, threads)));
    let by_heap: Vec<_> = by_heap.collect();
    figure(bench, &corpus, ("6a", "heap"), &by_heap)?;
    figure(bench, &corpus, ("6b", "queries beside"), &beside(sizes, &workloads))?;
    figure(bench, &corpus, ("7a", "segments"), &by_segments(&corpus)?)
}

fn of_heap(heap: Heap, sizes: Sizes, stage_threads: usize) -> Way<'static> {
    let paper = match (heap.name, stage_threads) {
        ("LDT", 1) => "engrave 5×",
        ("TDL" | "TDT", 1) => "whole 0.82×, merge 1.82×",
        _ => "",
    };
    let name = format!("{}, {stage_threads} T", heap.name);
    Way { name, heap, sizes, stage_threads, beside: None, paper }
}

fn beside(sizes: Sizes, workloads: &[Workload]) -> Vec<Way<'_>> {
    let named = |name: &str| workloads.iter().find(|workload| workload.name == name);
    let way = |name: &str, beside, paper| Way {
        name: name.to_owned(),
        heap: HEAPS[0],
        sizes,
        stage_threads: 1,
        beside,
        paper,
    };
    let asked = ["L", "HH"].into_iter().filter_map(|name| Some((name, named(name)?)));
    let asked = asked.map(|(name, workload)| way(name, Some(workload), "whole 1.35×"));
    std::iter::once(way("alone", None, "")).chain(asked).collect()
}

fn by_segments(corpus: &Corpus) -> Fallible<Vec<Way<'static>>> {
    let papers = ["", "whole 0.96×", "whole 0.95×, flush 0.81×, merge 0.75×, ingest 0.98×"];
    let way = |(segments, paper): (u64, &'static str)| {
        let sizes = Sizes::of(corpus, segments)?;
        let (name, heap) = (sizes.segments.to_string(), HEAPS[0]);
        Ok(Way { name, heap, sizes, stage_threads: 1, beside: None, paper })
    };
    [193, 80, 34].into_iter().zip(papers).map(way).collect()
}

/// Measures all ways in turn and prints them.
fn figure(
    bench: &mut Bench,
    corpus: &Corpus,
    (number, what): (&str, &str),
    ways: &[Way<'_>],
) -> Fallible<()> {
    let mut taken = vec![Taken::default(); ways.len()];
    for round in 0..bench.rounds {
        for at in (0..ways.len()).map(|at| (round + at) % ways.len()) {
            fill(bench, corpus, &ways[at], &mut taken[at])?;
        }
    }
    print(bench, corpus, (number, what), ways, &taken)
}

/// Fills an index, and adds what it took.
fn fill(bench: &Bench, corpus: &Corpus, way: &Way<'_>, taken: &mut Taken) -> Fallible<()> {
    let scratch = Scratch::new()?;
    let index = bench.slowed(options(way, &scratch)).open()?;
    let is_filled = AtomicBool::new(false);
    let seconds = thread::scope(|scope| {
        if let Some(workload) = way.beside {
            scope.spawn(|| ask(&index, workload, &is_filled));
        }
        let start = Instant::now();
        let added = index.add_all(corpus.iter().map(|text| (None, text)));
        let merged = added.and_then(|_| index.prepare_close());
        is_filled.store(true, Relaxed);
        merged.map(|()| start.elapsed().as_secs_f64())
    })?;
    let stats = index.stats()?;
    if stats.documents != corpus.len() as u64 {
        return Err(format!("{}: {} documents are left", way.name, stats.documents).into());
    }
    taken.whole.push(seconds);
    for (stage, all) in STAGES.iter().zip(&mut taken.busy) {
        let busy = stats.busy.iter().find(|(name, _)| name == stage);
        all.push(busy.map_or(0.0, |(_, seconds)| *seconds));
    }
    Ok(())
}

/// Counts the matches of one query after the other, until the index is filled.
fn ask(index: &Index, workload: &Workload, is_filled: &AtomicBool) {
    let Ok(mut reader) = index.reader() else { return };
    for query in workload.queries.iter().cycle() {
        if is_filled.load(Relaxed) {
            return;
        }
        engine::count(&mut reader, query);
    }
}

fn options(way: &Way<'_>, scratch: &Scratch) -> Builder {
    let short =
        way.sizes.segment_bytes * if way.heap.has_tight_terms { 2 } else { way.sizes.segments };
    way.sizes
        .options(way.heap.long)
        .directory(scratch.path())
        .mode(Mode::Graceful)
        .nvm_bytes(way.sizes.whole_bytes * 6 + short + (256 << 20))
        .nvm_parts(Parts { short, ..Parts::default() })
        .stage_threads(way.stage_threads)
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    (figure, what): (&str, &str),
    ways: &[Way<'_>],
    taken: &[Taken],
) -> Fallible<()> {
    let title = format!("paper's figure {figure}: {}, s, and against the first", corpus.name);
    let head: Vec<&str> =
        [what, "whole"].into_iter().chain(STAGES).chain(["paper, against the first"]).collect();
    let mut table = Table::new(title, &head);
    for (way, taken) in ways.iter().zip(taken) {
        let config = [("figure", json!(figure)), ("way", json!(way.name))];
        bench.report.row("spirit", &config, "whole", "s", &taken.whole)?;
        let mut cells = vec![way.name.clone(), number(median(&taken.whole))];
        for (stage, busy) in STAGES.iter().zip(&taken.busy) {
            bench.report.row("spirit", &config, stage, "s", busy)?;
            cells.push(number(median(busy)));
        }
        cells.push(way.paper.to_owned());
        table.line(cells);
    }
    table.print();
    print_ratios(what, ways, taken);
    draw(bench, figure, ways, taken)
}

/// Everything against the first way.
fn print_ratios(what: &str, ways: &[Way<'_>], taken: &[Taken]) {
    let head: Vec<&str> = [what, "whole"].into_iter().chain(STAGES).collect();
    let mut table = Table::new("  of the first", &head);
    let ratio = |own: &[f64], first: &[f64]| match median(first) {
        0.0 => "-".to_owned(),
        first => format!("{:.2}×", median(own) / first),
    };
    for (way, own) in ways.iter().zip(taken).skip(1) {
        let busy = own.busy.iter().zip(&taken[0].busy).map(|(own, first)| ratio(own, first));
        let whole = ratio(&own.whole, &taken[0].whole);
        table.line([way.name.clone(), whole].into_iter().chain(busy));
    }
    table.print();
}

/// The share of the whole time for which each stage was busy.
fn draw(bench: &Bench, figure: &str, ways: &[Way<'_>], taken: &[Taken]) -> Fallible<()> {
    let groups: Vec<String> = ways.iter().map(|way| way.name.clone()).collect();
    let first = median(&taken[0].whole);
    let whole = Series::bars("whole", taken.iter().map(|taken| median(&taken.whole) / first));
    let busy = STAGES.iter().enumerate().map(|(at, stage)| {
        Series::bars(*stage, taken.iter().map(|taken| median(&taken.busy[at]) / first))
    });
    let series: Vec<_> = std::iter::once(whole).chain(busy).collect();
    let title = format!("time of each stage, figure {figure}");
    let figure = Figure { name: figure, title: &title, x: "", y: "of the first's whole time" };
    bench.charts.bars(figure, &groups, &series)
}
