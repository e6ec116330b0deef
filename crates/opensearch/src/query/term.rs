//! `term`, `terms`, `ids` and `exists`: values as they are.

use spirit::query::Word;
use spirit::{Clause, FieldKind};

use super::members::{Common, Form, OfField, object, of_field, text, unknown};
use super::words::at_least;
use super::{Asked, ID, lucene};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// A value of a field, or a pattern, with its options.
pub(super) struct Value {
    pub(super) text: String,
    pub(super) ignores_case: bool,
}

/// The error of a query without a field.
pub(super) fn no_field() -> Refusal {
    Refusal::illegal_argument("field name is null or empty")
}

/// The error of a query without a value.
pub(super) fn no_value() -> Refusal {
    Refusal::illegal_argument("value cannot be null")
}

impl Asked<'_> {
    /// Reads `term`.
    pub(super) fn term(&self, body: &Json) -> Result<Clause, Refusal> {
        let Some((OfField { field, form }, mut common)) = of_field("term", body)? else {
            return Err(no_field());
        };
        let value = match form {
            Form::Short(Json::Null) => return Err(no_field()),
            Form::Short(Json::Array(_)) => {
                let what = "query does not support array of values";
                return Err(Refusal::parsing(format!("[term] {what}")));
            }
            Form::Short(value) => {
                let text = value.scalar().ok_or_else(no_value)?;
                Value { text, ignores_case: false }
            }
            Form::Long(members) => long("term", &["value", "term"], members, &mut common)?,
        };
        if field == ID {
            return Ok(common.of(Clause::Key(value.text)));
        }
        let Some(kind) = self.kind(field) else { return Ok(Clause::Nothing) };
        if value.ignores_case && matches!(kind, FieldKind::Text(_) | FieldKind::Keyword) {
            let expression = lucene::ignoring_case(&lucene::escaped(&value.text));
            let word = Word { field: field.to_owned(), text: expression };
            return Ok(common.of(Clause::Regex(word)));
        }
        Ok(common.of(self.value(field, kind, &value.text)?))
    }

    /// Reads `terms`.
    pub(super) fn terms(&self, body: &Json) -> Result<Clause, Refusal> {
        let (mut common, mut found) = (Common::default(), None);
        for (name, value) in object("terms", body)? {
            match value {
                Json::Array(values) => {
                    if found.is_some() {
                        let what = "query does not support multiple fields";
                        return Err(Refusal::parsing(format!("[terms] {what}")));
                    }
                    found = Some((name, values));
                }
                Json::Object(_) => return Err(Refusal::unsupported("[terms] with a lookup")),
                value if common.takes(name, value)? => {}
                _ => return Err(unknown("terms", name)),
            }
        }
        let (field, values) = found.ok_or_else(|| {
            let what = "query requires a field name, followed by array of terms or a document \
                        lookup specification";
            Refusal::parsing(format!("[terms] {what}"))
        })?;
        let missing = || Refusal::parsing("No value specified for terms query");
        let texts = values.iter().map(|value| value.scalar().ok_or_else(missing));
        let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
        self.spend(texts.len())?;
        Ok(common.of(self.one_of(field, texts)?))
    }

    fn one_of(&self, field: &str, texts: Vec<String>) -> Result<Clause, Refusal> {
        if field == ID {
            return Ok(keys(texts));
        }
        let Some(kind) = self.kind(field) else { return Ok(Clause::Nothing) };
        let clauses = texts.iter().map(|text| self.value(field, kind, text));
        let clauses: Vec<Clause> = clauses.collect::<Result<_, _>>()?;
        let mut values = Vec::new();
        for clause in &clauses {
            match clause {
                Clause::Term(word) => values.push(word.text.clone()),
                Clause::Nothing => {}
                // Moments are ranges: a day is all of it.
                _ => return Ok(at_least(1, clauses).constant(1.0)),
            }
        }
        if values.is_empty() {
            return Ok(Clause::Nothing);
        }
        Ok(Clause::OneOf { field: field.to_owned(), values }.constant(1.0))
    }

    /// Reads `ids`.
    pub(super) fn ids(&self, body: &Json) -> Result<Clause, Refusal> {
        let (mut common, mut ids) = (Common::default(), Vec::new());
        for (name, value) in object("ids", body)? {
            if name == "values" {
                let wrong = || Refusal::parsing("[ids] failed to parse field [values]");
                ids = match value {
                    Json::Array(_) => read::strings(value),
                    value => value.scalar().map(|id| vec![id]),
                }
                .ok_or_else(wrong)?;
            } else if !common.takes(name, value)? {
                return Err(Refusal::parsing(format!("[ids] unknown field [{name}]")));
            }
        }
        self.spend(ids.len())?;
        Ok(common.of(keys(ids)))
    }

    /// Reads `exists`.
    pub(super) fn exists(&self, body: &Json) -> Result<Clause, Refusal> {
        let (mut common, mut pattern) = (Common::default(), None);
        for (name, value) in object("exists", body)? {
            if name == "field" {
                pattern = Some(text("exists", name, value)?);
            } else if !common.takes(name, value)? {
                return Err(unknown("exists", name));
            }
        }
        let missing = || Refusal::parsing("[exists] must be provided with a [field]");
        Ok(common.of(self.existing(&pattern.ok_or_else(missing)?)?))
    }

    /// Returns a clause for documents with a value of a field, of one that a pattern matches, or of
    /// a member of an object.
    pub(super) fn existing(&self, pattern: &str) -> Result<Clause, Refusal> {
        let mut fields = self.fields(pattern);
        if fields.is_empty() {
            fields = self.fields(&format!("{pattern}.*"));
        }
        self.spend(fields.len())?;
        let mut clauses: Vec<Clause> = fields.into_iter().map(Clause::Exists).collect();
        Ok(match clauses.len() {
            0 if matches!(pattern, ID | "_index" | "_source") => Clause::Everything.constant(1.0),
            1 => clauses.remove(0).constant(1.0),
            _ => match at_least(1, clauses) {
                Clause::Nothing => Clause::Nothing,
                any => any.constant(1.0),
            },
        })
    }
}

/// Returns a clause for the documents with these ids.
fn keys(ids: Vec<String>) -> Clause {
    match at_least(1, ids.into_iter().map(Clause::Key).collect()) {
        Clause::Nothing => Clause::Nothing,
        any => any.constant(1.0),
    }
}

/// Reads the long form of a query of one value. `names` are those that the value may have.
pub(super) fn long(
    query: &str,
    names: &[&str],
    members: &super::members::Members,
    common: &mut Common,
) -> Result<Value, Refusal> {
    let (mut found, mut ignores_case) = (None, false);
    for (name, value) in members {
        match name.as_str() {
            name if names.contains(&name) => {
                found = Some(value.scalar().ok_or_else(no_value)?);
            }
            "case_insensitive" => ignores_case = read::boolean(value)?,
            // Every way of rewriting finds the same documents.
            "rewrite" if query != "term" => text(query, name, value).map(drop)?,
            name if common.takes(name, value)? => {}
            name => return Err(unknown(query, name)),
        }
    }
    Ok(Value { text: found.ok_or_else(no_value)?, ignores_case })
}
