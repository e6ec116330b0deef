//! Targets: the fields in which `query_string` and `simple_query_string` look for words.

use spirit::query::Word;
use spirit::{Analyzer, Clause, FieldKind};
use spirit_text::push_term;

use super::fuzziness::Fuzziness;
use super::members::{Common, boosted, wrong_kind};
use super::phrase::Phrase;
use super::several::{Weighted, best, is_every};
use super::words::{How, Operator};
use super::{Asked, TEXT_LENGTH_MAX};
use crate::error::Refusal;

/// The options that both queries have.
#[derive(Default)]
pub(super) struct Options {
    pub(super) fields: Option<Vec<Weighted>>,
    pub(super) operator: Operator,
    /// True if values that do not suit a field match nothing; if not given, that depends.
    pub(super) lenient: Option<bool>,
    pub(super) how: How,
    pub(super) minimum: Option<String>,
    pub(super) slop: u32,
    pub(super) zone: Option<String>,
    pub(super) common: Common,
}

impl Options {
    /// Returns these options ready for use: the operator holds within words that are cut, too.
    pub(super) fn settled(mut self) -> Options {
        let is_all = self.fields.as_ref().is_none_or(|fields| is_every(fields));
        self.how.operator = self.operator;
        self.how.lenient = self.lenient.unwrap_or(is_all);
        self
    }
}

impl Asked<'_> {
    /// Returns a clause for a word. None if no analyzer finds a word in it.
    pub(super) fn word_at(
        &self,
        fields: &[Weighted],
        text: &str,
        how: &How,
    ) -> Result<Option<Clause>, Refusal> {
        if self.is_blank(fields, text)? {
            return Ok(None);
        }
        self.at_each(fields, how, |field| self.words_in(field, text, how)).map(Some)
    }

    /// Returns a clause for a phrase. None if no analyzer finds a word in it.
    pub(super) fn phrase_at(
        &self,
        fields: &[Weighted],
        text: &str,
        phrase: &Phrase,
    ) -> Result<Option<Clause>, Refusal> {
        if self.is_blank(fields, text)? {
            return Ok(None);
        }
        self.at_each(fields, &phrase.how, |field| self.phrase_in(field, text, phrase)).map(Some)
    }

    /// Returns a clause for terms that a pattern with `*` and `?` matches. `\` escapes.
    pub(super) fn pattern_at(
        &self,
        fields: &[Weighted],
        pattern: &str,
        how: &How,
    ) -> Result<Clause, Refusal> {
        self.at_each(fields, how, |field| {
            let Some(kind) = self.kind(field) else { return Ok(Clause::Nothing) };
            let text = match kind {
                FieldKind::Text(Analyzer::Keyword) | FieldKind::Keyword => pattern.to_owned(),
                FieldKind::Text(_) => folded(pattern),
                kind => return Err(wrong_kind("wildcard queries", field, kind)),
            };
            let word = |text: String| Word { field: field.to_owned(), text };
            let plain = text.strip_suffix('*').filter(|head| !head.contains(['*', '?', '\\']));
            Ok(match plain {
                Some(head) => Clause::Prefix(word(head.to_owned())),
                None => Clause::Wildcard(word(text)),
            })
        })
    }

    /// Returns a clause for terms near one.
    pub(super) fn fuzzy_at(
        &self,
        fields: &[Weighted],
        text: &str,
        fuzziness: Fuzziness,
        how: &How,
    ) -> Result<Clause, Refusal> {
        let how = How { fuzziness: Some(fuzziness), ..how.clone() };
        self.at_each(fields, &how, |field| self.words_in(field, text, &how))
    }

    /// Combines the clauses of several fields: the best counts.
    pub(super) fn at_each(
        &self,
        fields: &[Weighted],
        how: &How,
        clause: impl Fn(&str) -> Result<Clause, Refusal>,
    ) -> Result<Clause, Refusal> {
        let mut clauses = Vec::new();
        for (field, boost) in fields {
            self.spend(1)?;
            let one = match clause(field) {
                Err(refusal) if how.lenient && refusal.kind != "too_many_clauses" => continue,
                one => one?,
            };
            if one != Clause::Nothing {
                clauses.push(boosted(one, *boost));
            }
        }
        Ok(best(clauses, how.tie))
    }

    /// True if all of these fields are texts whose analyzers find no word in a text. Such a text
    /// counts as a clause too, so that the number of those that are looked at is limited.
    fn is_blank(&self, fields: &[Weighted], text: &str) -> Result<bool, Refusal> {
        self.spend(1)?;
        for (field, _) in fields {
            let Some(FieldKind::Text(analyzer)) = self.kind(field) else { return Ok(false) };
            let tokens = self.tokens(analyzer, text)?;
            if !tokens.list.is_empty() || tokens.too_long > 0 {
                return Ok(false);
            }
        }
        Ok(!fields.is_empty())
    }
}

/// Refuses a text in Lucene's syntax that is too long.
pub(super) fn check_length(text: &str) -> Result<(), Refusal> {
    let length = text.chars().count();
    if length <= TEXT_LENGTH_MAX {
        return Ok(());
    }
    Err(Refusal::query_shard(format!(
        "failed to create query: Query string length exceeds max allowed length {TEXT_LENGTH_MAX} \
         (search.query.max_query_string_length); actual length: {length}"
    )))
}

/// Returns a pattern in the form of terms.
fn folded(pattern: &str) -> String {
    let mut out = String::new();
    push_term(pattern, &mut out);
    out
}
