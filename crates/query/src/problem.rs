//! Errors in a query's text.

use std::fmt;

use spirit_schema::{FieldKind, MORE};

/// An error in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Something else was expected.
    Expected(&'static str),
    /// The field does not exist.
    UnknownField,
    /// The schema has no such field, but it has values of fields for which it had no room, as text.
    UnknownOrMore,
    /// The text is not a value of the field's kind.
    Misfit {
        /// The field's kind.
        kind: FieldKind,
    },
    /// The query has words for a field without words.
    NoWords {
        /// The field's kind.
        kind: FieldKind,
    },
    /// A regular expression cannot be read, or takes too large an automaton.
    Expression {
        /// The byte offset of the error in the expression, from 0.
        at: usize,
        /// The error.
        what: String,
    },
    /// The query is too large: the limit that it exceeds.
    TooLarge(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Expected(what) => write!(f, "expected {what}"),
            Problem::UnknownField => f.write_str("no such field"),
            Problem::UnknownOrMore => write!(
                f,
                "no such field; if the schema had no room for it, ask for `{MORE}:\"NAME: VALUE\"`"
            ),
            Problem::Misfit { kind } => match kind {
                FieldKind::Integer => f.write_str("expected a whole number of 64 bits"),
                FieldKind::Float => f.write_str("expected a number"),
                FieldKind::Boolean => f.write_str("expected `true` or `false`"),
                _ => write!(
                    f,
                    "expected a time for a field of kind {kind}: 2026-11-22T19:00:00Z, 2026-11-22, \
                     now-1h or a number"
                ),
            },
            Problem::NoWords { kind } => {
                write!(f, "a field of kind {kind} has no words: ask for a value or a range")
            }
            Problem::Expression { at, what } => {
                write!(f, "at byte {at} of the regular expression: {what}")
            }
            Problem::TooLarge(limit) => write!(f, "the query is too large: {limit}"),
        }
    }
}

impl std::error::Error for Problem {}
