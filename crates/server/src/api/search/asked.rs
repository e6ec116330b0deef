//! What is asked, read from names and values.

use serde_json::Value;
use spirit::lab::Parameters;
use spirit::search::Highlight;
use spirit::{Index, Operator, Reader};
use spirit_forms::facets::Shape;
use spirit_forms::question::{self, Question};

use crate::problem::{Answered, Problem};

/// The hits of one answer, at most.
const HITS_MAX: usize = 10_000;
/// The members, for messages.
const MEMBERS: &str = "q, limit, order, after, count, fields, highlight, highlight_field, facet, \
                       explain, lenient, default_operator, recency, k1, b";

/// A query, and what is asked besides its text.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) question: Question,
    operator: Operator,
}

impl Asked {
    /// Reads names and values. Without a query, all documents match.
    pub(super) fn read(pairs: Vec<(String, String)>) -> Answered<Asked> {
        let question = Question::default();
        let mut asked = Asked { text: "*".to_owned(), question, operator: Operator::Or };
        for (name, value) in pairs {
            asked.take(&name, value).map_err(|why| Problem::bad(format!("{name}: {why}")))?;
        }
        Ok(asked)
    }

    /// Returns an error if the index cannot have what is asked for.
    pub(super) fn check(&self, index: &Index) -> Answered<()> {
        let (question, schema) = (&self.question, index.schema());
        let wants_texts = question.highlight.is_some() || !question.fields.is_empty();
        if wants_texts && !index.settings().store {
            return Err(Problem::bad("fields, highlight: the index does not store documents"));
        }
        let is_unknown = |name: &&String| *name != "key" && schema.by_name(name).is_none();
        let named = question.fields.iter().chain(&question.highlight_field);
        if let Some(name) = named.clone().find(is_unknown) {
            return Err(Problem::bad(format!(
                "the index has no field {name:?}; `schema` lists them"
            )));
        }
        let moments = Shape::moments(&schema);
        for facet in &question.facets {
            if let Some(why) = facet.shape.misfit(&moments) {
                return Err(Problem::bad(format!("facet {}: {why}", facet.shape.typed)));
            }
        }
        let fades = question.recency.is_some() || question.parameters != Parameters::default();
        if fades && !question.order.is_by_score() {
            return Err(Problem::bad("recency, k1, b: need order=best or order=proximity"));
        }
        Ok(())
    }

    /// Sets how a reader reads the query.
    pub(super) fn prepare(&self, reader: &mut Reader) {
        reader.default_operator(self.operator);
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), String> {
        let question = &mut self.question;
        match name {
            "q" => self.text = value,
            "limit" => question.k = limit(&value)?,
            "order" => question.order = value.parse()?,
            "after" => question.after = Some(question::cursor(&value)?),
            "count" => question.counting = value.parse()?,
            "fields" => question.fields.extend(value.split(',').map(str::to_owned)),
            "highlight" => question.highlight = highlight(&value)?,
            "highlight_field" => question.highlight_field = Some(value),
            "facet" => question.facets.push(parsed(&value)?),
            "explain" => question.explain = yes_or_no(&value)?,
            "lenient" => question.lenient = yes_or_no(&value)?,
            "default_operator" => self.operator = operator(&value)?,
            "recency" => question.recency = Some(value.parse()?),
            "k1" => question.parameters.k1 = question::not_negative(&value)?,
            "b" => question.parameters.b = question::share(&value)?,
            _ => return Err(format!("there is no such member; choose of {MEMBERS}")),
        }
        Ok(())
    }
}

/// Reads the members of a JSON object. An array has several values of its member.
pub(super) fn pairs(body: &[u8]) -> Answered<Vec<(String, String)>> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let members: serde_json::Map<String, Value> = serde_json::from_slice(body)
        .map_err(|error| Problem::bad(format!("malformed JSON: {error}")))?;
    let mut pairs = Vec::new();
    for (name, value) in members {
        match value {
            Value::Array(values) => {
                for value in values {
                    pairs.push((name.clone(), plain(&name, value)?));
                }
            }
            value => {
                let value = plain(&name, value)?;
                pairs.push((name, value));
            }
        }
    }
    Ok(pairs)
}

fn plain(name: &str, value: Value) -> Answered<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(yes) => Ok(yes.to_string()),
        _ => Err(Problem::bad(format!("{name}: expected a text, a number, true or false"))),
    }
}

fn limit(text: &str) -> Result<usize, String> {
    let limit = text.parse().ok().filter(|limit| *limit <= HITS_MAX);
    limit.ok_or_else(|| format!("expected a number from 0 to {HITS_MAX}; page by `after`"))
}

fn highlight(text: &str) -> Result<Option<Highlight>, String> {
    match (yes_or_no(text), text.parse()) {
        (Ok(true), _) => Ok(Some(Highlight::default())),
        (Ok(false), _) => Ok(None),
        (_, Ok(snippets)) => Ok(Some(Highlight::default().snippets(snippets))),
        _ => Err("expected yes, no, or a number of snippets".to_owned()),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" | "" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("expected yes or no".to_owned()),
    }
}

fn operator(text: &str) -> Result<Operator, String> {
    match text.to_ascii_lowercase().as_str() {
        "or" => Ok(Operator::Or),
        "and" => Ok(Operator::And),
        _ => Err("expected or, or and".to_owned()),
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}
