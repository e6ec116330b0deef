//! `match_phrase` and `match_phrase_prefix`: words in a row.

use spirit::query::Word;
use spirit::{Analyzer, Clause, FieldKind};

use super::members::{Form, OfField, of_field, text, unknown};
use super::value::{exactly, mapped};
use super::words::{How, Token, Tokens, analyzer, expansions, lenient, short, zero_terms_all};
use super::{Asked, ID};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// A phrase that is asked for.
#[derive(Default)]
pub(super) struct Phrase {
    pub(super) slop: u32,
    /// True if the last word is a prefix.
    pub(super) is_prefix: bool,
    /// What is to be done with a text without words, and with values that do not suit a field.
    pub(super) how: How,
}

/// Reads how far words may be moved.
pub(super) fn slop(value: &Json) -> Result<u32, Refusal> {
    let slop = read::integer(value)?;
    if slop < 0 {
        return Err(Refusal::illegal_argument("No negative slop allowed."));
    }
    Ok(u32::try_from(slop).unwrap_or(u32::MAX))
}

impl Asked<'_> {
    /// Reads `match_phrase`.
    pub(super) fn phrase(&self, body: &Json) -> Result<Clause, Refusal> {
        self.in_a_row("match_phrase", body)
    }

    /// Reads `match_phrase_prefix`.
    pub(super) fn phrase_prefix(&self, body: &Json) -> Result<Clause, Refusal> {
        self.in_a_row("match_phrase_prefix", body)
    }

    fn in_a_row(&self, query: &str, body: &Json) -> Result<Clause, Refusal> {
        let missing = || Refusal::parsing("No text specified for text query");
        let Some((OfField { field, form }, mut common)) = of_field(query, body)? else {
            return Err(missing());
        };
        let is_prefix = query == "match_phrase_prefix";
        let (mut phrase, mut asked) = (Phrase { is_prefix, ..Phrase::default() }, None);
        match form {
            Form::Short(value) => asked = Some(short(query, value)?),
            Form::Long(members) => {
                for (name, value) in members {
                    match name.as_str() {
                        "query" => asked = Some(text(query, name, value)?),
                        "slop" => phrase.slop = slop(value)?,
                        "analyzer" => return Err(analyzer(query, value)),
                        "zero_terms_query" => phrase.how.zero_terms_all = zero_terms_all(value)?,
                        "max_expansions" if is_prefix => expansions(value)?,
                        name if common.takes(name, value)? => {}
                        name => return Err(unknown(query, name)),
                    }
                }
            }
        }
        Ok(common.of(self.phrase_in(field, &asked.ok_or_else(missing)?, &phrase)?))
    }

    /// Returns the clause of a text's words in a row.
    pub(super) fn phrase_in(
        &self,
        field: &str,
        text: &str,
        phrase: &Phrase,
    ) -> Result<Clause, Refusal> {
        let analyzer = match self.kind(field) {
            _ if field == ID => return Ok(Clause::Key(text.to_owned())),
            None => return Ok(Clause::Nothing),
            Some(FieldKind::Text(analyzer)) => analyzer,
            Some(_) if phrase.is_prefix && phrase.how.lenient => return Ok(Clause::Nothing),
            Some(kind) if phrase.is_prefix => {
                return Err(Refusal::query_shard(format!(
                    "failed to create query: Can only use phrase prefix queries on text fields - \
                     not on [{field}] which is of type [{}]",
                    mapped(kind)
                )));
            }
            Some(FieldKind::Keyword) => Analyzer::Keyword,
            Some(kind) => return lenient(phrase.how.lenient, self.value(field, kind, text)),
        };
        let Tokens { list, too_long, .. } = self.tokens(analyzer, text)?;
        self.spend(list.len())?;
        if too_long > 0 {
            return Ok(Clause::Nothing);
        }
        if phrase.is_prefix { prefixed(field, list, phrase) } else { Ok(row(field, list, phrase)) }
    }
}

/// Returns the clause of terms at their places.
fn row(field: &str, mut list: Vec<Token>, phrase: &Phrase) -> Clause {
    match list.len() {
        0 => phrase.how.without_words(),
        1 => exactly(field, list.remove(0).term),
        _ => {
            let words = placed(list);
            Clause::Phrase { field: field.to_owned(), words, slop: phrase.slop }
        }
    }
}

/// Returns the clause of terms at their places, of which the last is a prefix.
fn prefixed(field: &str, mut list: Vec<Token>, phrase: &Phrase) -> Result<Clause, Refusal> {
    let Some(last) = list.pop() else { return Ok(phrase.how.without_words()) };
    let Some(before) = list.last() else {
        return Ok(Clause::Prefix(Word { field: field.to_owned(), text: last.term }));
    };
    if phrase.slop > 0 {
        return Err(Refusal::unsupported("[match_phrase_prefix] with a [slop] above 0"));
    }
    let gaps = last.place - before.place - 1;
    let mut words = placed(list);
    words.extend((0..gaps).map(|_| None));
    Ok(Clause::PhrasePrefix { field: field.to_owned(), words, prefix: last.term })
}

/// Returns terms in a row, with gaps where the analyzer left words out.
fn placed(list: Vec<Token>) -> Vec<Option<String>> {
    let first = list.first().map_or(0, |token| token.place);
    let mut words = Vec::new();
    for Token { term, place } in list {
        words.resize((place - first) as usize, None);
        words.push(Some(term));
    }
    words
}
