//! Queries as programs build them: a tree of clauses, with the whole query language and more.
//!
//! A [`Clause`] is the meaning of a query. [`Query::new_of`](crate::Query::new_of) and
//! [`Query::in_schema`](crate::Query::in_schema) compile it to a query that can be evaluated.
//! [`Clause::Words`] and [`Clause::WordsPrefix`] have a text, which goes through its field's
//! analyzer. All others have terms, which an analyzer made of a text before.
//!
//! [`Display`](std::fmt::Display) writes a clause in the query language, as far as the language can
//! express it. It leaves out the name of the text. Where other fields have text too, a word without a
//! name is looked for in all of them: for such an index `{:#}` writes `text:` as well.

mod written;

use std::ops::{Bound, RangeBounds};

use crate::limits::DISTANCE_MAX;
use crate::words::WORDS_BYTES_MAX;

/// A condition on documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// No document.
    Nothing,
    /// Every document.
    Everything,
    /// The document with this key.
    Key(String),
    /// Documents that contain this term.
    Term(Word),
    /// Documents that contain these terms in a row. A gap (`None`) is any one token.
    Phrase {
        /// The field's name.
        field: String,
        /// The terms in their order.
        words: Vec<Option<String>>,
        /// How far terms may be moved, in all.
        slop: u32,
    },
    /// Documents that contain the terms that a field's own analyzer makes of a text, in a row. In
    /// the query language this is `field:"text"~slop`. A single `*` between blanks is any one word.
    ///
    /// A text without terms is skipped, like a word without terms, and alone it finds nothing. In a
    /// keyword field the text is the whole value. A field of numbers, moments or booleans has the
    /// value that is written so, and no slop.
    Words {
        /// The field's name.
        field: String,
        /// The text, of at most [`WORDS_BYTES_MAX`](crate::WORDS_BYTES_MAX) bytes.
        text: String,
        /// How many places terms may be moved, in all.
        slop: u32,
    },
    /// Like [`Words`](Clause::Words), but only the beginning of the last word is known, as while
    /// somebody types. In the query language this is `field:"text"*`.
    ///
    /// The analyzer does not change that beginning, except to lower case where terms are in lower
    /// case. A field of numbers, moments or booleans has no words.
    WordsPrefix {
        /// The field's name.
        field: String,
        /// The text, of at most [`WORDS_BYTES_MAX`](crate::WORDS_BYTES_MAX) bytes.
        text: String,
    },
    /// Documents that contain a term with this prefix.
    Prefix(Word),
    /// Documents that contain these terms in a row, and after them a term with this prefix. A gap
    /// (`None`) is any one token. Without terms, it is a prefix.
    PhrasePrefix {
        /// The field's name.
        field: String,
        /// The terms in their order, without the last.
        words: Vec<Option<String>>,
        /// The prefix of the last term.
        prefix: String,
    },
    /// Documents that contain a term that the pattern matches: `*` any characters, `?` one, and `\`
    /// escapes the next one.
    Wildcard(Word),
    /// Documents that contain a term that all of a regular expression matches, in the syntax of the
    /// crate [`regex`](https://docs.rs/regex/latest/regex/#syntax). In the query language this is
    /// `field:/expression/`. Where terms are in lower case, the expression ignores case.
    Regex(Word),
    /// Documents that contain a term within a few edits of this one.
    Fuzzy {
        /// The field and the term.
        word: Word,
        /// Characters inserted, left out or replaced, at most. At most
        /// [`DISTANCE_MAX`](Clause::DISTANCE_MAX).
        distance: u8,
        /// Characters at the beginning that must be equal.
        prefix_length: u8,
        /// True if two swapped neighbours count as one edit, not two.
        transpositions: bool,
    },
    /// Documents with a value of a field between two values, which are written as in the query
    /// language. Words are in the order of their bytes.
    Range {
        /// The field's name.
        field: String,
        /// The first end.
        from: Bound<String>,
        /// The last end.
        to: Bound<String>,
    },
    /// Documents with any value of this field.
    Exists(String),
    /// Documents with one of these values of a field. Their scores are equal.
    OneOf {
        /// The field's name.
        field: String,
        /// The values, written as in the query language. For a field of text, they are terms.
        values: Vec<String>,
    },
    /// A combination of clauses.
    Bool(Bool),
    /// Documents that match any of these clauses, with the highest of their scores and `tie` times
    /// the others (a *disjunction max*). So a word that is asked for in several fields counts where
    /// it counts most.
    Best {
        /// The clauses.
        clauses: Vec<Clause>,
        /// The factor of the lower scores, from 0 to 1.
        tie: f32,
    },
    /// The documents of a clause, with their scores multiplied by this factor.
    Boost(Box<Clause>, f32),
    /// The documents of a clause, each with this score.
    Constant(Box<Clause>, f32),
}

