//! Ranges of keywords in a registered segment. A column has the place of each value in the order of
//! terms. So a range of terms is a range of places, whatever its size.

use std::ops::{Bound, RangeInclusive};

use spirit_index::column::Column;
use spirit_index::ground::ValueKind;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX};

use super::Place;
use crate::pattern::PatternKind;

/// Returns the column of a keyword field, and the places in it that a range of words covers. `None`
/// for any other pattern, field or segment.
pub(super) fn places<'l>(
    place: &Place<'l>,
    field: FieldId,
    kind: PatternKind,
    bytes: &[u8],
) -> Option<(Column<'l>, RangeInclusive<u64>)> {
    let PatternKind::Range { from, to, split } = kind else { return None };
    if place.is_fresh() {
        return None;
    }
    let column = place.segment.column(field, ValueKind::Keyword)?;
    let (low, high) = bytes.split_at(split as usize);
    let first = match from.at(low) {
        Bound::Unbounded => column.min(),
        Bound::Included(word) => begin(place, field, word),
        Bound::Excluded(word) => end(place, field, word),
    };
    let behind = match to.at(high) {
        Bound::Unbounded => column.max().saturating_add(1),
        Bound::Included(word) => end(place, field, word),
        Bound::Excluded(word) => begin(place, field, word),
    };
    // `behind` is one past the last place. An empty range becomes 1 to 0.
    let (first, last) = if first < behind { (first, behind - 1) } else { (1, 0) };
    Some((column, first..=last))
}

/// Returns the place of the first term from a word on.
fn begin(place: &Place<'_>, field: FieldId, word: &[u8]) -> u64 {
    place.segment.terms_from(field, word).place()
}

/// Returns the place of the first term after a word.
fn end(place: &Place<'_>, field: FieldId, word: &[u8]) -> u64 {
    let mut cursor = place.segment.terms_from(field, word);
    let at = cursor.place();
    let mut term = [0; TERM_BYTES_MAX];
    let found = cursor.next_term(&mut term);
    let is_there = found.is_some_and(|found| found.field == field && term[..found.len] == *word);
    at + u64::from(is_there)
}
