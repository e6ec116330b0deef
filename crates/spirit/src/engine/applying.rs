//! Operations that are applied one by one, each if its condition holds.
//!
//! The thread that has the ingest role decides. It looks up the document that a key has, and takes the
//! operation into its batch or refuses it. Nobody else can change a key between the look and the
//! commit. A put without a condition needs no look: its commit finds what it replaces. A batch has each key once: an operation whose key is in it already waits for the commit, and
//! so does a delete.
//!
//! Documents with automatic keys of several executors come before the others, since their numbers choose
//! the executor.
//!
//! The log has the operations that were taken, as it has any others. So a replay decides nothing, and a
//! power cut leaves a prefix of each executor's operations.

use std::ops::Range;
use std::sync::Arc;

use spirit_index::keys;
use spirit_schema::Schema;

use super::Engine;
use super::executor::Executor;
use crate::config::error::WriteError;
use crate::config::operation::{Applied, Change, Condition, Operation};
use crate::write::collector::KEYS_PREFETCHED;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Committed, Ingester};

/// The bytes of a document's encoded fields, about.
const FIELD_BYTES: usize = 128;

/// The results of operations, by their index.
type Results = [Result<Applied, WriteError>];

impl Engine {
    /// Applies operations in order, and returns the result of each.
    pub(crate) fn apply(&self, operations: &[Operation<'_>]) -> Vec<Result<Applied, WriteError>> {
        let mut results = vec![Err(WriteError::Poisoned); operations.len()];
        let mut fields = Vec::with_capacity(operations.len() * FIELD_BYTES);
        let prepared = self.prepare_all(operations, &mut fields, &mut results);
        let mut parts: Vec<Vec<Prepared<'_>>> = self.executors.iter().map(|_| Vec::new()).collect();
        for (index, ends) in prepared {
            let operation = &operations[index];
            let key = operation.key().map(str::as_bytes);
            let key = key.map(|bytes| (bytes, keys::hash(bytes)));
            let prepared = Prepared { index, operation, key, fields: &fields[ends] };
            match (operation.key(), parts.as_mut_slice()) {
                (Some(key), parts) => parts[self.executor_of_key(key)].push(prepared),
                (None, [only]) => only.push(prepared),
                (None, _) => results[index] = self.apply_numbered(&prepared),
            }
        }
        for (executor, part) in self.executors.iter().zip(&parts) {
            Applying::new(executor, part, &mut results).run();
        }
        results
    }

    /// Checks operations, and appends the fields of their documents. Returns those in which nothing
    /// is wrong, each with the place of its fields.
    fn prepare_all(
        &self,
        operations: &[Operation<'_>],
        fields: &mut Vec<u8>,
        results: &mut Results,
    ) -> Vec<(usize, Range<usize>)> {
        let mut prepared = Vec::with_capacity(operations.len());
        let mut schema = self.view.fields.current();
        for (index, operation) in operations.iter().enumerate() {
            let start = fields.len();
            match self.prepare(operation, &mut schema, fields) {
                Ok(()) => prepared.push((index, start..fields.len())),
                Err(error) => {
                    fields.truncate(start);
                    results[index] = Err(error);
                }
            }
        }
        prepared
    }

    /// Checks an operation, and appends the fields of its document. `schema` is renewed if it grows.
    fn prepare(
        &self,
        operation: &Operation<'_>,
        schema: &mut Arc<Schema>,
        fields: &mut Vec<u8>,
    ) -> Result<(), WriteError> {
        let Change::Put(document) = &operation.change else {
            return operation.key().map_or(Ok(()), |key| Called::By(key).check());
        };
        let start = fields.len();
        if !self.encode_known(schema, document, fields) {
            fields.truncate(start);
            fields.extend(self.encode(document)?);
            *schema = self.view.fields.current();
        }
        Ok(())
    }

    /// Adds a document whose number decides the executor. No condition can fail: its key is new.
    fn apply_numbered(&self, prepared: &Prepared<'_>) -> Result<Applied, WriteError> {
        let Change::Put(document) = &prepared.operation.change else {
            return Err(WriteError::Key { bytes: 0 });
        };
        prepared.operation.condition.check(None)?;
        let (number, sequence) = self.add_numbered(Contents::of(document, prepared.fields))?;
        Ok(Applied { sequence, replaced: None, number: Some(number) })
    }
}

/// An operation in which nothing is wrong.
struct Prepared<'o> {
    /// Its place among all operations.
    index: usize,
    operation: &'o Operation<'o>,
    /// Its key, with the key's hash.
    key: Option<(&'o [u8], u64)>,
    /// The encoded fields of its document.
    fields: &'o [u8],
}

impl Prepared<'_> {
    /// True if the document that its key has now decides something.
    fn needs_current(&self) -> bool {
        let is_delete = matches!(self.operation.change, Change::Delete(_));
        is_delete || self.operation.condition != Condition::Always
    }
}

/// The operations of one executor while they are applied.
struct Applying<'a> {
    executor: &'a Executor,
    part: &'a [Prepared<'a>],
    results: &'a mut Results,
    /// The places of the batch's documents in the part.
    batch: Vec<usize>,
    /// The hashes of the batch's keys.
    keys: foldhash::HashSet<u64>,
    /// True if the batch has a document with an automatic key.
    has_numbered: bool,
}

impl<'a> Applying<'a> {
    fn new(executor: &'a Executor, part: &'a [Prepared<'a>], results: &'a mut Results) -> Self {
        let (batch, keys) = (Vec::new(), foldhash::HashSet::default());
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
            self.prefetch(role, place + KEYS_PREFETCHED);
            let Prepared { operation, key, .. } = *prepared;
            let waits = matches!(operation.change, Change::Delete(_))
                || key.is_some_and(|(bytes, hash)| self.may_have(bytes, hash))
                || role.collector().is_full();
            if waits && !self.batch.is_empty() {
                return place;
            }
            let current = match key.filter(|_| prepared.needs_current()) {
                Some((bytes, hash)) => role.current(bytes, hash),
                None => Ok(None),
            };
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

    /// Prefetches what the look at a key will read.
    fn prefetch(&self, role: &Ingester, place: usize) {
        if let Some(prepared) = self.part.get(place)
            && let Some((_, hash)) = prepared.key.filter(|_| prepared.needs_current())
        {
            role.prefetch(hash);
        }
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
        current: Option<u64>,
    ) -> Result<Option<Applied>, WriteError> {
        let Prepared { operation, fields, .. } = &self.part[place];
        match &operation.change {
            Change::Delete(key) => {
                role.delete(key.as_bytes())?;
                let sequence = role.last_sequence();
                Ok(Some(Applied { sequence, replaced: current, number: None }))
            }
            Change::Put(document) => {
                let contents = Contents::of(document, fields);
                role.collector().collect(document.key.into(), contents)?;
                self.batch.push(place);
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
        let done = (first..).zip(role.numbers()).zip(role.replaced());
        for (((sequence, number), replaced), place) in done.zip(&self.batch[..added]) {
            let applied = Applied { sequence, replaced: *replaced, number: Some(*number) };
            self.results[self.part[*place].index] = Ok(applied);
        }
        let refused = self.batch.get(added).copied();
        self.batch.clear();
        self.keys.clear();
        self.has_numbered = false;
        let (place, error) = refused.zip(result.err())?;
        self.results[self.part[place].index] = Err(error);
        Some(place + 1)
    }
}
