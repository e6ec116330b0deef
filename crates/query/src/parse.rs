//! The query language: words, `AND` `OR` `NOT` `+` `-`, grouping, `field:word`, `key:VALUE`, `*`.
//!
//! Recursive descent with a depth limit; words go through the index's own analyzer, so `Don't` asks for what
//! was indexed for it. A word that has several terms asks for all of them (a phrase needs positions; see the
//! limits in the README). `AND` binds more tightly than `OR`. Parsing allocates nothing.
//!
//! ```text
//! query   = or
//! or      = and { "OR" and }
//! and     = clauses { "AND" clauses }
//! clauses = clause { clause }
//! clause  = [ "+" | "-" | "NOT" ] primary
//! primary = "(" or ")" | "*" | [ field ":" ] word | "key" ":" value
//! ```

use std::fmt;

use spirit_index::term::FieldId;
use spirit_text::Tokenizer;

use crate::query::{DEPTH_MAX, Kind, NONE, Node, NodeId, Occur, Query, TooLarge};

/// What two neighbouring words without an operator mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Either.
    #[default]
    Or,
    /// Both.
    And,
}

/// The text is no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The column at fault, in characters, from 1.
    pub column: usize,
    /// The byte at fault, from 0.
    pub offset: usize,
    /// What was wrong.
    pub problem: Problem,
}

