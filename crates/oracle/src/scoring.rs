//! What a document scores: BM25 in double precision, clause by clause.

use std::collections::HashMap;

use spirit_query::{Bool, Clause, Parameters};

use crate::Document;
use crate::bm25::{Bm25, idf};
use crate::matching::{matches, phrase_of, phrase_prefix_of};
use crate::values::terms;

/// What scores are computed from.
pub struct Collection {
    /// By field, documents that have words, and words in all of them.
    pub fields: HashMap<String, (u64, u64)>,
    /// Documents with each term, by field. What is not among them scores the same for all.
    pub with_term: HashMap<(String, String), u64>,
    /// The ranking function's.
    pub parameters: Parameters,
    /// A word that is in a document more often counts so often: an index without positions knows no more.
    pub frequency_max: usize,
}

impl Collection {
    /// What a document that matches scores; none where nobody says what a phrase that may be moved should.
    pub fn score(&self, clause: &Clause, document: &Document) -> Option<f64> {
        Some(match clause {
            _ if !matches(clause, document) => 0.0,
            Clause::Term(term) => {
                let Some(idf) = self.idf(&term.field, &term.text) else { return Some(1.0) };
                let all = terms(document, &term.field).into_iter().flatten();
                let frequency = all.filter(|word| *word == term.text).count();
                self.bm25(idf, frequency.min(self.frequency_max), &term.field, document)
            }
            Clause::Words { field, text, slop } => {
                self.score(&phrase_of(field, text, *slop), document)?
            }
            Clause::Phrase { slop: 1.., .. } => return None,
            Clause::Phrase { field, words, .. } => {
                let idf = words.iter().flatten().filter_map(|word| self.idf(field, word)).sum();
                let texts = terms(document, field);
                let frequency = texts.iter().map(|text| occurrences(text, words)).sum();
                self.bm25(idf, frequency, field, document)
            }
            Clause::Bool(Bool { must, should, .. }) => {
                let clauses = must.iter().chain(should);
                clauses.map(|clause| self.score(clause, document)).sum::<Option<f64>>()?
            }
            Clause::Best { clauses, tie } => {
                let matching = clauses.iter().filter(|clause| matches(clause, document));
                let scores: Option<Vec<f64>> =
                    matching.map(|clause| self.score(clause, document)).collect();
                let (scores, tie) = (scores?, f64::from(*tie));
                let best = scores.iter().copied().fold(0.0, f64::max);
                best + tie * (scores.iter().sum::<f64>() - best)
            }
            Clause::Boost(clause, by) => self.score(clause, document)? * f64::from(*by),
            Clause::Constant(_, score) => f64::from(*score),
            _ => 1.0,
        })
    }

    pub(crate) fn idf(&self, field: &str, word: &str) -> Option<f64> {
        let (documents, _) = self.fields.get(field)?;
        let with = *self.with_term.get(&(field.to_owned(), word.to_owned()))? as f64;
        Some(idf(*documents as f64, with))
    }

    fn bm25(&self, idf: f64, frequency: usize, field: &str, document: &Document) -> f64 {
        let (documents, words) = self.fields[field];
        let average = words as f64 / documents as f64;
        let length = terms(document, field).iter().map(Vec::len).sum::<usize>() as f64 / average;
        let Parameters { k1, b } = self.parameters;
        Bm25 { k1: k1.into(), b: b.into() }.score(idf, frequency as f64, length)
    }
}

/// The terms of a clause whose documents are counted, by field, in the order in which the query has them. `has_terms` says which
/// fields have terms: a value of another field has none.
pub fn terms_of(clause: &Clause, has_terms: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    let of_field = |field: &str, words: &mut dyn Iterator<Item = &String>| {
        // A longer word is no term.
        let are_terms = |word: &&String| has_terms(field) && word.len() <= 255;
        words.filter(are_terms).map(|word| (field.to_owned(), word.clone())).collect()
    };
    match clause {
        Clause::Term(word) => of_field(&word.field, &mut std::iter::once(&word.text)),
        Clause::Words { field, text, slop } => terms_of(&phrase_of(field, text, *slop), has_terms),
        Clause::WordsPrefix { field, text } => terms_of(&phrase_prefix_of(field, text), has_terms),
        // It takes a place among the terms.
        Clause::Key(key) => vec![(String::new(), key.clone())],
        Clause::Phrase { field, words, .. } | Clause::PhrasePrefix { field, words, .. } => {
            of_field(field, &mut words.iter().flatten())
        }
        Clause::OneOf { field, values } => of_field(field, &mut values.iter()),
        Clause::Bool(Bool { must, should, not, .. }) => {
            let clauses = must.iter().chain(should).chain(not);
            clauses.flat_map(|clause| terms_of(clause, has_terms)).collect()
        }
        Clause::Best { clauses, .. } => {
            clauses.iter().flat_map(|clause| terms_of(clause, has_terms)).collect()
        }
        Clause::Boost(clause, _) | Clause::Constant(clause, _) => terms_of(clause, has_terms),
        _ => Vec::new(),
    }
}

/// How often a phrase is in a text. Gaps before its first word and behind its last are none.
fn occurrences(text: &[&str], phrase: &[Option<String>]) -> usize {
    let words: Vec<(usize, &String)> =
        phrase.iter().enumerate().filter_map(|(at, word)| Some((at, word.as_ref()?))).collect();
    let Some((begin, _)) = words.first() else { return 0 };
    let is_word = |at: usize, word: &str| text.get(at).is_some_and(|found| *found == word);
    let is_at = |at: &usize| words.iter().all(|(place, word)| is_word(at + place - begin, word));
    (0..text.len()).filter(is_at).count()
}
