//! Searches in the order of a field's values.

use spirit_query::{Direction, Fingerprint, SortBy, Tally, snapshot_for};
use spirit_schema::Schema;

use crate::search::ask::Ask;
use crate::search::cursor::{self, Last, SortedCursor};
use crate::search::error::SearchError;
use crate::search::found::{Found, Sorted};
use crate::search::request::{Search, of_all};
use crate::search::workspace::Workspace;
use crate::storage::view::View;

/// Returns the order by the field with this name; an error if it cannot be sorted by.
pub(crate) fn sort_by(
    schema: &Schema,
    name: &str,
    direction: Direction,
) -> Result<SortBy, SearchError> {
    let field = schema.by_name(name);
    let unsortable = || {
        let (field, kind) = (name.to_owned(), field.map(|field| field.kind));
        SearchError::Unsortable { field, kind }
    };
    let found = field.filter(|field| !field.kind.is_text()).ok_or_else(unsortable)?;
    Ok(SortBy { field: found.id, kind: found.kind.value_kind(), direction })
}

/// Finds the first hits in the order of a field's values.
pub(crate) fn first(
    ask: Ask<'_>,
    view: &View,
    search: &Search,
    by: SortBy,
    memory: &mut Workspace,
) -> Result<(), SearchError> {
    let after = match search.after.as_ref().map(|cursor| (&cursor.last, cursor.limit)) {
        None => None,
        Some((Last::Sorted(last), limit)) if is_of(last, by) => Some((last, limit)),
        Some(_) => return Err(SearchError::Cursor),
    };
    let fingerprint = || Fingerprint::of(ask.query).short();
    cursor::check(after.map(|(last, _)| last.fingerprint), fingerprint)?;
    // The order matters: a document that comes after `now` may be in this page, and is in no later
    // page.
    let now = view.sequence();
    let Workspace { scratch, hits, first, .. } = memory;
    let settings = ask.settings_of(search);
    let place = after.map(|(last, _)| (last.key.as_ref(), last.sequence));
    if !first.begin(by, search.k, place) {
        return Err(SearchError::Cursor);
    }
    let mut tally = search.total.map(Tally::up_to);
    let over_ms = view.over_ms();
    for (number, part) in (0..).zip(&view.parts) {
        let snapshot = snapshot_for(&part.memory, ask.query, over_ms);
        spirit_query::sorted(&snapshot, ask.query, settings, by, scratch, number, first)?;
        if let Some(tally) = &mut tally {
            tally.add(&snapshot, ask.query, of_all(settings), scratch)?;
        }
    }
    first.finish();
    hits.clear();
    hits.extend(first.found().iter().map(|found| found.hit));
    let limit = after.map_or(now, |(_, limit)| limit);
    memory.found = Found::Sorted(Sorted { by, limit });
    memory.total = tally.map(Tally::total);
    Ok(())
}

/// True if a cursor is of this order.
fn is_of(last: &SortedCursor, by: SortBy) -> bool {
    (last.field, last.direction) == (by.field, by.direction)
}
