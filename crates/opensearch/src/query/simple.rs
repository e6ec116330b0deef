//! `simple_query_string`: a text that is never wrong.
//!
//! `+` is AND, `|` is OR, `-` excludes, `"` encloses a phrase, `*` ends a prefix, `~2` moves or
//! edits, and parentheses group. Neighbours are joined by the default operator. An operator of
//! another kind takes all before it as one clause.

use spirit::Clause;
use spirit::query::Bool;

use super::fuzziness::{Fuzziness, prefix_length};
use super::members::{object, text};
use super::phrase::Phrase;
use super::several::{Weighted, weighted};
use super::target::{Options, check_length};
use super::words::{Operator, analyzer, expansions};
use super::{Asked, DEPTH_MAX, minimum, too_deep};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

const QUERY: &str = "simple_query_string";
/// Names of operators that may be allowed one by one.
const FLAGS: [&str; 12] = [
    "ALL",
    "NONE",
    "AND",
    "NOT",
    "OR",
    "PREFIX",
    "PHRASE",
    "PRECEDENCE",
    "ESCAPE",
    "WHITESPACE",
    "FUZZY",
    "NEAR",
];

impl Asked<'_> {
    /// Reads `simple_query_string`.
    pub(super) fn simple(&self, body: &Json) -> Result<Clause, Refusal> {
        let (mut options, mut asked) = (Options::default(), None);
        for (name, value) in object(QUERY, body)? {
            match name.as_str() {
                "query" => asked = Some(text(QUERY, name, value)?),
                name => option(&mut options, name, value)?,
            }
        }
        let missing = || Refusal::parsing("[simple_query_string] query text missing");
        let asked = asked.ok_or_else(missing)?;
        check_length(&asked)?;
        let mut options = options.settled();
        // A word that several fields have counts in each.
        options.how.tie = 1.0;
        let fields = self.expanded(options.fields.as_deref());
        let mut parser = Parser { asked: self, rest: &asked, options: &options, fields: &fields };
        let clause = parser.list(DEPTH_MAX)?.unwrap_or(Clause::Nothing);
        Ok(options.common.of(with_minimum(clause, options.minimum.as_deref())?))
    }
}

fn option(options: &mut Options, name: &str, value: &Json) -> Result<(), Refusal> {
    match name {
        "fields" => options.fields = Some(weighted(QUERY, value)?),
        "default_operator" => options.operator = Operator::read(value)?,
        "analyzer" => return Err(analyzer(QUERY, value)),
        "lenient" => options.lenient = Some(read::boolean(value)?),
        "minimum_should_match" => options.minimum = Some(text(QUERY, name, value)?),
        "fuzzy_prefix_length" => options.how.fuzzy.prefix_length = prefix_length(value)?,
        "fuzzy_transpositions" => options.how.fuzzy.transpositions = read::boolean(value)?,
        "fuzzy_max_expansions" => expansions(value)?,
        "flags" => flags(&text(QUERY, name, value)?)?,
        "quote_field_suffix" => {
            return Err(Refusal::unsupported("[simple_query_string] with [quote_field_suffix]"));
        }
        "analyze_wildcard" | "auto_generate_synonyms_phrase_query" => {
            read::boolean(value).map(drop)?;
        }
        name if options.common.takes(name, value)? => {}
        name => {
            return Err(Refusal::parsing(format!("[{QUERY}] unsupported field [{name}]")));
        }
    }
    Ok(())
}

/// Refuses to switch operators off.
fn flags(names: &str) -> Result<(), Refusal> {
    for name in names.split('|') {
        if !FLAGS.contains(&name) {
            let what = format!("Unknown simple_query_string flag [{name}]");
            return Err(Refusal::illegal_argument(what));
        }
    }
    if names == "ALL" {
        return Ok(());
    }
    Err(Refusal::unsupported("[simple_query_string] with other [flags] than [ALL]"))
}

/// Sets the least number of optional clauses of the outermost group.
fn with_minimum(clause: Clause, spec: Option<&str>) -> Result<Clause, Refusal> {
    match (clause, spec) {
        (Clause::Bool(group), Some(spec)) if !group.should.is_empty() => {
            let minimum = minimum::of(spec, group.should.len())?;
            if minimum > group.should.len() {
                return Ok(Clause::Nothing);
            }
            let minimum = u32::try_from(minimum).unwrap_or(u32::MAX).max(1);
            Ok(Clause::Bool(Bool { minimum, ..group }))
        }
        (clause, _) => Ok(clause),
    }
}

struct Parser<'p, 's> {
    asked: &'p Asked<'s>,
    rest: &'p str,
    options: &'p Options,
    fields: &'p [Weighted],
}

