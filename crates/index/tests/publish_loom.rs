//! How rows become visible and move, model-checked: what `memory.rs` and `snapshot.rs` argue, for every
//! interleaving and every value that the memory model allows.
//!
//! * **Publication.** A writer fills fresh segments, makes their rows visible, registers the oldest segment in the
//!   dictionary, moves the window past it, retires its extent and fills it again for a newer segment when the
//!   horizon allows. A reader pins, loads the window, then the visible rows, and must find every visible row
//!   exactly once and nothing else, wherever each of them is at that moment.
//! * **Updates.** A death stamp, a new row, one store of `visible`: a reader sees one version, the old one or the
//!   new one.
//! * **Rewrites.** An update before a segment is copied, and one after readers were moved to the copy: a reader
//!   sees one version of the document, wherever it looks.
//!
//! The reader slots are the engine's own (`Pins` over the checker's atomics). Regions cannot be modelled (the
//! checker's atomics are no integers), so segments are one row each and a list is a word. Each proof has a
//! twin with one step out of order that must be caught.

#[path = "../../mem/tests/modelled/mod.rs"]
mod modelled;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use spirit_mem::{PinSlot, Pins};

use modelled::Model64;

/// Fresh extents: segment `n` is in extent `n % EXTENTS` until it is registered.
const EXTENTS: usize = 2;
/// Segments in a run; each has one row, whose number is the segment's position.
const SEGMENTS: usize = 3;

/// What the postings of row `n` look like. Never 0, which is memory that nobody wrote.
const fn postings(n: u64) -> u64 {
    100 + n
}

struct World {
    pins: Pins<Model64>,
    visible: AtomicU64,
    /// One past the newest segment that the dictionary holds.
    window_end: AtomicU64,
    extents: [AtomicU64; EXTENTS],
    /// How many entries the term has in the dictionary, and the entries.
    entries: AtomicU64,
    entry: [AtomicU64; SEGMENTS],
}

/// What may be done in the wrong order.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    VisibleBeforeWindow,
    VisibleBeforePostings,
    WindowBeforeEntry,
    NoHorizon,
    NoPin,
}

impl World {
    fn new() -> World {
        World {
            pins: Pins::with_atoms(1, Model64::new),
            visible: AtomicU64::new(0),
            window_end: AtomicU64::new(0),
            extents: std::array::from_fn(|_| AtomicU64::new(0)),
            entries: AtomicU64::new(0),
            entry: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// The ingest role: postings and row, then one release store.
    fn add(&self, row: u64, mistake: Mistake) {
        let extent = &self.extents[row as usize % EXTENTS];
        if mistake == Mistake::VisibleBeforePostings {
            self.visible.store(row + 1, Release);
        }
        extent.store(postings(row), Relaxed);
        self.visible.store(row + 1, Release);
    }

    /// The flush stage: entry, head, window; then the extent is garbage. Returns its stamp.
    fn flush(&self, segment: u64, mistake: Mistake) -> u64 {
        let copied = self.extents[segment as usize % EXTENTS].load(Relaxed);
        if mistake == Mistake::WindowBeforeEntry {
            self.window_end.store(segment + 1, Release);
        }
        self.entry[segment as usize].store(copied, Relaxed);
        self.entries.store(segment + 1, Release);
        self.window_end.store(segment + 1, Release);
        self.pins.retire()
    }

    /// A whole run of the writer.
    fn write(&self, mistake: Mistake) {
        self.add(0, mistake);
        self.add(1, mistake);
        let stamp = self.flush(0, mistake);
        if mistake == Mistake::NoHorizon || self.pins.horizon() > stamp {
            self.add(2, mistake);
        }
    }

    /// A query for the term that every row has: the newest row first, as it was found.
    fn query(&self, slot: &PinSlot, mistake: Mistake) -> (u64, Vec<u64>) {
        if mistake != Mistake::NoPin {
            self.pins.pin(slot);
        }
        let too_early =
            (mistake == Mistake::VisibleBeforeWindow).then(|| self.visible.load(Acquire));
        let end = self.window_end.load(Acquire);
        let visible = too_early.unwrap_or_else(|| self.visible.load(Acquire));
        let fresh = (end..end + EXTENTS as u64).take_while(|segment| *segment < visible);
        let mut found: Vec<u64> =
            fresh.map(|n| self.extents[n as usize % EXTENTS].load(Relaxed)).collect();
        found.reverse();
        let registered = self.entries.load(Acquire).min(end);
        found.extend((0..registered).rev().map(|n| self.entry[n as usize].load(Relaxed)));
        self.pins.unpin(slot);
        (visible, found)
    }
}

fn check_publication(mistake: Mistake, queries: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let world = Arc::new(World::new());
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                for _ in 0..queries {
                    let (visible, found) = world.query(&slot, mistake);
                    let expected: Vec<u64> = (0..visible).rev().map(postings).collect();
                    assert_eq!(found, expected, "not each visible row exactly once");
                }
            }
        });
        world.write(mistake);
        reader.join().unwrap();
    });
}

