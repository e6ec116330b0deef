//! Some documents of a collection on their way to the executors.

use std::cell::{Cell, RefCell};
use std::sync::MutexGuard;

use spirit_index::keys;

use super::super::Engine;
use super::super::rounds::{self, Behind, Source};
use super::super::spread::{Drawing, Numbered};
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::storage::bulk_mark::{BulkMark, KeyKinds};
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::ingest::{Committed, Ingester};

/// The number of documents before one that was refused, and why it was.
pub(super) type Stopped = (u64, WriteError);

/// Documents that follow each other in the collection.
pub(super) struct Collection<'e> {
    engine: &'e Engine,
    /// How far the load was before them.
    mark: BulkMark,
    /// One past the sequence number of the last document that each executor has.
    ends: Vec<u64>,
    /// The sequence numbers of documents that no executor has.
    sequences: RefCell<Vec<u64>>,
    /// The number of these that go to the executors.
    drawn: Cell<usize>,
    keys: Cell<KeyKinds>,
    /// The sequence number of a document whose key could be another's.
    clash: Cell<Option<u64>>,
}

impl<'e> Collection<'e> {
    pub(super) fn new(engine: &'e Engine, mark: BulkMark, ends: Vec<u64>) -> Collection<'e> {
        let (sequences, drawn, clash) = (RefCell::default(), Cell::new(0), Cell::new(None));
        Collection { engine, mark, ends, sequences, drawn, keys: Cell::new(mark.keys), clash }
    }

    /// Returns the documents that no executor has, up to one whose key could be another's.
    pub(super) fn missing<'d>(
        &self,
        documents: impl Iterator<Item = Document<'d>>,
    ) -> impl Iterator<Item = Document<'d>> {
        let numbered = documents.zip(self.mark.next..);
        let fitting = numbered.take_while(|(document, sequence)| self.fits(document, *sequence));
        fitting.filter_map(|(document, sequence)| {
            let number = self.mark.document_of(sequence);
            let executor = self.engine.executor_of_document(&document, number);
            let is_missing = sequence >= self.ends[executor];
            is_missing.then(|| {
                self.sequences.borrow_mut().push(sequence);
                document
            })
        })
    }

    /// Notes the kind of a document's key. False if it could be another document's.
    fn fits(&self, document: &Document<'_>, sequence: u64) -> bool {
        let mut kinds = self.keys.get();
        match document.key {
            None => kinds.automatic = true,
            Some(key) => kinds.numeric |= keys::as_number(key.as_bytes()).is_some(),
        }
        if kinds.may_clash() {
            self.clash.set(Some(sequence));
        } else {
            self.keys.set(kinds);
        }
        !kinds.may_clash()
    }

    /// Returns the kinds of keys of these documents and those before.
    pub(super) fn keys(&self) -> KeyKinds {
        self.keys.get()
    }

    /// Returns an error if a document's key could be another's.
    pub(super) fn check_keys(&self) -> Result<(), Stopped> {
        let before = self.clash.get().map(|sequence| sequence - self.mark.next);
        before.map_or(Ok(()), |before| Err((before, WriteError::BulkKeysMixed)))
    }

    /// Adds the documents of `source`, which are [missing](Self::missing).
    pub(super) fn add<'d, I: Iterator<Item = Document<'d>>>(
        &self,
        source: &mut Source<'_, 'd, I>,
        roles: &mut [MutexGuard<'_, Ingester>],
    ) -> Result<(), Stopped> {
        loop {
            self.add_rounds(source, roles)?;
            match source.behind.take() {
                Some(Behind::Large(document)) => self.add_alone(&document, roles)?,
                Some(Behind::Refused(error)) => return self.stopped(self.drawn.get(), error),
                Some(Behind::Nothing) | None => return Ok(()),
            }
        }
    }

    fn add_rounds<'d, I: Iterator<Item = Document<'d>>>(
        &self,
        source: &mut Source<'_, 'd, I>,
        roles: &mut [MutexGuard<'_, Ingester>],
    ) -> Result<(), Stopped> {
        let threads = self.engine.executors.len();
        let mut next = source.next_round(threads);
        while let Some(mut round) = next {
            let before = self.drawn.get();
            round.parts = self.draw(&round.documents);
            let run = rounds::write(source, round, roles, |next| Some(self.draw(next)));
            if let Some((index, error)) = run.stopped.into_iter().min_by_key(|(index, _)| *index) {
                return self.stopped(before + index, error);
            }
            next = run.next.or_else(|| source.next_round(threads));
        }
        Ok(())
    }

    /// Adds a document that may need a segment of its own.
    fn add_alone(
        &self,
        document: &Document<'_>,
        roles: &mut [MutexGuard<'_, Ingester>],
    ) -> Result<(), Stopped> {
        let index = self.drawn.replace(self.drawn.get() + 1);
        let sequence = self.sequences.borrow()[index];
        self.engine.raise_numbers(&self.mark, sequence + 1);
        let number = self.mark.document_of(sequence);
        let role = &mut roles[self.engine.executor_of_document(document, number)];
        let mut add = || {
            let fields = self.engine.encode(document)?;
            let called = document.key.map_or(Called::Number(number), Called::By);
            let (contents, drawn) = (Contents::of(document, &fields), Drawn { sequence, number });
            role.collector().collect_drawn(called, contents, Some(drawn))?;
            let Committed { result, .. } = role.commit_drawn();
            result
        };
        add().or_else(|error| self.stopped(index, error))
    }

    /// Divides the next documents among the executors.
    fn draw(&self, documents: &[Document<'_>]) -> Vec<Vec<Numbered>> {
        let first = self.drawn.replace(self.drawn.get() + documents.len());
        let sequences = &self.sequences.borrow()[first..first + documents.len()];
        if let Some(last) = sequences.last() {
            self.engine.raise_numbers(&self.mark, last + 1);
        }
        let document_of = |sequence| self.mark.document_of(sequence);
        Drawing::of_collection(self.engine, documents, sequences, document_of)
    }

    /// Returns the error of the document at `index` of the missing ones.
    fn stopped(&self, index: usize, error: WriteError) -> Result<(), Stopped> {
        Err((self.sequences.borrow()[index] - self.mark.next, error))
    }
}
