//! Intervals of values, and the ranges of a query, which consist of them.

use spirit_index::ground::FieldId;
use spirit_index::ground::ValueKind;

/// The values from the first to the second, both included.
pub(crate) type Interval = (u64, u64);

/// A range of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryRange {
    pub(crate) field: FieldId,
    pub(crate) kind: ValueKind,
    pub(crate) first: u32,
    pub(crate) count: u32,
}
