//! Answers: each executor's part is evaluated, and the results are merged.

use std::cmp::Reverse;

use spirit_index::snapshot::Snapshot;
use spirit_query::{
    Algorithm, Counts, Parameters, Query, Ranking, Scored, Scratch, Settings, Stop, Tally, Total,
    has_equal_scores, newest_of_equals, snapshot_for,
};
use spirit_schema::Schema;

use crate::cached::{Bypass, Caller, Candidate, Outcome, Question, Recall};
use crate::search::ask::{Ask, Lent};
use crate::search::cursor::{self, Cursor, Last, RankedCursor};
use crate::search::error::SearchError;
use crate::search::found::{Found, Ranked};
use crate::search::recency;
use crate::search::request::{Order, Search};
use crate::search::seat::End;
use crate::search::sorting;
use crate::search::totals::{Count, counted, keep};
use crate::search::workspace::{Totaling, Workspace};
use crate::storage::view::View;

/// Counts all matches.
pub(crate) fn count(
    ask: Ask<'_>,
    lent: Lent<'_>,
    algorithm: Option<Algorithm>,
) -> Result<u64, SearchError> {
    let Lent { seat, memory: Workspace { scratch, recall, .. } } = lent;
    let settings = Settings { algorithm, ..ask.settings() };
    let candidate = match algorithm {
        None => ask.candidate(Question::Count, recall),
        Some(_) => None,
    };
    let Some(mut candidate) = candidate else {
        return seat.ask(ask.index, End::Leave, |view| {
            ask.with_clauses(view, settings, recall, |settings| {
                count_anew(ask.query, view, settings, scratch)
            })
        });
    };
    let count = seat.ask(ask.index, End::Leave, |view| {
        let count = match candidate.begin(recall) {
            true => count_kept(ask.query, view, settings, scratch, (candidate, recall)),
            false => ask.with_clauses(view, settings, recall, |settings| {
                count_anew(ask.query, view, settings, scratch)
            }),
        };
        candidate.end();
        count
    })?;
    candidate.keep(recall);
    Ok(count)
}

/// Counts with what the result cache has.
fn count_kept(
    query: &Query,
    view: &View,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    (candidate, recall): (Candidate<'_>, &mut Recall),
) -> Result<u64, SearchError> {
    let (mut count, over_ms) = (0, view.over_ms());
    for (executor, part) in view.parts.iter().enumerate() {
        let snapshot = &snapshot_for(&part.memory, query, over_ms);
        let caller = Caller { view: view.number, executor, snapshot, query, settings, scratch };
        count += candidate.count(caller, recall)?;
    }
    Ok(count)
}

fn count_anew(
    query: &Query,
    view: &View,
    settings: Settings<'_>,
    scratch: &mut Scratch,
) -> Result<u64, SearchError> {
    let (mut count, over_ms) = (0, view.over_ms());
    for part in &view.parts {
        let snapshot = snapshot_for(&part.memory, query, over_ms);
        count += spirit_query::count(&snapshot, query, settings, scratch)?;
    }
    Ok(count)
}

/// Counts matches, exactly up to `up_to`.
pub(crate) fn total(ask: Ask<'_>, lent: Lent<'_>, up_to: u64) -> Result<Total, SearchError> {
    let Lent { seat, memory: Workspace { scratch, snapshots, recall, .. } } = lent;
    let mut count = Count::new(ask, up_to, recall);
    let settings = ask.settings();
    let total = seat.ask(ask.index, End::Leave, |view| {
        snapshots.take(view, ask.query);
        Ok(count.all(ask, view, settings, &mut Totaling { snapshots, scratch, recall })?)
    })?;
    count.keep(recall);
    Ok(total)
}

/// Finds the first hits in the order of `search`, and holds their memory. Counts matches if the
/// search asks for it.
#[inline(always)]
pub(crate) fn answer(ask: Ask<'_>, lent: Lent<'_>, search: &Search) -> Result<(), SearchError> {
    let Lent { seat, memory } = lent;
    match &search.order {
        Order::Newest => {
            let Search { algorithm, windows, .. } = *search;
            let is_plain = search.after.is_none() && algorithm.is_none() && !windows;
            let candidate = match is_plain {
                true => ask.candidate(Question::Newest(search.k), &mut memory.recall),
                false => ask.bypass(Bypass::Page, &mut memory.recall),
            };
            let mut counted = counted(ask, search, memory);
            seat.ask(ask.index, End::Hold, |view| {
                newest(ask, view, search, memory, candidate, &mut counted)
            })?;
            keep(candidate, counted, memory)
        }
        Order::Relevance(parameters) => {
            let by = ranking(ask, search, *parameters)?;
            let candidate = best_candidate(ask, search, by, &mut memory.recall);
            let mut counted = counted(ask, search, memory);
            seat.ask(ask.index, End::Hold, |view| {
                best(ask, view, search, by, memory, candidate, &mut counted)
            })?;
            keep(candidate, counted, memory)
        }
        Order::Fields { first, further } => {
            let further = further.as_ref().map_or(&[][..], |further| &further[..]);
            sorting::answer(ask, Lent { seat, memory }, search, first, further)
        }
    }
}

/// Returns a question for the best matches as one that may have an entry.
#[inline]
fn best_candidate<'r>(
    ask: Ask<'r>,
    search: &Search,
    by: Ranking,
    recall: &mut Recall,
) -> Option<Candidate<'r>> {
    if by.fading.is_some() {
        return ask.bypass(Bypass::Fades, recall);
    }
    let Search { algorithm, windows, skips, k, .. } = *search;
    if search.after.is_some() || algorithm.is_some() || windows || !skips || k == 0 {
        return ask.bypass(Bypass::Page, recall);
    }
    let Parameters { k1, b } = by.parameters;
    let parameters = [k1, b].map(f32::to_bits);
    ask.candidate(Question::Best { k, parameters, proximity: by.proximity }, recall)
}

