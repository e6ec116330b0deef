//! Why a document has its score, and how a query is evaluated: for people who wonder.
//!
//! Unlike what a reader does otherwise, explaining allocates and takes as long as it takes, up to the reader's limits.

use std::sync::Arc;

use spirit_query::{
    Explanation, Parameters, Query, QueryPlan, Ranking as Asked, Scoring, Wanted, snapshot_for,
};

use super::{Reader, check, check_parameters, count_terms, ranked};
use crate::search::cursor;
use crate::search::error::SearchError;
use crate::search::memory::Memory;
use crate::search::recency;
use crate::search::request::{Order, Search, of_all};
use crate::search::seat::Seat;
use crate::storage::shared::Shared;

impl Reader<'_> {
    /// Parses `text` and says how it is [evaluated](Self::plan).
    pub fn plan_text(&mut self, text: &str, search: &Search) -> Result<QueryPlan, SearchError> {
        let query = self.parse(text)?.clone();
        self.plan(&query, search)
    }

    /// How a search is evaluated in each executor: what the planner chooses or `search` forces, and what the query's clauses find there.
    pub fn plan(&mut self, query: &Query, search: &Search) -> Result<QueryPlan, SearchError> {
        let Reader { index, seat, memory, .. } = self;
        check(index, query)?;
        let Memory { limits, scratch, .. } = memory;
        let settings = search.settings(index.options.vectors, limits.begin());
        let wanted = match search.order {
            Order::Newest => Wanted::Newest(search.k),
            Order::Relevance(_) => Wanted::Best,
            Order::Field { .. } => Wanted::ByField,
        };
        seat.ask(index, Seat::leave, |view| {
            let schema = view.fields.current();
            let over_ms = view.over_ms();
            let plan = |part: &Arc<Shared>| {
                let snapshot = snapshot_for(&part.memory, query, over_ms);
                spirit_query::survey(snapshot, query, settings, scratch, &schema, wanted)
            };
            Ok(QueryPlan::new(view.parts.iter().map(plan).collect::<Result<_, _>>()?))
        })
    }

    /// Parses `text` and [explains](Self::explain).
    pub fn explain_text(
        &mut self,
        text: &str,
        search: &Search,
        key: &str,
    ) -> Result<Option<Explanation>, SearchError> {
        let query = self.parse(text)?.clone();
        self.explain(&query, search, key)
    }

    /// Why the document with this key has the score that a search for the best gives it, or why it is not found; none if there is no such document.
    /// Scores are computed as `search` says: with its parameters, and after a cursor from what the first page's were. One
    /// that is for another order is explained by the usual parameters.
    pub fn explain(
        &mut self,
        query: &Query,
        search: &Search,
        key: &str,
    ) -> Result<Option<Explanation>, SearchError> {
        let Reader { index, seat, memory, .. } = self;
        check(index, query)?;
        let (parameters, after) = match search.order {
            Order::Relevance(parameters) => {
                check_parameters(parameters)?;
                (parameters, search.after.as_ref())
            }
            Order::Newest | Order::Field { .. } => (Parameters::default(), None),
        };
        let after = after.map(|cursor| ranked(cursor, query)).transpose()?;
        let Memory { limits, scratch, snapshots, counts, .. } = memory;
        let settings = of_all(search.settings(index.options.vectors, limits.begin()));
        seat.ask(index, Seat::leave, |view| {
            let schema = view.fields.current();
            let fading = recency::fading(search.recency.as_ref(), &schema, after)?;
            let fingerprint = || cursor::fingerprint(query, parameters, fading.as_ref());
            cursor::check(after.map(|cursor| cursor.fingerprint), fingerprint)?;
            snapshots.take(view, query);
            count_terms(query, after, snapshots.iter(view), counts);
            scratch.weigh(query, counts, Asked { parameters, skips: search.skips, fading });
            let by = Scoring { schema: &schema, counts, parameters, fading };
            for snapshot in snapshots.iter(view) {
                let key = key.as_bytes();
                let found = spirit_query::explain(snapshot, query, settings, scratch, &by, key)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }
}
