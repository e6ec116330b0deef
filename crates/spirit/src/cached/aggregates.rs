//! Facets. Unlike other answers these allocate, as facets do without a cache.

use spirit_index::snapshot::Snapshot;
use spirit_query::{Aggregation, Settings, Stop};

use super::gather::Gather;
use super::{Caller, Candidate, Recall};

/// A question of facets. `make` makes an empty aggregation of them.
struct Facets<'f, 'a, M> {
    caller: &'f mut Caller<'a>,
    make: M,
}

impl Candidate<'_> {
    /// Adds the matches of an executor to `all`. `make` makes an empty aggregation of the same
    /// facets.
    pub(crate) fn aggregate<E: From<Stop>>(
        self,
        mut caller: Caller<'_>,
        all: &mut Aggregation,
        make: impl Fn() -> Result<Aggregation, E>,
        recall: &mut Recall,
    ) -> Result<(), E> {
        let (place, snapshot) = ((caller.view, caller.executor), caller.snapshot);
        let mut facets = Facets { caller: &mut caller, make };
        let parts = self.gather(place, snapshot, &mut facets, recall, |_| true)?;
        for state in parts.states().filter(|state| !state.is_empty()) {
            all.join(state)?;
        }
        Ok(())
    }
}

impl<E: From<Stop>, M: Fn() -> Result<Aggregation, E>> Gather for Facets<'_, '_, M> {
    type State = Vec<u64>;
    type Error = E;

    fn evaluate(&mut self, snapshot: &Snapshot<'_>, from_row: u64) -> Result<Vec<u64>, E> {
        let Caller { query, settings, scratch, .. } = self.caller;
        let mut aggregation = (self.make)()?;
        aggregation.add(snapshot, query, Settings { from_row, ..*settings }, scratch)?;
        let mut state = Vec::new();
        aggregation.write(&mut state);
        Ok(state)
    }

    fn join(&mut self, states: &mut dyn Iterator<Item = &Vec<u64>>) -> Result<Vec<u64>, E> {
        let mut aggregation = (self.make)()?;
        // An empty state is that of nothing.
        for state in states.filter(|state| !state.is_empty()) {
            aggregation.join(state)?;
        }
        let mut sum = Vec::new();
        aggregation.write(&mut sum);
        Ok(sum)
    }
}
