//! `formats`: packed lists against raw ones, in memory and in a mapped file: the fourth paper's table 1, figures 4, 5, 7, 8 and
//! 11 and 12, and table 2.
//!
//! Measured: one thread and two, each on a core and with a reader of its own, ask the queries of a set, which they divide among them,
//! each query alone, from the prebuilt query to the ten best. Where a mean is compared with the paper's, every match is scored, as there; beside
//! it stands what the bounds of blocks save, which the paper turned off. A round asks each query once; before the rounds one is
//! asked unmeasured. Latencies of both threads are one distribution; throughput is queries over the time of the thread that took longest. The
//! systems take turns within a round, and all must answer the same to the last bit.
//!
//! | ours | lists | kept in | the paper's |
//! |---|---|---|---|
//! | `packed DRAM` | packed | a file in memory | LPF-DRAM: compressed, off the heap |
//! | `packed NVM` | packed | a file on the disk, mapped | LPF-NVM |
//! | `raw DRAM` | raw | a file in memory | DPF-DRAM: uncompressed, on the heap |
//! | `raw NVM` | raw | a file on the disk, mapped | DPF-NVM, and DPF-HYB: what a query needs is in DRAM in any case |
//! | `raw heap` | raw | where a flush puts them, never engraved | - |
//!
//! Queries: single terms and ANDs of two terms, of luceneutil's tasks where the shared data is there, which are about what articles
//! are about; else drawn from the corpus by document frequency. Corpus: articles; an eighth, a quarter, a half and all of it for
//! figure 12. At the end, intersections by forced algorithm on either form, counted, so that they are all that is measured; and Lucene,
//! one thread, every match scored, with its collector's share of the time.
//!
//! Caveats: a mapped file is read from the page cache, which is DRAM: without persistent memory the two tiers differ in their pages
//! alone, and the paper's gap between media cannot show. The paper's machine had 48 cores a socket and its figures are of 48 threads; its engine
//! is Lucene in Java, whose raw form is objects on a heap. So ratios within a run are what can be compared.

mod algorithms;
mod asking;
mod counters;
mod figures;
mod lucene;
mod set;
mod system;

use serde_json::json;

use crate::Fallible;
use crate::bench::Bench;
use asking::{Pass, Way, ask};
use counters::Counters;
use figures::{Figures, Of};
use set::Set;
use system::System;

/// What part of the corpus each size of index is.
const PARTS: [usize; 4] = [8, 4, 2, 1];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    bench.begin("formats", &corpus, &[]);
    let sets = Set::both(bench, &corpus)?;
    for set in &sets {
        println!("{}: {} queries", set.name, set.queries.len());
    }
    let mut figures = Figures::default();
    for part in PARTS {
        let part_corpus = corpus.first(corpus.len() / part);
        let systems = System::all(&part_corpus)?;
        same_answers(&systems, &sets)?;
        measure(bench, part == 1, &systems, &sets, &mut figures)?;
        if part == 1 {
            figures.print(bench, &corpus, &systems)?;
            algorithms::print(bench, &systems, &sets[1])?;
            counted(bench, &systems, &sets)?;
            lucene::print(bench, &corpus, &sets, &figures)?;
        }
    }
    Ok(())
}

/// Threads that ask at once.
fn threads(bench: &Bench) -> Vec<usize> {
    if bench.cores.are_two() { vec![1, 2] } else { vec![1] }
}

/// All rounds on indexes of one size. Of the smaller ones only what figure 12 shows.
fn measure(
    bench: &Bench,
    whole: bool,
    systems: &[System],
    sets: &[Set],
    figures: &mut Figures,
) -> Fallible<()> {
    let threads = threads(bench);
    let threads = if whole { &threads[..] } else { &threads[threads.len() - 1..] };
    let ways = if whole { &Way::ALL[..] } else { &[Way::Exhaustive] };
    for set in sets {
        for (way, threads) in ways.iter().flat_map(|way| threads.iter().map(move |n| (*way, *n))) {
            for round in 0..=bench.rounds {
                for system in systems {
                    let pass = ask(&system.index, &set.queries, way, threads, bench.cores)?;
                    if round > 0 {
                        let (documents, kind) = (system.documents, system.kind.name);
                        let of = Of { documents, kind, set: set.name, way, threads };
                        figures.push(of, pass);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Holds every system, and early termination, to what the first answers where it scores every match.
fn same_answers(systems: &[System], sets: &[Set]) -> Fallible<()> {
    let mut first = systems[0].index.reader()?;
    for system in systems {
        let mut reader = system.index.reader()?;
        for set in sets {
            for (query, text) in set.queries.iter().zip(&set.texts) {
                let expected = asking::found(&mut first, query, Way::Exhaustive)?;
                for way in Way::ALL {
                    if asking::found(&mut reader, query, way)? != expected {
                        let (way, name) = (way.name(), system.kind.name);
                        return Err(format!("results differ at `{text}`: {name}, {way}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// What the processor counts while one thread asks, where it counts.
fn counted(bench: &mut Bench, systems: &[System], sets: &[Set]) -> Fallible<()> {
    for system in systems {
        for set in sets {
            let counters = match Counters::start() {
                Ok(counters) => counters,
                Err(reason) => {
                    println!("\nno hardware counters (figures 9, 10 and 13): {reason}");
                    return Ok(());
                }
            };
            let Pass { .. } = ask(&system.index, &set.queries, Way::Exhaustive, 1, bench.cores)?;
            let config = [("index", json!(system.kind.name)), ("queries", json!(set.name))];
            for (event, count) in counters.stop()? {
                bench.report.row("spirit", &config, &event, "events", &[count])?;
                let each = count / set.queries.len() as f64;
                println!("  {}, {}: {event}: {each:.0} a query", system.kind.name, set.name);
            }
        }
    }
    Ok(())
}
