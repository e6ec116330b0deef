//! A run: operations done to an index, with everything that it stored written down.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use spirit::lab::Trace;
use spirit::{Index, Search};
use spirit_door::Site;
use spirit_door::sim::{Image, Simulator};
use spirit_door::trace::{Action, Event};

use crate::heap;
use crate::model::Model;
use crate::operation::{Operation, apply};
use crate::retention::Retention;
use crate::setup::Setup;
use crate::support::directory::Directory;

/// What was done, and what the doors saw of it.
pub(crate) struct Run {
    pub(crate) setup: Setup,
    pub(crate) history: Vec<Operation>,
    /// The file before.
    pub(crate) initial: Image,
    pub(crate) events: Vec<Event>,
    /// What the index held before.
    pub(crate) before: Model,
    pub(crate) retention: Retention,
}

/// How far a run had come at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Operations acknowledged.
    pub(crate) acknowledged: usize,
    /// Operations begun.
    pub(crate) begun: usize,
}

fn begun(operation: usize) -> u64 {
    (operation as u64) << 1
}

fn acknowledged(operation: usize) -> u64 {
    begun(operation) | 1
}

impl Run {
    /// Makes an index and does `history` to it.
    pub(crate) fn new(setup: Setup, history: &[Operation]) -> Run {
        let directory = Directory::new();
        let trace = Arc::new(Trace::default());
        let history = Calls::new(setup, directory.path(), &trace).all(history);
        let run = Run {
            setup,
            history,
            initial: setup.empty(),
            retention: Retention::default(),
            events: trace.take(),
            before: Model::new(setup.executors),
        };
        let run = Run { retention: Retention::of(&run.events, setup.executors), ..run };
        run.check_complete(directory.path());
        run
    }

    /// A store that went past the doors would be in the file and not in the trace.
    fn check_complete(&self, directory: &Path) {
        let mut simulator = self.simulator();
        simulator.advance_to(self.events.len());
        let file = heap::read(directory, self.setup);
        assert!(*simulator.volatile() == file, "a store went past the door: {:?}", self.history);
    }

    /// The run up to its beginning.
    pub(crate) fn simulator(&self) -> Simulator<'_> {
        Simulator::new(self.initial.clone(), &self.events, None)
    }

    /// Where cutting begins. Before the first operation there is no index yet: it has its name when all of it is there.
    /// And a run that goes on until segments are dropped is cut from shortly before, since other runs are short.
    pub(crate) fn first_cut(&self) -> usize {
        let first = |is: fn(&Event) -> bool| self.events.iter().position(is);
        let named = first(|event| matches!(event.action, Action::Note(_)));
        let dropping = first(|event| event.site == Some(Site::Retire)).unwrap_or(0);
        named.map_or(self.events.len(), |named| named + 1).max(dropping - dropping / 8)
    }

    /// How far it had come after `position` events.
    pub(crate) fn progress(&self, position: usize) -> Progress {
        let mut progress = Progress { acknowledged: 0, begun: 0 };
        for event in &self.events[..position] {
            match event.action {
                Action::Note(note) if note & 1 == 0 => progress.begun += 1,
                Action::Note(_) => progress.acknowledged += 1,
                _ => {}
            }
        }
        progress
    }

    /// What the index may hold after a cut there, apart from retention: all that was acknowledged; of the operation
    /// begun, each number of its parts.
    pub(crate) fn models(&self, progress: Progress) -> Vec<Model> {
        let mut model = self.before.clone();
        for operation in &self.history[..progress.acknowledged] {
            model.apply(operation, operation.parts());
        }
        let Some(in_flight) = self.history[..progress.begun].get(progress.acknowledged) else {
            return vec![model];
        };
        model.after_cut(in_flight)
    }
}

/// An index while a history is done to it.
struct Calls<'t> {
    setup: Setup,
    directory: &'t Path,
    trace: &'t Arc<Trace>,
    index: Option<Arc<Index>>,
    /// Flushes that nobody waits for yet.
    aside: Vec<JoinHandle<()>>,
    /// Readers that keep what they found, until a message comes.
    holding: Vec<(Sender<()>, JoinHandle<()>)>,
}

impl<'t> Calls<'t> {
    fn new(setup: Setup, directory: &'t Path, trace: &'t Arc<Trace>) -> Calls<'t> {
        let mut calls =
            Calls { setup, directory, trace, index: None, aside: Vec::new(), holding: Vec::new() };
        calls.open();
        calls
    }

    /// Does a history, and returns it with what became of operations with a condition.
    fn all(mut self, history: &[Operation]) -> Vec<Operation> {
        let mut history = history.to_vec();
        for (number, operation) in history.iter_mut().enumerate() {
            self.trace.note(begun(number));
            match operation {
                Operation::Apply(all) => *all = apply(self.index(), all),
                other => self.call(other),
            }
            self.trace.note(acknowledged(number));
        }
        self.close();
        history
    }

    fn index(&self) -> &Arc<Index> {
        self.index.as_ref().expect("the index is open between calls")
    }

    fn open(&mut self) {
        let index = self.setup.open(self.directory, Some(self.trace)).unwrap();
        self.index = Some(Arc::new(index));
    }

    fn close(&mut self) {
        self.release();
        self.aside.drain(..).for_each(|thread| thread.join().unwrap());
        let index = self.index.take().and_then(Arc::into_inner).expect("nobody else has it");
        index.close().unwrap();
    }

    fn call(&mut self, operation: &Operation) {
        let index = self.index();
        match operation {
            Operation::FlushAside => {
                let index = index.clone();
                self.aside.push(std::thread::spawn(move || index.flush().unwrap()));
            }
            Operation::Hold if self.holding.is_empty() => self.hold(),
            Operation::Hold => {}
            Operation::Release => self.release(),
            Operation::Reopen => {
                self.close();
                self.open();
            }
            one_call => one_call.call(index).unwrap(),
        }
    }

    fn hold(&mut self) {
        let index = self.index().clone();
        let (release, released) = channel();
        let (held, holds) = channel();
        let thread = std::thread::spawn(move || {
            let mut reader = index.reader().unwrap();
            let hits = reader.search("*", Search::newest(10)).unwrap();
            held.send(()).unwrap();
            // A message, or a closed channel: either way it is over.
            let _ = released.recv();
            drop(hits);
        });
        holds.recv().unwrap();
        self.holding.push((release, thread));
    }

    fn release(&mut self) {
        for (release, thread) in self.holding.drain(..) {
            release.send(()).unwrap();
            thread.join().unwrap();
        }
    }
}
