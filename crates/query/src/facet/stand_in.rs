//! The value that stands for the one that a document does not have.

use spirit_index::ground::{FieldId, ValueKind};
use spirit_schema::Schema;

use super::{Facet, FacetError};

/// A value in place of a missing one. It counts like a value of the document.
#[derive(Clone, Debug, PartialEq)]
pub enum StandIn {
    /// A keyword.
    Text(String),
    /// An integer, or a moment in milliseconds since 1970.
    Integer(i64),
    /// A number. With a fraction, it makes the values of a field of integers numbers, too.
    Float(f64),
    /// A boolean.
    Boolean(bool),
}

impl StandIn {
    /// Returns the kind of values of a facet in which it stands for some. `found` is the field and its
    /// kind: without such a field, it stands for the value of every document.
    pub(super) fn kind(
        &self,
        facet: &Facet,
        found: Result<(FieldId, ValueKind), FacetError>,
    ) -> Result<(FieldId, ValueKind), FacetError> {
        let own = match self {
            StandIn::Text(_) => ValueKind::Keyword,
            StandIn::Integer(_) => ValueKind::Integer,
            StandIn::Float(_) => ValueKind::Float,
            StandIn::Boolean(_) => ValueKind::Boolean,
        };
        let (field, kind) = match found {
            // No document has a value of the last field.
            Err(FacetError::UnknownField { .. }) => return Ok((FieldId::MAX, own)),
            found => found?,
        };
        let is_whole = matches!(self, StandIn::Float(number) if number.fract() == 0.0);
        match (kind, own) {
            (ValueKind::Integer, ValueKind::Float) if is_whole => Ok((field, kind)),
            (ValueKind::Integer, ValueKind::Float) => Ok((field, own)),
            (ValueKind::Float | ValueKind::Time, ValueKind::Integer) => Ok((field, kind)),
            (kind, own) if kind == own => Ok((field, kind)),
            _ => {
                let field = facet.field().to_owned();
                Err(FacetError::Choice { field, why: "what stands for a value is of another kind" })
            }
        }
    }

    /// Returns it in sortable form; a keyword as what `name` makes of it.
    pub(super) fn sortable(&self, kind: ValueKind, name: impl FnOnce(&[u8]) -> u64) -> u64 {
        let bits = match (self, kind) {
            (StandIn::Text(text), _) => return name(text.as_bytes()),
            (StandIn::Integer(number), ValueKind::Float) => (*number as f64).to_bits(),
            (StandIn::Integer(number), _) => number.cast_unsigned(),
            // A whole number that is beyond 64 bits is the nearest one.
            (StandIn::Float(number), ValueKind::Integer) => (*number as i64).cast_unsigned(),
            (StandIn::Float(number), _) => number.to_bits(),
            (StandIn::Boolean(is_true), _) => u64::from(*is_true),
        };
        kind.sortable(bits)
    }
}

impl Facet {
    /// Returns the field and the kind of the values, with those that stand for missing ones.
    pub(super) fn field_in(&self, schema: &Schema) -> Result<(FieldId, ValueKind), FacetError> {
        let Facet::Refined(refined) = self else { return self.check(schema) };
        let found = refined.facet.check(schema);
        match &refined.stand_in {
            Some(value) => value.kind(&refined.facet, found),
            None => found,
        }
    }
}
