//! What an index must hold, kept outside of it.
//!
//! A process takes the documents it is fed one by one and acknowledges each before the next. So when it is killed, what it
//! acknowledged is in, the document behind the last acknowledged one may be in or not, and all others are not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::document::Document;

#[derive(Default)]
pub(crate) struct Model {
    /// By place: later ones are newer.
    live: BTreeMap<u64, (String, Document)>,
    places: HashMap<String, u64>,
    /// All keys that documents ever had.
    pub(crate) keys: BTreeSet<String>,
    /// Unique words of what must not be found: versions that were replaced, deleted, or never taken.
    pub(crate) gone: Vec<String>,
    /// Documents that may be in or not, oldest first.
    pub(crate) unsure: Vec<Unsure>,
    /// The least and the most that the next number can be, unless that is a document's key.
    numbers: (u64, u64),
    /// The keys of a deletion that was killed, in order: the first of them are deleted.
    pub(crate) deleting: Vec<String>,
    next_place: u64,
    /// Documents that made room for others.
    pub(crate) dropped: u64,
}

/// A document that was not acknowledged.
pub(crate) struct Unsure {
    place: u64,
    pub(crate) document: Document,
    /// What its automatic key can be.
    numbers: (u64, u64),
    /// Whether it makes unsure what the next number is: no later automatic key has shown it.
    counts: bool,
}

impl Model {
    /// The least that the next number can be, if no document is unsure.
    pub(crate) fn number(&self) -> Option<u64> {
        self.unsure.is_empty().then_some(self.numbers.0)
    }

    /// The most that the next number can be.
    pub(crate) fn number_most(&self) -> u64 {
        self.numbers.1
    }

    /// Newest first.
    pub(crate) fn live(&self) -> impl Iterator<Item = &(String, Document)> {
        self.live.values().rev()
    }

    pub(crate) fn is_live(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// A process was fed `documents` and acknowledged the first of them, with these keys.
    pub(crate) fn fed(&mut self, documents: Vec<Document>, acknowledged: &[String]) {
        assert!(acknowledged.len() <= documents.len(), "more acknowledged than fed");
        let mut documents = documents.into_iter();
        for (key, document) in acknowledged.iter().zip(&mut documents) {
            match &document.key {
                Some(own) => assert_eq!(key, own, "acknowledged under another key"),
                None => self.check_number(key),
            }
            self.put(key.clone(), document);
            self.numbers = (self.numbers.0 + 1, self.numbers.1 + 1);
        }
        if let Some(document) = documents.next() {
            let place = self.place();
            let (least, most) = self.numbers;
            let free = (most..).find(|number| !self.may_have(*number)).expect("a free number");
            self.unsure.push(Unsure { place, document, numbers: (least, free), counts: true });
            self.numbers.1 += 1;
        }
        self.gone.extend(documents.map(|document| document.unique));
    }

    /// An automatic key is the next number that no document has as its key.
    fn check_number(&mut self, key: &str) {
        let number: u64 = key.parse().expect("an automatic key is a number");
        let (least, most) = self.numbers;
        let passed_over = (most..number).all(|number| self.may_have(number));
        assert!(
            number >= least && passed_over,
            "the automatic key {number}, where the next one is {least} to {most}"
        );
        self.numbers = (number, number);
        self.unsure.iter_mut().for_each(|unsure| unsure.counts = false);
    }

    /// True if a document may have this number as its key.
    fn may_have(&self, number: u64) -> bool {
        let key = number.to_string();
        let is_its = |unsure: &Unsure| unsure.document.key.as_ref() == Some(&key);
        self.places.contains_key(&key) || self.unsure.iter().any(is_its)
    }

    fn place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }

    fn put(&mut self, key: String, document: Document) {
        self.delete(&key);
        let place = self.place();
        self.insert(place, key, document);
    }

    fn insert(&mut self, place: u64, key: String, document: Document) {
        self.places.insert(key.clone(), place);
        self.keys.insert(key.clone());
        self.live.insert(place, (key, document));
    }

    fn remove(&mut self, key: &str) {
        if let Some((_, document)) = self.places.remove(key).and_then(|at| self.live.remove(&at)) {
            self.gone.push(document.unique);
        }
    }

    /// What has `key` goes, and whatever may have it.
    pub(crate) fn delete(&mut self, key: &str) {
        self.remove(key);
        for unsure in
            self.unsure.extract_if(.., |unsure| unsure.document.key.as_deref() == Some(key))
        {
            self.gone.push(unsure.document.unique);
        }
    }

    /// The oldest unsure document turned out to be in, under the key `found`, or not to be.
    pub(crate) fn settle(&mut self, found: Option<String>) {
        let unsure = self.unsure.remove(0);
        match &found {
            _ if !unsure.counts => {}
            Some(_) => self.numbers.0 = self.numbers.1.min(self.numbers.0 + 1),
            None => self.numbers.1 = self.numbers.0.max(self.numbers.1.saturating_sub(1)),
        }
        let Some(key) = found else { return self.gone.push(unsure.document.unique) };
        unsure.check_key(&key);
        let later = self.places.get(&key).is_some_and(|other| *other > unsure.place);
        assert!(!later, "{:?} is there, and a later one has its key {key}", unsure.document);
        self.remove(&key);
        self.insert(unsure.place, key, unsure.document);
    }

    /// The oldest documents were dropped to make room: `count` are left.
    pub(crate) fn keep_newest(&mut self, count: usize) {
        while self.live.len() > count
            && let Some((_, (key, document))) = self.live.pop_first()
        {
            self.places.remove(&key);
            self.gone.push(document.unique);
            self.dropped += 1;
        }
    }
}

impl Unsure {
    fn check_key(&self, found: &str) {
        let Unsure { document, numbers: (least, most), .. } = self;
        match &document.key {
            Some(own) => assert_eq!(found, own, "found under another key: {document:?}"),
            None => {
                let number: u64 = found.parse().expect("an automatic key is a number");
                assert!(
                    (*least..=*most).contains(&number),
                    "{document:?} has the automatic key {number}, not one of {least} to {most}"
                );
            }
        }
    }
}
