//! Queries as programs build them: a tree of clauses, with all the power of the query language and some more.
//!
//! A [`Clause`] is what somebody means; [`Query::new_of`](crate::Query::new_of) and [`Query::in_schema`](crate::Query::in_schema) make of it what is
//! evaluated. [`Clause::Words`] and [`Clause::WordsPrefix`] have a text, which goes through its field's analyzer; all others have terms, which are
//! what an analyzer made of a text. [`Display`](fmt::Display) writes a clause in the query language, as far as that can
//! say it.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use crate::fuzzy::Fuzzy;

/// What a document must be like.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// Nothing matches.
    Nothing,
    /// Every document.
    Everything,
    /// The document with this key.
    Key(String),
    /// Documents with this term.
    Term(Word),
    /// Documents with these terms one behind the other; a gap is any one token.
    Phrase {
        /// The field's name.
        field: String,
        /// The terms in their order.
        words: Vec<Option<String>>,
        /// How far terms may be moved, in all.
        slop: u32,
    },
    /// Documents with what a field's own analyzer makes of a text, as `field:"text"~slop` asks for it in the query language: the
    /// text's only term, or its terms one behind the other; `*` between blanks is any one word. A text without terms is passed over, as
    /// a word without terms is, and on its own finds nothing. Of keywords it is the whole value; a field of numbers, moments or truth has
    /// the value that is written so, and no slop.
    Words {
        /// The field's name.
        field: String,
        /// The text, of [`WORDS_BYTES_MAX`](crate::WORDS_BYTES_MAX) bytes at most.
        text: String,
        /// How many places terms may be moved, in all.
        slop: u32,
    },
    /// The same where of the last word only the beginning is known, as `field:"text"*` asks for it: what somebody has typed so far. That
    /// beginning is taken as it is, in lower case where terms are. A field of numbers, moments or truth has no words.
    WordsPrefix {
        /// The field's name.
        field: String,
        /// The text, of [`WORDS_BYTES_MAX`](crate::WORDS_BYTES_MAX) bytes at most.
        text: String,
    },
    /// Documents with a term that begins so.
    Prefix(Word),
    /// Documents with these terms one behind the other, and behind them one that begins so; a gap is any one token. Without
    /// terms it is a prefix.
    PhrasePrefix {
        /// The field's name.
        field: String,
        /// The terms in their order, but for the last.
        words: Vec<Option<String>>,
        /// What the last one begins with.
        prefix: String,
    },
    /// Documents with a term that this matches: `*` any characters, `?` one, `\` before one that stands for itself.
    Wildcard(Word),
    /// Documents with a term that is near this one.
    Fuzzy(Word, Fuzzy),
    /// Documents with a value of a field between two, which are written as in the query language. Words are in the order of
    /// their bytes.
    Range {
        /// The field's name.
        field: String,
        /// Where it begins.
        from: Bound<String>,
        /// Where it ends.
        to: Bound<String>,
    },
    /// Documents that have any value of this field.
    Exists(String),
    /// Documents with one of these values of a field. They all score the same.
    OneOf {
        /// The field's name.
        field: String,
        /// The values, written as in the query language; of a field of text terms.
        values: Vec<String>,
    },
    /// A combination.
    Bool(Bool),
    /// The same documents, with scores this many times as high.
    Boost(Box<Clause>, f32),
    /// The same documents, each with this score.
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

/// Clauses that must match, should, or must not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bool {
    /// All of these match.
    pub must: Vec<Clause>,
    /// Some of these match: one, if none must, and at least [`minimum`](Self::minimum).
    pub should: Vec<Clause>,
    /// None of these matches.
    pub not: Vec<Clause>,
    /// How many of `should` match at least.
    pub minimum: u32,
}

/// The field that a word without one is asked for in.
pub const TEXT: &str = "text";

impl Clause {
    /// Documents with `term` in their text.
    pub fn term(term: &str) -> Clause {
        Clause::Term(Word::text(term))
    }

    /// Documents with these words in their text, one behind the other: what the index's analyzer makes of them.
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

    /// The same in a field: what its own analyzer makes of them.
    pub fn words_in(field: &str, text: &str) -> Clause {
        Clause::words_near(field, text, 0)
    }

    /// The same where words may be moved by `slop` places in all.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::words_near("title", "Grey Herons", 2).to_string(), "title:\"Grey Herons\"~2");
    /// ```
    pub fn words_near(field: &str, text: &str, slop: u32) -> Clause {
        Clause::Words { field: field.to_owned(), text: text.to_owned(), slop }
    }

    /// Documents with these words in a field, one behind the other, of the last its beginning.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::words_prefix("title", "Grey Her").to_string(), "title:\"Grey Her\"*");
    /// ```
    pub fn words_prefix(field: &str, text: &str) -> Clause {
        Clause::WordsPrefix { field: field.to_owned(), text: text.to_owned() }
    }

