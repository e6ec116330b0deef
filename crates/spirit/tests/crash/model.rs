//! What an index holds, by the simplest means: a list of the living documents.

use std::collections::BTreeSet;

use spirit::lab::StoredValue;
use spirit_index::keys;

use crate::operation::{Conditioned, Operation, fields_of};

/// A living document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) sequence: u64,
    pub(crate) key: String,
    pub(crate) words: BTreeSet<String>,
    pub(crate) text: String,
    pub(crate) fields: Vec<(String, StoredValue)>,
    pub(crate) executor: usize,
}

/// An index with operations done to it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) executors: usize,
    /// By sequence number, rising.
    pub(crate) documents: Vec<Document>,
    /// Documents ever accepted.
    pub(crate) accepted: u64,
    /// The number of the next document, unless that is another document's key.
    pub(crate) number: u64,
    /// The next sequence number.
    pub(crate) sequence: u64,
    /// The offset of the last group.
    pub(crate) offset: Option<u64>,
}

impl Model {
    pub(crate) fn new(executors: usize) -> Model {
        Model {
            executors,
            documents: Vec::new(),
            accepted: 0,
            number: 0,
            sequence: 0,
            offset: None,
        }
    }

    /// Does the first `parts` parts of an operation.
    pub(crate) fn apply(&mut self, operation: &Operation, parts: usize) {
        if let Operation::Delete(key) = operation
            && parts > 0
        {
            self.delete(key);
            self.sequence += 1;
        }
        if let Operation::Apply(all) = operation {
            return self.apply_all(all, parts);
        }
        if let Operation::Group(_, offset) = operation {
            return if parts == operation.parts() {
                self.add_group(operation, *offset)
            };
        }
        self.add_all(operation, parts);
    }

    /// Does the first `parts` of some operations, of which executors take theirs one after the other.
    fn apply_all(&mut self, all: &[Conditioned], parts: usize) {
        let mut all: Vec<_> = all.iter().collect();
        all.sort_by_key(|one| self.executor_of(&one.key));
        for one in &all[..parts] {
            match &one.text {
                _ if !one.was_applied => {}
                Some(text) => self.add(Some(&one.key), text, 0),
                None => {
                    self.delete(&one.key);
                    self.sequence += 1;
                }
            }
        }
    }

    /// If the first executor has no document of the group, a row without a document takes a number.
    fn add_group(&mut self, operation: &Operation, offset: u64) {
        let first = self.sequence;
        self.add_all(operation, operation.parts());
        let is_marked = !self.documents.iter().any(|d| d.sequence >= first && d.executor == 0);
        self.sequence += u64::from(is_marked);
        self.offset = Some(offset);
    }

    /// Adds documents, numbered in their order. Executors take theirs one after the other, and the
    /// first `parts` of all are in.
    fn add_all(&mut self, operation: &Operation, parts: usize) {
        let mut added = self.numbered(operation);
        added.sort_by_key(|(document, _)| document.executor);
        for (document, number) in added.into_iter().take(parts) {
            self.delete(&document.key);
            self.sequence = self.sequence.max(document.sequence + 1);
            self.number = self.number.max(number);
            self.accepted += 1;
            self.documents.push(document);
        }
        self.documents.sort_by_key(|document| document.sequence);
    }

    /// The documents that an operation adds, in their order, each with the number behind its own.
    fn numbered(&self, operation: &Operation) -> Vec<(Document, u64)> {
        let (mut ahead, mut added) = (self.clone(), Vec::new());
        for (key, text, fields) in operation.documents() {
            ahead.add(key, text, fields);
            added.extend(ahead.documents.last().cloned().map(|document| (document, ahead.number)));
        }
        added
    }

    /// What the index may hold when an operation was cut off.
    pub(crate) fn after_cut(&self, operation: &Operation) -> Vec<Model> {
        let after = |parts| {
            let mut model = self.clone();
            model.apply(operation, parts);
            model
        };
        if !matches!(operation, Operation::Group(..)) {
            return (0..=operation.parts()).map(after).collect();
        }
        // Numbers go on behind the first of a part that was logged and then refused.
        let refused = self.numbered(operation).into_iter().map(|(document, _)| document);
        let refused = refused
            .filter(|document| document.executor > 0)
            .map(|document| Model { sequence: document.sequence, ..self.clone() });
        [self.clone(), after(operation.parts())].into_iter().chain(refused).collect()
    }

    /// Sequence numbers and keys, newest first, and what was accepted.
    pub(crate) fn describe(&self) -> String {
        let documents: Vec<_> = self.documents.iter().rev().map(|d| (d.sequence, &d.key)).collect();
        format!("{documents:?}, {} accepted, offset {:?}", self.accepted, self.offset)
    }

    /// Adds a document.
    fn add(&mut self, key: Option<&str>, text: &str, fields: u64) {
        let is_taken = |key: String| self.documents.iter().any(|document| document.key == key);
        let mut number = self.number;
        while key.is_none() && is_taken(number.to_string()) {
            number += 1;
        }
        let key = key.map_or_else(|| number.to_string(), str::to_owned);
        self.delete(&key);
        let words = text.split_whitespace().map(str::to_owned).collect();
        let (sequence, executor, text) = (self.sequence, self.executor_of(&key), text.to_owned());
        let fields = fields_of(fields);
        self.documents.push(Document { sequence, key, words, text, fields, executor });
        self.sequence += 1;
        self.accepted += 1;
        self.number = number + 1;
    }

    fn delete(&mut self, key: &str) {
        self.documents.retain(|document| document.key != key);
    }

    /// Where the index keeps the document of a key.
    fn executor_of(&self, key: &str) -> usize {
        let bytes = key.as_bytes();
        let number = keys::as_number(bytes).unwrap_or_else(|| keys::hash(bytes) >> 32);
        (number % self.executors as u64) as usize
    }
}
