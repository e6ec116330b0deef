//! Power cuts and kills of a bulk load: a later run goes on, and the index is then as if nothing had happened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use spirit::lab::Trace;
use spirit::{Index, Search, WriteError};
use spirit_door::sim::{Image, Model as Fault, Quota, Simulator, cuts};
use spirit_door::trace::{Action, Event};

use crate::heap::{self, Heap};
use crate::operation::WORDS;
use crate::setup::Setup;
use crate::support::directory::Directory;
use crate::support::{Chance, size_of_run};
use crate::workers;

/// Loads that are cut, and images of each cut in the models K, X and T.
const LOADS: u64 = 6;
const IMAGES: [usize; 3] = [2, 4, 4];
const QUOTA: Quota = Quota { orders: 4, others: 2 };
/// A run of a load ends this often at most, before the last.
const STOPS: u64 = 4;
/// At one image in this many the load is given up too.
const GIVEN_UP: u64 = 4;
const DOCUMENTS: u64 = 40;
const KEYS: u64 = 12;
const RARE_WORDS: u64 = 300;
/// Words of a long document. Two dozen of them fill a segment.
const LONG: u64 = 300;
/// Longer than a segment takes to be flushed and engraved.
const PAUSE: Duration = Duration::from_millis(3);
/// The note that the index is there.
const MADE: u64 = 1;

/// A collection, and how it is loaded.
struct Load {
    setup: Setup,
    documents: Vec<(Option<String>, String)>,
    /// The document before which each run ends, in order.
    stops: Vec<usize>,
    /// Documents that are added at once.
    step: usize,
    /// Which documents are long.
    long: Long,
    /// Between the steps, so that what is full is engraved meanwhile.
    pause: Duration,
}

/// Which documents of a load are long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Long {
    None,
    All,
    EverySecond,
}

impl Long {
    fn has(self, number: u64) -> bool {
        match self {
            Long::None => false,
            Long::All => true,
            Long::EverySecond => number.is_multiple_of(2),
        }
    }
}

/// What a query for everything finds: sequence numbers and keys, newest first.
type Found = Vec<(u64, String)>;

impl Load {
    fn of(seed: u64) -> Load {
        let chance = &mut Chance::new(seed);
        let setup = Setup { retain: false, ..Setup::of(seed) };
        // Of two executors, which an odd seed has, one may be far ahead of the other.
        let long = match seed % 6 {
            0 | 2 => Long::All,
            1 | 3 => Long::EverySecond,
            _ => Long::None,
        };
        let (count, stops, pause) = match long {
            Long::None => (8 + chance.below(DOCUMENTS), chance.below(STOPS + 1), Duration::ZERO),
            // A stop ends a segment, which is then not full.
            _ => (setup.executors as u64 * (40 + chance.below(16)), chance.below(2), PAUSE),
        };
        let keyed = match long {
            Long::None => [0, 3, 3][chance.below(3) as usize],
            Long::All => 3,
            // Few, since a key decides on the executor.
            Long::EverySecond => chance.below(2),
        };
        let documents = (0..count).map(|number| {
            let has_key = chance.below(4) < keyed;
            let key = has_key.then(|| format!("k{}", chance.below(KEYS)));
            let words =
                (0..1 + chance.below(6)).map(|_| WORDS[chance.below(4) as usize].to_owned());
            let mut words: Vec<String> = words.collect();
            if long.has(number) {
                words.extend((0..LONG).map(|_| format!("w{}", chance.below(RARE_WORDS))));
            }
            (key, words.join(" "))
        });
        let documents = documents.collect();
        let stops = (0..stops).map(|_| chance.below(count) as usize);
        let mut stops: Vec<usize> = stops.collect();
        stops.sort_unstable();
        Load { setup, documents, stops, step: 1 + chance.below(9) as usize, long, pause }
    }

    /// Adds the documents from the place that was kept up to `end`. The place is the number of those
    /// before it.
    fn add(&self, index: &Index, end: usize, pause: Duration) -> Result<(), WriteError> {
        let mut bulk = index.bulk()?;
        let [begun, before, ..] = bulk.place();
        assert_eq!(before, bulk.documents(), "the place is that of the next document");
        let place = |before: usize| -> [u64; 6] { [1, before as u64, 0, 0, 0, 0] };
        if begun == 0 {
            bulk.note_place(place(0))?;
        }
        let mut at = before as usize;
        while at < end {
            let next = (at + self.step).min(end);
            let documents = self.documents[at..next].iter();
            bulk.add_all(documents.map(|(key, text)| (key.as_deref(), text.as_str())))?;
            std::thread::sleep(pause);
            bulk.note_place(place(next))?;
            at = next;
        }
        if end == self.documents.len() { bulk.finish() } else { bulk.suspend() }
    }

    /// Makes the index and loads the collection, with an end of each run at its stop.
    fn run(&self, directory: &Path, trace: &Arc<Trace>) -> Found {
        let mut index = self.setup.open(directory, Some(trace)).unwrap();
        trace.note(MADE);
        for stop in &self.stops {
            self.add(&index, *stop, self.pause).unwrap();
            assert_eq!(index.add("refused"), Err(WriteError::BulkUnfinished));
            if stop % 2 == 0 {
                index.close().unwrap();
                index = self.setup.open(directory, Some(trace)).unwrap();
            }
        }
        self.add(&index, self.documents.len(), self.pause).unwrap();
        let found = found(&index);
        let stats = index.stats().unwrap();
        assert_eq!(stats.dropped_segments, 0, "nothing is dropped");
        // Each executor has one, and an empty one for what comes next.
        let is_spread = stats.segments.len() > 2 * self.setup.executors;
        assert!(
            is_spread || self.long == Long::None,
            "an executor's documents take several segments"
        );
        index.close().unwrap();
        found
    }

