//! Words, phrases, patterns, values and keys, in any field.

use std::borrow::Cow;

use spirit_schema::MORE;

use super::Parser;
use super::grammar::{Parse, Parsed};
use super::marks::{
    before_colon, begins_number, begins_range, ends_escaped, has_wildcard, is_name, is_quote,
    last_mark, unescaped,
};
use crate::problem::Problem;
use crate::query::{Kind, Node, NodeId, Siblings};
use crate::target::Target;
use crate::words::push_normalized;

/// The way in which a phrase's words must be near each other.
enum Nearness {
    /// Words may be moved, by this many places in all.
    Slop(u32),
    /// Words are in a row, and the last one is a prefix.
    Prefix,
}

/// The meaning of a name before a colon.
enum Named {
    Key,
    Field(Target),
}

impl<'a> Parse<'a> {
    /// Parses the phrase that begins here, or the value of the field whose name is quoted here.
    pub(super) fn phrase_or_field(&mut self) -> Parsed<NodeId> {
        let start = self.at;
        if let Some((name, behind)) = self.quoted_name()
            && let Some(named) = self.known_field(&unescaped(name), start)?
        {
            return self.in_named(named, behind);
        }
        self.in_each_field(Self::phrase)
    }

    /// Returns the text in quotation marks that begins here, if a colon and a value follow it.
    fn quoted_name(&self) -> Option<(&'a str, usize)> {
        let mark = self.rest().chars().next()?;
        let start = self.at + mark.len_utf8();
        let (end, mark) = self.closing_quote(mark, start)?;
        let behind = self.text[end + mark.len_utf8()..].strip_prefix(':')?;
        let has_value = behind.starts_with(|c: char| !c.is_whitespace() && c != ')');
        has_value.then(|| (&self.text[start..end], self.text.len() - behind.len()))
    }

    /// Parses the phrase that begins here, in a field.
    fn phrase(&mut self, field: Target) -> Parsed<NodeId> {
        let start = self.at;
        let raw = self.quoted()?;
        if !field.has_words() {
            let node = self.exact(field, start, &unescaped(raw))?;
            let at = self.at;
            if self.take_star() {
                self.complain(at, Problem::NoWords { kind: field.kind })?;
            }
            return self.boosted(node);
        }
        let (raw, has_star) = if field.is_verbatim() { (raw, false) } else { self.starred(raw)? };
        let inside = unescaped(raw);
        let node = match self.nearness(has_star)? {
            Nearness::Slop(slop) => self.phrase_of(field, &inside, slop)?,
            Nearness::Prefix => self.phrase_prefix_of(field, &inside)?,
        };
        self.boosted(node)
    }

    /// Parses the suffix of a phrase.
    fn nearness(&mut self, has_star: bool) -> Parsed<Nearness> {
        let starred = self.take_star() || has_star;
        let at = self.at;
        let slop = self.take_number('~')?;
        if !starred && !self.take_star() {
            return Ok(Nearness::Slop(slop.unwrap_or(0)));
        }
        if slop.is_some() {
            self.complain(at, Problem::Expected("no slop: a phrase prefix has none"))?;
        }
        Ok(Nearness::Prefix)
    }

    fn phrase_of(&mut self, field: Target, text: &str, slop: u32) -> Parsed<NodeId> {
        Ok(self.query.phrase_of(field, text, slop, &mut self.parser.tokenizers)?)
    }

    pub(super) fn phrase_prefix_of(&mut self, field: Target, text: &str) -> Parsed<NodeId> {
        let Parser { tokenizers, word, .. } = &mut *self.parser;
        word.clear();
        Ok(self.query.phrase_prefix_of(field, text, tokenizers, word)?)
    }

