//! The number of matches that a search counts beside its hits.

use spirit_query::{Settings, Stop, Tally, Total};

use crate::cached::{Caller, Candidate, Question, Recall};
use crate::search::ask::Ask;
use crate::search::error::SearchError;
use crate::search::request::{Search, of_all};
use crate::search::workspace::{Totaling, Workspace};
use crate::storage::view::View;

/// A count of matches up to a limit.
#[derive(Clone, Copy)]
pub(crate) struct Count<'r> {
    up_to: u64,
    candidate: Option<Candidate<'r>>,
}

impl<'r> Count<'r> {
    /// Returns a count of the matches of a query, exact up to `up_to`.
    pub(crate) fn new(ask: Ask<'r>, up_to: u64, recall: &mut Recall) -> Count<'r> {
        Count { up_to, candidate: ask.candidate(Question::Total(up_to), recall) }
    }

    /// Returns a count that has nothing to do with the result cache; `None` if the cache may have an
    /// entry.
    pub(crate) fn tally_alone(&self) -> Option<Tally> {
        self.candidate.is_none().then(|| Tally::up_to(self.up_to))
    }

    /// Counts the matches in the snapshots of all executors.
    pub(crate) fn all(
        &mut self,
        ask: Ask<'_>,
        view: &View,
        settings: Settings<'_>,
        memory: &mut Totaling<'_>,
    ) -> Result<Total, Stop> {
        self.of_others(ask, view, settings, memory, |_| None)
    }

    /// Like [`all`](Self::all), but `known` may know the matches of an executor.
    pub(crate) fn of_others(
        &mut self,
        ask: Ask<'_>,
        view: &View,
        settings: Settings<'_>,
        memory: &mut Totaling<'_>,
        known: impl Fn(usize) -> Option<u64>,
    ) -> Result<Total, Stop> {
        let Totaling { snapshots, scratch, recall } = memory;
        let (query, settings) = (ask.query, of_all(settings));
        let mut tally = Tally::up_to(self.up_to);
        let is_kept = self.candidate.as_mut().is_some_and(|candidate| candidate.begin(recall));
        let kept = self.candidate.filter(|_| is_kept);
        let mut evaluate = |settings: Settings<'_>, recall: Option<&mut Recall>| {
            let mut recall = recall;
            for (executor, snapshot) in snapshots.iter(view).enumerate() {
                match (known(executor), kept, recall.as_deref_mut()) {
                    (Some(count), ..) => tally.add_found(count),
                    (None, Some(kept), Some(recall)) => {
                        let (view, snapshot) = (view.number, &snapshot);
                        let caller = Caller { view, executor, snapshot, query, settings, scratch };
                        kept.total(caller, self.up_to, &mut tally, recall)?;
                    }
                    _ => tally.add(&snapshot, query, settings, scratch)?,
                }
            }
            Ok::<_, Stop>(())
        };
        match kept {
            Some(_) => evaluate(settings, Some(recall))?,
            None => {
                ask.with_clauses(view, settings, recall, |settings| evaluate(settings, None))?
            }
        }
        if let Some(candidate) = &self.candidate {
            candidate.end();
        }
        Ok(tally.total())
    }

    /// Keeps the count, which is right.
    pub(crate) fn keep(&self, recall: &mut Recall) {
        if let Some(candidate) = &self.candidate {
            candidate.keep(recall);
        }
    }
}

/// Returns the count that a search asks for.
#[inline(always)]
pub(crate) fn counted<'r>(
    ask: Ask<'r>,
    search: &Search,
    memory: &mut Workspace,
) -> Option<Count<'r>> {
    search.total.map(|up_to| Count::new(ask, up_to, &mut memory.total_recall))
}

/// Keeps an answer that is right.
#[inline(always)]
pub(crate) fn keep(
    candidate: Option<Candidate<'_>>,
    counted: Option<Count<'_>>,
    memory: &mut Workspace,
) -> Result<(), SearchError> {
    if let Some(candidate) = candidate {
        candidate.keep(&mut memory.recall);
    }
    if let Some(counted) = counted {
        counted.keep(&mut memory.total_recall);
    }
    Ok(())
}
