//! Kill -9 at any moment: what was acknowledged is there afterwards, whole and once; what was not is whole or absent.
//!
//! A chain of processes works on one index: each is fed documents and killed, while it starts, while it ingests or while
//! it closes; between them others delete and ask. `SPIRIT_KILLS` says how many kills there are in all, `SPIRIT_KILL_SEED`
//! which chain is the first one. Seeds say what is done; when exactly a kill comes is the machine's doing.

mod common;
mod killing;

use common::number_of;
use killing::chain::{Chain, Place, Setting};

const KILLS: u64 = 200;
const TESTS: u64 = 6;
const KILLS_OF_A_CHAIN: u64 = 10;

#[test]
fn one_executor_on_a_disk() {
    kill(Setting::at(Place::Disk));
}

#[test]
fn several_executors_on_a_disk() {
    kill(Setting { executors: 3, ..Setting::at(Place::Disk) });
}

#[test]
fn one_executor_in_a_file_system_in_memory() {
    kill(Setting::at(Place::Memory));
}

#[test]
fn several_executors_in_a_file_system_in_memory() {
    kill(Setting { executors: 2, ..Setting::at(Place::Memory) });
}

#[test]
fn at_level_os() {
    kill(Setting { durability: "os", ..Setting::at(Place::Disk) });
}

#[test]
fn a_full_index_that_drops_its_oldest() {
    let dropped = kill(Setting { drops: true, ..Setting::at(Place::Memory) });
    assert!(dropped > 0, "nothing was dropped: the test is not what it says");
}

/// Runs chains until there were enough kills. Says how many documents were dropped. On a slow machine processes die
/// young, and an index becomes full later: up to four times as many kills are tried until one drops something.
fn kill(setting: Setting) -> u64 {
    let wanted = number_of("SPIRIT_KILLS").unwrap_or(KILLS).div_ceil(TESTS);
    let mut seed = number_of("SPIRIT_KILL_SEED").unwrap_or(1);
    let (mut kills, mut dropped) = (0, 0);
    while kills < wanted || (setting.drops && dropped == 0 && kills < 4 * wanted) {
        let mut chain = Chain::new(setting, seed);
        let end = kills + KILLS_OF_A_CHAIN;
        while kills < end {
            kills += u64::from(chain.link());
        }
        dropped += chain.end().dropped;
        seed += 1;
    }
    dropped
}
