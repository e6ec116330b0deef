//! Arrays of objects: names of members that had several objects in some document.
//!
//! `{"users": [{"name": "ann"}, {"name": "bob"}]}` has the values of one field, `users.name`, and the
//! array `users`. An array is no field: it can be asked for only by the members of its objects. Its
//! number is that of terms which say what each object has.

use std::collections::HashMap;

use spirit_index::ground::FieldId;

use crate::NAME_BYTES_MAX;
use crate::limits::{FIELDS_MAX, KEYWORDS};

/// The most arrays of a schema. Objects of others are values of fields alone.
pub const ARRAYS_MAX: usize = 256;
/// The number of the first array: behind those of fields and of the field of what is beyond.
const FIRST: u16 = FIELDS_MAX as u16 + 1;
const _: () = assert!(FIRST as usize + ARRAYS_MAX <= KEYWORDS as usize);

/// The arrays of a schema, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrays {
    names: Vec<String>,
    by_name: HashMap<String, FieldId>,
}

impl Arrays {
    pub(crate) fn get(&self, name: &str) -> Option<FieldId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (FieldId, &str)> + Clone {
        (FIRST..).map(FieldId).zip(self.names.iter().map(String::as_str))
    }

    pub(crate) fn name_of(&self, id: FieldId) -> Option<&str> {
        self.names.get(usize::from(id.0.checked_sub(FIRST)?)).map(String::as_str)
    }

    /// True if there is room for another one, with this name.
    pub(crate) fn has_room_for(&self, name: &str) -> bool {
        let is_valid =
            (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control);
        is_valid && self.names.len() < ARRAYS_MAX
    }

    /// Adds an array that is not there. There is room for it.
    pub(crate) fn push(&mut self, name: &str) {
        let id = FieldId(FIRST + self.names.len() as u16);
        self.by_name.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
    }
}

/// True if a field of this name is a member of the objects of the array.
pub fn is_member(array: &str, field: &str) -> bool {
    field.strip_prefix(array).is_some_and(|rest| rest.starts_with('.'))
}

/// The positions between two objects of an array in a document's terms.
pub const OBJECT_GAP: u32 = 32_767;
/// The term of an array that documents with several of its objects have.
pub const SEVERAL: &[u8] = b"*";
/// Before this number in a character: terms of members begin with a character that no other term of an
/// array begins with, and UTF-8 has all of them.
const HEAD: u32 = 0x100;
const _: () = assert!(char::from_u32(HEAD).is_some());
const _: () = assert!(char::from_u32(HEAD + FieldId::MAX.0 as u32).is_some());

/// A value of a member of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemberValue<'a> {
    /// A word of a text, a keyword, `true` or `false`.
    Term(&'a [u8]),
    /// An integer or a floating-point number: integers beyond 2^53 may be equal to others here.
    Number(f64),
    /// Milliseconds since 1970.
    Moment(i64),
}

/// Writes the term of an array for a value of a member's field.
pub fn write_member(field: FieldId, value: MemberValue<'_>, out: &mut Vec<u8>) {
    let head = char::from_u32(HEAD + u32::from(field.0)).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.clear();
    out.extend_from_slice(head.encode_utf8(&mut [0; 4]).as_bytes());
    match value {
        MemberValue::Term(bytes) => out.extend_from_slice(bytes),
        // -0 and 0 are one number.
        MemberValue::Number(number) => {
            out.extend_from_slice(format!("{:e}", number + 0.0).as_bytes())
        }
        MemberValue::Moment(time) => out.extend_from_slice(time.to_string().as_bytes()),
    }
}

/// Returns the field and the value of a [member's term](write_member) as text; none for other terms.
pub fn read_member(term: &[u8]) -> Option<(FieldId, &str)> {
    let text = std::str::from_utf8(term).ok()?;
    let head = text.chars().next()?;
    let field = u16::try_from(u32::from(head).checked_sub(HEAD)?).ok()?;
    Some((FieldId(field), &text[head.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_below_their_array() {
        assert!(is_member("users", "users.name") && is_member("users", "users.a.b"));
        assert!(is_member("a.b", "a.b.c") && is_member("a.", "a..b"));
        for (array, field) in [("users", "users"), ("users", "usersx.a"), ("a.b", "a.c"), ("a", "")]
        {
            assert!(!is_member(array, field), "{array} {field}");
        }
    }

    #[test]
    fn terms_of_members_are_different() {
        let mut terms = Vec::new();
        for field in [0, 1, 239, 1023, KEYWORDS + 1, FieldId::MAX.0].map(FieldId) {
            for (value, text) in [
                (MemberValue::Term(b"ann"), "ann"),
                (MemberValue::Term(b""), ""),
                (MemberValue::Number(-2.5), "-2.5e0"),
                (MemberValue::Number(-0.0), "0e0"),
                (MemberValue::Number(f64::MAX), "1.7976931348623157e308"),
                (MemberValue::Moment(-3), "-3"),
            ] {
                let mut term = Vec::new();
                write_member(field, value, &mut term);
                assert_eq!(read_member(&term), Some((field, text)));
                terms.push(term);
            }
        }
        assert!(!terms.contains(&SEVERAL.to_vec()) && read_member(SEVERAL).is_none());
        let count = terms.len();
        terms.sort();
        terms.dedup();
        assert_eq!(terms.len(), count);
    }

    #[test]
    fn arrays_have_numbers_of_their_own() {
        let mut arrays = Arrays::default();
        for n in 0..ARRAYS_MAX {
            let name = format!("a{n}");
            assert!(arrays.has_room_for(&name) && arrays.get(&name).is_none());
            arrays.push(&name);
            let id = arrays.get(&name).unwrap();
            assert_eq!(arrays.name_of(id), Some(&*name));
            assert!(usize::from(id.0) > FIELDS_MAX && id.0 < KEYWORDS);
        }
        assert!(!arrays.has_room_for("one more"));
        assert_eq!(arrays.name_of(FieldId(0)), None);
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        assert!(["", "a\n", &long].iter().all(|name| !Arrays::default().has_room_for(name)));
    }
}