    /// Takes the text between quotation marks, with its escapes.
    pub(super) fn quoted(&mut self) -> Parsed<&'a str> {
        let (at, text) = (self.at, self.text);
        let mark = self.rest().chars().next().unwrap_or('"');
        let start = at + mark.len_utf8();
        let end = self.closing_quote(mark, start);
        if end.is_none() {
            self.complain(at, Problem::Expected("a second `\"` that ends the phrase"))?;
        }
        let (end, mark) = end.map_or((text.len(), 0), |(at, mark)| (at, mark.len_utf8()));
        self.at = end + mark;
        Ok(&text[start..end])
    }

    pub(super) fn word(&mut self) -> Parsed<NodeId> {
        let start = self.at;
        if self.rest().starts_with("*:*") {
            // Any value of any field, in the syntax of other query languages.
            self.at += "*:".len();
        }
        if let Some((name, behind)) = self.field_name()
            && let Some(named) = self.known_field(&name, start)?
        {
            return self.in_named(named, behind);
        }
        // Only in the group of a field. Elsewhere signs and brackets are part of the text.
        if let Some(field) = self.field
            && let Some(node) = self.range_or_set(field)?
        {
            return Ok(node);
        }
        self.in_each_field(|parse, field| {
            if let Some(node) = parse.regex(field, parse.field.is_some())? {
                return Ok(node);
            }
            let raw = parse.take_raw_word();
            parse.value(field, start, raw)
        })
    }

    /// Returns the text before a colon, if it may be a field's name, and the beginning of its
    /// value. Otherwise (`10:30`, a URL) the colon is part of the word.
    fn field_name(&self) -> Option<(Cow<'a, str>, usize)> {
        let rest = self.rest();
        let raw = &rest[..before_colon(rest)?];
        let (name, behind) = (unescaped(raw), &rest[raw.len()..]);
        let is_known = || self.parser.schema.asked(&name).is_some();
        let may_be = is_name(raw) || is_known() || begins_range(raw, behind);
        let is_url = behind.starts_with("://");
        // In a text that somebody pasted, a colon before a blank is punctuation.
        let is_prose = self.is_lenient()
            && (behind.len() == 1 || behind[1..].starts_with(char::is_whitespace));
        (may_be && !is_url && !is_prose).then(|| (name, self.at + raw.len() + 1))
    }

    fn in_named(&mut self, named: Named, behind: usize) -> Parsed<NodeId> {
        let node = match named {
            Named::Key => self.document_key(behind)?,
            Named::Field(field) => self.in_field(field, behind)?,
        };
        self.asks_for_fields |= self.query.nodes[node as usize].kind != Kind::Blank;
        Ok(node)
    }

    fn known_field(&mut self, name: &str, start: usize) -> Parsed<Option<Named>> {
        // Sources of documents may have a member that is called as the key is here.
        if name == "_id" || name == "key" && self.parser.schema.by_name(name).is_none() {
            return Ok(Some(Named::Key));
        }
        match Target::named(&self.parser.schema, name) {
            Some(field) => Ok(Some(Named::Field(field))),
            None if self.parser.schema.by_name(MORE).is_some() => {
                self.complain(start, Problem::UnknownOrMore).map(|()| None)
            }
            None => self.complain(start, Problem::UnknownField).map(|()| None),
        }
    }

    /// Parses the key that begins at `behind`.
    fn document_key(&mut self, behind: usize) -> Parsed<NodeId> {
        self.at = behind;
        let (key, boost) = if self.at_quote() {
            (unescaped(self.quoted()?), None)
        } else {
            let (raw, boost) = self.raw_key(behind)?;
            if raw == "*" {
                let node = self.leaf(Kind::Everything)?;
                return self.with_boost(node, boost);
            }
            (unescaped(raw), boost)
        };
        if key.is_empty() {
            self.complain(behind, Problem::Expected("a value after `:`"))?;
        }
        let kind = self.query.key(key.as_bytes())?;
        let node = self.leaf(kind)?;
        if boost.is_some() { self.with_boost(node, boost) } else { self.boosted(node) }
    }

    /// Parses a key without quotation marks, and its boost. Ranges, sets and patterns are errors.
    fn raw_key(&mut self, behind: usize) -> Parsed<(&'a str, Option<Boost>)> {
        let (raw, boost) = self.take_boost(behind)?;
        let is_other = raw.starts_with(['[', '{', '<', '>'])
            || raw == "IN"
            || (raw != "*" && has_wildcard(raw, false));
        if is_other {
            self.complain(
                behind,
                Problem::Expected(
                    "one key: keys have no ranges, sets or patterns; put a key with their signs \
                 between `\"`",
                ),
            )?;
        }
        Ok((raw, boost))
    }

    /// Parses a field's value: a range, a set, a group, a phrase or a word.
    fn in_field(&mut self, field: Target, behind: usize) -> Parsed<NodeId> {
        self.at = behind;
        if let Some(node) = self.range_or_set(field)? {
            return Ok(node);
        }
        match self.rest().chars().next() {
            Some('(') => {
                let outer = self.field.replace(field);
                let inside = self.parenthesis();
                self.field = outer;
                inside
            }
            Some(c) if is_quote(c) => self.phrase(field),
            _ => {
                if let Some(node) = self.regex(field, true)? {
                    return Ok(node);
                }
                let raw = self.take_raw_word();
                if raw.is_empty() {
                    self.complain(behind, Problem::Expected("a value after `:`"))?;
                    self.skip_space();
                }
                self.value(field, behind, raw)
            }
        }
    }

    /// Parses a typed word with its boost, distance and escapes.
    fn value(&mut self, field: Target, start: usize, raw: &'a str) -> Parsed<NodeId> {
        let (raw, boost) = self.boost_of(start, raw)?;
        let node = if raw == "*" {
            let kind = self.query.any_value(field)?;
            self.leaf(kind)?
        } else if field.has_words() {
            self.pattern_or_words(field, start, raw)?
        } else {
            self.exact(field, start, &unescaped(raw))?
        };
        self.with_boost(node, boost)
    }

    fn with_boost(&mut self, node: NodeId, boost: Option<Boost>) -> Parsed<NodeId> {
        self.skip_space();
        match boost {
            Some(boost) => self.apply(node, boost),
            None => Ok(node),
        }
    }

    /// Takes the next raw word, and its boost.
    fn take_boost(&mut self, start: usize) -> Parsed<(&'a str, Option<Boost>)> {
        let raw = self.take_raw_word();
        self.boost_of(start, raw)
    }

    /// Splits a raw word before the boost at its end. A suffix that looks like a boost must be one.
    fn boost_of(&mut self, start: usize, raw: &'a str) -> Parsed<(&'a str, Option<Boost>)> {
        let (word, boost) = split_boost(raw);
        if boost.is_some() && word.is_empty() {
            self.complain(start, Problem::Expected("a word before `^`"))?;
        }
        if let Some(mark) = last_mark(word, '^').filter(|mark| begins_number(&word[mark + 1..])) {
            self.complain(start + mark + 1, NUMBER)?;
        }
        if ends_escaped(word) {
            self.complain(start + word.len() - 1, Problem::Expected("a character after `\\`"))?;
        }
        Ok((word, boost))
    }

    /// Parses a value other than a word. A lenient parser returns [`Kind::Blank`] for an error.
    fn exact(&mut self, field: Target, start: usize, text: &str) -> Parsed<NodeId> {
        match self.query.value(field, text) {
            Ok(kind) => self.leaf(kind),
            Err(limit @ Problem::TooLarge(_)) => Err(limit),
            Err(problem) => {
                self.complain(start, problem)?;
                self.leaf(Kind::Blank)
            }
        }
    }

    /// Appends `word` to the buffer in the form of terms: in lower case, unless they are verbatim.
    pub(super) fn append_normalized(&mut self, field: Target, word: &str) {
        push_normalized(field, word, &mut self.parser.word);
    }

    /// Appends the terms of a text to a phrase that has `place` places.
    pub(super) fn cut(
        &mut self,
        field: Target,
        text: &str,
        list: &mut Siblings,
        place: &mut u32,
    ) -> Parsed<()> {
        Ok(self.query.cut(field, text, &mut self.parser.tokenizers, list, place)?)
    }

    pub(super) fn leaf(&mut self, kind: Kind) -> Parsed<NodeId> {
        Ok(self.query.push(Node::leaf(kind))?)
    }

    /// Returns a group or phrase with the boost that follows it, if one does.
    pub(super) fn boosted(&mut self, node: NodeId) -> Parsed<NodeId> {
        if !self.rest().starts_with('^') {
            self.skip_space();
            return Ok(node);
        }
        let start = self.at;
        let raw = self.take_raw_word();
        let (before, boost) = split_boost(raw);
        self.skip_space();
        match boost.filter(|_| before.is_empty()) {
            Some(boost) => self.apply(node, boost),
            None => {
                self.complain(start + 1, NUMBER)?;
                Ok(node)
            }
        }
    }

    fn apply(&mut self, node: NodeId, boost: Boost) -> Parsed<NodeId> {
        match boost {
            Boost::By(by) => self.query.boost(node, by)?,
            Boost::To(score) => self.query.constant(node, score)?,
        }
        Ok(node)
    }
}

const NUMBER: Problem = Problem::Expected("a number ≥ 0, and of at most 3.4e38");

/// A change of a score.
#[derive(Clone, Copy)]
pub(super) enum Boost {
    /// A factor.
    By(f32),
    /// A constant score.
    To(f32),
}

/// Splits a word before the boost at its end, if it has one.
pub(super) fn split_boost(raw: &str) -> (&str, Option<Boost>) {
    let Some((word, number)) = raw.rsplit_once('^') else { return (raw, None) };
    let (digits, to) = match number.strip_prefix('=') {
        Some(digits) => (digits, true),
        None => (number, false),
    };
    let is_part = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    let plain =
        digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && digits.bytes().all(is_part);
    match digits.parse::<f32>() {
        Ok(number) if plain && number.is_finite() && !ends_escaped(word) => {
            (word, Some(if to { Boost::To(number) } else { Boost::By(number) }))
        }
        _ => (raw, None),
    }
}
