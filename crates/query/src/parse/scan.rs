//! Scanning: the ends of words, numbers and signs in a query's text.

use super::grammar::{Parse, Parsed};
use super::marks::{
    DASHES, begins_amount, begins_word, ends_word, is_dash, is_quote, partners, unescaped_end,
};
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

    /// True if a sign is next. A lenient parser ignores one before a blank or punctuation, since
    /// people type dashes and arrows between words, and a minus before an amount such as `8.8%`.
    pub(super) fn is_sign(&self, sign: char) -> bool {
        let behind = self.rest().strip_prefix(sign);
        behind.is_some_and(|rest| {
            !self.is_lenient()
                || rest.starts_with(|c: char| c.is_alphanumeric() || begins_word(c))
                    && !(sign == '-' && begins_amount(rest))
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
        self.at_word("OR") || self.at_word("||") || self.at_bar()
    }

    /// True if a bar is next, between clauses of which the best counts. In a pasted text it is text.
    pub(super) fn at_bar(&self) -> bool {
        self.at_word("|") && !self.is_lenient()
    }

    pub(super) fn take_bar(&mut self) -> bool {
        self.at_bar() && self.take_word("|")
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

    /// Takes a sign as word processors write it: a dash in front of a word, other than a hyphen.
    pub(super) fn take_dash(&mut self) -> bool {
        let Some(behind) = self.rest().strip_prefix(DASHES) else { return false };
        let is_word = behind.starts_with(|c: char| !c.is_whitespace() && !is_dash(c) && c != '-');
        let is_sign = is_word && !(self.is_lenient() && begins_amount(behind));
        if is_sign {
            self.at = self.text.len() - behind.len();
        }
        is_sign
    }

    /// True if a quotation mark is next.
    pub(super) fn at_quote(&self) -> bool {
        self.rest().starts_with(is_quote)
    }

    /// Returns the place of the quotation mark that ends the text from `start` on. `open` is the
    /// mark before it. If none of its partners follows, any quotation mark ends the text.
    pub(super) fn closing_quote(&self, open: char, start: usize) -> Option<(usize, char)> {
        let find = |ends: &dyn Fn(char) -> bool| {
            let at = unescaped_end(&self.text[start..], ends)?;
            let mark = self.text[start + at..].chars().next()?;
            Some((start + at, mark))
        };
        find(&|c| partners(open).contains(&c)).or_else(|| find(&is_quote))
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
        let len = unescaped_end(rest, ends).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}
