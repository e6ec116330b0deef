//! What a document's score has to be: BM25 computed plainly, in double precision, from the document's words.
//!
//! Engines agree on the formula and not on its details; a [`Convention`] has those. What matches in a column scores 1.

use std::collections::HashMap;

use spirit_oracle::{self as oracle, edits};
use spirit_peer_protocol::{Clauses, Query as Tree, TEXT};

use crate::corpus::{Corpus, tokenizer};
use crate::lengths::rounded;
use crate::peers::System;
use crate::query_sets::columns::Row;
use crate::sloppy::{self, Pair};
use crate::workloads::document_frequencies;

/// How an engine computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convention {
    pub(crate) k1: f64,
    pub(crate) b: f64,
    /// Whether scores are multiplied by k1 + 1.
    pub(crate) times_k1_and_one: bool,
    /// Whether the length of a document is kept in one byte.
    pub(crate) rounded_lengths: bool,
    /// Whether documents without words count in the number of documents and in the mean length.
    pub(crate) empty_documents: bool,
    /// The frequency of two terms that are near each other.
    pub(crate) sloppy: fn(&Pair, u32) -> f64,
}

impl Convention {
    /// Ours: Lucene's, but for lengths, which are exact.
    pub(crate) fn ours() -> Convention {
        Convention {
            k1: 1.2,
            b: 0.75,
            times_k1_and_one: false,
            rounded_lengths: false,
            empty_documents: false,
            sloppy: sloppy::lucene,
        }
    }

    /// A peer's, if it has scores.
    pub(crate) fn of(system: System) -> Option<Convention> {
        let lucene = Convention { rounded_lengths: true, ..Convention::ours() };
        match system {
            System::Lucene => Some(lucene),
            System::Tantivy => Some(Convention {
                times_k1_and_one: true,
                empty_documents: true,
                sloppy: sloppy::tantivy,
                ..lucene
            }),
            System::Sqlite | System::OpenSearch => None,
        }
    }
}

/// What scores depend on beside the document.
pub(crate) struct Statistics {
    documents: u64,
    nonempty: u64,
    tokens: u64,
    frequencies: HashMap<String, u32>,
}

impl Statistics {
    pub(crate) fn of(corpus: &Corpus) -> Statistics {
        let is_empty = |text: &&str| Document::new(text).length == 0;
        let documents = corpus.len() as u64;
        Statistics {
            documents,
            nonempty: documents - corpus.iter().filter(is_empty).count() as u64,
            tokens: corpus.tokens,
            frequencies: document_frequencies(corpus),
        }
    }
}

/// The words of a document, and its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document<'a> {
    /// Tokens that are indexed.
    length: u32,
    positions: HashMap<String, Vec<u32>>,
    /// None if they are not known.
    row: Option<Row<'a>>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(text: &str) -> Document<'a> {
        let mut document = Document::default();
        // Too long a text has no words, as in the engine.
        let _ = tokenizer().for_each(text, |token| {
            document.length += 1;
            document.positions.entry(token.text().to_owned()).or_default().push(token.position());
        });
        document
    }

    /// The same with these values in its columns.
    pub(crate) fn with(self, row: Option<Row<'a>>) -> Document<'a> {
        Document { row, ..self }
    }

    fn positions(&self, term: &str) -> &[u32] {
        self.positions.get(term).map_or(&[], Vec::as_slice)
    }
}

/// A query whose score cannot be computed here, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotComputed(pub(crate) &'static str);

/// Scores by one convention.
#[derive(Clone, Copy)]
pub(crate) struct Bm25<'a> {
    pub(crate) statistics: &'a Statistics,
    pub(crate) convention: Convention,
}

