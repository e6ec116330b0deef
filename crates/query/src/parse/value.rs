//! Words, phrases, patterns, values and keys, in any field.

use std::borrow::Cow;

use spirit_schema::TEXT;

use super::Parser;
use super::grammar::{Parse, Parsed};
use super::scan::{begins_range, ends_escaped, ends_word, is_name, last_mark};
use crate::fuzzy::Fuzzy;
use crate::limits::DISTANCE_MAX;
use crate::pattern::PatternKind;
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
    /// Parses the phrase that begins here.
    pub(super) fn phrase(&mut self, field: Target) -> Parsed<NodeId> {
        let start = self.at;
        let inside = self.quoted()?;
        if !field.has_words() {
            let node = self.exact(field, start, &inside)?;
            let at = self.at;
            if self.take_star() {
                self.complain(at, Problem::NoWords { kind: field.kind })?;
            }
            return self.boosted(node);
        }
        let node = match self.nearness()? {
            Nearness::Slop(slop) => self.phrase_of(field, &inside, slop)?,
            Nearness::Prefix => self.phrase_prefix_of(field, &inside)?,
        };
        self.boosted(node)
    }

    /// Parses the suffix of a phrase.
    fn nearness(&mut self) -> Parsed<Nearness> {
        let starred = self.take_star();
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

    fn phrase_prefix_of(&mut self, field: Target, text: &str) -> Parsed<NodeId> {
        let Parser { tokenizers, word, .. } = &mut *self.parser;
        word.clear();
        Ok(self.query.phrase_prefix_of(field, text, tokenizers, word)?)
    }

    /// Takes the text between quotation marks.
    pub(super) fn quoted(&mut self) -> Parsed<Cow<'a, str>> {
        let (start, text) = (self.at + 1, self.text);
        let mut escaped = false;
        let end = text[start..].char_indices().find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        if end.is_none() {
            self.complain(self.at, Problem::Expected("a second `\"` that ends the phrase"))?;
        }
        let inside = &text[start..end.map_or(text.len(), |(at, _)| start + at)];
        self.at = end.map_or(text.len(), |(at, _)| start + at + 1);
        Ok(unescaped(inside))
    }

    pub(super) fn word(&mut self) -> Parsed<NodeId> {
        let start = self.at;
        if self.rest().starts_with("*:*") {
            // Any value of any field, in the syntax of other query languages.
            self.at += "*:".len();
        }
        if let Some((name, behind)) = self.field_name() {
            match self.known_field(name, start)? {
                Some(Named::Key) => return self.document_key(behind),
                Some(Named::Field(field)) => return self.in_field(field, behind),
                None => {}
            }
        }
        // Only in the group of a field. Elsewhere signs and brackets are part of the text.
        if self.field.id != TEXT
            && let Some(node) = self.range_or_set(self.field)?
        {
            return Ok(node);
        }
        let raw = self.take_raw_word();
        self.value(self.field, start, raw)
    }

    /// Returns the text before a colon, if it may be a field's name, and the beginning of its
    /// value. Otherwise (`10:30`, a URL) the colon is part of the word.
    fn field_name(&self) -> Option<(&'a str, usize)> {
        let rest = self.rest();
        let name = &rest[..rest.find(|c: char| ends_word(c) || c == ':')?];
        let colon = rest[name.len()..].starts_with(':') && !rest[name.len()..].starts_with("://");
        let known = || self.parser.schema.by_name(name).is_some();
        let may_be = is_name(name) || known() || begins_range(name, &rest[name.len()..]);
        (colon && may_be).then_some((name, self.at + name.len() + 1))
    }

    fn known_field(&mut self, name: &str, start: usize) -> Parsed<Option<Named>> {
        if name == "key" {
            return Ok(Some(Named::Key));
        }
        match Target::named(&self.parser.schema, name) {
            Some(field) => Ok(Some(Named::Field(field))),
            None => self.complain(start, Problem::UnknownField).map(|()| None),
        }
    }

    /// Parses the key that begins at `behind`.
    fn document_key(&mut self, behind: usize) -> Parsed<NodeId> {
        self.at = behind;
        let (key, boost) = if self.rest().starts_with('"') {
            (self.quoted()?, None)
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
                let outer = std::mem::replace(&mut self.field, field);
                let inside = self.parenthesis();
                self.field = outer;
                inside
            }
            Some('"') => self.phrase(field),
            _ => {
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
            self.complain(start + mark + 1, Problem::Expected("a number ≥ 0"))?;
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

    /// Parses a word or a pattern, in a field of words.
    fn pattern_or_words(&mut self, field: Target, start: usize, raw: &'a str) -> Parsed<NodeId> {
        let (raw, distance) = self.split_distance(start, raw)?;
        if let Some(distance) = distance {
            self.normalize(field, &unescaped(raw));
            self.pattern(field, PatternKind::Fuzzy(Fuzzy::within(distance)))
        } else if has_wildcard(raw, self.is_lenient()) {
            self.wildcard(field, raw)
        } else {
            let (mut list, mut place) = (Siblings::default(), 0);
            self.cut(field, &unescaped(raw), &mut list, &mut place)?;
            self.together(list)
        }
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

    /// Parses a prefix, if the only wildcard is a star at the end; else a pattern.
    fn wildcard(&mut self, field: Target, raw: &str) -> Parsed<NodeId> {
        let prefix = raw.strip_suffix('*').filter(|before| {
            !before.is_empty() && !before.ends_with('\\') && !has_wildcard(before, false)
        });
        match prefix {
            Some(prefix) => {
                self.normalize(field, &unescaped(prefix));
                self.pattern(field, PatternKind::Prefix)
            }
            None => {
                self.normalize(field, raw);
                self.pattern(field, PatternKind::Wildcard)
            }
        }
    }

    /// Writes `word` to the buffer in the form of terms: in lower case, unless they are verbatim.
    fn normalize(&mut self, field: Target, word: &str) {
        self.parser.word.clear();
        self.append_normalized(field, word);
    }

    /// Like [`normalize`](Self::normalize), but appends to the buffer.
    pub(super) fn append_normalized(&mut self, field: Target, word: &str) {
        push_normalized(field, word, &mut self.parser.word);
    }

    fn pattern(&mut self, field: Target, kind: PatternKind) -> Parsed<NodeId> {
        let kind = self.query.pattern(field.id, kind, self.parser.word.as_bytes())?;
        self.leaf(kind)
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
                self.complain(start + 1, Problem::Expected("a number ≥ 0"))?;
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

/// True if the text after a mark is meant as a number.
fn begins_number(text: &str) -> bool {
    text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || "+-.=".contains(c))
}

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
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match digits.parse::<f32>() {
        Ok(number) if plain && number.is_finite() && !ends_escaped(word) => {
            (word, Some(if to { Boost::To(number) } else { Boost::By(number) }))
        }
        _ => (raw, None),
    }
}

/// True if the text has an unescaped `*` or `?`. In lenient text question marks at the end do not
/// count.
fn has_wildcard(raw: &str, typed: bool) -> bool {
    let raw = if typed { raw.trim_end_matches('?') } else { raw };
    let mut escaped = false;
    raw.bytes().any(|byte| {
        let wild = matches!(byte, b'*' | b'?') && !escaped;
        escaped = byte == b'\\' && !escaped;
        wild
    })
}

/// Removes the escapes of a text: `\` escapes the next character.
pub(super) fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    let mut text = String::with_capacity(raw.len());
    let mut escaped = false;
    for c in raw.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            text.push(c);
        }
    }
    text.into()
}
