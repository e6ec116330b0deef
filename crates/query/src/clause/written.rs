//! A clause written in the query language.

use std::fmt;
use std::ops::Bound;

use super::{Bool, Clause, TEXT};
use crate::parse::is_mark;

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Every document is excluded from all documents.
            Clause::Nothing => f.write_str("(* -*)"),
            Clause::Everything => f.write_str("*"),
            Clause::Key(key) => write!(f, "key:{}", Escaped(key, false)),
            Clause::Term(word) if word.text.is_empty() => {
                write_field(f, &word.field)?;
                f.write_str("\"\"")
            }
            Clause::Term(word) => {
                write_field(f, &word.field)?;
                Escaped(&word.text, false).fmt(f)
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
                write_field(f, field)?;
                QuotedWords(text).fmt(f)?;
                if *slop > 0 { write!(f, "~{slop}") } else { Ok(()) }
            }
            Clause::WordsPrefix { field, text } => {
                write_field(f, field)?;
                write!(f, "{}*", QuotedWords(text))
            }
            Clause::Prefix(word) => {
                write_field(f, &word.field)?;
                write!(f, "{}*", Escaped(&word.text, false))
            }
            Clause::Wildcard(word) => {
                write_field(f, &word.field)?;
                Escaped(&word.text, true).fmt(f)
            }
            Clause::Regex(word) => {
                write_field(f, &word.field)?;
                write!(f, "/{}/", InSlashes(&word.text))
            }
            Clause::Fuzzy { word, distance, .. } => {
                write_field(f, &word.field)?;
                write!(f, "{}~{distance}", Escaped(&word.text, false))
            }
            Clause::Range { field, from, to } => write_range(f, field, from, to),
            Clause::Exists(field) => write!(f, "{}:*", Name(field)),
            Clause::OneOf { field, values } => write_set(f, field, values),
            Clause::Bool(clauses) => clauses.fmt(f),
            Clause::Best { clauses, tie } => write_best(f, clauses, *tie),
            Clause::Boost(clause, by) => {
                write_inside(f, clause)?;
                write!(f, "^{by}")
            }
            Clause::Constant(clause, score) => {
                write_inside(f, clause)?;
                write!(f, "^={score}")
            }
        }
    }
}

/// Writes a clause in parentheses.
fn write_inside(f: &mut fmt::Formatter<'_>, clause: &Clause) -> fmt::Result {
    f.write_str("(")?;
    fmt::Display::fmt(clause, f)?;
    f.write_str(")")
}

/// Writes a field's name before its value. That of the text is left out, unless the format is the
/// alternate one.
fn write_field(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if name == TEXT && !f.alternate() { Ok(()) } else { write!(f, "{}:", Name(name)) }
}

fn write_phrase(
    f: &mut fmt::Formatter<'_>,
    field: &str,
    words: &[Option<String>],
    last: Option<&str>,
) -> fmt::Result {
    write_field(f, field)?;
    f.write_str("\"")?;
    let words = words.iter().map(|word| word.as_deref().unwrap_or("*"));
    for (number, word) in words.chain(last).enumerate() {
        f.write_str(if number > 0 { " " } else { "" })?;
        write_word(f, word)?;
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
    write!(f, "{}:{open}{} TO {}{close}", Name(field), End(from), End(to))
}

fn write_set(f: &mut fmt::Formatter<'_>, field: &str, values: &[String]) -> fmt::Result {
    write!(f, "{}:IN [", Name(field))?;
    for (number, value) in values.iter().enumerate() {
        let space = if number > 0 { " " } else { "" };
        write!(f, "{space}{}", InBrackets(value))?;
    }
    f.write_str("]")
}

/// An end of a range.
struct End<'c>(&'c Bound<String>);

impl fmt::Display for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Bound::Unbounded => f.write_str("*"),
            Bound::Included(text) | Bound::Excluded(text) => InBrackets(text).fmt(f),
        }
    }
}

/// A value between brackets, quoted unless it is plain.
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

fn write_best(f: &mut fmt::Formatter<'_>, clauses: &[Clause], tie: f32) -> fmt::Result {
    if clauses.is_empty() {
        return write!(f, "{}", Clause::Nothing);
    }
    f.write_str("(")?;
    for (number, clause) in clauses.iter().enumerate() {
        f.write_str(if number > 0 { " | " } else { "" })?;
        fmt::Display::fmt(clause, f)?;
    }
    f.write_str(")")?;
    if tie > 0.0 && clauses.len() > 1 { write!(f, "~{tie:?}") } else { Ok(()) }
}

/// Words in quotation marks. Of the patterns only a word `*` means anything.
struct QuotedWords<'c>(&'c str);

impl fmt::Display for QuotedWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for part in self.0.split_inclusive(char::is_whitespace) {
            write_word(f, part)?;
        }
        f.write_str("\"")
    }
}

/// Writes a word of a phrase, with the marks escaped that would end the phrase or make a pattern.
fn write_word(f: &mut fmt::Formatter<'_>, word: &str) -> fmt::Result {
    let is_gap = word.trim_end() == "*";
    let goes_on = |at: usize| word[at..].chars().nth(1).is_some_and(char::is_alphanumeric);
    for (at, c) in word.char_indices() {
        let is_pattern = match c {
            '*' => !is_gap,
            '?' | '~' => goes_on(at),
            _ => matches!(c, '\\' | '"'),
        };
        if is_pattern {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    Ok(())
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
            write!(f, "{space}{sign}")?;
            fmt::Display::fmt(clause, f)?;
        }
        if self.should.is_empty() && self.minimum > 0 {
            // The language has no minimum without optional clauses, so this one matches nothing.
            write!(f, " {}", Clause::Nothing)?;
        }
        f.write_str(")")?;
        let implied = u32::from(self.must.is_empty() && !self.should.is_empty());
        if self.minimum > implied { write!(f, "~{}", self.minimum) } else { Ok(()) }
    }
}

/// A field's name, quoted unless it is plain.
struct Name<'c>(&'c str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goes_on = |c: char| c.is_alphanumeric() || "_-.@".contains(c);
        let is_plain = self.0.starts_with(|c: char| c.is_alphabetic() || "_@".contains(c));
        if is_plain && self.0.chars().all(goes_on) {
            return f.write_str(self.0);
        }
        Quoted(self.0).fmt(f)
    }
}

/// A regular expression with its slashes and blanks escaped.
struct InSlashes<'c>(&'c str);

impl fmt::Display for InSlashes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut escaped = false;
        for c in self.0.chars() {
            if !escaped && (c == '/' || c.is_whitespace()) {
                f.write_str("\\")?;
            }
            escaped = c == '\\' && !escaped;
            write!(f, "{c}")?;
        }
        Ok(())
    }
}

/// A word with the language's special characters escaped. Wildcards are escaped too, unless the
/// word is a pattern.
struct Escaped<'c>(&'c str, bool);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Escaped(text, pattern) = *self;
        // A slash begins an expression. Behind a field's name, two would make it the scheme of a URL.
        if matches!(text, "AND" | "OR" | "NOT" | "IN" | "TO") || text.starts_with('/') {
            f.write_str("\\")?;
        }
        for c in text.chars() {
            let wild = matches!(c, '*' | '?' | '\\');
            let special = c.is_whitespace() || "+-!(){}[]^\"~:<>=&|".contains(c) || is_mark(c);
            if if wild { !pattern } else { special } {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        Ok(())
    }
}
