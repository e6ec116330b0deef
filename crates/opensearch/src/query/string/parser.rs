//! The parser of `query_string`: words, phrases, fields, ranges, patterns and operators.
//!
//! `AND` requires the clauses on both of its sides, and `OR` changes nothing unless all are required
//! by default. That is Lucene's classic rule: in `a OR b AND c`, both `b` and `c` are required.

use std::borrow::Cow;

use spirit::query::{Bool, Word};
use spirit::{Clause, FieldKind};

use super::super::fuzziness::Fuzziness;
use super::super::members::boosted;
use super::super::phrase::Phrase;
use super::super::several::Weighted;
use super::super::target::Options;
use super::super::words::{How, Operator};
use super::super::{Asked, DEPTH_MAX, ID, lucene, minimum, too_deep};
use crate::error::Refusal;
use crate::json::Json;

/// Characters that end a word, unless they are escaped.
const ENDS: &str = "():^[]\"{}~";

/// A parser of one text.
pub(super) struct Parser<'p, 's> {
    asked: &'p Asked<'s>,
    whole: &'p str,
    rest: &'p str,
    options: &'p Options,
    no_leading_wildcard: bool,
}

/// The part that a clause plays.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Occur {
    Must,
    Should,
    Not,
}

/// The operator before a clause.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    And,
    Or,
    Absent,
}

type Items = Vec<(Occur, Clause)>;

impl<'p, 's> Parser<'p, 's> {
    pub(super) fn new(
        asked: &'p Asked<'s>,
        text: &'p str,
        options: &'p Options,
        no_leading_wildcard: bool,
    ) -> Parser<'p, 's> {
        Parser { asked, whole: text, rest: text, options, no_leading_wildcard }
    }

    /// Parses all of the text, of these fields unless it names others.
    pub(super) fn parse(mut self, fields: &[Weighted]) -> Result<Clause, Refusal> {
        let items = self.list(fields, DEPTH_MAX, false)?;
        let optional = items.iter().filter(|(occur, _)| *occur == Occur::Should).count();
        let minimum = self.options.minimum.as_deref().filter(|_| items.len() > 1 && optional > 0);
        let minimum = minimum.map_or(Ok(0), |spec| minimum::of(spec, optional))?;
        if minimum > optional {
            return Ok(Clause::Nothing);
        }
        Ok(grouped(items, minimum).unwrap_or(Clause::Nothing))
    }

    fn wrong(&self) -> Refusal {
        Refusal::query_shard(format!("Failed to parse query [{}]", self.whole))
    }