/// Returns the ranking of `search`; an error if its cursor is another search's.
fn ranking(ask: Ask<'_>, search: &Search, parameters: Parameters) -> Result<Ranking, SearchError> {
    let after = search.after.as_ref().map(|cursor| ranked(cursor, ask.query)).transpose()?;
    ranking_in(ask, search, parameters, after, ask.schema)
}

/// Like [`ranking`], after a place of the query, and with the fields of a schema.
pub(crate) fn ranking_in(
    ask: Ask<'_>,
    search: &Search,
    parameters: Parameters,
    after: Option<&RankedCursor>,
    schema: &Schema,
) -> Result<Ranking, SearchError> {
    let proximity = search.proximity && matches!(search.order, Order::Relevance(_));
    if !parameters.are_sound() {
        return Err(SearchError::Parameters);
    }
    if proximity && !ask.index.options.positions {
        return Err(SearchError::NoPositions);
    }
    let fading = recency::fading(search.recency.as_ref(), schema, after)?;
    let ranking = Ranking { parameters, skips: search.skips, fading, proximity };
    let fingerprint = || cursor::fingerprint(ask.query, &ranking);
    cursor::check(after.map(|cursor| cursor.fingerprint), fingerprint)?;
    Ok(ranking)
}

fn newest(
    ask: Ask<'_>,
    view: &View,
    search: &Search,
    memory: &mut Workspace,
    mut candidate: Option<Candidate<'_>>,
    counted: &mut Option<Count<'_>>,
) -> Result<(), SearchError> {
    if search.after.as_ref().is_some_and(|cursor| cursor.last != Last::Newest) {
        return Err(SearchError::Cursor);
    }
    let Workspace { scratch, hits, merge, snapshots, recall, total_recall, .. } = memory;
    let (query, settings) = (ask.query, ask.settings_of(search));
    snapshots.clear();
    let is_kept = candidate.as_mut().is_some_and(|candidate| candidate.begin(recall));
    hits.clear();
    let over_ms = view.over_ms();
    for (number, part) in view.parts.iter().enumerate() {
        let snapshot = snapshot_for(&part.memory, query, over_ms);
        if counted.is_some() {
            snapshots.push(&snapshot);
        }
        match candidate.filter(|_| is_kept) {
            None => {
                let executor = number as u32;
                spirit_query::newest(
                    &snapshot, query, settings, scratch, executor, search.k, hits,
                )?;
            }
            Some(candidate) => {
                let (view, snapshot) = (view.number, &snapshot);
                let caller = Caller { view, executor: number, snapshot, query, settings, scratch };
                candidate.newest(caller, search.k, hits, recall)?;
            }
        }
    }
    if let Some(candidate) = &candidate {
        candidate.end();
    }
    let mut total = None;
    if let Some(counted) = counted {
        let is_approximate = recall.outcome == Outcome::Approximate;
        let is_exact = settings.before.is_none() && !is_approximate;
        let known = |executor: usize| {
            let found = hits.iter().filter(|hit| hit.executor as usize == executor).count();
            // All matches of this part are among the hits.
            (found < search.k && is_exact).then_some(found as u64)
        };
        let mut room = Totaling { snapshots, scratch, recall: total_recall };
        total = Some(counted.of_others(ask, view, settings, &mut room, known)?);
    }
    if view.parts.len() > 1 {
        merge.clear();
        merge.extend(hits.iter().map(|hit| (Reverse(view.sequence_of(*hit)), *hit)));
        merge.sort_unstable_by_key(|(newest_first, _)| *newest_first);
        merge.truncate(search.k);
        hits.clear();
        hits.extend(merge.iter().map(|(_, hit)| *hit));
    }
    (memory.found, memory.total) = (Found::Newest, total);
    Ok(())
}

