//! Documents that are spread over all executors, each part written by a thread of its own.
//!
//! One thread takes the ingest roles of all executors and draws the documents' numbers in their
//! order. So along each executor's rows, sequence numbers and automatic keys ascend, whatever other
//! threads do. Between the sequence numbers of a part there are those of the other parts.
//!
//! What is shared by all threads is touched once for all documents: the locks of the roles, and the
//! counters of numbers. Everything that is touched for each document belongs to one executor.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use spirit_index::keys;

use super::Engine;
use crate::config::error::WriteError;
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::ingest::Ingester;

/// Fewer documents are written by the calling thread alone: to start another one takes as long as
/// some 60 documents (experiment `executors`).
pub(super) const SIDE_BY_SIDE_MIN: usize = 512;

/// A document of a part, with its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered<'d> {
    /// Its place among all documents.
    pub(super) index: usize,
    pub(super) called: Called<'d>,
    pub(super) contents: Contents<'d>,
    pub(super) drawn: Drawn,
}

/// Documents in parts, with the ingest roles of all executors.
pub(super) struct Spread<'e, 'd> {
    engine: &'e Engine,
    pub(super) roles: Vec<MutexGuard<'e, Ingester>>,
    pub(super) parts: Vec<Vec<Numbered<'d>>>,
    /// The document numbers drawn.
    pub(super) numbers: Range<u64>,
    /// One past the last sequence number drawn.
    pub(super) sequence_end: u64,
    count: usize,
}

impl<'e, 'd> Spread<'e, 'd> {
    /// Takes the roles in the order of the executors, like every thread that takes several.
    /// Documents with numbers drawn before are ingested by then.
    pub(super) fn begin(engine: &'e Engine) -> Result<Spread<'e, 'd>, WriteError> {
        let _admission = engine.admission();
        let roles = engine.executors.iter().map(|executor| executor.role());
        Ok(Spread {
            engine,
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
        documents: &[(Option<&'d str>, Contents<'d>)],
        has_mark: impl Fn(&[Vec<Numbered<'d>>]) -> bool,
    ) {
        let engine = self.engine;
        self.count = documents.len();
        let numbers = self.draw_numbers(documents);
        for (index, ((key, contents), number)) in documents.iter().zip(numbers).enumerate() {
            let (executor, called) = match key {
                Some(key) => (engine.executor_of_key(key), Called::By(key)),
                None => (engine.executor_of(number), Called::Number(number)),
            };
            let drawn = Drawn { sequence: index as u64, number };
            self.parts[executor].push(Numbered { index, called, contents: *contents, drawn });
        }
        let count = documents.len() as u64 + u64::from(has_mark(&self.parts));
        let first = engine.numbers.sequence.fetch_add(count, Relaxed);
        self.parts.iter_mut().flatten().for_each(|one| one.drawn.sequence += first);
        self.sequence_end = first + count;
    }

    /// Draws a number for each document, and passes over those that documents have as their
    /// explicit keys.
    ///
    /// They are drawn at once: a number that another thread draws between them would come to its
    /// executor after higher ones.
    fn draw_numbers(&mut self, documents: &[(Option<&str>, Contents<'_>)]) -> Vec<u64> {
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
    fn free_numbers(&self, documents: &[(Option<&str>, Contents<'_>)], first: u64) -> Vec<u64> {
        let (mut number, mut given) = (first, HashSet::new());
        let mut draw = |key: &Option<&str>| {
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
        documents.iter().map(|(key, _)| draw(key)).collect()
    }

    fn has_number(&self, number: u64) -> bool {
        self.roles[self.engine.executor_of(number)].has_number(number)
    }

    /// Does `work` for each executor, with its role and its part, side by side if there is enough of
    /// it. Returns the results in the order of the executors.
    pub(super) fn each<T: Send>(
        &mut self,
        work: impl Fn(usize, &mut Ingester, &[Numbered<'d>]) -> T + Sync,
    ) -> Vec<T> {
        let roles = self.roles.iter_mut().map(|role| &mut **role);
        let tasks = roles.zip(&self.parts).enumerate();
        if self.count < SIDE_BY_SIDE_MIN {
            return tasks.map(|(executor, (role, part))| work(executor, role, part)).collect();
        }
        side_by_side(tasks.collect(), |(executor, (role, part))| work(executor, role, part))
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

/// Does `work` for each task, on as many threads as there are cores for. Returns the results in the
/// order of the tasks.
pub(super) fn side_by_side<X: Send, T: Send>(
    tasks: Vec<X>,
    work: impl Fn(X) -> T + Sync,
) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let run = || {
        // The loop ends when all tasks are taken.
        loop {
            let next = locked(&tasks).next();
            let Some((number, task)) = next else { break };
            let result = work(task);
            locked(&done).push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be started leaves its task to the others.
            let named = thread::Builder::new().name("spirit-add".to_owned());
            let _ = named.spawn_scoped(scope, &run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
