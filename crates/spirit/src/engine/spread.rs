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
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::keys;

use super::Engine;
use super::encoded::Encoded;
use super::side_by_side::{SIDE_BY_SIDE_MIN, side_by_side};
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::write::collector::Collector;
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::ingest::Ingester;

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

/// The numbers of documents that were drawn together, in parts: each document goes to the executor of
/// its key, or of its number.
pub(super) struct Drawing {
    pub(super) parts: Vec<Vec<Numbered>>,
    /// The document numbers.
    pub(super) numbers: Range<u64>,
    /// One past the last sequence number.
    pub(super) sequence_end: u64,
    /// One past the largest number that one of them has as its explicit key.
    pub(super) explicit_end: u64,
}

impl Drawing {
    /// Draws numbers. `has_number` says if a document that is in has this one as its explicit key. If
    /// `has_mark` says so for the parts, one more sequence number is drawn behind them.
    fn of(
        engine: &Engine,
        documents: &[Document<'_>],
        has_number: impl Fn(u64) -> bool,
        has_mark: impl Fn(&[Vec<Numbered>]) -> bool,
    ) -> Drawing {
        let explicit = |document: &Document<'_>| keys::as_number(document.key?.as_bytes());
        let explicit_end = documents.iter().filter_map(explicit).max().map_or(0, |max| max + 1);
        let (numbers, range) = draw_numbers(engine, documents, has_number);
        let executors = engine.executors.len();
        // Somewhat more than each has on the average.
        let room = documents.len() / executors * 9 / 8 + 8;
        let mut parts: Vec<_> = (0..executors).map(|_| Vec::with_capacity(room)).collect();
        for (index, (document, number)) in documents.iter().zip(&numbers).enumerate() {
            let executor = engine.executor_of_document(document, *number);
            let drawn = Drawn { sequence: index as u64, number: *number };
            parts[executor].push(Numbered { index, drawn });
        }
        let count = documents.len() as u64 + u64::from(has_mark(&parts));
        let first = engine.numbers.sequence.fetch_add(count, Relaxed);
        parts.iter_mut().flatten().for_each(|one| one.drawn.sequence += first);
        Drawing { parts, numbers: range, sequence_end: first + count, explicit_end }
    }

    /// Divides documents that have their sequence numbers, with the document numbers that go with
    /// them. Returns the part of each executor.
    pub(super) fn of_collection(
        engine: &Engine,
        documents: &[Document<'_>],
        sequences: &[u64],
        document_of: impl Fn(u64) -> u64,
    ) -> Vec<Vec<Numbered>> {
        let mut parts = vec![Vec::new(); engine.executors.len()];
        for (index, (document, &sequence)) in documents.iter().zip(sequences).enumerate() {
            let number = document_of(sequence);
            let executor = engine.executor_of_document(document, number);
            parts[executor].push(Numbered { index, drawn: Drawn { sequence, number } });
        }
        parts
    }

    /// Draws numbers for documents behind others that are still being written, of which no explicit
    /// key is a number from `explicit_end` on. None if a number may be the explicit key of a document:
    /// that has to be looked up.
    pub(super) fn ahead(
        engine: &Engine,
        documents: &[Document<'_>],
        explicit_end: u64,
    ) -> Option<Drawing> {
        let numbers = &engine.numbers;
        let explicit_end = explicit_end.max(numbers.explicit_end.load(Relaxed));
        let is_above = explicit_end <= numbers.documents.load(Relaxed);
        let has_key = |document: &Document<'_>| document.key.is_some();
        let is_free = is_above || documents.iter().all(has_key);
        is_free.then(|| Drawing::of(engine, documents, |_| false, |_| false))
    }
}

/// Draws a number for each document, and returns their range. Passes over those that documents have as their explicit
/// keys.
///
/// They are drawn at once: a number that another thread draws between them would come to its executor
/// after higher ones.
fn draw_numbers(
    engine: &Engine,
    documents: &[Document<'_>],
    has_number: impl Fn(u64) -> bool,
) -> (Vec<u64>, Range<u64>) {
    let next = &engine.numbers.documents;
    let mut first = next.load(Relaxed);
    loop {
        let numbers = free_numbers(documents, first, &has_number);
        let end = numbers.last().map_or(first, |last| last + 1);
        match next.compare_exchange(first, end, Relaxed, Relaxed) {
            Ok(_) => return (numbers, first..end),
            Err(drawn) => first = drawn,
        }
    }
}

/// Returns a number for each document, from `first` on. No document without a key gets one that is
/// another document's explicit key.
fn free_numbers(
    documents: &[Document<'_>],
    first: u64,
    has_number: impl Fn(u64) -> bool,
) -> Vec<u64> {
    if documents.iter().all(|document| document.key.is_some()) {
        return (first..).take(documents.len()).collect();
    }
    let (mut number, mut given) = (first, HashSet::new());
    let mut draw = |key: Option<&str>| {
        match key {
            Some(key) => given.extend(keys::as_number(key.as_bytes())),
            None => {
                while given.contains(&number) || has_number(number) {
                    number += 1;
                }
            }
        }
        number += 1;
        number - 1
    };
    documents.iter().map(|document| draw(document.key)).collect()
}

/// The ingest roles of all executors, and the admission: while a thread has them, no other draws a
/// number and then waits for a role, and so comes to its executor after higher numbers.
pub(super) struct Spread<'e> {
    engine: &'e Engine,
    _admission: MutexGuard<'e, ()>,
    pub(super) roles: Vec<MutexGuard<'e, Ingester>>,
}

impl<'e> Spread<'e> {
    /// Takes the roles in the order of the executors, like every thread that takes several.
    /// Documents with numbers drawn before are ingested by then.
    pub(super) fn begin(engine: &'e Engine) -> Result<Spread<'e>, WriteError> {
        let spread = Spread::begin_anyhow(engine)?;
        spread.roles.iter().try_for_each(|role| role.check_open()).map(|()| spread)
    }

    /// The same, also during a bulk load.
    pub(super) fn begin_anyhow(engine: &'e Engine) -> Result<Spread<'e>, WriteError> {
        let admission = engine.admission();
        let roles = engine.executors.iter().map(|executor| executor.role());
        Ok(Spread { engine, roles: roles.collect::<Result<_, _>>()?, _admission: admission })
    }

    /// Draws the numbers of the documents.
    pub(super) fn draw(&self, documents: &[Document<'_>]) -> Drawing {
        self.draw_with_mark(documents, |_| false)
    }

    /// The same, and a sequence number behind them if `has_mark` says so for their parts.
    pub(super) fn draw_with_mark(
        &self,
        documents: &[Document<'_>],
        has_mark: impl Fn(&[Vec<Numbered>]) -> bool,
    ) -> Drawing {
        let role_of = |number| &self.roles[self.engine.executor_of(number)];
        Drawing::of(self.engine, documents, |number| role_of(number).has_number(number), has_mark)
    }

    /// Does `work` for each executor, with its role and its part, side by side if there is enough of
    /// it. Returns the results in the order of the executors.
    pub(super) fn each<T: Send>(
        &mut self,
        drawing: &Drawing,
        work: impl Fn(usize, &mut Ingester, &[Numbered]) -> T + Sync,
    ) -> Vec<T> {
        let roles = self.roles.iter_mut().map(|role| &mut **role);
        let tasks = roles.zip(&drawing.parts).enumerate();
        if drawing.parts.iter().map(Vec::len).sum::<usize>() < SIDE_BY_SIDE_MIN {
            return tasks.map(|(executor, (role, part))| work(executor, role, part)).collect();
        }
        side_by_side(tasks.collect(), |(executor, (role, part))| work(executor, role, part))
    }

    /// Gives the documents' numbers back. Later documents get them.
    pub(super) fn give_back(&self, drawing: &Drawing) {
        self.engine.numbers.give_back(drawing.numbers.clone());
    }

    /// Ingests the documents that other threads left meanwhile, and gives the roles back.
    pub(super) fn end(mut self) {
        for (executor, role) in self.engine.executors.iter().zip(&mut self.roles) {
            role.clear();
            executor.serve(role);
        }
    }
}
