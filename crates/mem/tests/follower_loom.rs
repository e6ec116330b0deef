//! The protocol of `shared_pins.rs`, model-checked: a writer unlinks something, retires it and reuses its memory; a process
//! that reads pins, follows what it finds, and leaves. If it is stopped within a query the writer revokes its slot.

mod modelled;

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
    groups: Model64,
    slot: Model64,
}

impl SharedPins<Model64> for Words {
    fn epoch(&self) -> &Model64 {
        &self.epoch
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
    root: AtomicU64,
    cell: AtomicU64,
}

/// A process that reads.
struct Follower {
    pins: Pins<Model64>,
    slot: PinSlot,
}

impl Follower {
    fn start(words: &std::sync::Arc<Words>) -> Follower {
        let pins = Pins::with_atoms(0, Model64::new).with_shared(words.clone(), Some(0));
        let slot = pins.acquire().unwrap();
        Follower { pins, slot }
    }

    /// Asks, and checks the answer if it counts.
    fn query(&self, world: &World) {
        self.pins.pin(&self.slot);
        let read = read(world);
        if self.pins.unpin(&self.slot) {
            assert_ne!(read, Some(REUSED), "read memory that was reused");
        }
    }
}

fn read(world: &World) -> Option<u64> {
    (world.root.load(Acquire) == LIVE).then(|| world.cell.load(Relaxed))
}

/// A world, and its writer, who has taken a group for a process.
fn world() -> (Arc<World>, Pins<Model64>) {
    let word = || Model64::new(0);
    let words = std::sync::Arc::new(Words { epoch: word(), groups: word(), slot: word() });
    let pins = Pins::with_atoms(0, Model64::new).shared(words.clone());
    enter(&*words, 0);
    let world = World { words, root: AtomicU64::new(LIVE), cell: AtomicU64::new(LIVE) };
    (Arc::new(world), pins)
}

fn against(
    query: impl Fn(&Follower, &World) + Send + Sync + Copy + 'static,
    make_room: impl Fn(&World, &Pins<Model64>) + Send + Sync + Copy + 'static,
) {
    loom::model(move || {
        let (world, pins) = world();
        let follower = Follower::start(&world.words);
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                query(&follower, &world);
                query(&follower, &world);
            }
        });
        make_room(&world, &pins);
        reader.join().unwrap();
    });
}

fn unlink_and_wait(world: &World, pins: &Pins<Model64>) {
    world.root.store(GONE, Release);
    let stamp = pins.retire();
    if pins.horizon() > stamp {
        world.cell.store(REUSED, Relaxed);
    }
}

fn unlink_and_revoke(world: &World, pins: &Pins<Model64>) {
    world.root.store(GONE, Release);
    let stamp = pins.retire();
    if let Some(pin) = pins.pin_in_the_way(0) {
        pins.revoke(0, pin);
    }
    if pins.horizon() > stamp {
        world.cell.store(REUSED, Relaxed);
    }
}

#[test]
fn memory_is_not_reused_under_a_reader_of_another_process() {
    against(Follower::query, unlink_and_wait);
}

#[test]
fn an_answer_from_a_revoked_slot_is_given_up() {
    against(Follower::query, unlink_and_revoke);
}

/// The test above can fail: a reader that does not look whether its slot was revoked.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn a_reader_that_does_not_look_is_caught() {
    let query = |follower: &Follower, world: &World| {
        follower.pins.pin(&follower.slot);
        let read = read(world);
        follower.pins.unpin(&follower.slot);
        assert_ne!(read, Some(REUSED), "read memory that was reused");
    };
    against(query, unlink_and_revoke);
}

/// And so: a reader that looks at the root before it pins.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn a_reader_that_looks_before_it_pins_is_caught() {
    let query = |follower: &Follower, world: &World| {
        let is_live = world.root.load(Acquire) == LIVE;
        follower.pins.pin(&follower.slot);
        if is_live {
            assert_ne!(world.cell.load(Relaxed), REUSED, "read memory that was reused");
        }
        follower.pins.unpin(&follower.slot);
    };
    against(query, unlink_and_wait);
}