/// What was wrong with a query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Something else was expected.
    Expected(&'static str),
    /// There is no such field.
    UnknownField,
    /// The language has this, the engine does not yet.
    Unsupported(&'static str),
    /// It is too large.
    TooLarge(TooLarge),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: ", self.column)?;
        match &self.problem {
            Problem::Expected(what) => write!(f, "expected {what}"),
            Problem::UnknownField => f.write_str("no such field: fields are `text` and `key`"),
            Problem::Unsupported(what) => write!(f, "{what} not supported by this version"),
            Problem::TooLarge(limit) => write!(f, "the query is too large: {limit}"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Parses queries for an index.
pub struct Parser {
    tokenizer: Tokenizer,
    operator: Operator,
}

impl Parser {
    /// A parser that cuts words with `tokenizer`.
    pub fn new(tokenizer: Tokenizer, operator: Operator) -> Parser {
        Parser { tokenizer, operator }
    }

    /// Parses `text` into `query`, whose memory is used again. Empty text matches nothing.
    pub fn parse_into(&mut self, text: &str, query: &mut Query) -> Result<(), ParseError> {
        query.clear();
        let mut run = Run { parser: self, text, at: 0, depth: 0, query };
        let parsed = run.query();
        let offset = run.at;
        parsed.map_err(|problem| {
            query.clear();
            let offset = offset.min(text.len());
            ParseError { column: text[..offset].chars().count() + 1, offset, problem }
        })
    }

    /// Parses `text` into a new query.
    pub fn parse(&mut self, text: &str) -> Result<Query, ParseError> {
        let mut query = Query::new();
        self.parse_into(text, &mut query).map(|()| query)
    }
}

struct Run<'a> {
    parser: &'a mut Parser,
    text: &'a str,
    at: usize,
    depth: usize,
    query: &'a mut Query,
}

/// A list of sibling nodes while it is being built.
#[derive(Clone, Copy)]
struct Siblings {
    first: NodeId,
    last: NodeId,
    count: usize,
}

const NO_SIBLINGS: Siblings = Siblings { first: NONE, last: NONE, count: 0 };

type Parsed<T> = Result<T, Problem>;

impl From<TooLarge> for Problem {
    fn from(limit: TooLarge) -> Problem {
        Problem::TooLarge(limit)
    }
}

impl<'a> Run<'a> {
    fn query(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(());
        }
        let root = self.or()?;
        if !self.rest().is_empty() {
            return Err(Problem::Expected("a word, or the end of the query"));
        }
        self.query.root = root;
        Ok(())
    }

    fn or(&mut self) -> Parsed<NodeId> {
        let first = self.and()?;
        if !self.take_word("OR") {
            return Ok(first);
        }
        let mut list = NO_SIBLINGS;
        self.append(&mut list, first, Occur::Should);
        loop {
            let next = self.and()?;
            self.append(&mut list, next, Occur::Should);
            if !self.take_word("OR") {
                return self.group(list);
            }
        }
    }

    fn and(&mut self) -> Parsed<NodeId> {
        let first = self.clauses()?;
        if !self.take_word("AND") {
            return self.group(first);
        }
        let mut list = NO_SIBLINGS;
        self.join(&mut list, first)?;
        loop {
            let next = self.clauses()?;
            self.join(&mut list, next)?;
            if !self.take_word("AND") {
                return self.group(list);
            }
        }
    }

    /// Adds an operand of `AND`: `NOT x` stays a negation of the whole, anything else must match.
    fn join(&mut self, list: &mut Siblings, operand: Siblings) -> Parsed<()> {
        let single = operand.count == 1;
        let negated = single && self.query.nodes[operand.first as usize].occur == Occur::Not;
        let node = if negated { operand.first } else { self.group(operand)? };
        self.append(list, node, if negated { Occur::Not } else { Occur::Must });
        Ok(())
    }

    fn clauses(&mut self) -> Parsed<Siblings> {
        let mut list = NO_SIBLINGS;
        loop {
            let (node, occur) = self.clause()?;
            self.append(&mut list, node, occur);
            if self.rest().is_empty() || self.rest().starts_with(')') {
                return Ok(list);
            }
            if self.at_word("AND") || self.at_word("OR") {
                return Ok(list);
            }
        }
    }

    fn clause(&mut self) -> Parsed<(NodeId, Occur)> {
        let plain = match self.parser.operator {
            Operator::Or => Occur::Should,
            Operator::And => Occur::Must,
        };
        let occur = if self.take('+') {
            Occur::Must
        } else if self.take('-') || self.take_word("NOT") {
            Occur::Not
        } else {
            plain
        };
        Ok((self.primary()?, occur))
    }

    fn primary(&mut self) -> Parsed<NodeId> {
        if self.at_word("AND") || self.at_word("OR") {
            return Err(Problem::Expected("a word before the operator"));
        }
        match self.rest().chars().next() {
            None => Err(Problem::Expected("a word")),
            Some('(') => self.parenthesis(),
            Some(')') => Err(Problem::Expected("a word, not `)`")),
            Some('"') => Err(Problem::Unsupported("phrases are")),
            Some('[' | '{') => Err(Problem::Unsupported("ranges are")),
            Some('+' | '-') => Err(Problem::Expected("a word after `+` or `-`")),
            Some(_) => self.word(),
        }
    }

    fn parenthesis(&mut self) -> Parsed<NodeId> {
        if self.depth == DEPTH_MAX {
            return Err(TooLarge::Depth { max: DEPTH_MAX }.into());
        }
        self.depth += 1;
        self.take('(');
        let inside = self.or()?;
        if !self.take(')') {
            return Err(Problem::Expected("`)`"));
        }
        self.depth -= 1;
        Ok(inside)
    }

    fn word(&mut self) -> Parsed<NodeId> {
        let start = self.at;
        let word = self.take_until_space();
        let (field, value) = match word.find(':').map(|i| (&word[..i], &word[i + 1..])) {
            Some((field, value)) if is_name(field) => (Some(field), value),
            _ => (None, word),
        };
        let kind = match field {
            Some("key") if !value.is_empty() => self.query.key(value.as_bytes())?,
            None | Some("text") if value == "*" => Kind::Everything,
            None | Some("text") if !value.is_empty() => return self.terms(start, value),
            Some("key" | "text") => return Err(Problem::Expected("a value after `:`")),
            _ => {
                self.at = start;
                return Err(Problem::UnknownField);
            }
        };
        self.leaf(kind)
    }

    /// The terms of a word: usually one.
    fn terms(&mut self, start: usize, word: &str) -> Parsed<NodeId> {
        if word.ends_with('*') {
            self.at = start;
            return Err(Problem::Unsupported("prefixes are"));
        }
        let mut list = NO_SIBLINGS;
        let mut result = Ok(());
        let query = &mut *self.query;
        let cut = self.parser.tokenizer.for_each(word, |token| {
            if result.is_ok() {
                result = query
                    .term(FieldId(0), token.bytes())
                    .and_then(|kind| query.push(leaf(kind)))
                    .map(|node| link(query, &mut list, node, Occur::Must));
            }
        });
        if cut.is_err() {
            return Err(TooLarge::Bytes { max: self.parser.tokenizer.document_bytes_max() }.into());
        }
        result?;
        if list.count == 0 { self.leaf(Kind::Nothing) } else { self.group(list) }
    }

    fn leaf(&mut self, kind: Kind) -> Parsed<NodeId> {
        Ok(self.query.push(leaf(kind))?)
    }

    fn append(&mut self, list: &mut Siblings, node: NodeId, occur: Occur) {
        link(self.query, list, node, occur);
    }

    /// One node for a list: its only member if that is a plain one.
    fn group(&mut self, list: Siblings) -> Parsed<NodeId> {
        if list.count == 1 && self.query.nodes[list.first as usize].occur != Occur::Not {
            return Ok(list.first);
        }
        let node =
            Node { kind: Kind::Clauses, occur: Occur::Should, child: list.first, next: NONE };
        Ok(self.query.push(node)?)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
            self.skip_space();
        }
        found
    }

    fn at_word(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| {
            after.is_empty() || after.starts_with(|c: char| ends_word(c) || c == '(')
        })
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += word.len();
            self.skip_space();
        }
        found
    }

    fn take_until_space(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.find(ends_word).unwrap_or(rest.len());
        self.at += len;
        self.skip_space();
        &rest[..len]
    }
}

fn leaf(kind: Kind) -> Node {
    Node { kind, occur: Occur::Must, child: NONE, next: NONE }
}

fn link(query: &mut Query, list: &mut Siblings, node: NodeId, occur: Occur) {
    query.nodes[node as usize].occur = occur;
    if list.count == 0 {
        list.first = node;
    } else {
        query.nodes[list.last as usize].next = node;
    }
    list.last = node;
    list.count += 1;
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"')
}

/// Whether what stands before a colon is a field's name; else (`10:30`, a URL) the colon belongs to the word.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(text, "http" | "https" | "ftp" | "mailto")
}