/// Returns the ranked place of a cursor; an error if the cursor is another query's.
pub(crate) fn ranked<'c>(
    cursor: &'c Cursor,
    query: &Query,
) -> Result<&'c RankedCursor, SearchError> {
    match &cursor.last {
        Last::Ranked(ranked) if ranked.counts.are_of(query) => Ok(ranked),
        _ => Err(SearchError::Cursor),
    }
}

/// Counts documents and terms for scores. After a cursor, these are the first page's counts.
pub(crate) fn count_terms<'v>(
    query: &Query,
    after: Option<&RankedCursor>,
    snapshots: impl Iterator<Item = Snapshot<'v>>,
    counts: &mut Counts,
) {
    match after {
        Some(RankedCursor { counts: earlier, .. }) => counts.clone_from(earlier),
        None => {
            counts.begin(query);
            snapshots.for_each(|snapshot| counts.add(&snapshot, query));
        }
    }
}

/// Returns a count of the matches if the pass that finds the best can count them too: all score
/// equally, and the cache has no part in it.
fn tally_of_equals(
    ask: Ask<'_>,
    search: &Search,
    by: Ranking,
    candidate: Option<Candidate<'_>>,
    counted: Option<&Count<'_>>,
) -> Option<Tally> {
    let tally = counted?.tally_alone().filter(|_| candidate.is_none())?;
    let is_plain = search.after.is_none() && by.skips && by.fading.is_none() && !search.windows;
    (is_plain && has_equal_scores(ask.query)).then_some(tally)
}

/// Finds the best hits by relevance.
fn best(
    ask: Ask<'_>,
    view: &View,
    search: &Search,
    by: Ranking,
    memory: &mut Workspace,
    mut candidate: Option<Candidate<'_>>,
    counted: &mut Option<Count<'_>>,
) -> Result<(), SearchError> {
    // The order matters: a document that comes after `now` may be in this page, and is in no later
    // page.
    let now = view.sequence();
    let Workspace { scratch, hits, snapshots, counts, top, scored, recall, total_recall, .. } =
        memory;
    let (query, settings) = (ask.query, ask.settings_of(search));
    let after = search.after.as_ref().map(|cursor| ranked(cursor, query)).transpose()?;
    snapshots.take(view, query);
    count_terms(query, after, snapshots.iter(view), counts);
    let limit = search.after.as_ref().map_or(now, |cursor: &Cursor| cursor.limit);
    let order = Found::Best(Ranked { by, limit });
    let mut equals = tally_of_equals(ask, search, by, candidate, counted.as_ref());
    let is_kept = candidate.as_mut().is_some_and(|candidate| candidate.begin(recall));
    let mut kept = candidate.filter(|_| is_kept);
    if let Some(candidate) = &mut kept
        && candidate.find_best(view.number, snapshots.iter(view), recall, scored)
    {
        kept = None;
    } else {
        top.begin(search.k, after.map(|last| Scored::place_of(last.score, last.sequence)));
        scratch.weigh(query, counts, by);
        ask.with_clauses(view, settings, recall, |settings| {
            for (number, snapshot) in snapshots.iter(view).enumerate() {
                let number = number as u32;
                match &mut equals {
                    Some(tally) => {
                        newest_of_equals(&snapshot, query, settings, scratch, number, top, tally)?;
                    }
                    None => {
                        spirit_query::best(&snapshot, query, settings, by, scratch, number, top)?;
                    }
                }
            }
            Ok::<_, Stop>(())
        })?;
        top.drain_into(scored);
    }
    match (&kept, &candidate) {
        (Some(kept), _) => kept.keep_best(scored, recall),
        (None, Some(timed)) => timed.end(),
        (None, None) => {}
    }
    hits.clear();
    hits.extend(scored.iter().map(|found| found.hit));
    let mut room = Totaling { snapshots, scratch, recall: total_recall };
    let total = match (equals, counted) {
        (Some(tally), _) => Some(tally.total()),
        (None, Some(counted)) => Some(counted.all(ask, view, settings, &mut room)?),
        (None, None) => None,
    };
    (memory.found, memory.total) = (order, total);
    Ok(())
}