/// A term of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The field's name.
    pub field: String,
    /// The term.
    pub text: String,
}

/// Clauses that must match, should match, or must not match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bool {
    /// Clauses that all match.
    pub must: Vec<Clause>,
    /// Optional clauses. At least [`minimum`](Self::minimum) of them match, and at least one if
    /// `must` is empty.
    pub should: Vec<Clause>,
    /// Clauses that do not match.
    pub not: Vec<Clause>,
    /// The least number of clauses of `should` that match.
    pub minimum: u32,
}

/// The name of a document's text as a field.
pub const TEXT: &str = "text";

impl Clause {
    /// Edits of a [fuzzy](Clause::Fuzzy) word, at most.
    pub const DISTANCE_MAX: u8 = DISTANCE_MAX;
    /// Bytes of the text of [words](Clause::Words), at most.
    pub const WORDS_BYTES_MAX: usize = WORDS_BYTES_MAX;

    /// Returns a clause for documents with `term` in their text.
    pub fn term(term: &str) -> Clause {
        Clause::Term(Word::text(term))
    }

    /// Returns a clause for documents with these words in their text, in a row. The index's
    /// analyzer makes terms of the words.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// use spirit_query::Query;
    /// use spirit_schema::Schema;
    /// use spirit_text::Analyzer;
    ///
    /// let schema = Schema::new(Analyzer::English, false);
    /// let [words, terms] = [Clause::words("Grey Herons"), Clause::phrase(&["grey", "heron"])];
    /// let [words, terms] = [words, terms].map(|clause| Query::in_schema(&clause, &schema));
    /// assert_eq!(format!("{words:?}"), format!("{terms:?}"));
    /// ```
    pub fn words(text: &str) -> Clause {
        Clause::words_in(TEXT, text)
    }

    /// Like [`words`](Clause::words), in a field with its own analyzer.
    pub fn words_in(field: &str, text: &str) -> Clause {
        Clause::words_near(field, text, 0)
    }

    /// Like [`words_in`](Clause::words_in), with words that may be moved by `slop` places in all.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::words_near("title", "Grey Herons", 2).to_string(), "title:\"Grey Herons\"~2");
    /// ```
    pub fn words_near(field: &str, text: &str, slop: u32) -> Clause {
        Clause::Words { field: field.to_owned(), text: text.to_owned(), slop }
    }

    /// Returns a clause for documents with these words in a field, in a row. The last word is a
    /// prefix.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::words_prefix("title", "Grey Her").to_string(), "title:\"Grey Her\"*");
    /// ```
    pub fn words_prefix(field: &str, text: &str) -> Clause {
        Clause::WordsPrefix { field: field.to_owned(), text: text.to_owned() }
    }

    /// Returns a clause for the document with this key.
    pub fn key(key: &str) -> Clause {
        Clause::Key(key.to_owned())
    }

    /// Returns a clause for documents with a term in their text that begins with `prefix`.
    pub fn prefix(prefix: &str) -> Clause {
        Clause::Prefix(Word::text(prefix))
    }

    /// Returns a clause for documents with a term in their text that `pattern` matches.
    pub fn wildcard(pattern: &str) -> Clause {
        Clause::Wildcard(Word::text(pattern))
    }

    /// Returns a clause for documents with a term in their text that all of a regular expression
    /// matches.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::regex("her(on|ring)s?").to_string(), "/her(on|ring)s?/");
    /// ```
    pub fn regex(expression: &str) -> Clause {
        Clause::Regex(Word::text(expression))
    }

    /// Returns a clause for documents with a term in their text that is within this many edits of
    /// `term`.
    pub fn fuzzy(term: &str, distance: u8) -> Clause {
        let word = Word::text(term);
        Clause::Fuzzy { word, distance, prefix_length: 0, transpositions: true }
    }