    /// The document with this key.
    pub fn key(key: &str) -> Clause {
        Clause::Key(key.to_owned())
    }

    /// Documents with a term in their text that begins so.
    pub fn prefix(prefix: &str) -> Clause {
        Clause::Prefix(Word::text(prefix))
    }

    /// Documents with a term in their text that `pattern` matches.
    pub fn wildcard(pattern: &str) -> Clause {
        Clause::Wildcard(Word::text(pattern))
    }

    /// Documents with a term in their text that is within this many edits of `term`.
    pub fn fuzzy(term: &str, distance: u8) -> Clause {
        Clause::Fuzzy(Word::text(term), Fuzzy::within(distance))
    }

    /// Documents with these terms in their text, one behind the other.
    pub fn phrase(terms: &[&str]) -> Clause {
        Clause::near(terms, 0)
    }

    /// The same where terms may be moved by `slop` in all.
    pub fn near(terms: &[&str], slop: u32) -> Clause {
        let words = terms.iter().map(|term| Some((*term).to_owned())).collect();
        Clause::Phrase { field: TEXT.to_owned(), words, slop }
    }

    /// Documents with these terms in their text, one behind the other, and behind them one that begins with `prefix`.
    ///
    /// ```
    /// use spirit_query::Clause;
    /// assert_eq!(Clause::phrase_prefix(&["grey"], "her").to_string(), "\"grey her\"*");
    /// ```
    pub fn phrase_prefix(terms: &[&str], prefix: &str) -> Clause {
        let words = terms.iter().map(|term| Some((*term).to_owned())).collect();
        Clause::PhrasePrefix { field: TEXT.to_owned(), words, prefix: prefix.to_owned() }
    }

    /// Documents with this value of a field: a term, a number, a moment.
    pub fn value(field: &str, value: impl ToString) -> Clause {
        Clause::Term(Word { field: field.to_owned(), text: value.to_string() })
    }

    /// Documents with a value of a field in a range.
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

    /// Documents that have any value of a field.
    pub fn exists(field: &str) -> Clause {
        Clause::Exists(field.to_owned())
    }

    /// Documents with one of these values of a field.
    pub fn one_of<V: ToString>(field: &str, values: impl IntoIterator<Item = V>) -> Clause {
        let values = values.into_iter().map(|value| value.to_string()).collect();
        Clause::OneOf { field: field.to_owned(), values }
    }

    /// Documents that match all of these.
    pub fn all(must: impl IntoIterator<Item = Clause>) -> Clause {
        Clause::Bool(Bool { must: must.into_iter().collect(), ..Bool::default() })
    }

    /// Documents that match any of these.
    pub fn any(should: impl IntoIterator<Item = Clause>) -> Clause {
        Clause::at_least(1, should)
    }

    /// Documents that match this many of these.
    pub fn at_least(minimum: u32, should: impl IntoIterator<Item = Clause>) -> Clause {
        let should = should.into_iter().collect();
        Clause::Bool(Bool { should, minimum, ..Bool::default() })
    }

    /// The same, but for those that match `not`.
    pub fn and_not(self, not: Clause) -> Clause {
        Clause::Bool(Bool { must: vec![self], not: vec![not], ..Bool::default() })
    }

    /// The same, with scores this many times as high.
    pub fn boost(self, by: f32) -> Clause {
        Clause::Boost(Box::new(self), by)
    }

    /// The same, each with this score.
    pub fn constant(self, score: f32) -> Clause {
        Clause::Constant(Box::new(self), score)
    }
}

impl Word {
    /// A term of the documents' text.
    pub fn text(term: &str) -> Word {
        Word { field: TEXT.to_owned(), text: term.to_owned() }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // No word is both there and not.
            Clause::Nothing => f.write_str("(* -*)"),
            Clause::Everything => f.write_str("*"),
            Clause::Key(key) => write!(f, "key:{}", Escaped(key, false)),
            Clause::Term(word) if word.text.is_empty() => {
                write!(f, "{}\"\"", InField(&word.field))
            }
            Clause::Term(word) => {
                write!(f, "{}{}", InField(&word.field), Escaped(&word.text, false))
            }
            Clause::Phrase { field, words, slop: 0 } => write_phrase(f, field, words, None),
            Clause::Phrase { field, words, slop } => {
                write_phrase(f, field, words, None)?;
                write!(f, "~{slop}")
            }
            Clause::PhrasePrefix { field, words, prefix } => {
                write_phrase(f, field, words, Some(prefix))?;
                f.write_str("*")
            }
            Clause::Words { field, text, slop } => {
                write!(f, "{}{}", InField(field), Quoted(text))?;
                if *slop > 0 { write!(f, "~{slop}") } else { Ok(()) }
            }
            Clause::WordsPrefix { field, text } => write!(f, "{}{}*", InField(field), Quoted(text)),
            Clause::Prefix(word) => {
                write!(f, "{}{}*", InField(&word.field), Escaped(&word.text, false))
            }
            Clause::Wildcard(word) => {
                write!(f, "{}{}", InField(&word.field), Escaped(&word.text, true))
            }
            Clause::Fuzzy(word, fuzzy) => {
                let (field, text) = (InField(&word.field), Escaped(&word.text, false));
                write!(f, "{field}{text}~{}", fuzzy.distance)
            }
            Clause::Range { field, from, to } => write_range(f, field, from, to),
            Clause::Exists(field) => write!(f, "{field}:*"),
            Clause::OneOf { field, values } => write_set(f, field, values),
            Clause::Bool(clauses) => write!(f, "{clauses}"),
            Clause::Boost(clause, by) => write!(f, "({clause})^{by}"),
            Clause::Constant(clause, score) => write!(f, "({clause})^={score}"),
        }
    }
}

