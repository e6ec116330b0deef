//! A schema's fields as bytes, as an index stores them: one after the other, without the text. Behind
//! them are its arrays of objects, likewise.
//!
//! | bytes of a field | |
//! |---|---|
//! | 2 | its kind, 7 and 0 for an array; for numbers, if it was widened or may be, a 1 in the second; for text whose values are keywords too, the highest bit of the second |
//! | 1 | the length of its name, in bytes |
//! | .. | its name |

use std::error::Error;
use std::fmt;

use crate::NAME_BYTES_MAX;
use crate::bytes::take_byte;
use crate::kind::FieldKind;
use crate::schema::{Field, MORE, Schema, Widening};

const _: () = assert!(NAME_BYTES_MAX <= u8::MAX as usize);

/// A list of fields is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedList;

impl fmt::Display for MalformedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it names a field that this version does not know, or an invalid one")
    }
}

impl Error for MalformedList {}

impl Schema {
    /// Returns its fields as bytes.
    pub fn list(&self) -> Vec<u8> {
        let mut list = Vec::new();
        let mut put = |numbers: [u8; 2], name: &str| {
            list.extend_from_slice(&numbers);
            list.push(name.len() as u8);
            list.extend_from_slice(name.as_bytes());
        };
        self.fields()[1..].iter().for_each(|field| put(numbers(field), &field.name));
        self.arrays().for_each(|(_, name)| put(ARRAY, name));
        list
    }

    /// Returns this schema, which has no fields, with those of a list.
    pub fn with_list(self, list: &[u8]) -> Result<Schema, MalformedList> {
        let analyzer = self.analyzer();
        let mut schema = self;
        let mut rest = list;
        while !rest.is_empty() {
            let (numbers, name) = take_name(&mut rest).ok_or(MalformedList)?;
            if numbers == ARRAY {
                if !schema.add_array(name) {
                    return Err(MalformedList);
                }
                continue;
            }
            let (kind, widening, has_keywords) = from_numbers(numbers).ok_or(MalformedList)?;
            let id = match name {
                MORE if kind == FieldKind::Text(analyzer)
                    && !has_keywords
                    && schema.by_name(MORE).is_none() =>
                {
                    schema.add_more()
                }
                name => schema.add(name, kind).map_err(|_| MalformedList)?,
            };
            schema.set(id, kind, widening);
            if has_keywords {
                schema.note_grown(id);
            }
        }
        Ok(schema)
    }
}

/// The two bytes of an array of objects.
const ARRAY: [u8; 2] = [7, 0];

/// The second byte of a field of integers that may widen, and of one that was widened.
const WIDENING: u8 = 1;

/// In the second byte of a text field whose values are keywords too.
const KEYWORDS: u8 = 1 << 7;

/// Returns the two bytes of a field's kind.
fn numbers(field: &Field) -> [u8; 2] {
    let [kind, more] = field.kind.numbers();
    match field.widening {
        Widening::Never if field.keywords().is_some() => [kind, more | KEYWORDS],
        Widening::Never => [kind, more],
        Widening::Possible | Widening::Done => [kind, WIDENING],
    }
}

/// Returns the kind with these two bytes; none if they are not valid.
fn from_numbers([kind, more]: [u8; 2]) -> Option<(FieldKind, Widening, bool)> {
    let plain = FieldKind::from_numbers([kind, 0]);
    match plain.filter(|_| more == WIDENING) {
        Some(FieldKind::Integer) => return Some((FieldKind::Integer, Widening::Possible, false)),
        Some(FieldKind::Float) => return Some((FieldKind::Float, Widening::Done, false)),
        _ => {}
    }
    let has_keywords = more & KEYWORDS != 0;
    let kind = FieldKind::from_numbers([kind, more & !KEYWORDS])?;
    (kind.is_text() || !has_keywords).then_some((kind, Widening::Never, has_keywords))
}

fn take_name<'a>(rest: &mut &'a [u8]) -> Option<([u8; 2], &'a str)> {
    let numbers = [take_byte(rest)?, take_byte(rest)?];
    let len = usize::from(take_byte(rest)?);
    let (name, others) = rest.split_at_checked(len)?;
    *rest = others;
    Some((numbers, std::str::from_utf8(name).ok()?))
}

#[cfg(test)]
mod tests {
    use spirit_text::Analyzer;

    use super::*;
    use crate::kind::TimeUnit;
    use proptest::prelude::*;

    fn kind() -> impl Strategy<Value = FieldKind> {
        use FieldKind::*;
        prop_oneof![
            prop::sample::select(&Analyzer::ALL).prop_map(Text),
            prop::sample::select(&[TimeUnit::Seconds, TimeUnit::Milliseconds]).prop_map(Time),
            prop::sample::select(&[Keyword, Integer, Float, Boolean]),
        ]
    }

    fn bytes_of_more() -> usize {
        crate::limits::list_bytes(MORE)
    }

    proptest! {
        #[test]
        fn a_list_reads_back(fields in prop::collection::vec(("[a-z@][a-zäß0-9._@-]{0,60}", kind(), any::<bool>()), 0..40)) {
            let mut schema = Schema::new(Analyzer::Simple, true);
            for (name, kind, by_document) in &fields {
                // Some have a name twice, or are one text too many.
                if let Ok(id) = schema.add(name, *kind)
                    && *by_document
                {
                    schema.note_grown(id);
                }
            }
            // Some arrays have the name of a field.
            for (name, ..) in fields.iter().step_by(3) {
                schema.add_array(name);
            }
            let list = schema.list();
            let read = Schema::new(Analyzer::Simple, true).with_list(&list).unwrap();
            prop_assert_eq!(read.fields(), schema.fields());
            prop_assert!(read.arrays().eq(schema.arrays()));
            for field in schema.fields() {
                prop_assert_eq!(read.by_name(&field.name), Some(field));
            }
            if let Some(cut) = list.len().checked_sub(1) {
                prop_assert!(Schema::new(Analyzer::Simple, true).with_list(&list[..cut]).is_err());
            }
        }

        #[test]
        fn the_field_of_more_is_listed_once(at in 0usize..3, twice: bool) {
            let mut schema = Schema::new(Analyzer::Simple, true);
            for n in 0..at {
                schema.add(&format!("n{n}"), FieldKind::Integer).unwrap();
            }
            schema.add_more();
            let mut list = schema.list();
            let more = list.split_off(list.len() - bytes_of_more());
            (0..=usize::from(twice)).for_each(|_| list.extend_from_slice(&more));
            let read = Schema::new(Analyzer::Simple, true).with_list(&list);
            prop_assert_eq!(read.is_err(), twice);
            // It has the analyzer of the text.
            prop_assert!(Schema::new(Analyzer::English, true).with_list(&list).is_err());
        }

        #[test]
        fn any_bytes_are_a_list_or_refused(list in prop::collection::vec(prop_oneof![0u8..8, 128u8..136], 0..20)) {
            if let Ok(schema) = Schema::new(Analyzer::Simple, true).with_list(&list) {
                prop_assert_eq!(schema.list(), list);
            }
        }
    }
}
