//! Explanations of scores: a clause of the query, its part of the score, and its subclauses.

use std::fmt;

use spirit_schema::Schema;

use crate::fade::Fading;
use crate::query::Occur;
use crate::rank::{Best, Counts, Parameters};

/// A clause's part of a document's score, and its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The clause in the query language. A combination is abbreviated.
    pub clause: String,
    /// The part that the clause plays for its parent.
    pub occur: Occur,
    /// True if the document matches the clause.
    pub matches: bool,
    /// The clause's part of the score. For the whole query it is the score, to the bit. For a
    /// combination it is the sum in the clauses' order, or the best of them.
    pub value: f32,
    /// The reason for the value.
    pub worth: Worth,
    /// Its subclauses.
    pub clauses: Vec<Explanation>,
}

/// The reason for a clause's part of a score.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Worth {
    /// Nothing: the document does not match, or must not.
    Nothing,
    /// A constant for every match.
    Constant,
    /// The frequency of its terms.
    Frequency(Frequency),
    /// The sum of its subclauses.
    Sum,
    /// The best of its subclauses, and this factor times the others.
    Best(f32),
    /// The subclause's value, times this factor: it fades with the document's age.
    Faded(f32),
    /// The first subclause's value, and what the other ones say that places and closeness add. Of
    /// the best of several clauses, the best part is added.
    Places,
    /// The place of a term.
    Place {
        /// The positions before its first one in its field.
        first: u32,
    },
    /// The closeness of two terms.
    Closeness {
        /// The positions from the one to the other.
        distance: u32,
    },
}

/// The numbers in BM25,
/// `boost · idf · frequency / (frequency + k1 · (1 − b + b · length / average))`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Frequency {
    /// The inverse document frequency, `ln(1 + (documents − n + ½) / (n + ½))`. For a phrase it is
    /// the sum over its terms.
    pub idf: f64,
    /// The number of documents that have any term of the field.
    pub documents: u64,
    /// The number of these documents with the term; for a phrase, with each of its terms.
    pub with_terms: Vec<u64>,
    /// The factor of the score.
    pub boost: f32,
    /// The frequency in the document. A phrase's match with moved terms counts for less.
    pub frequency: f32,
    /// The number of terms in the document's field.
    pub length: u32,
    /// The average length over all documents with the field.
    pub average: f64,
    /// The parameters of BM25.
    pub parameters: Parameters,
}

/// The data that scores are computed from and explained by.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'s> {
    /// The schema, for the names of fields.
    pub schema: &'s Schema,
    /// The size of the index, and the number of documents with each term.
    pub counts: &'s Counts,
    /// The parameters of BM25.
    pub parameters: Parameters,
    /// The fading of scores, if they fade.
    pub fading: Option<Fading>,
}

impl Explanation {
    /// Wraps the explanation in one of a score that has faded with the document's age.
    pub(crate) fn faded(self, fading: Fading, newest: Option<u64>) -> Explanation {
        Explanation {
            clause: self.clause.clone(),
            occur: self.occur,
            matches: self.matches,
            value: fading.faded(self.value, newest),
            worth: Worth::Faded(fading.factor(newest)),
            clauses: vec![self],
        }
    }

    /// Wraps the explanation in one of a score to which places and closeness add `worth`, for these
    /// reasons.
    pub(crate) fn placed(self, worth: f32, parts: Vec<Explanation>) -> Explanation {
        Explanation {
            clause: self.clause.clone(),
            occur: self.occur,
            matches: self.matches,
            value: self.value.max(self.value + worth),
            worth: Worth::Places,
            clauses: std::iter::once(self).chain(parts).collect(),
        }
    }

    /// Returns the explanation of a part of a score that is no clause's.
    pub(crate) fn part(clause: String, value: f32, worth: Worth) -> Explanation {
        let (occur, clauses) = (Occur::Should, Vec::new());
        Explanation { clause, occur, matches: true, value, worth, clauses }
    }

    /// Adds the clause's part to a score, in the evaluators' order.
    pub(crate) fn add_to(&self, score: &mut f32) {
        match self.worth {
            Worth::Nothing => {}
            Worth::Constant
            | Worth::Frequency(_)
            | Worth::Faded(_)
            | Worth::Places
            | Worth::Place { .. }
            | Worth::Closeness { .. } => *score += self.value,
            Worth::Sum => self.clauses.iter().for_each(|clause| clause.add_to(score)),
            Worth::Best(tie) => {
                let mut best = Best::default();
                for clause in &self.clauses {
                    let mut own = 0.0;
                    clause.add_to(&mut own);
                    best.add(own);
                }
                *score += best.with(tie);
            }
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let sign = match self.occur {
            _ if depth == 0 => "",
            Occur::Must => "+",
            Occur::Should => "",
            Occur::Not => "-",
        };
        let (indent, clause) = ("  ".repeat(depth), &self.clause);
        write!(f, "{indent}{}  {sign}{clause}  ", self.value)?;
        match &self.worth {
            Worth::Nothing if self.matches => f.write_str("matches, and must not")?,
            Worth::Nothing => f.write_str("does not match")?,
            Worth::Constant => f.write_str("for every match")?,
            Worth::Frequency(frequency) => write!(f, "{frequency}")?,
            Worth::Sum => f.write_str("sum")?,
            Worth::Best(0.0) => f.write_str("the best")?,
            Worth::Best(tie) => write!(f, "the best, and {tie} of the others")?,
            Worth::Faded(factor) => write!(f, "{factor} of it by age")?,
            Worth::Places => f.write_str("with places and closeness")?,
            Worth::Place { first } => write!(f, "first at {first}")?,
            Worth::Closeness { distance } => write!(f, "{distance} apart")?,
        }
        for clause in &self.clauses {
            writeln!(f)?;
            clause.write(f, depth + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frequency { idf, documents, frequency, length, average, .. } = self;
        let Parameters { k1, b } = self.parameters;
        let with_terms: Vec<String> = self.with_terms.iter().map(u64::to_string).collect();
        let with_terms = with_terms.join(", ");
        write!(f, "idf {idf:.4} ({with_terms} of {documents} documents), ")?;
        write!(f, "{frequency} times in {length} terms (average {average:.2}), k1 {k1}, b {b}")?;
        if self.boost == 1.0 { Ok(()) } else { write!(f, ", boost {}", self.boost) }
    }
}
