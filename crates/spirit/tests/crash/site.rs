//! Barriers one by one: without it, some image is wrong.

use std::collections::BTreeSet;

use spirit_door::Site;
use spirit_door::sim::Quota;
use spirit_door::trace::Action;

use crate::explorer::{Effort, explore};
use crate::run::Run;
use crate::support::size_of_run;
use crate::{scenario, workers};

/// Barriers without which few images are wrong, so that not every run of this test sees one, and which those are.
const RARELY_SEEN: [(Site, &str); 4] = [
    (Site::UnlinkWriteBack, UNLINK),
    (Site::UnlinkFence, UNLINK),
    (Site::GrowFence, GROW),
    (Site::GrowCountFence, COUNT),
];
const COUNT: &str = "The count still says the old array, no other fence came since, and a chain of it was cut: what was behind is lost.";
const GROW: &str = "The count says that a larger array of buckets is in use, some of its buckets are not durable, and the dictionary \
     had records before: those are lost.";
const UNLINK: &str = "A record leaves the front of a chain, a merge writes a term of another bucket over it, and the word that \
     led to it is not durable: what was behind it in the chain is lost.";

/// One cut in this many is a kill, without the sync of the start behind it.
const KILLED: u64 = 4;

/// Runs that are looked at without each barrier.
const RUNS: usize = 16;
/// Of those, runs that are looked at if few images are wrong anyway.
const RUNS_OF_RARE: u64 = 1;

#[test]
fn every_barrier_is_needed() {
    let runs = workers::each(RUNS, |seed| {
        let (setup, history) = scenario::numbered(seed as u64);
        Run::new(setup, &history)
    });
    let of_runs: Vec<BTreeSet<Site>> = runs.iter().map(passed).collect();
    let barriers: BTreeSet<Site> = of_runs.iter().flatten().copied().collect();
    let barriers: Vec<Site> = barriers.into_iter().collect();
    let of_rare = size_of_run("SPIRIT_RARE_RUNS", RUNS_OF_RARE) as usize;
    let effort = Effort {
        quota: Quota { orders: 8, others: 8 },
        images: [0, 64, 16],
        all: 0,
        continued: 0,
        nested: 0,
        killed: 0,
    };
    let found = workers::each(barriers.len(), |number| {
        let site = barriers[number];
        // Only who starts after a kill needs it.
        let killed = if site == Site::OpenSync { KILLED } else { 0 };
        let effort = Effort { killed, ..effort };
        // One that does not pass it is what it was without it.
        let runs = runs.iter().zip(&of_runs).filter(|(_, passed)| passed.contains(&site));
        let is_rare = RARELY_SEEN.iter().any(|(rare, _)| *rare == site);
        let runs = runs.take(if is_rare { of_rare } else { RUNS });
        without(runs.map(|(run, _)| run), site, effort)
    });
    let mut green = Vec::new();
    for (site, found) in barriers.iter().zip(&found) {
        match found {
            Some((images, why)) => println!("{}: image {images}, {why}", site.name()),
            None => green.push(*site),
        }
    }
    for (site, why) in RARELY_SEEN.iter().filter(|(site, _)| green.contains(site)) {
        println!("{}: no image was wrong this time. {why}", site.name());
    }
    green.retain(|site| RARELY_SEEN.iter().all(|(rare, _)| rare != site));
    assert_eq!(green, [], "barriers without which no image is wrong");
}

/// The write-backs, fences and syncs that a run passes, and the sync of the start after it was killed.
fn passed(run: &Run) -> BTreeSet<Site> {
    let orders =
        |action: &Action| matches!(action, Action::WriteBack { .. } | Action::Fence | Action::Sync);
    let ordering = run.events.iter().filter(|event| orders(&event.action));
    ordering.filter_map(|event| event.site).chain([Site::OpenSync]).collect()
}

/// The first image that is wrong without `site`: how many were looked at, and what is wrong.
fn without<'r>(
    runs: impl Iterator<Item = &'r Run>,
    site: Site,
    effort: Effort,
) -> Option<(u64, String)> {
    let mut images = 0;
    for (seed, run) in runs.enumerate() {
        let (tally, explored) = explore(run, effort, seed as u64, Some(site));
        images += tally.all_images();
        if let Err(failure) = explored {
            let first_line = failure.why.lines().next().unwrap_or_default();
            return Some((images, format!("run {seed}: {:.160}", first_line)));
        }
    }
    None
}
