//! Words and patterns: `heron`, `her*`, `h?ron`, `heron~1`, and patterns within words that an
//! analyzer cuts.
//!
//! A pattern is tested with terms. So it can match only where the analyzer leaves the word whole,
//! which depends on the field. A word that is cut, such as `ord-998*`, can still be the beginning
//! of a phrase. Any other pattern in it is an error, since it would silently match nothing.

use std::ops::Range;

use spirit_schema::FieldKind;
use spirit_text::Tokenizer;

use super::grammar::{Parse, Parsed};
use super::marks::{begins_number, has_wildcard, last_mark, unescaped};
use crate::fuzzy::Fuzzy;
use crate::limits::DISTANCE_MAX;
use crate::pattern::PatternKind;
use crate::problem::Problem;
use crate::query::{Kind, NodeId, Occur, Siblings};
use crate::target::Target;
use crate::words::{is_plain, last_piece};

const CUT: Problem = Problem::Expected(
    "a pattern within one word: the analyzer cuts this one; put `\\` before `*`, `?` and `~`, or \
     the words between `\"`",
);

impl<'a> Parse<'a> {
    /// Parses a word or a pattern, in a field of words.
    pub(super) fn pattern_or_words(
        &mut self,
        field: Target,
        start: usize,
        raw: &'a str,
    ) -> Parsed<NodeId> {
        let (word, distance) = self.split_distance(start, raw)?;
        if let Some(distance) = distance {
            let text = unescaped(word);
            if let Some(span) = self.one_word(field, &text) {
                self.normalize(field, &text[span]);
                return self.pattern(field, PatternKind::Fuzzy(Fuzzy::within(distance)));
            }
            self.complain(start, CUT)?;
        } else if has_wildcard(word, self.is_lenient())
            && let Some(node) = self.wildcard(field, start, word)?
        {
            return Ok(node);
        }
        let (mut list, mut place) = (Siblings::default(), 0);
        self.cut(field, &unescaped(raw), &mut list, &mut place)?;
        self.together(list)
    }

    /// Joins the terms of one word: a phrase, or all of them in an index without positions.
    pub(super) fn together(&mut self, list: Siblings) -> Parsed<NodeId> {
        if self.parser.has_positions {
            Ok(self.query.phrase(list, 0)?)
        } else if list.count == 0 {
            self.leaf(Kind::Blank)
        } else {
            Ok(self.query.group(list)?)
        }
    }

    /// Splits a word before `~` or `~` and a number at its end, and returns the number of edits.
    fn split_distance(&mut self, start: usize, raw: &'a str) -> Parsed<(&'a str, Option<u8>)> {
        let Some(mark) = last_mark(raw, '~') else { return Ok((raw, None)) };
        let (word, number) = (&raw[..mark], &raw[mark + 1..]);
        let is_distance = !word.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let is_other = !is_distance || last_mark(word, '~').is_some();
        if is_other && begins_number(number) {
            self.complain(start + mark + 1, Problem::Expected("a distance of 0, 1 or 2"))?;
        }
        if !is_distance {
            return Ok((raw, None));
        }
        let distance = if number.is_empty() { Ok(DISTANCE_MAX) } else { number.parse() };
        match distance {
            Ok(distance) if distance <= DISTANCE_MAX => Ok((word, Some(distance))),
            _ => {
                let at = start + word.len() + 1;
                self.complain(at, Problem::Expected("a distance of 0, 1 or 2"))?;
                Ok((word, Some(DISTANCE_MAX)))
            }
        }
    }

    /// Parses a prefix, if the only wildcard is a star at the end, else a pattern. In a word that is
    /// cut, a prefix is the last one of a phrase. A lenient parser returns nothing for any other.
    fn wildcard(&mut self, field: Target, start: usize, raw: &str) -> Parsed<Option<NodeId>> {
        let prefix = raw.strip_suffix('*').filter(|before| {
            !before.is_empty() && !before.ends_with('\\') && !has_wildcard(before, false)
        });
        if self.is_whole(field, raw) {
            let kind = match prefix {
                Some(prefix) => {
                    self.normalize(field, &unescaped(prefix));
                    PatternKind::Prefix
                }
                None => {
                    self.normalize(field, raw);
                    PatternKind::Wildcard
                }
            };
            return self.pattern(field, kind).map(Some);
        }
        match prefix {
            Some(prefix) => self.beginning(field, &unescaped(prefix)).map(Some),
            None => self.complain(start, CUT).map(|()| None),
        }
    }