impl Bm25<'_> {
    /// The score of a document; `None` if it does not match.
    pub(crate) fn score(
        &self,
        query: &Tree,
        document: &Document<'_>,
    ) -> Result<Option<f64>, NotComputed> {
        match query {
            Tree::Term { field, value } if field == TEXT => {
                let frequency = document.positions(value).len() as f64;
                Ok(self.weighed(&[value], frequency, document))
            }
            Tree::Phrase { field, terms, slop } if field == TEXT => {
                let terms: Vec<&String> = terms.iter().collect();
                let frequency = self.phrase_frequency(&terms, *slop, document)?;
                Ok(self.weighed(&terms, frequency, document))
            }
            Tree::PhrasePrefix { field, terms } if field == TEXT => {
                let (prefix, others) = terms.split_last().ok_or(NotComputed("no terms"))?;
                let ends = |term: &&String| term.starts_with(prefix);
                let phrase = |last| others.iter().chain([last]).collect::<Vec<&String>>();
                let mut last = document.positions.keys().filter(ends);
                Ok(last.any(|last| exact_frequency(&phrase(last), document) > 0).then_some(1.0))
            }
            Tree::Prefix { field, value } if field == TEXT => {
                Ok(any_term(document, |term| term.starts_with(value)))
            }
            Tree::Wildcard { field, value } if field == TEXT => {
                let pattern: Vec<char> = value.chars().collect();
                Ok(any_term(document, |term| is_like(term, &pattern)))
            }
            Tree::Fuzzy { field, value, distance, transpositions, prefix_length }
                if field == TEXT =>
            {
                let start: String = value.chars().take(*prefix_length).collect();
                let is_near = |term: &str| {
                    term.starts_with(&start)
                        && edits(value, term, *transpositions) <= usize::from(*distance)
                };
                Ok(any_term(document, is_near))
            }
            Tree::Bool(clauses) => self.sum(clauses, document),
            Tree::Constant { query, score } => {
                Ok(self.score(query, document)?.map(|_| f64::from(*score)))
            }
            Tree::Boost { query, by } => {
                Ok(self.score(query, document)?.map(|score| score * f64::from(*by)))
            }
            Tree::All {} => Ok(Some(1.0)),
            column => {
                let row = document.row.as_ref().ok_or(NotComputed("columns"))?;
                Ok(is_in_column(column, row)?.then_some(1.0))
            }
        }
    }

    fn sum(&self, clauses: &Clauses, document: &Document<'_>) -> Result<Option<f64>, NotComputed> {
        let all = |queries: &[Tree]| -> Result<Vec<f64>, NotComputed> {
            let scores = queries.iter().map(|query| self.score(query, document));
            scores.filter_map(Result::transpose).collect()
        };
        let (must, should) = (all(&clauses.must)?, all(&clauses.should)?);
        let matches = must.len() == clauses.must.len()
            && should.len() >= clauses.should_min()
            && !(clauses.must.is_empty() && clauses.should.is_empty())
            && all(&clauses.not)?.is_empty();
        Ok(matches.then(|| must.iter().chain(&should).sum()))
    }

    /// The score of terms that occur together so often.
    fn weighed(&self, terms: &[&String], frequency: f64, document: &Document<'_>) -> Option<f64> {
        let Convention { k1, b, rounded_lengths, times_k1_and_one, .. } = self.convention;
        let length = document.length;
        let length = if rounded_lengths { rounded(length) } else { length };
        let mean = self.statistics.tokens as f64 / self.documents();
        let factor = if times_k1_and_one { k1 + 1.0 } else { 1.0 };
        let idf: f64 = terms.iter().map(|term| self.idf(term)).sum();
        let score = oracle::Bm25 { k1, b }.score(idf, frequency, f64::from(length) / mean);
        (frequency > 0.0).then_some(factor * score)
    }

    fn idf(&self, term: &str) -> f64 {
        let n = f64::from(self.statistics.frequencies.get(term).copied().unwrap_or(0));
        oracle::idf(self.documents(), n)
    }

    /// Documents that count.
    fn documents(&self) -> f64 {
        let Statistics { documents, nonempty, .. } = self.statistics;
        *(if self.convention.empty_documents { documents } else { nonempty }) as f64
    }

    fn pair(&self, first: &str, second: &str, document: &Document<'_>) -> Pair {
        let frequency = |term| self.statistics.frequencies.get(term);
        let positions = |term, offset| {
            document.positions(term).iter().map(|at| i64::from(*at) - offset).collect()
        };
        Pair {
            first: positions(first, 0),
            second: positions(second, 1),
            second_is_rarer: frequency(second) < frequency(first),
        }
    }

    /// How often the phrase occurs. With slop only pairs of different terms are counted: every engine has its own
    /// way with more.
    fn phrase_frequency(
        &self,
        terms: &[&String],
        slop: u32,
        document: &Document<'_>,
    ) -> Result<f64, NotComputed> {
        match terms {
            [_] => Ok(document.positions(terms[0]).len() as f64),
            _ if slop == 0 => Ok(exact_frequency(terms, document) as f64),
            [first, second] if first != second => {
                Ok((self.convention.sloppy)(&self.pair(first, second, document), slop))
            }
            _ => Err(NotComputed("slop of more than two different terms")),
        }
    }
}

