//! `search_after`: the hits behind some values of an order, as a query.

use spirit::FieldKind;
use spirit::schema::Schema;

use super::SearchBody;
use super::sort::{Direction, Sort, SortBy, fields};
use crate::error::Refusal;
use crate::json::Json;

/// Checks the values against the order.
pub(super) fn check(body: &SearchBody) -> Result<(), Refusal> {
    let Some(values) = &body.search_after else { return Ok(()) };
    let wrong = |what: String| Err(Refusal::illegal_argument(what));
    let (given, keys) = (values.len(), body.sort.len());
    if given == 0 {
        return wrong("Values must contains at least one value.".into());
    }
    if keys == 0 {
        return wrong("Sort must contain at least one field.".into());
    }
    if given != keys {
        return wrong(format!("search_after has {given} value(s) but sort has {keys}."));
    }
    if body.from > 0 {
        return wrong("`from` parameter must be set to 0 when `search_after` is used.".into());
    }
    if body.sort.iter().any(|key| key.by == SortBy::Score) {
        return Err(Refusal::unsupported("[search_after] in the order of [_score]"));
    }
    if let Some(place) = body.sort.iter().position(|key| key.by == SortBy::Document) {
        if place + 1 != keys {
            return Err(Refusal::unsupported("[search_after] with keys behind [_doc]"));
        }
        if body.after_document().is_none() {
            let what =
                format!("Failed to parse search_after value for field [_doc]: {}", values[place]);
            return wrong(what);
        }
    }
    Ok(())
}

/// Returns the query of the hits behind the values; none without values.
///
/// A hit is behind them if its first key that differs is. Hits with equal keys are [`ties`].
pub(super) fn query(body: &SearchBody, schema: &Schema) -> Result<Option<Json>, Refusal> {
    check(body)?;
    let Some(values) = &body.search_after else { return Ok(None) };
    let known = fields(&body.sort, schema)?;
    let (mut ways, mut equal) = (Vec::new(), Vec::new());
    for (key, value) in body.sort.iter().zip(values) {
        let Some((_, name, kind)) = known.iter().find(|(own, ..)| *own == key) else { continue };
        let field = Asked { name: whole(name, *kind, schema), kind: *kind };
        if let Some(behind) = field.behind(key, value) {
            ways.push(all(equal.iter().cloned().chain([behind])));
        }
        equal.push(field.equal(value));
    }
    Ok(Some(any(ways)))
}

/// Returns the query of the hits whose keys are the values.
pub(super) fn ties(body: &SearchBody, schema: &Schema) -> Result<Json, Refusal> {
    let known = fields(&body.sort, schema)?;
    let mut equal = Vec::new();
    for (key, value) in body.sort.iter().zip(body.search_after.iter().flatten()) {
        let known = known.iter().find(|(own, ..)| *own == key);
        equal.extend(known.map(|(_, name, kind)| {
            Asked { name: whole(name, *kind, schema), kind: *kind }.equal(value)
        }));
    }
    if equal.is_empty() {
        return Ok(one("match_all", Json::Object(Vec::new())));
    }
    Ok(all(equal))
}

/// Returns the name by which a field's whole values are asked for.
fn whole(name: &str, kind: FieldKind, schema: &Schema) -> String {
    let is_text = schema.asked(name).is_some_and(|(_, own)| own != kind);
    if is_text { format!("{name}.keyword") } else { name.to_owned() }
}

/// A field whose values are compared.
struct Asked {
    name: String,
    kind: FieldKind,
}

impl Asked {
    /// Returns the query of the documents whose key is behind a value; none if there are none.
    fn behind(&self, key: &Sort, value: &Json) -> Option<Json> {
        if *value == Json::Null {
            return key.missing_first.then(|| self.exists());
        }
        let end = if key.direction == Direction::Ascending { "gt" } else { "lt" };
        let beyond = self.range(&[(end, value)]);
        if key.missing_first {
            return Some(beyond);
        }
        Some(any(vec![beyond, none(self.exists())]))
    }

    /// Returns the query of the documents with this key.
    fn equal(&self, value: &Json) -> Json {
        match value {
            Json::Null => none(self.exists()),
            value => self.range(&[("gte", value), ("lte", value)]),
        }
    }

    fn exists(&self) -> Json {
        one("exists", one("field", Json::String(self.name.clone())))
    }

    fn range(&self, ends: &[(&str, &Json)]) -> Json {
        let is_flag = self.kind == FieldKind::Boolean;
        let end = |(name, value): &(&str, &Json)| {
            let value = match value {
                // Booleans are sorted as numbers.
                Json::Number(number) if is_flag => Json::Bool(number.as_f64() != Some(0.0)),
                value => (*value).clone(),
            };
            ((*name).to_owned(), value)
        };
        let mut members: Vec<(String, Json)> = ends.iter().map(end).collect();
        let is_number = ends.iter().all(|(_, value)| matches!(value, Json::Number(_)));
        if matches!(self.kind, FieldKind::Time(_)) && is_number {
            members.push(("format".to_owned(), Json::String("epoch_millis".to_owned())));
        }
        one("range", one(&self.name, Json::Object(members)))
    }
}

fn one(name: &str, value: Json) -> Json {
    Json::Object(vec![(name.to_owned(), value)])
}

fn all(queries: impl IntoIterator<Item = Json>) -> Json {
    one("bool", one("filter", Json::Array(queries.into_iter().collect())))
}

fn none(query: Json) -> Json {
    one("bool", one("must_not", query))
}

/// Returns the query of the documents that match one of some queries; none without queries.
fn any(queries: Vec<Json>) -> Json {
    if queries.is_empty() {
        return one("match_none", Json::Object(Vec::new()));
    }
    one("bool", one("should", Json::Array(queries)))
}
