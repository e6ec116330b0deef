//! Arrays of objects: what each object has, as terms of its array.
//!
//! The values of an array's members are values of fields, whichever object they are from. A document
//! with several objects of an array has their terms once more: object by object, each term with its
//! member in front, and between two objects a gap. So *in one object* is a phrase whose terms may be
//! moved by less than the gap. One more term says that the document has several objects: of others
//! the fields say enough.

use spirit_index::ground::FieldId;
use spirit_index::rows::vector::GAP_MAX;
use spirit_schema::{
    Field, FieldKind, FieldValue, MemberValue, OBJECT_GAP, SEVERAL, Schema, encoded, is_member,
    write_member,
};
use spirit_text::{Sink, Token};

use super::Collector;

const _: () = assert!(OBJECT_GAP <= GAP_MAX);
/// The most objects of a document that have terms, in all arrays: so few that positions do not
/// overflow.
const OBJECTS_MAX: usize = 1 << 15;
const _: () = assert!(OBJECTS_MAX as u64 * (OBJECT_GAP as u64) < 1 << 31);
/// The bytes of the objects of all arrays, in times the bytes of all values: each array around a value
/// has it once more.
const TIMES_MAX: usize = 4;

/// The objects of an array, and the values of each.
struct Objects<'a> {
    array: FieldId,
    name: &'a str,
    objects: Vec<Vec<(&'a Field, FieldValue<'a>)>>,
    /// Values that follow belong to the last object.
    is_open: bool,
}

impl Collector<'_> {
    /// Adds the terms of the objects of all arrays.
    #[cold]
    pub(super) fn collect_objects(&mut self, schema: &Schema, fields: &[u8]) {
        let mut term = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        for Objects { array, mut objects, .. } in objects_of(schema, fields) {
            objects.retain(|values| !values.is_empty());
            let more = objects.iter().flatten().map(|(_, value)| bytes_of(*value)).sum::<usize>();
            // Arrays beyond these are values of the document alone.
            let fits =
                count + objects.len() <= OBJECTS_MAX && bytes + more <= TIMES_MAX * fields.len();
            if objects.len() < 2 || !fits {
                continue;
            }
            (count, bytes) = (count + objects.len(), bytes + more);
            self.push_term(array, SEVERAL);
            for values in objects {
                self.batch.push_gap(OBJECT_GAP);
                for (field, value) in values {
                    self.push_member(array, field, value, &mut term);
                }
            }
        }
    }

    /// Adds the terms of a member's value.
    fn push_member(
        &mut self,
        array: FieldId,
        field: &Field,
        value: FieldValue<'_>,
        term: &mut Vec<u8>,
    ) {
        let mut push = |id, value| {
            write_member(id, value, term);
            self.push_term(array, term);
        };
        match value {
            FieldValue::Text(text) => {
                if let Some(keywords) = field.keywords() {
                    push(keywords, MemberValue::Term(text.as_bytes()));
                }
                self.push_words(array, field, text, term);
            }
            FieldValue::Keyword(text) => push(field.id, MemberValue::Term(text.as_bytes())),
            FieldValue::Boolean(yes) => {
                push(field.id, MemberValue::Term(if yes { b"true" } else { b"false" }));
            }
            FieldValue::Integer(number) => push(field.id, MemberValue::Number(number as f64)),
            FieldValue::Float(number) => push(field.id, MemberValue::Number(number)),
            FieldValue::Time(time) => push(field.id, MemberValue::Moment(time)),
            FieldValue::Object => {}
        }
    }

    /// Adds the words of a member's text.
    fn push_words(&mut self, array: FieldId, field: &Field, text: &str, term: &mut Vec<u8>) {
        let FieldKind::Text(analyzer) = field.kind else { return };
        let mut words = Words::default();
        // Cannot fail: no part of a document is longer than the document.
        if self.tokenizers.of(analyzer).feed(text, &mut words).is_err() {
            return;
        }
        let mut start = 0;
        for end in words.ends {
            write_member(field.id, MemberValue::Term(&words.bytes[start..end]), term);
            self.push_term(array, term);
            start = end;
        }
    }
}

fn bytes_of(value: FieldValue<'_>) -> usize {
    match value {
        FieldValue::Text(text) | FieldValue::Keyword(text) => text.len(),
        _ => size_of::<u64>(),
    }
}

/// The words of a text, one behind the other.
#[derive(Default)]
struct Words {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Sink for &mut Words {
    fn token(&mut self, token: Token<'_>) {
        self.bytes.extend_from_slice(token.bytes());
        self.ends.push(self.bytes.len());
    }
}

/// Returns the objects of all arrays in a document's values. An object ends where the next one of its
/// array, or of one around it, begins, and before a value that is no member of its array.
fn objects_of<'a>(schema: &'a Schema, fields: &'a [u8]) -> Vec<Objects<'a>> {
    let mut all: Vec<Objects<'a>> = Vec::new();
    // The array whose object began just before.
    let mut begun = None;
    for (id, value) in encoded::values(fields) {
        let before = begun.take();
        if value != FieldValue::Object {
            let Some(field) = schema.get(id) else { continue };
            for objects in all.iter_mut().filter(|objects| objects.is_open) {
                objects.is_open = is_member(objects.name, &field.name);
                if objects.is_open
                    && let Some(last) = objects.objects.last_mut()
                {
                    last.push((field, value));
                }
            }
            continue;
        }
        begun = Some(id);
        if before == begun {
            // The object before is empty, and is used again.
            continue;
        }
        let Some((_, name)) = schema.arrays().find(|(array, _)| *array == id) else { continue };
        for within in all.iter_mut().filter(|objects| is_member(name, objects.name)) {
            within.is_open = false;
        }
        match all.iter_mut().find(|objects| objects.array == id) {
            Some(objects) => {
                objects.objects.push(Vec::new());
                objects.is_open = true;
            }
            None => all.push(Objects { array: id, name, objects: vec![Vec::new()], is_open: true }),
        }
    }
    all
}
