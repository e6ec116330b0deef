//! Explanations of evaluations and of scores.
//!
//! Unlike a reader's other answers, these allocate. They may take any time up to the reader's
//! limits.

use std::sync::Arc;

use spirit_query::{Explanation, Parameters, QueryPlan, Scoring, Wanted, snapshot_for};

use crate::search::answer::{count_terms, ranked, ranking_in};
use crate::search::ask::{Ask, Lent};
use crate::search::error::SearchError;
use crate::search::request::{Order, Search, of_all};
use crate::search::seat::End;
use crate::search::workspace::Workspace;
use crate::storage::shared::Shared;

/// Describes how a search is evaluated in each executor.
pub(crate) fn plan(
    ask: Ask<'_>,
    lent: Lent<'_>,
    search: &Search,
) -> Result<QueryPlan, SearchError> {
    let Lent { seat, memory: Workspace { scratch, .. } } = lent;
    let (query, settings) = (ask.query, ask.settings_of(search));
    let wanted = match search.order {
        Order::Newest => Wanted::Newest(search.k),
        Order::Relevance(_) => Wanted::Best,
        Order::Fields { .. } => Wanted::ByField,
    };
    seat.ask(ask.index, End::Leave, |view| {
        let schema = view.fields.current();
        let over_ms = view.over_ms();
        let plan = |part: &Arc<Shared>| {
            let snapshot = snapshot_for(&part.memory, query, over_ms);
            spirit_query::survey(&snapshot, query, settings, scratch, &schema, wanted)
        };
        Ok(QueryPlan::new(view.parts.iter().map(plan).collect::<Result<_, _>>()?))
    })
}

/// Explains the score of the document with this key, or why it does not match; none if there is no
/// such document.
pub(crate) fn explain(
    ask: Ask<'_>,
    lent: Lent<'_>,
    search: &Search,
    key: &str,
) -> Result<Option<Explanation>, SearchError> {
    let Lent { seat, memory } = lent;
    let query = ask.query;
    let (parameters, after) = match search.order {
        Order::Relevance(parameters) => (parameters, search.after.as_ref()),
        Order::Newest | Order::Fields { .. } => (Parameters::default(), None),
    };
    let after = after.map(|cursor| ranked(cursor, query)).transpose()?;
    let Workspace { scratch, snapshots, counts, .. } = memory;
    let settings = of_all(ask.settings_of(search));
    seat.ask(ask.index, End::Leave, |view| {
        let schema = view.fields.current();
        let ranking = ranking_in(ask, search, parameters, after, &schema)?;
        snapshots.take(view, query);
        count_terms(query, after, snapshots.iter(view), counts);
        scratch.weigh(query, counts, ranking);
        let by = Scoring { schema: &schema, counts, parameters, fading: ranking.fading };
        for snapshot in snapshots.iter(view) {
            let key = key.as_bytes();
            let found = spirit_query::explain(&snapshot, query, settings, scratch, &by, key)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    })
}
