//! What was refused: how many records by each reason, and how many members by each name.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use spirit::WriteError;
use spirit::schema::FieldError;

/// Places that are named by reason: the first ones.
const PLACES: usize = 5;
/// Different names of members that are counted.
const NAMES: usize = 100;
/// The name of all others.
const OTHERS: &str = "(others)";

#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals {
    records: BTreeMap<&'static str, Counted>,
    members: BTreeMap<String, Counted>,
    values: BTreeMap<String, Counted>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Counted {
    count: u64,
    /// The first ones: `FILE:LINE`.
    at: Vec<String>,
}

/// What a summary says of them.
#[derive(Default, Serialize)]
pub(crate) struct Summary<'a> {
    /// Refused records by reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<Reason<'a>>,
    /// Members whose names can be no fields'; their documents went in without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members_left_out: Vec<Member<'a>>,
    /// Values that did not fit their fields; their documents went in without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values_left_out: Vec<Member<'a>>,
}

/// Records that were refused for a reason.
#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    #[serde(flatten)]
    counted: &'a Counted,
}

/// Values of a member that were left out: it can be no field, or they do not fit it.
#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    #[serde(flatten)]
    counted: &'a Counted,
}

impl Refusals {
    /// Counts a record.
    pub(crate) fn count(&mut self, reason: &'static str, path: &Path, line: u64) {
        self.records.entry(reason).or_default().add(1, path, line);
    }

    /// Counts values of a member.
    pub(crate) fn pass_over(&mut self, name: &str, count: u64, path: &Path, line: u64) {
        let is_known = self.members.contains_key(name) || self.members.len() < NAMES;
        let name = if is_known { name } else { OTHERS };
        self.members.entry(name.to_owned()).or_default().add(count, path, line);
    }

    /// Counts a value that does not fit its field. True if it is the field's first.
    pub(crate) fn leave_out(&mut self, name: &str, path: &Path, line: u64) -> bool {
        let counted = self.values.entry(name.to_owned()).or_default();
        counted.add(1, path, line);
        counted.count == 1
    }

    /// True if members were refused for their names.
    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// True if members of this name were refused before. Then this one is counted.
    pub(crate) fn passes_over(&mut self, name: &str, path: &Path, line: u64) -> bool {
        let known = self.members.get_mut(name);
        known.map(|counted| counted.add(1, path, line)).is_some()
    }

    /// All of it, for a summary.
    pub(crate) fn summary(&self) -> Summary<'_> {
        Summary {
            refusals: self.reasons(),
            members_left_out: self.members(),
            values_left_out: self.values(),
        }
    }

    /// By reason, the most frequent first.
    fn reasons(&self) -> Vec<Reason<'_>> {
        let mut all: Vec<_> =
            self.records.iter().map(|(reason, counted)| Reason { reason, counted }).collect();
        all.sort_by_key(|reason| std::cmp::Reverse(reason.counted.count));
        all
    }

    /// Members that can be no fields, by name.
    fn members(&self) -> Vec<Member<'_>> {
        self.members.iter().map(|(name, counted)| Member { name, counted }).collect()
    }

    /// Values that did not fit, by the name of their field.
    fn values(&self) -> Vec<Member<'_>> {
        self.values.iter().map(|(name, counted)| Member { name, counted }).collect()
    }
}

impl Counted {
    fn add(&mut self, count: u64, path: &Path, line: u64) {
        self.count += count;
        if self.at.len() < PLACES {
            self.at.push(format!("{}:{line}", path.display()));
        }
    }
}

/// The reason by which documents that the index refused are counted.
pub(crate) fn kind_of(error: &WriteError) -> &'static str {
    match error {
        WriteError::DocumentTooLong { .. } => "too long",
        WriteError::DocumentTooLarge { .. } => "too large for a segment",
        WriteError::Key { .. } => "invalid key",
        WriteError::Field(field) => match field {
            FieldError::Unknown { .. } => "field not in the schema",
            FieldError::Misfit { .. } => "value of another kind",
            FieldError::KeywordTooLong { .. } => "keyword too long",
            FieldError::Name { .. } | FieldError::Reserved { .. } => "invalid name of a field",
            FieldError::TooManyFields { .. } | FieldError::TooManyTextFields { .. } => {
                "too many fields"
            }
            FieldError::TooManyValues { .. } => "too many values",
            _ => "field",
        },
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_with_their_first_places() {
        let mut refusals = Refusals::default();
        for line in 1..=9 {
            refusals.count(if line == 2 { "too long" } else { "no tab" }, Path::new("a"), line);
        }
        for name in 0..2 * NAMES {
            refusals.pass_over(&format!("$ {name}"), 2, Path::new("a"), 1);
        }
        let text = serde_json::to_string(&refusals.reasons()).unwrap();
        let expected = r#"[{"reason":"no tab","count":8,"at":["a:1","a:3","a:4","a:5","a:6"]},{"reason":"too long","count":1,"at":["a:2"]}]"#;
        assert_eq!(text, expected);
        let members = refusals.members();
        assert_eq!((members.len(), members[1].counted.count), (NAMES + 1, 2));
        let others = members.iter().find(|member| member.name == OTHERS).unwrap();
        assert_eq!(others.counted.count, 2 * NAMES as u64);
    }
}
