//! A query of the file as tantivy's own object.

use spirit_peer_protocol::{Clauses, Query, Unsupported};
use std::ops::Bound;
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, ExistsQuery, FuzzyTermQuery, Occur,
    PhrasePrefixQuery, PhraseQuery, RangeQuery, RegexQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, FieldType, IndexRecordOption, Schema};

type Own = Box<dyn tantivy::query::Query>;

/// Any number of any characters.
const ANY: &str = "(?s:.)*";

/// More than any corpus has terms with one beginning: tantivy takes room for this many at once, 1.9 GB that are not touched.
const EXPANSIONS: u32 = 1 << 20;

/// Makes tantivy's objects.
pub(crate) struct Form<'a> {
    pub(crate) schema: &'a Schema,
    /// Whether scores are wanted: a term read without frequencies would score as if it occurred once.
    pub(crate) scored: bool,
}

/// What is in a field.
enum Content {
    Text,
    Keywords,
    Integers,
}

impl Form<'_> {
    pub(crate) fn of(&self, query: &Query) -> Result<Own, Unsupported> {
        match query {
            Query::Term { field, value } => self.term(field, value),
            Query::Phrase { field, terms, slop } => self.phrase(field, terms, *slop),
            Query::PhrasePrefix { field, terms } => self.phrase_prefix(field, terms),
            Query::Prefix { field, value } => self.pattern(field, &(escaped(value) + ANY)),
            Query::Wildcard { field, value } => self.pattern(field, &regex(value)),
            Query::Fuzzy { field, value, distance, transpositions, prefix_length } => {
                self.fuzzy(field, value, *distance, *transpositions, *prefix_length)
            }
            Query::Bool(clauses) => self.clauses(clauses),
            Query::Constant { query, score } => {
                Ok(Box::new(ConstScoreQuery::new(self.of(query)?, *score)))
            }
            Query::Boost { query, by } => Ok(Box::new(BoostQuery::new(self.of(query)?, *by))),
            Query::All {} => Ok(Box::new(AllQuery)),
            Query::OneOf { field, values } => self.one_of(field, values),
            Query::Range { field, from, to, include_from, include_to } => {
                self.range(field, bound(*from, *include_from), bound(*to, *include_to))
            }
        }
    }

    fn field(&self, name: &str) -> Result<(Field, Content), Unsupported> {
        let none = |_| Unsupported(format!("no field {name}"));
        let field = self.schema.get_field(name).map_err(none)?;
        let content = match self.schema.get_field_entry(field).field_type() {
            FieldType::Str(options) => match options.get_indexing_options() {
                Some(indexing) if indexing.index_option().has_positions() => Content::Text,
                _ => Content::Keywords,
            },
            _ => Content::Integers,
        };
        Ok((field, content))
    }

    /// A field with terms.
    fn words(&self, name: &str) -> Result<(Field, Content), Unsupported> {
        match self.field(name)? {
            (_, Content::Integers) => Err(Unsupported(format!("{name} is a column of integers"))),
            found => Ok(found),
        }
    }

    /// A keyword has no frequency to speak of: its score is 1.
    fn term(&self, field: &str, value: &str) -> Result<Own, Unsupported> {
        let (field, content) = self.words(field)?;
        let term = Term::from_field_text(field, value);
        match content {
            Content::Text if self.scored => {
                Ok(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
            }
            Content::Text => Ok(Box::new(TermQuery::new(term, IndexRecordOption::Basic))),
            _ => {
                let query = TermQuery::new(term, IndexRecordOption::Basic);
                Ok(Box::new(ConstScoreQuery::new(Box::new(query), 1.0)))
            }
        }
    }

    fn phrase(&self, name: &str, terms: &[String], slop: u32) -> Result<Own, Unsupported> {
        if let [only] = terms {
            return self.term(name, only);
        }
        let (field, Content::Text) = self.field(name)? else {
            return Err(Unsupported(format!("{name} has no positions")));
        };
        let terms = terms.iter().map(|term| Term::from_field_text(field, term)).enumerate();
        Ok(Box::new(PhraseQuery::new_with_offset_and_slop(terms.collect(), slop)))
    }

    /// Constant, since tantivy scores the phrase of the other terms.
    fn phrase_prefix(&self, name: &str, terms: &[String]) -> Result<Own, Unsupported> {
        if let [only] = terms {
            return self.pattern(name, &(escaped(only) + ANY));
        }
        let (field, Content::Text) = self.field(name)? else {
            return Err(Unsupported(format!("{name} has no positions")));
        };
        let terms = terms.iter().map(|term| Term::from_field_text(field, term)).collect();
        let mut query = PhrasePrefixQuery::new(terms);
        query.set_max_expansions(EXPANSIONS);
        Ok(Box::new(ConstScoreQuery::new(Box::new(query), 1.0)))
    }

    fn pattern(&self, field: &str, pattern: &str) -> Result<Own, Unsupported> {
        let (field, _) = self.words(field)?;
        let query = RegexQuery::from_pattern(pattern, field);
        Ok(Box::new(query.map_err(|error| Unsupported(error.to_string()))?))
    }

    fn fuzzy(
        &self,
        field: &str,
        value: &str,
        distance: u8,
        transpositions: bool,
        prefix_length: usize,
    ) -> Result<Own, Unsupported> {
        if prefix_length > 0 {
            return Err(Unsupported("fuzzy terms with a beginning that stays".to_owned()));
        }
        let (field, _) = self.words(field)?;
        let term = Term::from_field_text(field, value);
        Ok(Box::new(FuzzyTermQuery::new(term, distance, transpositions)))
    }

    fn clauses(&self, clauses: &Clauses) -> Result<Own, Unsupported> {
        let mut own = Vec::new();
        let all = [
            (Occur::Must, &clauses.must),
            (Occur::Should, &clauses.should),
            (Occur::MustNot, &clauses.not),
        ];
        for (occur, queries) in all {
            for query in queries {
                own.push((occur, self.of(query)?));
            }
        }
        Ok(Box::new(BooleanQuery::with_minimum_required_clauses(own, clauses.should_min())))
    }

    fn one_of(&self, name: &str, values: &[String]) -> Result<Own, Unsupported> {
        let (field, Content::Keywords) = self.field(name)? else {
            return Err(Unsupported(format!("{name} is no column of keywords")));
        };
        let terms = values.iter().map(|value| Term::from_field_text(field, value));
        Ok(Box::new(ConstScoreQuery::new(Box::new(TermSetQuery::new(terms)), 1.0)))
    }

    /// A range without bounds is asked otherwise, because tantivy's must have one.
    fn range(&self, name: &str, from: Bound<i64>, to: Bound<i64>) -> Result<Own, Unsupported> {
        let (field, Content::Integers) = self.field(name)? else {
            return Err(Unsupported(format!("{name} is no column of integers")));
        };
        if (from, to) == (Bound::Unbounded, Bound::Unbounded) {
            return Ok(Box::new(ExistsQuery::new(name.to_owned(), false)));
        }
        let term = |value| Term::from_field_i64(field, value);
        Ok(Box::new(RangeQuery::new(from.map(term), to.map(term))))
    }
}

