//! The reclamation protocol of `pins.rs`, model-checked: every interleaving and every value that the memory
//! model allows, of a writer that unlinks, retires, waits for the horizon and reuses, against a reader that
//! pins, loads the root and reads through it.

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use spirit_mem::Pins;
use spirit_mem::sync::Atom64;
use std::sync::atomic::Ordering;

struct Model(AtomicU64);

impl Atom64 for Model {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, success, failure)
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }
}

const LIVE: u64 = 7;
const REUSED: u64 = 666;

struct World {
    pins: Pins<Model>,
    /// Which of the two cells is current.
    root: AtomicU64,
    cells: [AtomicU64; 2],
}

fn world() -> Arc<World> {
    Arc::new(World {
        pins: Pins::with_atoms(1, |v| Model(AtomicU64::new(v))),
        root: AtomicU64::new(0),
        cells: [AtomicU64::new(LIVE), AtomicU64::new(LIVE)],
    })
}

fn read_once(world: &World, slot: &spirit_mem::PinSlot) {
    world.pins.pin(slot);
    let current = world.root.load(Acquire) as usize;
    assert_eq!(world.cells[current].load(Relaxed), LIVE, "read memory that was reused");
    world.pins.unpin(slot);
}

#[test]
fn memory_is_not_reused_under_a_reader() {
    loom::model(|| {
        let world = world();
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                read_once(&world, &slot);
                read_once(&world, &slot);
            }
        });
        // Unlink cell 0, and overwrite it if the horizon says that nobody holds it.
        world.root.store(1, Release);
        let stamp = world.pins.retire();
        if world.pins.horizon() > stamp {
            world.cells[0].store(REUSED, Relaxed);
        }
        reader.join().unwrap();
    });
}

/// The test above can fail: the same world, with a writer that does not ask for the horizon.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn reuse_without_the_horizon_is_caught() {
    loom::model(|| {
        let world = world();
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || read_once(&world, &slot)
        });
        world.root.store(1, Release);
        world.pins.retire();
        world.cells[0].store(REUSED, Relaxed);
        reader.join().unwrap();
    });
}
