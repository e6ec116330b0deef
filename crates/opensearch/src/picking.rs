//! Picking of parts of a JSON text. What is kept is copied byte for byte.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Levels that are looked into, at most. What lies deeper is kept as it is.
const DEPTH_MAX: usize = 128;

/// What becomes of a member.
pub(crate) enum Verdict<S> {
    Keep,
    Drop,
    /// Its own members are looked at, in this state. Of an array, those of its elements are.
    Into(S, Rests),
}

/// What is kept of a member that is looked into, besides its members.
#[derive(Clone, Copy)]
pub(crate) struct Rests {
    /// Values that have no members.
    pub(crate) scalars: bool,
    /// The object or the array, if nothing of it is left.
    pub(crate) empty: bool,
}

/// The part of a value that is kept.
enum Part {
    Nothing,
    /// An object or an array of which nothing is left.
    Empty(&'static str),
    Some(String),
}

/// Returns an object with the members that `step` keeps; the text itself if it is no object.
pub(crate) fn pick<S>(text: &str, state: &S, step: &dyn Fn(&S, &str) -> Verdict<S>) -> String {
    if !text.trim_start().starts_with('{') {
        return text.to_owned();
    }
    let rests = Rests { scalars: true, empty: true };
    match part(text, state, step, rests, DEPTH_MAX) {
        Part::Nothing => text.to_owned(),
        Part::Empty(text) => text.to_owned(),
        Part::Some(text) => text,
    }
}

fn part<S>(
    text: &str,
    state: &S,
    step: &dyn Fn(&S, &str) -> Verdict<S>,
    rests: Rests,
    depth: usize,
) -> Part {
    match text.trim_start().as_bytes().first() {
        Some(_) if depth == 0 => Part::Some(text.to_owned()),
        Some(b'{') => match serde_json::from_str(text) {
            Ok(members) => of_object(&members, state, step, depth),
            Err(_) => Part::Nothing,
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(values) => of_array(&values, state, step, rests, depth),
            Err(_) => Part::Nothing,
        },
        _ if rests.scalars => Part::Some(text.to_owned()),
        _ => Part::Nothing,
    }
}

fn of_object<S>(
    members: &Members<'_>,
    state: &S,
    step: &dyn Fn(&S, &str) -> Verdict<S>,
    depth: usize,
) -> Part {
    let mut out = String::from("{");
    for (name, value) in &members.0 {
        match step(state, name) {
            Verdict::Keep => push_member(name, value.get(), &mut out),
            Verdict::Drop => {}
            Verdict::Into(state, rests) => {
                match part(value.get(), &state, step, rests, depth - 1) {
                    Part::Some(text) => push_member(name, &text, &mut out),
                    Part::Empty(text) if rests.empty => push_member(name, text, &mut out),
                    _ => {}
                }
            }
        }
    }
    closed(out, '}', "{}")
}

fn of_array<S>(
    values: &[&RawValue],
    state: &S,
    step: &dyn Fn(&S, &str) -> Verdict<S>,
    rests: Rests,
    depth: usize,
) -> Part {
    let mut out = String::from("[");
    for value in values {
        if let Part::Some(text) = part(value.get(), state, step, rests, depth - 1) {
            separate(&mut out);
            out.push_str(&text);
        }
    }
    closed(out, ']', "[]")
}

fn closed(mut out: String, end: char, empty: &'static str) -> Part {
    if out.len() == 1 {
        return Part::Empty(empty);
    }
    out.push(end);
    Part::Some(out)
}

fn push_member(name: &str, value: &str, out: &mut String) {
    separate(out);
    // Writing a string to memory cannot fail.
    out.push_str(&serde_json::to_string(name).unwrap_or_default());
    out.push(':');
    out.push_str(value);
}

/// Appends a comma, unless nothing was written yet.
fn separate(out: &mut String) {
    if out.len() > 1 {
        out.push(',');
    }
}

/// The members of an object, with their values unread.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        deserializer.deserialize_map(Reading).map(Members)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
