//! Documents on their way into the index, in memory that is used again.

use std::ops::Range;

use crate::document::Document;
use crate::object::Given;

#[derive(Default)]
pub(crate) struct Chunk {
    bytes: String,
    places: Vec<Place>,
    fields: Vec<(Range<usize>, Held)>,
}

/// A value of a field.
enum Held {
    Text(Range<usize>),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

struct Place {
    line: u64,
    key: Option<Range<usize>>,
    text: Range<usize>,
    /// Among all fields.
    fields: Range<usize>,
}

impl Chunk {
    pub(crate) fn push(&mut self, line: u64, document: &Document<'_>) {
        let key = document.key.as_ref().map(|key| self.append(key));
        let text = self.append(&document.text);
        let first = self.fields.len();
        for (name, given) in &document.fields {
            let name = self.append(name);
            let held = match given {
                Given::Text(text) => Held::Text(self.append(text)),
                Given::Integer(number) => Held::Integer(*number),
                Given::Float(number) => Held::Float(*number),
                Given::Boolean(yes) => Held::Boolean(*yes),
            };
            self.fields.push((name, held));
        }
        let fields = first..self.fields.len();
        self.places.push(Place { line, key, text, fields });
    }

    fn append(&mut self, text: &str) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.push_str(text);
        start..self.bytes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.fields.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Documents with their fields, from `first` on.
    pub(crate) fn documents(&self, first: usize) -> impl Iterator<Item = spirit::Document<'_>> {
        (first..self.len()).map(|index| self.document(index))
    }

    /// The document at `index`.
    pub(crate) fn document(&self, index: usize) -> spirit::Document<'_> {
        let place = &self.places[index];
        let document = spirit::Document::new().text(&self.bytes[place.text.clone()]);
        let document = match self.key(index) {
            Some(key) => document.key(key),
            None => document,
        };
        self.fields[place.fields.clone()].iter().fold(document, |document, (name, held)| {
            let name = &self.bytes[name.clone()];
            match held {
                Held::Text(text) => document.field(name, &self.bytes[text.clone()]),
                Held::Integer(number) => document.field(name, *number),
                Held::Float(number) => document.field(name, *number),
                Held::Boolean(yes) => document.field(name, *yes),
            }
        })
    }

    /// Bytes of keys, texts and fields.
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
