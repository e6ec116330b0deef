//! Facets: values of fields, over all documents that match.
//!
//! Matches are collected in the reader's memory. The tables of values and buckets are allocated.

use spirit_query::{Aggregate, Aggregation, Facet, Query, snapshot_for};

use crate::cached::Caller;
use crate::search::ask::{Ask, Lent};
use crate::search::error::SearchError;
use crate::search::seat::End;
use crate::search::workspace::Workspace;

/// Returns an answer for each facet, over all documents that match. `filters` are the queries of
/// filters.
pub(crate) fn aggregate(
    ask: Ask<'_>,
    lent: Lent<'_>,
    facets: &[Facet],
    filters: &[Query],
) -> Result<Vec<Aggregate>, SearchError> {
    let Lent { seat, memory: Workspace { scratch, recall, .. } } = lent;
    let (query, settings) = (ask.query, ask.settings());
    let mut candidate = ask.facets_candidate(facets, filters, recall);
    let found = seat.ask(ask.index, End::Leave, |view| {
        let schema = view.fields.current();
        let make =
            || Aggregation::new(facets, filters.to_vec(), &schema).map_err(SearchError::from);
        let mut all = make()?;
        let is_kept = candidate.as_mut().is_some_and(|candidate| candidate.begin(recall));
        let over_ms = view.over_ms();
        let mut snapshots =
            view.parts.iter().map(|part| snapshot_for(&part.memory, query, over_ms));
        match candidate.filter(|_| is_kept) {
            None => ask.with_clauses(view, settings, recall, |settings| {
                snapshots.try_for_each(|one| all.add(&one, query, settings, scratch))
            })?,
            Some(candidate) => {
                for (executor, snapshot) in snapshots.enumerate() {
                    let (view, snapshot) = (view.number, &snapshot);
                    let caller = Caller { view, executor, snapshot, query, settings, scratch };
                    candidate.aggregate(caller, &mut all, make, recall)?;
                }
            }
        }
        if let Some(candidate) = &candidate {
            candidate.end();
        }
        Ok(all.finish()?)
    })?;
    if let Some(candidate) = &candidate {
        candidate.keep(recall);
    }
    Ok(found)
}
