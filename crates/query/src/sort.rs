//! Matches in the order of a field's values.
//!
//! A value becomes a *key*, the greater the earlier: its [sortable](ValueKind::sortable) form, turned over where the least comes first. A document
//! without a value has none and comes last; of two with the same value the newer comes first. One with several counts by
//! that which comes first.

use spirit_index::term::FieldId;
use spirit_index::values::ValueKind;

use crate::collect::{Hit, Limit};
use crate::top::{Placed, Top};

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The least value.
    Ascending,
    /// The greatest.
    Descending,
}

/// The field that matches are sorted by, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortBy {
    /// The field.
    pub field: FieldId,
    /// What its values are.
    pub kind: ValueKind,
    /// What comes first.
    pub direction: Direction,
}

impl SortBy {
    /// The key of a value in sortable form; and the value of a key.
    #[inline]
    pub(crate) fn key(&self, value: u64) -> u64 {
        match self.direction {
            Direction::Ascending => !value,
            Direction::Descending => value,
        }
    }

    /// The values in sortable form whose keys are not below this one.
    pub(crate) fn values_from(&self, key: u64) -> (u64, u64) {
        match self.direction {
            Direction::Ascending => (0, !key),
            Direction::Descending => (key, u64::MAX),
        }
    }

    /// The bits of the value with this key.
    pub fn bits(&self, key: u64) -> u64 {
        self.kind.from_sortable(self.key(key))
    }
}

/// A match with its place in the order.
#[derive(Clone, Copy, Debug)]
pub struct Sorted {
    /// The key of its value, if it has one.
    pub key: Option<u64>,
    /// The document's sequence number.
    pub sequence: u64,
    /// The document.
    pub hit: Hit,
}

impl Placed for Sorted {
    type Place = (Option<u64>, u64);

    fn place(&self) -> (Option<u64>, u64) {
        (self.key, self.sequence)
    }
}

/// Takes matches with their keys.
pub(crate) struct Sorting<'s> {
    pub(crate) top: &'s mut Top<Sorted>,
    pub(crate) by: SortBy,
    pub(crate) executor: u32,
}

impl Sorting<'_> {
    /// Whether a match with this key may be among the first.
    pub(crate) fn takes(&self, key: Option<u64>) -> bool {
        match self.top.worst() {
            Some((worst, true)) => key >= worst.key,
            Some((worst, false)) => key > worst.key,
            None => true,
        }
    }

    /// No match counts whose key is below it.
    pub(crate) fn least(&self) -> Option<u64> {
        self.top.worst().and_then(|(worst, _)| worst.key)
    }
}

impl Limit for Sorting<'_> {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}
