//! The protocol of `shared_pins.rs`, model-checked: a writer marks something as gone, counts the change, retires it and reuses
//! its memory; a process that reads enters the mask, and in each query pins, looks whether there was a change, and goes by
//! what it found when there was one last.

mod modelled;

use std::cell::Cell;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use spirit_mem::shared_pins::{SharedPins, enter};
use spirit_mem::{PinSlot, Pins};

use modelled::Model64;

const LIVE: u64 = 7;
const GONE: u64 = 8;
const REUSED: u64 = 666;

/// What two processes map: one group of one slot.
struct Words {
    epoch: Model64,
    changes: Model64,
    groups: Model64,
    slot: Model64,
}

impl SharedPins<Model64> for Words {
    fn epoch(&self) -> &Model64 {
        &self.epoch
    }
    fn changes(&self) -> &Model64 {
        &self.changes
    }
    fn groups(&self) -> &Model64 {
        &self.groups
    }
    fn group_slots(&self) -> usize {
        1
    }
    fn groups_max(&self) -> usize {
        1
    }
    fn slot(&self, _: usize, _: usize) -> &Model64 {
        &self.slot
    }
}

struct World {
    words: std::sync::Arc<Words>,
    /// Whether what is in the cell is to be found.
    mark: AtomicU64,
    cell: AtomicU64,
}

/// A process that reads: what it found, as of which change.
struct Follower {
    pins: Pins<Model64>,
    slot: PinSlot,
    found: Cell<Option<(u64, u64)>>,
}

impl Follower {
    fn start(words: &std::sync::Arc<Words>) -> Follower {
        enter(&**words, 0);
        let pins = Pins::with_atoms(0, Model64::new).with_shared(words.clone(), Some(0));
        let slot = pins.acquire().unwrap();
        Follower { pins, slot, found: Cell::new(None) }
    }

    fn query(&self, world: &World) {
        self.pins.pin(&self.slot);
        self.read(world, self.pins.changes());
        self.pins.unpin(&self.slot);
    }

    fn read(&self, world: &World, changes: u64) {
        let mark = match self.found.get() {
            Some((mark, as_of)) if as_of >= changes => mark,
            _ => {
                let mark = world.mark.load(Acquire);
                self.found.set(Some((mark, changes)));
                mark
            }
        };
        if mark == LIVE {
            assert_eq!(world.cell.load(Relaxed), LIVE, "read memory that was reused");
        }
    }
}

fn world() -> Arc<World> {
    let words = Words {
        epoch: Model64::new(0),
        changes: Model64::new(0),
        groups: Model64::new(0),
        slot: Model64::new(0),
    };
    let words = std::sync::Arc::new(words);
    Arc::new(World { words, mark: AtomicU64::new(LIVE), cell: AtomicU64::new(LIVE) })
}

fn writer(world: &World) -> Pins<Model64> {
    Pins::with_atoms(0, Model64::new).shared(world.words.clone())
}

fn reuse_if_nobody_reads(world: &World, pins: &Pins<Model64>, stamp: u64) {
    if pins.horizon() > stamp {
        world.cell.store(REUSED, Relaxed);
    }
}

fn against(query: impl Fn(&Follower, &World) + Send + Sync + Copy + 'static, counts_first: bool) {
    loom::model(move || {
        let world = world();
        let pins = writer(&world);
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                let follower = Follower::start(&world.words);
                query(&follower, &world);
                query(&follower, &world);
            }
        });
        world.mark.store(GONE, Release);
        if counts_first {
            pins.note_change();
        }
        let stamp = pins.retire();
        reuse_if_nobody_reads(&world, &pins, stamp);
        if !counts_first {
            pins.note_change();
        }
        reader.join().unwrap();
    });
}

#[test]
fn memory_is_not_reused_under_a_reader_of_another_process() {
    against(|follower, world| follower.query(world), true);
}

/// The test above can fail: a change that is counted after its memory was retired.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn a_change_that_is_counted_too_late_is_caught() {
    against(|follower, world| follower.query(world), false);
}

/// And so: a reader that looks for changes before it pins.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn a_reader_that_looks_before_it_pins_is_caught() {
    let query = |follower: &Follower, world: &World| {
        let changes = follower.pins.changes();
        follower.pins.pin(&follower.slot);
        follower.read(world, changes);
        follower.pins.unpin(&follower.slot);
    };
    against(query, true);
}

/// The writer is killed after it marked something, before it counted that, and another one starts while the reader reads.
#[test]
fn a_writer_that_starts_reuses_nothing_under_a_reader_that_was_there() {
    loom::model(|| {
        let world = world();
        drop(writer(&world));
        let follower = Follower::start(&world.words);
        follower.query(&world);
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                follower.query(&world);
                follower.query(&world);
            }
        });
        world.mark.store(GONE, Release);
        let next = writer(&world);
        let stamp = next.start_stamp().expect("a reader is there");
        reuse_if_nobody_reads(&world, &next, stamp);
        reader.join().unwrap();
    });
}
