//! `protection`: what it costs a query that the segments it reads stay readable.
//!
//! Measured: ns a query for the protection alone, nothing being read. Ours: enter the reader's slot, load the three
//! roots, leave, whatever the number of segments. The paper's (§4.3, D-Lock and N-Lock): a reader-writer lock a
//! segment, taken shared and released around the visit; here the standard library's, each lock on cache lines of its
//! own. By one thread, and by one of two that do the same at the same time on the two cores.
//!
//! Corpus and seed have no part in it.
//!
//! Caveats: no writer asks for the locks, which is their best case. Two threads on one core would not meet.

use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use serde_json::json;
use spirit_mem::Pins;

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::{Cores, On};
use crate::report::{Table, number};
use crate::timing::median;

const SEGMENTS: [usize; 4] = [1, 3, 64, 512];
const QUERIES: usize = 20_000;

/// A lock that shares its cache lines with no other.
#[derive(Default)]
#[repr(align(128))]
struct Lock(RwLock<()>);

/// What all queries meet at.
struct World {
    pins: Pins,
    roots: [AtomicU64; 3],
    locks: Vec<Lock>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    bench.report.begin("protection", &[]);
    let mut world = World { pins: Pins::new(64), roots: Default::default(), locks: Vec::new() };
    let mut table = Table::new("protection of a query, ns", &["way", "one thread", "of two"]);
    let mut row = |name: String, runs: [Vec<f64>; 2]| -> Fallible<()> {
        table.line([name.clone(), number(median(&runs[0])), number(median(&runs[1]))]);
        for (threads, runs) in [1, 2].into_iter().zip(&runs) {
            let config = [("way", json!(name)), ("threads", json!(threads))];
            bench.report.row("spirit", &config, "protection", "ns", runs)?;
        }
        Ok(())
    };
    row(
        "a reader slot, any number of segments".to_owned(),
        both(&world, bench.cores, bench.rounds, by_slot),
    )?;
    for segments in SEGMENTS {
        world.locks = (0..segments).map(|_| Lock::default()).collect();
        let runs = both(&world, bench.cores, bench.rounds, by_locks);
        row(format!("a lock a segment, {segments} segments"), runs)?;
    }
    table.print();
    println!("no bar: the papers' lock a segment is what the reader slots are there to beat");
    Ok(())
}

/// Asks `QUERIES` times and says how many ns one took.
type Way = fn(&World, &AtomicBool) -> f64;

fn by_slot(world: &World, stop: &AtomicBool) -> f64 {
    let Some(slot) = world.pins.acquire() else { return f64::NAN };
    let ns = timed(stop, || {
        world.pins.pin(&slot);
        for root in &world.roots {
            black_box(root.load(Acquire));
        }
        world.pins.unpin(&slot);
    });
    world.pins.release(slot);
    ns
}

fn by_locks(world: &World, stop: &AtomicBool) -> f64 {
    timed(stop, || {
        for lock in &world.locks {
            drop(black_box(lock.0.read().unwrap_or_else(PoisonError::into_inner)));
        }
    })
}

fn timed(stop: &AtomicBool, mut query: impl FnMut()) -> f64 {
    let (start, mut count) = (Instant::now(), 0_u32);
    while count < QUERIES as u32 && !stop.load(Relaxed) {
        query();
        count += 1;
    }
    start.elapsed().as_nanos() as f64 / f64::from(count.max(1))
}

/// ns a query of each round: alone, and beside another thread that asks without pause.
fn both(world: &World, cores: Cores, rounds: usize, way: Way) -> [Vec<f64>; 2] {
    let never = AtomicBool::new(false);
    let alone = || {
        let _pinned = cores.pin(On::Second);
        way(world, &never)
    };
    let beside = || {
        let (started, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _pinned = cores.pin(On::First);
                while !stop.load(Relaxed) {
                    started.store(true, Relaxed);
                    way(world, &stop);
                }
            });
            while !started.load(Relaxed) {
                std::hint::spin_loop();
            }
            let ns = alone();
            stop.store(true, Relaxed);
            ns
        })
    };
    [(0..rounds).map(|_| alone()).collect(), (0..rounds).map(|_| beside()).collect()]
}
