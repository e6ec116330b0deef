//! `prefix`, `wildcard`, `regexp` and `fuzzy`: terms that match.

use spirit::query::Word;
use spirit::{Clause, FieldKind};

use super::fuzziness::{Fuzziness, Fuzzy, prefix_length};
use super::members::{Common, Form, Members, OfField, of_field, text, unknown, wrong_kind};
use super::term::{Value, long, no_field, no_value};
use super::words::expansions;
use super::{Asked, lucene};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

impl Asked<'_> {
    /// Reads `prefix`.
    pub(super) fn prefix(&self, body: &Json) -> Result<Clause, Refusal> {
        let (field, value, common) = self.pattern("prefix", &["value", "prefix"], body)?;
        let clause = |value: Value| {
            if value.ignores_case {
                let pattern = format!("{}(?s:.*)", lucene::escaped(&value.text));
                return Clause::Regex(word(field, lucene::ignoring_case(&pattern)));
            }
            Clause::Prefix(word(field, value.text))
        };
        Ok(common.of(value.map_or(Clause::Nothing, clause)))
    }

    /// Reads `wildcard`.
    pub(super) fn wildcard(&self, body: &Json) -> Result<Clause, Refusal> {
        let (field, value, common) = self.pattern("wildcard", &["value", "wildcard"], body)?;
        let clause = |value: Value| {
            if value.ignores_case {
                let pattern = lucene::of_wildcard(&value.text);
                return Clause::Regex(word(field, lucene::ignoring_case(&pattern)));
            }
            Clause::Wildcard(word(field, value.text))
        };
        Ok(common.of(value.map_or(Clause::Nothing, clause)))
    }

    /// Reads `regexp`.
    pub(super) fn regexp(&self, body: &Json) -> Result<Clause, Refusal> {
        let Some((OfField { field, form }, mut common)) = of_field("regexp", body)? else {
            return Err(no_field());
        };
        let mut operators = lucene::ALL_OPERATORS.to_owned();
        let value = match form {
            Form::Short(value) => short(value)?,
            Form::Long(members) => {
                let (own, shared) = split(members, &["flags", "max_determinized_states"]);
                for (name, value) in &own {
                    match name.as_str() {
                        "flags" => operators = lucene::operators(&text("regexp", name, value)?)?,
                        // The size of automata has a limit of the engine's.
                        "max_determinized_states" => read::integer(value).map(drop)?,
                        _ => return Err(unknown("regexp", name)),
                    }
                }
                long("regexp", &["value"], &shared, &mut common)?
            }
        };
        if !self.has_words("regexp", field)? {
            return Ok(Clause::Nothing);
        }
        let expression = lucene::translated(&value.text, &operators)?;
        let expression = match value.ignores_case {
            true => lucene::ignoring_case(&expression),
            false => expression,
        };
        Ok(common.of(Clause::Regex(word(field, expression))))
    }

    /// Reads `fuzzy`.
    pub(super) fn fuzzy(&self, body: &Json) -> Result<Clause, Refusal> {
        let Some((OfField { field, form }, mut common)) = of_field("fuzzy", body)? else {
            return Err(no_field());
        };
        let mut fuzzy = Fuzzy::default();
        let term = match form {
            Form::Short(value) => short(value)?.text,
            Form::Long(members) => {
                let names = ["fuzziness", "prefix_length", "max_expansions", "transpositions"];
                let (own, shared) = split(members, &names);
                for (name, value) in &own {
                    match name.as_str() {
                        "fuzziness" => fuzzy.fuzziness = Fuzziness::read(value)?,
                        "prefix_length" => fuzzy.prefix_length = prefix_length(value)?,
                        "max_expansions" => expansions(value)?,
                        _ => fuzzy.transpositions = read::boolean(value)?,
                    }
                }
                let value = long("fuzzy", &["value", "term"], &shared, &mut common)?;
                if value.ignores_case {
                    return Err(unknown("fuzzy", "case_insensitive"));
                }
                value.text
            }
        };
        if !self.has_words("fuzzy", field)? {
            return Ok(Clause::Nothing);
        }
        Ok(common.of(fuzzy.clause(field, &term)))
    }

    /// Reads a query of a field and one pattern. Without such a field there is no pattern.
    fn pattern<'j>(
        &self,
        query: &str,
        names: &[&str],
        body: &'j Json,
    ) -> Result<(&'j str, Option<Value>, Common), Refusal> {
        let Some((OfField { field, form }, mut common)) = of_field(query, body)? else {
            return Err(no_field());
        };
        let value = match form {
            Form::Short(value) => short(value)?,
            Form::Long(members) => long(query, names, members, &mut common)?,
        };
        let has_words = self.has_words(query, field)?;
        Ok((field, has_words.then_some(value), common))
    }

    /// True if a field has words; false if there is no such field.
    fn has_words(&self, query: &str, field: &str) -> Result<bool, Refusal> {
        match self.kind(field) {
            None => Ok(false),
            Some(FieldKind::Text(_) | FieldKind::Keyword) => Ok(true),
            Some(kind) => {
                let refusal = wrong_kind(&format!("{query} queries"), field, kind);
                Err(match query {
                    "fuzzy" => {
                        Refusal::query_shard(format!("failed to create query: {}", refusal.reason))
                    }
                    _ => refusal,
                })
            }
        }
    }
}

fn word(field: &str, text: String) -> Word {
    Word { field: field.to_owned(), text }
}

fn short(value: &Json) -> Result<Value, Refusal> {
    let text = value.scalar().ok_or_else(no_value)?;
    Ok(Value { text, ignores_case: false })
}

/// Members that were split off.
type Part = Vec<(String, Json)>;

/// Splits members into those with one of these names, and the others.
fn split(members: &Members, names: &[&str]) -> (Part, Part) {
    members.iter().cloned().partition(|(name, _)| names.contains(&&**name))
}
