//! Maps of terms against a `BTreeMap`, and against power cuts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use spirit_door::Barrier;
use spirit_door::sim::{Image, Model, Random, Simulator};
use spirit_door::trace::{Action, Event, Trace};

use super::*;
use crate::ground::term::TERM_BYTES_MAX;

type Expected = BTreeMap<(u16, Vec<u8>), u64>;

/// A name in a directory for temporary files. The file goes with it.
struct Name(PathBuf);

impl Name {
    fn new(of: &str) -> Name {
        let thread = format!("{:?}", std::thread::current().id());
        let name = format!("spirit-term-map-{of}-{}-{thread}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Name(path)
    }

    fn create(&self, lines: u64) -> Arc<HeapFile> {
        Arc::new(HeapFile::create(&self.0, TermMap::file_bytes(lines)).unwrap())
    }

    fn open(&self) -> Arc<HeapFile> {
        Arc::new(HeapFile::open(&self.0).unwrap())
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn door() -> Door {
    Door::new(Barrier::WriteBack)
}

fn term((field, bytes): &(u16, Vec<u8>)) -> Term<'_> {
    Term::new(FieldId(*field), bytes).unwrap()
}

/// Every third key is a long one.
fn key(number: u64) -> (u16, Vec<u8>) {
    let text = format!("{number}");
    let bytes = if number.is_multiple_of(3) { text.repeat(20) } else { text };
    ((number % 2) as u16, bytes.into_bytes())
}

fn contents(map: &TermMap) -> Result<Expected, TermMapError> {
    let mut found = Expected::new();
    let take = |field: FieldId, bytes: &[u8], word| {
        assert_eq!(found.insert((field.0, bytes.to_vec()), word), None, "twice");
    };
    map.for_each(take).map(|()| found)
}

fn check(map: &TermMap, expected: &Expected) {
    assert_eq!(contents(map).unwrap(), *expected);
    for (key, word) in expected {
        assert_eq!(map.get(term(key)).unwrap(), Some(*word));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put((u16, Vec<u8>), u64),
    Get((u16, Vec<u8>)),
    Reserve(u64),
    Finish,
    Again,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lengths = prop_oneof![8 => 1..4usize, 3 => 13..18usize, 1 => 200..=TERM_BYTES_MAX];
    // Few letters, so that keys come again.
    let bytes = lengths.prop_flat_map(|len| prop::collection::vec(b'a'..b'f', len));
    let key = (0..3u16, bytes);
    let step = prop_oneof![
        80 => (key.clone(), any::<u64>()).prop_map(|(key, word)| Step::Put(key, word)),
        10 => key.prop_map(Step::Get),
        1 => (0..3000u64).prop_map(Step::Reserve),
        1 => Just(Step::Finish),
        1 => Just(Step::Again),
    ];
    prop::collection::vec(step, 0..600)
}

proptest! {
    #[test]
    fn a_map_has_what_a_tree_has(steps in steps(), durable in any::<bool>()) {
        let name = Name::new("equal");
        let puts = if durable { Puts::Durable } else { Puts::Together };
        let mut map = TermMap::create(name.create(4000), door(), puts).unwrap();
        let mut expected = Expected::new();
        for step in steps {
            match step {
                Step::Put(key, word) => {
                    map.put(term(&key), word).unwrap();
                    expected.insert(key, word);
                }
                Step::Get(key) => {
                    prop_assert_eq!(map.get(term(&key)).unwrap(), expected.get(&key).copied());
                }
                Step::Reserve(terms) => map.reserve(terms).unwrap(),
                Step::Finish => map.finish().unwrap(),
                Step::Again => {
                    map.finish().unwrap();
                    drop(map);
                    map = TermMap::open(name.open(), door(), puts).unwrap();
                }
            }
        }
        check(&map, &expected);
    }

    /// What is kept of a map in memory is the map.
    #[test]
    fn a_copy_of_a_map_in_memory_is_the_map(
        numbers in prop::collection::vec(0..900u64, 0..500),
        writes in any::<bool>(),
    ) {
        let name = Name::new("copy");
        let file = name.create(4000);
        let own = Arc::new(HeapFile::open_private(&name.0).unwrap());
        let mut map = TermMap::create(own, Door::new(Barrier::Order), Puts::Together).unwrap();
        let mut expected = Expected::new();
        for (word, number) in (0..).zip(numbers) {
            map.put(term(&key(number)), word).unwrap();
            expected.insert(key(number), word);
        }
        map.finish().unwrap();
        let door = if writes { door().writing(file.clone(), 0) } else { door() };
        map.copy_to(file, door).unwrap();
        check(&map, &expected);
        check(&TermMap::open(name.open(), self::door(), Puts::Together).unwrap(), &expected);
    }
}

#[test]
fn a_map_without_room_keeps_what_it_has() {
    let name = Name::new("full");
    let mut map = TermMap::create(name.create(40), door(), Puts::Durable).unwrap();
    let mut expected = Expected::new();
    let full = loop {
        let number = expected.len() as u64;
        match map.put(term(&key(number)), number) {
            Ok(()) => drop(expected.insert(key(number), number)),
            Err(why) => break why,
        }
    };
    assert!(matches!(full, TermMapError::Full), "{full}");
    assert!(expected.len() >= 10);
    map.put(term(&key(1)), 77).unwrap();
    expected.insert(key(1), 77);
    check(&map, &expected);
    drop(map);
    check(&TermMap::open(name.open(), door(), Puts::Durable).unwrap(), &expected);
}

#[test]
fn a_map_that_was_not_finished_is_refused() {
    let name = Name::new("unfinished");
    let mut map = TermMap::create(name.create(100), door(), Puts::Together).unwrap();
    map.put(term(&key(1)), 1).unwrap();
    map.finish().unwrap();
    map.put(term(&key(2)), 2).unwrap();
    drop(map);
    let refused = TermMap::open(name.open(), door(), Puts::Together).map(|_| ());
    assert!(matches!(refused, Err(TermMapError::Unfinished)));
}

#[test]
fn a_damaged_record_is_no_missing_term() {
    let name = Name::new("damaged");
    let mut map = TermMap::create(name.create(100), door(), Puts::Durable).unwrap();
    map.put(term(&key(1)), 1).unwrap();
    let merged = map.merged();
    let line = merged.find(term(&key(1)), term(&key(1)).key.hash()).unwrap();
    map.region.write_bytes(merged.place(line) + 16, &[9; 8]);
    assert!(matches!(map.get(term(&key(1))), Err(TermMapError::Damaged(_))));
    assert!(matches!(map.put(term(&key(1)), 2), Err(TermMapError::Damaged(_))));
}

/// The events of a run of puts, each noted when it returned, and the map's bytes.
fn traced(puts: Puts, numbers: &[u64]) -> (Vec<Event>, u64) {
    let (name, trace) = (Name::new("traced"), Arc::new(Trace::default()));
    let file = name.create(150);
    let bytes = file.bytes();
    let door = Door::new(Barrier::Order).traced(0, trace.clone());
    let mut map = TermMap::create(file, door, puts).unwrap();
    for (word, number) in (0..).zip(numbers) {
        map.put(term(&key(*number)), word).unwrap();
        trace.note(word);
    }
    map.finish().unwrap();
    trace.note(numbers.len() as u64);
    (trace.take(), bytes)
}

/// Opens the map in images that cuts of the run may leave, as if `dropped` did nothing. `judge` gets what it finds, and the
/// number of notes before the cut, and returns false if that is wrong. Returns true if nothing was.
fn survives(
    puts: Puts,
    numbers: &[u64],
    dropped: Option<Site>,
    mut judge: impl FnMut(Result<Expected, TermMapError>, usize) -> bool,
) -> bool {
    let (events, bytes) = traced(puts, numbers);
    let empty = Image::new(vec![vec![0; bytes as usize / 8]]);
    let mut simulator = Simulator::new(empty, &events, dropped);
    let (name, mut notes) = (Name::new("image"), 0);
    for position in 0..=events.len() {
        simulator.advance_to(position);
        let event = position.checked_sub(1).map(|last| &events[last].action);
        notes += usize::from(matches!(event, Some(Action::Note(_))));
        for model in [Model::X, Model::T] {
            let mut images = simulator.images(model, 3, position as u64);
            while let Some(image) = images.next_image() {
                std::fs::write(&name.0, image.bytes(0)).unwrap();
                let map = TermMap::open(name.open(), door(), puts);
                if !judge(map.and_then(|map| contents(&map)), notes) {
                    return false;
                }
            }
        }
    }
    true
}

fn after(numbers: &[u64]) -> Expected {
    (0..).zip(numbers).map(|(word, number)| (key(*number), word)).collect()
}

fn drawn(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.index(30) as u64).collect()
}

/// True if a map whose puts are durable has those that returned, and at most one more.
fn is_durable(numbers: &[u64], found: Result<Expected, TermMapError>, notes: usize) -> bool {
    let Ok(found) = found else { return notes == 0 };
    let notes = notes.min(numbers.len());
    let next = after(&numbers[..numbers.len().min(notes + 1)]);
    found == after(&numbers[..notes]) || found == next
}

#[test]
fn after_a_cut_all_durable_puts_are_there_and_at_most_one_more() {
    let numbers = drawn(1, 60);
    let (mut opened, mut refused) = (0, 0);
    let judge = |found: Result<Expected, TermMapError>, notes| {
        opened += usize::from(found.is_ok());
        refused += usize::from(found.is_err());
        is_durable(&numbers, found, notes)
    };
    assert!(survives(Puts::Durable, &numbers, None, judge));
    assert!(opened > 500 && refused > 2, "{opened}, {refused}");
}

/// True if a map whose puts are durable together is whole, or was not finished.
fn is_whole(numbers: &[u64], found: Result<Expected, TermMapError>, notes: usize) -> bool {
    match found {
        Ok(found) => found == after(numbers),
        Err(TermMapError::Unfinished) => notes <= numbers.len(),
        Err(_) => false,
    }
}

#[test]
fn after_a_cut_puts_that_are_durable_together_are_all_there_or_refused() {
    let numbers = drawn(2, 50);
    let (mut opened, mut refused) = (0, 0);
    let judge = |found: Result<Expected, TermMapError>, notes| {
        opened += usize::from(found.is_ok());
        refused += usize::from(found.is_err());
        is_whole(&numbers, found, notes)
    };
    assert!(survives(Puts::Together, &numbers, None, judge));
    assert!(opened > 2 && refused > 300, "{opened}, {refused}");
}

/// Nothing that orders stores can be left out.
#[test]
fn every_barrier_is_needed() {
    use Site::{
        EnterWriteBack, HeadFence, HeadWriteBack, LinkFence, MarkFence, MarkWriteBack,
        RecordWriteBack,
    };
    let numbers = drawn(3, 40);
    for site in [RecordWriteBack, LinkFence, EnterWriteBack, HeadWriteBack, HeadFence] {
        let judge = |found, notes| is_durable(&numbers, found, notes);
        assert!(!survives(Puts::Durable, &numbers, Some(site), judge), "durable: {site:?}");
    }
    let sites =
        [RecordWriteBack, EnterWriteBack, HeadWriteBack, HeadFence, MarkWriteBack, MarkFence];
    for site in sites {
        let judge = |found, notes| is_whole(&numbers, found, notes);
        assert!(!survives(Puts::Together, &numbers, Some(site), judge), "together: {site:?}");
    }
}
