//! A question, and the memory that answers it.

use spirit_query::{Facet, Query, Settings};
use spirit_schema::Schema;

use crate::cached::{Bypass, Candidate, Outcome, Question, Recall, ResultCache};
use crate::engine::readable::Readable;
use crate::search::request::{Limits, Search};
use crate::search::seat::Seat;
use crate::search::workspace::Workspace;
use crate::storage::view::View;

/// A question: a query of an index, and its limits.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'r> {
    pub(crate) index: &'r Readable,
    pub(crate) query: &'r Query,
    /// The fields that the query was parsed with.
    pub(crate) schema: &'r Schema,
    pub(crate) limits: &'r Limits,
}

/// The seat and the memory that a reader lends to one question.
pub(crate) struct Lent<'r> {
    pub(crate) seat: &'r mut Seat,
    pub(crate) memory: &'r mut Workspace,
}

impl<'r> Ask<'r> {
    /// Returns the settings of an evaluation that begins now.
    pub(crate) fn settings(&self) -> Settings<'r> {
        let (level, limits) = (self.index.options.vectors, self.limits.begin());
        Settings { level, limits, ..Settings::default() }
    }

    /// Notes why the question does not go to the cache, if there is one.
    #[inline(always)]
    pub(crate) fn bypass(&self, why: Bypass, recall: &mut Recall) -> Option<Candidate<'r>> {
        if self.cache(recall).is_some() {
            recall.outcome = Outcome::Bypassed(why);
        }
        None
    }

    /// Like [`candidate`](Self::candidate), for facets.
    pub(crate) fn facets_candidate(
        &self,
        facets: &[Facet],
        filters: &[Query],
        recall: &mut Recall,
    ) -> Option<Candidate<'r>> {
        let cache = self.cache(recall)?;
        cache.consider_facets(self.query, facets, filters, recall)
    }

    /// Evaluates a question that has no entry of its own, with what the cache has of its clauses.
    pub(crate) fn with_clauses<T>(
        &self,
        view: &View,
        settings: Settings<'_>,
        recall: &mut Recall,
        evaluate: impl FnOnce(Settings<'_>) -> T,
    ) -> T {
        match self.index.cache.as_ref().filter(|_| self.limits.cache) {
            Some(cache) => cache.with_clauses(view, self.query, settings, recall, evaluate),
            None => evaluate(settings),
        }
    }

    /// Returns the cache, if there is one and the question may use it.
    #[inline(always)]
    fn cache(&self, recall: &mut Recall) -> Option<&'r ResultCache> {
        let cache = self.index.cache.as_ref()?;
        if !self.limits.cache {
            recall.outcome = Outcome::Off;
            return None;
        }
        Some(cache)
    }

    /// Returns the question as one that may have an entry in the result cache, if there is a cache.
    #[inline(always)]
    pub(crate) fn candidate(
        &self,
        question: Question,
        recall: &mut Recall,
    ) -> Option<Candidate<'r>> {
        self.cache(recall)?.consider(question, self.query, recall)
    }

    /// Returns the settings of an evaluation of `search` that begins now.
    pub(crate) fn settings_of(&self, search: &Search) -> Settings<'r> {
        let Search { algorithm, windows, .. } = *search;
        let before = search.after.as_ref().map(|cursor| cursor.limit);
        Settings { algorithm, windows, before, ..self.settings() }
    }
}
