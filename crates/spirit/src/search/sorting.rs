//! Searches in the order of the values of one field or several.
//!
//! One key with missing values last is the usual order, which skips segments. Any other order reads
//! every match.

use spirit_query::{Direction, Fingerprint, KEYS_MAX, KeyBy, Query, SortBy, Stop};
use spirit_schema::Schema;

use crate::cached::{Bypass, Caller, Candidate, Question, Recall, Wanted};
use crate::search::ask::{Ask, Lent};
use crate::search::cursor::{self, KeyedCursor, Last, SortedCursor};
use crate::search::error::SearchError;
use crate::search::found::{Found, Sorted};
use crate::search::request::{Key, Search};
use crate::search::seat::End;
use crate::search::totals::{Count, counted, keep};
use crate::search::workspace::{Totaling, Workspace};
use crate::storage::view::View;

/// Finds the first hits in the order of these keys, and holds their memory.
pub(crate) fn answer(
    ask: Ask<'_>,
    lent: Lent<'_>,
    search: &Search,
    key: &Key,
    further: &[Key],
) -> Result<(), SearchError> {
    let Lent { seat, memory } = lent;
    if further.len() >= KEYS_MAX {
        return Err(SearchError::TooManyKeys { keys: 1 + further.len(), max: KEYS_MAX });
    }
    if further.is_empty() && !key.missing_first {
        let by = sort_by(ask.schema, &key.field, key.direction)?;
        let candidate = candidate(ask, search, by, &mut memory.recall);
        let mut counted = counted(ask, search, memory);
        seat.ask(ask.index, End::Hold, |view| {
            first(ask, view, search, by, memory, candidate, &mut counted)
        })?;
        return keep(candidate, counted, memory);
    }
    ask.bypass(Bypass::Order, &mut memory.recall);
    let key_by = |key: &Key| {
        let by = sort_by(ask.schema, &key.field, key.direction)?;
        Ok(KeyBy { by, missing_first: key.missing_first })
    };
    let order =
        std::iter::once(key).chain(further).map(key_by).collect::<Result<Vec<_>, SearchError>>()?;
    let mut counted = counted(ask, search, memory);
    seat.ask(ask.index, End::Hold, |view| {
        first_by_keys(ask, view, search, &order, memory, &mut counted)
    })?;
    keep(None, counted, memory)
}

/// Returns a question for the first matches as one that may have an entry.
fn candidate<'r>(
    ask: Ask<'r>,
    search: &Search,
    by: SortBy,
    recall: &mut Recall,
) -> Option<Candidate<'r>> {
    let Search { k, algorithm, windows, .. } = *search;
    if by.is_by_words() {
        return ask.bypass(Bypass::Order, recall);
    }
    if search.after.is_some() || algorithm.is_some() || windows || k == 0 {
        return ask.bypass(Bypass::Page, recall);
    }
    ask.candidate(Question::First(Wanted { by, k }), recall)
}

/// Returns the order by the field with this name; an error if it cannot be sorted by.
fn sort_by(schema: &Schema, name: &str, direction: Direction) -> Result<SortBy, SearchError> {
    match schema.asked_whole(name) {
        Some((field, kind)) if !kind.is_text() => {
            Ok(SortBy { field, kind: kind.value_kind(), direction })
        }
        found => Err(SearchError::Unsortable {
            field: name.to_owned(),
            kind: found.map(|(_, kind)| kind),
        }),
    }
}