#[test]
fn every_visible_row_is_found_exactly_once() {
    check_publication(Mistake::None, 1);
}

#[test]
fn every_visible_row_is_found_exactly_once_by_a_reader_that_comes_again() {
    check_publication(Mistake::None, 2);
}

#[test]
#[should_panic(expected = "not each visible row exactly once")]
fn loading_the_visible_rows_before_the_window_is_caught() {
    check_publication(Mistake::VisibleBeforeWindow, 1);
}

#[test]
#[should_panic(expected = "not each visible row exactly once")]
fn publishing_a_row_before_its_postings_is_caught() {
    check_publication(Mistake::VisibleBeforePostings, 1);
}

#[test]
#[should_panic(expected = "not each visible row exactly once")]
fn moving_the_window_before_the_entry_is_there_is_caught() {
    check_publication(Mistake::WindowBeforeEntry, 1);
}

#[test]
#[should_panic(expected = "not each visible row exactly once")]
fn using_an_extent_again_without_the_horizon_is_caught() {
    check_publication(Mistake::NoHorizon, 1);
}

#[test]
#[should_panic(expected = "not each visible row exactly once")]
fn a_reader_that_does_not_pin_is_caught() {
    check_publication(Mistake::NoPin, 1);
}

/// When the old version's death is written, and how readers take it.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    /// Before `visible`; honoured by snapshots that see the operation that it names.
    Stamped,
    /// After `visible`.
    Late,
    /// Before `visible`; honoured by anyone who sees it.
    AtOnce,
}

/// One key, whose versions are rows 0, 1 and 2.
struct Versions {
    visible: AtomicU64,
    death: [AtomicU64; 3],
    text: [AtomicU64; 3],
}

impl Versions {
    fn update(&self, new: u64, death: Death) {
        let old = new - 1;
        self.text[new as usize].store(postings(new), Relaxed);
        // A row's number plus one: the number of visible rows at which the death counts.
        let stamp = || self.death[old as usize].store(new + 1, Release);
        if death != Death::Late {
            stamp();
        }
        self.visible.store(new + 1, Release);
        if death == Death::Late {
            stamp();
        }
    }

    fn query(&self, death: Death) -> Vec<u64> {
        let visible = self.visible.load(Acquire);
        let dead = |row: u64| {
            let stamp = self.death[row as usize].load(Acquire);
            stamp != 0 && (death == Death::AtOnce || stamp <= visible)
        };
        let alive = (0..visible).filter(|row| !dead(*row));
        alive.map(|row| self.text[row as usize].load(Relaxed)).collect()
    }
}

fn check_updates(death: Death) {
    loom::model(move || {
        let versions = Arc::new(Versions {
            visible: AtomicU64::new(1),
            death: std::array::from_fn(|_| AtomicU64::new(0)),
            text: std::array::from_fn(|row| AtomicU64::new(if row == 0 { postings(0) } else { 0 })),
        });
        let writer = thread::spawn({
            let versions = versions.clone();
            move || {
                versions.update(1, death);
                versions.update(2, death);
            }
        });
        let first = versions.query(death);
        let second = versions.query(death);
        assert!(
            first.len() == 1 && second.len() == 1,
            "not one version: {first:?}, then {second:?}"
        );
        assert!((postings(0)..=second[0]).contains(&first[0]), "{first:?}, then {second:?}");
        writer.join().unwrap();
    });
}

