//! How clauses make up a query: operators, signs, parentheses.

use super::{Operator, ParseError, Parser, Problem, WARNINGS_MAX};
use crate::query::{DEPTH_MAX, Kind, NONE, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::target::Target;

/// A text on its way to be a query.
pub(super) struct Run<'a> {
    pub(super) parser: &'a mut Parser,
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    /// The last node that parentheses or the brackets of a set were closed around.
    pub(super) closed: NodeId,
    /// The field that words without one are asked for in.
    pub(super) field: Target,
    pub(super) query: &'a mut Query,
    /// Where a lenient parser says what it passes over.
    warnings: Option<&'a mut Vec<ParseError>>,
}

pub(super) type Parsed<T> = Result<T, Problem>;

impl<'a> Run<'a> {
    pub(super) fn new(
        parser: &'a mut Parser,
        text: &'a str,
        query: &'a mut Query,
        warnings: Option<&'a mut Vec<ParseError>>,
    ) -> Run<'a> {
        query.clear();
        let field = Target::text(parser.schema.analyzer());
        Run { parser, text, at: 0, depth: 0, closed: NONE, field, query, warnings }
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.warnings.is_some()
    }

    /// Something at `offset` cannot be understood. A strict parser stops; a lenient one notes it, and its caller goes on.
    pub(super) fn complain(&mut self, offset: usize, problem: Problem) -> Parsed<()> {
        let Some(warnings) = &mut self.warnings else {
            self.at = offset;
            return Err(problem);
        };
        if warnings.len() < WARNINGS_MAX {
            warnings.push(ParseError::new(self.text, offset, problem));
        }
        Ok(())
    }

    /// A text that is longer than the parser takes is not looked at.
    pub(super) fn fits(&self) -> Parsed<()> {
        let max = self.parser.text_bytes_max;
        if self.text.len() > max { Err(TooLarge::Text { max }.into()) } else { Ok(()) }
    }

    pub(super) fn query(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(());
        }
        self.query.root = self.or()?;
        // What stands between parentheses that nothing opened is of one depth, however many there are.
        let mut list = Siblings::default();
        while !self.rest().is_empty() {
            self.complain(self.at, Problem::Expected("a word, or the end of the query"))?;
            while self.take(')') {}
            if self.rest().is_empty() {
                break;
            }
            if list.count == 0 {
                let first = self.query.root;
                self.query.link(&mut list, first, Occur::Should);
                self.query.root = self.query.push(Node::parent(Kind::CLAUSES, first))?;
            }
            let next = self.or()?;
            self.query.link(&mut list, next, Occur::Should);
        }
        Ok(())
    }

    fn or(&mut self) -> Parsed<NodeId> {
        let first = self.and()?;
        if !self.take_or() {
            return Ok(first);
        }
        let mut list = Siblings::default();
        self.query.link(&mut list, first, Occur::Should);
        loop {
            let next = self.and()?;
            self.query.link(&mut list, next, Occur::Should);
            if !self.take_or() {
                return Ok(self.query.group(list)?);
            }
        }
    }

    fn and(&mut self) -> Parsed<NodeId> {
        let first = self.clauses()?;
        if !self.take_and() {
            return self.gather(first);
        }
        let mut list = Siblings::default();
        self.join(&mut list, first)?;
        loop {
            let next = self.clauses()?;
            self.join(&mut list, next)?;
            if !self.take_and() {
                return self.gather(list);
            }
        }
    }

    /// Adds an operand of `AND`: `NOT x` stays a negation of the whole, anything else must match.
    fn join(&mut self, list: &mut Siblings, operand: Siblings) -> Parsed<()> {
        let single = operand.count == 1;
        let negated = single && self.query.nodes[operand.first as usize].occur == Occur::Not;
        let node = if negated { operand.first } else { self.gather(operand)? };
        let occur = if negated { Occur::Not } else { Occur::Must };
        self.query.link(list, node, occur);
        Ok(())
    }

    fn clauses(&mut self) -> Parsed<Siblings> {
        let mut list = Siblings::default();
        loop {
            match self.clause() {
                Ok(Some((node, occur))) => self.query.link(&mut list, node, occur),
                Ok(None) => {}
                Err(problem) if self.is_lenient() => {
                    // It is too large: what there is of it counts.
                    self.complain(self.at, problem)?;
                    self.at = self.text.len();
                }
                Err(problem) => return Err(problem),
            }
            if self.rest().is_empty() || self.rest().starts_with(')') || self.at_operator() {
                return Ok(list);
            }
        }
    }

    fn clause(&mut self) -> Parsed<Option<(NodeId, Occur)>> {
        let plain = match self.parser.operator {
            Operator::Or => Occur::Should,
            Operator::And => Occur::Must,
        };
        let occur = if self.take_sign('+') {
            Occur::Must
        } else if self.take_sign('-') || self.take_sign('!') || self.take_word("NOT") {
            Occur::Not
        } else {
            plain
        };
        Ok(self.primary()?.map(|node| (node, occur)))
    }

    /// A word, a phrase or a group; nothing where a lenient parser finds none of them.
    fn primary(&mut self) -> Parsed<Option<NodeId>> {
        let at = self.at;
        if self.at_operator() {
            self.complain(at, Problem::Expected("a word before the operator"))?;
            let _ = self.take_or() || self.take_and();
            return Ok(None);
        }
        match self.rest().chars().next() {
            None => self.complain(at, Problem::Expected("a word"))?,
            // Whoever opened it closes it.
            Some(')') => self.complain(at, Problem::Expected("a word, not `)`"))?,
            Some(sign @ ('+' | '-' | '!')) => {
                self.complain(at, Problem::Expected("a word after `+` or `-`"))?;
                self.take(sign);
            }
            Some('(') => return self.parenthesis().map(Some),
            Some('"') => return self.phrase(self.field).map(Some),
            Some(_) => return self.word().map(Some),
        }
        Ok(None)
    }

    pub(super) fn parenthesis(&mut self) -> Parsed<NodeId> {
        if self.depth == DEPTH_MAX {
            return Err(TooLarge::Depth { max: DEPTH_MAX }.into());
        }
        self.depth += 1;
        self.take('(');
        let inside = self.or()?;
        if self.rest().starts_with(')') {
            self.at += 1;
        } else {
            self.complain(self.at, Problem::Expected("`)`"))?;
        }
        self.depth -= 1;
        let node = match self.take_number('~')? {
            Some(minimum) => self.at_least(inside, minimum)?,
            None => inside,
        };
        self.closed = node;
        self.boosted(node)
    }

    /// A group of which so many clauses must match: that of these clauses, or one around what is a clause by itself.
    fn at_least(&mut self, inside: NodeId, count: u32) -> Parsed<NodeId> {
        match &mut self.query.nodes[inside as usize].kind {
            Kind::Clauses { minimum } if inside != self.closed => {
                *minimum = count;
                Ok(inside)
            }
            _ => {
                let group = Kind::Clauses { minimum: count };
                Ok(self.query.push(Node::parent(group, inside))?)
            }
        }
    }

    /// One node for a list; a lenient parser may have found nothing to put into it.
    fn gather(&mut self, list: Siblings) -> Parsed<NodeId> {
        if list.count == 0 { self.leaf(Kind::Nothing) } else { Ok(self.query.group(list)?) }
    }
}