    /// Reads clauses up to the end, or up to a closing parenthesis.
    fn list(&mut self, fields: &[Weighted], depth: usize, inner: bool) -> Result<Items, Refusal> {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let mut items = Items::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() && !inner || inner && self.takes(")") {
                return Ok(items);
            }
            let joint = self.joint();
            let occur = self.modifier();
            let clause = self.clause(fields, depth)?;
            self.add(&mut items, joint, occur, clause);
        }
    }

    fn joint(&mut self) -> Joint {
        if self.takes("&&") || self.takes_word("AND") {
            Joint::And
        } else if self.takes("||") || self.takes_word("OR") {
            Joint::Or
        } else {
            Joint::Absent
        }
    }

    /// Reads a sign before a clause. One with a blank behind it means nothing.
    fn modifier(&mut self) -> Option<Occur> {
        self.rest = self.rest.trim_start();
        while let Some(behind) = self.rest.strip_prefix(['+', '-', '!'])
            && behind.starts_with(char::is_whitespace)
        {
            self.rest = behind.trim_start();
        }
        let occur = if self.takes("+") {
            Occur::Must
        } else if self.takes("-") || self.takes("!") || self.takes_word("NOT") {
            Occur::Not
        } else {
            return None;
        };
        self.rest = self.rest.trim_start();
        Some(occur)
    }

    /// Adds a clause by Lucene's rule. A word that the analyzer left out only counts as a neighbour.
    fn add(&self, items: &mut Items, joint: Joint, occur: Option<Occur>, clause: Option<Clause>) {
        let requires = self.options.operator == Operator::All;
        if let Some((last, _)) = items.last_mut().filter(|(last, _)| *last != Occur::Not) {
            match joint {
                Joint::And => *last = Occur::Must,
                Joint::Or if requires => *last = Occur::Should,
                _ => {}
            }
        }
        let Some(clause) = clause else { return };
        let occur = match occur {
            Some(occur) => occur,
            None if requires && joint != Joint::Or || joint == Joint::And => Occur::Must,
            None => Occur::Should,
        };
        items.push((occur, clause));
    }

    /// Reads one clause. None if it has no word.
    fn clause(&mut self, fields: &[Weighted], depth: usize) -> Result<Option<Clause>, Refusal> {
        if let Some(name) = self.field_name() {
            return self.in_field(&name, fields, depth);
        }
        self.value(fields, depth, false)
    }

    /// Reads what stands behind a field's name.
    fn in_field(
        &mut self,
        name: &str,
        fields: &[Weighted],
        depth: usize,
    ) -> Result<Option<Clause>, Refusal> {
        match name {
            "*" => return self.value(fields, depth, true),
            "_exists_" => {
                let field = unescaped(self.word()?).into_owned();
                return self.asked.existing(&field).map(Some);
            }
            ID => return self.value(&[(name.to_owned(), 1.0)], depth, true),
            _ => {}
        }
        let named: Vec<Weighted> =
            self.asked.fields(name).into_iter().map(|name| (name, 1.0)).collect();
        if self.rest.starts_with('*') && self.rest[1..].starts_with(|c: char| c.is_whitespace())
            || self.rest == "*"
        {
            self.rest = &self.rest[1..];
            return self.asked.existing(name).map(Some);
        }
        self.value(&named, depth, true)
    }

    /// Reads a group, a phrase, a range, an expression or a word, with its factor. Behind a
    /// field's name it may begin with a comparison.
    fn value(
        &mut self,
        fields: &[Weighted],
        depth: usize,
        named: bool,
    ) -> Result<Option<Clause>, Refusal> {
        let clause = match self.rest.chars().next() {
            None => return Err(self.wrong()),
            Some('(') => {
                self.takes("(");
                let items = self.list(fields, depth, true)?;
                grouped(items, 0)
            }
            Some('"') => self.phrase(fields)?,
            Some('[' | '{') => Some(self.range(fields)?),
            Some('/') => Some(self.expression(fields)?),
            Some('<' | '>') if named => Some(self.comparison(fields)?),
            Some(_) => self.words(fields)?,
        };
        let boost = self.number('^')?;
        Ok(clause.map(|clause| boosted(clause, boost.flatten().unwrap_or(1.0))))
    }

    fn words(&mut self, fields: &[Weighted]) -> Result<Option<Clause>, Refusal> {
        let word = self.word()?;
        let how = &self.options.how;
        if let Some(edits) = self.number('~')? {
            let fuzziness = match edits {
                Some(edits) => Fuzziness::of(&edits.to_string())?,
                None => how.fuzzy.fuzziness,
            };
            return self.asked.fuzzy_at(fields, &unescaped(word), fuzziness, how).map(Some);
        }
        if word == "*" {
            return Ok(Some(Clause::Everything.constant(1.0)));
        }
        if has_pattern(word) {
            if self.no_leading_wildcard && word.starts_with(['*', '?']) {
                return Err(self.wrong());
            }
            return self.asked.pattern_at(fields, word, how).map(Some);
        }
        self.asked.word_at(fields, &unescaped(word), how)
    }

    fn phrase(&mut self, fields: &[Weighted]) -> Result<Option<Clause>, Refusal> {
        let text = unescaped(self.enclosed('"')?).into_owned();
        let slop = match self.number('~')? {
            Some(Some(slop)) => slop as u32,
            _ => self.options.slop,
        };
        let how = How { zero_terms_all: false, ..self.options.how.clone() };
        self.asked.phrase_at(fields, &text, &Phrase { slop, is_prefix: false, how })
    }

    fn expression(&mut self, fields: &[Weighted]) -> Result<Clause, Refusal> {
        let text = self.enclosed('/')?.replace("\\/", "/");
        let text = lucene::translated(&text, lucene::ALL_OPERATORS)?;
        self.asked.at_each(fields, &self.options.how, |field| {
            Ok(match self.asked.kind(field) {
                Some(FieldKind::Text(_) | FieldKind::Keyword) => {
                    Clause::Regex(Word { field: field.to_owned(), text: text.clone() })
                }
                _ => Clause::Nothing,
            })
        })
    }

    /// Reads `[a TO b]`, with `{` and `}` for ends that are out, and `*` for open ones.
    fn range(&mut self, fields: &[Weighted]) -> Result<Clause, Refusal> {
        let from_name = if self.takes("[") { "gte" } else { "gt" };
        self.rest = &self.rest[usize::from(from_name == "gt")..];
        let from = self.limit()?;
        if !self.takes_word("TO") {
            return Err(self.wrong());
        }
        let to = self.limit()?;
        let to_name = if self.takes("]") { "lte" } else { "lt" };
        if to_name == "lt" && !self.takes("}") {
            return Err(self.wrong());
        }
        self.between(fields, &[(from_name, from), (to_name, to)])
    }

    /// Reads one end of a range, with the blanks around it.
    fn limit(&mut self) -> Result<Option<String>, Refusal> {
        self.rest = self.rest.trim_start();
        let text = if self.rest.starts_with('"') {
            unescaped(self.enclosed('"')?).into_owned()
        } else {
            let end = self.rest.find(|c: char| c.is_whitespace() || "]}".contains(c));
            let (own, behind) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = behind;
            unescaped(own).into_owned()
        };
        self.rest = self.rest.trim_start();
        match &*text {
            "" => Err(self.wrong()),
            "*" => Ok(None),
            _ => Ok(Some(text)),
        }
    }

    /// Reads `>=a` and the others.
    fn comparison(&mut self, fields: &[Weighted]) -> Result<Clause, Refusal> {
        let signs = [(">=", "gte"), ("<=", "lte"), (">", "gt"), ("<", "lt")];
        let found = signs.into_iter().find(|(sign, _)| self.takes(sign));
        let (_, name) = found.ok_or_else(|| self.wrong())?;
        let value = match self.rest.starts_with('"') {
            true => self.enclosed('"')?,
            false => self.word()?,
        };
        self.between(fields, &[(name, Some(unescaped(value).into_owned()))])
    }

    fn between(
        &self,
        fields: &[Weighted],
        ends: &[(&str, Option<String>)],
    ) -> Result<Clause, Refusal> {
        let given = ends.iter().filter_map(|(name, value)| Some((*name, value.clone()?)));
        let zone = self.options.zone.clone().map(|zone| ("time_zone", zone));
        let members = given.chain(zone);
        let members = members.map(|(name, value)| (name.to_owned(), Json::String(value))).collect();
        let members = Json::Object(members);
        self.asked.at_each(fields, &self.options.how, |field| {
            self.asked.range(&Json::Object(vec![(field.to_owned(), members.clone())]))
        })
    }

    /// Removes a field's name and its colon from the front, if they are there.
    fn field_name(&mut self) -> Option<String> {
        let end = word_end(self.rest);
        let (name, behind) = self.rest.split_at(end);
        let behind = behind.strip_prefix(':').filter(|_| !name.is_empty())?;
        self.rest = behind.trim_start();
        Some(unescaped(name).into_owned())
    }

    /// Removes a word from the front.
    fn word(&mut self) -> Result<&'p str, Refusal> {
        let (word, behind) = self.rest.split_at(word_end(self.rest));
        if word.is_empty() {
            return Err(self.wrong());
        }
        self.rest = behind;
        Ok(word)
    }

    /// Removes a text between two marks from the front.
    fn enclosed(&mut self, mark: char) -> Result<&'p str, Refusal> {
        let text = &self.rest[1..];
        let mut escaped = false;
        let end = text.find(|c: char| {
            let is_end = c == mark && !escaped;
            escaped = c == '\\' && !escaped;
            is_end
        });
        let end = end.ok_or_else(|| self.wrong())?;
        self.rest = &text[end + 1..];
        Ok(&text[..end])
    }

    /// Removes a sign and the number behind it from the front. None without the sign.
    fn number(&mut self, sign: char) -> Result<Option<Option<f32>>, Refusal> {
        let Some(behind) = self.rest.strip_prefix(sign) else { return Ok(None) };
        let end = behind.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, behind) = behind.split_at(end.unwrap_or(behind.len()));
        self.rest = behind;
        if number.is_empty() {
            return if sign == '^' { Err(self.wrong()) } else { Ok(Some(None)) };
        }
        let number = number.parse().ok().filter(|number: &f32| number.is_finite());
        number.map(|number| Some(Some(number))).ok_or_else(|| self.wrong())
    }

    fn takes(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Removes an operator from the front that is a word of its own.
    fn takes_word(&mut self, word: &str) -> bool {
        let behind = self.rest.strip_prefix(word);
        let behind = behind.filter(|behind| word_end(behind) == 0 && !behind.starts_with(':'));
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }
}