/// Clauses so far, and the operator that joins them, if there are several.
#[derive(Default)]
struct Joined {
    clauses: Vec<Clause>,
    operator: Operator,
}

impl Joined {
    fn add(&mut self, operator: Operator, clause: Clause) {
        if self.clauses.len() > 1 && self.operator != operator {
            let before = std::mem::take(self);
            self.clauses.extend(before.clause());
        }
        self.operator = operator;
        self.clauses.push(clause);
    }

    fn clause(mut self) -> Option<Clause> {
        match self.clauses.len() {
            0 => None,
            1 => self.clauses.pop(),
            _ if self.operator == Operator::All => Some(Clause::all(self.clauses)),
            _ => Some(Clause::any(self.clauses)),
        }
    }
}

impl<'p> Parser<'p, '_> {
    /// Reads clauses up to the end, or up to a closing parenthesis, which it removes.
    fn list(&mut self, depth: usize) -> Result<Option<Clause>, Refusal> {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let mut joined = Joined::default();
        let mut operator = self.options.operator;
        let mut excludes = false;
        while let Some(c) = self.rest.chars().next() {
            match c {
                ')' => {
                    self.skip(1);
                    // One that closes nothing is skipped.
                    if depth < DEPTH_MAX - 1 {
                        break;
                    }
                }
                '+' | '|' => {
                    operator = if c == '+' { Operator::All } else { Operator::Any };
                    self.skip(1);
                }
                '-' => {
                    excludes = !excludes;
                    self.skip(1);
                }
                c if c.is_whitespace() => self.skip(c.len_utf8()),
                _ => {
                    if let Some(clause) = self.clause(depth)? {
                        let clause = if excludes { others_than(clause) } else { clause };
                        joined.add(operator, clause);
                    }
                    (operator, excludes) = (self.options.operator, false);
                }
            }
        }
        Ok(joined.clause())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn clause(&mut self, depth: usize) -> Result<Option<Clause>, Refusal> {
        if self.rest.starts_with('(') {
            self.skip(1);
            return self.list(depth);
        }
        if self.rest.starts_with('"')
            && let Some(end) = self.rest[1..].find('"')
        {
            let text = &self.rest[1..=end];
            self.skip(end + 2);
            let slop = self.number().unwrap_or_default();
            let how = self.options.how.clone();
            let phrase = Phrase { slop, is_prefix: false, how };
            return self.asked.phrase_at(self.fields, text, &phrase);
        }
        self.word()
    }

    fn word(&mut self) -> Result<Option<Clause>, Refusal> {
        // A quotation mark without another one is skipped.
        let is_mark = self.rest.starts_with(['"', '~']);
        let begin = usize::from(is_mark);
        let text = &self.rest[begin..];
        let mut escaped = false;
        let end = text.find(|c: char| {
            let is_end = !escaped && (c.is_whitespace() || "()+|\"~".contains(c));
            escaped = c == '\\' && !escaped;
            is_end
        });
        let word = &text[..end.unwrap_or(text.len())];
        self.skip(begin + word.len());
        let how = &self.options.how;
        if word == "*" {
            return Ok(Some(Clause::Everything.constant(1.0)));
        }
        if let Some(head) = word.strip_suffix('*').filter(|head| !head.ends_with('\\')) {
            let pattern = format!("{}*", for_wildcard(&plain(head)));
            return self.asked.pattern_at(self.fields, &pattern, how).map(Some);
        }
        let word = plain(word);
        if word.is_empty() {
            return Ok(None);
        }
        match self.number() {
            None => self.asked.word_at(self.fields, &word, how),
            Some(edits) => {
                let edits = u8::try_from(edits).unwrap_or(u8::MAX).min(Clause::DISTANCE_MAX);
                let fuzziness = Fuzziness::Edits(edits);
                self.asked.fuzzy_at(self.fields, &word, fuzziness, how).map(Some)
            }
        }
    }

    /// Removes `~` and a number from the front. Without a number it is two.
    fn number(&mut self) -> Option<u32> {
        let behind = self.rest.strip_prefix('~')?;
        let end = behind.bytes().take_while(u8::is_ascii_digit).count();
        self.rest = &behind[end..];
        match &behind[..end] {
            "" => Some(u32::from(Clause::DISTANCE_MAX)),
            digits => Some(digits.parse().unwrap_or(u32::MAX)),
        }
    }
}

/// Returns a clause for the documents that another one does not match.
fn others_than(clause: Clause) -> Clause {
    Clause::Everything.constant(1.0).and_not(clause)
}

/// Returns a text without the backslashes that escape.
fn plain(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text.chars());
    while let Some(c) = rest.next() {
        out.extend(if c == '\\' { rest.next() } else { Some(c) });
    }
    out
}

/// Returns a text in which nothing is a wildcard.
fn for_wildcard(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