    /// Returns the beginning of a phrase: the words of a text, the last of which is a prefix.
    /// Without positions it is all of them, in any place.
    fn beginning(&mut self, field: Target, text: &str) -> Parsed<NodeId> {
        if self.parser.has_positions {
            return self.phrase_prefix_of(field, text);
        }
        let (mut list, mut place) = (Siblings::default(), 0);
        let last = self.tokenizer(field).map_or(0, |tokenizer| last_piece(tokenizer, text));
        self.cut(field, &text[..last], &mut list, &mut place)?;
        if last < text.len() {
            self.normalize(field, &text[last..]);
            let node = self.pattern(field, PatternKind::Prefix)?;
            self.query.link(&mut list, node, Occur::Must);
        }
        self.together(list)
    }

    /// True if the analyzer leaves words that a raw pattern matches whole. They are tried with a
    /// letter, a digit or the neighbouring character in place of the wildcards.
    fn is_whole(&mut self, field: Target, raw: &str) -> bool {
        let is_plain = |piece: &str| piece.is_empty() || is_plain(piece);
        if field.is_verbatim() || raw.split(['*', '?']).all(is_plain) {
            return true;
        }
        let stands = |fill: Option<char>| stand_in(raw, fill);
        [stands(Some('x')), stands(Some('1')), stands(None)]
            .into_iter()
            .any(|text| self.one_word(field, &text) == Some(0..text.len()))
    }

    /// Returns the place of the only word that the analyzer makes of a text; none if it makes more
    /// or none.
    pub(super) fn one_word(&mut self, field: Target, text: &str) -> Option<Range<usize>> {
        let mut found = 0..text.len();
        let Some(tokenizer) = self.tokenizer(field) else { return Some(found) };
        // A stop word is left out, and so has no place. It is a word all the same.
        let cut = tokenizer.for_each_span(text, |_, span| found = span).ok()?;
        (cut.tokens == 1).then_some(found)
    }

    /// Returns the tokenizer of a field; none if the field's values are not cut.
    fn tokenizer(&mut self, field: Target) -> Option<&mut Tokenizer> {
        let FieldKind::Text(analyzer) = field.kind else { return None };
        if field.is_verbatim() {
            return None;
        }
        self.parser.tokenizers.iter_mut().find(|known| known.analyzer() == analyzer)
    }

    /// Splits a raw phrase before a star behind its last word. Other patterns are errors: a lenient
    /// parser takes them as words.
    pub(super) fn starred(&mut self, raw: &'a str) -> Parsed<(&'a str, bool)> {
        let trimmed = raw.trim_end();
        let begins = trimmed.strip_suffix('*').filter(|before| {
            before.ends_with(char::is_alphanumeric)
                && !is_pattern(before.rsplit(char::is_whitespace).next().unwrap_or_default())
        });
        let words = begins.unwrap_or(raw);
        if let Some(word) = words.split_whitespace().find(|word| is_pattern(word)) {
            let at = word.as_ptr() as usize - self.text.as_ptr() as usize;
            let only_last = "words: in quotation marks only the last word may end with `*`; put \
                             `\\` before another `*`, `?` or `~`";
            self.complain(at, Problem::Expected(only_last))?;
        }
        Ok((words, begins.is_some()))
    }

    /// Writes `word` to the buffer in the form of terms: in lower case, unless they are verbatim.
    fn normalize(&mut self, field: Target, word: &str) {
        self.parser.word.clear();
        self.append_normalized(field, word);
    }

    fn pattern(&mut self, field: Target, kind: PatternKind) -> Parsed<NodeId> {
        let kind = self.query.pattern(field.id, kind, self.parser.word.as_bytes())?;
        self.leaf(kind)
    }
}

/// Returns a raw pattern without escapes, with `fill`, or the character before, in place of its
/// wildcards.
fn stand_in(raw: &str, fill: Option<char>) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut escaped = false;
    let first = raw.chars().find(|c| c.is_alphanumeric()).unwrap_or('x');
    for c in raw.chars() {
        let is_wild = matches!(c, '*' | '?') && !escaped;
        escaped = c == '\\' && !escaped;
        if is_wild {
            text.push(fill.unwrap_or_else(|| text.chars().next_back().unwrap_or(first)));
        } else if !escaped {
            text.push(c);
        }
    }
    text
}

/// True if a word in a phrase is meant as a pattern: letters and digits with `*`, with `?` before a
/// letter, or with `~` and a number behind them. A word with other punctuation, such as a URL, is
/// not.
fn is_pattern(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fuzzy = word.rsplit_once('~').filter(|(_, distance)| is_number(distance));
    let body = fuzzy.map_or(word, |(word, _)| word);
    let is_wild = body.trim_end_matches('?').contains(['*', '?']);
    (is_wild || fuzzy.is_some())
        && body.contains(char::is_alphanumeric)
        && body.chars().all(|c| c.is_alphanumeric() || matches!(c, '*' | '?'))
}
