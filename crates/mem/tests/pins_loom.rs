//! The reclamation protocol of `pins.rs`, model-checked: every interleaving and every value that the memory
//! model allows, of a writer that unlinks, retires, waits for the horizon and reuses, against a reader that
//! pins, loads the root and reads through it.

mod modelled;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use spirit_mem::Pins;

use modelled::Model64;

const LIVE: u64 = 7;
const REUSED: u64 = 666;

struct World {
    pins: Pins<Model64>,
    /// Which of the two cells is current.
    root: AtomicU64,
    cells: [AtomicU64; 2],
}

fn world() -> Arc<World> {
    Arc::new(World {
        pins: Pins::with_atoms(1, Model64::new),
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

/// A reader comes back to what it held while a writer that wants the memory revokes the hold. `asks`: whether the
/// reader asks if it still may read.
fn hold_against_a_writer(asks: bool) {
    loom::model(move || {
        let world = world();
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                world.pins.pin(&slot);
                let current = world.root.load(Acquire) as usize;
                world.pins.hold(&slot);
                if !asks || world.pins.resume(&slot) {
                    let value = world.cells[current].load(Relaxed);
                    assert_eq!(value, LIVE, "read memory that was reused");
                }
                world.pins.unpin(&slot);
            }
        });
        world.root.store(1, Release);
        let stamp = world.pins.retire();
        if let Some(hold) = world.pins.hold_in_the_way(0) {
            world.pins.revoke(0, hold);
        }
        if world.pins.horizon() > stamp {
            world.cells[0].store(REUSED, Relaxed);
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_reader_that_resumes_never_reads_reused_memory() {
    hold_against_a_writer(true);
}

/// The test above can fail.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn reading_on_after_a_revocation_is_caught() {
    hold_against_a_writer(false);
}

/// The writer ends all reading while a reader asks, keeps what it found, and reads on. `drains`: whether it waits for that.
fn close_against_a_reader(drains: bool) {
    loom::model(move || {
        let world = world();
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                world.pins.pin(&slot);
                // Here the root says whether all is closed.
                if world.root.load(Relaxed) == 0 {
                    assert_eq!(world.cells[0].load(Relaxed), LIVE, "read memory that was reused");
                    world.pins.hold(&slot);
                    if world.pins.resume(&slot) {
                        let value = world.cells[0].load(Relaxed);
                        assert_eq!(value, LIVE, "read memory that was reused");
                    }
                }
                world.pins.unpin(&slot);
            }
        });
        world.root.store(1, Release);
        let stamp = world.pins.retire();
        if !drains || world.pins.is_drained(stamp) {
            world.cells[0].store(REUSED, Relaxed);
        }
        reader.join().unwrap();
    });
}

#[test]
fn nothing_is_read_once_all_readers_are_drained() {
    close_against_a_reader(true);
}

/// The test above can fail.
#[test]
#[should_panic(expected = "read memory that was reused")]
fn closing_under_a_reader_is_caught() {
    close_against_a_reader(false);
}