/// Returns where a word ends: at a blank or a sign that is not escaped.
fn word_end(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|c: char| {
        let is_end = !escaped && (c.is_whitespace() || ENDS.contains(c));
        escaped = c == '\\' && !escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

/// True if a word has a `*` or `?` that is not escaped.
fn has_pattern(word: &str) -> bool {
    let mut escaped = false;
    word.chars().any(|c| {
        let is_sign = !escaped && matches!(c, '*' | '?');
        escaped = c == '\\' && !escaped;
        is_sign
    })
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        out.push(if c == '\\' { rest.next().unwrap_or(c) } else { c });
    }
    Cow::Owned(out)
}

/// Combines clauses; none without any. Nothing but excluded ones leave all other documents.
fn grouped(mut items: Items, minimum: usize) -> Option<Clause> {
    if let [(Occur::Must | Occur::Should, _)] = *items {
        return items.pop().map(|(_, clause)| clause);
    }
    if items.is_empty() {
        return None;
    }
    let mut group = Bool::default();
    for (occur, clause) in items {
        match occur {
            Occur::Must => group.must.push(clause),
            Occur::Should => group.should.push(clause),
            Occur::Not => group.not.push(clause),
        }
    }
    if group.must.is_empty() && group.should.is_empty() {
        group.must.push(Clause::Everything.constant(1.0));
    }
    group.minimum = u32::try_from(minimum).unwrap_or(u32::MAX);
    Some(Clause::Bool(group))
}
