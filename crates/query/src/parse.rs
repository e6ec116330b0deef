//! The query language, and its parser.
//!
//! Recursive descent with a depth limit. Words go through the index's own analyzer, so `Don't`
//! finds its indexed terms. A word with several terms is a phrase of them. `AND` binds more tightly
//! than juxtaposition, and that more tightly than `OR`.
//!
//! ```text
//! query   = or
//! or      = clauses { ("OR" | "||") clauses }
//! clauses = and { and }
//! and     = clause { ("AND" | "&&") clause }
//! clause  = [ "+" | "-" | "NOT" | "!" ] primary [ "^" number | "^=" number ]
//! primary = [ field ":" ] ( group | phrase | regex | word | "*" )
//!         | field ":" ( range | set )
//!         | "key" ":" value
//! range   = ( "[" | "{" ) end "TO" end ( "]" | "}" ) | ( ">" | ">=" | "<" | "<=" ) value
//! end     = value | "*"
//! set     = "IN" "[" { value } "]"
//! group   = "(" or ")" [ "~" number ]
//! phrase  = '"' words '"' [ "~" number | "*" ]
//! regex   = "/" expression "/"
//! word    = characters, `\` before one that stands for itself; with "*" or "?" a pattern;
//!           [ "~" [ number ] ]
//! ```
//!
//! A `value` is a word, or a text in quotation marks. In a field of numbers, moments or booleans it
//! is written as [its kind](spirit_schema::typed) requires. `[` and `]` are ends that belong to the
//! range, `{` and `}` do not. `field:*` finds any value.
//!
//! Words, phrases and patterns without a field's name are looked for in all fields of text, and
//! count where they count most. `text:` before them asks for the text alone.
//!
//! `^2` multiplies a clause's score, and `^=2` makes it 2. `(a b c)~2` finds two of the three.
//! `"a b"~3` finds words moved by at most three places. `word~1` finds words within one edit,
//! `word~` within two. The last word of `"a b"*` is a prefix.
//!
//! **Strict and lenient.** A strict parser stops at the first error, and returns its place and what
//! was expected. A lenient one never fails. It skips an erroneous part, or takes it as a word, and
//! returns the errors as warnings. It is for text that people type.

mod each_field;
mod expression;
mod grammar;
mod marks;
mod pasted;
mod pattern;
mod range;
mod scan;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;
use std::sync::Arc;

use spirit_schema::{Field, FieldKind, Schema};
use spirit_text::Tokenizer;

use crate::problem::Problem;
use crate::query::{Query, TooLarge};
use crate::words::LONGER_BYTES;
use grammar::Parse;
pub(crate) use marks::is_mark;

/// The meaning of two neighbouring words without an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// One of them suffices.
    #[default]
    Or,
    /// Both must match.
    And,
}

/// The error of a text that is not a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The column of the error, in characters, from 1.
    pub column: usize,
    /// The byte offset of the error, from 0.
    pub offset: usize,
    /// The problem.
    pub problem: Problem,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.problem)
    }
}

impl std::error::Error for ParseError {}

/// A parser of queries for an index.
pub struct Parser {
    schema: Arc<Schema>,
    /// A tokenizer for each analyzer of a field.
    tokenizers: Vec<Tokenizer>,
    text_bytes_max: usize,
    operator: Operator,
    has_positions: bool,
    /// The number of fields in which words without a field's name are looked for, at most.
    fields_max: usize,
    /// A buffer for a word without its escapes, at most as long as a query's text.
    word: String,
}

impl Parser {
    /// Returns a parser of texts of at most `text_bytes_max` bytes, for documents with the fields
    /// of `schema`.
    pub fn new(schema: Arc<Schema>, text_bytes_max: usize, operator: Operator) -> Parser {
        let mut parser = Parser {
            schema: schema.clone(),
            tokenizers: Vec::new(),
            text_bytes_max,
            operator,
            has_positions: true,
            fields_max: usize::MAX,
            word: String::with_capacity(WORD_BYTES),
        };
        parser.renew(schema);
        parser
    }

    /// Adapts the parser to an index without positions. A word with several terms requires all of
    /// them, in any place.
    pub fn without_positions(mut self) -> Parser {
        self.has_positions = false;
        self
    }

