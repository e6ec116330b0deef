//! Queries of filters, written in the engine's language: its facets have them as texts.
//!
//! The language puts words through their field's analyzer. A term that this would change cannot be
//! written, nor can a fuzzy word with all choices. Such queries are refused, so that no filter counts
//! other documents than were asked for.

use spirit::query::Word;
use spirit::schema::Schema;
use spirit::{Analyzer, Clause, FieldKind};
use spirit_text::{Tokenizer, push_term};

use crate::error::Refusal;

/// Returns the text of a clause.
pub(super) fn text(clause: &Clause, schema: &Schema) -> Result<String, Refusal> {
    if is_writable(clause, schema) {
        return Ok(format!("{clause:#}"));
    }
    Err(Refusal::unsupported("a filter about a term that the field's analyzer does not make"))
}

/// True if the text of a clause means the clause. It ends: the clause's depth is bounded.
fn is_writable(clause: &Clause, schema: &Schema) -> bool {
    let all = |clauses: &[Clause]| clauses.iter().all(|clause| is_writable(clause, schema));
    match clause {
        Clause::Term(word) => is_term(word, schema),
        Clause::Phrase { field, words, .. } => {
            words.iter().flatten().all(|term| is_term_of(field, term, schema))
        }
        Clause::PhrasePrefix { field, words, prefix } => {
            let mut words = words.iter().flatten();
            words.all(|term| is_term_of(field, term, schema)) && is_folded(field, prefix, schema)
        }
        Clause::Prefix(word) | Clause::Wildcard(word) => is_folded(&word.field, &word.text, schema),
        Clause::Fuzzy { word, prefix_length, transpositions, .. } => {
            *prefix_length == 0 && *transpositions && is_folded(&word.field, &word.text, schema)
        }
        Clause::OneOf { field, values } => {
            values.iter().all(|value| is_term_of(field, value, schema))
        }
        Clause::Bool(group) => all(&group.must) && all(&group.should) && all(&group.not),
        Clause::Best { clauses, .. } => all(clauses),
        Clause::Boost(inner, _) | Clause::Constant(inner, _) => is_writable(inner, schema),
        _ => true,
    }
}

fn is_term(word: &Word, schema: &Schema) -> bool {
    is_term_of(&word.field, &word.text, schema)
}

/// True if a field's analyzer makes just this term of it.
fn is_term_of(field: &str, term: &str, schema: &Schema) -> bool {
    let Some(analyzer) = analyzer(field, schema) else { return true };
    let mut same = 0;
    let tokens = Tokenizer::new(analyzer, term.len()).for_each(term, |token| {
        same += u32::from(token.text() == term);
    });
    same == 1 && tokens.is_ok_and(|summary| summary.tokens == 1)
}

/// True if a beginning or a pattern of a term has the form of terms.
fn is_folded(field: &str, text: &str, schema: &Schema) -> bool {
    let mut folded = String::new();
    push_term(text, &mut folded);
    analyzer(field, schema).is_none() || folded == text
}

/// Returns the analyzer of a field whose words are changed; none if it has whole values.
fn analyzer(field: &str, schema: &Schema) -> Option<Analyzer> {
    match schema.asked(field)? {
        (_, FieldKind::Text(Analyzer::Keyword)) => None,
        (_, FieldKind::Text(analyzer)) => Some(analyzer),
        _ => None,
    }
}
