//! What a document scores: BM25 in double precision, clause by clause.

use std::collections::HashMap;

use spirit_query::{Bool, Clause, Parameters};

use crate::Document;
use crate::matching::matches;

/// What scores are computed from.
pub struct Collection {
    /// Documents that have words.
    pub documents: u64,
    /// Words in all of them.
    pub words: u64,
    /// Documents with each word.
    pub with_word: HashMap<String, u64>,
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
                let frequency = document.words.iter().filter(|word| **word == term.text).count();
                self.bm25(self.idf(&term.text), frequency.min(self.frequency_max), document)
            }
            Clause::Phrase { slop: 1.., .. } => return None,
            Clause::Phrase { words, .. } => {
                let idf = words.iter().flatten().map(|word| self.idf(word)).sum();
                self.bm25(idf, occurrences(&document.words, words), document)
            }
            Clause::Bool(Bool { must, should, .. }) => {
                let clauses = must.iter().chain(should);
                clauses.map(|clause| self.score(clause, document)).sum::<Option<f64>>()?
            }
            Clause::Boost(clause, by) => self.score(clause, document)? * f64::from(*by),
            Clause::Constant(_, score) => f64::from(*score),
            _ => 1.0,
        })
    }

    fn idf(&self, word: &str) -> f64 {
        let with = self.with_word.get(word).copied().unwrap_or(0) as f64;
        (1.0 + (self.documents as f64 - with + 0.5) / (with + 0.5)).ln()
    }

    fn bm25(&self, idf: f64, frequency: usize, document: &Document) -> f64 {
        let average = self.words as f64 / self.documents as f64;
        let length = document.words.len() as f64 / average;
        let (k1, b) = (f64::from(self.parameters.k1), f64::from(self.parameters.b));
        let frequency = frequency as f64;
        idf * frequency / (frequency + k1 * (1.0 - b + b * length))
    }
}

/// The words of a clause whose documents are counted, in the order in which the query has them.
pub fn words_of(clause: &Clause) -> Vec<&str> {
    match clause {
        Clause::Term(word) => vec![&word.text],
        // It takes a place among the words.
        Clause::Key(key) => vec![key],
        Clause::Phrase { words, .. } => words.iter().flatten().map(String::as_str).collect(),
        Clause::Bool(Bool { must, should, not, .. }) => {
            must.iter().chain(should).chain(not).flat_map(words_of).collect()
        }
        Clause::Boost(clause, _) | Clause::Constant(clause, _) => words_of(clause),
        _ => Vec::new(),
    }
}

/// How often a phrase is in a text. Gaps before its first word and behind its last are none.
fn occurrences(text: &[String], phrase: &[Option<String>]) -> usize {
    let words: Vec<(usize, &String)> =
        phrase.iter().enumerate().filter_map(|(at, word)| Some((at, word.as_ref()?))).collect();
    let Some((begin, _)) = words.first() else { return 0 };
    let is_at =
        |at: &usize| words.iter().all(|(place, word)| text.get(at + place - begin) == Some(word));
    (0..text.len()).filter(is_at).count()
}