/// Finds the first hits in the order of several keys.
fn first_by_keys(
    ask: Ask<'_>,
    view: &View,
    search: &Search,
    order: &[KeyBy],
    memory: &mut Workspace,
    counted: &mut Option<Count<'_>>,
) -> Result<(), SearchError> {
    let fingerprint = fingerprint(ask.query, order);
    let after = match search.after.as_ref().map(|cursor| (&cursor.last, cursor.limit)) {
        None => None,
        Some((Last::Keyed(last), limit)) if last.fingerprint == fingerprint => Some((last, limit)),
        Some(_) => return Err(SearchError::Cursor),
    };
    // The order matters, as in `first`.
    let now = view.sequence();
    let Workspace { scratch, hits, keyed, snapshots, recall, total_recall, .. } = memory;
    snapshots.take(view, ask.query);
    let settings = ask.settings_of(search);
    keyed.begin(order, search.k, after.map(|(KeyedCursor { bytes, .. }, _)| &bytes[..]));
    ask.with_clauses(view, settings, recall, |settings| {
        for (number, snapshot) in (0..).zip(snapshots.iter(view)) {
            spirit_query::sorted_by_keys(&snapshot, ask.query, settings, scratch, number, keyed)?;
        }
        Ok::<_, Stop>(())
    })?;
    keyed.finish();
    let mut room = Totaling { snapshots, scratch, recall: total_recall };
    let total = counted.as_mut().map(|counted| counted.all(ask, view, settings, &mut room));
    hits.clear();
    hits.extend(keyed.found().iter().map(|found| found.hit));
    let limit = after.map_or(now, |(_, limit)| limit);
    memory.found = Found::Keyed { limit, fingerprint };
    memory.total = total.transpose()?;
    Ok(())
}

/// Returns the fingerprint of a query in the order of several keys.
fn fingerprint(query: &Query, order: &[KeyBy]) -> u32 {
    let of_key = |print: Fingerprint, key: &KeyBy| {
        let KeyBy { by, missing_first } = key;
        let is_descending = by.direction == Direction::Descending;
        let choices = 2 * u64::from(is_descending) + u64::from(*missing_first);
        print.and(u64::from(by.field.0)).and(by.kind as u64).and(choices)
    };
    order.iter().fold(Fingerprint::of(query), of_key).short()
}

/// Finds the first hits in the order of a field's values.
fn first(
    ask: Ask<'_>,
    view: &View,
    search: &Search,
    by: SortBy,
    memory: &mut Workspace,
    mut candidate: Option<Candidate<'_>>,
    counted: &mut Option<Count<'_>>,
) -> Result<(), SearchError> {
    let after = match search.after.as_ref().map(|cursor| (&cursor.last, cursor.limit)) {
        None => None,
        Some((Last::Sorted(last), limit)) if is_of(last, by) => Some((last, limit)),
        Some(_) => return Err(SearchError::Cursor),
    };
    let fingerprint = || cursor::sorted_fingerprint(ask.query, by);
    cursor::check(after.map(|(last, _)| last.fingerprint), fingerprint)?;
    // The order matters: a document that comes after `now` may be in this page, and is in no later
    // page.
    let now = view.sequence();
    let Workspace { scratch, hits, first, kept_first, snapshots, recall, total_recall, .. } =
        memory;
    snapshots.take(view, ask.query);
    let settings = ask.settings_of(search);
    let place = after.map(|(last, _)| (last.key.as_ref(), last.sequence));
    if !first.begin(by, search.k, place) {
        return Err(SearchError::Cursor);
    }
    let is_kept = candidate.as_mut().is_some_and(|candidate| candidate.begin(recall));
    match candidate.filter(|_| is_kept) {
        None => ask.with_clauses(view, settings, recall, |settings| {
            for (number, snapshot) in (0..).zip(snapshots.iter(view)) {
                spirit_query::sorted(&snapshot, ask.query, settings, by, scratch, number, first)?;
            }
            Ok::<_, Stop>(())
        })?,
        Some(kept) => {
            let wanted = Wanted { by, k: search.k };
            for (executor, snapshot) in snapshots.iter(view).enumerate() {
                let (view, query, snapshot) = (view.number, ask.query, &snapshot);
                let caller = Caller { view, executor, snapshot, query, settings, scratch };
                kept.first(caller, wanted, kept_first, recall)?;
                kept_first.found().iter().for_each(|found| first.offer(*found));
            }
        }
    }
    if let Some(candidate) = &candidate {
        candidate.end();
    }
    first.finish();
    hits.clear();
    hits.extend(first.found().iter().map(|found| found.hit));
    let limit = after.map_or(now, |(_, limit)| limit);
    let mut room = Totaling { snapshots, scratch, recall: total_recall };
    let total = counted.as_mut().map(|counted| counted.all(ask, view, settings, &mut room));
    memory.found = Found::Sorted(Sorted { by, limit });
    memory.total = total.transpose()?;
    Ok(())
}

/// True if a cursor is of this order.
fn is_of(last: &SortedCursor, by: SortBy) -> bool {
    (last.field, last.direction) == (by.field, by.direction)
}