fn bound(value: Option<i64>, included: bool) -> Bound<i64> {
    match value {
        None => Bound::Unbounded,
        Some(value) if included => Bound::Included(value),
        Some(value) => Bound::Excluded(value),
    }
}

/// A regular expression for the terms of a pattern.
fn regex(pattern: &str) -> String {
    let part = |c: char| match c {
        '*' => ANY.to_owned(),
        '?' => "(?s:.)".to_owned(),
        _ => escaped(c.encode_utf8(&mut [0; 4])),
    };
    pattern.chars().map(part).collect()
}

/// A regular expression for the text itself.
fn escaped(text: &str) -> String {
    const SPECIAL: &str = r"\.+*?()|[]{}^$#&-~";
    let mut escaped = String::new();
    for c in text.chars() {
        if SPECIAL.contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stars_and_question_marks_are_special_in_a_pattern() {
        assert_eq!(regex("a*b?c"), "a(?s:.)*b(?s:.)c");
        assert_eq!(regex("côte*"), "côte(?s:.)*");
        assert_eq!(escaped("a.b[c"), "a\\.b\\[c");
    }

    #[test]
    fn any_text_is_a_pattern_of_itself() {
        let all: String = (' '..='~').collect();
        assert!(RegexQuery::from_pattern(&escaped(&all), Field::from_field_id(0)).is_ok());
    }
}
