//! What the judge says of the correct protocol, and of each mistake in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use spirit_door::Site;
use spirit_door::sim::{Lint, Model, Quota, Simulator};
use spirit_door::trace::{Event, Trace};
use spirit_mem::Span;

use crate::judge::{Search, Verdict, judge};
use crate::run::{empty, memory, run};
use crate::toy::{Bug, END, NODES, Toy};

const OPERATIONS: u64 = 24;

fn search(model: Model) -> Search {
    Search { model, images: 256, quota: Quota::ALL, seed: 1, dropped: None }
}

fn lints(events: &[Event]) -> Vec<Lint> {
    let mut simulator = Simulator::new(empty(), events, None);
    simulator.advance_to(events.len());
    simulator.findings().iter().map(|finding| finding.lint).collect()
}

/// Runs with records and nodes of other lengths, taken together.
fn judge_correct_runs(model: Model) -> Verdict {
    let mut total = Verdict::default();
    for first in 0..11 {
        let verdict = judge(&run(first, OPERATIONS, None), search(model));
        assert_eq!(verdict.violations, 0, "{model:?}, operations from {first}");
        total.cuts += verdict.cuts;
        total.exhausted += verdict.exhausted;
        total.images += verdict.images;
    }
    total
}

#[test]
fn the_correct_protocol_survives_every_image() {
    let [k, x, t] = Model::ALL.map(judge_correct_runs);
    assert_eq!((k.exhausted, x.exhausted), (k.cuts, x.cuts));
    assert!(t.exhausted > t.cuts / 2 && t.exhausted < t.cuts, "both ways to explore: {t:?}");
    assert!(k.images > 4_000 && x.images > 20_000 && t.images > 100_000, "{k:?} {x:?} {t:?}");
}

#[test]
fn the_correct_protocol_breaks_no_rule() {
    assert_eq!(lints(&run(0, OPERATIONS, None)), []);
}

#[test]
fn a_store_past_the_door_shows() {
    let trace = Arc::new(Trace::default());
    let mut toy = Toy::new(trace.clone(), None);
    toy.append(0);
    toy.region.view(Span::<AtomicU64>::new(NODES, 1))[0].store(1, Relaxed);
    toy.push(1);
    toy.region.view(Span::<AtomicU64>::new(END - 8, 1))[0].store(1, Relaxed);
    let events = trace.take();
    let mut simulator = Simulator::new(empty(), &events, None);
    simulator.advance_to(events.len());
    let seen = simulator.volatile().words(0).iter().zip(memory(&toy));
    let wrong: Vec<usize> =
        seen.enumerate().filter(|(_, (a, b))| *a != b).map(|(at, _)| at).collect();
    // The first one was stored over, as it should be.
    assert_eq!(wrong, [END as usize / 8 - 1]);
}

#[test]
fn each_bug_is_found_in_both_models_of_power_cuts_and_by_no_kill() {
    let bugs = [
        Bug::RecordStays,
        Bug::AcknowledgedEarly,
        Bug::PublishedEarly,
        Bug::HeadStays,
        Bug::FencedElsewhere,
    ];
    for bug in bugs {
        let run = run(0, OPERATIONS, Some(bug));
        let found = Model::ALL.map(|model| judge(&run, search(model)).violations > 0);
        assert_eq!(found, [false, true, true], "{bug:?}");
    }
}

#[test]
fn each_write_back_and_each_fence_is_missed() {
    let run = run(0, OPERATIONS, None);
    let sites = [
        Site::LogWriteBack,
        Site::LogFence,
        Site::BodyWriteBack,
        Site::BodyFence,
        Site::MarkWriteBack,
        Site::MarkFence,
    ];
    for site in sites {
        let search = |model| Search { dropped: Some(site), ..search(model) };
        let found = Model::ALL.map(|model| judge(&run, search(model)).violations > 0);
        assert_eq!(found, [false, true, true], "{site:?}");
    }
}

#[test]
fn a_few_cuts_of_each_site_are_enough() {
    let run = run(0, OPERATIONS, Some(Bug::PublishedEarly));
    let few = Search { quota: Quota { orders: 3, others: 1 }, images: 64, ..search(Model::X) };
    let verdict = judge(&run, few);
    assert!(verdict.violations > 0 && verdict.cuts < 30 && verdict.images < 2_000, "{verdict:?}");
}

#[test]
fn some_bugs_are_found_without_an_image() {
    let broken = |bug| lints(&run(0, OPERATIONS, Some(bug)));
    let uncovered = |lint: &Lint| matches!(lint, Lint::Uncovered { .. });
    assert!(broken(Bug::PublishedEarly).iter().all(uncovered));
    assert_eq!(broken(Bug::PublishedEarly).len() as u64, OPERATIONS / 3);
    assert!(broken(Bug::RecordStays).contains(&Lint::IdleFence));
    assert!(broken(Bug::FencedElsewhere).contains(&Lint::IdleFence));
}