/// Whether a document's values are what a query wants of a column.
fn is_in_column(query: &Tree, row: &Row<'_>) -> Result<bool, NotComputed> {
    match query {
        Tree::Term { field, value } => Ok(row.keyword(field) == Some(value.as_str())),
        Tree::OneOf { field, values } => {
            Ok(row.keyword(field).is_some_and(|keyword| values.iter().any(|v| v == keyword)))
        }
        Tree::Range { field, from, to, include_from, include_to } => {
            let above = |n: i64| from.is_none_or(|from| n > from || (*include_from && n == from));
            let below = |n: i64| to.is_none_or(|to| n < to || (*include_to && n == to));
            Ok(row.integer(field).is_some_and(|number| above(number) && below(number)))
        }
        _ => Err(NotComputed("patterns of keywords")),
    }
}

fn any_term(document: &Document<'_>, is_wanted: impl Fn(&str) -> bool) -> Option<f64> {
    document.positions.keys().any(|term| is_wanted(term)).then_some(1.0)
}

/// Whether a term is of a pattern, by trying every length for each `*`.
fn is_like(term: &str, pattern: &[char]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return term.is_empty() };
    let mut after = term.chars();
    match first {
        '*' => {
            let ends = term.char_indices().map(|(at, _)| at).chain([term.len()]);
            ends.into_iter().any(|at| is_like(&term[at..], rest))
        }
        '?' => after.next().is_some() && is_like(after.as_str(), rest),
        letter => after.next() == Some(*letter) && is_like(after.as_str(), rest),
    }
}