    /// Returns a clause for documents with these terms in their text, in a row.
    pub fn phrase(terms: &[&str]) -> Clause {
        Clause::near(terms, 0)
    }

    /// Like [`phrase`](Clause::phrase), with terms that may be moved by `slop` places in all.
    pub fn near(terms: &[&str], slop: u32) -> Clause {
        let words = terms.iter().map(|term| Some((*term).to_owned())).collect();
        Clause::Phrase { field: TEXT.to_owned(), words, slop }
    }

    /// Returns a clause for documents with these terms in their text, in a row, and after them a
    /// term that begins with `prefix`.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::phrase_prefix(&["grey"], "her").to_string(), "\"grey her\"*");
    /// ```
    pub fn phrase_prefix(terms: &[&str], prefix: &str) -> Clause {
        let words = terms.iter().map(|term| Some((*term).to_owned())).collect();
        Clause::PhrasePrefix { field: TEXT.to_owned(), words, prefix: prefix.to_owned() }
    }

    /// Returns a clause for documents with this value of a field: a term, a number, a moment.
    pub fn value(field: &str, value: impl ToString) -> Clause {
        Clause::Term(Word { field: field.to_owned(), text: value.to_string() })
    }

    /// Returns a clause for documents with a value of a field in a range.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::range("views", 10..20).to_string(), "views:[10 TO 20}");
    /// assert_eq!(Clause::range("at", "2026-11-22"..).to_string(), "at:[2026-11-22 TO *]");
    /// ```
    pub fn range<V: ToString>(field: &str, values: impl RangeBounds<V>) -> Clause {
        let [from, to] = [values.start_bound(), values.end_bound()];
        let [from, to] = [from, to].map(|bound| bound.map(V::to_string));
        Clause::Range { field: field.to_owned(), from, to }
    }

    /// Returns a clause for documents with any value of a field.
    pub fn exists(field: &str) -> Clause {
        Clause::Exists(field.to_owned())
    }

    /// Returns a clause for documents with one of these values of a field.
    pub fn one_of<V: ToString>(field: &str, values: impl IntoIterator<Item = V>) -> Clause {
        let values = values.into_iter().map(|value| value.to_string()).collect();
        Clause::OneOf { field: field.to_owned(), values }
    }

    /// Returns a clause for documents that match all of these clauses.
    pub fn all(must: impl IntoIterator<Item = Clause>) -> Clause {
        Clause::Bool(Bool { must: must.into_iter().collect(), ..Bool::default() })
    }

    /// Returns a clause for documents that match any of these clauses.
    pub fn any(should: impl IntoIterator<Item = Clause>) -> Clause {
        Clause::at_least(1, should)
    }

    /// Returns a clause for documents that match any of these clauses, with the highest of their
    /// scores and `tie` times the others.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// let fields = ["title", "body"].map(|field| Clause::words_in(field, "whale"));
    /// assert_eq!(Clause::best(fields, 0.25).to_string(), "(title:\"whale\" | body:\"whale\")~0.25");
    /// ```
    pub fn best(clauses: impl IntoIterator<Item = Clause>, tie: f32) -> Clause {
        Clause::Best { clauses: clauses.into_iter().collect(), tie }
    }

    /// Returns a clause for documents that match at least `minimum` of these clauses.
    pub fn at_least(minimum: u32, should: impl IntoIterator<Item = Clause>) -> Clause {
        let should = should.into_iter().collect();
        Clause::Bool(Bool { should, minimum, ..Bool::default() })
    }

    /// Returns a clause for this clause's documents except those that match `not`.
    pub fn and_not(self, not: Clause) -> Clause {
        Clause::Bool(Bool { must: vec![self], not: vec![not], ..Bool::default() })
    }

    /// Returns a clause for this clause's documents, with scores multiplied by a factor.
    pub fn boost(self, by: f32) -> Clause {
        Clause::Boost(Box::new(self), by)
    }

    /// Returns a clause for this clause's documents, each with this score.
    pub fn constant(self, score: f32) -> Clause {
        Clause::Constant(Box::new(self), score)
    }
}

impl Word {
    /// Returns a term of the documents' text.
    pub fn text(term: &str) -> Word {
        Word { field: TEXT.to_owned(), text: term.to_owned() }
    }
}