#[test]
fn an_update_is_one_visible_step() {
    check_updates(Death::Stamped);
}

#[test]
#[should_panic(expected = "not one version")]
fn killing_the_old_version_afterwards_is_caught() {
    check_updates(Death::Late);
}

#[test]
#[should_panic(expected = "not one version")]
fn a_death_that_counts_at_once_is_caught() {
    check_updates(Death::AtOnce);
}

/// How a reader takes the root of a rewrite.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// Before the visible rows, and once more behind them.
    Twice,
    /// Before them alone.
    Before,
    /// Behind them alone.
    Behind,
}

/// A segment with two rows, its copy, and a row behind it. Rows are the versions of one key.
struct Rewritten {
    pins: Pins<Model64>,
    visible: AtomicU64,
    /// 1 once readers use the copy.
    superseded: AtomicU64,
    /// The death stamps of rows 0 and 1 in the segment.
    old: [AtomicU64; 2],
    /// The same in the copy.
    copy: [AtomicU64; 2],
    /// A bit for each row that was alive when it was copied.
    copied: AtomicU64,
}

impl Rewritten {
    /// Row 1 replaces row 0. Then the living rows are copied, and readers are moved. Then row 2 replaces row 1.
    fn write(&self) {
        // Announced: readers from before have left, or nothing is copied.
        let announced = self.pins.retire();
        self.old[0].store(2, Release);
        self.visible.store(2, Release);
        if self.pins.horizon() <= announced {
            return;
        }
        let living = (0..2).filter(|row| self.old[*row].load(Relaxed) == 0);
        self.copied.store(living.map(|row| 1 << row).sum(), Relaxed);
        self.superseded.store(1, Release);
        self.copy[1].store(3, Release);
        self.visible.store(3, Release);
    }

    fn look(&self, look: Look) -> (u64, u64) {
        loop {
            let early = (look == Look::Behind).then(|| self.visible.load(Acquire));
            let superseded = self.superseded.load(Acquire);
            let visible = early.unwrap_or_else(|| self.visible.load(Acquire));
            if look != Look::Twice || self.superseded.load(Relaxed) == superseded {
                return (superseded, visible);
            }
        }
    }

    fn query(&self, slot: &PinSlot, look: Look) -> Vec<u64> {
        self.pins.pin(slot);
        let (superseded, visible) = self.look(look);
        let (stamps, rows) = match superseded {
            0 => (&self.old, 0b11),
            _ => (&self.copy, self.copied.load(Relaxed)),
        };
        let is_alive = |row: u64| {
            let stamp = stamps.get(row as usize).map_or(0, |stamp| stamp.load(Acquire));
            (row > 1 || rows >> row & 1 == 1) && (stamp == 0 || stamp > visible)
        };
        let found = (0..visible).filter(|row| is_alive(*row)).collect();
        self.pins.unpin(slot);
        found
    }
}

fn check_rewrite(look: Look) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let word = |_| AtomicU64::new(0);
        let world = Arc::new(Rewritten {
            pins: Pins::with_atoms(1, Model64::new),
            visible: AtomicU64::new(1),
            superseded: AtomicU64::new(0),
            old: std::array::from_fn(word),
            copy: std::array::from_fn(word),
            copied: AtomicU64::new(0),
        });
        let slot = world.pins.acquire().unwrap();
        let reader = thread::spawn({
            let world = world.clone();
            move || {
                let found = world.query(&slot, look);
                assert_eq!(found.len(), 1, "not one version: {found:?}");
            }
        });
        world.write();
        reader.join().unwrap();
    });
}

#[test]
fn a_reader_beside_a_rewrite_sees_one_version() {
    check_rewrite(Look::Twice);
}

#[test]
#[should_panic(expected = "not one version")]
fn an_update_after_the_switch_is_caught_without_a_second_look() {
    check_rewrite(Look::Before);
}

#[test]
#[should_panic(expected = "not one version")]
fn looking_at_the_root_behind_the_visible_rows_alone_is_caught() {
    check_rewrite(Look::Behind);
}
