//! Documents on their way into the index, in memory that is used again.

use std::ops::Range;

use crate::document::Document;

#[derive(Default)]
pub(crate) struct Chunk {
    bytes: String,
    places: Vec<Place>,
}

struct Place {
    line: u64,
    key: Option<Range<usize>>,
    text: Range<usize>,
}

impl Chunk {
    pub(crate) fn push(&mut self, line: u64, document: &Document<'_>) {
        let key = document.key.as_ref().map(|key| self.append(key));
        let text = self.append(&document.text);
        self.places.push(Place { line, key, text });
    }

    fn append(&mut self, text: &str) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.push_str(text);
        start..self.bytes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of keys and texts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The line that the document at `index` was read from.
    pub(crate) fn line(&self, index: usize) -> u64 {
        self.places[index].line
    }

    /// The explicit key of the document at `index`.
    pub(crate) fn key(&self, index: usize) -> Option<&str> {
        self.places[index].key.clone().map(|key| &self.bytes[key])
    }

    /// Keys and texts from `first` on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = (Option<&str>, &str)> {
        let text = |place: &Place| &self.bytes[place.text.clone()];
        (first..self.len()).map(move |index| (self.key(index), text(&self.places[index])))
    }
}
