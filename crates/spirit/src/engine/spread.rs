//! Documents that are spread over all executors, whose parts are written side by side.
//!
//! One thread takes the ingest roles of all executors and draws the documents' numbers in their
//! order. So along each executor's rows, sequence numbers and automatic keys ascend, whatever other
//! threads do. Between the sequence numbers of a part there are those of the other parts.
//!
//! What is shared by all threads is touched once for all documents: the locks of the roles, and the
//! counters of numbers. Everything that is touched for each document belongs to one executor.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard};

use spirit_index::keys;

use super::Engine;
use super::encoded::Encoded;
use super::side_by_side::{SIDE_BY_SIDE_MIN, side_by_side};
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::write::collector::Collector;
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::ingest::Ingester;

/// A thread changes to another part that has this many more documents left: what it has in its cache is
/// of its own.
const CHANGE_MIN: usize = 1024;

/// A document of a part, with its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    /// Its place among all documents.
    pub(super) index: usize,
    drawn: Drawn,
}

impl Numbered {
    /// Cuts the document into a batch.
    #[inline]
    pub(super) fn collect(
        &self,
        collector: &mut Collector<'_>,
        documents: &[Document<'_>],
        encoded: &Encoded,
    ) -> Result<(), WriteError> {
        let document = &documents[self.index];
        let called = document.key.map_or(Called::Number(self.drawn.number), Called::By);
        let contents = Contents::of(document, encoded.get(self.index));
        collector.collect_drawn(called, contents, Some(self.drawn))
    }
}

/// Documents in parts, with the ingest roles of all executors.
pub(super) struct Spread<'e> {
    engine: &'e Engine,
    /// Until the numbers are drawn. A thread that drew a lower one now, and then waited for a role,
    /// would come to its executor after higher ones.
    admission: Option<MutexGuard<'e, ()>>,
    pub(super) roles: Vec<MutexGuard<'e, Ingester>>,
    parts: Vec<Vec<Numbered>>,
    /// The document numbers drawn.
    pub(super) numbers: Range<u64>,
    /// One past the last sequence number drawn.
    pub(super) sequence_end: u64,
    count: usize,
}

