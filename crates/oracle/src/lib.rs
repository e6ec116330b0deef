//! A naive index, so simple that it is unlikely to be wrong; tests hold the engine equal to it.
//!
//! Documents are a list of keys and words in arrival order. A query looks at every document from the newest
//! to the oldest. There is no index, no segment and no concurrency. Of the engine it takes one thing only: the tree in which a
//! query is written down.
#![forbid(unsafe_code)]

mod bm25;
mod edits;
pub mod facets;
mod matching;
mod proximity;
mod scoring;
mod values;

use std::cmp::Ordering;
use std::collections::HashMap;

use spirit_query::Clause;

pub use bm25::{Bm25, idf};
pub use edits::edits;
pub use scoring::{Collection, terms_of};

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, which is one term.
    Text(String),
    /// Words that are separated by blanks, each of them a term.
    Words(String),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Milliseconds since 1970.
    Time(i64),
    /// Yes or no.
    Boolean(bool),
}

/// A document as it was added.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its key.
    pub key: String,
    /// Its words, in order.
    pub words: Vec<String>,
    /// What was given.
    pub text: String,
    /// The values of its fields, in the order given.
    pub fields: Vec<(String, Value)>,
}

/// The naive index.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    /// In arrival order; `None` where a document was replaced or deleted.
    documents: Vec<Option<Document>>,
    live: HashMap<String, usize>,
    accepted: u64,
    /// The lowest number that the next automatic key may be.
    next: u64,
}

impl Oracle {
    /// Documents ever added.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Adds a document of words that are separated by blanks, marks by themselves being none; `None` is an automatic key. Returns the key.
    pub fn add(&mut self, key: Option<&str>, text: &str) -> String {
        self.add_document(key, text, Vec::new())
    }

    /// The same with fields.
    pub fn add_document(
        &mut self,
        key: Option<&str>,
        text: &str,
        fields: Vec<(String, Value)>,
    ) -> String {
        // An automatic key passes over the keys of other documents.
        while key.is_none() && self.live.contains_key(&self.next.to_string()) {
            self.next += 1;
        }
        let key = key.map_or_else(|| self.next.to_string(), str::to_owned);
        (self.accepted, self.next) = (self.accepted + 1, self.next + 1);
        self.delete(&key);
        self.live.insert(key.clone(), self.documents.len());
        let is_word = |word: &&str| word.contains(char::is_alphanumeric);
        let words = text.split_whitespace().filter(is_word).map(str::to_owned).collect();
        let text = text.to_owned();
        self.documents.push(Some(Document { key: key.clone(), words, text, fields }));
        key
    }

    /// A field of whole numbers is one of floating-point numbers from now on.
    pub fn widen(&mut self, field: &str) {
        let fields = self.documents.iter_mut().flatten().flat_map(|document| &mut document.fields);
        for (_, value) in fields.filter(|(name, _)| name == field) {
            if let Value::Integer(number) = *value {
                *value = Value::Float(number as f64);
            }
        }
    }

    /// Deletes a document; says whether there was one.
    pub fn delete(&mut self, key: &str) -> bool {
        let old = self.live.remove(key);
        if let Some(at) = old {
            self.documents[at] = None;
        }
        old.is_some()
    }

    /// Documents ever added.
    pub fn added(&self) -> u64 {
        self.accepted
    }

    /// The keys of all matches, newest first.
    pub fn search(&self, clause: &Clause) -> Vec<String> {
        self.matches(clause).map(|d| d.key.clone()).collect()
    }

    /// All matches, newest first.
    pub fn matches(&self, clause: &Clause) -> impl Iterator<Item = &Document> {
        self.documents.iter().rev().flatten().filter(|d| matching::matches(clause, d))
    }

    /// All matches in the order of a field's values, those without last; the newer of two that are equal first. A document with
    /// several values counts by the one that comes first.
    pub fn sorted(&self, clause: &Clause, field: &str, descending: bool) -> Vec<&Document> {
        let directed = |order: Ordering| if descending { order.reverse() } else { order };
        let first =
            |document| values::values(document, field).min_by(|a, b| directed(values::order(a, b)));
        let mut found: Vec<&Document> = self.matches(clause).collect();
        found.sort_by(|a, b| match (first(a), first(b)) {
            (Some(a), Some(b)) => directed(values::order(&a, &b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        found
    }

    /// All matches in the order of several keys: a field, whether its greatest value is first, and whether documents without one are.
    pub fn sorted_by(&self, clause: &Clause, keys: &[(&str, bool, bool)]) -> Vec<&Document> {
        let mut found: Vec<&Document> = self.matches(clause).collect();
        // The last key first: a sort leaves equals as they are.
        for (field, descending, missing_first) in keys.iter().rev() {
            let directed = |order: Ordering| if *descending { order.reverse() } else { order };
            let first = |document| {
                values::values(document, field).min_by(|a, b| directed(values::order(a, b)))
            };
            found.sort_by(|a, b| match (first(a), first(b)) {
                (Some(a), Some(b)) => directed(values::order(&a, &b)),
                (a, b) if *missing_first => a.is_some().cmp(&b.is_some()),
                (a, b) => b.is_some().cmp(&a.is_some()),
            });
        }
        found
    }

    /// The live documents, oldest first.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().flatten()
    }
}