fn exact_frequency(terms: &[&String], document: &Document<'_>) -> usize {
    let follows = |start: u32, at: usize| {
        document.positions(terms[at]).binary_search(&(start + at as u32)).is_ok()
    };
    let starts = document.positions(terms[0]).iter();
    starts.filter(|start| (1..terms.len()).all(|at| follows(**start, at))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus() -> Corpus {
        let long = ["x"; 51].join(" ");
        Corpus::of("tiny", ["big data", "big big data data", "", "data", &long]).unwrap()
    }

    fn score(convention: Convention, query: &Tree, document: usize) -> Option<f64> {
        let corpus = corpus();
        let statistics = Statistics::of(&corpus);
        let bm25 = Bm25 { statistics: &statistics, convention };
        bm25.score(query, &Document::new(corpus.get(document))).unwrap()
    }

    fn near(score: Option<f64>, expected: f64) {
        let score = score.expect("it matches");
        assert!((score - expected).abs() < 1e-9, "{score} {expected}");
    }

    #[test]
    fn a_score_is_the_formula_by_hand() {
        let [lucene, tantivy] =
            [System::Lucene, System::Tantivy].map(|s| Convention::of(s).unwrap());
        // 58 tokens in 4 documents that have any; `big` twice in one of 4 tokens.
        let idf = (1.0_f64 + (4.0 - 2.0 + 0.5) / 2.5).ln();
        let expected = idf * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 4.0 / (58.0 / 4.0)));
        near(score(lucene, &Tree::term("big"), 1), expected);
        // 5 documents, and times 2.2.
        let idf = (1.0_f64 + (5.0 - 2.0 + 0.5) / 2.5).ln();
        let expected = 2.2 * idf * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 4.0 / (58.0 / 5.0)));
        near(score(tantivy, &Tree::term("big"), 1), expected);
        assert_eq!(score(tantivy, &Tree::term("big"), 3), None);
    }

    #[test]
    fn long_documents_are_shorter_in_one_byte() {
        let lucene = Convention::of(System::Lucene).unwrap();
        let [rounded, exact] =
            [lucene, Convention::ours()].map(|c| score(c, &Tree::term("x"), 4).unwrap());
        // 51 is not one of the 256 values, 50 is.
        assert!(rounded > exact, "{rounded} {exact}");
    }

    #[test]
    fn clauses_add_up_and_have_to_match() {
        let lucene = Convention::of(System::Lucene).unwrap();
        let [big, data] = ["big", "data"].map(Tree::term);
        let both = Tree::any_of(vec![big.clone(), data.clone()]);
        let sum = score(lucene, &big, 0).unwrap() + score(lucene, &data, 0).unwrap();
        near(score(lucene, &both, 0), sum);
        assert_eq!(score(lucene, &both, 3), score(lucene, &data, 3));
        assert_eq!(score(lucene, &Tree::all_of(vec![big.clone(), data.clone()]), 3), None);
        let not = Tree::Bool(Clauses {
            should: vec![data],
            not: vec![big.clone()],
            ..Clauses::default()
        });
        assert_eq!(score(lucene, &not, 0), None);
        let louder = Tree::Boost { query: Box::new(big), by: 3.0 };
        near(score(lucene, &louder, 0), 3.0 * score(lucene, &Tree::term("big"), 0).unwrap());
    }

    #[test]
    fn columns_score_one_and_have_no_length() {
        use crate::query_sets::columns::Columns;
        let (corpus, columns) = (corpus(), Columns::draw(5, 42));
        let statistics = Statistics::of(&corpus);
        let document = || Document::new(corpus.get(1)).with(Some(columns.row(1)));
        let scored = |convention, query: &Tree| {
            let bm25 = Bm25 { statistics: &statistics, convention };
            bm25.score(query, &document()).unwrap()
        };
        let lucene = Convention::of(System::Lucene).unwrap();
        let range = |include_from| {
            let (field, from) = ("ts".to_owned(), columns.row(1).integer("ts"));
            Tree::Range { field, from, to: None, include_from, include_to: true }
        };
        assert_eq!([true, false].map(|with| scored(lucene, &range(with))), [Some(1.0), None]);
        let value = columns.row(1).keyword("channel").unwrap().to_owned();
        let channel = || "channel".to_owned();
        let term = Tree::Term { field: channel(), value: value.clone() };
        let one_of = Tree::OneOf { field: channel(), values: vec!["none".to_owned(), value] };
        assert_eq!([scored(lucene, &term), scored(lucene, &one_of)], [Some(1.0); 2]);
        for convention in [lucene, Convention::ours()] {
            let big = Tree::term("big");
            near(scored(convention, &big), score(convention, &big, 1).unwrap());
        }
    }

    #[test]
    fn phrases_patterns_and_constants() {
        let lucene = Convention::of(System::Lucene).unwrap();
        let phrase = Tree::phrase(&["big", "data"], 0);
        assert!(score(lucene, &phrase, 1).is_some() && score(lucene, &phrase, 3).is_none());
        let near_by = Tree::phrase(&["data", "big"], 2);
        assert!(score(lucene, &near_by, 0).is_some());
        for pattern in ["d*a", "dat?", "*", "d?*"] {
            assert_eq!(score(lucene, &Tree::wildcard(pattern), 0), Some(1.0), "{pattern}");
        }
        for pattern in ["d*b", "data?", "?"] {
            assert_eq!(score(lucene, &Tree::wildcard(pattern), 0), None, "{pattern}");
        }
        assert_eq!(score(lucene, &Tree::prefix("bi"), 0), Some(1.0));
        assert_eq!(score(lucene, &Tree::phrase_prefix(&["big", "da"]), 1), Some(1.0));
        assert_eq!(score(lucene, &Tree::phrase_prefix(&["big", "ba"]), 1), None);
        assert_eq!(score(lucene, &Tree::fuzzy("bgi", 1), 0), Some(1.0));
        assert_eq!(score(lucene, &Tree::fuzzy("dat", 1), 4), None);
        let constant = Tree::Constant { query: Box::new(phrase), score: 2.5 };
        assert_eq!(score(lucene, &constant, 0), Some(2.5));
    }
}
