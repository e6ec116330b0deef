//! The index that has lost its power: started from an image, looked at, used on, cut again while it starts.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use spirit::Index;
use spirit::lab::Trace;
use spirit_door::Site;
use spirit_door::sim::{Image, Model as Fault, Quota, Simulator, cuts};
use spirit_door::trace::Event;

use crate::heap::Heap;
use crate::judge::Questions;
use crate::model::Model;
use crate::operation::Operation;
use crate::retention::Floor;
use crate::run::Run;
use crate::tally::Tally;

pub(crate) struct Patient<'r> {
    run: &'r Run,
    heap: Heap,
    questions: Questions,
    /// How often it has gone on.
    turn: u64,
}

/// What an index may hold.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// One of these,
    pub(crate) models: Vec<Model>,
    /// without what retention has taken.
    pub(crate) floors: Vec<Floor>,
}

impl Expected {
    /// This and nothing else.
    fn exactly(models: &[Model]) -> Expected {
        let executors = models.first().map_or(0, |model| model.executors);
        Expected { models: models.to_vec(), floors: vec![Floor::default(); executors] }
    }

    /// The same after something was dropped: the oldest documents may be gone.
    fn with_drops(&self) -> Expected {
        let drop = |floor: &Floor| Floor { going: u64::MAX, ..*floor };
        Expected { models: self.models.clone(), floors: self.floors.iter().map(drop).collect() }
    }
}

/// A process that is killed.
pub(crate) struct Kill<'k> {
    /// What it did.
    pub(crate) before: &'k [Event],
    /// What it leaves in the caches.
    pub(crate) image: &'k Image,
    pub(crate) expected: &'k Expected,
    /// Write-backs, fences or syncs of this site have no effect.
    pub(crate) dropped: Option<Site>,
}

/// Images of a cut after a kill and a start, in the models X and T.
const KILLED: usize = 6;

/// Threads of a start are numbered from here on, above those of the process that was killed.
const STARTED: u8 = 128;

/// Cuts of a recovery, of each site.
const NESTED: Quota = Quota { orders: 2, others: 1 };

