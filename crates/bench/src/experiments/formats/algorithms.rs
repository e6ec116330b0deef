//! Intersections by each of the papers' algorithms, on either form of lists: counted, so that they are all that is measured.

use serde_json::json;
use spirit::lab::Algorithm;

use super::figures::{PACKED_DRAM, RAW_DRAM};
use super::set::Set;
use super::system::System;
use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::experiments::intersect::ALGORITHMS;
use crate::report::{Table, number};
use crate::timing::{Latencies, Rounds};

/// Both forms in DRAM, each algorithm in turn.
pub(super) fn print(bench: &mut Bench, systems: &[System], set: &Set) -> Fallible<()> {
    let names = ALGORITHMS.iter().map(|(name, _)| *name);
    let head: Vec<&str> = ["index"].into_iter().chain(names).collect();
    let title = format!("intersections, {} counted: µs P50 (mean) by algorithm", set.name);
    let mut table = Table::new(title, &head);
    let _pinned = bench.cores.pin(On::Second);
    for system in [&systems[PACKED_DRAM], &systems[RAW_DRAM]] {
        let mut all: Vec<Rounds> = ALGORITHMS.iter().map(|_| Rounds::default()).collect();
        for round in 0..=bench.rounds {
            let counts = take_turns(system, set, round > 0, &mut all)?;
            if let Some(at) = counts.iter().position(|count| *count != counts[0]) {
                let (name, index) = (ALGORITHMS[at].0, system.kind.name);
                return Err(format!("counts differ in {index}: {name}").into());
            }
        }
        let mut cells = vec![system.kind.name.to_owned()];
        for ((name, _), rounds) in ALGORITHMS.iter().zip(&all) {
            let config = [("index", json!(system.kind.name)), ("algorithm", json!(name))];
            bench.report.rounds("spirit", &config, rounds)?;
            let median = rounds.median();
            cells.push(format!("{} ({})", number(median.p50()), number(median.values[3])));
        }
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// A pass by each algorithm; says how many matches each counted in all.
fn take_turns(
    system: &System,
    set: &Set,
    is_measured: bool,
    all: &mut [Rounds],
) -> Fallible<Vec<u64>> {
    let mut reader = system.index.reader()?;
    let mut latencies = Latencies::with_capacity(set.queries.len());
    let mut counts = Vec::new();
    for ((_, algorithm), rounds) in ALGORITHMS.iter().zip(all) {
        let algorithm: Option<Algorithm> = *algorithm;
        let mut sum = 0;
        engine::pass(&set.queries, &mut latencies, &mut |query| {
            let count = reader.count_by(query, algorithm).unwrap_or(0);
            sum += count;
            count as usize
        });
        if is_measured {
            rounds.push(latencies.summary());
        }
        counts.push(sum);
    }
    Ok(counts)
}
