//! Members of a query's object: the query's name, its field, its options.

use spirit::Clause;

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// The members of an object.
pub(super) type Members = [(String, Json)];

/// Returns the name and the body of a query: the only member of its object.
pub(super) fn only(query: &Json) -> Result<(&str, &Json), Refusal> {
    let Json::Object(members) = query else {
        return Err(Refusal::parsing("[_na] query malformed, must start with start_object"));
    };
    match &**members {
        [] => Err(Refusal::illegal_argument("query malformed, empty clause found")),
        [(name, body)] => Ok((name, body)),
        [(name, _), ..] => {
            let what = "malformed query, expected [END_OBJECT] but found [FIELD_NAME]";
            Err(Refusal::parsing(format!("[{name}] {what}")))
        }
    }
}

/// Returns the members of a query's body.
pub(super) fn object<'j>(query: &str, body: &'j Json) -> Result<&'j Members, Refusal> {
    let Json::Object(members) = body else {
        let what = "query malformed, no start_object after query name";
        return Err(Refusal::parsing(format!("[{query}] {what}")));
    };
    Ok(members)
}

/// A query of one field: its name, and the members of its long form or its value alone.
pub(super) struct OfField<'j> {
    pub(super) field: &'j str,
    pub(super) form: Form<'j>,
}

/// The form of a query of one field.
pub(super) enum Form<'j> {
    /// `{"field": "value"}`
    Short(&'j Json),
    /// `{"field": {"value": …}}`
    Long(&'j Members),
}

/// Returns the only field of a query's body; none without members. OpenSearch takes `boost` and
/// `_name` beside the field of some queries.
pub(super) fn of_field<'j>(
    query: &str,
    body: &'j Json,
) -> Result<Option<(OfField<'j>, Common)>, Refusal> {
    let (mut found, mut common) = (None::<OfField<'j>>, Common::default());
    let members = object(query, body)?;
    for (name, value) in members {
        if members.len() > 1 && common.takes(name, value)? {
            continue;
        }
        if let Some(OfField { field, .. }) = found {
            let what = "query doesn't support multiple fields, found";
            return Err(Refusal::parsing(format!("[{query}] {what} [{field}] and [{name}]")));
        }
        let form = match value {
            Json::Object(members) => Form::Long(members),
            value => Form::Short(value),
        };
        found = Some(OfField { field: name, form });
    }
    Ok(found.map(|found| (found, common)))
}

/// The options that all queries have: a factor of the score, and a name.
pub(super) struct Common {
    boost: f32,
}

impl Default for Common {
    fn default() -> Common {
        Common { boost: 1.0 }
    }
}

impl Common {
    /// True if a member is one of these options, which is read.
    pub(super) fn takes(&mut self, name: &str, value: &Json) -> Result<bool, Refusal> {
        match name {
            "boost" => self.boost *= read::boost(value)?,
            "_name" if value.as_str().is_some() => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the factor.
    pub(super) fn boost(&self) -> f32 {
        self.boost
    }

    /// Returns a clause with its score multiplied.
    pub(super) fn of(&self, clause: Clause) -> Clause {
        boosted(clause, self.boost)
    }
}

/// Multiplies a clause's score.
pub(super) fn boosted(clause: Clause, by: f32) -> Clause {
    match clause {
        clause if by == 1.0 => clause,
        Clause::Boost(inner, own) => Clause::Boost(inner, own * by),
        Clause::Constant(inner, own) => Clause::Constant(inner, own * by),
        clause => clause.boost(by),
    }
}

/// Gives all documents of a clause one score.
pub(super) fn constant(clause: Clause, score: f32) -> Clause {
    match clause {
        Clause::Boost(inner, _) | Clause::Constant(inner, _) => inner.constant(score),
        clause => clause.constant(score),
    }
}

/// Reads `match_all` or `match_none`.
pub(super) fn of_all(query: &str, body: &Json) -> Result<Clause, Refusal> {
    let mut common = Common::default();
    for (name, value) in object(query, body)? {
        if !common.takes(name, value)? {
            return Err(match query {
                "match_all" => Refusal::parsing(format!("[{query}] unknown field [{name}]")),
                _ => unknown(query, name),
            });
        }
    }
    match query {
        "match_none" => Ok(Clause::Nothing),
        _ => Ok(Clause::Everything.constant(common.boost())),
    }
}

/// Returns the error of a member that a query does not have.
pub(super) fn unknown(query: &str, name: &str) -> Refusal {
    Refusal::parsing(format!("[{query}] query does not support [{name}]"))
}

/// Returns the text of an option that is a string, a number or a boolean.
pub(super) fn text(query: &str, name: &str, value: &Json) -> Result<String, Refusal> {
    let wrong = || format!("[{query}] unknown token [{}] after [{name}]", value.token());
    value.scalar().ok_or_else(|| Refusal::parsing(wrong()))
}

/// Returns the error of a query of words or patterns for a field that has none. `what` names the
/// queries, such as `prefix queries`.
pub(super) fn wrong_kind(what: &str, field: &str, kind: spirit::FieldKind) -> Refusal {
    let kind = super::value::mapped(kind);
    Refusal::query_shard(format!(
        "Can only use {what} on keyword and text fields - not on [{field}] \
         which is of type [{kind}]"
    ))
}