impl<'r> Patient<'r> {
    pub(crate) fn new(run: &'r Run) -> Patient<'r> {
        Patient { run, heap: Heap::new(run.setup), questions: Questions::of(&run.history), turn: 0 }
    }

    /// Starts it from `image` and says what it may hold, or what is wrong; nothing if that is not settled.
    pub(crate) fn look(
        &mut self,
        image: &Image,
        expected: &Expected,
    ) -> Result<Vec<Model>, String> {
        self.heap.put(image);
        caught(|| {
            self.check()?;
            let index = self.open(None)?;
            let models = self.judged(&index, expected)?;
            // What the start itself had to drop the next one may find.
            Ok(if drops(&index) == 0 { models } else { Vec::new() })
        })
    }

    /// What it may hold, with what was dropped since it was opened. Something may be dropped while it is looked at: then that
    /// look does not count.
    fn judged(&self, index: &Index, expected: &Expected) -> Result<Vec<Model>, String> {
        loop {
            let before = drops(index);
            let with_drops = (before > 0).then(|| expected.with_drops());
            let judged = self.questions.judge(index, with_drops.as_ref().unwrap_or(expected));
            if judged.is_err() {
                index.settle();
            }
            if judged.is_ok() || drops(index) == before {
                return judged;
            }
        }
    }

    /// Starts it again, with one of `models` in it; it has to go on from there as if nothing had happened.
    pub(crate) fn go_on(&mut self, image: &Image, models: &[Model]) -> Result<(), String> {
        let mut models = models.to_vec();
        let oldest = models.first().and_then(|model| model.documents.first());
        let operations = self.afterwards(oldest.map(|document| &document.key));
        self.heap.put(image);
        caught(|| {
            let index = self.open(None)?;
            for operation in &operations {
                operation.call(&index).map_err(|e| format!("afterwards {operation:?}: {e}"))?;
                models.iter_mut().for_each(|model| model.apply(operation, operation.parts()));
            }
            let models = self.judged(&index, &Expected::exactly(&models))?;
            let before = expired(&index);
            index.close().map_err(|e| format!("it does not close: {e}"))?;
            let index = self.open(None)?;
            let mut expected = Expected::exactly(&models);
            // Closing engraves what is left, and may have to make room for it.
            if expired(&index) != before {
                expected = expected.with_drops();
            }
            self.judged(&index, &expected).map(drop)
        })
        .map_err(|why| format!("afterwards {why}"))
    }

    /// What is done next; now and then so that all of it is in segments, and the log says nothing.
    fn afterwards(&mut self, oldest: Option<&String>) -> Vec<Operation> {
        self.turn += 1;
        let together =
            vec![(None, "w3".into(), 0), (Some("k1".into()), "afterwards".into(), self.turn)];
        let mut operations = vec![
            Operation::Add("w1 afterwards".into()),
            Operation::Put("k0".into(), "w2 afterwards".into()),
            Operation::Flush,
            match self.turn % 3 {
                0 => Operation::Group(together, self.turn),
                _ => Operation::AddAll(together),
            },
        ];
        operations.extend(oldest.map(|key| Operation::Delete(key.clone())));
        operations.extend(self.turn.is_multiple_of(2).then_some(Operation::Flush));
        operations
    }

    /// Cuts the start from `image`, which finds one of `models`, and the starts after such cuts, `depth` deep: each finds
    /// the same.
    pub(crate) fn cut_again(
        &mut self,
        image: &Image,
        models: &[Model],
        [images, depth]: [usize; 2],
        seed: u64,
        tally: &mut Tally,
    ) -> Result<(), String> {
        self.heap.put(image);
        let trace = Arc::new(Trace::default());
        let events = caught(|| {
            let index = self.open(Some(&trace))?;
            index.settle();
            drop(index);
            Ok(trace.take())
        })?;
        let mut simulator = Simulator::new(image.clone(), &events, None);
        let dropped = |position: usize| {
            events[..position].iter().any(|event| event.site == Some(Site::Retire))
        };
        for position in cuts(&events, NESTED, seed) {
            simulator.advance_to(position);
            let mut expected = Expected::exactly(models);
            if dropped(position) {
                expected = expected.with_drops();
            }
            tally.nested[0] += 1;
            let mut found = simulator.images(Fault::T, images, seed);
            let mut number = 0;
            while let Some(image) = found.next_image() {
                let place =
                    |why| format!("event {position} of the start before, image {number}: {why}");
                let models = self.look(image, &expected).map_err(place)?;
                if depth > 1 && number == 0 && !models.is_empty() {
                    self.cut_again(image, &models, [images / 2, depth - 1], seed, tally)
                        .map_err(place)?;
                }
                tally.nested[1] += 1;
                number += 1;
            }
        }
        Ok(())
    }

    /// The process is killed, another one starts and adds a document, and while it does the power is cut: all that the first
    /// one acknowledged is there, and what the second one did.
    pub(crate) fn cut_after_kill(
        &mut self,
        kill: &Kill<'_>,
        seed: u64,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let found = self.look(kill.image, kill.expected)?;
        if found.is_empty() {
            return Ok(());
        }
        self.heap.put(kill.image);
        let operation = Operation::Put("k0".into(), "w2 afterwards".into());
        let events = self.started(&operation)?;
        let with = |model: &Model| {
            let mut model = model.clone();
            model.apply(&operation, operation.parts());
            model
        };
        let acknowledged: Vec<Model> = found.iter().map(with).collect();
        let begun = [&found[..], &acknowledged].concat();
        let all = [kill.before, &events].concat();
        let mut simulator = Simulator::new(self.run.initial.clone(), &all, kill.dropped);
        for position in cuts(&events, NESTED, seed) {
            simulator.advance_to(kill.before.len() + position);
            let events = &events[..position];
            let has = |site| events.iter().any(|event| event.site == site);
            let mut expected = if has(None) {
                Expected::exactly(&acknowledged)
            } else if has(Some(Site::OpenSync)) {
                Expected::exactly(&begun)
            } else {
                // Nobody has seen yet what was not acknowledged.
                kill.expected.clone()
            };
            if has(Some(Site::Retire)) {
                expected = expected.with_drops();
            }
            tally.killed[0] += 1;
            for fault in [Fault::X, Fault::T] {
                let mut images = simulator.images(fault, KILLED, seed);
                while let Some(image) = images.next_image() {
                    let place = |why| {
                        format!(
                            "killed; event {position} of the next start, model {fault:?}: {why}"
                        )
                    };
                    self.look(image, &expected).map_err(place)?;
                    tally.killed[1] += 1;
                }
            }
        }
        Ok(())
    }

    /// What the doors see of a start that does one operation.
    fn started(&self, operation: &Operation) -> Result<Vec<Event>, String> {
        let trace = Arc::new(Trace::default());
        let events = caught(|| {
            let index = self.open(Some(&trace))?;
            operation.call(&index).map_err(|e| format!("after a kill {operation:?}: {e}"))?;
            trace.note(0);
            index.settle();
            drop(index);
            Ok(trace.take())
        })?;
        let of_start = |event: Event| Event { thread: STARTED + event.thread, ..event };
        Ok(events.into_iter().map(of_start).collect())
    }

    /// `spirit check` finds nothing wrong before anybody has mended it, but for a root or a list of fields that
    /// was torn; without any root there is nothing to check.
    fn check(&self) -> Result<(), String> {
        let Ok(report) = Index::check(self.heap.path()) else { return Ok(()) };
        let is_wrong = report.findings.iter().any(|finding| !TORN.contains(&finding.what));
        if is_wrong { Err(format!("a check says\n{report}")) } else { Ok(()) }
    }

    fn open(&self, trace: Option<&Arc<Trace>>) -> Result<Index, String> {
        let opened = self.run.setup.open(self.heap.path(), trace);
        opened.map_err(|e| format!("it does not open: {e}"))
    }
}

/// What may be found torn, since there is another one.
const TORN: [&str; 2] = ["root", "list of fields"];

/// How many segments retention took since the start.
fn drops(index: &Index) -> u64 {
    index.stats().map_or(0, |stats| stats.dropped_segments)
}

/// How many living documents retention ever took.
fn expired(index: &Index) -> u64 {
    index.stats().map_or(0, |stats| stats.expired)
}

fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(format!("it panics: {}", message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
