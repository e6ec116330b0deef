//! The values of a document's fields as bytes. The thread that adds the document makes them. They
//! are cut into terms, logged, and stored with the document.
//!
//! | bytes of a value | |
//! |---|---|
//! | 1 or 2 | the [code](FieldId::code) of the field's number |
//! | 1 | the kind: 1 text, 2 keyword, 3 integer, 4 float, 5 time, 6 false, 7 true, 8 the next object of an array begins |
//! | .. | 1, 2: length, bytes; 3, 5: the number, zigzag; 4: 8 bytes, little endian; 6 to 8: nothing |
//!
//! Lengths and numbers have seven bits a byte, the lowest first. All bytes but the last have the
//! top bit set. A stored document with fields is its text, a byte that is in no text, and these
//! values.

use spirit_index::ground::FieldId;

use crate::bytes::{put_number, put_text, take_byte, take_number, take_text, unzigzag, zigzag};
use crate::value::FieldValue;

/// The byte between a stored document's text and its fields. UTF-8 has no such byte.
pub const TEXT_END: u8 = 0xFF;

/// Appends a value.
pub fn put(field: FieldId, value: FieldValue<'_>, out: &mut Vec<u8>) {
    let (code, len) = field.code();
    out.extend_from_slice(&code[..len]);
    let mut tag = |tag| out.push(tag);
    match value {
        FieldValue::Text(text) => {
            tag(1);
            put_text(text, out);
        }
        FieldValue::Keyword(text) => {
            tag(2);
            put_text(text, out);
        }
        FieldValue::Integer(number) => {
            tag(3);
            put_number(zigzag(number), out);
        }
        FieldValue::Float(number) => {
            tag(4);
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        FieldValue::Time(time) => {
            tag(5);
            put_number(zigzag(time), out);
        }
        FieldValue::Boolean(yes) => tag(6 + u8::from(yes)),
        FieldValue::Object => tag(8),
    }
}

/// Iterates over the values in `bytes`, in order. Ends at the first one that cannot be read.
pub fn values(bytes: &[u8]) -> impl Iterator<Item = (FieldId, FieldValue<'_>)> + Clone {
    let mut rest = bytes;
    std::iter::from_fn(move || take(&mut rest))
}

/// True if `bytes` are values and nothing else, and `is_right` holds for each.
pub fn is_whole(bytes: &[u8], mut is_right: impl FnMut((FieldId, FieldValue<'_>)) -> bool) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        if !take(&mut rest).is_some_and(&mut is_right) {
            return false;
        }
    }
    true
}

/// Removes the first value from the front; none if it cannot be read.
fn take<'a>(rest: &mut &'a [u8]) -> Option<(FieldId, FieldValue<'a>)> {
    let (field, len) = FieldId::from_code(rest)?;
    *rest = &rest[len..];
    let value = match take_byte(rest)? {
        1 => FieldValue::Text(take_text(rest)?),
        2 => FieldValue::Keyword(take_text(rest)?),
        3 => FieldValue::Integer(unzigzag(take_number(rest)?)),
        4 => {
            let (number, others) = rest.split_first_chunk()?;
            *rest = others;
            FieldValue::Float(f64::from_le_bytes(*number))
        }
        5 => FieldValue::Time(unzigzag(take_number(rest)?)),
        tag @ (6 | 7) => FieldValue::Boolean(tag == 7),
        8 => FieldValue::Object,
        _ => return None,
    };
    Some((field, value))
}

/// Splits a stored document into its text and its values.
pub fn split(stored: &[u8]) -> (&[u8], &[u8]) {
    match stored.iter().position(|byte| *byte == TEXT_END) {
        Some(end) => (&stored[..end], &stored[end + 1..]),
        None => (stored, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Owned {
        Text(String),
        Keyword(String),
        Integer(i64),
        Float(f64),
        Time(i64),
        Boolean(bool),
        Object,
    }

    impl Owned {
        fn value(&self) -> FieldValue<'_> {
            match self {
                Owned::Text(text) => FieldValue::Text(text),
                Owned::Keyword(text) => FieldValue::Keyword(text),
                Owned::Integer(number) => FieldValue::Integer(*number),
                Owned::Float(number) => FieldValue::Float(*number),
                Owned::Time(time) => FieldValue::Time(*time),
                Owned::Boolean(yes) => FieldValue::Boolean(*yes),
                Owned::Object => FieldValue::Object,
            }
        }
    }

    fn owned() -> impl Strategy<Value = Owned> {
        prop_oneof![
            ".{0,200}".prop_map(Owned::Text),
            ".{0,20}".prop_map(Owned::Keyword),
            any::<i64>().prop_map(Owned::Integer),
            (-100i64..100).prop_map(Owned::Integer),
            (-1e9..1e9f64).prop_map(Owned::Float),
            any::<i64>().prop_map(Owned::Time),
            any::<bool>().prop_map(Owned::Boolean),
            Just(Owned::Object),
        ]
    }

    /// The vectors of `docs/format-vectors.md`: values are in files.
    #[test]
    fn values_are_those_of_the_format() {
        let mut bytes = Vec::new();
        put(FieldId(1), FieldValue::Text("sea"), &mut bytes);
        put(FieldId(2), FieldValue::Integer(-2), &mut bytes);
        put(FieldId(5), FieldValue::Time(300), &mut bytes);
        put(FieldId(3), FieldValue::Float(1.5), &mut bytes);
        put(FieldId(4), FieldValue::Boolean(true), &mut bytes);
        put(FieldId(1025), FieldValue::Object, &mut bytes);
        let [text, numbers] = [&b"\x01\x01\x03sea"[..], b"\x02\x03\x03\x05\x05\xD8\x04"];
        let others = b"\x03\x04\0\0\0\0\0\0\xF8\x3F\x04\x07\xF3\x11\x08";
        assert_eq!(bytes, [text, numbers, others].concat());
    }

    proptest! {
        #[test]
        fn values_come_back(
            text in ".{0,50}",
            given in prop::collection::vec((prop_oneof![0u16..4, 238..FieldId::MAX.0], owned()), 1..20),
        ) {
            let mut bytes = Vec::new();
            for (field, value) in &given {
                put(FieldId(*field), value.value(), &mut bytes);
            }
            let expected: Vec<_> = given.iter().map(|(f, v)| (FieldId(*f), v.value())).collect();
            prop_assert_eq!(values(&bytes).collect::<Vec<_>>(), expected);
            prop_assert!(is_whole(&bytes, |_| true));
            prop_assert!(!is_whole(&bytes, |(field, _)| field == FieldId::MAX));
            prop_assert!(!is_whole(&bytes[..bytes.len() - 1], |_| true));
            let stored = [text.as_bytes(), &[TEXT_END], &bytes].concat();
            prop_assert_eq!(split(&stored), (text.as_bytes(), &bytes[..]));
            prop_assert_eq!(split(text.as_bytes()), (text.as_bytes(), &[][..]));
        }

        #[test]
        fn any_bytes_are_values_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut again = Vec::new();
            values(&bytes).for_each(|(field, value)| put(field, value, &mut again));
            prop_assert_eq!(&again[..], &bytes[..again.len()]);
        }
    }
}
