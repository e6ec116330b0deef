//! Power cuts of the real engine: what was acknowledged is there afterwards, whole and once, whatever arrived.
//!
//! A [run](run) does operations to an index with the smallest heaps that open, and keeps the [trace](spirit_door::trace) of
//! all that it stored. The [simulator](spirit_door::sim) makes of the trace the images that a cut may leave. Each is put
//! into a [file](heap), started by the engine itself, and [judged](judge) by a [model](model) that knows no index.
//!
//! | | |
//! |---|---|
//! | `SPIRIT_CUTS` | how many cuts at least |
//! | `SPIRIT_STATES` | of a short history's cut that leaves at most this many images all are looked at: 16; with 4096 ten minutes |
//! | `SPIRIT_IMAGES` | how many images of a short history's cut are looked at otherwise: 6 |
//! | `SPIRIT_RARE_RUNS` | how many runs are looked at without a barrier that few need: 1 |
//! | `SPIRIT_SIM_SEED` | this run alone |
//! | `SPIRIT_LOADS` | how many bulk loads are cut: 6 |

mod bulk;
mod explorer;
mod failure;
mod heap;
mod judge;
mod model;
mod operation;
mod patient;
mod retention;
mod run;
mod scenario;
mod setup;
mod site;
#[path = "../support/mod.rs"]
mod support;
mod tally;
mod workers;

use spirit_door::sim::Quota;

use explorer::{Effort, explore};
use run::Run;
use support::size_of_run;
use tally::Tally;

/// Images for each cut, in the mean.
const IMAGES_A_CUT: u64 = 15;
/// Failures that are printed in full.
const PRINTED: usize = 5;
/// Operations of a short history.
const SHORT: usize = 10;

/// Explores a run; tells what is wrong.
fn explored(run: &Run, effort: Effort, seed: u64) -> (Tally, Option<String>) {
    let (tally, explored) = explore(run, effort, seed, None);
    (tally, explored.err().map(|failure| failure.describe(run, seed)))
}

/// Adds up what was looked at; fails if something is wrong.
fn sum(results: impl IntoIterator<Item = (Tally, Option<String>)>) -> Tally {
    let mut sum = Tally::default();
    let mut failures = Vec::new();
    for (tally, failure) in results {
        sum.add(&tally);
        failures.extend(failure);
    }
    println!("{sum}");
    failures.iter().take(PRINTED).for_each(|failure| println!("{failure}\n"));
    assert!(failures.is_empty(), "{} runs have images that are wrong", failures.len());
    sum
}

#[test]
fn what_was_acknowledged_is_there_after_every_cut() {
    let effort = Effort {
        quota: Quota { orders: 4, others: 2 },
        images: [3, 9, 14],
        all: 0,
        continued: 32,
        nested: 4096,
        killed: 64,
    };
    let look = |seed: u64| {
        let (setup, history) = scenario::numbered(seed);
        // What was thought of is short, and worth going on from everywhere.
        let continued = if history.len() < SHORT { 1 } else { effort.continued };
        let effort = Effort { continued, ..effort };
        explored(&Run::new(setup, &history), effort, seed)
    };
    if let Ok(seed) = std::env::var("SPIRIT_SIM_SEED") {
        sum([look(seed.parse().expect("SPIRIT_SIM_SEED is a number"))]);
        return;
    }
    let cuts = size_of_run("SPIRIT_CUTS", 500);
    let is_frequent = |tally: &Tally| tally.features.iter().all(|count| *count >= cuts / 10);
    let is_enough = |explored: &[(usize, (Tally, Option<String>))]| {
        let mut seen = Tally::default();
        explored.iter().for_each(|(_, (tally, _))| seen.add(tally));
        // Only what chance finds has all features: those that were thought of have one or two each.
        let varied = explored.len() > scenario::THOUGHT_OF;
        let much = seen.cuts >= cuts && seen.all_images() >= IMAGES_A_CUT * cuts;
        // A feature that is too seldom is waited for, but not for ever.
        varied && much && (is_frequent(&seen) || seen.cuts > 20 * cuts)
    };
    let tally = sum(workers::until(is_enough, usize::MAX, |seed| look(seed as u64)));
    assert!(is_frequent(&tally), "each feature in a tenth of the cuts");
}

#[test]
fn every_short_history_is_safe_at_every_cut() {
    let (images, all) =
        (size_of_run("SPIRIT_IMAGES", 6), size_of_run("SPIRIT_STATES", 16) as usize);
    let images = [images, images / 2, images / 2].map(|images| images as usize);
    let effort = Effort { quota: Quota::ALL, images, all, continued: 64, nested: 0, killed: 16 };
    let histories = scenario::all(3);
    let look = |number: usize| {
        explored(&Run::new(scenario::plain(), &histories[number]), effort, number as u64)
    };
    let tally = sum(workers::each(histories.len(), look));
    assert_eq!(tally.runs, 4 + 16 + 64);
}