impl<'e> Spread<'e> {
    /// Takes the roles in the order of the executors, like every thread that takes several.
    /// Documents with numbers drawn before are ingested by then.
    pub(super) fn begin(engine: &'e Engine) -> Result<Spread<'e>, WriteError> {
        let admission = Some(engine.admission());
        let roles = engine.executors.iter().map(|executor| executor.role());
        Ok(Spread {
            engine,
            admission,
            roles: roles.collect::<Result<_, _>>()?,
            parts: engine.executors.iter().map(|_| Vec::new()).collect(),
            numbers: 0..0,
            sequence_end: 0,
            count: 0,
        })
    }

    /// Draws the numbers of the documents and divides them into parts: each goes to the executor of
    /// its key, or of its number. If `has_mark` says so for the parts, one more sequence number is
    /// drawn behind them.
    pub(super) fn draw(
        &mut self,
        documents: &[Document<'_>],
        has_mark: impl Fn(&[Vec<Numbered>]) -> bool,
    ) {
        let engine = self.engine;
        self.count = documents.len();
        let numbers = self.draw_numbers(documents);
        for (index, (document, number)) in documents.iter().zip(numbers).enumerate() {
            let executor = match document.key {
                Some(key) => engine.executor_of_key(key),
                None => engine.executor_of(number),
            };
            let drawn = Drawn { sequence: index as u64, number };
            self.parts[executor].push(Numbered { index, drawn });
        }
        let count = documents.len() as u64 + u64::from(has_mark(&self.parts));
        let first = engine.numbers.sequence.fetch_add(count, Relaxed);
        self.parts.iter_mut().flatten().for_each(|one| one.drawn.sequence += first);
        self.sequence_end = first + count;
        self.admission = None;
    }

    /// Draws a number for each document, and passes over those that documents have as their
    /// explicit keys.
    ///
    /// They are drawn at once: a number that another thread draws between them would come to its
    /// executor after higher ones.
    fn draw_numbers(&mut self, documents: &[Document<'_>]) -> Vec<u64> {
        let next = &self.engine.numbers.documents;
        let mut first = next.load(Relaxed);
        loop {
            let numbers = self.free_numbers(documents, first);
            let end = numbers.last().map_or(first, |last| last + 1);
            match next.compare_exchange(first, end, Relaxed, Relaxed) {
                Ok(_) => {
                    self.numbers = first..end;
                    return numbers;
                }
                Err(drawn) => first = drawn,
            }
        }
    }

    /// Returns a number for each document, from `first` on. No document without a key gets one that
    /// is another document's explicit key.
    fn free_numbers(&self, documents: &[Document<'_>], first: u64) -> Vec<u64> {
        let (mut number, mut given) = (first, HashSet::new());
        let mut draw = |key: Option<&str>| {
            match key {
                Some(key) => given.extend(keys::as_number(key.as_bytes())),
                None => {
                    while given.contains(&number) || self.has_number(number) {
                        number += 1;
                    }
                }
            }
            number += 1;
            number - 1
        };
        documents.iter().map(|document| draw(document.key)).collect()
    }

    fn has_number(&self, number: u64) -> bool {
        self.roles[self.engine.executor_of(number)].has_number(number)
    }

    /// Does `work` for each executor, with its role and its part, side by side if there is enough of
    /// it. Returns the results in the order of the executors.
    pub(super) fn each<T: Send>(
        &mut self,
        work: impl Fn(usize, &mut Ingester, &[Numbered]) -> T + Sync,
    ) -> Vec<T> {
        let roles = self.roles.iter_mut().map(|role| &mut **role);
        let tasks = roles.zip(&self.parts).enumerate();
        if self.count < SIDE_BY_SIDE_MIN {
            return tasks.map(|(executor, (role, part))| work(executor, role, part)).collect();
        }
        side_by_side(tasks.collect(), |(executor, (role, part))| work(executor, role, part))
    }

    /// Writes the parts side by side, a few documents at a time: `step` writes some of those that
    /// are left, and says how many. A thread that is free takes the part with the most left. So a
    /// thread that comes late keeps nobody waiting. Returns what stopped each part, if anything did.
    pub(super) fn write_all<E: Send>(
        &mut self,
        step: impl Fn(&mut Ingester, &[Numbered]) -> Result<usize, E> + Sync,
    ) -> Vec<E> {
        let roles = self.roles.iter_mut().map(|role| &mut **role);
        let parts = roles.zip(self.parts.iter().map(Vec::as_slice));
        if self.count < SIDE_BY_SIDE_MIN {
            return parts.filter_map(|(role, part)| in_steps(role, part, &step).err()).collect();
        }
        let parts: Vec<_> = parts.map(|(role, part)| Part::new(role, part)).collect();
        let run = |()| {
            let (mut own, mut stopped) = (None, Vec::new());
            // Each round writes some documents; it ends when other threads have all parts that are left.
            while let Some(mut part) = take_next(&parts, own.take()) {
                stopped.extend(part.write_some(&step).err());
                own = Some(part);
            }
            stopped
        };
        side_by_side(vec![(); parts.len()], run).into_iter().flatten().collect()
    }

    /// Gives the documents' numbers back. Later documents get them.
    pub(super) fn give_back(&self) {
        self.engine.numbers.give_back(self.numbers.clone());
    }

    /// Ingests the documents that other threads left meanwhile, and gives the roles back.
    pub(super) fn end(mut self) {
        for (executor, role) in self.engine.executors.iter().zip(&mut self.roles) {
            role.clear();
            executor.serve(role);
        }
    }
}

/// Writes a part by `step`, which writes some documents and says how many.
fn in_steps<E>(
    role: &mut Ingester,
    mut part: &[Numbered],
    step: impl Fn(&mut Ingester, &[Numbered]) -> Result<usize, E>,
) -> Result<(), E> {
    while !part.is_empty() {
        part = &part[step(role, part)?..];
    }
    Ok(())
}

/// A part that any thread may go on with, one at a time.
struct Part<'p> {
    /// How many documents are left, as the thread that has the part said last.
    left: AtomicUsize,
    rest: Mutex<Rest<'p>>,
}

struct Rest<'p> {
    role: &'p mut Ingester,
    documents: &'p [Numbered],
}

/// A part that a thread has.
struct Taken<'p, 's> {
    left: &'s AtomicUsize,
    rest: MutexGuard<'s, Rest<'p>>,
}

impl<'p> Part<'p> {
    fn new(role: &'p mut Ingester, documents: &'p [Numbered]) -> Part<'p> {
        let left = AtomicUsize::new(documents.len());
        Part { left, rest: Mutex::new(Rest { role, documents }) }
    }

    /// Takes the part if no thread has it. Nobody waits for a part.
    fn take(&self) -> Option<Taken<'p, '_>> {
        self.rest.try_lock().ok().map(|rest| Taken { left: &self.left, rest })
    }
}

impl Taken<'_, '_> {
    fn left(&self) -> usize {
        self.rest.documents.len()
    }

    /// Writes some documents. Those behind an error are not written.
    fn write_some<E>(
        &mut self,
        step: impl Fn(&mut Ingester, &[Numbered]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let Rest { role, documents } = &mut *self.rest;
        let written = step(role, documents);
        *documents = written.as_ref().map_or(&[], |count| &documents[*count..]);
        // Relaxed: it is a hint. Who takes the part sees by its lock what is left.
        self.left.store(documents.len(), Relaxed);
        written.map(|_| ())
    }
}

/// Returns a thread's own part, unless that is done or a free one has many more documents left.
///
/// A thread that gets none has none with documents left. So of two threads that find each other's
/// parts taken, the one that goes on looks again, and no part is left behind.
fn take_next<'p, 's>(parts: &'s [Part<'p>], own: Option<Taken<'p, 's>>) -> Option<Taken<'p, 's>> {
    let mut longest = own.filter(|own| own.left() > 0);
    let mut min = longest.as_ref().map_or(0, |own| own.left() + CHANGE_MIN);
    for part in parts {
        if part.left.load(Relaxed) > min
            && let Some(taken) = part.take()
            && taken.left() > min
        {
            min = taken.left();
            longest = Some(taken);
        }
    }
    longest
}
