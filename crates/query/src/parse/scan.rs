//! Scanning: the ends of words, numbers and signs in a query's text.

use super::grammar::{Parse, Parsed};
use crate::problem::Problem;

impl<'a> Parse<'a> {
    /// Takes the number after a mark, if the mark is next.
    pub(super) fn take_number(&mut self, mark: char) -> Parsed<Option<u32>> {
        let Some(behind) = self.rest().strip_prefix(mark) else { return Ok(None) };
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let number = behind[..digits].parse();
        let is_whole = !behind[digits..].starts_with('.');
        self.at += mark.len_utf8() + digits;
        match number {
            Ok(number) if is_whole => Ok(Some(number)),
            number => {
                let at = self.at - digits;
                self.complain(at, Problem::Expected("a whole number of 32 bits"))?;
                Ok(number.ok())
            }
        }
    }

    /// Takes a star, if it is next and not part of a word.
    pub(super) fn take_star(&mut self) -> bool {
        let ends =
            |rest: &str| rest.is_empty() || rest.starts_with(|c| ends_word(c) || "^~".contains(c));
        let found = self.rest().strip_prefix('*').is_some_and(ends);
        self.at += usize::from(found);
        found
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
            self.skip_space();
        }
        found
    }

    /// True if a sign is next. A lenient parser ignores one before a blank, since people type
    /// dashes between words.
    pub(super) fn is_sign(&self, sign: char) -> bool {
        let behind = self.rest().strip_prefix(sign);
        behind.is_some_and(|rest| {
            !self.is_lenient() || rest.starts_with(|c: char| !c.is_whitespace())
        })
    }

    pub(super) fn take_sign(&mut self, sign: char) -> bool {
        if self.is_sign(sign) {
            return self.take(sign);
        }
        // A lenient parser skips a dash.
        if self.is_lenient() && self.rest().starts_with(sign) {
            self.take(sign);
        }
        false
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| {
            after.is_empty() || after.starts_with(|c: char| ends_word(c) || c == '(')
        })
    }

    pub(super) fn at_operator(&self) -> bool {
        self.at_or() || self.at_word("AND") || self.at_word("&&")
    }

    pub(super) fn at_or(&self) -> bool {
        self.at_word("OR") || self.at_word("||")
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += word.len();
            self.skip_space();
        }
        found
    }

    pub(super) fn take_or(&mut self) -> bool {
        self.take_word("OR") || self.take_word("||")
    }

    pub(super) fn take_and(&mut self) -> bool {
        self.take_word("AND") || self.take_word("&&")
    }

    /// Takes all up to the next unescaped blank, parenthesis or quotation mark.
    pub(super) fn take_raw_word(&mut self) -> &'a str {
        self.take_until(ends_word)
    }

    /// Takes all up to the next unescaped blank or closing bracket.
    pub(super) fn take_in_brackets(&mut self) -> &'a str {
        self.take_until(|c| c.is_whitespace() || matches!(c, ']' | '}'))
    }

    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().find(|(_, c)| {
            let ends = ends(*c) && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let len = end.map_or(rest.len(), |(at, _)| at);
        self.at += len;
        &rest[..len]
    }
}

pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"')
}

/// True if a range follows a word, which must be a field's name then.
pub(super) fn begins_range(word: &str, behind: &str) -> bool {
    let is_range = behind.strip_prefix(':').is_some_and(|b| b.starts_with(['[', '{', '<', '>']));
    is_range && word.starts_with(|c: char| c.is_alphabetic() || c == '@')
}

/// True if a text may be a field's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || "_@".contains(c))
        && chars.all(|c| c.is_ascii_alphanumeric() || "_.@".contains(c))
        && !["http", "https", "ftp", "mailto"]
            .iter()
            .any(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// Returns the offset of the last unescaped `mark`.
pub(super) fn last_mark(raw: &str, mark: char) -> Option<usize> {
    let (mut escaped, mut last) = (false, None);
    for (at, c) in raw.char_indices() {
        if c == mark && !escaped {
            last = Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    last
}

/// True if a text ends with a `\\` that escapes nothing.
pub(super) fn ends_escaped(raw: &str) -> bool {
    raw.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
