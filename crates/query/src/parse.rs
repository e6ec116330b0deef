//! The query language, and its parser.
//!
//! Recursive descent with a depth limit. Words go through the index's own analyzer, so `Don't` asks for what was indexed for it;
//! a word that has several terms asks for them as a phrase. `AND` binds more tightly than standing side by side, and that more tightly than `OR`.
//!
//! ```text
//! query   = or
//! or      = clauses { ("OR" | "||") clauses }
//! clauses = and { and }
//! and     = clause { ("AND" | "&&") clause }
//! clause  = [ "+" | "-" | "NOT" | "!" ] primary [ "^" number | "^=" number ]
//! primary = [ field ":" ] ( group | phrase | word | "*" ) | field ":" ( range | set ) | "key" ":" value
//! range   = ( "[" | "{" ) end "TO" end ( "]" | "}" ) | ( ">" | ">=" | "<" | "<=" ) value
//! end     = value | "*"
//! set     = "IN" "[" { value } "]"
//! group   = "(" or ")" [ "~" number ]
//! phrase  = '"' words '"' [ "~" number | "*" ]
//! word    = characters, `\` before one that stands for itself; with "*" or "?" a pattern; [ "~" [ number ] ]
//! ```
//!
//! A `value` is a word, or a text in quotation marks; in a field of numbers, moments or truth one that [its kind](spirit_schema::typed) has. `[`
//! and `]` are ends that belong to the range, `{` and `}` are not. `field:*` asks for any value.
//!
//! `^2` multiplies a clause's score, `^=2` makes it 2. `(a b c)~2` asks for two of the three, `"a b"~3` for words moved by three
//! places at most, `word~1` for words within one edit (`word~`: two). The last word of `"a b"*` is a prefix.
//!
//! **Strict and lenient.** A strict parser stops at the first thing that it cannot understand and says where it is and what was
//! expected. A lenient one never fails: it goes on as if the thing were not there, or were a word, and returns the same errors
//! as warnings. It is for what people type.

mod grammar;
mod range;
mod scan;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;
use std::sync::Arc;

use spirit_schema::{FieldKind, Schema};
use spirit_text::Tokenizer;

use crate::problem::Problem;
use crate::query::{Query, TooLarge};
use grammar::Run;

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

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.problem)
    }
}

impl std::error::Error for ParseError {}

/// Parses queries for an index.
pub struct Parser {
    schema: Arc<Schema>,
    /// One for each analyzer that some field has.
    tokenizers: Vec<Tokenizer>,
    text_bytes_max: usize,
    operator: Operator,
    has_positions: bool,
    /// A word without its escapes; as long as a query text at most.
    word: String,
}

impl Parser {
    /// A parser of texts of at most this many bytes, for documents with the fields of `schema`.
    pub fn new(schema: Arc<Schema>, text_bytes_max: usize, operator: Operator) -> Parser {
        let mut parser = Parser {
            schema: schema.clone(),
            tokenizers: Vec::new(),
            text_bytes_max,
            operator,
            has_positions: true,
            word: String::with_capacity(WORD_BYTES),
        };
        parser.renew(schema);
        parser
    }

    /// For an index that does not know where in a document its terms are: a word that has several asks for all of them.
    pub fn without_positions(mut self) -> Parser {
        self.has_positions = false;
        self
    }

    /// Sets the meaning of two neighbouring words without an operator.
    pub fn default_operator(&mut self, operator: Operator) {
        self.operator = operator;
    }

    /// From now on fields are those of `schema`, which has grown.
    pub fn renew(&mut self, schema: Arc<Schema>) {
        for field in schema.fields() {
            let FieldKind::Text(analyzer) = field.kind else { continue };
            if !self.tokenizers.iter().any(|known| known.analyzer() == analyzer) {
                self.tokenizers.push(Tokenizer::new(analyzer, self.text_bytes_max));
            }
        }
        self.schema = schema;
    }

    /// The fields that it knows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Parses `text` into `query`, whose memory is used again. Empty text matches nothing.
    pub fn parse_into(&mut self, text: &str, query: &mut Query) -> Result<(), ParseError> {
        let mut run = Run::new(self, text, query, None);
        let parsed = run.fits().and_then(|()| run.query());
        let offset = run.at;
        query.join_repeated();
        parsed.map_err(|problem| {
            query.clear();
            ParseError::new(text, offset, problem)
        })
    }

    /// The same, but whatever cannot be understood is passed over, or taken as words; returns what that was, the first 64 things of it.
    pub fn parse_lenient_into(&mut self, text: &str, query: &mut Query) -> Vec<ParseError> {
        let mut warnings = Vec::new();
        let mut run = Run::new(self, text, query, Some(&mut warnings));
        let parsed = run.fits().and_then(|()| run.query());
        let offset = run.at;
        if let Err(problem) = parsed {
            // A query that is too large keeps its clauses so far; a text that is too long has none.
            warnings.truncate(WARNINGS_MAX - 1);
            warnings.push(ParseError::new(text, offset, problem));
        }
        query.join_repeated();
        warnings
    }

    /// Parses `text` into a new query.
    pub fn parse(&mut self, text: &str) -> Result<Query, ParseError> {
        let mut query = Query::new();
        self.parse_into(text, &mut query).map(|()| query)
    }

    /// The same, leniently.
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

/// Things that a lenient parser names of one text: where there are more, nobody reads them.
const WARNINGS_MAX: usize = 64;
/// Bytes that a word has room for before there must be more.
const WORD_BYTES: usize = 1024;

impl From<TooLarge> for Problem {
    fn from(limit: TooLarge) -> Problem {
        Problem::TooLarge(limit)
    }
}