fn write_phrase(
    f: &mut fmt::Formatter<'_>,
    field: &str,
    words: &[Option<String>],
    last: Option<&str>,
) -> fmt::Result {
    write!(f, "{}\"", InField(field))?;
    let words = words.iter().map(|word| word.as_deref().unwrap_or("*"));
    for (number, word) in words.chain(last).enumerate() {
        let space = if number > 0 { " " } else { "" };
        write!(f, "{space}{}", word.replace('\\', "\\\\").replace('"', "\\\""))?;
    }
    f.write_str("\"")
}

fn write_range(
    f: &mut fmt::Formatter<'_>,
    field: &str,
    from: &Bound<String>,
    to: &Bound<String>,
) -> fmt::Result {
    let open = if matches!(from, Bound::Excluded(_)) { '{' } else { '[' };
    let close = if matches!(to, Bound::Excluded(_)) { '}' } else { ']' };
    write!(f, "{field}:{open}{} TO {}{close}", End(from), End(to))
}

fn write_set(f: &mut fmt::Formatter<'_>, field: &str, values: &[String]) -> fmt::Result {
    write!(f, "{field}:IN [")?;
    for (number, value) in values.iter().enumerate() {
        let space = if number > 0 { " " } else { "" };
        write!(f, "{space}{}", InBrackets(value))?;
    }
    f.write_str("]")
}

/// One end of a range.
struct End<'c>(&'c Bound<String>);

impl fmt::Display for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Bound::Unbounded => f.write_str("*"),
            Bound::Included(text) | Bound::Excluded(text) => InBrackets(text).fmt(f),
        }
    }
}

/// A value between brackets: in quotation marks, unless it is plain.
struct InBrackets<'c>(&'c str);

impl fmt::Display for InBrackets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_alphanumeric() || "_.:+-@/".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            return f.write_str(self.0);
        }
        Quoted(self.0).fmt(f)
    }
}

/// A text in quotation marks.
struct Quoted<'c>(&'c str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl fmt::Display for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.must.is_empty() && self.should.is_empty() && self.not.is_empty() {
            return write!(f, "{}", Clause::Nothing);
        }
        f.write_str("(")?;
        let signed = [("+", &self.must), ("", &self.should), ("-", &self.not)];
        let clauses = signed.iter().flat_map(|(sign, list)| list.iter().map(move |c| (sign, c)));
        for (number, (sign, clause)) in clauses.enumerate() {
            let space = if number > 0 { " " } else { "" };
            write!(f, "{space}{sign}{clause}")?;
        }
        if self.should.is_empty() && self.minimum > 0 {
            // The language covers a part of it.
            write!(f, " {}", Clause::Nothing)?;
        }
        f.write_str(")")?;
        let implied = u32::from(self.must.is_empty() && !self.should.is_empty());
        if self.minimum > implied { write!(f, "~{}", self.minimum) } else { Ok(()) }
    }
}

/// A field before its value, unless it is the one that is meant without.
struct InField<'c>(&'c str);

impl fmt::Display for InField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == TEXT { Ok(()) } else { write!(f, "{}:", self.0) }
    }
}

/// A word in which what the language has a meaning for is escaped; wildcards too, unless it is a pattern.
struct Escaped<'c>(&'c str, bool);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Escaped(text, pattern) = *self;
        if matches!(text, "AND" | "OR" | "NOT" | "IN" | "TO") {
            f.write_str("\\")?;
        }
        for c in text.chars() {
            let wild = matches!(c, '*' | '?' | '\\');
            let special = c.is_whitespace() || "+-!(){}[]^\"~:<>=&|".contains(c);
            if if wild { !pattern } else { special } {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        Ok(())
    }
}
