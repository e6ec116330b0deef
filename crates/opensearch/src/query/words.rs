//! `match` and `match_bool_prefix`: the words of a text, some or all of them.

use spirit::query::{Bool, Word};
use spirit::{Analyzer, Clause, FieldKind};
use spirit_text::Tokenizer;

use super::fuzziness::{Fuzziness, Fuzzy, prefix_length};
use super::members::{Common, Form, Members, OfField, of_field, text, unknown, wrong_kind};
use super::value::exactly;
use super::{Asked, ID, minimum};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// A term of a text, and its place.
pub(super) struct Token {
    pub(super) term: String,
    pub(super) place: u32,
}

/// The terms of a text.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// Words that are too long for a term, so that no document has them.
    pub(super) too_long: usize,
    /// True if nothing is behind the last term: it may go on.
    pub(super) is_open: bool,
}

/// How many of several words must match.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Operator {
    All,
    #[default]
    Any,
}

/// How a text's words are asked for.
#[derive(Clone, Default)]
pub(super) struct How {
    pub(super) operator: Operator,
    pub(super) minimum: Option<String>,
    /// Edits, if words may differ.
    pub(super) fuzziness: Option<Fuzziness>,
    pub(super) fuzzy: Fuzzy,
    /// True if a text without words matches all documents.
    pub(super) zero_terms_all: bool,
    /// True if values that do not suit a field match nothing.
    pub(super) lenient: bool,
    /// True if the last word is a prefix.
    pub(super) last_is_prefix: bool,
    /// The factor of the scores of other fields than the best.
    pub(super) tie: f32,
}

impl Operator {
    pub(super) fn read(value: &Json) -> Result<Operator, Refusal> {
        let name = read::shown(value);
        if name.eq_ignore_ascii_case("and") {
            Ok(Operator::All)
        } else if name.eq_ignore_ascii_case("or") {
            Ok(Operator::Any)
        } else {
            let upper = name.to_uppercase();
            let what = "No enum constant org.opensearch.index.query.Operator";
            Err(Refusal::illegal_argument(format!("{what}.{upper}")))
        }
    }
}

/// Returns true for `all` and false for `none`.
pub(super) fn zero_terms_all(value: &Json) -> Result<bool, Refusal> {
    let name = read::shown(value);
    match () {
        () if name.eq_ignore_ascii_case("all") => Ok(true),
        () if name.eq_ignore_ascii_case("none") => Ok(false),
        () => {
            let reason = format!("Unsupported zero_terms_query value [{name}]");
            Err(Refusal::parsing(reason))
        }
    }
}

/// Refuses an analyzer: words go through that of their field.
pub(super) fn analyzer(query: &str, value: &Json) -> Refusal {
    let name = read::shown(value);
    if name.parse::<Analyzer>().is_ok() {
        return Refusal::unsupported(format_args!("[{query}] another [analyzer] than the field's"));
    }
    Refusal::query_shard(format!("[{query}] analyzer [{name}] not found"))
}

