//! Operations that are applied one by one, each if its condition holds.
//!
//! The thread that has the ingest role decides. It looks up the document that a key has, and takes the
//! operation into its batch or refuses it. Nobody else can change a key between the look and the
//! commit. A batch has each key once: an operation whose key is in it already waits for the commit, and
//! so does a delete.
//!
//! Documents with automatic keys of several executors come before the others, since their numbers choose
//! the executor.
//!
//! The log has the operations that were taken, as it has any others. So a replay decides nothing, and a
//! power cut leaves a prefix of each executor's operations.

use std::collections::HashSet;

use spirit_index::keys;

use super::Engine;
use super::executor::Executor;
use crate::config::error::WriteError;
use crate::config::operation::{Applied, Change, Operation};
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Committed, Ingester};

/// The results of operations, by their index.
type Results = [Result<Applied, WriteError>];

impl Engine {
    /// Applies operations in order, and returns the result of each.
    pub(crate) fn apply(&self, operations: &[Operation<'_>]) -> Vec<Result<Applied, WriteError>> {
        let mut results = vec![Err(WriteError::Poisoned); operations.len()];
        let mut parts: Vec<Vec<Prepared<'_>>> = self.executors.iter().map(|_| Vec::new()).collect();
        for (index, operation) in operations.iter().enumerate() {
            match self.prepare(operation) {
                Ok(fields) => {
                    let prepared = Prepared { index, operation, fields };
                    match (operation.key(), parts.as_mut_slice()) {
                        (Some(key), parts) => parts[self.executor_of_key(key)].push(prepared),
                        (None, [only]) => only.push(prepared),
                        (None, _) => results[index] = self.apply_numbered(&prepared),
                    }
                }
                Err(error) => results[index] = Err(error),
            }
        }
        for (executor, part) in self.executors.iter().zip(&parts) {
            Applying::new(executor, part, &mut results).run();
        }
        results
    }

    /// Checks an operation, and encodes the fields of its document.
    fn prepare(&self, operation: &Operation<'_>) -> Result<Vec<u8>, WriteError> {
        match &operation.change {
            Change::Put(document) => self.encode(document),
            Change::Delete(key) => Called::By(key).check().map(|()| Vec::new()),
        }
    }

    /// Adds a document whose number decides the executor. No condition can fail: its key is new.
    fn apply_numbered(&self, prepared: &Prepared<'_>) -> Result<Applied, WriteError> {
        let Change::Put(document) = &prepared.operation.change else {
            return Err(WriteError::Key { bytes: 0 });
        };
        prepared.operation.condition.check(None)?;
        let (number, sequence) = self.add_numbered(Contents::of(document, &prepared.fields))?;
        Ok(Applied { sequence, replaced: None, number: Some(number) })
    }
}

/// An operation whose document's fields are encoded.
struct Prepared<'o> {
    /// Its place among all operations.
    index: usize,
    operation: &'o Operation<'o>,
    fields: Vec<u8>,
}

/// A document in the batch.
struct Taken {
    /// The place of its operation in the executor's part.
    place: usize,
    /// The sequence number of the document that it replaces.
    replaced: Option<u64>,
}

/// The operations of one executor while they are applied.
struct Applying<'a> {
    executor: &'a Executor,
    part: &'a [Prepared<'a>],
    results: &'a mut Results,
    batch: Vec<Taken>,
    /// The hashes of the batch's keys.
    keys: HashSet<u64>,
    /// True if the batch has a document with an automatic key.
    has_numbered: bool,
}

impl<'a> Applying<'a> {
    fn new(executor: &'a Executor, part: &'a [Prepared<'a>], results: &'a mut Results) -> Self {
        let (batch, keys) = (Vec::new(), HashSet::new());
        Applying { executor, part, results, batch, keys, has_numbered: false }
    }

    fn run(mut self) {
        if self.part.is_empty() {
            return;
        }
        let mut role = match self.executor.role() {
            Ok(role) => role,
            Err(error) => {
                let indices = self.part.iter().map(|prepared| prepared.index);
                return indices.for_each(|index| self.results[index] = Err(error.clone()));
            }
        };
        let mut next = 0;
        // Terminates: each round ends at least one operation, since a batch that is empty takes any.
        while next < self.part.len() {
            next = self.collect(&mut role, next);
            next = self.commit(&mut role).unwrap_or(next);
            self.executor.serve(&mut role);
        }
    }

    /// Decides operations from a place on, and cuts their documents into the batch. Returns the place
    /// of the first one that has to wait for the commit.
    fn collect(&mut self, role: &mut Ingester, from: usize) -> usize {
        for (place, prepared) in self.part.iter().enumerate().skip(from) {
            let operation = prepared.operation;
            let key = operation.key().map(|key| (key.as_bytes(), keys::hash(key.as_bytes())));
            let waits = matches!(operation.change, Change::Delete(_))
                || key.is_some_and(|(bytes, hash)| self.may_have(bytes, hash))
                || role.collector().is_full();
            if waits && !self.batch.is_empty() {
                return place;
            }
            let current = key.map_or(Ok(None), |(bytes, hash)| role.current(bytes, hash));
            let decided = current.and_then(|current| {
                operation.condition.check(current)?;
                self.take(role, place, current)
            });
            match decided {
                Ok(Some(deleted)) => self.results[prepared.index] = Ok(deleted),
                Ok(None) => {
                    self.has_numbered |= key.is_none();
                    self.keys.extend(key.map(|(_, hash)| hash));
                }
                Err(error) => self.results[prepared.index] = Err(error),
            }
        }
        self.part.len()
    }

    /// True if the batch may have a document with this key. Numbers are drawn with the commit.
    fn may_have(&self, key: &[u8], hash: u64) -> bool {
        self.keys.contains(&hash) || self.has_numbered && keys::as_number(key).is_some()
    }

    /// Cuts a document into the batch, or deletes one and returns that.
    fn take(
        &mut self,
        role: &mut Ingester,
        place: usize,
        replaced: Option<u64>,
    ) -> Result<Option<Applied>, WriteError> {
        let Prepared { operation, fields, .. } = &self.part[place];
        match &operation.change {
            Change::Delete(key) => {
                role.delete(key.as_bytes())?;
                let sequence = role.last_sequence();
                Ok(Some(Applied { sequence, replaced, number: None }))
            }
            Change::Put(document) => {
                let contents = Contents::of(document, fields);
                role.collector().collect(document.key.into(), contents)?;
                self.batch.push(Taken { place, replaced });
                Ok(None)
            }
        }
    }

    /// Commits the batch. If a document was refused, returns the place behind it: the documents behind
    /// it are decided again.
    fn commit(&mut self, role: &mut Ingester) -> Option<usize> {
        if self.batch.is_empty() {
            return None;
        }
        let Committed { added, result } = role.commit();
        let (first, added) = (role.first_sequence(), added as usize);
        let numbered = (first..).zip(role.numbers());
        for ((sequence, number), taken) in numbered.zip(&self.batch[..added]) {
            let applied = Applied { sequence, replaced: taken.replaced, number: Some(*number) };
            self.results[self.part[taken.place].index] = Ok(applied);
        }
        let refused = self.batch.get(added).map(|taken| taken.place);
        self.batch.clear();
        self.keys.clear();
        self.has_numbered = false;
        let (place, error) = refused.zip(result.err())?;
        self.results[self.part[place].index] = Err(error);
        Some(place + 1)
    }
}
