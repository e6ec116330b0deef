//! What a document was made of.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use spirit::{Hit, HitError};
use spirit_forms::values;

/// Returns the source of a hit's document. An index that was made by the server gives it back as it
/// came; others have a text and fields.
pub(super) fn of(hit: &Hit<'_>, is_opaque: bool) -> Result<Box<RawValue>, HitError> {
    let text = hit.text()?;
    if is_opaque && let Ok(source) = RawValue::from_string(text.to_owned()) {
        return Ok(source);
    }
    let mut members = Map::new();
    members.insert("text".to_owned(), text.into());
    for (name, value) in hit.fields()? {
        match members.get_mut(name) {
            None => _ = members.insert(name.to_owned(), values::json(value)),
            Some(Value::Array(several)) => several.push(values::json(value)),
            Some(one) => *one = Value::Array(vec![one.take(), values::json(value)]),
        }
    }
    let source = serde_json::value::to_raw_value(&members);
    // A map of texts and numbers can be written.
    source.or_else(|_| RawValue::from_string("{}".to_owned())).map_err(|_| HitError::NotStored)
}