impl How {
    /// Reads an option that `match` and its relatives share. False if it is another one.
    pub(super) fn takes(&mut self, query: &str, name: &str, value: &Json) -> Result<bool, Refusal> {
        match name {
            "operator" => self.operator = Operator::read(value)?,
            "minimum_should_match" => self.minimum = Some(text(query, name, value)?),
            "fuzziness" => self.fuzziness = Some(Fuzziness::read(value)?),
            "prefix_length" => self.fuzzy.prefix_length = prefix_length(value)?,
            "fuzzy_transpositions" => self.fuzzy.transpositions = read::boolean(value)?,
            "analyzer" => return Err(analyzer(query, value)),
            // All terms count, whatever the limit, and each scores alike.
            "max_expansions" => expansions(value)?,
            "fuzzy_rewrite" => text(query, name, value).map(drop)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn word(&self, field: &str, term: &str) -> Clause {
        match self.fuzziness {
            Some(fuzziness) => Fuzzy { fuzziness, ..self.fuzzy }.clause(field, term),
            None => exactly(field, term),
        }
    }

    fn last(&self, field: &str, term: String) -> Clause {
        if self.last_is_prefix {
            return Clause::Prefix(Word { field: field.to_owned(), text: term });
        }
        self.word(field, &term)
    }

    /// Returns the clause of a text without words.
    pub(super) fn without_words(&self) -> Clause {
        if self.zero_terms_all { Clause::Everything.constant(1.0) } else { Clause::Nothing }
    }

    /// Combines the clauses of words.
    fn combined(&self, mut clauses: Vec<Clause>) -> Result<Clause, Refusal> {
        if let [_] = *clauses {
            return Ok(clauses.remove(0));
        }
        if self.operator == Operator::All {
            return Ok(Clause::all(clauses));
        }
        let minimum = self.minimum.as_deref();
        let minimum = minimum.map_or(Ok(1), |spec| minimum::of(spec, clauses.len()))?;
        Ok(at_least(minimum, clauses))
    }
}

/// Checks a number of terms that a pattern may match.
pub(super) fn expansions(value: &Json) -> Result<(), Refusal> {
    match read::integer(value)? {
        ..0 => Err(Refusal::illegal_argument("No negative maxExpansions allowed.")),
        _ => Ok(()),
    }
}

/// Returns a clause for documents that match at least `minimum` clauses, and at least one.
pub(super) fn at_least(minimum: usize, should: Vec<Clause>) -> Clause {
    if minimum > should.len() || should.is_empty() {
        return Clause::Nothing;
    }
    let minimum = u32::try_from(minimum.max(1)).unwrap_or(u32::MAX);
    Clause::Bool(Bool { should, minimum, ..Bool::default() })
}

impl Asked<'_> {
    /// Reads `match`.
    pub(super) fn words(&self, body: &Json) -> Result<Clause, Refusal> {
        let Some((OfField { field, form }, common)) = of_field("match", body)? else {
            return Err(Refusal::parsing("No text specified for text query"));
        };
        let (mut how, mut common, mut asked) = (How::default(), common, None);
        match form {
            Form::Short(value) => asked = Some(short("match", value)?),
            Form::Long(members) => {
                for (name, value) in members {
                    match name.as_str() {
                        "query" => asked = Some(text("match", name, value)?),
                        "lenient" => how.lenient = read::boolean(value)?,
                        "zero_terms_query" => how.zero_terms_all = zero_terms_all(value)?,
                        "auto_generate_synonyms_phrase_query" => read::boolean(value).map(drop)?,
                        name if how.takes("match", name, value)? => {}
                        name if common.takes(name, value)? => {}
                        name => return Err(unknown("match", name)),
                    }
                }
            }
        }
        let asked = asked.ok_or(Refusal::parsing("No text specified for text query"))?;
        Ok(common.of(self.words_in(field, &asked, &how)?))
    }

    /// Reads `match_bool_prefix`.
    pub(super) fn bool_prefix(&self, body: &Json) -> Result<Clause, Refusal> {
        const QUERY: &str = "match_bool_prefix";
        let Some((OfField { field, form }, mut common)) = of_field(QUERY, body)? else {
            return Err(Refusal::illegal_argument("[match_bool_prefix] requires fieldName"));
        };
        let mut how = How { last_is_prefix: true, ..How::default() };
        let asked = match form {
            Form::Short(value) => Some(short(QUERY, value)?),
            Form::Long(members) => bool_prefix_options(members, &mut how, &mut common)?,
        };
        let missing = || Refusal::illegal_argument("[match_bool_prefix] requires query value");
        let asked = asked.ok_or_else(missing)?;
        Ok(common.of(self.words_in(field, &asked, &how)?))
    }

    /// Returns the clause of a text's words in a field.
    pub(super) fn words_in(&self, field: &str, text: &str, how: &How) -> Result<Clause, Refusal> {
        if field == ID {
            return Ok(Clause::Key(text.to_owned()));
        }
        let Some(kind) = self.kind(field) else { return Ok(Clause::Nothing) };
        let analyzer = match kind {
            FieldKind::Text(analyzer) => analyzer,
            FieldKind::Keyword => Analyzer::Keyword,
            kind if how.last_is_prefix => {
                return if how.lenient {
                    Ok(Clause::Nothing)
                } else {
                    Err(wrong_kind("prefix queries", field, kind))
                };
            }
            kind => return lenient(how.lenient, self.value(field, kind, text)),
        };
        let Tokens { list, too_long, is_open } = self.tokens(analyzer, text)?;
        if list.is_empty() && too_long == 0 {
            return Ok(how.without_words());
        }
        self.spend(list.len() + too_long)?;
        let mut clauses = vec![Clause::Nothing; too_long];
        let last = list.len().saturating_sub(1);
        for (at, token) in list.into_iter().enumerate() {
            // A blank or a point ends the last word.
            clauses.push(match at == last && is_open {
                true => how.last(field, token.term),
                false => how.word(field, &token.term),
            });
        }
        how.combined(clauses)
    }

    /// Returns the terms that an analyzer makes of a text.
    pub(super) fn tokens(&self, analyzer: Analyzer, text: &str) -> Result<Tokens, Refusal> {
        let too_large = || {
            let max = Clause::WORDS_BYTES_MAX;
            Refusal::illegal_argument(format!("the text of a query may have at most {max} bytes"))
        };
        if text.len() > Clause::WORDS_BYTES_MAX {
            return Err(too_large());
        }
        let (mut list, mut end) = (Vec::new(), 0);
        let summary = Tokenizer::new(analyzer, text.len()).for_each_span(text, |token, span| {
            list.push(Token { term: token.text().to_owned(), place: token.position() });
            end = span.end;
        });
        let too_long = summary.map_err(|_| too_large())?.skipped as usize;
        Ok(Tokens { list, too_long, is_open: end == text.len() })
    }
}

fn bool_prefix_options(
    members: &Members,
    how: &mut How,
    common: &mut Common,
) -> Result<Option<String>, Refusal> {
    const QUERY: &str = "match_bool_prefix";
    let mut asked = None;
    for (name, value) in members {
        match name.as_str() {
            "query" => asked = Some(text(QUERY, name, value)?),
            name if how.takes(QUERY, name, value)? => {}
            name if common.takes(name, value)? => {}
            name => return Err(unknown(QUERY, name)),
        }
    }
    Ok(asked)
}

/// Returns the text of a short form.
pub(super) fn short(query: &str, value: &Json) -> Result<String, Refusal> {
    let wrong = || {
        let token = value.token();
        Refusal::parsing(format!("[{query}] unknown token [{token}] after the field's name"))
    };
    value.scalar().ok_or_else(wrong)
}

/// Returns nothing for a value that does not suit its field, if that is wanted.
pub(super) fn lenient(lenient: bool, clause: Result<Clause, Refusal>) -> Result<Clause, Refusal> {
    if lenient { Ok(clause.unwrap_or(Clause::Nothing)) } else { clause }
}
