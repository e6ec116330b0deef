//! Regular expressions in a query's text: `/her(on|ring)s?/`.
//!
//! A slash begins one only where a clause or a field's value begins. The next slash without a `\\`
//! ends it, and then the clause must end too. So `/var/log` and URLs are words. Terms of a text have
//! no blanks, so neither has an expression there. A lenient parser takes `/tmp/` for a path, since
//! it has no operator of expressions, and so does a strict one if the analyzer cuts it.

use super::grammar::{Parse, Parsed};
use super::marks::{ends_word, unescaped_end};
use super::value::split_boost;
use crate::expression::{Expression, has_operator};
use crate::limits::EXPRESSIONS_BYTES_MAX;
use crate::problem::Problem;
use crate::query::{Kind, NodeId, TooLarge};
use crate::target::Target;

const CUT: Problem = Problem::Expected(
    "an expression for one word: the analyzer cuts words at a character that this one requires",
);

impl<'a> Parse<'a> {
    /// Parses the expression that begins here, and its boost. `None` if none begins here, or if a
    /// lenient parser takes it for a word. `is_named` is true behind a field's name.
    pub(super) fn regex(&mut self, field: Target, is_named: bool) -> Parsed<Option<NodeId>> {
        let Some(raw) = self.in_slashes(field) else { return Ok(None) };
        let may_be_path = !is_named && !has_operator(raw);
        if may_be_path && self.is_lenient() {
            return Ok(None);
        }
        if !self.is_repeating {
            self.expression_bytes += raw.len();
        }
        if self.expression_bytes > EXPRESSIONS_BYTES_MAX {
            let limit = TooLarge::Expressions { max: EXPRESSIONS_BYTES_MAX };
            return self.complain(self.at, limit.into()).map(|()| None);
        }
        let start = self.at + 1;
        match self.regex_kind(field, raw) {
            Ok(kind) => {
                self.at = start + raw.len() + 1;
                let node = self.leaf(kind)?;
                self.boosted(node).map(Some)
            }
            Err(limit @ Problem::TooLarge(_)) => Err(limit),
            Err(CUT) if may_be_path => Ok(None),
            Err(problem) => {
                let at = if let Problem::Expression { at, .. } = problem { at } else { 0 };
                self.complain(start + at, problem).map(|()| None)
            }
        }
    }

    fn regex_kind(&mut self, field: Target, raw: &str) -> Parsed<Kind> {
        if let Some((at, kind, pattern)) = self.last_expression
            && (at, kind) == (self.at, field.kind)
        {
            return Ok(self.query.pattern_again(field.id, pattern)?);
        }
        let expression = Expression::new(field, raw)?;
        if !self.is_of_terms(field, &expression) {
            return Err(CUT);
        }
        let kind = self.query.regex(field.id, &expression)?;
        if let Kind::Pattern(pattern) = kind {
            self.last_expression = Some((self.at, field.kind, pattern));
        }
        Ok(kind)
    }

    /// Returns the text between the slash here and the one that ends the clause; `None` if a word
    /// begins here.
    fn in_slashes(&self, field: Target) -> Option<&'a str> {
        let inside = self.rest().strip_prefix('/').filter(|_| field.has_words())?;
        let ends = |c: char| c == '/' || !field.is_verbatim() && c.is_whitespace();
        let end = unescaped_end(inside, ends).filter(|end| *end > 0)?;
        let behind = inside[end..].strip_prefix('/')?;
        let is_end = |c: char| c.is_whitespace() || c == ')';
        let word = &behind[..unescaped_end(behind, ends_word).unwrap_or(behind.len())];
        let is_boost = || matches!(split_boost(word), ("", Some(_)));
        (behind.is_empty() || behind.starts_with(is_end) || is_boost()).then(|| &inside[..end])
    }

    /// True unless an expression requires a character at which the field's analyzer cuts words. Such
    /// an expression would match nothing.
    fn is_of_terms(&mut self, field: Target, expression: &Expression<'_>) -> bool {
        let mut others = String::new();
        expression.each_required(|c| {
            if !c.is_alphanumeric() && !others.contains(c) {
                others.push(c);
            }
        });
        others.chars().all(|c| {
            let around = [("x", "x"), ("1", "1"), ("", "x"), ("x", "")];
            let mut words = around.iter().map(|(before, behind)| format!("{before}{c}{behind}"));
            words.any(|word| self.one_word(field, &word) == Some(0..word.len()))
        })
    }
}
