//! Power cuts of a real file system under the real binary, at level `os`: what was acknowledged is there afterwards, whole
//! and once; what was not is whole or absent. At level `process` an index that saw one is refused.
//!
//! An ext4 on a loop device is shut down under a process that starts, recovers, ingests, engraves, merges, deletes or
//! closes: what it has not written is gone, and every sync fails from then on. Some processes are killed at once, others
//! go on until they see it, and say so. `SPIRIT_POWER_CUTS` says how many cuts there are in all, `SPIRIT_KILL_SEED` which
//! chain is the first one. Needs root and loop devices; elsewhere it says NOT MEASURED.

mod common;
mod killing;

use std::fmt::Write as _;

use common::{number_of, spirit};
use killing::chain::{Chain, Place, Setting};
use killing::disk::{Disk, not_measured};
use killing::tally::Tally;
use killing::victim::{self, End, Moment};

const CUTS: u64 = 100;
/// Tests that share them.
const TESTS: u64 = 3;
const CUTS_OF_A_CHAIN: u64 = 10;
/// How many times as many cuts there are at most.
const PATIENCE: u64 = 4;
const DISK_BYTES: u64 = 256 << 20;

#[test]
fn one_executor() {
    cut(Setting { durability: "os", ..Setting::at(Place::Disk) });
}

#[test]
fn several_executors() {
    cut(Setting { durability: "os", executors: 3, ..Setting::at(Place::Disk) });
}

#[test]
fn a_full_index_that_drops_its_oldest() {
    cut(Setting { durability: "os", drops: true, ..Setting::at(Place::Disk) });
}

/// A disk, unless the machine can have none.
fn disk() -> Option<Disk> {
    Disk::new(DISK_BYTES).inspect_err(|why| not_measured("power cuts", why)).ok()
}

/// Runs chains until there were enough cuts, and for some time longer if they all came too early to hit what is to be hit: how far a
/// process gets before one depends on what else the machine has to do.
fn cut(setting: Setting) {
    let wanted = number_of("SPIRIT_POWER_CUTS").unwrap_or(CUTS).div_ceil(TESTS);
    let mut seed = number_of("SPIRIT_KILL_SEED").unwrap_or(1);
    let (mut cuts, mut tally) = (0, Tally::default());
    while cuts < wanted || (cuts < PATIENCE * wanted && missed(setting, &tally).is_some()) {
        let Some(disk) = disk() else { return };
        let mut chain = Chain::on(setting, seed, Some(disk));
        let left = wanted.checked_sub(cuts).filter(|left| *left > 0);
        let end = cuts + left.unwrap_or(CUTS_OF_A_CHAIN).min(CUTS_OF_A_CHAIN);
        while cuts < end {
            cuts += u64::from(chain.link());
        }
        tally = tally.and(chain.end());
        seed += 1;
    }
    println!("{tally}");
    assert_eq!(missed(setting, &tally), None, "the test is not what it says");
}

/// What no cut has hit. A few may all come too early.
fn missed(setting: Setting, tally: &Tally) -> Option<&'static str> {
    if tally.cuts < CUTS / TESTS {
        return None;
    }
    [
        (tally.complained == 0, "no process saw its disk fail"),
        (tally.merged == 0, "no process had merged"),
        (setting.drops && tally.dropped == 0, "nothing was dropped"),
    ]
    .into_iter()
    .find_map(|(missed, what)| missed.then_some(what))
}

/// `count` documents of a common word and one of their own, a line each.
fn lines(count: usize) -> String {
    (0..count).fold(String::new(), |mut lines, number| {
        writeln!(lines, "common u{number}").unwrap();
        lines
    })
}

const SMALL: [&str; 4] = ["--dram", "8MiB", "--nvm", "32MiB"];

#[test]
fn a_process_whose_disk_fails_says_so_and_acknowledges_nothing_more() {
    let Some(disk) = disk() else { return };
    let directory = disk.path().join("index").to_str().unwrap().to_owned();
    let args = ["ingest", "-d", &directory, "--durability", "os", "--ack", "-"];
    let moment = Moment::Acknowledged(500, Default::default());
    let args = [&args[..], &SMALL].concat();
    let victim = victim::run(&args, lines(200_000), moment, End::PowerCut(&disk, None));
    let line = victim.acknowledged.len() + 1;
    let said = format!("spirit: -:{line}: the disk failed to keep data; ");
    assert!(victim.said.starts_with(&said), "{}", victim.said);
    disk.restart();
    let count: usize =
        spirit(&["count", "-d", &directory, "common"]).done().trim().parse().unwrap();
    assert!(count == line || count == line - 1, "{count} documents of {}", line - 1);
}

#[test]
fn at_level_process_an_index_that_saw_a_power_cut_is_refused() {
    let Some(disk) = disk() else { return };
    for (number, acknowledged) in [0, 1, 300, 3000, 20_000].into_iter().enumerate() {
        let directory = disk.path().join(number.to_string()).to_str().unwrap().to_owned();
        let args = ["ingest", "-d", &directory, "--durability", "process", "--ack", "-"];
        let moment = Moment::Acknowledged(acknowledged.max(1), Default::default());
        let args = [&args[..], &SMALL].concat();
        victim::run(&args, lines(50_000), moment, End::PowerCut(&disk, Some(Default::default())));
        disk.restart();
        for command in ["count", "search"] {
            let said = spirit(&[command, "-d", &directory, "common"]).failed(1);
            assert!(
                said.contains("went down while this index was open at level process"),
                "{said}"
            );
        }
        let said = spirit(&["ingest", "-d", &directory, "-"]).failed(1);
        assert!(said.contains("went down while this index was open at level process"), "{said}");
    }
}