    /// Goes on from an image, to the end. Says what is wrong.
    fn go_on(&self, heap: &mut Heap, image: &Image, expected: &Found) -> Result<(), String> {
        heap.put(image);
        let index = self.setup.open(heap.path(), None).map_err(|error| error.to_string())?;
        let accepted = index.accepted();
        if index.has_unfinished_bulk() || accepted == 0 {
            let added = self.add(&index, self.documents.len(), Duration::ZERO);
            added.map_err(|error| error.to_string())?;
        }
        // After a start dead rows are counted anew in the background.
        index.settle();
        let found = found(&index);
        let counts = (index.accepted(), index.stats().unwrap().documents);
        if found != *expected || counts != (self.documents.len() as u64, expected.len() as u64) {
            return Err(format!(
                "behind {accepted} documents it comes to {counts:?} and {found:?}, not {expected:?}"
            ));
        }
        index.add("afterwards").map_err(|error| error.to_string())?;
        index.close().map_err(|error| error.to_string())
    }

    /// Gives the load up, and adds other documents. None that was there goes.
    fn give_up(&self, heap: &mut Heap, image: &Image) -> Result<(), String> {
        heap.put(image);
        let index = self.setup.open(heap.path(), None).map_err(|error| error.to_string())?;
        let mut expected = found(&index);
        index.give_up_bulk().map_err(|error| error.to_string())?;
        for _ in 0..2 * self.documents.len() {
            let number = index.add("afterwards").map_err(|error| error.to_string())?;
            let sequence = found(&index)[0].0;
            expected.insert(0, (sequence, number.to_string()));
        }
        let found = found(&index);
        if found != expected {
            let gone: Vec<_> = expected.iter().filter(|one| !found.contains(one)).collect();
            let come: Vec<_> = found.iter().filter(|one| !expected.contains(one)).collect();
            return Err(format!("given up, it loses {gone:?} and has {come:?}"));
        }
        index.close().map_err(|error| error.to_string())
    }

    /// What an index holds that each document was added to alone.
    fn expected(&self) -> Found {
        let key =
            |number: usize| self.documents[number].0.clone().unwrap_or_else(|| number.to_string());
        let numbers = (0..self.documents.len()).rev();
        let is_last = |number: &usize| {
            !(number + 1..self.documents.len()).any(|later| key(later) == key(*number))
        };
        numbers.filter(is_last).map(|number| (number as u64, key(number))).collect()
    }
}

fn found(index: &Index) -> Found {
    let mut reader = index.reader().unwrap();
    loop {
        let hits = reader.search("*", Search::newest(1000)).unwrap();
        let sequences: Result<Vec<u64>, _> = hits.iter().map(|hit| hit.sequence()).collect();
        // A reader that was stopped for longer than the lease asks again.
        if let (Ok(sequences), Ok(keys)) = (sequences, hits.keys()) {
            return sequences.into_iter().zip(keys).collect();
        }
    }
}

/// Cuts a load, and goes on from each image. Returns the number of images, and what is wrong.
fn explore(seed: u64) -> (u64, Option<String>) {
    let load = Load::of(seed);
    let directory = Directory::new();
    let trace = Arc::new(Trace::default());
    let expected = load.expected();
    assert_eq!(load.run(directory.path(), &trace), expected, "load {seed}, not cut");
    let events = trace.take();
    let initial = load.setup.empty();
    let mut simulator = Simulator::new(initial, &events, None);
    let (mut heap, mut looked) = (Heap::new(load.setup), 0);
    let first = events.iter().position(is_made).map_or(0, |made| made + 1);
    for position in cuts(&events[first..], QUOTA, seed) {
        simulator.advance_to(first + position);
        for fault in Fault::ALL {
            let mut images = simulator.images(fault, IMAGES[fault as usize], seed);
            while let Some(image) = images.next_image() {
                looked += 1;
                let is_given_up = looked % GIVEN_UP == seed % GIVEN_UP;
                let given_up = if is_given_up { load.give_up(&mut heap, image) } else { Ok(()) };
                let ended = given_up.and_then(|()| load.go_on(&mut heap, image, &expected));
                if let Err(why) = ended {
                    let at = first + position;
                    return (looked, Some(format!("load {seed}, event {at}, {fault:?}: {why}")));
                }
            }
        }
    }
    simulator.advance_to(events.len());
    let is_complete = *simulator.volatile() == heap::read(directory.path(), load.setup);
    (looked, (!is_complete).then(|| format!("load {seed}: a store went past the door")))
}

fn is_made(event: &Event) -> bool {
    matches!(event.action, Action::Note(MADE))
}

#[test]
fn a_bulk_load_goes_on_after_every_cut() {
    let loads = size_of_run("SPIRIT_LOADS", LOADS) as usize;
    let explored = workers::each(loads, |seed| explore(seed as u64));
    let images: u64 = explored.iter().map(|(images, _)| images).sum();
    println!("{images} images of {loads} loads");
    let wrong: Vec<_> = explored.into_iter().filter_map(|(_, wrong)| wrong).collect();
    assert_eq!(wrong, [] as [String; 0]);
    assert!(images >= 100 * loads as u64, "each load is cut often");
}
