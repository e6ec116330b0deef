//! Values that do not fit their fields: left out, converted, or the reason to refuse a document.

use clap::ValueEnum;
use spirit::schema::{Field, FieldError, Schema};
use spirit::{FieldKind, Value};

use crate::chunk::{Chunk, Held};

/// What happens to a document with a value that does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnMisfit {
    /// The document goes in without the value
    Keep,
    /// The document is refused
    Refuse,
    /// The value is converted if nothing of it is lost; otherwise as keep
    Convert,
}

impl OnMisfit {
    /// Makes the document at `index` fit. Calls `left_out` with each value that it leaves out. True
    /// if it changed anything.
    pub(crate) fn fit(
        self,
        chunk: &mut Chunk,
        index: usize,
        schema: &Schema,
        mut left_out: impl FnMut(&str, FieldError),
    ) -> bool {
        // The first value of a field that the document brings says the kind of the others.
        let mut schema = schema.clone();
        chunk.change_fields(index, |name, value| {
            // A name that is refused is not a misfit.
            let _ = schema.grow([(name, value)]);
            let misfit = schema.check(name, value).err()?;
            if !is_misfit(&misfit) {
                return None;
            }
            let field = schema.by_name(name).filter(|_| self == OnMisfit::Convert);
            let wider = |field: &Field| field.may_widen().then_some(FieldKind::Float);
            let convert = |field: &Field| {
                let held = converted(value, field.kind);
                held.or_else(|| converted(value, wider(field)?))
            };
            if let Some(held) = field.and_then(convert) {
                return Some(held);
            }
            left_out(name, misfit);
            Some(Held::Nothing)
        })
    }
}

/// True if a value does not fit its field.
pub(crate) fn is_misfit(error: &FieldError) -> bool {
    matches!(error, FieldError::Misfit { .. } | FieldError::KeywordTooLong { .. })
}

/// Returns the value as one of a field of this kind; none if something of it would be lost.
fn converted(value: Value<'_>, kind: FieldKind) -> Option<Held> {
    let finite = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    match (kind, value) {
        // A longer keyword would not fit either.
        (FieldKind::Keyword, Value::Text(_)) => None,
        (FieldKind::Text(_) | FieldKind::Keyword, value) => Some(Held::Own(value.to_string())),
        (FieldKind::Integer, Value::Text(text)) => text.trim().parse().ok().map(Held::Integer),
        (FieldKind::Float, Value::Text(text)) => finite(text.trim()).map(Held::Float),
        (FieldKind::Time(_), Value::Text(text)) => {
            let number = || finite(text.trim()).map(Held::Float);
            text.trim().parse().ok().map(Held::Integer).or_else(number)
        }
        (FieldKind::Boolean, Value::Text(text)) => text.trim().parse().ok().map(Held::Boolean),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use spirit::Analyzer;
    use spirit::schema::TimeUnit;

    use super::*;

    #[test]
    fn a_value_is_converted_if_nothing_of_it_is_lost() {
        let seconds = FieldKind::Time(TimeUnit::Seconds);
        let text = FieldKind::Text(Analyzer::Simple);
        for (kind, value, expected) in [
            (FieldKind::Integer, Value::Text(" 17 "), Some(Held::Integer(17))),
            (FieldKind::Integer, Value::Text("17.5"), None),
            (FieldKind::Integer, Value::Float(17.5), None),
            (FieldKind::Integer, Value::Boolean(true), None),
            (FieldKind::Float, Value::Text("-2.5"), Some(Held::Float(-2.5))),
            (FieldKind::Float, Value::Text("inf"), None),
            (FieldKind::Keyword, Value::Integer(17), Some(Held::Own("17".into()))),
            (text, Value::Boolean(true), Some(Held::Own("true".into()))),
            (seconds, Value::Text("17"), Some(Held::Integer(17))),
            (seconds, Value::Text("soon"), None),
            (FieldKind::Boolean, Value::Text("true"), Some(Held::Boolean(true))),
            (FieldKind::Boolean, Value::Integer(1), None),
        ] {
            assert_eq!(converted(value, kind), expected, "{value:?} as {kind}");
        }
    }
}
