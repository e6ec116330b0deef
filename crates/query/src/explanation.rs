//! Why a document has the score that it has: a clause of the query, what it adds, and the clauses that it is made of.

use std::fmt;

use spirit_schema::Schema;

use crate::fade::Fading;
use crate::query::Occur;
use crate::rank::{Counts, Parameters};

/// What a clause of a query adds to a document's score, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The clause, as the query language has it; of several clauses only that there are some.
    pub clause: String,
    /// What must be true of it for the clause that it is part of.
    pub occur: Occur,
    /// Whether the document is what it asks for.
    pub matches: bool,
    /// What it adds: of the whole query the score, to the bit. Of several clauses, those added up in their order.
    pub value: f32,
    /// Why it adds so much.
    pub worth: Worth,
    /// The clauses that it is made of.
    pub clauses: Vec<Explanation>,
}

/// Why a clause adds so much to a score.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Worth {
    /// It adds nothing: the document is not what it asks for, or must not be.
    Nothing,
    /// The same for every document that matches.
    Constant,
    /// By how often its terms occur.
    Frequency(Frequency),
    /// What its clauses add.
    Sum,
    /// What its clause adds, this many times: it fades with the document's age.
    Faded(f32),
}

/// What BM25 makes a value of: `boost · idf · frequency / (frequency + k1 · (1 − b + b · length / average))`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Frequency {
    /// How rare the term is, `ln(1 + (documents − n + ½) / (n + ½))`; of a phrase the sum for its terms.
    pub idf: f64,
    /// Documents that have any term of its field.
    pub documents: u64,
    /// Of these, those with the term; of a phrase, with each of its terms.
    pub with_terms: Vec<u64>,
    /// What the score is multiplied by.
    pub boost: f32,
    /// How often it occurs in the document. An occurrence of a phrase that is moved counts for less.
    pub frequency: f32,
    /// How many terms the document has in its field.
    pub length: u32,
    /// How many documents have on average.
    pub average: f64,
    /// The ranking function's.
    pub parameters: Parameters,
}

/// What scores are computed from, and explained by.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'s> {
    /// The names of fields.
    pub schema: &'s Schema,
    /// How large the index is, and how many documents have each term.
    pub counts: &'s Counts,
    /// The ranking function's.
    pub parameters: Parameters,
    /// How scores fade, if they do.
    pub fading: Option<Fading>,
}

impl Explanation {
    /// The same where what it adds has faded with the document's age.
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

    /// Adds what it adds to a score, in the order in which that is done.
    pub(crate) fn add_to(&self, score: &mut f32) {
        match self.worth {
            Worth::Nothing => {}
            Worth::Constant | Worth::Frequency(_) | Worth::Faded(_) => *score += self.value,
            Worth::Sum => self.clauses.iter().for_each(|clause| clause.add_to(score)),
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
            Worth::Faded(factor) => write!(f, "{factor} of it by age")?,
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
