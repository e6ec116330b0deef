//! Facets: values of fields, over all documents that match.
//!
//! Matches are collected in the reader's memory. The tables of values and buckets are allocated.

use spirit_query::{Aggregate, Aggregation, Facet, Query, snapshot_for};

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
    let Lent { seat, memory: Workspace { scratch, .. } } = lent;
    let settings = ask.settings();
    seat.ask(ask.index, End::Leave, |view| {
        let mut aggregation = Aggregation::new(facets, filters.to_vec(), &view.fields.current())?;
        let over_ms = view.over_ms();
        for part in &view.parts {
            let snapshot = snapshot_for(&part.memory, ask.query, over_ms);
            aggregation.add(&snapshot, ask.query, settings, scratch)?;
        }
        Ok(aggregation.finish()?)
    })
}
