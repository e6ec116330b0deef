//! The grammar of queries: operators, signs, parentheses.

use spirit_schema::FieldKind;

use super::marks::is_quote;
use super::{Operator, ParseError, Parser, WARNINGS_MAX};
use crate::problem::Problem;
use crate::query::{DEPTH_MAX, Kind, NONE, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::target::Target;

/// The parse of one text, under way.
pub(super) struct Parse<'a> {
    pub(super) parser: &'a mut Parser,
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    /// The last node in parentheses or in the brackets of a set.
    pub(super) closed: NodeId,
    /// The last group of juxtaposed clauses without signs.
    beside: NodeId,
    /// Bytes of the regular expressions so far, with those that a lenient parser took as text.
    pub(super) expression_bytes: usize,
    /// The place of the last regular expression, the kind of its field, and its pattern.
    pub(super) last_expression: Option<(usize, FieldKind, u32)>,
    /// The field of the group here, `field:(…)`. Outside, words are looked for in all fields of text.
    pub(super) field: Option<Target>,
    /// True once a clause asks for a field by its name, or for a key.
    pub(super) asks_for_fields: bool,
    /// True while words are read once more, for another field: their errors are known.
    pub(super) is_repeating: bool,
    pub(super) query: &'a mut Query,
    /// The warnings of a lenient parser.
    warnings: Option<&'a mut Vec<ParseError>>,
}

pub(super) type Parsed<T> = Result<T, Problem>;

