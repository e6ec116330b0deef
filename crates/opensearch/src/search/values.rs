//! `fields` and `docvalue_fields`: the values of a document's fields, with moments in a format.

use std::collections::BTreeMap;

use serde_json::Number;
use spirit::schema::Schema;
use spirit::{FieldKind, Value};

use super::{Part, SearchBody};
use crate::date::{checked, formatted};
use crate::error::Refusal;
use crate::fields::{is_of_every_document, leaves};
use crate::json::Json;
use crate::query::{mapped, without_values};
use crate::read::matches;

/// Characters of a value beyond which it is no keyword beside its words.
const KEYWORD_CHARACTERS_MAX: usize = 256;
/// The format that stands for that of the field.
const OF_FIELD: &str = "use_field_mapping";

/// The fields whose values the hits of an index have.
///
/// ```
/// use spirit::{Document, Index, Value};
/// use spirit_opensearch::search::{FieldValues, SearchBody};
///
/// let index = Index::in_memory()?;
/// index.add(Document::new().field("at", Value::Time(1_795_600_800_000)))?;
/// let body = SearchBody::parse(br#"{"fields": [{"field": "a*", "format": "epoch_millis"}]}"#)?;
/// let fields = FieldValues::new(&body, &index.schema())?;
/// let values = [("at", Value::Time(1_795_600_800_000))];
/// assert_eq!(fields.of(&values).unwrap().to_string(), r#"{"at":["1795600800000"]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FieldValues(BTreeMap<String, Wanted>);

/// A field whose values are wanted.
#[derive(Clone, Debug)]
struct Wanted {
    /// The name under which documents have the values.
    stored: String,
    kind: FieldKind,
    /// True if the values are those of `stored` as keywords beside words.
    is_beside: bool,
    format: Option<String>,
    /// True if values are sorted, as OpenSearch's columns have them.
    is_sorted: bool,
}

impl FieldValues {
    /// Finds the fields that a search wants in an index.
    ///
    /// # Errors
    /// If a field does not have values of the kind that is wanted, or does not have the format.
    pub fn new(body: &SearchBody, schema: &Schema) -> Result<FieldValues, Refusal> {
        if body.is_bare && !body.fields.is_empty() {
            let reason = "[stored_fields] cannot be disabled when using the [fields] option";
            return Err(Refusal::new("search_exception", 400, reason));
        }
        let all = all(schema);
        let mut wanted = FieldValues::default();
        for part in &body.docvalue_fields {
            wanted.add(part, &all, true)?;
        }
        for part in &body.fields {
            wanted.add(part, &all, false)?;
        }
        Ok(wanted)
    }

    /// True if no field is wanted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(
        &mut self,
        part: &Part,
        all: &[(String, Wanted)],
        is_sorted: bool,
    ) -> Result<(), Refusal> {
        let pattern = &*part.field;
        if is_sorted && is_of_every_document(pattern) {
            return Err(Refusal::unsupported(format!("[docvalue_fields] of [{pattern}]")));
        }
        for (name, field) in all.iter().filter(|(name, _)| matches(pattern, name)) {
            if is_sorted && matches!(field.kind, FieldKind::Text(_)) {
                if pattern == name {
                    return Err(without_values(name));
                }
                continue;
            }
            let format = part.format.clone().filter(|format| !is_sorted || format != OF_FIELD);
            check_format(name, field.kind, format.as_deref(), is_sorted)?;
            self.0.insert(name.clone(), Wanted { format, is_sorted, ..field.clone() });
        }
        Ok(())
    }

    /// Returns the member `fields` of a hit: of each field an array; none without values.
    pub fn of(&self, values: &[(&str, Value<'_>)]) -> Option<Json> {
        let mut shown = Vec::new();
        for (name, wanted) in &self.0 {
            let own = values.iter().filter(|(name, _)| *name == wanted.stored);
            let mut own: Vec<Value<'_>> = own.map(|(_, value)| *value).collect();
            if wanted.is_beside {
                let is_short = |text: &str| text.chars().count() <= KEYWORD_CHARACTERS_MAX;
                own.retain(|value| value.as_str().is_none_or(is_short));
            }
            if wanted.is_sorted {
                sort(&mut own);
            }
            if !own.is_empty() {
                let own = own.into_iter().map(|value| wanted.json(value)).collect();
                shown.push((name.clone(), Json::Array(own)));
            }
        }
        (!shown.is_empty()).then_some(Json::Object(shown))
    }
}

/// Returns all fields of an index, keywords beside words too.
fn all(schema: &Schema) -> Vec<(String, Wanted)> {
    let mut all = Vec::new();
    for leaf in leaves(schema) {
        let (format, is_sorted) = (None, false);
        let stored = leaf.name.clone();
        if leaf.has_keywords {
            let (stored, kind) = (stored.clone(), FieldKind::Keyword);
            let beside = Wanted { stored, kind, is_beside: true, format: None, is_sorted };
            all.push((format!("{}.keyword", leaf.name), beside));
        }
        all.push((
            leaf.name,
            Wanted { stored, kind: leaf.kind, is_beside: false, format, is_sorted },
        ));
    }
    all
}

fn check_format(
    name: &str,
    kind: FieldKind,
    format: Option<&str>,
    is_sorted: bool,
) -> Result<(), Refusal> {
    let Some(format) = format else { return Ok(()) };
    let is_number = matches!(kind, FieldKind::Integer | FieldKind::Float);
    let of_type = || format!("Field [{name}] of type [{}]", mapped(kind));
    match kind {
        FieldKind::Time(_) => checked(format),
        _ if is_sorted && is_number => {
            Err(Refusal::unsupported(format!("the format [{format}] of field [{name}]")))
        }
        _ if is_sorted => {
            Err(Refusal::illegal_argument(of_type() + " does not support custom formats"))
        }
        _ => Err(Refusal::illegal_argument(of_type() + " doesn't support formats.")),
    }
}

/// Sorts values as columns have them: words once, numbers as often as they are there.
fn sort(values: &mut Vec<Value<'_>>) {
    values.sort_by(|a, b| match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (a, b) => number(*a).total_cmp(&number(*b)),
    });
    values.dedup_by(|a, b| matches!((a, b), (Value::Text(a), Value::Text(b)) if a == b));
}

fn number(value: Value<'_>) -> f64 {
    match value {
        Value::Integer(number) => number as f64,
        Value::Float(number) => number,
        _ => 0.0,
    }
}

impl Wanted {
    fn json(&self, value: Value<'_>) -> Json {
        let float = |number| Number::from_f64(number).map_or(Json::Null, Json::Number);
        match value {
            Value::Text(text) => Json::String(text.to_owned()),
            // A field that was widened has both.
            Value::Integer(number) if self.kind == FieldKind::Float => float(number as f64),
            Value::Integer(number) => Json::Number(number.into()),
            Value::Float(number) => float(number),
            Value::Boolean(yes) => Json::Bool(yes),
            Value::Time(ms) => {
                let text = formatted(ms, self.format.as_deref(), None);
                text.map_or(Json::Null, Json::String)
            }
            Value::Object => Json::Null,
        }
    }
}
