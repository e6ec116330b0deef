//! Barriers one by one: without it, some image is wrong.

use std::collections::BTreeSet;

use spirit_door::Site;
use spirit_door::sim::Quota;
use spirit_door::trace::Action;

use crate::explorer::{Effort, explore};
use crate::run::Run;
use crate::scenario;
use crate::workers;

/// Barriers without which no image is wrong, and why they stay.
const NOT_NEEDED: [(Site, &str); 1] = [(
    Site::EnterFence,
    "A head that is durable before its bucket is in a record that nothing leads to: merging makes another. The mark, which \
     relies on both, comes behind the fence of the heads.",
)];

/// Runs that are looked at without each barrier.
const RUNS: usize = 16;

#[test]
fn every_barrier_is_needed() {
    let runs = workers::each(RUNS, |seed| {
        let (setup, history) = scenario::numbered(seed as u64);
        Run::new(setup, &history)
    });
    let barriers: Vec<Site> = passed(&runs).into_iter().collect();
    let effort = Effort {
        quota: Quota { orders: 8, others: 8 },
        images: [0, 16, 16],
        continued: 0,
        nested: 0,
    };
    let found = workers::each(barriers.len(), |number| without(&runs, barriers[number], effort));
    let mut green = Vec::new();
    for (site, found) in barriers.iter().zip(&found) {
        match found {
            Some((images, why)) => println!("{}: image {images}, {why}", site.name()),
            None => green.push(*site),
        }
    }
    for (site, why) in NOT_NEEDED {
        println!("{}: no image is wrong. {why}", site.name());
    }
    assert_eq!(green, NOT_NEEDED.map(|(site, _)| site), "barriers without which no image is wrong");
}

/// The write-backs and fences that the runs pass.
fn passed(runs: &[Run]) -> BTreeSet<Site> {
    let events = runs.iter().flat_map(|run| &run.events);
    let orders = |action: &Action| matches!(action, Action::WriteBack { .. } | Action::Fence);
    events.filter(|event| orders(&event.action)).filter_map(|event| event.site).collect()
}

/// The first image that is wrong without `site`: how many were looked at, and what is wrong.
fn without(runs: &[Run], site: Site, effort: Effort) -> Option<(u64, String)> {
    let mut images = 0;
    for (seed, run) in runs.iter().enumerate() {
        let (tally, explored) = explore(run, effort, seed as u64, Some(site));
        images += tally.all_images();
        if let Err(failure) = explored {
            let first_line = failure.why.lines().next().unwrap_or_default();
            return Some((images, format!("run {seed}: {:.160}", first_line)));
        }
    }
    None
}
