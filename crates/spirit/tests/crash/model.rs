//! What an index holds, by the simplest means: a list of the living documents.

use std::collections::BTreeSet;

use spirit::lab::StoredValue;
use spirit_index::keys;

use crate::operation::{Operation, fields_of};

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
        if let Operation::Group(_, offset) = operation {
            return if parts == operation.parts() {
                self.add_group(operation, *offset)
            };
        }
        for (key, text, fields) in operation.documents().into_iter().take(parts) {
            self.add(key, text, fields);
        }
    }

    /// The documents of each executor behind those of the one before; those of the first are the last, and if there are none a
    /// row without a document takes a number.
    fn add_group(&mut self, operation: &Operation, offset: u64) {
        let (mut numbered, mut documents) = (self.clone(), Vec::new());
        for (key, text, fields) in operation.documents() {
            let key = numbered.add(key, text, fields);
            documents.push((key, text, fields));
        }
        let first_last = self.executors - 1;
        documents.sort_by_key(|(key, ..)| (self.executor_of(key) + first_last) % self.executors);
        let is_marked = documents.iter().all(|(key, ..)| self.executor_of(key) > 0);
        for (key, text, fields) in &documents {
            self.add(Some(key), text, *fields);
        }
        self.number = numbered.number;
        self.sequence += u64::from(is_marked);
        self.offset = Some(offset);
    }

    /// How many parts of an operation may have take effect when it is cut off.
    pub(crate) fn possible(&self, operation: &Operation) -> Vec<usize> {
        match operation {
            Operation::Group(..) => vec![0, operation.parts()],
            _ => (0..=operation.parts()).collect(),
        }
    }

    /// Sequence numbers and keys, newest first, and what was accepted.
    pub(crate) fn describe(&self) -> String {
        let documents: Vec<_> = self.documents.iter().rev().map(|d| (d.sequence, &d.key)).collect();
        format!("{documents:?}, {} accepted, offset {:?}", self.accepted, self.offset)
    }

    /// Adds a document, and returns its key.
    fn add(&mut self, key: Option<&str>, text: &str, fields: u64) -> String {
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
        let added = key.clone();
        self.documents.push(Document { sequence, key, words, text, fields, executor });
        self.sequence += 1;
        self.accepted += 1;
        self.number = number + 1;
        added
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
