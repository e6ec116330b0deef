//! Values of fields: how they compare with each other, and with what is written in a query.

use std::cmp::Ordering;
use std::ops::Bound;

use spirit_query::TEXT;

use crate::{Document, Value};

/// The values that a document has in a field, each of its words on its own.
pub(crate) fn values<'d>(
    document: &'d Document,
    field: &'d str,
) -> impl Iterator<Item = Value> + 'd {
    let of_field = document.fields.iter().filter(move |(name, _)| name == field);
    of_field.flat_map(|(_, value)| match value {
        Value::Words(words) => {
            words.split_whitespace().map(|word| Value::Text(word.to_owned())).collect()
        }
        value => vec![value.clone()],
    })
}

/// The terms of a field: those of each value, which no phrase goes beyond.
pub(crate) fn terms<'d>(document: &'d Document, field: &str) -> Vec<Vec<&'d str>> {
    if field == TEXT {
        return vec![document.words.iter().map(String::as_str).collect()];
    }
    let of_field = document.fields.iter().filter(|(name, _)| name == field);
    let of_value = |value: &'d Value| match value {
        Value::Words(words) => words.split_whitespace().collect(),
        Value::Text(text) => vec![text.as_str()],
        _ => Vec::new(),
    };
    of_field.map(|(_, value)| of_value(value)).collect()
}

/// Whether a value is between two that are written in a query.
pub(crate) fn is_between(value: &Value, from: &Bound<String>, to: &Bound<String>) -> bool {
    let begins = match from {
        Bound::Unbounded => true,
        Bound::Included(text) => {
            matches!(compare(value, text), Some(Ordering::Equal | Ordering::Greater))
        }
        Bound::Excluded(text) => compare(value, text) == Some(Ordering::Greater),
    };
    let ends = match to {
        Bound::Unbounded => true,
        Bound::Included(text) => {
            matches!(compare(value, text), Some(Ordering::Equal | Ordering::Less))
        }
        Bound::Excluded(text) => compare(value, text) == Some(Ordering::Less),
    };
    begins && ends
}

/// Whether a value is what is written in a query.
pub(crate) fn is(value: &Value, text: &str) -> bool {
    compare(value, text) == Some(Ordering::Equal)
}

fn compare(value: &Value, text: &str) -> Option<Ordering> {
    match value {
        Value::Text(given) | Value::Words(given) => Some(given.as_str().cmp(text)),
        Value::Boolean(given) => Some(given.cmp(&text.parse().ok()?)),
        Value::Time(given) => Some(given.cmp(&text.parse().ok()?)),
        Value::Float(given) => given.partial_cmp(&text.parse().ok()?),
        Value::Integer(given) => match text.parse::<i64>() {
            Ok(number) => Some(given.cmp(&number)),
            Err(_) => (*given as f64).partial_cmp(&text.parse().ok()?),
        },
    }
}

/// The order of two values of a field.
pub(crate) fn order(a: &Value, b: &Value) -> Ordering {
    let float = |value: &Value| match value {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        _ => 0.0,
    };
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (a, b) => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}
