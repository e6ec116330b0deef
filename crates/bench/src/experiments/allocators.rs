//! `allocators`: the allocators of a cache's heap, beside each other.
//!
//! Measured: the heap is filled with blocks of the sizes that cached results have; then blocks leave and others come, as
//! the entries of a full cache do. Nanoseconds of an allocation and of a free (P50, P99, the longest), and the share of the
//! heap that is free but not in one piece, over time. Heaps of three sizes, as in the thesis' figures 5.3 and 5.4, whose
//! figures are queries a second of a whole search engine.
//!
//! Caveats: the clock is within each time, and takes as long as a short allocation.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use serde_json::json;
use spirit_cache::allocator::first_fit::FirstFit;
use spirit_cache::allocator::tlsf::Tlsf;
use spirit_cache::allocator::{Allocator, Block};
use spirit_door::sim::Random;

use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::cores::On;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Summary};

/// Words of the heaps: 2, 8 and 32 MiB.
const HEAPS: [usize; 3] = [1 << 18, 1 << 20, 1 << 22];
/// Blocks that leave and come, for each block of the full heap.
const TURNS: usize = 4;
/// At most this many turns: in a large heap, first fit takes long.
const TURNS_MAX: usize = 20_000;

/// What a run found.
struct Found {
    allocate: Summary,
    free: Summary,
    longest_us: f64,
    /// Percent of the free words that are not in the largest free block, at the end.
    scattered: f64,
    /// Percent of the heap that is neither in a block in use nor free.
    overhead: f64,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("allocators", &corpus, &[]);
    let _pinned = bench.cores.pin(On::Second);
    let head = [
        "heap, MiB",
        "allocator",
        "allocate P50, ns",
        "P99",
        "longest, µs",
        "free P50, ns",
        "P99",
        "scattered, %",
        "overhead, %",
    ];
    let mut table = Table::new("blocks of 4 to 1,200 words", &head);
    let (mut ratios, mut columns) = (Vec::new(), Vec::new());
    for words in HEAPS {
        let first: Box<dyn Allocator> = Box::new(FirstFit::new(words as u64));
        let tlsf: Box<dyn Allocator> = Box::new(Tlsf::new(words as u64));
        let mut p99 = Vec::new();
        for (name, allocator) in [("first-fit", first), ("tlsf", tlsf)] {
            let found = turns(allocator, words, bench.seed);
            let key = [("heap_bytes", json!(words * 8))];
            bench.report.row(name, &key, "allocate_p99_us", "us", &[found.allocate.p99()])?;
            bench.report.row(name, &key, "free_p99_us", "us", &[found.free.p99()])?;
            bench.report.row(name, &key, "scattered", "%", &[found.scattered])?;
            let times = [
                found.allocate.p50() * 1e3,
                found.allocate.p99() * 1e3,
                found.longest_us,
                found.free.p50() * 1e3,
                found.free.p99() * 1e3,
            ];
            let numbers = times.into_iter().chain([found.scattered, found.overhead]).map(number);
            table.line([(words >> 17).to_string(), name.to_owned()].into_iter().chain(numbers));
            p99.push(found.allocate.p99());
            columns.push([found.allocate.p50() * 1e3, found.allocate.p99() * 1e3]);
        }
        ratios.push((words >> 17, p99[0] / p99[1]));
    }
    table.print();
    draw(bench, &columns)?;
    for (mib, ratio) in ratios {
        bar(
            &format!("TLSF's P99 in a heap of {mib} MiB"),
            Bound::AtLeast(1.0),
            "× faster",
            "first fit",
            &Ok(ratio),
        );
    }
    Ok(())
}

/// Draws allocations: a group for each heap, with first fit and TLSF in turn.
fn draw(bench: &Bench, columns: &[[f64; 2]]) -> Fallible<()> {
    let groups = HEAPS.map(|words| format!("{} MiB", words >> 17));
    for (at, name) in ["p50", "p99"].into_iter().enumerate() {
        let of = |start| columns.iter().skip(start).step_by(2).map(move |column| column[at]);
        let series = [Series::bars("first fit", of(0)), Series::bars("TLSF", of(1))];
        let title = format!("An allocation, {name}");
        let figure = Figure { name, title: &title, x: "heap", y: "ns" };
        bench.charts.bars(figure, &groups, &series)?;
    }
    Ok(())
}

/// Fills a heap, and lets blocks leave and come.
fn turns(mut allocator: Box<dyn Allocator>, words: usize, seed: u64) -> Found {
    let heap: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    let mut random = Random::named(seed, "blocks");
    let mut blocks: Vec<Block> = Vec::new();
    while let Some(block) = allocator.allocate(&heap, size(&mut random)) {
        blocks.push(block);
    }
    let turns = (blocks.len() * TURNS).min(TURNS_MAX);
    let (mut allocate, mut free) =
        (Latencies::with_capacity(turns), Latencies::with_capacity(turns));
    let mut longest = 0;
    for _ in 0..turns {
        let wanted = size(&mut random);
        // As a cache does: others leave until there is room.
        while let Some(block) = leave(&mut blocks, &mut random) {
            let start = Instant::now();
            allocator.free(&heap, block);
            free.push(start.elapsed());
            let start = Instant::now();
            let made = black_box(allocator.allocate(&heap, wanted));
            let took = start.elapsed();
            if let Some(block) = made {
                allocate.push(took);
                longest = longest.max(took.as_nanos());
                blocks.push(block);
                break;
            }
        }
    }
    let usage = allocator.usage(&heap);
    Found {
        allocate: allocate.summary(),
        free: free.summary(),
        longest_us: longest as f64 / 1e3,
        scattered: (usage.free - usage.largest.min(usage.free)) as f64 * 100.0
            / usage.free.max(1) as f64,
        overhead: (words as u64 - usage.free - usage.used) as f64 * 100.0 / words as f64,
    }
}

/// Takes any block out.
fn leave(blocks: &mut Vec<Block>, random: &mut Random) -> Option<Block> {
    (!blocks.is_empty()).then(|| blocks.swap_remove(random.index(blocks.len())))
}

/// The words of a cached answer: mostly counts and short lists, now and then a long one.
fn size(random: &mut Random) -> u32 {
    match random.index(10) {
        0..6 => 4 + random.index(60) as u32,
        6..9 => 64 + random.index(200) as u32,
        _ => 300 + random.index(900) as u32,
    }
}
