//! A naive index, so simple that it is unlikely to be wrong; tests hold the engine equal to it.
//!
//! Documents are a list of keys and words in arrival order. A query looks at every document from the newest
//! to the oldest. There is no index, no segment and no concurrency.
#![forbid(unsafe_code)]

use std::collections::HashMap;

/// A query, as a tree. [`Asked::text`] says it in the query language.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Documents with this word.
    Word(String),
    /// Documents that match all of these.
    All(Vec<Asked>),
    /// Documents that match any of these.
    Any(Vec<Asked>),
    /// Documents that match the first and not the second.
    Except(Box<Asked>, Box<Asked>),
    /// The document with this key.
    Key(String),
    /// Every document.
    Everything,
}

impl Asked {
    /// The query in the query language.
    pub fn text(&self) -> String {
        let join = |parts: &[Asked], operator: &str| {
            let parts: Vec<String> = parts.iter().map(Asked::text).collect();
            format!("({})", parts.join(operator))
        };
        match self {
            Asked::Word(word) => word.clone(),
            Asked::All(parts) => join(parts, " AND "),
            Asked::Any(parts) => join(parts, " OR "),
            Asked::Except(yes, no) => format!("(+{} -{})", yes.text(), no.text()),
            Asked::Key(key) => format!("key:{key}"),
            Asked::Everything => "*".to_owned(),
        }
    }

    fn matches(&self, document: &Document) -> bool {
        match self {
            Asked::Word(word) => document.words.contains(word),
            Asked::All(parts) => parts.iter().all(|p| p.matches(document)),
            Asked::Any(parts) => parts.iter().any(|p| p.matches(document)),
            Asked::Except(yes, no) => yes.matches(document) && !no.matches(document),
            Asked::Key(key) => document.key == *key,
            Asked::Everything => true,
        }
    }
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
}

/// The naive index.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    /// In arrival order; `None` where a document was replaced or deleted.
    documents: Vec<Option<Document>>,
    live: HashMap<String, usize>,
    accepted: u64,
}

impl Oracle {
    /// Documents ever added.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Adds a document of words that are separated by blanks; `None` is an automatic key. Returns the key.
    pub fn add(&mut self, key: Option<&str>, text: &str) -> String {
        let key = key.map_or_else(|| self.accepted.to_string(), str::to_owned);
        self.accepted += 1;
        self.delete(&key);
        self.live.insert(key.clone(), self.documents.len());
        let words = text.split_whitespace().map(str::to_owned).collect();
        let text = text.to_owned();
        self.documents.push(Some(Document { key: key.clone(), words, text }));
        key
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
    pub fn search(&self, asked: &Asked) -> Vec<String> {
        self.matches(asked).map(|d| d.key.clone()).collect()
    }

    /// All matches, newest first.
    pub fn matches(&self, asked: &Asked) -> impl Iterator<Item = &Document> {
        self.documents.iter().rev().flatten().filter(|d| asked.matches(d))
    }

    /// The live documents, oldest first.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().flatten()
    }
}
