//! What places of words and their closeness add to a document's score, in double precision. Words are asked for as terms.

use spirit_query::{Bool, Clause, TEXT};

use crate::Document;
use crate::matching::matches;
use crate::scoring::Collection;
use crate::values::terms;

/// What a word adds at the beginning of its field, of its own score.
const PLACE: f64 = 0.5;
/// The place from which a word adds half as much.
const PLACE_HALF: f64 = 100.0;
/// Positions between two values of one field.
const GAP: usize = 100;
/// A word that is said again in a group of more clauses stands there twice.
const JOINED_MAX: usize = 64;
/// A longer text counts as one of this many words.
const LENGTH_MAX: usize = 65_535;

/// A word whose place counts, with its weight.
struct Placed<'c> {
    field: &'c str,
    word: &'c str,
    weight: f64,
}

/// The part of a query that is looked at.
#[derive(Clone, Copy)]
struct Within {
    boost: f64,
    /// Whether the document surely matches it: all around it have to match.
    surely: bool,
}

impl Collection {
    /// What a document scores where places and closeness count; none where nobody says what it scores without. Its fields of text
    /// come in the order of `fields`, behind the text.
    pub fn score_by_proximity(
        &self,
        clause: &Clause,
        document: &Document,
        fields: &[&str],
    ) -> Option<f64> {
        let bm25 = self.score(clause, document)?;
        if !matches(clause, document) {
            return Some(bm25);
        }
        let (mut placed, within) = (Vec::new(), Within { boost: 1.0, surely: true });
        let by_place = self.by_place(clause, within, (document, fields), &mut placed);
        Some(bm25 + by_place + by_closeness(&placed, document, fields))
    }

    fn by_place<'c>(
        &self,
        clause: &'c Clause,
        within: Within,
        of: (&Document, &[&str]),
        placed: &mut Vec<Placed<'c>>,
    ) -> f64 {
        let optional = Within { surely: false, ..within };
        match clause {
            Clause::Boost(clause, by) => {
                let boost = within.boost * f64::from(*by);
                self.by_place(clause, Within { boost, ..within }, of, placed)
            }
            Clause::Best { clauses, tie } => {
                let scores: Vec<f64> =
                    clauses.iter().map(|own| self.by_place(own, optional, of, placed)).collect();
                let best = scores.iter().copied().fold(0.0, f64::max);
                best + f64::from(*tie) * (scores.iter().sum::<f64>() - best)
            }
            Clause::Bool(Bool { must, should, not, minimum }) => {
                let any_is_enough = must.is_empty() && not.is_empty() && *minimum <= 1;
                if !within.surely && !any_is_enough {
                    return 0.0;
                }
                let joins = *minimum <= 1 && must.len() + should.len() + not.len() <= JOINED_MAX;
                let mut sum = 0.0;
                for (clauses, within) in [(must, within), (should, optional)] {
                    for (clause, times) in joined(clauses, joins) {
                        let within = Within { boost: within.boost * times, ..within };
                        sum += self.by_place(clause, within, of, placed);
                    }
                }
                sum
            }
            _ => match word_of(clause) {
                Some((field, word)) => self.of_word(field, word, within.boost, of, placed),
                None => 0.0,
            },
        }
    }

    fn of_word<'c>(
        &self,
        field: &'c str,
        word: &'c str,
        boost: f64,
        (document, fields): (&Document, &[&str]),
        placed: &mut Vec<Placed<'c>>,
    ) -> f64 {
        let term = Clause::value(field, word);
        let (Some(idf), Some(score)) = (self.idf(field, word), self.score(&term, document)) else {
            return 0.0;
        };
        placed.push(Placed { field, word, weight: boost * idf });
        let Some(first) = positions(document, field, word, fields).first().copied() else {
            return 0.0;
        };
        boost * score * PLACE / (1.0 + first as f64 / PLACE_HALF)
    }
}

/// Pairs of different words that follow each other, those of each field for themselves.
fn by_closeness(placed: &[Placed<'_>], document: &Document, fields: &[&str]) -> f64 {
    let mut sum = 0.0;
    for (number, own) in placed.iter().enumerate() {
        let before = placed[..number].iter().rev().find(|other| other.field == own.field);
        let Some(before) = before.filter(|before| before.word != own.word) else { continue };
        let [here, there] =
            [before, own].map(|placed| positions(document, placed.field, placed.word, fields));
        let all = here.iter().flat_map(|a| there.iter().map(|b| a.abs_diff(*b)));
        if let Some(distance) = all.min() {
            sum += before.weight.min(own.weight) / distance as f64;
        }
    }
    sum
}

/// Where a word is in a field: for the text and for the field behind it from its beginning on.
fn positions(document: &Document, field: &str, word: &str, fields: &[&str]) -> Vec<usize> {
    let mut at = 0;
    if field != TEXT {
        at += document.words.len().saturating_sub(LENGTH_MAX);
        for other in fields.iter().take_while(|other| **other != field) {
            let values = terms(document, other);
            at += values.iter().map(Vec::len).sum::<usize>() + GAP * values.len().saturating_sub(1);
        }
    }
    let mut found = Vec::new();
    for (number, value) in terms(document, field).into_iter().enumerate() {
        at += if number > 0 { GAP } else { 0 };
        found.extend((at..).zip(&value).filter(|(_, own)| **own == word).map(|(at, _)| at));
        at += value.len();
    }
    found
}

/// The word that a clause asks for, if it asks for one.
fn word_of(clause: &Clause) -> Option<(&str, &str)> {
    match clause {
        Clause::Term(term) => Some((&term.field, &term.text)),
        Clause::Phrase { field, words, .. } => {
            let mut words = words.iter().flatten();
            let only = words.next()?;
            words.next().is_none().then_some((field, only))
        }
        _ => None,
    }
}

/// Clauses, and how often each counts: one that says the same word as one before counts there.
fn joined(clauses: &[Clause], joins: bool) -> Vec<(&Clause, f64)> {
    let mut all: Vec<(&Clause, f64)> = Vec::new();
    for mut clause in clauses {
        let mut times = 1.0;
        while let Clause::Boost(within, by) = clause {
            (clause, times) = (within, times * f64::from(*by));
        }
        let same = |(other, _): &&mut (&Clause, f64)| {
            joins && word_of(clause).is_some() && word_of(other) == word_of(clause)
        };
        match all.iter_mut().find(same) {
            Some((_, before)) => *before += times,
            None => all.push((clause, times)),
        }
    }
    all
}
