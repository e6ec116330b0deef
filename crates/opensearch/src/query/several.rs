//! `multi_match`: one text in several fields.

use spirit::Clause;

use super::Asked;
use super::members::{Common, boosted, object, text, unknown};
use super::phrase::{Phrase, slop};
use super::words::{How, at_least, zero_terms_all};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

const QUERY: &str = "multi_match";

/// How the fields' scores are combined, and what is asked of each field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Type {
    #[default]
    BestFields,
    MostFields,
    Phrase,
    PhrasePrefix,
    BoolPrefix,
}

/// A field's name, which may have `*`, and the factor of its scores.
pub(super) type Weighted = (String, f32);

#[derive(Default)]
struct Several {
    text: Option<String>,
    /// The fields, if they are named.
    fields: Option<Vec<Weighted>>,
    kind: Type,
    tie: Option<f32>,
    slop: u32,
    how: How,
    common: Common,
}

impl Asked<'_> {
    /// Reads `multi_match`.
    pub(super) fn several(&self, body: &Json) -> Result<Clause, Refusal> {
        let mut several = Several::default();
        for (name, value) in object(QUERY, body)? {
            several.option(name, value)?;
        }
        let missing = || Refusal::parsing("No text specified for multi_match query");
        let text = several.text.take().ok_or_else(missing)?;
        several.check()?;
        let is_all = several.fields.as_ref().is_none_or(|fields| is_every(fields));
        several.how.lenient |= is_all;
        let fields = self.expanded(several.fields.as_deref());
        let mut clauses = Vec::new();
        for (field, boost) in fields {
            let clause = self.one_of_several(&field, &text, &several)?;
            clauses.push(boosted(clause, boost));
        }
        Ok(several.common.of(several.combined(clauses)))
    }

    fn one_of_several(
        &self,
        field: &str,
        text: &str,
        several: &Several,
    ) -> Result<Clause, Refusal> {
        self.spend(1)?;
        match several.kind {
            Type::BestFields | Type::MostFields | Type::BoolPrefix => {
                self.words_in(field, text, &several.how)
            }
            Type::Phrase | Type::PhrasePrefix => {
                let is_prefix = several.kind == Type::PhrasePrefix;
                let how = several.how.clone();
                self.phrase_in(field, text, &Phrase { slop: several.slop, is_prefix, how })
            }
        }
    }

    /// Returns the fields of the index that are meant, each once. Without names they are all.
    pub(super) fn expanded(&self, fields: Option<&[Weighted]>) -> Vec<Weighted> {
        let every = [("*".to_owned(), 1.0)];
        let mut found: Vec<Weighted> = Vec::new();
        for (pattern, boost) in fields.unwrap_or(&every) {
            for name in self.fields(pattern) {
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known *= boost,
                    None => found.push((name, *boost)),
                }
            }
        }
        found
    }
}

/// True if these are all fields.
pub(super) fn is_every(fields: &[Weighted]) -> bool {
    matches!(fields, [(name, _)] if name == "*")
}

impl Several {
    fn option(&mut self, name: &str, value: &Json) -> Result<(), Refusal> {
        match name {
            "query" => self.text = Some(text(QUERY, name, value)?),
            "fields" => self.fields = Some(weighted(QUERY, value)?),
            "type" => self.kind = Type::named(&text(QUERY, name, value)?)?,
            "tie_breaker" => self.tie = Some(tie(value)?),
            "slop" => self.slop = slop(value)?,
            "lenient" => self.how.lenient = read::boolean(value)?,
            "zero_terms_query" => self.how.zero_terms_all = zero_terms_all(value)?,
            "auto_generate_synonyms_phrase_query" => read::boolean(value).map(drop)?,
            name if self.how.takes(QUERY, name, value)? => {}
            name if self.common.takes(name, value)? => {}
            name => return Err(unknown(QUERY, name)),
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Refusal> {
        self.how.last_is_prefix = self.kind == Type::BoolPrefix;
        let name = match self.kind {
            Type::Phrase => "phrase",
            Type::PhrasePrefix => "phrase_prefix",
            _ => return Ok(()),
        };
        if self.how.fuzziness.is_some() {
            return Err(Refusal::parsing(format!("Fuzziness not allowed for type [{name}]")));
        }
        Ok(())
    }

    /// Combines the clauses of fields.
    fn combined(&self, clauses: Vec<Clause>) -> Clause {
        match (self.kind, self.tie) {
            (Type::MostFields | Type::BoolPrefix, None) => at_least(1, clauses),
            (_, tie) => best(clauses, tie.unwrap_or(0.0)),
        }
    }
}

/// Returns the best of some clauses; nothing without clauses.
pub(super) fn best(mut clauses: Vec<Clause>, tie: f32) -> Clause {
    match clauses.len() {
        0 => Clause::Nothing,
        1 => clauses.remove(0),
        _ => Clause::best(clauses, tie),
    }
}

impl Type {
    fn named(name: &str) -> Result<Type, Refusal> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "best_fields" | "boolean" => Type::BestFields,
            "most_fields" => Type::MostFields,
            "phrase" => Type::Phrase,
            "phrase_prefix" => Type::PhrasePrefix,
            "bool_prefix" => Type::BoolPrefix,
            "cross_fields" => {
                return Err(Refusal::unsupported("[multi_match] of type [cross_fields]"));
            }
            _ => {
                let what = format!("failed to parse [multi_match] query type [{name}].");
                return Err(Refusal::parse(format!("{what} unknown type.")));
            }
        })
    }
}

/// Reads a factor of lower scores.
pub(super) fn tie(value: &Json) -> Result<f32, Refusal> {
    let tie = read::float(value)?;
    if (0.0..=1.0).contains(&tie) {
        return Ok(tie);
    }
    Err(Refusal::illegal_argument(format!("tieBreakerMultiplier must be in [0, 1], got [{tie}]")))
}

/// Reads names of fields with factors, such as `title^2`.
pub(super) fn weighted(query: &str, value: &Json) -> Result<Vec<Weighted>, Refusal> {
    let names = read::strings(value).ok_or_else(|| unknown(query, "fields"))?;
    let split = |name: String| match name.split_once('^') {
        None => Ok((name, 1.0)),
        Some((field, boost)) => {
            let factor = read::boost(&Json::String(boost.to_owned()))?;
            Ok((field.to_owned(), factor))
        }
    };
    names.into_iter().map(split).collect()
}