    /// Sets the meaning of two neighbouring words without an operator.
    pub fn default_operator(&mut self, operator: Operator) {
        self.operator = operator;
    }

    /// Looks for words without a field's name only in the first `fields` fields of the schema. So a
    /// later page has the query of the first one, though fields were added meanwhile.
    pub fn within_fields(&mut self, fields: Option<usize>) {
        self.fields_max = fields.unwrap_or(usize::MAX);
    }

    /// Returns the fields in which words without a field's name are looked for, if they hold text.
    pub fn fields(&self) -> &[Field] {
        let fields = self.schema.fields();
        &fields[..fields.len().min(self.fields_max)]
    }

    /// Replaces the schema by `schema`, which has grown.
    pub fn renew(&mut self, schema: Arc<Schema>) {
        for field in schema.fields() {
            let FieldKind::Text(analyzer) = field.kind else { continue };
            if !self.tokenizers.iter().any(|known| known.analyzer() == analyzer) {
                let bytes_max = self.text_bytes_max + LONGER_BYTES;
                self.tokenizers.push(Tokenizer::new(analyzer, bytes_max));
            }
        }
        self.schema = schema;
    }

    /// Returns the schema of the fields known.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Parses `text` into `query`, whose memory is reused. An empty text matches nothing.
    pub fn parse_into(&mut self, text: &str, query: &mut Query) -> Result<(), ParseError> {
        let mut run = Parse::new(self, text, query, None);
        let parsed = run.fits().and_then(|()| run.query());
        let offset = run.at;
        let parsed = parsed.and_then(|()| self.settle(query));
        parsed.map_err(|problem| {
            query.clear();
            ParseError::new(text, offset, problem)
        })
    }

    /// Like [`parse_into`](Self::parse_into), but skips errors, or takes them as words. Returns the
    /// errors, at most 64.
    pub fn parse_lenient_into(&mut self, text: &str, query: &mut Query) -> Vec<ParseError> {
        let mut warnings = Vec::new();
        let mut run = Parse::new(self, text, query, Some(&mut warnings));
        let parsed = run.fits().and_then(|()| run.query());
        run.or_verbatim();
        let offset = run.at;
        if let Err(problem) = parsed {
            // A query that is too large keeps its clauses so far. A text that is too long has none.
            warnings.truncate(WARNINGS_MAX - 1);
            warnings.push(ParseError::new(text, offset, problem));
        }
        if let Err(problem) = self.settle(query) {
            warnings.truncate(WARNINGS_MAX - 1);
            warnings.push(ParseError::new(text, offset, problem));
        }
        warnings
    }

    /// Settles a tree that is whole.
    fn settle(&self, query: &mut Query) -> Result<(), Problem> {
        query.settle();
        if self.has_positions {
            query.bind_objects(&self.schema)?;
        }
        Ok(())
    }

    /// True unless it was [made for an index without positions](Self::without_positions).
    pub fn has_positions(&self) -> bool {
        self.has_positions
    }

    /// Parses `text` into a new query.
    pub fn parse(&mut self, text: &str) -> Result<Query, ParseError> {
        let mut query = Query::new();
        self.parse_into(text, &mut query).map(|()| query)
    }

    /// Like [`parse`](Self::parse), but lenient.
    pub fn parse_lenient(&mut self, text: &str) -> (Query, Vec<ParseError>) {
        let mut query = Query::new();
        let warnings = self.parse_lenient_into(text, &mut query);
        (query, warnings)
    }
}

impl ParseError {
    fn new(text: &str, offset: usize, problem: Problem) -> ParseError {
        let offset = offset.min(text.len());
        ParseError { column: text[..offset].chars().count() + 1, offset, problem }
    }
}

/// Warnings of a lenient parser for one text, at most: nobody reads more.
const WARNINGS_MAX: usize = 64;
/// Bytes of a word that there is room for at first.
const WORD_BYTES: usize = 1024;

impl From<TooLarge> for Problem {
    fn from(limit: TooLarge) -> Problem {
        Problem::TooLarge(limit.to_string())
    }
}
