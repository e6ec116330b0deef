//! Stamps, model-checked: every interleaving and every value that the memory model allows, of a writer that gives a
//! block of the heap from one entry to another, against a reader of either entry.

#[path = "../../mem/tests/modelled/mod.rs"]
mod modelled;

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::thread;
use spirit_cache::stamp;
use spirit_mem::sync::Atom64;

use modelled::Model64;

/// Two entries, which one after the other have the same block of two words.
struct World {
    stamps: [Model64; 2],
    block: [Model64; 2],
}

/// What may be done in the wrong order.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// The first entry's stamp is not changed before its block is stored to.
    NotClosed,
    /// Data is stored without release.
    RelaxedStores,
    /// Data is loaded without acquire.
    RelaxedLoads,
    /// The second entry's stamp is even before its data is there.
    OpenedEarly,
}

fn world() -> Arc<World> {
    let word = |value| Model64::new(value);
    Arc::new(World { stamps: [word(2), word(1)], block: [word(10), word(11)] })
}

/// Gives the block from the first entry to the second.
fn write(world: &World, mistake: Mistake) {
    if mistake != Mistake::NotClosed {
        stamp::close(&world.stamps[0]);
    }
    if mistake == Mistake::OpenedEarly {
        stamp::open(&world.stamps[1]);
    }
    let order = if mistake == Mistake::RelaxedStores { Relaxed } else { Release };
    world.block[0].store(20, order);
    world.block[1].store(21, order);
    if mistake != Mistake::OpenedEarly {
        stamp::open(&world.stamps[1]);
    }
}

fn read(world: &World, entry: usize, order: Ordering) -> Option<(u64, u64)> {
    let block = &world.block;
    stamp::read(&world.stamps[entry], || Some((block[0].load(order), block[1].load(order))))
}

fn check(mistake: Mistake) {
    loom::model(move || {
        let world = world();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                let order = if mistake == Mistake::RelaxedLoads { Relaxed } else { Acquire };
                for (entry, expected) in [(0, (10, 11)), (1, (20, 21))] {
                    let found = read(&world, entry, order);
                    assert!(found.is_none_or(|found| found == expected), "torn: {found:?}");
                }
            }
        });
        write(&world, mistake);
        reader.join().unwrap();
    });
}

#[test]
fn a_reader_has_all_of_an_entry_or_nothing() {
    check(Mistake::None);
}

#[test]
#[should_panic(expected = "torn")]
fn storing_to_the_block_of_an_open_entry_is_caught() {
    check(Mistake::NotClosed);
}

#[test]
#[should_panic(expected = "torn")]
fn relaxed_stores_are_caught() {
    check(Mistake::RelaxedStores);
}

#[test]
#[should_panic(expected = "torn")]
fn relaxed_loads_are_caught() {
    check(Mistake::RelaxedLoads);
}

#[test]
#[should_panic(expected = "torn")]
fn opening_an_entry_before_its_data_is_there_is_caught() {
    check(Mistake::OpenedEarly);
}
