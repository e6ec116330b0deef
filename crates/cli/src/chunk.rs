//! Documents on their way into the index, in memory that is used again.

use std::ops::Range;

use spirit::Value;
use spirit_forms::document::Document;
use spirit_forms::object::Given;

#[derive(Default)]
pub(crate) struct Chunk {
    bytes: String,
    places: Vec<Place>,
    fields: Vec<(Range<usize>, Held)>,
    /// Records as they were read, if they are kept.
    records: Vec<u8>,
}

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Held {
    /// Bytes of the chunk.
    Text(Range<usize>),
    /// A text that another value was converted to.
    Own(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// The next object of an array begins.
    Object,
    /// A value that was left out.
    Nothing,
}

struct Place {
    line: u64,
    key: Option<Range<usize>>,
    text: Range<usize>,
    /// Among all fields.
    fields: Range<usize>,
    /// Its record, among all that are kept.
    record: Range<usize>,
}

impl Held {
    fn value<'a>(&'a self, bytes: &'a str) -> Option<Value<'a>> {
        Some(match self {
            Held::Text(text) => Value::Text(&bytes[text.clone()]),
            Held::Own(text) => Value::Text(text),
            Held::Integer(number) => Value::Integer(*number),
            Held::Float(number) => Value::Float(*number),
            Held::Boolean(yes) => Value::Boolean(*yes),
            Held::Object => Value::Object,
            Held::Nothing => return None,
        })
    }
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
                Given::Object => Held::Object,
            };
            self.fields.push((name, held));
        }
        let fields = first..self.fields.len();
        let record = self.records.len()..self.records.len();
        self.places.push(Place { line, key, text, fields, record });
    }

    /// Keeps the record of the last document.
    pub(crate) fn keep(&mut self, record: &[u8]) {
        self.records.extend_from_slice(record);
        if let Some(place) = self.places.last_mut() {
            place.record.end = self.records.len();
        }
    }

    /// The record of the document at `index`; empty if it was not kept.
    pub(crate) fn kept(&self, index: usize) -> &[u8] {
        &self.records[self.places[index].record.clone()]
    }

    /// Takes the values of fields out of the documents from `first` on for which `passes`, with the
    /// field's name and the line, is true. True if there were any.
    pub(crate) fn pass_over(
        &mut self,
        first: usize,
        mut passes: impl FnMut(&str, u64) -> bool,
    ) -> bool {
        let Chunk { bytes, places, fields, .. } = self;
        let mut any = false;
        for place in &mut places[first..] {
            let had = place.fields.clone();
            let mut kept = had.start;
            for at in had.clone() {
                let name = &bytes[fields[at].0.clone()];
                if !passes(name, place.line) {
                    fields.swap(kept, at);
                    kept += 1;
                }
            }
            place.fields.end = kept;
            any |= kept < had.end;
        }
        any
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
        self.records.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Documents with their fields.
    pub(crate) fn documents(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = spirit::Document<'_>> {
        range.map(|index| self.document(index))
    }

    /// The document at `index`.
    pub(crate) fn document(&self, index: usize) -> spirit::Document<'_> {
        let place = &self.places[index];
        let document = spirit::Document::new().text(&self.bytes[place.text.clone()]);
        let document = match self.key(index) {
            Some(key) => document.key(key),
            None => document,
        };
        self.fields[place.fields.clone()].iter().fold(document, |document, (name, held)| match held
            .value(&self.bytes)
        {
            Some(value) => document.field(&self.bytes[name.clone()], value),
            None => document,
        })
    }

    /// Shows each value of the document at `index` to `change`, with its field's name. Takes what it
    /// returns instead. True if a value was changed.
    pub(crate) fn change_fields(
        &mut self,
        index: usize,
        mut change: impl FnMut(&str, Value<'_>) -> Option<Held>,
    ) -> bool {
        let mut changed = false;
        for (name, held) in &mut self.fields[self.places[index].fields.clone()] {
            let Some(value) = held.value(&self.bytes) else { continue };
            if let Some(other) = change(&self.bytes[name.clone()], value) {
                *held = other;
                changed = true;
            }
        }
        changed
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_passed_over_and_the_others_stay_in_order() {
        let mut chunk = Chunk::default();
        let long = "x".repeat(300);
        let field = |name: &str, number| (name.to_owned().into(), Given::Integer(number));
        let fields =
            vec![field("a", 1), field("$b", 2), field(&long, 3), field("c", 4), field("$b", 5)];
        for line in 1..=3 {
            let fields = if line == 2 { vec![field("a", 6)] } else { fields.clone() };
            chunk.push(line, &Document { key: None, text: "t".into(), fields });
        }
        let mut passed = Vec::new();
        let mut pass_over = |first, name: &str| {
            chunk.pass_over(first, |found, line| {
                passed.extend(Some(line).filter(|_| found == name));
                found == name
            })
        };
        assert!(pass_over(1, "$b"));
        assert!(pass_over(0, &long));
        assert!(!pass_over(0, "none"));
        assert_eq!(passed, [3, 3, 1, 3]);
        let names = |chunk: &Chunk, index: usize| {
            let names = chunk.fields[chunk.places[index].fields.clone()].iter();
            names.map(|(name, _)| &chunk.bytes[name.clone()]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([0, 1, 2].map(|index| names(&chunk, index)), ["a $b c $b", "a", "a c"]);
    }
}