impl<'a> Parse<'a> {
    pub(super) fn new(
        parser: &'a mut Parser,
        text: &'a str,
        query: &'a mut Query,
        warnings: Option<&'a mut Vec<ParseError>>,
    ) -> Parse<'a> {
        query.clear();
        Parse {
            parser,
            text,
            at: 0,
            depth: 0,
            closed: NONE,
            beside: NONE,
            expression_bytes: 0,
            last_expression: None,
            field: None,
            asks_for_fields: false,
            is_repeating: false,
            query,
            warnings,
        }
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.warnings.is_some()
    }

    /// Reports an error at `offset`. A strict parser fails. A lenient one adds a warning, and its
    /// caller goes on.
    pub(super) fn complain(&mut self, offset: usize, problem: Problem) -> Parsed<()> {
        let Some(warnings) = &mut self.warnings else {
            self.at = offset;
            return Err(problem);
        };
        if warnings.len() < WARNINGS_MAX && !self.is_repeating {
            warnings.push(ParseError::new(self.text, offset, problem));
        }
        Ok(())
    }

    /// Fails if the text is longer than the parser accepts.
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
        // Parts between unmatched closing parentheses are siblings, so any number of them is one
        // level deep. Terminates: each round takes a parenthesis or a clause.
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

    /// Parses clauses with `OR` between them, or with `|`, of which the best counts.
    fn or(&mut self) -> Parsed<NodeId> {
        let first = self.clauses()?;
        let is_best = self.at_bar();
        let take = if is_best { Self::take_bar } else { Self::take_or };
        if !take(self) {
            return self.gather(first);
        }
        let first = self.gather(first)?;
        let mut list = Siblings::default();
        self.query.link(&mut list, first, Occur::Should);
        // Invariant: `list` has all operands so far. Terminates: each round takes an operator.
        loop {
            let next = self.clauses()?;
            let next = self.gather(next)?;
            self.query.link(&mut list, next, Occur::Should);
            if !take(self) {
                break;
            }
        }
        if self.at_or() {
            let why = "the same operator between all: `OR` or `|`; put the others in parentheses";
            self.complain(self.at, Problem::Expected(why))?;
        }
        if !is_best {
            return Ok(self.query.group(list)?);
        }
        let kind = Kind::Clauses { minimum: 1 };
        Ok(self.query.push(Node { tie: Some(0.0), ..Node::parent(kind, list.first) })?)
    }

    /// Parses juxtaposed clauses.
    fn clauses(&mut self) -> Parsed<Juxtaposed> {
        let mut beside = Juxtaposed { list: Siblings::default(), has_signs: false };
        loop {
            match self.and() {
                Ok(Some((node, sign))) => {
                    beside.has_signs |= sign.is_some();
                    let occur = sign.unwrap_or(self.plain());
                    self.query.link(&mut beside.list, node, occur);
                }
                Ok(None) => {}
                Err(problem) if self.is_lenient() => {
                    // The query is too large. The clauses so far count.
                    self.complain(self.at, problem)?;
                    self.at = self.text.len();
                }
                Err(problem) => return Err(problem),
            }
            if self.rest().is_empty() || self.rest().starts_with(')') || self.at_or() {
                return Ok(beside);
            }
        }
    }

    /// Parses clauses joined by `AND`, which become one node. A single clause keeps its sign.
    fn and(&mut self) -> Parsed<Option<(NodeId, Option<Occur>)>> {
        let first = self.clause()?;
        if !self.take_and() {
            return Ok(first);
        }
        let mut list = Siblings::default();
        self.join(&mut list, first);
        loop {
            let next = self.operand()?;
            self.join(&mut list, next);
            if !self.take_and() {
                break;
            }
        }
        if list.count == 0 { Ok(None) } else { Ok(Some((self.query.group(list)?, None))) }
    }

    /// Parses an operand after `AND`. A lenient parser skips errors before it.
    fn operand(&mut self) -> Parsed<Option<(NodeId, Option<Occur>)>> {
        loop {
            let found = self.clause()?;
            if found.is_some() || self.rest().is_empty() || self.rest().starts_with(')') {
                return Ok(found);
            }
        }
    }

    /// Adds an operand of `AND`. It must match, unless it is excluded.
    fn join(&mut self, list: &mut Siblings, operand: Option<(NodeId, Option<Occur>)>) {
        let Some((node, sign)) = operand else { return };
        let occur = if sign == Some(Occur::Not) { Occur::Not } else { Occur::Must };
        self.query.link(list, node, occur);
    }

    /// Returns the role of a clause without a sign.
    fn plain(&self) -> Occur {
        match self.parser.operator {
            Operator::Or => Occur::Should,
            Operator::And => Occur::Must,
        }
    }

    /// Parses a clause and its sign, if it has one.
    fn clause(&mut self) -> Parsed<Option<(NodeId, Option<Occur>)>> {
        let sign = if self.take_sign('+') {
            Some(Occur::Must)
        } else if self.take_sign('-')
            || self.take_sign('!')
            || self.take_dash()
            || self.take_word("NOT")
        {
            Some(Occur::Not)
        } else {
            None
        };
        if sign.is_some() && self.at_word("NOT") {
            self.complain(self.at, Problem::Expected("a word or a group, not another `NOT`"))?;
            self.take_word("NOT");
        }
        Ok(self.primary()?.map(|node| (node, sign)))
    }

    /// Parses a word, a phrase or a group; `None` if a lenient parser finds none of them.
    fn primary(&mut self) -> Parsed<Option<NodeId>> {
        let at = self.at;
        if self.at_operator() {
            self.complain(at, Problem::Expected("a word before the operator"))?;
            let _ = self.take_or() || self.take_bar() || self.take_and();
            return Ok(None);
        }
        match self.rest().chars().next() {
            None => self.complain(at, Problem::Expected("a word"))?,
            // The caller that opened the parenthesis takes it.
            Some(')') => self.complain(at, Problem::Expected("a word, not `)`"))?,
            Some(sign @ ('+' | '-' | '!')) => {
                self.complain(at, Problem::Expected("a word after `+` or `-`"))?;
                self.take(sign);
            }
            Some('(') => return self.parenthesis().map(Some),
            Some(c) if is_quote(c) => return self.phrase_or_field().map(Some),
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
        let at = self.at;
        let is_best = inside != self.closed && self.query.nodes[inside as usize].tie.is_some();
        let node = if is_best {
            self.tied(inside)?
        } else {
            match self.take_number('~')? {
                Some(minimum) => self.at_least(at, inside, minimum)?,
                None => inside,
            }
        };
        self.closed = node;
        self.boosted(node)
    }

    /// Takes the factor of the lower scores behind a group of which the best counts.
    fn tied(&mut self, node: NodeId) -> Parsed<NodeId> {
        let Some(behind) = self.rest().strip_prefix('~') else { return Ok(node) };
        let is_part = |c: &char| c.is_ascii_digit() || *c == '.';
        let number: String = behind.chars().take_while(is_part).collect();
        let tie = number.parse().unwrap_or(f32::NAN);
        self.at += 1;
        match self.query.tie(node, tie) {
            Ok(()) => self.at += number.len(),
            Err(problem) => self.complain(self.at, problem)?,
        }
        Ok(node)
    }

    /// Returns a group of which at least `minimum` clauses must match. It is the group `inside`, or
    /// one around a node that is a clause itself. Juxtaposed clauses that must match only by the
    /// default operator become optional.
    fn at_least(&mut self, at: usize, inside: NodeId, minimum: u32) -> Parsed<NodeId> {
        let kind = Kind::Clauses { minimum };
        if !matches!(self.query.nodes[inside as usize].kind, Kind::Clauses { .. })
            || inside == self.closed
        {
            return Ok(self.query.push(Node::parent(kind, inside))?);
        }
        if inside == self.beside {
            self.query.let_each_match(inside);
        }
        if !self
            .query
            .children(inside)
            .any(|child| self.query.nodes[child as usize].occur == Occur::Should)
        {
            self.complain(at, Problem::Expected("optional clauses before `~`"))?;
            return Ok(inside);
        }
        self.query.nodes[inside as usize].kind = kind;
        Ok(inside)
    }

    /// Returns one node for juxtaposed clauses. A lenient parser may have found none.
    fn gather(&mut self, Juxtaposed { list, has_signs }: Juxtaposed) -> Parsed<NodeId> {
        if list.count == 0 {
            return self.leaf(Kind::Blank);
        }
        let node = self.query.group(list)?;
        if list.count > 1 && !has_signs {
            self.beside = node;
        }
        Ok(node)
    }
}

/// Clauses that stand side by side, without an operator between them.
struct Juxtaposed {
    list: Siblings,
    /// True if one of them has a sign.
    has_signs: bool,
}
