//! Values of fields in queries: a term, a number, a moment, a boolean.

use std::ops::Bound;

use spirit::query::Word;
use spirit::schema::TimeUnit;
use spirit::{Clause, FieldKind, Value};

use super::{Asked, number};
use crate::date::Dates;
use crate::error::Refusal;

/// The moments that the engine reads: from the year 0 to the end of 9999.
const MOMENTS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// Returns the type that OpenSearch's mappings have for a field of this kind.
pub(super) fn mapped(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text(_) => "text",
        FieldKind::Keyword => "keyword",
        FieldKind::Integer => "long",
        FieldKind::Float => "double",
        FieldKind::Time(_) => "date",
        FieldKind::Boolean => "boolean",
    }
}

/// Returns a moment as the engine reads it.
pub(super) fn moment(ms: i64) -> String {
    Value::Time(ms.clamp(*MOMENTS.start(), *MOMENTS.end())).to_string()
}

/// Returns the boolean that a text means.
pub(super) fn boolean(text: &str) -> Result<&str, Refusal> {
    match text {
        "true" | "false" => Ok(text),
        _ => Err(Refusal::query_shard(format!(
            "failed to create query: Can't parse boolean value [{text}], expected [true] or [false]"
        ))),
    }
}

/// Returns a clause for a term or value of a field, as it is.
pub(super) fn exactly(field: &str, text: impl Into<String>) -> Clause {
    Clause::Term(Word { field: field.to_owned(), text: text.into() })
}

impl Asked<'_> {
    /// Returns a clause for documents with a value of a field. Of a text, it is a term.
    pub(super) fn value(
        &self,
        field: &str,
        kind: FieldKind,
        text: &str,
    ) -> Result<Clause, Refusal> {
        Ok(match kind {
            FieldKind::Text(_) | FieldKind::Keyword => exactly(field, text),
            FieldKind::Integer => match number::whole(text)? {
                Some(whole) => exactly(field, whole.to_string()),
                None => Clause::Nothing,
            },
            FieldKind::Float => exactly(field, number::float(text)?.to_string()),
            FieldKind::Boolean => exactly(field, boolean(text)?),
            FieldKind::Time(unit) => {
                let dates = self.dates(unit, None, None)?;
                let [from, to] = [dates.ms(text, false)?, dates.ms(text, true)?].map(moment);
                let [from, to] = [from, to].map(Bound::Included);
                Clause::Range { field: field.to_owned(), from, to }
            }
        })
    }

    /// Returns the reader of moments of a field.
    pub(super) fn dates(
        &self,
        unit: TimeUnit,
        formats: Option<&str>,
        zone: Option<&str>,
    ) -> Result<Dates, Refusal> {
        Dates::new(self.context.now, unit, formats, zone)
    }
}
