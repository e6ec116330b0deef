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
    /// The least and the most that the index can have accepted.
    accepted: (u64, u64),
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
    /// Whether it makes unsure how many the index has accepted: no later automatic key has shown it.
    counts: bool,
}

impl Model {
    /// The least that the index has accepted, if no document is unsure.
    pub(crate) fn accepted(&self) -> Option<u64> {
        self.unsure.is_empty().then_some(self.accepted.0)
    }

    /// The most that the index can have accepted.
    pub(crate) fn accepted_most(&self) -> u64 {
        self.accepted.1
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
        for (before, (key, document)) in (0..).zip(acknowledged.iter().zip(&mut documents)) {
            match &document.key {
                Some(own) => assert_eq!(key, own, "acknowledged under another key"),
                None => self.check_number(key, before),
            }
            self.put(key.clone(), document);
        }
        let count = acknowledged.len() as u64;
        self.accepted = (self.accepted.0 + count, self.accepted.1 + count);
        if let Some(document) = documents.next() {
            let place = self.place();
            self.unsure.push(Unsure { place, document, numbers: self.accepted, counts: true });
            self.accepted.1 += 1;
        }
        self.gone.extend(documents.map(|document| document.unique));
    }

    /// An automatic key is the number of documents accepted before it, `before` of them by this process.
    fn check_number(&mut self, key: &str, before: u64) {
        let number: u64 = key.parse().expect("an automatic key is a number");
        let (least, most) = self.accepted;
        let base = number.saturating_sub(before);
        assert!(
            (least..=most).contains(&base),
            "the automatic key {number} behind {before} documents of this process and {least} to {most} before it"
        );
        self.accepted = (base, base);
        self.unsure.iter_mut().for_each(|unsure| unsure.counts = false);
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
            Some(_) => self.accepted.0 = self.accepted.1.min(self.accepted.0 + 1),
            None => self.accepted.1 = self.accepted.0.max(self.accepted.1.saturating_sub(1)),
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
